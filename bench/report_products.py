# SPDX-License-Identifier: BSD-3-Clause
"""The tables of matrix products, as Markdown. GB/s are of data: the inputs, not the outputs."""

import bench_results as results
from report_text import number, rate, shape_text, table

RUN_TIME = ("bmma", "prmt", "perop_split")  # beginnings of engine ids, as columns
CPU = (("isa-l", "ISA-L"), ("jerasure", "Jerasure"), ("isal_w8", "engine isal"),
       ("host_w8", "engine host"))


class Products:
    """Rows of products by what they are."""

    def __init__(self, rows):
        self.rows = [row for row in rows.values() if row.shape[0] and row.median
                     and row.impl not in ("rs", "pipeline") and not row.name.endswith("/sweep")]
        self.by_key = {}
        for row in self.rows:
            words = row.name.split("/")
            if len(words) >= 5:
                matrix = "cauchy" if words[-1] == "cauchy" else "random"
                self.by_key[words[0], row.shape, words[2], words[3], matrix] = row

    def get(self, row_id, shape, size="3GiB", mode="set", matrix="random"):
        return self.by_key.get((row_id, shape, size, mode, matrix))

    def shapes(self, w, size="3GiB", mode="set"):
        """Shapes of a width's engine rows, by growing k, then m."""
        return sorted({row.shape for key, row in self.by_key.items()
                       if row.w == w and key[2] == size and key[3] == mode and row.where == "gpu"
                       and row.impl == "product"})

    def ceiling(self, shape, size="3GiB", mode="set"):
        return self.get("xor_only", shape, size, mode)


def cell(row):
    return f"{rate(row.gbps)} ({row.percent:.1f} %)" if row else "-"


def with_engine(row):
    return f"{cell(row)} {row.variant}" if row else "-"


def prepared(p):
    """The matrix compiled in."""
    parts = []
    for w in results.WIDTHS:
        lines = []
        for shape in p.shapes(w):
            ceiling, both = p.ceiling(shape), [p.get(f"xor_w{w}", shape, matrix=matrix)
                                               for matrix in ("random", "cauchy")]
            auto = p.get(f"auto_w{w}_compile", shape)
            if any(both) or auto:
                lines.append([shape_text(shape), rate(ceiling.gbps) if ceiling else "-"]
                             + [cell(row) for row in both] + [with_engine(auto)])
        if lines:
            parts.append(f"### w = {w}, compiled\n\n" + table(
                ["(k, m)", "XOR-only", "xor, random matrix", "xor, Cauchy matrix",
                 "AUTO, random matrix"], lines))
    return "\n\n".join(parts)


def run_time(p):
    """Matrices as arguments."""
    parts = []
    for w in results.WIDTHS:
        lines = []
        for shape in p.shapes(w):
            ceiling = p.ceiling(shape)
            line = [shape_text(shape), rate(ceiling.gbps) if ceiling else "-"]
            found = [p.get(f"{engine}_w{w}", shape, matrix=matrix)
                     for engine in RUN_TIME for matrix in ("random", "cauchy")]
            auto, plain = p.get(f"auto_w{w}", shape), p.get(f"plain_w{w}", shape)
            if any(found) or auto:
                lines.append(line + [cell(row) for row in found] + [with_engine(auto), cell(plain)])
        if lines:
            parts.append(f"### w = {w}, run-time matrix\n\n" + table(
                ["(k, m)", "XOR-only"]
                + [f"{engine}, {matrix}" for engine in RUN_TIME for matrix in ("random", "Cauchy")]
                + ["AUTO", "plain, k x m multiplies"], lines))
    return "\n\n".join(parts)


def accumulated(p):
    lines = []
    for w in results.WIDTHS:
        for shape in p.shapes(w, mode="xor"):
            ceiling = p.ceiling(shape, mode="xor")
            lines.append([f"w = {w} {shape_text(shape)}", rate(ceiling.gbps) if ceiling else "-"]
                         + [cell(p.get(f"{engine}_w{w}", shape, mode="xor"))
                            for engine in ("xor",) + RUN_TIME])
    return table(["(k, m)", "XOR-only", "xor", *RUN_TIME], lines) if lines else ""


def perop(p):
    """Methods in one skeleton, with 16, 4 and 1 bytes per thread."""
    parts = []
    for w in results.WIDTHS:
        shapes = [shape for shape in p.shapes(w) if p.get(f"perop_log_w{w}", shape)
                  or p.get(f"perop_bytwo_p_w{w}", shape)]
        lines = []
        for method in results.METHODS:
            found = [p.get(f"perop_{method.lower()}_w{w}{variant}", shape)
                     for shape in shapes for variant in ("", "_4", "_1")]
            if any(found):
                lines.append([method] + [cell(row) for row in found])
        if lines:
            parts.append(f"### w = {w}, per operation\n\n" + table(
                ["method"] + [f"{shape_text(shape)}, {count} B" for shape in shapes
                              for count in (16, 4, 1)], lines))
    return "\n\n".join(parts)


def small(p):
    """Times as multiples of the XOR-only kernel's of the same size."""
    lines = []
    for ceiling in p.rows:
        words = ceiling.name.split("/")
        if ceiling.id != "xor_only" or ceiling.bytes > 64 << 20:
            continue
        for w in results.WIDTHS:
            autos = [p.get(f"auto_w{w}{suffix}", ceiling.shape, words[2], words[3])
                     for suffix in ("", "_compile")]
            if not any(row and row.roofline == ceiling.roofline for row in autos):
                continue # there is none, or that of a map, with a ceiling of its own
            engines = [p.get(f"{engine}_w{w}", ceiling.shape, words[2], words[3])
                       for engine in ("xor",) + RUN_TIME]
            line = [f"w = {w} {shape_text(ceiling.shape)}",
                    results.size_text(ceiling.bytes // ceiling.shape[0]), number(ceiling.median, 2)]
            for row in autos:
                line.append(f"{row.median:.2f} ({row.median / ceiling.median:.2f}) {row.variant}"
                            if row else "-")
            for row in engines:
                line.append(f"{row.median:.2f} ({row.median / ceiling.median:.2f})" if row else "-")
            lines.append(line)
    return "Microseconds, and that as a multiple of the XOR-only kernel's.\n\n" + table(
        ["(k, m)", "region", "XOR-only", "AUTO", "AUTO, compiled", "xor", *RUN_TIME],
        lines) if lines else ""


def best_of(rows):
    return max((row for row in rows if row), key=lambda row: row.gbps, default=None)


def baselines(p):
    """What others compute the same with."""
    cpu = [row for row in p.rows if row.where == "cpu"]
    columns = [(row_id, title, threads) for row_id, title in CPU
               for threads in sorted({row.threads for row in cpu if row.id == row_id})]
    lines = []
    for shape in sorted({row.shape for row in cpu}):
        found = []
        for row_id, _, threads in columns:
            mine = [row for row in cpu if (row.id, row.shape, row.threads) ==
                    (row_id, shape, threads)]
            found.append(max(mine, key=lambda row: row.bytes, default=None))
        gpu = [p.get("auto_w8_compile", shape), p.get("auto_w8", shape),
               best_of([row for row in p.rows if row.id.startswith("perop_") and row.shape == shape
                        and row.w == 8 and row.mode == "set" and "/3GiB/" in row.name]),
               p.get("plain_w8", shape)]
        lines.append([shape_text(shape)] + [cell(row) for row in gpu]
                     + [rate(row.gbps) if row else "-" for row in found])
    header = ["w = 8 (k, m)", "AUTO, compiled", "AUTO", "best perop", "plain, k x m multiplies"]
    return table(header + [f"{title}, {threads} thread{'s' if threads > 1 else ''}"
                           for _, title, threads in columns], lines) if lines else ""


def first_calls(p):
    """Create and first run; specialisation; a hit in the cache folder."""
    named = {row.name: row for row in p.rows}
    calls = [[f"`{row.name.split('/', 1)[1]}`", number(row.setup_us, 1), number(row.median, 1)]
             for row in p.rows if row.name.startswith("first_call/")]
    creates = []
    for row in p.rows:
        words = row.name.split("/")
        if words[0] != "specialise" or words[-1] == "cauchy":
            continue
        rest = row.name.split("/", 1)[1]
        hit, default = named.get("cache_hit/" + rest), named.get(row.name + "/cauchy")
        creates.append([f"`{rest}`", number(row.median / 1e3, 1), number(row.slowest / 1e3, 1),
                        (number(hit.median / 1e3, 2) + (" NOT FOUND" if "NOT" in hit.note else ""))
                        if hit else "-",
                        (number(default.median / 1e3, 2)
                         + (" (built in)" if default.raw.get("from_cache") else ""))
                        if default else "-"])
    parts = []
    if creates:
        parts.append("Milliseconds of gfk_product_create.\n\n" + table(
            ["engine, shape", "compiled, median", "slowest", "from the folder",
             "default matrix, first create"], creates))
    if calls:
        parts.append("Microseconds on the host's clock, regions of 1 MiB.\n\n" + table(
            ["engine, shape", "create", "create, run and wait"], calls))
    return "\n\n".join(parts)


def host_time(p):
    lines = [[f"`{row.id}` {shape_text(row.shape)}"]
             + [number(row.raw[key], 2) for key in ("call_us", "bare_launch_us", "above_bare_us")]
             for row in p.rows if row.name.startswith("product_host_time/")]
    return table(["engine", "call us", "bare launch us", "above it us"], lines) if lines else ""


def ceilings(p):
    lines = [[f"{shape_text(row.shape)}, {row.name.split('/')[2]}, {row.mode}",
              rate(row.gbps), number(row.raw["traffic_GBps"], 0), row.variant,
              number(row.median, 2), number(row.spread)]
             for row in p.rows if row.id == "xor_only"]
    return table(["XOR-only kernel", "data GB/s", "traffic GB/s", "best variant", "us", "spread %"],
                 lines) if lines else ""


EVERY, NOT_COMPILED = "every engine", "without compiling"


def map_values(p, w, kind, mode="set"):
    """{(k, m): (the fastest engine's row, AUTO's row or None)}, beside the two-variant XOR-only
    kernel of the same run."""
    found = {}
    for key, row in p.by_key.items():
        row_id, shape, size, row_mode, matrix = key
        ceiling = p.get("xor_only_few", shape, size, row_mode)
        if (row.w, size, row_mode, matrix) != (w, "1GiB", mode, "random") \
                or row.impl != "product" \
                or row_id.startswith(("auto_", "plain_")) or ceiling is None \
                or ceiling.roofline != row.roofline \
                or (kind == NOT_COMPILED and row_id.startswith("xor_")):
            continue
        auto = p.get(f"auto_w{w}" + ("_compile" if kind == EVERY else ""), shape, size, mode)
        if shape not in found or row.gbps > found[shape][0].gbps:
            found[shape] = row, auto
    return found


def maps(p):
    """(w, mode, kind, values) of each map that was measured."""
    for w in results.WIDTHS:
        for mode in ("set", "xor"):
            for kind in (EVERY, NOT_COMPILED):
                found = map_values(p, w, kind, mode)
                if found:
                    yield w, mode, kind, found


def short_id(row_id):
    """An engine without its width: bmma, perop_split."""
    return row_id.rsplit("_w", 1)[0]


def map_cell(best, auto):
    text = f"{best.percent:.0f} {short_id(best.id)}"
    if auto and auto.variant != best.id:
        text += f" (AUTO {auto.percent:.0f} {short_id(auto.variant)})"
    return text


def heat_map(p):
    parts = []
    for w, mode, kind, found in maps(p):
        ks, ms = (sorted({shape[axis] for shape in found}) for axis in (0, 1))
        parts.append(f"### w = {w}, {mode}, {kind}\n\n" + table(
            [""] + [f"m = {m}" for m in ms],
            [[f"k = {k}"] + [map_cell(*found[k, m]) if (k, m) in found else "-" for m in ms]
             for k in ks]))
    return "The fastest engine for k inputs and m outputs, and its percent of the XOR-only kernel " \
        "(best of two variants only); in parentheses AUTO, where it took another one: it went by " \
        "the preference of its build, made from an earlier run.\n\n" + "\n\n".join(parts) \
        if parts else ""


def sections(rows):
    p = Products(rows)
    return (("Products: prepared", prepared(p)), ("Products: run-time matrix", run_time(p)),
            ("Products: xor into the outputs", accumulated(p)),
            ("Products: over k and m", heat_map(p)),
            ("Products: perop comparison", perop(p)), ("Products: small regions", small(p)),
            ("Products: baselines", baselines(p)),
            ("Products: first call and specialisation", first_calls(p)),
            ("Products: host time of a run", host_time(p)),
            ("Products: ceilings", ceilings(p)))
