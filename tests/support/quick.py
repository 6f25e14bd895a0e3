#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads tests/quick.txt: which tests a changed file calls for.

  quick.py select FILE...        prints "gtest FILTER" and "ctest REGEX", each at most once, for these
                                 files of the tree
  quick.py check BUILD PROGRAM   has every file of the tree a line, and does every line name tests?
"""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOO_LONG = "-*/Huge*:*/ProductHuge*:*/HostHuge*:*/Giant.*:*/Exhaustive16*"


def lines():
    """(pattern, kind, what) of each line; kind is "gtest", "ctest" or None."""
    with open(os.path.join(TREE, "tests/quick.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                pattern, *what = line.split()
                if not what:
                    yield pattern, None, ""
                elif what[0] == "ctest":
                    yield pattern, "ctest", what[1]
                else:
                    yield pattern, "gtest", what[0]


def line_of(path, table):
    return next((line for line in table if fnmatch.fnmatchcase(path, line[0])), None)


def select(files):
    table, found = list(lines()), {"gtest": [], "ctest": []}
    for path in files:
        line = line_of(path, table)
        if line is None:
            sys.exit(f"{path}: no line in tests/quick.txt")
        if line[1] and line[2] not in found[line[1]]:
            found[line[1]].append(line[2])
    if found["gtest"]:
        print("gtest", ":".join(found["gtest"]) + ":" + TOO_LONG)
    if found["ctest"]:
        print("ctest", "|".join(found["ctest"]))


def tree():
    """What git knows and is there, and what is in the folders: a copy of a tree may have no index, or an
    older one, and the machine no git."""
    listed = ""
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", TREE, "ls-files"], capture_output=True, text=True).stdout
    found = {path for path in listed.splitlines() if os.path.exists(os.path.join(TREE, path))}
    found |= {os.path.relpath(os.path.join(folder, name), TREE)
              for top in ("src", "include", "tests", "tools", "cmake", "examples")
              for folder, _, names in os.walk(os.path.join(TREE, top)) for name in names
              if not name.endswith(".pyc")}
    return sorted(found)


def check(build, program):
    table, wrong, used = list(lines()), [], set()
    for path in tree():
        line = line_of(path, table)
        if line is None:
            wrong.append(f"{path}: no line")
        used.add(line)
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                             capture_output=True, text=True).stdout
    names = [test["name"] for test in json.loads(listing)["tests"]]
    for line in table:
        pattern, kind, what = line
        if pattern.startswith("src/") and line not in used:
            wrong.append(f"{pattern}: no file")
        if kind == "ctest" and not any(re.search(what, name) for name in names):
            wrong.append(f"{pattern}: no CTest entry is named {what}")
        for part in what.split(":") if kind == "gtest" else []:
            run = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={part}"],
                                 capture_output=True, text=True)
            if "\n  " not in run.stdout:
                wrong.append(f"{pattern}: no test is named {part}")
    print(*wrong, f"{len(table)} lines checked", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["select"]:
        select(sys.argv[2:])
    elif sys.argv[1:2] == ["check"] and len(sys.argv) == 4:
        sys.exit(check(*sys.argv[2:]))
    else:
        sys.exit(__doc__)
