# SPDX-License-Identifier: BSD-3-Clause
"""Reed-Solomon codes: codes.md. GB/s are of data: the k data regions, or in an update the one that
changed."""

import pandas as pd

from .frame import select
from .text import cell, code, each, field, grid, markdown, number, paragraphs, rate, size, table, threads

TITLE = "Reed-Solomon codes"
SWEEP = 1 << 20  # the regions of the preset rs-sweep
WIDE = 128  # codes of more regions have a table of their own
# What this project asks for: percent of the ceiling (of decode with one lost region), for locate and batches
# percent of the other operation.
ASKED = {"decode": 95, "verify": 95, "locate": 100, "update": 95}
BATCH = {("batch_encode", 4096): 75, ("batch_encode", 16384): 90, ("batch_decode", 4096): 60,
         ("batch_decode", 16384): 75}
SETUP = {(10, 4): (1000, 20), (128, 128): (50000, 20000)}  # microseconds: a code, a decoder
LIBRARIES = {"isa-l": "ISA-L", "jerasure": "Jerasure"}


def rows_of(results, *operations):
    """Long regions and usual codes, by code, then whether it may be compiled."""
    rows = results.rows(kind="rs", operation=operations, state="measured")
    rows = rows[(rows.region_bytes != SWEEP) & (rows.k + rows.m <= WIDE)]
    return rows.sort_values(["w", "k", "m", "compile"], ascending=[True, True, True, False], kind="stable")


def matrix(line):
    return "compiled" if line.compile else "run-time"


def code_and_matrix(line):
    return f"{code(line)}, {matrix(line)}"


def against_other(line):
    return rate(line.data_GBps) + ("" if line.percent_of_other != line.percent_of_other
                                   else f" ({line.percent_of_other:.1f} %)")


def encode_decode(results):
    rows = rows_of(results, "encode", "decode")
    rows = rows[(rows.operation == "encode") | (rows.lost == rows.m)]
    found = grid(rows, "code, matrix", code_and_matrix, lambda row:
                 "encode GB/s (% of XOR-only)" if row.operation == "encode" else
                 f"decode, {row.lost_kind} lost (% of encode)",
                 lambda row: f"{cell(row, 1)} {row.engine}" if row.operation == "encode" else
                 against_other(row))
    if "decode" in set(rows.operation):
        made = select(rows, operation="decode").groupby(["w", "k", "m", "compile"]).setup_us.max()
        keys = rows.drop_duplicates(["w", "k", "m", "compile"])
        found["slowest decoder to make, ms"] = list(each(keys, lambda row: number(
            made.get((row.w, row.k, row.m, row.compile), float("nan")) / 1e3, 2)))
    return paragraphs(
        "Encode computes m parity regions from k data regions; in parentheses percent of a plain kernel that "
        "only XORs k regions into m. Decode rebuilds m lost regions, data, parity or some of both, in one "
        "pass; in parentheses percent of encode by the same code in the same run; asked: 97 %. Compiled: the "
        "library may compile the matrices in. Run-time: they are arguments.", markdown(found))


def operations(results):
    """Everything else, line by line."""
    rows = results.rows(kind="rs", state="measured")
    rows = rows[(rows.region_bytes != SWEEP) | (rows.stripes > 1)]
    usual = rows.k + rows.m <= WIDE
    rows = rows[~usual | ~rows.operation.isin(["encode", "decode"]) | (rows.lost == 1)]
    order = rows.assign(wide=rows.k + rows.m > WIDE)
    rows = rows.loc[order.sort_values(["wide", "stripes", "operation"], kind="stable").index]

    def name(row):
        if row.stripes > 1:
            what = row.operation.replace("_", " ")
            return f"{what}, {row.stripes:,} stripes of {size(row.region_bytes)} regions"
        return row.operation + (", 1 data region lost" if row.lost == 1 else "")

    def target(row):
        wanted = BATCH.get((row.operation, row.region_bytes)) or ASKED.get(row.operation)
        return f"{wanted} %" if wanted and row.k + row.m <= WIDE else "-"

    return paragraphs(
        "One lost: the ceiling XORs k regions into one. Verify asks whether the parity matches the data: its "
        "ceiling reads k + m regions. Locate names the corrupt symbols; here there are none, and it should cost "
        "no more than verify, its *other*. Update: one data region has changed; its old and its new bytes and m "
        "parity regions are read, m written, and GB/s are of the changed region. Batches: many small stripes in "
        "one launch, for decode with other losses in each; making the batch is set-up; their *other* is encode "
        "of one stripe of long regions. Codes of many regions are not bound by memory: each position takes "
        "k x m multiplications.",
        table(rows, {
            "operation": name, "code, matrix": code_and_matrix, "engine": "engine",
            "GB/s of data (% of ceiling)": lambda row: cell(row, 1),
            "% of other": field("percent_of_other"), "asked": target,
            "traffic GB/s": field("traffic_GBps", 0),
            "us of a launch": field("time_us_median", 2),
            "set-up ms": field("setup_us", 2, 1e3)}))


def setup(results):
    rows = results.rows(kind="create", operation=["rs_create", "rs_decoder_create"], state="measured")
    titles = {"rs_create": "code", "rs_decoder_create": "decoder"}

    def text(row):
        limit = SETUP.get((row.k, row.m))
        return (f"{number(row.time_us_median, 2)} (slowest {number(row.time_us_max, 2)}"
                + (f", asked {limit[list(titles).index(row.operation)]:,}" if limit else "") + ")")

    return paragraphs(
        "Microseconds of gfk_rs_create and, with m data regions lost, of gfk_rs_decoder_create on one core, "
        "with the engine that makes no tables: what is left is the matrix and its inversion.",
        markdown(grid(rows, "code", code, lambda row: f"{titles[row.operation]}, us", text)))


def sweep_rows(results):
    """Rows of rs-sweep with a column that names their series."""
    gpu = select(results.rows(kind="rs", operation=["encode", "decode"], state="measured"),
                 region_bytes=SWEEP)
    cpu = results.rows(kind="baseline", sweep=True, state="measured")
    cpu = cpu.assign(series=each(cpu, lambda row: f"{LIBRARIES[row.implementation]}, {threads(row)}"))
    return [gpu.assign(series=gpu.operation), cpu]


def over_k_and_m(results):
    rows = pd.concat(sweep_rows(results)).sort_values(["m", "k"], kind="stable")
    found = grid(rows, "GB/s of data", lambda row: f"m = {row.m}, {row.series}",
                 lambda row: f"k = {row.k}", cell, [f"k = {k}" for k in sorted(rows.k.unique())])
    return paragraphs(
        "GB/s of data with regions of 1 MiB, w = 8; in parentheses percent of the XOR-only kernel of the same "
        "regions. Decode rebuilds min(k, m) lost regions, data and parity in turn. The GPU takes the matrix as "
        "an argument and finds its regions in memory, not in the cache; a launch of so few bytes is short, so "
        "its start counts. The CPU has its regions in its caches, as far as they fit, and decodes at the rate "
        "of encode.", markdown(found))


SECTIONS = {"Encode and decode": encode_decode, "Every other operation": operations,
            "Set-up on one core": setup, "Over k and m": over_k_and_m}
