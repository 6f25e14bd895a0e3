#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The man page, docs/tool.md and the completion have every command and option that --help has, and
no others."""

import os
import re
import shutil
import subprocess

import harness
from harness import check, gfk

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def options_of(text):
    """Long options and letters at the beginning of the lines of a --help."""
    found = set()
    for letter, name in re.findall(r"^ {2,}(-\w)?,? *(--[a-z-]+)", text, re.M):
        found |= {name, letter} - {""}
    return found


def commands():
    return re.findall(r"^  ([a-z]+)  ", gfk("--help").text, re.M)


def every_command_has_help():
    names = commands()
    check(len(names) == 13, names)
    for name in names:
        text = gfk(name, "--help").text
        check(text.startswith(f"usage: gfk {name}") and "--help" in options_of(text), text)


def the_man_page():
    page = read("docs", "man", "gfk.1")
    documented = {"-" + o for o in re.findall(r"^\.It Fl (?:\w , Fl )?(-[a-z-]+)", page, re.M)}
    documented |= {"-" + o for o in re.findall(r"^\.It Fl (\w) ", page, re.M)}
    offered = options_of(gfk("--help").text)
    for name in commands():
        check(re.search(rf"^\.It Cm (\w+ , Cm )?{name}\b", page, re.M), f"{name} is not explained")
        offered |= options_of(gfk(name, "--help").text)
    check(documented == offered, f"gfk.1 has {sorted(documented ^ offered)} or lacks them")
    if shutil.which("mandoc"):
        run = subprocess.run(["mandoc", "-Tlint", "-Wwarning", os.path.join(ROOT, "docs/man/gfk.1")],
                             capture_output=True, text=True, check=False)
        check(run.returncode == 0, run.stdout)


def the_document():
    page = read("docs", "tool.md")
    for name in commands():
        check(f"`gfk {name}" in page, f"docs/tool.md does not have {name}")
        for option in options_of(gfk(name, "--help").text):
            check(f"`{option}" in page, f"docs/tool.md does not have {option}")
    for code in range(8):
        check(f"| {code} |" in page, f"docs/tool.md does not have exit code {code}")


def complete(*words):
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gfk; ' \
             'printf "%s\\n" "${COMPREPLY[@]}"'
    run = subprocess.run(["bash", "-c", script, "bash",
                          os.path.join(ROOT, "tools/completion/gfk.bash"), "gfk", *words],
                         capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def the_completion():
    if not shutil.which("bash"):
        print("skipped: there is no bash")
        return
    names = commands()
    check(complete("") == {*names, "--help", "--version"}, complete(""))
    for name in names:
        offered = options_of(gfk(name, "--help").text)
        check(complete(name, "-") - {"8", "16", "32"} == offered,
              f"{name}: {sorted(complete(name, '-') ^ offered)}")
    check(complete("encode", "--backend", "") == {"auto", "cuda", "host"}, "backends")
    for matrix in complete("encode", "--matrix", ""):
        check(matrix in gfk("encode", "--help").text, matrix)


def the_first_example_of_the_readme():
    block = re.search(r"^## Files$.*?^```sh\n(.*?)^```$", read("README.md"), re.M | re.S)[1]
    lines = block.splitlines()
    start = lines.index("") + 1  # behind building
    check(lines[0].startswith("./scripts/quickstart.sh tool") and "gfk decode" in block, block)
    with harness.Folder() as folder:
        for name in ("docs", "src"):
            shutil.copytree(os.path.join(ROOT, name), folder / name)
        path = os.path.dirname(harness.options.tool) + os.pathsep + os.environ["PATH"]
        run = subprocess.run(["bash", "-ec", "\n".join(lines[start:])], cwd=folder.path, text=True,
                             env=dict(os.environ, PATH=path), capture_output=True, check=False)
        check(run.returncode == 0, run.stderr)
        check(folder.read("archive.tar") == folder.read("before.tar"), "the file is back")
        shards = [name for name in os.listdir(folder.path) if name.startswith("archive.tar.gfk.")]
        check(len(shards) == 14, "and all shards")


harness.main(every_command_has_help, the_man_page, the_document, the_completion,
             the_first_example_of_the_readme)
