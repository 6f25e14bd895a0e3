#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks what the documents say about the files, and the layers of src: the folders in
docs/architecture.md, the files in each folder's README, includes, the lines of C in README.md, links between
documents, the ids of kernels in the methods' pages, and the comments and the width of lines in WORDED."""

import fnmatch
import glob
import os
import re
import subprocess
import sys
import textwrap

import api

OWN_README = re.compile(r"src(/.*)?|(bench|tests)(/[^/]+)?")  # folders that have one
LAYERS = {"base": 0, "device": 1, "common": 2, "region": 2, "product": 3, "matrix": 4, "rs": 5, "rlnc": 5,
          "pipeline": 6}
SOURCE = (".c", ".cu", ".h", ".cuh", ".def")
WORDED = ["src", "include"]  # folders whose comments are checked for words, and lines for width
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*(?:\n[ \t]*//[^\n]*)*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
UNCLEAR = re.compile(r"\b(?:so many|beside|behind|but for|of before)\b", re.I)
HEADLESS = re.compile(r"(?:What|Where|Of|As|That)\b|[\w/.]+\.\w+: (?i:what|where|of|as|that)\b")
METHODS = ["shift", "group", "bytwo_p", "bytwo_b", "table", "log", "split", "carry_free"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def folders(tracked):
    """Is every folder listed, and is there a README, and a CMakeLists.txt where something is compiled?"""
    text = read("docs/architecture.md").split("## The tree")[1]
    listed = [line.split()[0].rstrip("/") for line in text.split("```")[1].splitlines() if line.strip()]
    found = {os.path.dirname(path) for path in tracked if "/" in path}
    for folder in sorted(found):
        if folder not in listed and not folder.startswith(("results/", "papers/")):
            yield f"docs/architecture.md does not list the folder {folder}"
        if OWN_README.fullmatch(folder):
            names = [os.path.basename(path) for path in tracked if os.path.dirname(path) == folder]
            if "README.md" not in names:
                yield f"{folder} has no README.md"
            elif folder.startswith("src"):
                yield from roles(folder, names)
            compiled = [n for n in names if n.endswith((".c", ".cu", ".cpp"))]
            if folder.startswith("src/") and compiled and "CMakeLists.txt" not in names:
                yield f"{folder} has no CMakeLists.txt"
    for folder in listed:
        if not os.path.isdir(folder):
            yield f"docs/architecture.md lists {folder}, which is not there"


def roles(folder, names):
    """Does the README name every file, and only files that are there?"""
    words = re.findall(r"`([^`/< ]+\.(?:c|h|cu|cuh|def|cmake|\*))`", read(f"{folder}/README.md"))
    for name in names:
        named = name in ("README.md", "CMakeLists.txt") or any(fnmatch.fnmatchcase(name, w) for w in words)
        if not named:
            yield f"{folder}/README.md does not name {name}"
    for word in words:
        if not fnmatch.filter(names, word):
            yield f"{folder}/README.md names {word}, which is not there"


def layer(path):
    part = path.split("/")
    return LAYERS.get(part[2]) if len(part) > 3 else None


def layers(tracked):
    """No file of src includes one of a higher layer. And no function there is named run: 33 were."""
    for path in tracked:
        if path.startswith("src/") and path.endswith(SOURCE) and layer(path) is not None:
            if re.search(r"^static [^=;{]*\brun\(", read(path), re.M):
                yield f"{path} has a function named run: say what it does"
            for name in re.findall(r'^#include "([^"]+)"', read(path), re.M):
                target = "src/" + name
                if not os.path.exists(target):
                    target = os.path.normpath(os.path.join(os.path.dirname(path), name))
                if (layer(target) or 0) > layer(path):
                    yield f"{path} includes {name}, which is of a higher layer"


def words(path, text):
    """Comments are sentences with a subject, in words that say one thing; no line except a row of a list is
    over 100 columns."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 100 and not (path.endswith(".def") and re.match(r"[A-Z_]+\(", line)):
            yield f"{path}:{number} has more than 100 columns"
    for match in COMMENT.finditer(text):
        if match[0].startswith("/"):
            place = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
            comment = re.sub(r"\s*\n\s*(?:\*|//)?\s*", " ", match[0][2:]).lstrip("*/ <")
            for found in UNCLEAR.findall(comment):
                yield f'{place} says "{found}" in a comment'
            if HEADLESS.match(comment):
                yield f'{place} begins a comment without a subject: "{comment[:30]}"'


def readme():
    """README.md is short, its C is that of examples between the marks, and the report finds its tables."""
    text = read("README.md")
    marked = [textwrap.dedent(part) for path in glob.glob("examples/*.c") for part in re.findall(
        r"^ */\* begin \*/\n(.*?)^ */\* end \*/$", read(path), re.M | re.S)]
    for block in re.findall(r"^```c\n(.*?)^```$", text, re.M | re.S):
        if block not in marked:
            yield f"README.md has C that no example has between its marks: {block.splitlines()[0]}"
    for mark in (f"<!-- {name}:{end} -->" for name in ("rates", "methods") for end in ("begin", "end")):
        if text.count(mark) != 1:
            yield f"README.md needs {mark} once"
    if text.count("\n") > 120 or len(text) > 6850:
        yield "README.md has more than 120 lines or 6,850 characters: move something to docs"


def manuals(documents):
    """Manuals have no phrase that a reader must read twice."""
    for path in documents:
        if path.startswith("docs/") or path in ("README.md", "CONTRIBUTING.md", "bench/PROTOCOL.md"):
            text = read(path)
            for found in UNCLEAR.finditer(text):
                yield f'{path}:{text.count(chr(10), 0, found.start()) + 1} says "{found[0]}"'


def links(documents):
    """Is the file there, and, in a document, the heading?"""
    anchors = {path: {re.sub("[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-") for heading in
                      re.findall(r"^#+ (.*)$", read(path), re.M)} for path in documents}
    for path in documents:
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", read(path)):
            if "://" not in target and (target or anchor):
                file = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
                if not os.path.exists(file):
                    yield f"{path} links to {file}, which is not there"
                elif anchor and anchor not in anchors.get(file, (anchor,)):
                    yield f"{path} links to {file}#{anchor}, a heading that is not there"


def commands(documents):
    """Scripts at the beginning of a line are run as they stand."""
    for path in documents:
        for script in dict.fromkeys(re.findall(r"^((?:bench|scripts)/\w+\.(?:py|sh))\b", read(path), re.M)):
            if not os.access(script, os.X_OK):
                yield f"{path} runs {script}, which is not executable"


def functions():
    """docs/api.md is what scripts/api.py writes, and has the functions that the library exports, no others."""
    if read("docs/api.md") != api.page():
        yield "docs/api.md is not what the headers say: run scripts/api.py"
    exported = set(re.findall(r"^ +(gfk_\w+);", read("cmake/exports.map"), re.M))
    for name in exported ^ set(re.findall(r"^\| `(gfk_\w+)`", api.page(), re.M)):
        yield f"{name} is in docs/api.md or in cmake/exports.map, and not in both"


def methods():
    ids = set(re.findall(r"^GFK_(?:HOST|CUDA|CLMAD)_ROW\((\w+)", read("src/host/region/kernels.def"), re.M))
    pattern = re.compile(r"`((?:%s)_w(?:8|16|32)_\w+)`" % "|".join(METHODS))
    for method in METHODS:
        path = f"docs/methods/{method}.md"
        if not os.path.exists(path):
            yield f"{path} is not there"
            continue
        if f"(../../results/notes/methods.md#{method})" not in read(path):
            yield f"{path} does not link to its ladder in results/notes/methods.md"
        for name in pattern.findall(read(path)):
            if name not in ids:
                yield f"{path} names {name}, which is not in src/host/region/kernels.def"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    tracked = subprocess.run(["git", "ls-files"], check=True, capture_output=True,
                             text=True).stdout.split("\n")[:-1]
    documents = [p for p in tracked if p.endswith(".md") and os.path.exists(p)]
    worded = [p for p in tracked if p.startswith(tuple(f"{w}/" for w in WORDED)) and p.endswith(SOURCE)]
    found = [message for path in worded for message in words(path, read(path))]
    found += [*folders(tracked), *layers(tracked), *readme(), *manuals(documents), *links(documents), *commands(documents), *functions(), *methods()]
    print("\n".join(found) if found else "the documents agree with the files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
