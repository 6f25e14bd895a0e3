# SPDX-License-Identifier: BSD-3-Clause
"""The table of products and codes that a user asks for first; also for the README."""

import bench_results as results
import report_host
import report_products
import report_rs
from report_text import rate, shape_text, table

CODE = (10, 4)
ENCODED = ((4, 2), CODE, (30, 3))


def cell(row):
    return f"{rate(row.gbps)} ({row.percent:.0f} %)" if row else "-"


def on_cpu(p, shape):
    """ISA-L on as many threads as it was measured with, on data beyond the caches."""
    found = [row for row in p.rows if row.id == "isa-l" and row.shape == shape]
    return max(found, key=lambda row: (row.threads, row.bytes), default=None)


def lines_of(rows):
    """Operation, rows that may be compiled and with a run-time matrix, row on the CPU, what 100 % is."""
    p, codes = report_products.Products(rows), report_rs.Codes(rows)

    def code_rows(what, detail="", size=None):
        found = [row for row in codes.of(what) if (row.w, row.shape) == (8, CODE)
                 and report_rs.words_of(row)[3] == detail
                 and report_rs.words_of(row)[2] == (size or report_rs.words_of(row)[2])
                 and report_rs.words_of(row)[2] != report_rs.SWEEP]
        return [next((row for row in found if report_rs.matrices(row) == how), None)
                for how in ("compiled", "run time")]

    lines = []
    for shape in ENCODED:
        made = [p.get("auto_w8_compile", shape), p.get("auto_w8", shape)]
        if shape == CODE and any(code_rows("encode")):
            made = code_rows("encode")
        lines.append([f"encode {shape_text(shape)}", *made, on_cpu(p, shape),
                      "XORs {} regions into {}".format(*shape)])
    lines += [
        ["decode (10, 4), 4 lost, data and parity", *code_rows("decode", "lost=4 mixed"), None,
         "XORs 10 regions into 4"],
        ["decode (10, 4), 1 lost", *code_rows("decode", "lost=1 data"), None,
         "XORs 10 regions into 1"],
        ["verify (10, 4)", *code_rows("verify"), None, "reads 14 regions"],
        ["update (10, 4) by one changed region", *code_rows("update"), None,
         "reads 6 regions, writes 4"],
        ["encode (10, 4), 4,096 stripes of 4 KiB regions in one launch",
         *code_rows("batch_encode", size="4KiBx4096"), None, "XORs 10 regions into 4"]]
    return [line for line in lines if line[1] or line[2]]


def block(rows):
    """A sentence and the table; "" where nothing of it was measured."""
    lines, call = lines_of(rows), report_host.from_pinned(rows)
    if not lines and not call:
        return ""
    threads = {line[3].threads for line in lines if line[3]}
    cpu = f"ISA-L, {threads.pop()} threads" if len(threads) == 1 else "ISA-L, all cores"
    text = "GB/s of data"
    if lines:
        data = max(row.bytes for line in lines for row in line[1:3] if row)
        text += f", {data / results.GIB:.0f} GiB of it (update: of the region that changed), and, " \
            "in parentheses, percent of what memory allows: a plain kernel that only moves as " \
            "many regions, in the same run"
    text += "."
    cells = [[what, cell(compiled), cell(run_time), rate(other.gbps) if other else "-", ceiling]
             for what, compiled, run_time, other, ceiling in lines]
    if call:
        text += f" Over the bus: {call.data}, and percent of transfer only in both directions."
        cells.append(["encode (10, 4) from pinned host memory, over the bus", "-",
                      f"{rate(call.gbps)} ({report_host.percent(call.gbps, call.bound, 0)} %)",
                      "-", "(none: sends 10 regions, fetches 4)"])
    return text + "\n\n" + table(
        ["w = 8", "compiling allowed", "run-time matrix", cpu, "100 % is a kernel that"], cells)
