# SPDX-License-Identifier: BSD-3-Clause
"""The pages of results/<gpu>/: the front page, which is also the README's block, and the record."""

import re

import pandas as pd

from . import codes, host, methods, products
from .frame import GIB, best, select
from .text import (SUSTAINED, cell, field, lines_of, markdown, number, paragraphs, percent, quoted, rate,
                   rate_of, shape, size, table)

PAGES = {"methods": methods, "products": products, "codes": codes, "host-memory": host}
BEGIN, END = "<!-- table:begin -->", "<!-- table:end -->"
MACHINE = """gpu gpu_compute_capability gpu_driver cuda_of_driver cuda_runtime cuda_compiler compiler
    compiler_flags build_type gpu_clock_max gpu_clock_at_start gpu_memory_clock gpu_temperature_at_start
    gpu_power_at_start gpu_l2_bytes gpu_memory_bytes cpu cpu_cores cpu_threads gf_complete gf_complete_simd
    isa_l isa_l_simd jerasure jerasure_simd google_benchmark seed""".split()


def last(rows, text=cell):
    return text(lines_of(rows.tail(1))[0]) if len(rows) else "-"


def user_operations(results):
    """(what, rows on the GPU, rows on the CPU, what 100 % is), in the order in which a user asks."""
    cpu = select(products.cpu_rows(results), state="measured", w=8).sort_values("threads", kind="stable")
    product = products.long_rows(results, mode="set", matrix="random", way=["auto", "auto_compile"])
    encode = pd.concat([codes.rows_of(results, "encode"), product])  # a product counts where there are both
    for k, m in ((4, 2), (10, 4), (30, 3)):
        yield (f"encode ({k}, {m})", select(encode, w=8, k=k, m=m), select(cpu, k=k, m=m),
               f"XORs {k} regions into {m}")
    rows = select(results.rows(kind="rs", state="measured"), w=8, k=10, m=4)
    rows, none = rows[rows.region_bytes != codes.SWEEP], cpu.head(0)
    decode = select(rows, operation="decode")
    yield ("decode (10, 4), 4 lost, data and parity", select(decode, lost=4, lost_kind="mixed"), none,
           "XORs 10 regions into 4")
    yield "decode (10, 4), 1 lost", select(decode, lost=1), none, "XORs 10 regions into 1"
    yield "verify (10, 4)", select(rows, operation="verify"), none, "reads 14 regions"
    yield ("update (10, 4) by one changed region", select(rows, operation="update"), none,
           "reads 6 regions, writes 4")
    yield ("encode (10, 4), 4,096 stripes of 4 KiB regions in one launch",
           select(rows, operation="batch_encode", region_bytes=4096), none, "XORs 10 regions into 4")


def products_and_codes(results):
    """Rates of data, also for the README of the project; "" where nothing of it was measured."""
    lines, data, cores = [], 0, 1
    for what, rows, cpu, ceiling in user_operations(results):
        isal = select(cpu, implementation="isa-l")
        data, cores = max([data, *rows.data_bytes]), max([cores, *isal.threads])
        if len(rows) + len(cpu):
            lines.append({"w = 8": what, "compiling allowed": last(select(rows, compile=True)),
                          "run-time matrix": last(select(rows, compile=False)), "ISA-L": last(isal, rate_of),
                          "this library on the CPU": last(select(cpu, kind="product"), rate_of),
                          "100 % is a kernel that": ceiling if len(rows) else "-"})
    for call in lines_of(host.from_pinned(results)):
        lines.append({"w = 8": f"encode (10, 4), {size(call.nominal_bytes)} in pinned host memory",
                      "run-time matrix": f"{rate_of(call)} ({percent(call.data_GBps, call.bound_GBps, 0)})",
                      "100 % is a kernel that": "(none: sends 10 regions, fetches 4 over the bus)"})
    where = (f", {data / GIB:.0f} GiB of it in the GPU's memory (update: the region that changed), and in "
             "parentheses percent of what memory allows: a plain kernel that only moves as many regions, in the "
             "same run" if data else "")
    found = pd.DataFrame(lines).rename(columns={"ISA-L": f"ISA-L, {cores} threads"})
    return paragraphs(f"GB/s of data{where}.", markdown(found))


def sustained(results):
    """The best row of each width and the engines for (10, 4) at the power limit."""
    rows = results.rows(kind="region", where="gpu", state="measured")
    rows = best(rows[rows.sustained_data_GBps.notna()], ["w"])
    product = select(products.long_rows(results, mode="set", matrix="random"), k=10, m=4)
    rows = pd.concat([rows, product[product.sustained_data_GBps.notna()]])
    return paragraphs(
        "The rates above are those of bursts: a replay of some milliseconds at the nominal clock, a pause after "
        "each. Without pauses the card's power limit lowers the clock of kernels that compute much. Sustained: "
        "two seconds without a pause, as a job of seconds sees it; GB per joule are of source or data.",
        table(rows, {"row": quoted, "(k, m)": lambda row: shape(row) if row.k else "-",
                     "burst GB/s": rate_of, **SUSTAINED}))


def readme_block(results):
    return "\n\n".join(filter(None, (methods.overview(results), products_and_codes(results),
                                     sustained(results))))


def replace_block(text, block):
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise SystemExit(f"the README needs one {BEGIN} and one {END}")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{block}\n{END}{rest.split(END)[1]}"


def ceilings(results):
    rows = results.rows(kind="ceiling", operation=["copy", "accumulate", "xor_only", "empty_launch"],
                        state="measured")
    rows = rows[rows.id != "xor_only_few"].sort_values(["operation", "k", "m", "mode", "data_bytes"])
    return paragraphs(
        "Plain kernels that only move bytes: the best of many variants, in the same run as what is measured "
        "against it.",
        table(rows, {
            "kernel": lambda row: f"{row.operation.replace('_', ' ')}{' ' + shape(row) if row.k > 1 else ''}",
            "data": lambda row: size(row.data_bytes) if row.data_bytes else "-",
            "mode": lambda row: row.mode if row.k > 1 else "-", "data GB/s": lambda row: rate(row.data_GBps),
            "traffic GB/s": lambda row: rate(row.traffic_GBps), "best variant": "roofline_variant",
            "us": field("time_us_median", 2),
            "spread %": field("spread_percent")}))


def calls(results):
    rows = results.rows(kind="call", state="measured")
    return paragraphs(
        "Microseconds that the calling thread spends in gfk_region_multiply or gfk_product_run, beside a bare "
        "launch of an empty kernel. Kernels with a workspace launch two; prepared, one. Above a bare launch: "
        f"median {number(rows.above_bare_us.median(), 2)} us, at most {number(rows.above_bare_us.max(), 2)}.",
        table(rows, {"kernel or engine": quoted, "(k, m)": lambda row: shape(row) if row.k else "-",
                     "call": field("time_us_median", 2), "bare launch": field("bare_launch_us", 2),
                     "above it": field("above_bare_us", 2), "prepared call": field("prepared_us", 2),
                     "prepared, above it": field("prepared_above_bare_us", 2)}))


def machine(results):
    values = {key: sorted({str(context[key]) for context in results.contexts if context.get(key)})
              for key in MACHINE}
    return markdown(pd.DataFrame([{"what": key.replace("_", " "), "value": " / ".join(found)}
                                  for key, found in values.items() if found]))


def runs(results):
    return markdown(pd.DataFrame([{
        "file": context["file"] + (f" ({context['interrupted']})" if "interrupted" in context else ""),
        "commit": context.get("commit", "-")[:12], "date": context.get("date_utc", "-"),
        "command": f"`{context.get('command', '-')}`"} for context in results.contexts]))


def tests(folder):
    """What scripts/record.py keeps: a line for each stage of scripts/gpu.sh."""
    path = folder / "tests.txt"
    if not path.exists():
        return ""
    head, *parts = re.split(r"^\[(\w+)\]\n", path.read_text(encoding="utf-8"), flags=re.M)
    lines = []
    for stage, body in zip(parts[::2], parts[1::2]):
        values = dict(line.split(": ", 1) for line in body.splitlines() if ": " in line)
        lines.append({"stage": stage, "verdict": values.get("verdict", "-"), "cases": values.get("all", "-"),
                      "commit": values.get("commit", "-")[:12], "date": values.get("date", "-"),
                      "seconds": values.get("seconds", "-")})
    excuses = [f"> {line}" for line in head.splitlines() if line.startswith("GPU not available")]
    return "\n\n".join([*excuses, "From [tests.txt](tests.txt).", markdown(pd.DataFrame(lines))])


def doubtful(results):
    rows = results.rows()
    above = rows[rows.above_101_percent & ~((rows.kind == "host") & (rows.memory == "pageable")
                                            & (rows.path == "gpu"))]
    groups = [(f"{state}: {re.sub('^skipped: ', '', reason)}", [f"`{name}`" for name in mine.row])
              for (state, reason), mine in rows[rows.state != "measured"].groupby(["state", "reason"])]
    above = above.assign(percent=above.percent_of_roofline.fillna(above.percent_of_bound))
    groups.append(("above 101 % of its ceiling", [f"`{row.row}` {number(row.percent)} %"
                                                  for row in lines_of(above)]))
    groups.append(("slow clock", [f"`{name}`" for name in rows[rows.slow_clock].row]))
    return markdown(pd.DataFrame([{"what": what, "rows": ", ".join(names)}
                                  for what, names in groups if names]))


def link(heading, page=""):
    return f"[{heading}]({page}#{re.sub('[^a-z0-9 _-]', '', heading.lower()).replace(' ', '-')})"


def pages(title, results, folder, plots):
    """Text by file name. plots: names of files by page and heading."""
    warnings = [f"> **{context['file']} is {word}: {context[word]}.**" for context in results.contexts
                for word in ("void", "unfit") if word in context]
    sections = {name: {heading: body for heading, section in module.SECTIONS.items()
                       if (body := section(results))} for name, module in PAGES.items()}
    sections["record"] = {heading: body for heading, body in (
        ("Tests", tests(folder)), ("Runs", runs(results)), ("Machine", machine(results)),
        ("Ceilings", ceilings(results)), ("Host time of a call", calls(results)),
        ("Rows without a figure, or with a doubtful one", doubtful(results))) if body}
    titles = {**{name: module.TITLE for name, module in PAGES.items()}, "record": "Record of tests and runs"}
    sections = {name: found for name, found in sections.items() if found}
    contents = "\n".join(f"- [{titles[name]}]({name}.md): "
                         + ", ".join(link(heading, f"{name}.md") for heading in found)
                         for name, found in sections.items())
    sections["README"] = {heading: body for heading, body in (
        ("Contents", contents), ("Methods and widths", methods.overview(results)),
        ("Products and codes", products_and_codes(results)), ("Bursts and sustained rates",
                                                              sustained(results))) if body}
    texts = {}
    for name, found in sections.items():
        front = name == "README"
        head = [f"# {title}" if front else f"# {titles[name]}, {title}",
                "Generated by `bench/report.py` from the JSON files in this folder; "
                "[docs/benchmarking.md](../../docs/benchmarking.md) says how they were measured."
                + ("" if front else " [Contents](README.md)"), *warnings]
        body = [part for heading, text in found.items() for part in (
            f"## {heading}", f"![{heading}]({plots[name, heading]})" if (name, heading) in plots else "", text)]
        texts[f"{name}.md"] = "\n\n".join(filter(None, head + body)) + "\n"
    return texts
