#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks what the documents say about the files: the tree in docs/architecture.md, the program in
README.md, links between documents, and the ids of kernels in the methods' pages."""

import fnmatch
import os
import re
import subprocess
import sys

LISTED = ("src/", "include/", "cmake/", "scripts/")  # file by file; elsewhere by folder
METHODS = ["shift", "group", "bytwo_p", "bytwo_b", "table", "log", "split"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def tree(tracked):
    text = read("docs/architecture.md").split("## The tree")[1]
    entries = [line.split()[0] for line in text.split("```")[1].splitlines() if line.strip()]
    for path in tracked:
        if path.startswith(LISTED) or "/" not in path:
            if not any(fnmatch.fnmatchcase(path, e) for e in entries):
                yield f"docs/architecture.md does not list {path}"
        elif not any(path == e or e.endswith("/") and path.startswith(e) for e in entries):
            yield f"docs/architecture.md does not list the folder of {path}"
    for entry in entries:
        if not entry.endswith("/") and "*" not in entry and entry not in tracked:
            yield f"docs/architecture.md lists {entry}, which is not there"


def readme():
    blocks = re.findall(r"^```c\n(.*?)^```$", read("README.md"), re.M | re.S)
    for example in ("examples/readme.c", "examples/rs_gpu.c"):
        if read(example).split("\n", 2)[2] not in blocks:  # without the two comment lines
            yield f"README.md does not show {example} as it is"
    for mark in ("<!-- table:begin -->", "<!-- table:end -->"):
        if read("README.md").count(mark) != 1:
            yield f"README.md needs {mark} once"


def links(documents):
    for path in documents:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", read(path)):
            if "://" not in target:
                file = os.path.normpath(os.path.join(os.path.dirname(path), target))
                if not os.path.exists(file):
                    yield f"{path} links to {file}, which is not there"


def methods():
    ids = set(re.findall(r"^GFK_(?:HOST|CUDA)_ROW\((\w+)", read("src/host/region/kernels.def"), re.M))
    pattern = re.compile(r"`((?:%s)_w(?:8|16|32)_\w+)`" % "|".join(METHODS))
    for method in METHODS:
        path = f"docs/methods/{method}.md"
        if not os.path.exists(path):
            yield f"{path} is not there"
            continue
        if "\n## Ladder\n" not in read(path):
            yield f"{path} has no section Ladder"
        for name in pattern.findall(read(path)):
            if name not in ids:
                yield f"{path} names {name}, which is not in src/host/region/kernels.def"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    tracked = subprocess.run(["git", "ls-files"], check=True, capture_output=True,
                             text=True).stdout.split("\n")[:-1]
    documents = [p for p in tracked if p.endswith(".md") and os.path.exists(p)]
    found = [*tree(tracked), *readme(), *links(documents), *methods()]
    print("\n".join(found) if found else "the documents agree with the files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
