# SPDX-License-Identifier: BSD-3-Clause
"""Calls on host memory: host-memory.md. GB/s are of data: the inputs. A ratio is of two figures of one
run; where one of them is not there, there is no ratio."""

import pandas as pd

from .frame import select
from .text import (each, field, grid, markdown, paragraphs, percent, rate, rate_of, shape, size, table,
                   threads, times)

TITLE = "Host memory"
CALL = ["operation", "k", "m", "nominal_bytes"]
PATHS = ["gpu", "both", "cpu"]
ORDER = [*PATHS, "auto"]
# What this project asks for: percent of what bounds a call, and multiples of a plain copy and of one GPU.
PINNED = {"encode": 95, "decode": 95, "multiply": 93}
CPU = {"encode": 95, "decode": 95}
AUTO, PAGEABLE, TWO_GPUS = 95, 3, 1.9


def call(line):
    what = "a region" if line.operation == "multiply" else shape(line)
    return f"{line.operation} {what}, {size(line.nominal_bytes)}"


def rows_of(results, *paths):
    """In the order of measurement of the calls, then of the paths, pinned memory first."""
    rows = results.rows(kind="host", streams=0, state="measured")
    calls = {text: i for i, text in enumerate(dict.fromkeys(each(rows, call)))}
    order = each(rows, call).map(calls) * 10 + rows.path.map(ORDER.index) * 2 + (rows.memory != "pinned")
    return select(rows.assign(order=order.astype(int)).sort_values("order", kind="stable"), path=paths)


def beside(results, rows, path):
    """The same call by this path on one GPU, or on the CPU, which does not ask whether memory is pinned."""
    keys = CALL if path == "cpu" else [*CALL, "memory"]
    return results.beside(rows, keys, kind="host", path=path, streams=0, gpus=[0, 1])


def reached(line):
    """A plain copy is no ceiling but what is to be beaten."""
    ratio = times if (line.path, line.memory) == ("gpu", "pageable") else percent
    return ratio(line.data_GBps, line.bound_GBps)


def asked(line):
    if line.path == "cpu":
        return f"{CPU[line.operation]} %" if line.operation in CPU else "-"
    if line.path == "both":
        return "-"
    return f"{PINNED[line.operation]} %" if line.memory == "pinned" else f"{PAGEABLE} x"


def paths(results):
    rows = rows_of(results, "gpu", "both", "cpu")
    rows = rows[rows.gpus <= 1]
    both = rows.path == "both"
    added = beside(results, rows, "gpu").data_GBps + beside(results, rows, "cpu").data_GBps
    rows = rows.assign(bound_GBps=rows.bound_GBps.where(~both, added),
                       bound=rows.bound.where(~both, "GPU and CPU added"))
    return paragraphs(
        "Transfer only: the same bytes over the bus and back, both directions at once, and nothing computed. "
        "Plain pageable copy: cudaMemcpy of each region, one after the other; what is asked is a multiple of "
        "it. ISA-L is called with as many threads. Each pass has one of its bound before it. Kernel only: a "
        "product of the same shape in device memory. CPU seconds are those of all threads in one pass.",
        table(rows, {"call": call, "path": lambda row: "CPU, " + threads(row) if row.path == "cpu" else
                     row.path.upper(), "memory": "memory", "GB/s of data": rate_of, "100 % is": "bound",
                     "GB/s of that": lambda row: rate(row.bound_GBps), "reached": reached, "asked": asked,
                     "kernel only": lambda row: rate(row.kernel_GBps),
                     "CPU seconds": field("cpu_seconds", 2),
                     "spread %": field("spread_percent")}))


def auto(results):
    rows = rows_of(results, "auto")
    gpu, both, cpu = (beside(results, rows, path) for path in PATHS)
    better = gpu.data_GBps.combine(cpu.bound_GBps, max).where(cpu.bound_GBps.notna())
    rows = rows.assign(gpu=gpu.data_GBps, both=both.data_GBps, cpu=cpu.data_GBps, isal=cpu.bound_GBps,
                       better=better)
    return paragraphs(
        "AUTO goes by a calibration made in the same run. It is asked for a share of the better of the GPU "
        "path and ISA-L called directly on all cores; it is also measured beside the best of the three paths, "
        "a pass of which precedes each of AUTO's.",
        table(rows, {"call": call, "memory": "memory", "took": lambda row: row.path_taken.upper() or "-",
                     "AUTO GB/s of data": rate_of, "GPU": lambda row: rate(row.gpu),
                     "ISA-L directly": lambda row: rate(row.isal),
                     "of the better": lambda row: percent(row.data_GBps, row.better),
                     "asked": lambda row: f"{AUTO} %", "BOTH": lambda row: rate(row.both),
                     "CPU": lambda row: rate(row.cpu), "best path, beside it": lambda row:
                     rate(row.bound_GBps), "of that": reached,
                     "CPU seconds": field("cpu_seconds", 2)}))


def several(results):
    rows = rows_of(results, "gpu")
    rows = rows[rows.gpus > 1].sort_values("gpus", kind="stable")
    rows = rows.assign(one=beside(results, rows, "gpu").data_GBps)
    return paragraphs(
        "One call on several GPUs, pinned memory, beside one GPU of the same run, and beside as many GPUs that "
        "only transfer: the bus.",
        table(rows, {"call": call, "GPUs": "gpus", "GB/s of data": rate_of, "one GPU": lambda row:
                     rate(row.one), "x one GPU": lambda row: times(row.data_GBps, row.one),
                     "transfer only, as many GPUs": lambda row: rate(row.bound_GBps), "of the bus": reached,
                     "asked": lambda row: f"{TWO_GPUS} x, or {PINNED[row.operation]} % of the bus"
                     if row.gpus == 2 else "-",
                     "CPU seconds": field("cpu_seconds", 2)}))


def stream_rows(results):
    rows = results.rows(kind="host", operation="encode", state="measured")
    return rows[rows.streams > 0].sort_values(["k", "m", "memory", "streams"],
                                              ascending=[True, True, False, True], kind="stable")


def streams(results):
    rows = stream_rows(results)
    texts = {"": lambda row: f"{rate_of(row)} ({reached(row)})", ", its bound": lambda row:
             rate(row.bound_GBps), ", CPU seconds": field("cpu_seconds", 2)}
    lines = [grid(rows, "GB/s of data", lambda row, kind=kind: f"{call(row)}, {row.memory}{kind}",
                  lambda row: f"{row.streams} stream{'s' if row.streams > 1 else ''}", text)
             for kind, text in texts.items()]
    return paragraphs(
        "Encode by one GPU with so many chunks under way at a time. In parentheses percent of transfer only, "
        "or multiples of the plain copy, which were measured beside it.",
        markdown(pd.concat(lines).sort_values("GB/s of data", kind="stable") if len(rows) else rows))


def from_pinned(results):
    """The encode that stands for the bus where a user looks first: none, or one line."""
    rows = select(results.rows(kind="host", operation="encode", path="gpu", memory="pinned", streams=0,
                               gpus=[0, 1], state="measured"), k=10, m=4)
    return rows.sort_values("data_bytes").tail(1)


SECTIONS = {"Paths": paths, "AUTO": auto, "Several GPUs": several, "Streams": streams}
