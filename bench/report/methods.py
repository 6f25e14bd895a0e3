# SPDX-License-Identifier: BSD-3-Clause
"""Constant times region: the method x width table, and methods.md."""

import pandas as pd

from .frame import GIB, METHODS, WIDTHS, best, select
from .text import (by_method, cell, each, field, grid, lines_of, markdown, number, paragraphs, parts_of,
                   quoted, rate, rate_of, size, table, threads)

TITLE = "Region multiply: methods and widths"
PUBLISHED = 50_000_000  # bytes of the test case of the literature, with c = 128
IMPLEMENTATIONS = {"naive": "naive", "opt": "optimized"}


def plain(results, **where):
    """Region rows of the usual kind: random constants in turn, aligned."""
    return results.rows(kind="region", constants="rotating", src_offset=0, dst_offset=0, **where)


def cells(results, implementation):
    """The fastest row of each method and width that is no ablation, by (width, method): of a CUDA kernel
    at 1 GiB, also with the one constant of a table of gigabytes, and of a reference at its largest size."""
    if implementation == "host":
        frame = plain(results, implementation="host", state="measured").sort_values("region_bytes")
        frame = frame.drop_duplicates("id", keep="last")
    else:
        where = dict(implementation=implementation, where="gpu", mode="set", cold=True,
                     nominal_bytes=GIB, ablation=False)
        frame = pd.concat([plain(results, giant=False, **where),
                           results.rows(kind="region", giant=True, **where)])
    return best(frame.reset_index(drop=True), ["w", "method"]).set_index(["w", "method"])


def gf_complete(results, all_cores=True):
    """The same for GF-Complete."""
    frame = results.rows(kind="baseline", implementation="gf-complete", constants="rotating", method=METHODS)
    frame = frame[frame.nominal_bytes != PUBLISHED]
    most = frame.groupby("id").threads.transform("max")
    frame = frame[frame.threads == (most if all_cores else 1)]
    return best(frame, ["w", "method"]).set_index(["w", "method"])


def of_width(found, w, text):
    """A column of a table with a line for each method."""
    found = found[found.index.get_level_values("w") == w].droplevel("w")
    return each(found, text).reindex(METHODS)


def overview(results):
    """Also for the README of the project."""
    series = {title: cells(results, which) for which, title in IMPLEMENTATIONS.items()}
    if all(found.empty for found in series.values()):
        series = {"reference, 1 thread": cells(results, "host")}
    series["GF-Complete"] = gf_complete(results)
    columns = {f"w={w} {title}": of_width(found, w, cell)
               for w in WIDTHS for title, found in series.items()}
    cores = series["GF-Complete"].threads.max()
    notes = ["GB/s of source of a constant times a region."]
    if "naive" in series:
        notes.append("On the GPU the region has 1 GiB; in parentheses percent of a plain copy in the same run. A "
                     "table of gigabytes has its size beside the rate: lookups in it are the bound.")
    if cores == cores:
        notes.append(f"GF-Complete: its fastest variant on {cores} threads; n/a: it does not offer the method.")
    return paragraphs(" ".join(notes), markdown(
        pd.DataFrame({"method": pd.Series(METHODS, METHODS), **columns})))


def detailed(results):
    found = {title: cells(results, which) for which, title in IMPLEMENTATIONS.items()}
    others = {"GF-Complete, 1 thread": gf_complete(results, False),
              "GF-Complete, all cores": gf_complete(results), "reference, 1 thread": cells(results, "host")}
    tables = []
    for w in WIDTHS:
        columns = {f"{title}, {heading}": of_width(rows, w, text) for title, rows in found.items()
                   for heading, text in (("GB/s", cell), ("set-up us", field("setup_us")))}
        columns.update((title, of_width(rows, w, cell)) for title, rows in others.items())
        tables.append((w, pd.DataFrame({"method": pd.Series(METHODS, METHODS), **columns})))
    return parts_of(tables, "w = {}".format, markdown)


def sizes_of(rows):
    return [size(count) for count in sorted(rows.nominal_bytes.unique())]


def size_of(row):
    return size(row.nominal_bytes)


def by_size(results):
    def of_mode(rows):
        rates = grid(rows, "kernel", quoted, size_of, cell, sizes_of(rows))
        rates["set-up us"] = each(rows.drop_duplicates("id").reset_index(), lambda row:
                                  f"{row.setup_us:,.1f} ({row.setup})" if row.setup else "-")
        return markdown(rates)

    rows = plain(results, giant=False, state="measured")
    return parts_of(rows.groupby(["mode", "cold", "where"], sort=False), lambda key:
                    f"{key[0]}, {'cold' if key[1] else 'hot'}{'' if key[2] == 'gpu' else ', on the CPU, 1 thread'}",
                    of_mode)


def small(results):
    rows = plain(results, where="gpu", mode="set", cold=True, giant=False, ablation=False, implementation="opt",
                 state="measured")
    rows = rows[rows.nominal_bytes <= 16 << 20]
    naive = cells(results, "naive")  # of each method and width the fastest
    beside = results.beside(rows.assign(id=each(rows, lambda row: naive.id.get((row.w, row.method), ""))),
                            ["id", "nominal_bytes"], kind="region", constants="rotating", mode="set", cold=True)
    slower = rows[rows.time_us_median > 1.05 * beside.time_us_median]
    return paragraphs(
        "Microseconds of one region multiply, and that as a multiple of the best copy of the same size.",
        markdown(grid(rows, "kernel", quoted, size_of, lambda row:
                      f"{row.time_us_median:.2f} ({100 / row.percent_of_roofline:.2f})", sizes_of(rows))),
        "More than 5 % slower than the method's naive kernel of the same width: " + (", ".join(
            f"{quoted(row)} at {size_of(row)}" for row in lines_of(slower)) or "none") + ".")


def limits(results):
    """Each constant on its own, at the largest sizes."""
    every = results.rows(kind="region", where="gpu", giant=False, state="measured")
    keys = ["id", "mode", "nominal_bytes"]
    alone = select(every, constants="fixed").set_index([*keys, "constant"]).percent_of_roofline
    whole = select(every, constants="all").set_index(keys)

    def of_constant(which):
        def text(row):
            value = which if which > 0 else (1 << row.w) - 1
            return number(alone.get((row.id, row.mode, row.nominal_bytes, value)))
        return text

    def of_rates(which):
        def text(row):
            key = row.id, row.mode, row.nominal_bytes
            line = whole.loc[key] if key in whole.index else row
            moved = row.traffic_GBps / row.data_GBps
            return number(100 * moved * getattr(line, f"{which}_constant_GBps") / row.roofline_GBps)
        return text

    return paragraphs(
        "Random constants, each timed alone (w = 8, set: all 255). Percent of a plain copy, for xor of a plain "
        "read-read-write kernel.",
        parts_of(select(every, constants="each").groupby(["mode", "nominal_bytes"]), lambda key:
                 f"{key[0]}, {size(key[1])}", lambda rows: table(rows, {
                     "kernel": quoted, "GB/s, median": rate_of, "median %": field("percent_of_roofline"),
                     "best %": of_rates("best"), "mean %": of_rates("mean"), "worst %": of_rates("worst"),
                     "c = 2 %": of_constant(2), "all ones %": of_constant(0)})))


def offsets(results):
    rows = results.rows(kind="region", where="gpu", state="measured")
    rows = rows[rows.src_offset + rows.dst_offset > 0]
    keys = ["id", "mode", "cold", "nominal_bytes"]
    aligned = results.beside(rows, keys, kind="region", constants="rotating", src_offset=0, dst_offset=0)
    rows = rows.assign(aligned=aligned.data_GBps)
    found = grid(rows, "kernel", quoted, lambda row: f"{row.src_offset}, {row.dst_offset}",
                 lambda row: f"{rate(row.data_GBps)} ({100 * row.data_GBps / row.aligned:.0f} %)")
    if not found.empty:
        found.insert(1, "aligned", each(rows.drop_duplicates("id").reset_index(),
                                        lambda row: rate(row.aligned)))
    return paragraphs("GB/s of source at 1 GiB, with src and dst so many bytes behind a multiple of 512; in "
                      "parentheses percent of the aligned rate in the same run.", markdown(found))


def published(results):
    rows = results.rows(kind=["region", "baseline"], nominal_bytes=PUBLISHED, ablation=False,
                        constants=["rotating", "fixed"], method=METHODS)
    titles = {"gf-complete": "GF-Complete, ", **IMPLEMENTATIONS, "host": "reference, "}
    rows = rows.sort_values(["constants", "implementation", "threads"], kind="stable", key=lambda column:
                            column.map({name: i for i, name in enumerate(titles)})
                            if column.name == "implementation" else column)
    keys = ["method", "implementation", "threads", "constants"]
    return parts_of(rows.groupby("w"), "w = {}".format, lambda mine: markdown(by_method(grid(
        best(mine.reset_index(drop=True), keys), "GB/s of source", lambda row: row.method, lambda row:
        titles[row.implementation] + (threads(row) if row.where == "cpu" else "")
        + (", c = 128" if row.constants == "fixed" else ", random constants"), rate_of))))


def verdicts(results):
    rows = results.rows(kind="region", state="measured").set_index("row", drop=False)
    parts = []
    for verdict in results.verdicts:
        steps = rows.reindex([name for name in verdict["steps"] if name in rows.index])
        if steps.empty:
            continue
        before, first = steps.shift(), steps.iloc[0].data_GBps
        noise = (steps.time_us_min <= before.time_us_max) & (before.time_us_min <= steps.time_us_max)
        steps = steps.assign(step=100 * (steps.data_GBps / before.data_GBps - 1), noise=noise)
        parts.append(f"### {verdict['title']}\n\nClaim: {verdict['claim']}\n\n" + table(steps, {
            "row": lambda row: f"`{row.row}`", "GB/s of source": rate_of,
            "against the line before": lambda row: "" if pd.isna(row.step) else
            f"{row.step:+.1f} %" + (" (noise)" if row.noise else ""),
            "x the first": lambda row: number(row.data_GBps / first, 2)}))
    return "\n\n".join(parts)


def giants(results):
    """TABLE and LOG of w = 32, and plain gathers from as many bytes."""
    rows = results.rows(kind=["ceiling", "region"], state="measured")
    rows = rows[(rows.operation == "gather") | rows.giant].copy()
    rows["billions"] = rows.gsymbols_per_s.fillna(rows.ggathers_per_s)
    return paragraphs(
        "TABLE and LOG at w = 32 look every symbol up in tables of gigabytes. Their ceiling is a plain kernel "
        "that only gathers from 16 GiB, at random addresses or at hashed ones (1 to 8 gathers in flight).",
        table(rows, {
            "row": quoted, "table": lambda row: size(row.table_bytes + row.workspace_bytes)
            if row.giant else "-", "10^9 symbols or gathers/s": field("billions", 2),
            "% of the best plain gather": field("percent_of_gathers"),
            "GB/s of source": rate_of, "ms": field("time_us_median", 2, 1e3),
            "set-up s": field("setup_us", 2, 1e6)}))


def variants(results):
    rows = results.rows(kind="baseline", implementation="gf-complete", constants="rotating")
    return markdown(grid(rows[rows.nominal_bytes != PUBLISHED], "GB/s of source", quoted, threads, cell))


SECTIONS = {"Every method and width": detailed, "Region sizes": by_size, "Small regions": small,
            "Limits": limits, "Odd addresses": offsets, "Giant tables": giants,
            "The published test case: 50,000,000 bytes": published, "Published claims": verdicts,
            "GF-Complete's variants": variants}
