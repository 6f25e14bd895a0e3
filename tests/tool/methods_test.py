#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""gfk methods lists kernels and engines, and says why one cannot run."""

import re

import harness
from harness import check, gfk


def refusals():
    for arguments in ((9,), (8, 8), (64,), ("8x",), (-1,)):
        run = gfk("methods", *arguments, expect=harness.USAGE)
        check(run.out == b"" and run.err.startswith("gfk: "), f"{arguments}: {run.err}")


def methods_have_reasons():
    text = gfk("methods").text
    for word in ("SHIFT", "GROUP", "BYTWO_p", "BYTWO_b", "TABLE", "LOG", "SPLIT", "COMPOSITE",
                 "CARRY_FREE", "CARRY_FREE_GK", "host", "engine"):
        check(word in text, f"{word} is not listed")
    check("w16" not in gfk("methods", 8).text, "one width alone")
    found = gfk("methods", "--json").json()
    gpu = [k for k in found["kernels"] if k["implementation"] != "host"]
    check({k["implementation"] for k in gpu} == {"naive", "opt"}, found)
    rows = [k["id"] for k in found["kernels"] + found["engines"] if re.search(rf" {k['id']} ", text)]
    lines = re.findall("^([0-9]+) more need a GPU: .+$", text, re.M)
    if any(k["available"] for k in gpu):
        check(len(rows) == len(found["kernels"] + found["engines"]) and not lines, text)
    else:  # the CPU's rows, and one line
        check(not {k["id"] for k in gpu} & set(rows) and len(lines) == 1, text)
        check(len(rows) + int(lines[0]) == len(found["kernels"] + found["engines"]), text)
        check({k["id"] for k in found["kernels"]} - {k["id"] for k in gpu} <= set(rows), text)
        check(len(re.findall(".*no CUDA.*", text)) <= 1 and len(text.splitlines()) < 60, text)
    for kernel in gfk("methods", "--json", 32).json()["kernels"]:
        check(kernel["w"] == 32 and bool(kernel["reason"]) != kernel["available"], kernel)


harness.main(refusals, methods_have_reasons)
