# SPDX-License-Identifier: BSD-3-Clause
"""From a frame to Markdown: templates of cells, and one function that renders every table. "-" is what was
not measured, "n/a" what cannot exist.

A template has fields, {column} or {column:format}; the format is one of FORMATS, or Python's for a number. A
part in [brackets] is left out if one of its fields is absent ("" or NaN; 0 of a size or a count); elsewhere
such a cell is "-". {column:if} is a field that prints nothing."""

import dataclasses
import math
import re

import pandas as pd

from .runs import size

FIELD = re.compile(r"\{(\w+)(?::([^}]*))?\}")
OPTIONAL = re.compile(r"\[([^\[\]]*)\]")


def rate(value):
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def spanned(value, low, high, most=None):
    """A figure with its span, rounded to what the span allows: its last digit counts no less than the span's first one,
    and there are two digits at least. "" without a figure. most: decimals; those of a rate."""
    if value != value:
        return ""
    most = (0 if value >= 100 else 1 if value >= 10 else 2) if most is None else most
    least = 1 - math.floor(math.log10(value)) if value > 0 else most
    decimals = most if not high > low else max(least, min(most, -math.floor(math.log10(high - low))))
    figure, *ends = (f"{round(each, decimals):,.{max(decimals, 0)}f}" for each in (value, low, high) if each == each)
    return figure if not ends or set(ends) == {figure} else f"{figure} ({' to '.join(ends)})"


FORMATS = {"rate": rate, "size": size, "count": str, "upper": str.upper, "if": lambda value: "", None: str}


class Absent(Exception):
    pass


def written(value, form):
    if value == "" or value != value or form in ("size", "count") and value == 0:
        raise Absent
    if form in FORMATS:
        return FORMATS[form](value)
    return format(value, form if isinstance(value, str) else form.replace(".", ",.", 1))


def fill(template, line, absent="-"):
    """The template with the fields of one line."""
    template = OPTIONAL.sub(lambda part: fill(part[1], line, ""), template)
    try:
        return FIELD.sub(lambda match: written(line[match[1]], match[2]), template)
    except Absent:
        return absent


def texts(frame, template):
    """The template with the fields of each line."""
    names = list({name for name, _ in FIELD.findall(template)})
    lines = (dict(zip(names, values)) for values in zip(*(frame[name] for name in names))) if names else \
        ({} for _ in frame.index)
    return pd.Series([fill(template, line) for line in lines], index=frame.index, dtype=object)


def cells(frame, template):
    """The same, where there is a figure."""
    return texts(frame, template).where(frame.state == "measured", frame.state.replace("skipped", "n/a"))


def is_figures(column):
    return column[~column.isin(["-", "n/a"])].str.match(r"[-+]?[\d.,]+([ ,x;]|$)").mean() > 0.6


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


@dataclasses.dataclass
class Table:
    """columns: heading -> template for a table with a line for each line of the frame. One template for a
    pivot table, whose lines are of the index, (heading, template), and whose cells of the template cell."""
    heading: str
    text: str  # fields are the greatest values of their columns
    rows: object  # a query of all rows, or a function of the results
    columns: object
    index: tuple = None
    cell: str = ""
    by: str = ""  # of a pivot table: the order of the columns
    every: list = None  # of a pivot table: all lines, measured or not
    sort: tuple = ()  # the order of the lines
    parts: str = ""  # a table for each value of this template

    def pivot(self, frame):
        heading, line = self.index
        found = pd.DataFrame({heading: texts(frame, line), "column": texts(frame, self.columns),
                              "cell": cells(frame, self.cell)})
        order = frame[self.by].sort_values(kind="stable").index if self.by else frame.index
        found = found.pivot_table(index=heading, columns="column", values="cell", aggfunc="first",
                                  sort=False)[list(dict.fromkeys(found.column[order]))]
        found = found.reindex(self.every) if self.every else found
        return found.rename_axis(None, axis=1).reset_index()

    def render(self, results):
        """"" where nothing was measured."""
        frame, parts = results.of(self.rows).reset_index(drop=True), []
        if frame.empty:
            return ""
        frame = frame.sort_values(list(self.sort), kind="stable") if self.sort else frame
        for title, part in frame.groupby(texts(frame, self.parts), sort=False):
            body = markdown(self.pivot(part) if self.index else pd.DataFrame(
                {name: texts(part, template) for name, template in self.columns.items()}))
            parts += [f"### {title}" if title else "", body] if body else []
        most = {name: frame[name].max() for name, _ in FIELD.findall(self.text)}
        text = fill(" ".join(self.text.split()), most)
        return "\n\n".join(filter(None, [text, *parts])) if parts else ""
