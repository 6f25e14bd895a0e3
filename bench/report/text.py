# SPDX-License-Identifier: BSD-3-Clause
"""Figures and tables as Markdown. "-" is what was not measured, "n/a" what cannot exist."""

import collections
import functools

import pandas as pd

from .frame import METHODS


def number(value, digits=1):
    return "-" if pd.isna(value) else f"{value:,.{digits}f}"


def rate(value):
    return number(value, 0 if value >= 100 else 1 if value >= 10 else 2) if value else "-"


def percent(value, of, digits=1):
    return f"{100 * value / of:.{digits}f} %" if of and not pd.isna(value / of) else "-"


def times(value, of):
    return f"{value / of:.2f} x" if of and not pd.isna(value / of) else "-"


def size(count):
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count and count % (1 << shift) == 0 and count >> shift < 10000:
            return f"{count >> shift} {unit}"
    return f"{count / 1e6:,.1f} MB"


def shape(line):
    return f"({line.k}, {line.m})"


def code(line):
    return f"w = {line.w} {shape(line)}"


def threads(line):
    return f"{line.threads} thread{'s' if line.threads > 1 else ''}"


def cell(line, digits=0):
    """The rate, and the percentage of the ceiling if there is one."""
    if line.state != "measured":
        return {"skipped": "n/a"}.get(line.state, line.state)
    if line.table_bytes + line.workspace_bytes >= 1 << 30:
        return f"{rate(line.data_GBps)}, {size(line.table_bytes + line.workspace_bytes)} table"
    of = "" if pd.isna(line.percent_of_roofline) else f" ({line.percent_of_roofline:.{digits}f} %)"
    return rate(line.data_GBps) + of


def rate_of(line):
    return rate(line.data_GBps) if line.state == "measured" else cell(line)


def quoted(line):
    return f"`{line.id}`"


def field(name, digits=1, unit=1):
    """Writes this field of a line, as a number of these units."""
    return lambda line: number(getattr(line, name) / unit, digits)


# Two seconds without a pause, so at the power limit: columns of a table.
SUSTAINED = {"sustained GB/s": lambda line: rate(line.sustained_data_GBps),
             "sustained, % of ceiling": field("sustained_percent_of_roofline"),
             "W": field("sustained_watts", 0), "GB per joule": field("data_GB_per_joule", 2)}


@functools.lru_cache
def line_type(columns):
    return collections.namedtuple("Line", columns)


def lines_of(frame):
    """As DataFrame.itertuples, but faster for many columns."""
    return [line_type(tuple(frame.columns))._make(values) for values in frame.to_numpy(dtype=object)]


def each(frame, text):
    """What the function writes of each line, or a column as it is."""
    values = frame[text] if isinstance(text, str) else map(text, lines_of(frame))
    return pd.Series(list(values), index=frame.index, dtype=object)


def is_figures(column):
    return column[~column.isin(["-", "n/a"])].str.match(r"[-+]?[\d.,]+([ ,x]|$)").mean() > 0.6


def markdown(frame):
    """Columns without a figure are left out, and "" stands for a table without any."""
    frame = frame.astype(object).where(frame.notna(), "-").astype(str)
    frame = frame[[column for i, column in enumerate(frame) if i == 0 or (frame[column] != "-").any()]]
    if frame.empty or len(frame.columns) < 2:
        return ""
    right = [i > 0 and is_figures(frame[column]) for i, column in enumerate(frame)]
    lines = [list(frame.columns), ["---:" if r else "---" for r in right], *frame.values.tolist()]
    return "\n".join("| " + " | ".join(str(text).replace("|", "\\|") for text in line) + " |"
                     for line in lines)


def table(frame, columns):
    """A line for each line of the frame; columns: heading -> column, or function of a line."""
    lines = lines_of(frame)
    return markdown(pd.DataFrame({heading: frame[text].tolist() if isinstance(text, str) else
                                  [text(line) for line in lines] for heading, text in columns.items()}))


def grid(frame, heading, index, columns, text, order=None):
    """A pivot table of texts. index, columns: functions of a line, which give the headings."""
    if frame.empty:
        return pd.DataFrame()
    found = pd.DataFrame({heading: each(frame, index), "column": each(frame, columns),
                          "text": each(frame, text)})
    found = found.pivot_table(index=heading, columns="column", values="text", aggfunc="first", sort=False)
    found = found[[column for column in order if column in found]] if order else found
    found.columns.name = None
    return found.reset_index()


def by_method(found):
    """A line for each method, measured or not."""
    return found.set_index(found.columns[0]).reindex(METHODS).reset_index()


def paragraphs(*parts):
    """With an introduction only where something follows it."""
    return "\n\n".join(parts) if all(parts[1:]) else ""


def parts_of(groups, heading, render):
    """A table for each group of lines; heading: function of the group's key."""
    found = [(heading(key), render(lines)) for key, lines in groups]
    return "\n\n".join(f"### {title}\n\n{text}" for title, text in found if text)
