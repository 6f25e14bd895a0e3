# SPDX-License-Identifier: BSD-3-Clause
"""The tables of results/<gpu>/README.md, as Markdown."""

import statistics

import bench_results as results
import report_host as host
import report_overview
import report_products as products
import report_rs as rs
from report_text import number, rate, table

SHOWN = ("gpu", "gpu_compute_capability", "gpu_driver", "cuda_of_driver", "cuda_runtime",
         "cuda_compiler", "compiler", "compiler_flags", "build_type", "gpu_clock_max",
         "gpu_clock_at_start", "gpu_memory_clock", "gpu_temperature_at_start", "gpu_power_at_start",
         "gpu_l2_bytes", "gpu_memory_bytes", "cpu", "cpu_threads", "gf_complete", "gf_complete_simd",
         "isa_l", "isa_l_simd", "jerasure", "jerasure_simd", "google_benchmark", "seed")


def best(rows, **wanted):
    """The fastest row with these attributes, or None."""
    fitting = [row for row in rows.values()
               if row.gbps and all(getattr(row, key) == value for key, value in wanted.items())]
    return max(fitting, key=lambda row: row.gbps, default=None)


def is_plain(row):
    """Constants in turn, aligned."""
    return "/c=" not in row.name and "/at=" not in row.name


def cell(rows, method, w, impl, size=results.GIB):
    """The row that stands for a cell: its fastest at this size that is no ablation."""
    fitting = {row.name: row for row in rows.values() if is_plain(row)}
    return best(fitting, method=method, w=w, impl=impl, labels="", bytes=size, mode="set",
                cache="cold", where="gpu")


def gf_complete(rows, method, w, all_cores, c=None):
    fitting = {row.name: row for row in rows.values()
               if row.impl == "gf-complete" and (row.threads > 1) == all_cores
               and (f"/c={c}" in row.name if c else "/c=" not in row.name)
               and "/50000000/" not in row.name}
    return best(fitting, method=method, w=w)


def overview(rows):
    """Method x width: GB/s of source at 1 GiB and percent of the roofline; also for the README."""
    lines = []
    for method in results.METHODS:
        line = [method]
        for w in results.WIDTHS:
            for impl in ("naive", "opt"):
                row = cell(rows, method, w, impl)
                line.append(f"{row.gbps:,.0f} ({row.percent:.0f} %)" if row else "-")
            row = gf_complete(rows, method, w, True) or gf_complete(rows, method, w, False)
            line.append(rate(row.gbps) if row else "-")
        lines.append(line)
    header = ["GB/s of source"]
    for w in results.WIDTHS:
        header += [f"w={w} naive", f"w={w} optimized", f"w={w} GF-Complete"]
    measured = any(cell != "-" for line in lines for cell in line[1:])
    return table(header, lines) if measured else ""


def contexts_section(contexts):
    lines = []
    for key in SHOWN:
        values = sorted({context[key] for context in contexts if context.get(key)})
        if values:
            lines.append([key.replace("_", " "), " / ".join(values)])
    text = table(["what", "value"], lines).replace("| --- | ---: |", "| --- | --- |")
    files = table(["file", "commit", "date", "command"],
                  [[c["file"] + (f" ({c['interrupted']})" if "interrupted" in c else ""),
                    c.get("commit", ""), c.get("date_utc", ""),
                    f"`{c.get('command', '')}`"] for c in contexts])
    return text + "\n\n" + files


def ceilings(rows):
    lines = [[f"{row.method}, {results.size_text(row.bytes)}, {row.cache}",
              number(row.raw["traffic_GBps"], 0), row.variant, number(row.median, 2),
              number(row.spread)]
             for row in rows.values() if row.name.startswith("ceiling/") and row.gbps]
    empty = rows.get("empty_launch")
    text = table(["kernel", "traffic GB/s", "best variant", "us", "spread %"], lines)
    if empty and empty.median:
        text += f"\n\nAn empty kernel inside a graph takes {empty.median:.2f} us."
    return text if lines else ""


def cells(rows):
    """Every cell at 1 GiB, with set-up."""
    parts = []
    for w in results.WIDTHS:
        lines = []
        for method in results.METHODS:
            naive, opt = cell(rows, method, w, "naive"), cell(rows, method, w, "opt")
            line = [method]
            for row in (naive, opt):
                line += [rate(row.gbps), number(row.percent), number(row.setup_us)] if row \
                    else ["-"] * 3
            for all_cores in (False, True):
                row = gf_complete(rows, method, w, all_cores)
                line.append(rate(row.gbps) if row else "-")
            lines.append(line)
        if all(figure == "-" for line in lines for figure in line[1:]):
            continue
        parts.append(f"### w = {w}\n\n" + table(
            ["method", "naive GB/s", "% of copy", "set-up us", "optimized GB/s", "% of copy",
             "set-up us", "GF-Complete, 1 thread", "all cores"], lines))
    return "\n\n".join(parts)


def is_sweep(row):
    return row.where == "gpu" and row.impl in ("naive", "opt") and is_plain(row) \
        and not row.name.startswith("host_time/") and "giant" not in row.labels


def sizes(rows):
    """One table per mode and cache state: rows against sizes."""
    parts = []
    for mode, cache in (("set", "cold"), ("xor", "cold"), ("set", "hot"), ("xor", "hot")):
        found = [row for row in rows.values()
                 if is_sweep(row) and row.mode == mode and row.cache == cache and row.gbps]
        steps = sorted({row.bytes for row in found})
        if not found:
            continue
        lines = []
        for row_id in dict.fromkeys(row.id for row in found):
            mine = {row.bytes: row for row in found if row.id == row_id}
            setup = next(iter(mine.values()))
            lines.append([f"`{row_id}`"] + [
                f"{rate(mine[s].gbps)} ({mine[s].percent:.0f} %)" if s in mine else "-"
                for s in steps] + [f"{setup.setup_us:,.1f} ({setup.setup})" if setup.setup else "-"])
        parts.append(f"### {mode}, {cache}\n\n" + table(
            ["row"] + [results.size_text(s) for s in steps] + ["set-up us"], lines))
    return "\n\n".join(parts)


def s2(rows):
    mine = {row.name: row for row in rows.values() if row.bytes == 50000000}
    if not mine:
        return ""
    parts = []
    for w in results.WIDTHS:
        lines = []
        for method in results.METHODS:
            line = [method]
            for fixed in (True, False):
                picked = {row.name: row for row in mine.values()
                          if ("/c=128" in row.name) == fixed and row.labels == ""}
                for impl, threads in (("gf-complete", 1), ("gf-complete", 2), ("naive", 1),
                                      ("opt", 1)):
                    some = {row.name: row for row in picked.values()
                            if (row.threads > 1) == (threads > 1)}
                    row = best(some, method=method, w=w, impl=impl)
                    line.append(rate(row.gbps) if row else "-")
            lines.append(line)
        names = ["GF-Complete, 1 thread", "all cores", "naive", "optimized"]
        parts.append(f"### w = {w}\n\n" + table(
            ["GB/s of source"] + [f"{name}, c = 128" for name in names]
            + [f"{name}, random" for name in names], lines))
    return "\n\n".join(parts)


def limits(rows):
    """Median over random constants at the largest such size, and the spread over constants."""
    parts = []
    picked = [row for row in rows.values() if "/c=" in row.name and row.where == "gpu"
              and "giant" not in row.labels and row.bytes != 50000000 and row.gbps]
    for size in sorted({row.bytes for row in picked if "/c=each64" in row.name}, reverse=True):
        for mode in ("set", "xor"):
            lines = []
            for row in picked:
                if row.bytes != size or row.mode != mode or "/c=each64" not in row.name:
                    continue
                stem = row.name.rsplit("/c=", 1)[0]
                roofline = row.raw["roofline_GBps"] / (2 if mode == "set" else 3)
                percent = {}
                every = rows.get(stem + "/c=all255") or row
                for word in ("best", "mean", "worst"):
                    percent[word] = 100 * every.raw[f"{word}_constant_GBps"] / roofline
                ones = (1 << row.w) - 1
                two, all_ones = rows.get(stem + "/c=2"), rows.get(f"{stem}/c={ones}")
                lines.append([f"`{row.id}`", rate(row.gbps), f"{row.percent:.1f}"]
                             + [f"{percent[word]:.1f}" for word in ("best", "mean", "worst")]
                             + [f"{r.percent:.1f}" if r and r.gbps else "-"
                                for r in (two, all_ones)])
            if lines:
                parts.append(f"### {mode}, {results.size_text(size)}\n\n" + table(
                    ["row", "GB/s of source, median", "median %", "best %", "mean %", "worst %",
                     "c = 2 %", "all ones %"], lines))
    return "\n\n".join(parts)


def offsets(rows):
    """Rows at odd addresses against themselves aligned, in the same run."""
    lines, steps = [], []
    for row in rows.values():
        if "/at=" in row.name and row.gbps:
            steps.append(row.name.rsplit("/at=", 1)[1])
    steps = list(dict.fromkeys(steps))
    for row in rows.values():
        mine = [rows.get(f"{row.name}/at={step}") for step in steps]
        if steps and all(mine) and row.gbps:
            lines.append([f"`{row.name}`", f"{rate(row.gbps)} ({row.percent:.0f} %)"]
                         + [f"{rate(other.gbps)} ({100 * other.gbps / row.gbps:.0f} %)"
                            for other in mine])
    return "GB/s of source; aligned, and with src and dst so many bytes behind a multiple of 512, " \
        "in percent of aligned.\n\n" + table(["row", "aligned"] + steps, lines) if lines else ""


def fraction(rows, row):
    """What the row reaches of the copy roofline at the largest size."""
    found = [r for r in rows.values() if r.id == row.id and r.mode == "set" and r.cache == "cold"
             and r.gbps and (is_plain(r) or "/c=each64" in r.name)]
    return max(found, key=lambda r: (r.bytes, "/c=" in r.name)).percent / 100


def small(rows):
    """Times at small sizes as multiples of a copy's, and of the fastest naive row's of the cell."""
    sizes = sorted({row.bytes for row in rows.values() if is_sweep(row) and row.mode == "set"
                    and row.cache == "cold" and 4096 <= row.bytes <= 16 << 20})
    if len(sizes) < 5:
        return ""
    at = {(row.id, row.bytes): row for row in rows.values()
          if is_sweep(row) and row.mode == "set" and row.cache == "cold" and row.gbps
          and row.bytes in sizes}
    lines, beyond, slower = [], [], []
    for row_id in dict.fromkeys(row.id for row in at.values() if row.impl == "opt"
                                and row.labels == ""):
        line = [f"`{row_id}`"]
        for size in sizes:
            row = at.get((row_id, size))
            copy = rows.get(f"ceiling/{row.name.split('/')[1]}/set/cold") if row else None
            if row is None or copy is None:
                line.append("-")
                continue
            line.append(f"{row.median:.2f} ({row.median / copy.median:.2f})")
            allowed = 1.25 * copy.median / fraction(rows, row) + (3 if row.shared_bytes else 0)
            if row.median > allowed:
                beyond.append(f"`{row_id}` at {results.size_text(size)}: {row.median:.2f} us, "
                              f"allowed {allowed:.2f}")
            naive = [other for other in at.values() if other.impl == "naive" and other.labels == ""
                     and (other.method, other.w, other.bytes) == (row.method, row.w, size)]
            if naive:
                base = min(naive, key=lambda other: other.median)
                runs = zip(row.earlier + [row], base.earlier + [base])
                ratios = [mine.median / theirs.median for mine, theirs in runs]
                if min(ratios) > 1.05:
                    slower.append(f"`{row_id}` at {results.size_text(size)}: "
                                  + ", ".join(f"{ratio:.2f}" for ratio in ratios))
        lines.append(line)
    auto = [cell.id for w in results.WIDTHS
            for cell in [best({r.name: r for r in rows.values() if is_sweep(r)}, w=w, impl="opt",
                              labels="", bytes=results.GIB, mode="set", cache="cold")] if cell]
    worst = max((at[key].median / rows[f"ceiling/{at[key].name.split('/')[1]}/set/cold"].median
                 for key in at if key[0] in auto), default=0)
    runs = 1 + max(len(row.earlier) for row in at.values())
    return "Microseconds of one region multiply, and that as a multiple of the best copy of the " \
        "same size.\n\n" \
        + table(["row"] + [results.size_text(size) for size in sizes], lines) \
        + f"\n\nThe choices of AUTO ({', '.join(f'`{row_id}`' for row_id in auto)}) take at most " \
        f"{worst:.3f} times a copy." \
        + "\n\nBeyond 1.25 x (copy / the row's fraction of it at the largest size), plus 3 us for " \
        "rows that fill a table in shared memory: " + ("; ".join(beyond) or "none") + "." \
        + f"\n\nSlower than the cell's fastest naive row by more than 5 % (runs: {runs}; in every " \
        "one of them): " + ("; ".join(slower) or "none") + "."


def verdicts(contexts, rows):
    parts = []
    for context in contexts:
        for key in sorted(key for key in context if key.startswith("verdict_")):
            title, claim, names = context[key].split("|")
            lines, first, previous = [], None, None
            for name in names.split(","):
                row = rows.get(name)
                if row is None or not row.gbps:
                    lines.append([f"`{name}`", "not measured", "", ""])
                    continue
                step = ""
                if previous:
                    same = row.fastest <= previous.slowest and previous.fastest <= row.slowest
                    step = f"{100 * (row.gbps / previous.gbps - 1):+.1f} %" \
                        + (" (noise)" if same else "")
                first = first or row
                lines.append([f"`{name}`", rate(row.gbps), step, f"{row.gbps / first.gbps:.2f}"])
                previous = row
            parts.append(f"### {title}\n\nClaim: {claim}\n\n" + table(
                ["row", "GB/s of source", "on the line before", "x the first"], lines))
    return "\n\n".join(parts)


def giants(rows):
    lines = [[f"`{row.name}`", row.note, number(row.median / 1e3, 2),
              f"{row.setup_us / 1e6:,.2f} s ({row.setup})" if row.setup else "-"]
             for row in rows.values()
             if (row.name.startswith("gather_") or "giant" in row.labels) and row.median]
    return table(["row", "rate", "ms", "set-up"], lines) if lines else ""


def host_time(rows):
    lines = [[f"`{row.id}`"] + [number(row.raw[key], 2) for key in
                                ("call_us", "bare_launch_us", "above_bare_us",
                                 "prepared_call_us", "prepared_above_bare_us")]
             for row in rows.values() if row.name.startswith("host_time/") and row.median]
    worst = max((row.raw["above_bare_us"] for row in rows.values()
                 if row.name.startswith("host_time/") and row.median), default=0)
    median = statistics.median(float(line[3]) for line in lines) if lines else 0
    return f"Above a bare launch: median {median:.2f} us, worst {worst:.2f} us.\n\n" + table(
        ["row", "call us", "bare launch us", "above it us", "prepared call us", "above it us"],
        lines) if lines else ""


def cpu(rows, impl):
    lines = [[f"`{row.name}`", rate(row.gbps), number(row.spread), number(row.setup_us)]
             for row in rows.values() if row.impl == impl and row.gbps and row.bytes != 50000000]
    return table(["row", "GB/s of source", "spread %", "set-up us"], lines) if lines else ""


def troubles(rows):
    def what(row):
        above = row.raw.get("above_101_percent") and "ABOVE" not in row.note \
            and not host.is_to_be_beaten(row)
        return row.error or (f"ABOVE 101 % of its ceiling: {row.percent:.1f} %" if above
                             else row.note)

    lines = [[f"`{row.name}`", what(row)] for row in rows.values()
             if row.error or "ABOVE" in what(row)]
    return table(["row", "what"], lines).replace("---:", "---") if lines else ""


def page(title, contexts, rows, plots):
    text = [f"# {title}", "",
            "Generated by `bench/report.py` from the JSON files in this folder; "
            "docs/benchmarking.md says what each column means.", ""]
    for context in contexts:
        for word in ("void", "unfit"):
            if word in context:
                text += [f"> **{context['file']} is {word}: {context[word]}.**", ""]
    sections = (
        ("Methods at 1 GiB", overview(rows)),
        ("Products and codes", report_overview.block(rows)),
        ("The machine", contexts_section(contexts)),
        ("Every cell at 1 GiB, set, cold", cells(rows)),
        ("Region sizes", sizes(rows)),
        ("Small regions", small(rows)),
        ("Limits", limits(rows)),
        ("Odd addresses", offsets(rows)),
        ("Ceilings", ceilings(rows)),
        ("The published test case: 50,000,000 bytes, c = 128", s2(rows)),
        ("Verdicts", verdicts(contexts, rows)),
        ("Giants", giants(rows)),
        ("Host time of a region call", host_time(rows)),
        *products.sections(rows),
        *rs.sections(rows),
        *host.sections(rows),
        ("GF-Complete", cpu(rows, "gf-complete")),
        ("Host references", cpu(rows, "host")),
        ("Rows without a number, or with a doubtful one", troubles(rows)))
    for heading, body in sections:
        if body:
            text += [f"## {heading}", ""]
            text += [f"![{heading}]({plots[heading]})", ""] if heading in plots else []
            text += [body, ""]
    return "\n".join(text)
