# SPDX-License-Identifier: BSD-3-Clause
"""Result files as one pandas frame: a line for each measurement, a column for each field (bench/README.md lists the
fields)."""

import pathlib
import re

import pandas as pd

from .runs import RUNS, read_folder, read_json, read_table, size
from .text import spanned

METHODS = ["SHIFT", "GROUP", "BYTWO_p", "BYTWO_b", "TABLE", "LOG", "SPLIT", "CARRY_FREE"]
WIDTHS = [8, 16, 32]
GIB = 1 << 30
NAMED = "/engine="  # in names of rows for which --engine gave the kernel
DISTURBED = 4.0  # percent from the fastest to the slowest pass, by which something else was running

# The columns that tables and plots use, by what an absent field becomes: "", 0, False, NaN.
TEXT = """row kind operation state reason where id method implementation variant family engine kernel way mode
    constants matrix lost_kind damage memory path path_taken roofline roofline_variant bound
    framework call backend machine""".split()  # machine: of rows that another machine measured
COUNTS = """w k m constant src_offset dst_offset nominal_bytes region_bytes data_bytes stripes lost streams
    gpus threads table_bytes workspace_bytes ranks piece_bytes""".split()
FLAGS = "giant cold sweep long above_101_percent slow_clock".split()
FIGURES = """time_us_median time_us_min time_us_max data_GBps traffic_GBps percent_of_roofline setup_us
    best_constant_GBps mean_constant_GBps worst_constant_GBps sustained_data_GBps sustained_watts
    sustained_percent_of_roofline data_GB_per_joule percent_of_other bound_GBps percent_of_bound kernel_GBps
    copies_GBps cpu_seconds bare_launch_us above_bare_us prepared_us prepared_above_bare_us gsymbols_per_s ggathers_per_s
    percent_of_gathers tmuladds_per_s bound_tmuladds_per_s pbits_per_s sustained_tmuladds_per_s
    sustained_percent_of_bound sustained_pbits_per_s sustained_sm_MHz sm_MHz c_us c_GBps second_time_us_median
    second_data_GBps second_sustained_data_GBps second_data_GB_per_joule""".split()


def fields(paths):
    """All rows with all fields as they are in the files."""
    rows = [row for path in map(pathlib.Path, paths) if path.name != RUNS
            for row in (read_table(path) if path.suffix == ".csv" else read_json(path)["benchmarks"])]
    return pd.DataFrame([{name: value for name, value in row.items() if name != "variants"} for row in rows])


def typed(rows):
    frame = pd.DataFrame(rows).reindex(columns=["file", *TEXT, *COUNTS, *FLAGS, *FIGURES])
    frame[TEXT] = frame[TEXT].astype(object).where(frame[TEXT].notna(), "")
    for columns, kind in ((COUNTS, "int64"), (FLAGS, bool)):
        frame[columns] = frame[columns].astype(float).fillna(0)
        frame = frame.astype(dict.fromkeys(columns, kind))
    return frame.astype(dict.fromkeys(FIGURES, float))


def spans(frame, *figures, most=None):
    """Of each line the figure with its span on the CPU, and the figure alone on a GPU."""
    return [spanned(*(each if cpu else each[:1] * 3), most) for cpu, *each in zip(frame["where"] == "cpu", *figures)]


def with_texts(frame):
    """With the columns that only tables and plots need."""
    times = frame[["time_us_median", "time_us_min", "time_us_max", "second_time_us_median"]]
    median, fastest, slowest = frame.time_us_median, times.min(axis=1), times.max(axis=1)
    gigabytes = frame.data_GBps * median
    shapes = [f"({k}, {m})" if k * m > 1 else "" for k, m in zip(frame.k, frame.m)]
    memory = frame.table_bytes + frame.workspace_bytes
    percent = frame.percent_of_roofline.where(memory < GIB)
    return frame.join(pd.DataFrame({
        "spread_percent": 100 * (frame.time_us_max - frame.time_us_min) / frame.time_us_median,
        "shape": shapes, "code": [f"w = {w} {shape}" for w, shape in zip(frame.w, shapes)],
        "size": frame.nominal_bytes.map(size), "region": frame.region_bytes.map(size),
        "tables": memory.map(size).where(memory >= GIB, ""), "percent": percent, "times": 100 / percent,
        "on": ["GPU" if place == "gpu" else f"{count} thread{'s' if count > 1 else ''}"
               for place, count in zip(frame["where"], frame.threads)],
        "ms": median / 1e3, "short": frame.id.str.replace(r"_w\d+", "", regex=True),
        "taken": frame.engine.where(frame.way.str.startswith("auto"), ""),
        "rate": spans(frame, frame.data_GBps, gigabytes / slowest, gigabytes / fastest),
        "us": spans(frame, median, fastest, slowest, most=1),
        "ms_span": spans(frame, median / 1e3, fastest / 1e3, slowest / 1e3, most=3),
        "named": frame.row.str.extract(f"{NAMED}(.*)$")[0].fillna(""), "of_mmas": frame.percent_of_bound / 100,
        "of_mmas_sustained": frame.sustained_percent_of_bound / 100,
        "more_us": frame.time_us_median - frame.c_us, "of_c": 100 * frame.data_GBps / frame.c_GBps,
        "heat": frame.cold.map({True: "cold", False: "hot"}),
        "gpu": frame["where"].map({"gpu": "GPU", "cpu": ""}),  # for texts that only a GPU needs
        "few": frame.roofline == "xor_only_few"}, index=frame.index)).copy()  # few: rows of the map


def best(frame, keys):
    """The fastest line for each combination of the keys; one without a figure if there is no other."""
    order = frame.sort_values("data_GBps", na_position="first", kind="stable")
    return order.drop_duplicates(keys, keep="last").sort_index()


def select(rows, condition):
    """rows.query(condition), which prepares all of a hundred columns, with those that the condition names."""
    names = set(re.findall(r"\w+", condition))
    return rows[rows[[name for name in rows if name in names]].eval(condition)]


class Results:
    """Measurements of one machine. every: all of them, in the order of the files' dates, void files first.
    rows: one for each row, and those of named kernels only where AUTO's row is missing. The last one counts,
    unless it has no figure, or was disturbed and an earlier
    one was not, or lacks the sustained rate that an earlier one has."""

    def __init__(self, paths):
        self.folder = pathlib.Path(paths[0]).resolve().parent
        runs = self.read(map(pathlib.Path, paths))
        runs = [self.placed(data, runs) for data in runs]
        runs.sort(key=lambda data: ("void" not in data["context"], data["context"].get("date_utc", "")))
        self.contexts = [data["context"] for data in runs]
        self.choose(typed([row for data in runs for row in data["benchmarks"]]))

    def choose(self, plain):
        """plain: the rows of all files, without the columns for texts."""
        self.every = every = with_texts(plain)
        measured = every.state == "measured"
        disturbed = (every["where"] == "gpu") & (every.spread_percent > DISTURBED)
        keys = ["row", "few"]
        chosen = every.assign(rank=4 * measured.astype(int) + 2 * (measured & ~disturbed)
                              + every.sustained_data_GBps.notna()).sort_values(
            "rank", kind="stable").drop_duplicates(keys, keep="last").set_index(keys)
        rows = chosen.loc[pd.MultiIndex.from_frame(every[keys].drop_duplicates())].reset_index()
        plain = rows.row.str.partition(NAMED)[0]
        self.rows = rows[(rows.named == "") | ~plain.isin(rows.row)].reset_index(drop=True)

    @staticmethod
    def placed(data, files):
        """Libraries that a machine with a GPU lacks are measured on another machine: its rows say so."""
        context, cpus = data["context"], {each["context"].get("cpu") for each in files if each["context"].get("gpu")}
        if cpus and not context.get("gpu") and context.get("cpu") not in cpus and context.get("preset") == "matmul":
            context["elsewhere"] = f"{context['cpu']}, {context.get('cpu_cores', '?')} cores"
            for row in data["benchmarks"]:
                row["machine"] = context["elsewhere"]
        return data

    def machines(self):
        """Names of the machines whose results these are; one, if the files fit together. A file of CPU rows has
        the name of the GPU that the CPU has in another file."""
        here = [context for context in self.contexts if not {"elsewhere", "of_package"} & set(context)]
        gpus = {context.get("cpu"): context["gpu"] for context in here if context.get("gpu")}
        return {context.get("gpu") or gpus.get(context.get("cpu")) or context.get("cpu", "unknown machine")
                for context in here}

    def read(self, paths):
        """The runs in tables of a folder of results, and the JSON files, each of which is a run."""
        tables, files = [], []
        for path in paths:
            if path.suffix == ".csv":
                tables += read_table(path)
            elif path.name != RUNS:
                files.append((path.name, read_json(path)))
        contexts = read_folder(self.folder)[0] if tables else {}
        for name in dict.fromkeys(row["run"] for row in tables):
            rows = [row for row in tables if row["run"] == name]
            files.append((name, {"context": contexts[name], "benchmarks": rows}))
        for name, data in files:
            data["context"]["file"] = name
            for row in data["benchmarks"]:
                row["file"] = name
        return [data for _, data in files]

    def of(self, rows):
        """rows: a query, or a function of the results."""
        return rows(self) if callable(rows) else select(self.rows, rows)

    def beside(self, lines, keys, query):
        """For each line the one of the same file that agrees in the keys and fits; NaN if none does."""
        other = select(self.every, f"state == 'measured' and {query}")
        other = other.drop_duplicates(["file", *keys], keep="last")
        return lines[["file", *keys]].merge(other, how="left", on=["file", *keys]).set_axis(lines.index)
