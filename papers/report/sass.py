#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions of the kernels that the claims of the papers name, in the machine code of a build:

  sass.py build/papers/lib/libgfk.so build/papers/gfk_papers >papers/results/h200/sass.csv

A kernel is "FILE: FUNCTION<ARGUMENTS>". Its counts are by opcode, and "instructions" for all; "loop OPCODE" and
"loop instructions" are of its longest innermost loop, "around OPCODE" of the loop around that. Needs pandas, and
cuobjdump and c++filt in PATH."""

import collections
import csv
import re
import shutil
import subprocess
import sys

try:
    import papers
except ModuleNotFoundError as missing_module:
    sys.exit(f"{missing_module.name} is not installed: scripts/papers.sh installs it")

INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(@!?U?P\d\s+)?([A-Z0-9]+)\S*(?: (?:`\()?(0x[0-9a-f]+))?")


def counted(code, prefix=""):
    found = collections.Counter(f"{prefix}{opcode}" for _, opcode, _ in code)
    found[f"{prefix}instructions"] = len(code)
    return found


def counts(code):
    """code: (address, opcode, target or None) of each instruction."""
    ends = [i for i, (_, opcode, _) in enumerate(code) if opcode in ("EXIT", "BRA")]
    jumps_to_itself = [i for i in ends if code[i][2] == code[i][0]]  # the end; padding follows
    code = code[:jumps_to_itself[0]] if jumps_to_itself else code
    loops = [(target, address) for address, opcode, target in code if opcode == "BRA" and target is not None
             and target < address]
    inner = [(first, last) for first, last in loops
             if not any(first <= a and b <= last and (a, b) != (first, last) for a, b in loops)]
    first, last = max(inner, key=lambda loop: loop[1] - loop[0], default=(0, -1))
    outer = min((loop for loop in loops if loop[0] <= first and last <= loop[1] and loop != (first, last)),
                key=lambda loop: loop[1] - loop[0], default=(0, -1))
    body = [each for each in code if first <= each[0] <= last]
    around = [each for each in code if outer[0] <= each[0] <= outer[1] and each not in body]
    return {**counted(code), **counted(body, "loop "), **counted(around, "around ")}


def functions(program):
    """Names as the file has them, and their code."""
    name, code = "", []
    lines = subprocess.Popen(["cuobjdump", "-sass", program], stdout=subprocess.PIPE, text=True).stdout
    for line in lines:
        if "Function : " in line:
            yield name, code
            name, code = line.split(" : ")[1].strip(), []
        elif found := INSTRUCTION.match(line):
            target = int(found[4], 16) if found[4] and found[3] == "BRA" else None
            code.append((int(found[1], 16), found[3], target))
    yield name, code


def readable(names):
    """By mangled name: "FILE: FUNCTION<ARGUMENTS>"."""
    done = subprocess.run(["c++filt", "-p"], input="\n".join(names), capture_output=True, text=True, check=True)
    for name, text in zip(names, done.stdout.splitlines()):
        file = re.search(r"_GLOBAL__N__[0-9a-f]+_\d+_(\w+?)_cu_", name)
        yield name, (f"{file[1]}.cu: " if file else "") + re.sub(r"\(anonymous namespace\)::|gfk::", "", text)


def main():
    if not sys.argv[1:] or not shutil.which("cuobjdump") or not shutil.which("c++filt"):
        print(__doc__, file=sys.stderr)
        return 2
    wanted = papers.kernels_named()
    code = {name: found for program in sys.argv[1:] for name, found in functions(program) if found}
    kept = {text: counts(code[name]) for name, text in sorted(readable(list(code)), key=lambda pair: pair[1])
            if any(re.search(each, text) for each in wanted)}
    csv.writer(sys.stdout, lineterminator="\n").writerows(
        [("kernel", "opcode", "count")] + [(text, *pair) for text in kept for pair in sorted(kept[text].items())])
    missing = [each for each in wanted if not any(re.search(each, text) for text in kept)]
    print(*(f"no kernel like {each}" for each in missing), sep="\n", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
