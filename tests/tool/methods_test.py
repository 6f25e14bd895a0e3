#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""gfk methods lists kernels and engines, and says why one cannot run."""

import harness
from harness import check, gfk


def refusals():
    for arguments in ((9,), (8, 8), (64,), ("8x",), (-1,)):
        run = gfk("methods", *arguments, expect=harness.USAGE)
        check(run.out == b"" and run.err.startswith("gfk: "), f"{arguments}: {run.err}")


def methods_have_reasons():
    text = gfk("methods").text
    for word in ("SHIFT", "GROUP", "BYTWO_p", "BYTWO_b", "TABLE", "LOG", "SPLIT", "COMPOSITE",
                 "CARRY_FREE", "host", "naive", "opt", "engine"):
        check(word in text, f"{word} is not listed")
    check("w16" not in gfk("methods", 8).text, "one width alone")
    for kernel in gfk("methods", "--json", 32).json()["kernels"]:
        check(kernel["w"] == 32 and bool(kernel["reason"]) != kernel["available"], kernel)


harness.main(refusals, methods_have_reasons)
