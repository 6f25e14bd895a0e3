#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the pages and plots of results/<gpu>/ and results/README.md from the files of these folders, and puts the JSON
files of gfk_bench into the tables there.

  report.py results/*/*                       pages and plots of each card, and both cards side by side
  report.py FOLDER/*.json                     pages and plots of JSON files of one machine, in their folder
  report.py --into results/h200 FILE.json...  only puts the rows of these files into the tables of a folder, in place of
                                              an earlier run of this name; with --second as a second run of this commit
  report.py --readme README.md ...            also the tables between its marks
  report.py --check FILE...                   only reads and renders; writes nothing
  report.py --tables FILE...                  prints the front page's tables
  report.py --csv rows.csv FILE...            a line for each measured row, a column for each field

--into needs no package. All else needs pandas, and matplotlib for the plots: `scripts/quickstart.sh report` installs
both."""

import argparse
import os
import pathlib
import sys
import warnings

from report import INSTALLS, runs


def write(path, text):
    path.write_text(text, encoding="utf-8")
    print(f"wrote {os.path.relpath(path)}")


def folders(parser, files):
    """The files with rows, by their folder. Pages, pictures and other tables may be among
    the arguments."""
    found = {}
    for file in map(pathlib.Path, files):
        if not file.is_file():
            parser.error(f"{file} is not a file")
        folder = file.resolve().parent
        if file.suffix == ".json" or file.suffix == ".csv" and (folder / runs.RUNS).exists():
            found.setdefault(folder, []).append(file)
    return found or parser.error("there is no table or JSON file of gfk_bench")


def report(title, results, arguments):
    """The pages and plots of one folder."""
    from report import front
    plots = None
    if not (arguments.check or arguments.no_plots):
        try:
            from report import plots
        except ModuleNotFoundError as missing:
            print(f"no plots: {missing.name} {INSTALLS}", file=sys.stderr)
    pages = front.pages(title, results, plots.draw(results) if plots else {})
    if arguments.check:
        print(f"read {len(results.every)} rows, rendered {sum(map(len, pages.values()))} characters")
    else:
        for name, text in pages.items():
            write(results.folder / name, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="result files; those of one folder are of one machine")
    parser.add_argument("--into", metavar="FOLDER", type=pathlib.Path, help="put JSON files into its tables")
    parser.add_argument("--second", action="store_true", help="with --into: a second run")
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--tables", action="store_true", help="print the front page's tables and write nothing")
    parser.add_argument("--csv", metavar="FILE", help="write the rows to FILE, and nothing else")
    parser.add_argument("--no-plots", action="store_true", help="do without matplotlib")
    parser.add_argument("--readme", metavar="FILE", type=pathlib.Path,
                        help="replace the tables between the marks in FILE")
    arguments = parser.parse_args()
    if arguments.into:
        for file in arguments.files:
            print(runs.add(arguments.into, pathlib.Path(file), arguments.second))
        return 0
    found = folders(parser, arguments.files)
    warnings.simplefilter("ignore")  # pandas warns of its own future and of speed
    try:
        from report import cards, frame, front
    except ModuleNotFoundError as missing:
        print(f"no pages: {missing.name} {INSTALLS}", file=sys.stderr)
        return 3
    if arguments.csv:
        frame.fields([file for files in found.values() for file in files]).to_csv(arguments.csv, index=False)
        return 0
    for files in found.values():
        results = frame.Results(files)
        if arguments.tables:
            print(front.tables(results))
            continue
        machines = results.machines()
        if len(machines) != 1:
            parser.error(f"the files are of several machines: {', '.join(sorted(machines))}")
        report(machines.pop(), results, arguments)
        if arguments.readme:
            text = front.readme(arguments.readme.read_text(encoding="utf-8"), results)
            if not arguments.check:
                write(arguments.readme, text)
    root = next(iter(found)).parent
    if root.name == "results" and not (arguments.check or arguments.tables):
        write(root / "README.md", cards.index(root))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
