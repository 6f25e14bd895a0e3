#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which rows moved beyond noise between two result files of gfk_bench.

A row moved when the ranges (min to max) of its times do not overlap and its median changed by more
than the threshold. Exit code: 0 nothing became slower, 1 something did, or a row now fails; 2 the
files cannot be compared.
"""

import argparse

import bench_results as results

SAME_RIG = ("gpu", "gpu_driver", "cuda_compiler", "cpu", "compiler", "compiler_flags", "build_type")


def moved(old, new, threshold):
    """Percent by which the row became faster (or, negative, slower); 0 within noise."""
    change = 100 * (old.median / new.median - 1)
    apart = new.fastest > old.slowest or new.slowest < old.fastest
    return change if apart and abs(change) > threshold else 0.0


def engines(old, new):
    """Where AUTO chose, a row may move because it chose anew."""
    return f", {old.variant} -> {new.variant}" if old.variant != new.variant else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--threshold", type=float, default=2.0, metavar="PERCENT",
                        help="changes of the median below this are noise (default %(default)s)")
    arguments = parser.parse_args()
    (old_context, old_rows), (new_context, new_rows) = (
        results.load(arguments.old), results.load(arguments.new))
    for key in SAME_RIG:
        if old_context.get(key) != new_context.get(key):
            print(f"note: {key} differs: {old_context.get(key)} / {new_context.get(key)}")
    for context in (old_context, new_context):
        for word in ("void", "unfit"):
            if word in context:
                results.fail(f"{context['file']} is {word}: {context[word]}")

    old = {row.name: row for row in old_rows}
    faster, slower, broken, same = [], [], [], 0
    for row in new_rows:
        before = old.get(row.name)
        if before is None or not before.median:
            continue
        if not row.median:
            broken.append(row)
            continue
        change = moved(before, row, arguments.threshold)
        if change == 0:
            same += 1
        else:
            (faster if change > 0 else slower).append((change, before, row))
    for title, rows in (("slower", slower), ("faster", faster)):
        for change, before, row in sorted(rows, key=lambda item: item[0]):
            print(f"{title}  {change:+6.1f} %  {row.name}: {before.median:.2f} us "
                  f"({before.fastest:.2f} to {before.slowest:.2f}) -> {row.median:.2f} us "
                  f"({row.fastest:.2f} to {row.slowest:.2f}){engines(before, row)}")
    for row in broken:
        print(f"broken  {row.name}: {row.error}")
    names = {row.name for row in new_rows}
    print(f"{len(slower)} slower, {len(faster)} faster, {same} within noise, {len(broken)} broken, "
          f"{sum(name not in names for name in old)} only in the old file, "
          f"{sum(name not in old for name in names)} only in the new one")
    if not same and not slower and not faster and not broken:
        results.fail("the files have no row in common")
    return 1 if slower or broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
