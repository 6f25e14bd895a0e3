#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What other Python packages compute on one core, as a result file of gfk_bench: galois, zfec and PyECLib, as far as
they are installed.

    bench/peers.py results/h200/peers.json

Of galois, whose loops numba compiles, the rows of preset matmul: n x n matrices times n regions of 16 KiB, and
inverses. Samples are computed again by shifts. Of all packages encode of a (10, 4) code with regions of 1 MiB."""

import datetime
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import random
import statistics
import sys
import time

import numpy
from machine import processors

POLYNOMIALS = {8: 0x11d, 16: 0x1100b}
REGION = 16384  # bytes
K, M, SHARD = 10, 4, 1 << 20
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


def row_of(package, operation, name, shape, region, compute):
    """A row; shape is w, inputs, outputs."""
    times, (w, k, m) = [], shape
    compute()
    for _ in range(PASSES):
        start = time.perf_counter()
        compute()
        times.append(1e6 * (time.perf_counter() - start))
    us = statistics.median(times)
    return {"row": name, "kind": "baseline", "operation": operation, "state": "measured", "where": "cpu",
            "id": name.split("/")[0], "implementation": package, "w": w, "k": k, "m": m, "region_bytes": region,
            "nominal_bytes": k * region, "threads": 1, "time_us_median": us, "time_us_min": min(times),
            "time_us_max": max(times), "data_bytes": k * region, "data_GBps": k * region / us / 1e3,
            **({"mode": "set"} if operation == "encode" else {"tmuladds_per_s": k * m * region / us / 1e6})}


def matrices(w, n):
    import galois
    field = galois.GF(2**w, irreducible_poly=galois.Poly.Int(POLYNOMIALS[w]))
    a, b = field.Random((n, n), seed=1), field.Random((n, REGION * 8 // w), seed=2)
    inverse = numpy.linalg.inv(a)
    check(a, inverse, field.Identity(n), w)
    check(a, b[:, :8], a @ b[:, :8], w)
    for operation, region, compute in (("matmul", REGION, lambda: a @ b),
                                       ("invert", n * w // 8, lambda: numpy.linalg.inv(a))):
        if operation == "invert" or n <= 256:
            yield row_of("galois", operation, f"galois_w{w}/{n}+{n}/{operation}", (w, n, n), region, compute)


def encoders():
    """A function that encodes the same bytes, by package."""
    data = numpy.random.default_rng(1).integers(0, 256, (K, SHARD), dtype=numpy.uint8)
    shards, joined = [row.tobytes() for row in data], data.tobytes()
    if importlib.util.find_spec("zfec"):
        import zfec
        encoder = zfec.Encoder(K, K + M)
        yield "zfec", lambda: encoder.encode(shards, list(range(K, K + M)))
    if importlib.util.find_spec("pyeclib"):
        from pyeclib.ec_iface import ECDriver
        driver = ECDriver(k=K, m=M, ec_type="isa_l_rs_cauchy")
        yield "pyeclib", lambda: driver.encode(joined)
    if importlib.util.find_spec("galois"):
        import galois
        field = galois.GF(2**8, irreducible_poly=galois.Poly.Int(POLYNOMIALS[8]))
        matrix, symbols = field.Random((M, K), seed=1), data.view(field)
        yield "galois", lambda: matrix @ symbols


def main():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    found = [row_of(package, "encode", f"{package}/{K}+{M}/{K}MiB/threads=1", (8, K, M), SHARD, encode)
             for package, encode in encoders()]
    if not found:
        print("peers.py: none of galois, zfec and PyECLib is installed")
        return
    if importlib.util.find_spec("galois"):
        found += [row for w in POLYNOMIALS for n in (64, 128, 256, 512) for row in matrices(w, n)]
    cpus = processors()
    context = {"preset": "matmul", "command": "peers.py", "cpu": cpus[0], "cpu_cores": str(len(cpus)),
               "date_utc": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M:%S UTC}",
               **{row["implementation"]: importlib.metadata.version(row["implementation"]) for row in found}}
    pathlib.Path(sys.argv[1]).write_text(json.dumps({"context": context, "benchmarks": found}, indent=2) + "\n",
                                         encoding="utf-8")


if __name__ == "__main__":
    main()
