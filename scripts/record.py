#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The record of the test runs on a GPU: results/<gpu>/tests.txt.

  record.py counts BUILD JUNIT...   counts of a ctest run per label, as lines for a section; exits
                                    with 1 if anything failed
  record.py total JUNIT...          "N passed, N failed, N skipped"; exits with 1 on a failure
  record.py programs BUILD          the programs of the short GPU tests: name and path
  record.py put FILE STAGE          replaces section [STAGE] of FILE by the lines of stdin
  record.py check FILE...           is one of these records complete, passed, and of this code?

A record is a list of sections, one for each stage of scripts/gpu.sh, of lines "key: value". Where a
ctest entry is a GoogleTest program its cases are counted, not the entry.
"""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

STAGES = ["build", "test", "sanitize", "giant", "bench"]
REQUIRED = ["test", "sanitize", "giant"]  # a record without one of these proves nothing
CODE = ["src", "include", "cmake", "tests", "CMakeLists.txt"]
LONG_OR_FOREIGN = {"slow", "huge", "giant", "fault", "examples"}  # not for compute-sanitizer
NOT_AVAILABLE = "GPU not available: "
TITLE = "Record of the last runs of scripts/gpu.sh on this GPU. Written by the script, never by hand."

GTEST = {
    "passed": re.compile(r"^\[  PASSED  \] (\d+) tests?\.", re.M),
    "failed": re.compile(r"^\[  FAILED  \] (\d+) tests?, listed below", re.M),
    "skipped": re.compile(r"^\[  SKIPPED \] (\d+) tests?, listed below", re.M),
}


def cases(path):
    """(name, passed, failed, skipped) of each ctest entry of a JUnit file."""
    for case in ET.parse(path).getroot().iter("testcase"):
        text = case.findtext("system-out") or ""
        count = {k: sum(map(int, r.findall(text))) for k, r in GTEST.items()}
        status = case.get("status")
        bad = status == "fail" or case.find("failure") is not None
        if not any(count.values()):
            skipped = status in ("notrun", "disabled") or case.find("skipped") is not None
            count["failed" if bad else "skipped" if skipped else "passed"] = 1
        elif bad and count["failed"] == 0:
            count["failed"] = 1  # it crashed or ran out of time
        yield case.get("name"), count["passed"], count["failed"], count["skipped"]


def ctest_entries(build):
    """(name, labels, command) of each entry."""
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                             check=True, capture_output=True, text=True).stdout
    for test in json.loads(listing)["tests"]:
        found = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
        yield test["name"], found[0] if found else ["none"], test.get("command", [])


def add(total, key, counts):
    total[key] = [a + b for a, b in zip(total.get(key, [0, 0, 0]), counts)]


def counts(build, files):
    labels, total = {name: found for name, found, _ in ctest_entries(build)}, {}
    for name, *numbers in (c for f in files for c in cases(f)):
        add(total, "all", numbers)
        for label in labels.get(name, ["none"]):
            add(total, f"label {label}", numbers)
    for key in sorted(total):
        print("{}: {} passed, {} failed, {} skipped".format(key, *total[key]))
    return 1 if "all" not in total or total["all"][1] else 0


def programs(build):
    found = {}
    for _, labels, command in ctest_entries(build):
        if command and "gpu" in labels and not LONG_OR_FOREIGN & set(labels):
            found[os.path.basename(command[0])] = command[0]
    for name in sorted(found):
        print(name, found[name])
    return 0


def total(files):
    sums = {}
    for _, *numbers in (c for f in files for c in cases(f)):
        add(sums, "all", numbers)
    passed, failed, skipped = sums.get("all", [0, 0, 0])
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


def sections(path):
    """The record as {stage: [lines]}, and the lines that excuse it from being current."""
    found, stage, excuses = {}, None, []
    if os.path.exists(path):
        for line in open(path, encoding="utf-8").read().splitlines():
            if line.startswith(NOT_AVAILABLE):
                excuses.append(line[len(NOT_AVAILABLE):].strip())
            elif re.fullmatch(r"\[\w+\]", line):
                stage = line[1:-1]
                found[stage] = []
            elif stage and line.strip():
                found[stage].append(line)
    return found, excuses


def put(path, stage):
    """A new section also ends an excuse: there was a GPU."""
    found, _ = sections(path)
    found[stage] = [line for line in sys.stdin.read().splitlines() if line.strip()]
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(TITLE + "\n")
        for name in sorted(found, key=lambda s: (STAGES + [s]).index(s)):
            out.write(f"\n[{name}]\n" + "\n".join(found[name]) + "\n")
    return 0


def complaints(path):
    found, excuses = sections(path)
    if len(excuses) == 1 and excuses[0]:
        print(f"{path}: {NOT_AVAILABLE}{excuses[0]}")
        return
    for stage in REQUIRED:
        if stage not in found:
            yield f"no section [{stage}]"
            continue
        value = dict(line.split(": ", 1) for line in found[stage] if ": " in line)
        if value.get("verdict") != "passed":
            yield f"[{stage}] has the verdict {value.get('verdict')!r}"
        if value.get("tree") != "clean":
            yield f"[{stage}] was run on a tree that was not clean"
        commit = value.get("commit", "")
        if not re.fullmatch(r"[0-9a-f]{40}", commit):
            yield f"[{stage}] names no commit"
            continue
        diff = subprocess.run(["git", "diff", "--quiet", commit, "HEAD", "--", *CODE],
                              stderr=subprocess.DEVNULL, check=False)
        if diff.returncode == 1:
            yield f"[{stage}] is of {commit[:12]}; the code has changed since"
        elif diff.returncode:
            yield f"[{stage}] is of {commit[:12]}, a commit that this clone does not have"


def check(files):
    """A record of one GPU is enough: nobody has them all."""
    good = False
    for path in files:
        found = list(complaints(path))
        for text in found:
            print(f"{path}: {text}")
        good = good or not found
    if not files:
        print("there is no results/<gpu>/tests.txt: run scripts/gpu.sh all on a machine with a GPU")
    return 0 if good else 1


def main(argv):
    if len(argv) >= 3 and argv[0] == "counts":
        return counts(argv[1], argv[2:])
    if len(argv) >= 2 and argv[0] == "total":
        return total(argv[1:])
    if len(argv) == 2 and argv[0] == "programs":
        return programs(argv[1])
    if len(argv) == 3 and argv[0] == "put":
        return put(argv[1], argv[2])
    if argv and argv[0] == "check":
        return check(argv[1:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
