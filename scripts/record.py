#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The record of the test runs on a GPU: results/<gpu>/tests.txt.

  record.py counts BUILD JUNIT...   counts of a ctest run per label and per entry, as lines for a section;
                                    exits with 1 if anything failed
  record.py total JUNIT...          ctest entries: "N passed, N failed, N skipped"; exits with 1 if
                                    anything failed
  record.py commands BUILD          what compute-sanitizer runs: name and command
  record.py put FILE STAGE          replaces section [STAGE] of FILE by the lines of stdin; where a count falls,
                                    adds a line "fell: ...; because ", which a person must complete
  record.py check FILE...           is one of these records complete, passed, and of this code?

A record is a list of sections, one for each stage of scripts/gpu.sh, of lines "key: value". In
them the cases of a GoogleTest program are counted, not its ctest entry, and the combinations that it
says it checked are added up.
"""

import inspect
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

STAGES = ["build", "test", "sanitize", "giant", "region", "product", "rs", "matmul", "rlnc", "cpu", "host",
          "python", "package"]
REQUIRED = ["test", "sanitize", "giant"]  # a record without one of these proves nothing
# Without pages: no program is made of them. Comments do not count either.
CODE = ["src", "include", "cmake", "tests", "CMakeLists.txt", ":!*.md"]
# Every CUDA row and engine, and codes, on allocations that fit exactly. Of matrices some tests: racecheck
# takes minutes for an elimination of many rows.
SANITIZED = {"gpu.guard_pages": None, "gpu.product_guard_pages": None, "gpu.rs_guard_pages": None,
             "gpu.matmul": "Places/MatmulTest.Shapes/gpu_*",
             "gpu.matmul_kernels": "Kernels/MatmulKernels.TwoTilesEach/*",
             "gpu.matrix": "Places/MatrixTest.Polynomials/gpu_*",
             "gpu.invert_batch": "Places/InvertBatch.Polynomials/*",
             "gpu.rlnc_vectors": "Places/RlncVectors.ZeroVectors/gpu_*:Places/RlncVectors.PublishedNumbers/gpu_*",
             "gpu.rlnc_packets": "Places/RlncPackets.EncodeLengths/gpu_*:Places/RlncPackets.RecodeShapes/gpu_*",
             "gpu.rlnc_decoder": "Places/RlncDecoder.Corrupt/gpu_*:Places/RlncDecoder.NoBytes/gpu_*:"
                                 "Places/RlncDecoder.Repeated/gpu_*",
             "gpu.rlnc_channel": "Places/RlncHostile.OneChanged/gpu_*"}
NOT_AVAILABLE = "GPU not available: "
TITLE = ("Record of the last runs of scripts/gpu.sh on this GPU. Written by the script, never by hand, except the reasons "
         "of counts that fell.")

GTEST = [re.compile(text, re.M) for text in (r"^\[  PASSED  \] (\d+) tests?\.",
                                            r"^\[  FAILED  \] (\d+) tests?, listed below",
                                            r"^\[  SKIPPED \] (\d+) tests?, listed below")]
# Strings, numbers (1'000) and characters, which may hold what looks like a comment or a quote, or a comment.
COMMENTS = re.compile(r"""(R"([^()\\\s]{0,16})\(.*?\)\2"|"(?:\\.|[^"\\\n])*"|\b\d[\w.']*|'(?:\\.|[^'\\\n])+')"""
                      r"""|//(?:\\\n|[^\n])*|/\*.*?\*/""", re.S)
COUNT = re.compile(r"(all|entry \S+): (\d+) passed, (\d+) failed, \d+ skipped; (\d+) combinations")
FELL = re.compile(r"fell: (all|entry \S+): (\d+) cases, (\d+) combinations; .*; because *(.*)")
COMBINATIONS = re.compile(r"(\d+) combinations checked")


def cases(path):
    """(name, [passed, failed, skipped, combinations]) of each entry of a JUnit file of ctest or pytest."""
    for case in ET.parse(path).getroot().iter("testcase"):
        text = case.findtext("system-out") or ""
        passed, failed, skipped = (sum(map(int, r.findall(text))) for r in GTEST)
        status = case.get("status")
        if status == "fail" or case.find("failure") is not None or case.find("error") is not None:
            failed = max(failed, 1)  # a crash has no summary
        elif not passed + failed + skipped:
            skipped = int(status not in (None, "run") or case.find("skipped") is not None)
            passed = 1 - skipped
        yield case.get("name"), [passed, failed, skipped, sum(map(int, COMBINATIONS.findall(text)))]


def ctest_entries(build):
    """(name, labels, command) of each entry."""
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                             check=True, capture_output=True, text=True).stdout
    for test in json.loads(listing)["tests"]:
        found = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
        yield test["name"], found[0] if found else ["none"], test.get("command", [])


def counts(build, *files):
    labels = {name: found for name, found, _ in ctest_entries(build)}
    sums = {}
    for name, numbers in (c for f in files for c in cases(f)):
        for key in ["all", f"entry {name}"] + [f"label {label}" for label in labels.get(name, ["none"])]:
            sums[key] = [a + b for a, b in zip(sums.get(key, [0] * 4), numbers)]
    for key in sorted(sums):
        print("{}: {} passed, {} failed, {} skipped; {} combinations".format(key, *sums[key]))
    return 1 if "all" not in sums or sums["all"][1] else 0


def commands(build):  # for compute-sanitizer
    for name, labels, command in ctest_entries(build):
        if command and name in SANITIZED:
            if SANITIZED[name]:
                command = [c for c in command if not c.startswith("--gtest_filter=")]
                command.append("--gtest_filter=" + SANITIZED[name])
            print(name, *command)
    return 0


def total(*files):
    rows = [numbers for f in files for _, numbers in cases(f)]
    failed = sum(row[1] > 0 for row in rows)
    passed = sum(row[0] > 0 and row[1] == 0 for row in rows)
    print(f"{passed} passed, {failed} failed, {len(rows) - passed - failed} skipped")
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


def numbers_of(lines):
    """What ran by these lines of a section: {"all" or "entry NAME": (cases, combinations)}. A count that fell
    without a reason still stands."""
    found = {}
    for line in lines:
        if match := COUNT.match(line):
            key, passed, failed, combinations = match.groups()
            found[key] = max(found.get(key, (0, 0)), (int(passed) + int(failed), int(combinations)))
        elif (match := FELL.match(line)) and not match[4]:
            found[match[1]] = max(found.get(match[1], (0, 0)), (int(match[2]), int(match[3])))
    return found


def fallen(before, now):
    """Lines for the counts that fell. Some combinations depend on the moment at which a simulated device fails."""
    now = numbers_of(now)
    for key, (cases_then, then) in numbers_of(before).items():
        cases_now, combinations = now.get(key, (0, 0))
        if cases_now < cases_then or combinations < 0.98 * then:
            yield (f"fell: {key}: {cases_then} cases, {then} combinations; now {cases_now} and {combinations}; "
                   "because ")


def put(path, stage):
    """A new section also ends an excuse: there was a GPU."""
    found, _ = sections(path)
    before, found[stage] = found.get(stage, []), [line for line in sys.stdin.read().splitlines() if line.strip()]
    found[stage] += fallen(before, found[stage])
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(TITLE + "\n")
        for name in sorted(found, key=lambda s: (STAGES + [s]).index(s)):
            out.write(f"\n[{name}]\n" + "\n".join(found[name]) + "\n")
    return 0


def git(*arguments):
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def code_of(commit, path):
    """The lines of a file, of C, C++ and CUDA without comments; None: there is no such file."""
    text = git("show", f"{commit}:{path}")
    if text is None or not re.search(r"\.(c|h|cpp|cu|cuh)$", path):
        return text
    text = COMMENTS.sub(lambda found: found[1] or " ", text)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


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
        for line in found[stage]:
            if (match := FELL.match(line)) and not match[4]:
                yield f"[{stage}] {line}... (no reason is given)"
        if value.get("tree") != "clean":
            yield f"[{stage}] was run on a tree that was not clean"
        commit = value.get("commit", "")
        if not re.fullmatch(r"[0-9a-f]{40}", commit):
            yield f"[{stage}] names no commit"
            continue
        diff = git("diff", "--name-only", "--no-renames", commit, "HEAD", "--", *CODE)
        if diff is None:
            yield f"[{stage}] is of {commit[:12]}, a commit that this clone does not have"
        elif any(code_of(commit, path) != code_of("HEAD", path) for path in diff.splitlines()):
            yield f"[{stage}] is of {commit[:12]}; the code has changed since"


def check(*files):
    """A record of one GPU is enough: nobody has them all."""
    good = False
    for path in files:
        found = list(complaints(path))
        for text in found:
            print(f"{path}: {text}")
        if not found:
            excused = sections(path)[1]
            print(f"{path}: {'accepted for this reason' if excused else 'complete, passed, of this code'}")
        good = good or not found
    if not files:
        print("there is no results/<gpu>/tests.txt: run scripts/gpu.sh all on a machine with a GPU")
    return 0 if good else 1


def main(name="", *arguments):
    command = {"counts": counts, "total": total, "commands": commands, "put": put, "check": check}.get(name)
    try:
        inspect.signature(command).bind(*arguments)
    except TypeError:
        print(__doc__, file=sys.stderr)
        return 2
    return command(*arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
