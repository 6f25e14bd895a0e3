#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""gfk mul, div, unit, time and methods, beside GF-Complete's tools where they are installed."""

import re
import shutil
import subprocess

import harness
from harness import check, gfk

METHODS = {8: ["", "-m SHIFT -", "-m BYTWO_p -", "-m BYTWO_b -", "-m TABLE -", "-m LOG -",
               "-m SPLIT 8 4 -", "-m CARRY_FREE -"],
           16: ["", "-m SHIFT -", "-m BYTWO_p -", "-m BYTWO_b -", "-m TABLE -", "-m LOG -",
                "-m GROUP 4 4 -", "-m SPLIT 16 4 -", "-m SPLIT 8 8 -",
                "-m CARRY_FREE -"],
           32: ["", "-m SHIFT -", "-m BYTWO_p -", "-m BYTWO_b -", "-m GROUP 4 8 -",
                "-m SPLIT 32 4 -", "-m SPLIT 8 8 -", "-m CARRY_FREE -"]}
POLYNOMIALS = {8: 0x11d, 16: 0x1100b, 32: 0x100400007}


def multiply(a, b, w, polynomial=0):
    product = 0
    polynomial = polynomial or POLYNOMIALS[w]
    for i in range(b.bit_length()):
        if b >> i & 1:
            product ^= a << i
    for i in range(product.bit_length() - 1, w - 1, -1):
        if product >> i & 1:
            product ^= polynomial << i - w
    return product


def element(w, least=0):
    return harness.rng.choice((least, 1, 2, (1 << w) - 1, harness.rng.randrange(least, 1 << w)))


def products_and_quotients():
    for w, methods in METHODS.items():
        for method in methods:
            a, b = element(w), element(w, 1)
            product = multiply(a, b, w)
            arguments = method.split()
            check(int(gfk("mul", a, b, w, *arguments).text) == product, f"{a} * {b} by {method}")
            check(int(gfk("div", product, b, w, *arguments).text) == a, f"{product} / {b}")
            run = gfk("mul", f"{a:x}", f"{b:x}", f"{w}h", *arguments)
            check(run.text == f"{product:x}\n", "hexadecimal")
    check(int(gfk("mul", 200, 3, 8, "-p", "1b", "-").text) == multiply(200, 3, 8, 0x11b), "-p")
    check(int(gfk("mul", 200, 3, 8, "-m", "LOG", "-p", "11b", "-").text) ==
          multiply(200, 3, 8, 0x11b), "-m -p")


def beside_gf_complete():
    if not shutil.which("gf_mult") or not shutil.which("gf_div"):
        print("skipped: gf-complete-tools is not installed")
        return
    for w, methods in METHODS.items():
        for method in methods:
            for ours, theirs, least in (("mul", "gf_mult", 0), ("div", "gf_div", 1)):
                for suffix, form in (("", "d"), ("h", "x")):
                    arguments = [format(element(w), form), format(element(w, least), form),
                                 f"{w}{suffix}", *method.split()]
                    run = subprocess.run([theirs, *arguments], capture_output=True, check=False)
                    if run.returncode == 0:  # not every build has every method
                        check(gfk(ours, *arguments).out == run.stdout, f"{theirs} {arguments}")


def refusals():
    for arguments in (("mul",), ("mul", 1, 2), ("mul", 256, 1, 8), ("mul", "x", 1, 8),
                      ("mul", "ff", 1, 8), ("mul", -1, 1, 8), ("mul", 1, 1, 7), ("mul", 1, 1, 64),
                      ("mul", 1, 1, "8x"), ("mul", 1, 1, 8, "NONE"), ("mul", 1, 1, 8, "-p"),
                      ("mul", 1, 1, 8, "-p", "100"), ("mul", 1, 1, 8, "-m", "COMPOSITE", "2", "-"),
                      ("mul", 1, 1, 8, "-m", "SPLIT", "3", "3", "-"), ("div", 1, 0, 8),
                      ("unit", 8, "A"), ("unit", 8, "X", 1), ("unit", 8, "A", "x"),
                      ("unit", 32, "A", 1, "-m", "TABLE", "-"), ("time", 8, "A", 1, 1024),
                      ("time", 8, "Z", 1, 1024, 1), ("time", 16, "G", 1, 3, 1),
                      ("time", 8, "G", 1, 0, 1), ("time", 8, "G", 1, 8, 0), ("methods", 9),
                      ("methods", 8, 8)):
        run = gfk(*arguments, expect=harness.USAGE)
        check(run.out == b"" and run.err.startswith("gfk: "), f"{arguments}: {run.err}")


def unit_tests_every_method():
    for w, methods in METHODS.items():
        for method in methods:
            run = gfk("unit", w, harness.rng.choice(("A", "S", "R", "SR")), 7, *method.split())
            check(f"_w{w}_host" in run.text, run.text)
    run = gfk("unit", 8, "AV", -1)
    check("Seed:" in run.text and "single" in run.text and "region" in run.text, run.text)


def time_has_gf_times_letters():
    lines = {"M": ["Multiply"], "D": ["Divide"], "I": ["Inverse"], "S": ["Multiply", "Divide",
             "Inverse"], "G": ["Region-Random"] * 2, "0": ["Region-By-Zero"] * 2,
             "1": ["Region-By-One"] * 2, "2": ["Region-By-Two"] * 2}
    lines["R"] = lines["G"] + lines["0"] + lines["1"] + lines["2"]
    lines["A"] = lines["S"] + lines["R"]
    for letters, names in lines.items():
        text = gfk("time", 8, letters, 1, 1024, 3, "-m", "TABLE", "-").text
        found = re.findall(r"^ *([A-Z][A-Za-z-]+):.* s +M[A-Za-z]+:.* M[a-zA-Z-]+/s$", text, re.M)
        check(found == names, f"{letters}: {text}")
        check(text.startswith("Seed: 1\n"), text)


def methods_have_reasons():
    text = gfk("methods").text
    for word in ("SHIFT", "GROUP", "BYTWO_p", "BYTWO_b", "TABLE", "LOG", "SPLIT", "COMPOSITE",
                 "CARRY_FREE", "CARRY_FREE_GK", "host", "naive", "opt", "engine"):
        check(word in text, f"{word} is not listed")
    check("w16" not in gfk("methods", 8).text, "one width alone")
    for kernel in gfk("methods", "--json", 32).json()["kernels"]:
        check(kernel["w"] == 32 and bool(kernel["reason"]) != kernel["available"], kernel)


harness.main(products_and_quotients, beside_gf_complete, refusals, unit_tests_every_method,
             time_has_gf_times_letters, methods_have_reasons)
