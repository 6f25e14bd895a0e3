#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""entries_test.py BUILD PROGRAM...: does each test of these programs belong to a CTest entry, and does each entry,
and each command for compute-sanitizer, have tests?"""

import json
import os
import subprocess
import sys

RECORD = os.path.join(os.path.dirname(__file__), "../../scripts/record.py")


def tests(command, modifications=()):
    """The tests that a command would run, with the ENVIRONMENT_MODIFICATION of its entry."""
    environment = dict(os.environ)
    for modification in modifications:
        name, folder = modification.split("=path_list_prepend:")
        environment[name] = os.pathsep.join([folder, *filter(None, [environment.get(name)])])
    listing = subprocess.run([*command, "--gtest_list_tests"], check=True, capture_output=True, text=True,
                             env=environment).stdout
    suite, found = "", set()
    for line in listing.splitlines():
        name = line.split("#")[0]
        if name.startswith("  "):
            found.add(suite + name.strip())
        elif name.strip().endswith("."):
            suite = name.strip()
    return found


def main(build, *programs):
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True,
                             text=True).stdout
    commands = {}
    for entry in json.loads(listing)["tests"]:
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        commands[entry["name"]] = entry.get("command", []), properties.get("ENVIRONMENT_MODIFICATION", [])
    for line in subprocess.run([sys.executable, RECORD, "commands", build], check=True, capture_output=True,
                               text=True).stdout.splitlines():
        name, *command = line.split()
        commands[f"{name} for compute-sanitizer"] = command, []
    left, wrong = set().union(*(tests([program]) for program in programs)), []
    print(f"{len(left)} tests")
    for name, (command, modifications) in commands.items():
        if command and command[0] in programs:
            found = tests(command, modifications)
            left -= found
            if not found:
                wrong.append(f"{name}: no test")
    wrong += [f"{test}: no CTest entry" for test in sorted(left)]
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
