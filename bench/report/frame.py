# SPDX-License-Identifier: BSD-3-Clause
"""Result files of gfk_bench as one pandas frame: a line for each measurement, a column for each field
(docs/benchmarking.md lists them)."""

import json
import pathlib

import pandas as pd

from . import legacy

METHODS = ["SHIFT", "GROUP", "BYTWO_p", "BYTWO_b", "TABLE", "LOG", "SPLIT"]
WIDTHS = [8, 16, 32]
GIB = 1 << 30
DISTURBED = 4.0  # percent from the fastest to the slowest pass, by which something else was running

TEXT = """row kind operation state reason where id method implementation variant family engine way mode
    constants matrix lost_kind memory path path_taken roofline roofline_variant setup bound
    note""".split()
COUNTS = """w k m constant src_offset dst_offset nominal_bytes region_bytes data_bytes stripes lost streams
    gpus threads table_bytes workspace_bytes shared_bytes""".split()
FLAGS = "compile ablation giant cold sweep above_101_percent slow_clock".split()
FIGURES = """time_us_median time_us_min time_us_max data_GBps traffic_GBps moved_per_byte roofline_GBps
    percent_of_roofline best_constant_GBps mean_constant_GBps worst_constant_GBps setup_us
    sustained_data_GBps sustained_percent_of_roofline sustained_sm_MHz sustained_watts
    data_GB_per_joule percent_of_other bound_GBps percent_of_bound kernel_GBps cpu_seconds
    bare_launch_us above_bare_us prepared_us prepared_above_bare_us from_cache gsymbols_per_s
    ggathers_per_s percent_of_gathers""".split()


def parse(text):
    """The JSON of a run. One that was stopped has no end; its rows up to there are as good as any."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        end = len(text)
        while True:
            end = text.rindex("}", 0, end)
            try:
                data = json.loads(text[:end + 1] + "]}")
            except json.JSONDecodeError:
                continue
            data["context"]["interrupted"] = "the run was stopped before its end"
            return data


def typed(rows):
    """A frame with all columns; what is absent is "", 0, False or NaN."""
    frame = pd.DataFrame(rows).reindex(columns=["file", *TEXT, *COUNTS, *FLAGS, *FIGURES])
    frame[TEXT] = frame[TEXT].astype(object).where(frame[TEXT].notna(), "")
    for columns, kind in ((COUNTS, "int64"), (FLAGS, bool)):
        for column in columns:
            frame[column] = pd.to_numeric(frame[column]).fillna(0).astype(kind)
    frame[FIGURES] = frame[FIGURES].astype(float)
    return frame


def fits(frame, where):
    """Which lines have in each of these columns this value, or one of these."""
    found = pd.Series(True, frame.index)
    for key, value in where.items():
        found &= frame[key].isin(value) if isinstance(value, (list, tuple)) else frame[key] == value
    return found


def select(frame, **where):
    return frame[fits(frame, where)]


def best(frame, keys):
    """The fastest line for each combination of the keys; one without a figure if there is no other."""
    order = frame.sort_values("data_GBps", na_position="first", kind="stable")
    return order.drop_duplicates(keys, keep="last").sort_index()


class Results:
    """Measurements of one machine: `every` one, in the order of the files' dates, void files first."""

    def __init__(self, paths):
        files = [self.read(path) for path in paths]
        files.sort(key=lambda data: ("void" not in data["context"], data["context"].get("date_utc", "")))
        self.contexts = [data["context"] for data in files]
        self.verdicts = [verdict for data in files for verdict in data.get("verdicts", [])]
        self.every = typed([row for data in files for row in data["benchmarks"]
                            if row.get("run_type", "iteration") == "iteration"])
        every = self.every
        every["spread_percent"] = 100 * (every.time_us_max - every.time_us_min) / every.time_us_median
        measured = every.state == "measured"
        disturbed = (every["where"] == "gpu") & (every.spread_percent > DISTURBED)
        self.rank = (measured.astype(int) + (measured & ~disturbed)).tolist()

    @staticmethod
    def read(path):
        path = pathlib.Path(path)
        data = parse(path.read_text(encoding="utf-8"))
        if not all("kind" in row for row in data["benchmarks"]):
            legacy.lift_file(data)
        data["context"]["file"] = path.name
        for row in data["benchmarks"]:
            row["file"] = path.name
        return data

    def rows(self, /, **where):
        """Lines that fit, one for each row. Of several measurements the last one counts, unless it
        has no figure, or was disturbed and an earlier one was not."""
        chosen = {}  # in the order of the first measurement
        for i, name in self.every.row[fits(self.every, where)].items():
            if self.rank[i] >= self.rank[chosen.get(name, i)]:
                chosen[name] = i
        return self.every.loc[list(chosen.values())].reset_index(drop=True)

    def beside(self, lines, keys, **where):
        """For each line the one of the same file that agrees in the keys and fits; NaN if none does."""
        other = select(self.every, state="measured", **where).drop_duplicates(["file", *keys], keep="last")
        return lines[["file", *keys]].merge(other, how="left", on=["file", *keys]).set_axis(lines.index)
