#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the pages of the papers from result files of gfk_papers, which are in one folder:

  write.py papers/results/h200/papers.json      the pages of papers/
  write.py --out FOLDER papers.json             elsewhere
  write.py --check papers.json                  only reads and renders

Needs pandas."""

import argparse
import pathlib
import sys
import warnings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER", help="for the pages")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # pandas warns of its own future and of speed
    try:
        import papers
    except ModuleNotFoundError as missing:
        print(f"no pages: {missing.name} is not installed: scripts/papers.sh installs it", file=sys.stderr)
        return 3
    folder = (arguments.out or papers.SOURCE).resolve()
    for name, text in papers.pages(arguments.files, folder).items():
        if arguments.check:
            print(f"{name}: {len(text)} characters")
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        print(f"wrote {folder / name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
