#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Products and inverses of matrices by the Python package galois on one core, as a result file of gfk_bench:

    bench/galois_rates.py results/h200/matmul-galois.json

The file has the rows of preset matmul: n x n matrices times n regions of 16 KiB, and inverses. galois compiles
its loops with numba. Samples are computed again by shifts."""

import datetime
import json
import os
import pathlib
import random
import statistics
import sys
import time

import galois
import numpy
from machine import processors

POLYNOMIALS = {8: 0x11d, 16: 0x1100b}
REGION = 16384  # bytes
PASSES = 3


def multiply(a, b, w):
    product = 0
    for bit in range(w):
        product ^= (a << bit) * (b >> bit & 1)
    for bit in reversed(range(w, 2 * w)):
        product ^= (POLYNOMIALS[w] << (bit - w)) * (product >> bit & 1)
    return product


def check(a, b, c, w):
    for _ in range(20):
        row, column, total = random.randrange(len(a)), random.randrange(b.shape[1]), 0
        for x, y in zip(a[row].tolist(), b[:, column].tolist()):
            total ^= multiply(x, y, w)
        if total != int(c[row, column]):
            raise SystemExit("wrong result")


def rows_of(w, n):
    field = galois.GF(2**w, irreducible_poly=galois.Poly.Int(POLYNOMIALS[w]))
    a, b = field.Random((n, n), seed=1), field.Random((n, REGION * 8 // w), seed=2)
    inverse = numpy.linalg.inv(a)
    check(a, inverse, field.Identity(n), w)
    check(a, b[:, :8], a @ b[:, :8], w)
    for operation, region, compute in (("matmul", REGION, lambda: a @ b),
                                       ("invert", n * w // 8, lambda: numpy.linalg.inv(a))):
        if operation == "matmul" and n > 256:
            continue
        times = []
        for _ in range(PASSES):
            start = time.perf_counter()
            compute()
            times.append(1e6 * (time.perf_counter() - start))
        us, name = statistics.median(times), f"galois_w{w}/{n}+{n}/{operation}"
        yield {"name": name, "row": name, "kind": "baseline", "operation": operation, "state": "measured",
               "where": "cpu", "id": f"galois_w{w}", "implementation": "galois", "w": w, "k": n, "m": n,
               "region_bytes": region, "threads": 1, "time_us_median": us, "time_us_min": min(times),
               "time_us_max": max(times), "data_bytes": n * region, "data_GBps": n * region / us / 1e3,
               "tmuladds_per_s": n * n * region / us / 1e6}


def main():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    cpus = processors()
    context = {"preset": "matmul", "command": "galois_rates.py", "cpu": cpus[0], "cpu_cores": str(len(cpus)),
               "date_utc": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M:%S UTC}",
               "galois": f"{galois.__version__}, numpy {numpy.__version__}"}
    found = [row for w in POLYNOMIALS for n in (64, 128, 256, 512) for row in rows_of(w, n)]
    pathlib.Path(sys.argv[1]).write_text(json.dumps({"context": context, "benchmarks": found}, indent=2) + "\n",
                                         encoding="utf-8")


if __name__ == "__main__":
    main()
