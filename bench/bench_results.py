# SPDX-License-Identifier: BSD-3-Clause
"""Reads the JSON files of gfk_bench into plain rows, for report.py and compare.py."""

import json
import re
import sys

METHODS = ["SHIFT", "GROUP", "BYTWO_p", "BYTWO_b", "TABLE", "LOG", "SPLIT"]
WIDTHS = [8, 16, 32]
GIB = 1 << 30


class Row:
    """One measured line: the label's words and Google Benchmark's counters as attributes."""

    def __init__(self, raw, context):
        # Google Benchmark appends how it ran to the name; the row's own name ends before that.
        self.name = re.split(r"/(?:iterations|min_time|repeats|real_time|manual_time)\b",
                             raw["name"])[0]
        label, _, note = raw.get("label", "").partition(";note=")  # only the note may hold a ";"
        words = dict(word.split("=", 1) for word in label.split(";") if "=" in word)
        self.id = words.get("id", self.name.split("/")[0])
        self.method = words.get("method", "")
        self.impl = words.get("impl", "")
        self.variant = words.get("variant", "")
        self.labels = words.get("labels", "")
        self.mode = words.get("mode", "")
        self.cache = words.get("cache", "")
        self.constants = words.get("constants", "")
        self.where = words.get("where", "")
        self.setup = words.get("setup", "")
        self.note = note
        self.error = raw.get("error_message", "") if raw.get("error_occurred") else ""
        self.raw = raw
        self.context = context
        self.w = int(raw.get("w", 0))
        self.shape = (int(raw.get("k", 0)), int(raw.get("m", 0)))  # of a product
        self.bytes = int(raw.get("bytes", 0))
        self.threads = int(raw.get("threads_used", 1))
        self.shared_bytes = int(raw.get("shared_bytes", 0))
        self.earlier = []  # the same row in other files
        self.gbps = raw.get("source_GBps", 0.0)
        self.percent = raw.get("percent_of_roofline", 0.0)
        self.setup_us = raw.get("setup_us", 0.0)
        self.roofline = raw.get("roofline_GBps", 0.0)
        self.median = raw.get("time_us_median", 0.0)
        self.fastest = raw.get("time_us_min", 0.0)
        self.slowest = raw.get("time_us_max", 0.0)

    @property
    def spread(self):
        return 100 * (self.slowest - self.fastest) / self.median if self.median else 0.0


def parse(text):
    """The JSON of a run. One that was stopped has no end; its rows up to there are as good as any."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        end = text.rfind("\n    }")  # of the last complete row
        data = json.loads(text[:end] + "\n    }]}")
        data["context"]["interrupted"] = "the run was stopped before its end"
        return data


def load(path):
    """(context, rows) of one file."""
    with open(path, encoding="utf-8") as file:
        data = parse(file.read())
    context = data["context"]
    context["file"] = path.split("/")[-1]
    rows = [Row(raw, context) for raw in data["benchmarks"]
            if raw.get("run_type", "iteration") == "iteration"]
    return context, rows


DISTURBED = 4.0  # percent from the fastest to the slowest pass, by which something else was running


def better(known, row):
    """Of two measurements of a row, the later one, unless it failed or was disturbed and the earlier
    was not."""
    if known is None or known.error:
        return row if known is None or not row.error else known
    if row.error or (row.where == "gpu" and row.spread > DISTURBED >= known.spread):
        return known
    return row


def load_all(paths):
    """Contexts, and rows by name. A row measured in several files is taken from the last of them
    that is not void and in which it was not disturbed."""
    contexts, rows = [], {}
    loaded = sorted((load(path) for path in paths), key=lambda item: "void" not in item[0])
    for context, found in loaded:
        contexts.append(context)
        for row in found:
            known = rows.get(row.name)
            chosen = better(known, row)
            if known is not None and not known.error and not row.error:
                other = known if chosen is row else row
                chosen.earlier = known.earlier + [other]
            rows[row.name] = chosen
    return contexts, rows


def size_text(size):
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size and size % (1 << shift) == 0:
            return f"{size >> shift} {unit}"
    return f"{size:,} bytes"


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(2)
