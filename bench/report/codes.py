# SPDX-License-Identifier: BSD-3-Clause
"""Reed-Solomon codes: codes.md. GB/s are of data: the k data regions, or in an update the one that
changed."""

import pandas as pd

from .frame import select
from .text import cell, code, each, grid, markdown, number, paragraphs, rate, size, table, threads

TITLE = "Reed-Solomon codes"
SWEEP = 1 << 20  # the regions of the preset rs-sweep
WIDE = 128  # codes of more regions have a table of their own
# What this project asks for, in percent of what the column before says; of batches by (operation, region).
ASKED = {"decode": 97, "one lost": 95, "verify": 95, "locate": 100, "update": 95}
BATCH = {("encode", 4096): 75, ("encode", 16384): 90, ("decode", 4096): 60, ("decode", 16384): 75}
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


def asked(percent):
    return lambda line: f"at least {percent} %"


def encode_decode(results):
    rows = rows_of(results, "encode", "decode")
    rows = rows[(rows.operation == "encode") | (rows.lost == rows.m)]
    found = grid(rows, "code, matrix", code_and_matrix, lambda row:
                 "encode GB/s (% of XOR-only)" if row.operation == "encode" else
                 f"decode, {row.lost_kind} lost (% of encode)",
                 lambda row: f"{cell(row, 1)} {row.engine}" if row.operation == "encode" else
                 against_other(row))
    if "decode" in set(rows.operation):
        found["asked of decode"] = asked(ASKED["decode"])(None)
        made = select(rows, operation="decode").groupby(["w", "k", "m", "compile"]).setup_us.max()
        keys = rows.drop_duplicates(["w", "k", "m", "compile"])
        found["slowest decoder to make, ms"] = list(each(keys, lambda row: number(
            made.get((row.w, row.k, row.m, row.compile), float("nan")) / 1e3, 2)))
    return paragraphs(
        "Encode computes m parity regions from k data regions; in parentheses percent of a plain kernel that "
        "only XORs k regions into m. Decode rebuilds m lost regions, data, parity or some of both, in one "
        "pass; in parentheses percent of encode by the same code in the same run. Compiled: the library may "
        "compile the matrices in. Run-time: they are arguments.", markdown(found))


def one_lost(results):
    rows = select(rows_of(results, "decode"), lost=1)
    return paragraphs(
        "One data region is lost: k regions are read and one is written. The ceiling is a plain kernel that "
        "only XORs k regions into one.",
        table(rows, {"code, matrix": code_and_matrix, "engine": "engine", "GB/s of data (% of XOR-only)":
                     lambda row: cell(row, 1), "traffic GB/s": lambda row: number(row.traffic_GBps, 0),
                     "asked": asked(ASKED["one lost"])}))


def verify_locate(results):
    rows = rows_of(results, "verify", "locate")
    return paragraphs(
        "Verify asks whether the parity matches the data and writes nothing; in parentheses percent of a plain "
        f"kernel that reads the same k + m regions; asked: {ASKED['verify']} %. Locate names the corrupt "
        "symbols; here there are none; in parentheses percent of verify in the same run; asked: "
        f"{ASKED['locate']} %.",
        markdown(grid(rows, "code, matrix", lambda row: f"{code_and_matrix(row)}", lambda row:
                      "verify GB/s (% of reading)" if row.operation == "verify" else
                      "locate GB/s (% of verify)", lambda row: f"{cell(row, 1)} {row.engine}"
                      if row.operation == "verify" else against_other(row))))


def update(results):
    return paragraphs(
        "One data region has changed: its old and its new bytes and m parity regions are read, m parity "
        "regions are written. The ceiling is a plain kernel of the same 2 + m reads and m writes.",
        table(rows_of(results, "update"), {
            "code, matrix": code_and_matrix, "engine": "engine",
            "GB/s of the changed region (% of the plain kernel)": lambda row: cell(row, 1),
            "traffic GB/s": lambda row: number(row.traffic_GBps, 0), "asked": asked(ASKED["update"])}))


def batches(results):
    def target(row):
        found = BATCH.get((row.operation.removeprefix("batch_"), row.region_bytes))
        return f"at least {found} %" if found and (row.w, row.k, row.m) == (8, 10, 4) else "-"

    rows = results.rows(kind="rs", operation=["batch_encode", "batch_decode"], state="measured")
    return paragraphs(
        "Many small stripes in one launch, the matrices as arguments. Decode rebuilds m regions of every "
        "stripe, drawn anew for each. The rate is of the launch alone; making the batch (inverting the "
        "matrices, uploading the list) is timed apart. Beside it encode of one stripe of long regions, by the "
        "same code with a run-time matrix, in the same run.",
        table(rows, {
            "batch": lambda row: f"{row.operation.removeprefix('batch_')} {code(row)}",
            "stripes x region": lambda row: f"{row.stripes:,} x {size(row.region_bytes)}",
            "GB/s of data (% of long regions)": against_other, "asked": target,
            "us of a launch": lambda row: number(row.time_us_median, 2),
            "ms to make the batch": lambda row: number(row.setup_us / 1e3, 2)}))


def wide(results):
    rows = results.rows(kind="rs", operation="encode", state="measured")
    return paragraphs(
        "Encode of codes of many regions, the matrix as an argument. Memory is not what binds them: each "
        "position takes k x m multiplications.",
        table(rows[rows.k + rows.m > WIDE], {
            "code": code, "engine": "engine", "region MiB": lambda row: number(row.region_bytes / SWEEP, 2),
            "GB/s of data (% of XOR-only)": lambda row: cell(row, 1),
            "ms of a launch": lambda row: number(row.time_us_median / 1e3, 2),
            "ms to make the code": lambda row: number(row.setup_us / 1e3, 2)}))


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


SECTIONS = {"Encode and decode": encode_decode, "One lost region": one_lost,
    "Verify and locate": verify_locate, "Update": update,
    "Batches of small stripes": batches, "Wide codes": wide,
    "Set-up on one core": setup, "Over k and m": over_k_and_m}
