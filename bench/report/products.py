# SPDX-License-Identifier: BSD-3-Clause
"""Matrix times regions: products.md. GB/s are of data: the inputs, not the outputs."""

import re

import pandas as pd

from .frame import GIB, METHODS, best, select
from .text import (SUSTAINED, by_method, cell, code, each, field, grid, lines_of, markdown, number,
                   paragraphs, parts_of, quoted, rate, rate_of, shape, size, table, threads)

TITLE = "Products: a matrix times regions"
AUTO, COMPILED, PLAIN = "AUTO, run-time matrix", "AUTO, compiling allowed", "plain: k x m multiplies"
ENGINES = ["xor", "bmma", "prmt", "perop_split"]
COLUMNS = [COMPILED, "xor", "xor, Cauchy", AUTO, *ENGINES[1:], PLAIN]
LIBRARIES = {"isa-l": "ISA-L", "jerasure": "Jerasure"}
EVERY, NOT_COMPILED = "every engine", "without compiling"


def short(line_id):
    """An engine without its width: bmma, perop_split."""
    return re.sub(r"_w\d+", "", line_id)


def label(line):
    """What a column of a table is called."""
    return {"auto": AUTO, "auto_compile": COMPILED, "plain": PLAIN}.get(line.way) or short(line.id)


def with_engine(line):
    taken = line.way.startswith("auto") and line.state == "measured"
    return cell(line, 1) + (f" {line.engine}" if taken else "")


def long_rows(results, **where):
    """Products of 1 GiB and more on the GPU, each beside the whole set of XOR-only kernels."""
    rows = results.rows(kind="product", where="gpu", roofline="xor_only", **where)
    return rows[rows.nominal_bytes >= GIB].sort_values(["w", "k", "m"], kind="stable")


def by_shape(results):
    def of_width(rows):
        found = grid(rows, "(k, m)", shape, lambda row: label(row)
                     + (", Cauchy" if row.matrix == "cauchy" else ""), with_engine, COLUMNS)
        ceiling = (rows.roofline_GBps / rows.moved_per_byte).groupby([rows.k, rows.m], sort=False).max()
        found.insert(1, "XOR-only", [rate(value) for value in ceiling])
        return markdown(found)

    rows = long_rows(results, mode="set")
    rows = rows[(rows.matrix == "random") | (rows.family == "xor")]
    return paragraphs(
        "Percent of the XOR-only kernel, which reads k regions and writes m and only XORs. The engine xor "
        "compiles the matrix in: a random one, or the default Cauchy matrix. The others take it as an argument; "
        "which one makes no difference to them. AUTO names the engine that it took.",
        parts_of(rows.groupby("w"), "w = {}".format, of_width))


def sustained(results):
    rows = long_rows(results, mode="set", matrix="random", state="measured")
    rows = rows[rows.sustained_data_GBps.notna()]
    return paragraphs(
        "Two seconds of runs without a pause: what draws more than the card's power limit runs at a lower "
        "clock. GB per joule are of data, and of the energy of the whole board.",
        table(rows, {"engine": quoted, "(k, m)": shape, "burst GB/s": lambda row: cell(row, 1), **SUSTAINED}))


def accumulated(results):
    rows = long_rows(results, mode="xor")
    return markdown(grid(rows, "outputs ^= products", code, label, with_engine, COLUMNS))


def maps(results):
    """Each map over k and m: (w, mode, which engines), and by (k, m) the fastest engine and what AUTO
    took."""
    rows = results.rows(kind="product", roofline="xor_only_few", matrix="random", nominal_bytes=GIB,
                        state="measured")
    for (w, mode), mine in rows.groupby(["w", "mode"]):
        engines = select(mine, way="engine")
        for kind, way, some in ((EVERY, "auto_compile", engines),
                                (NOT_COMPILED, "auto", engines[engines.family != "xor"])):
            fastest = best(some, ["k", "m"]).set_index(["k", "m"])
            auto = select(mine, way=way).set_index(["k", "m"])[["percent_of_roofline", "engine"]]
            if not fastest.empty:
                yield (w, mode, kind), fastest.join(auto.add_suffix("_auto"))


def map_text(line):
    text = f"{line.percent_of_roofline:.0f} {short(line.id)}"
    if isinstance(line.engine_auto, str) and line.engine_auto != line.id:
        text += f" (AUTO {line.percent_of_roofline_auto:.0f} {short(line.engine_auto)})"
    return text


def over_k_and_m(results):
    def of_map(found):
        found = each(found, map_text).unstack("m")
        found = found.rename(columns="m = {}".format, index="k = {}".format).rename_axis(None, axis=1)
        return markdown(found.rename_axis("inputs, outputs").reset_index())

    return paragraphs(
        "The fastest engine for k inputs and m outputs, 1 GiB of data, and its percent of the XOR-only kernel "
        "(best of two variants only). In parentheses AUTO where it took another engine: it went by the "
        "preference of its build, made from an earlier run.",
        parts_of(maps(results), lambda key: "w = {}, {}, {}".format(*key), of_map))


def per_operation(results):
    """Methods in one skeleton, with 16, 4 and 1 bytes per thread."""
    rows = select(results.rows(kind="product", where="gpu", mode="set", roofline="xor_only",
                               matrix="random", way="engine"), method=METHODS)
    counts = {"": 16, "4": 4, "1": 1}
    several = rows[rows.nominal_bytes >= GIB].groupby(["w", "k", "m"]).filter(
        lambda mine: (mine.method != "SPLIT").any())  # SPLIT alone is measured at every shape
    return parts_of(several.groupby("w"), "w = {}".format, lambda mine: markdown(by_method(grid(
        mine, "method", lambda row: row.method, lambda row:
        f"{shape(row)}, {counts[re.sub('.*_w[0-9]+_?', '', row.id)]} B", lambda row: cell(row, 1)))))


def small(results):
    rows = results.rows(kind="product", where="gpu", roofline="xor_only", matrix="random", mode="set",
                        state="measured")
    rows = rows[rows.region_bytes <= 1 << 20].sort_values(["k", "m", "region_bytes", "w"], kind="stable")
    found = grid(rows, "code, region", lambda row: f"{code(row)}, {size(row.region_bytes)}", label, lambda row:
                 f"{row.time_us_median:.2f} ({100 / row.percent_of_roofline:.2f})"
                 + (f" {row.engine}" if row.way.startswith("auto") else ""), COLUMNS)
    return paragraphs("Microseconds, and that as a multiple of the XOR-only kernel's.", markdown(found))


def cpu_rows(results):
    """This library's engines on the CPU, and other libraries, the longest data of each."""
    rows = results.rows(kind=["product", "baseline"], where="cpu", operation=["product", "encode"],
                        sweep=False)
    rows = rows.sort_values("data_bytes", kind="stable")
    rows = rows.drop_duplicates(["id", "k", "m", "threads"], keep="last")
    return rows.sort_values(["k", "m", "threads"], ascending=[True, True, False], kind="stable")


def cpu_label(line):
    name = LIBRARIES.get(line.implementation) or f"engine {line.family or short(line.id)}"
    return f"{name}, {threads(line)}"


def baselines(results):
    gpu = long_rows(results, mode="set", w=8, matrix="random", way=["auto", "auto_compile"])
    cpu = select(cpu_rows(results), w=8)
    gpu = gpu.merge(cpu[["k", "m"]].drop_duplicates())
    rows = pd.concat([gpu, cpu]).sort_values(["k", "m"], kind="stable")
    return markdown(grid(rows, "w = 8 (k, m)", shape, lambda row:
                         label(row) if row.where == "gpu" else cpu_label(row), rate_of))


def first_calls(results):
    rows = results.rows(kind="create", state="measured")
    created = select(rows, operation=["specialise", "cache_hit"])
    created = created.assign(column=[
        "from the folder" if row.operation == "cache_hit" else "compiled" if row.matrix != "cauchy" else
        "default matrix" for row in lines_of(created)])
    first = select(rows, operation="first_call")
    return "\n\n".join(filter(None, (
        paragraphs(
            "Milliseconds of gfk_product_create of the engine that compiles: of a new matrix, of one whose "
            "kernel is in the cache folder, and of the default matrix, which may be built in.",
            markdown(grid(created, "engine", lambda row: f"`{row.id}` {shape(row)}", lambda row: row.column,
                          lambda row: number(row.time_us_median / 1e3, 2)
                          + (" (built in)" if row.column == "default matrix" and row.from_cache > 0 else "")))),
        paragraphs(
            "Microseconds on the host's clock of a matrix not seen before, regions of 1 MiB.",
            table(first, {"engine": lambda row: f"`{row.id}` {shape(row)}",
                          "create": field("setup_us"),
                          "create, run and wait": field("time_us_median")})))))


SECTIONS = {
    "3 GiB of data": by_shape, "Sustained rate and energy": sustained, "Added to the outputs": accumulated,
    "Fastest engine over k and m": over_k_and_m, "Methods in one skeleton": per_operation,
    "Small regions": small, "Beside other libraries": baselines, "First call and specialisation": first_calls}
