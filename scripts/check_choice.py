#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares choice.def with measurements of every BMMA kernel: prints the shapes and lengths where a kernel of
shapes.def is more than 2 % faster than the kernel that choice.def names.

usage: check_choice.py [results/h200/bmma-kernels.csv]     columns: kernel, inputs, outputs, bytes, mode, us"""
import collections
import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src/kernels/product/bmma"
PROCESSORS = 132  # of an H200
TOLERANCE = 1.02
REFUSES = {"xor": "SETS", "set": "READS"}  # the label of kernels that do not take a mode


def lines(name, macro):
    for line in (FOLDER / name).read_text().splitlines():
        if line.startswith(macro + "("):
            yield [field.strip() for field in line[len(macro) + 1 : -1].split(",")]


def within(n, least, most):
    return n >= int(least) and (int(most) == 0 or n <= int(most))


def chosen(kernels, choices, engine, inputs, outputs, length, mode):
    for e, kernel, i0, i1, o0, o1, least, below in choices:
        name = f"{e}/{kernel}"
        if e != engine or kernels[name] == REFUSES[mode]:
            continue
        long_enough = length >= int(least) * PROCESSORS
        if within(inputs, i0, i1) and within(outputs, o0, o1) and long_enough:
            if int(below) == 0 or length < int(below) * PROCESSORS:
                return name
    return None


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else ROOT / "results/h200/bmma-kernels.csv"
    kernels = {f"{row[0]}/{row[1]}": row[6] for row in lines("shapes.def", "GFK_ENGINE_KERNEL")}
    choices = list(lines("choice.def", "GFK_BMMA_CHOICE"))
    cells = collections.defaultdict(dict)
    for row in csv.DictReader(open(path)):
        if row["kernel"] in kernels:
            engine = row["kernel"].split("/")[0]
            cell = (engine, int(row["inputs"]), int(row["outputs"]), int(row["bytes"]), row["mode"])
            cells[cell][row["kernel"]] = float(row["us"])
    slower = 0
    for cell, times in sorted(cells.items()):
        engine, inputs, outputs, size, mode = cell
        choice = chosen(kernels, choices, engine, inputs, outputs, (size + 15) // 16, mode)
        best = min(times, key=times.get)
        if choice in times and times[choice] > TOLERANCE * times[best]:
            slower += 1
            print(f"{engine} {inputs}+{outputs}, {size} bytes, {mode}: {choice} {times[choice]:.2f} us, {best} {times[best]:.2f} us")
    print(f"{len(cells)} shapes and lengths, {slower} where another kernel is more than 2 % faster")


main()
