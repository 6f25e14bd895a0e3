#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which rows moved beyond noise between two result files of gfk_bench, and the median of all ratios.

A row moved when the ranges (min to max) of its times do not overlap and its median changed by more
than the threshold. Exit code: 0 nothing became slower, 1 something did, or a row now fails; 2 the
files cannot be compared.
"""

import argparse
import json
import statistics
import sys

SAME_RIG = ("gpu", "gpu_driver", "cuda_compiler", "cpu", "compiler", "compiler_flags", "build_type")


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def load(path):
    """The context, and the rows by name."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    except ValueError:
        fail(f"{path} is no complete JSON of gfk_bench")
    if not isinstance(data, dict) or not {"context", "benchmarks"} <= set(data):
        fail(f"{path} is not written by gfk_bench")
    for word in {"void", "unfit"} & set(data["context"]):
        fail(f"{path} is {word}: {data['context'][word]}")
    return data["context"], {row["row"]: row for row in data["benchmarks"]}


def times(row):
    return [row.get(f"time_us_{which}", 0) for which in ("median", "min", "max")]


def moved(old, new, threshold):
    """Percent by which the row became faster (or, negative, slower); 0 within noise."""
    (before, fastest, slowest), (now, first, last) = times(old), times(new)
    change = 100 * (before / now - 1)
    return change if (first > slowest or last < fastest) and abs(change) > threshold else 0


def line(name, change, *rows):
    spans = ["{:.2f} us ({:.2f} to {:.2f})".format(*times(row)) for row in rows]
    engines = [str(row.get("engine")) for row in rows]
    return (f"{'faster' if change > 0 else 'slower'}  {change:+6.1f} %  {name}: {' -> '.join(spans)}"
            + (f", {' -> '.join(engines)}" if engines[0] != engines[1] else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--threshold", type=float, default=2.0, metavar="PERCENT",
                        help="changes of the median below this are noise (default %(default)s)")
    arguments = parser.parse_args()
    (old_rig, old), (new_rig, new) = load(arguments.old), load(arguments.new)
    for key in SAME_RIG:
        if old_rig.get(key) != new_rig.get(key):
            print(f"note: {key} differs: {old_rig.get(key)} / {new_rig.get(key)}")

    common = [name for name in new if name in old and times(old[name])[0]]
    if not common:
        fail("the files have no row in common")
    broken = [name for name in common if not times(new[name])[0]]
    changes = {name: moved(old[name], new[name], arguments.threshold)
               for name in common if name not in broken}
    for name, change in sorted(changes.items(), key=lambda item: item[1]):
        if change:
            print(line(name, change, old[name], new[name]))
    for name in broken:
        print(f"broken  {name}: {new[name].get('reason', '')}")
    if changes:
        ratios = [times(old[name])[0] / times(new[name])[0] for name in changes]
        print(f"rates, new / old: median {statistics.median(ratios):.3f}, lowest {min(ratios):.3f}")
    slower, faster = (sum(sign * change > 0 for change in changes.values()) for sign in (-1, 1))
    print(f"{slower} slower, {faster} faster, {len(changes) - slower - faster} within noise, "
          f"{len(broken)} broken, {len(old.keys() - new.keys())} only in the old file, "
          f"{len(new.keys() - old.keys())} only in the new one")
    return 1 if slower or broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
