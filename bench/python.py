#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a call of the package costs.

  bench/python.py [--out FILE.json]     measures what this machine has: numpy on the CPU, torch on both, cupy on a GPU

Every row is an object {what, call, framework, place, ...}. Rates are of data: k regions, per second.
"""

import argparse
import importlib
import importlib.util
import json
import statistics
import sys
import time

import numpy

import gfk
from machine import machine

K, M = 10, 4
CALLS = 400  # fewer than a CUDA stream queues


def installed(name):
    return importlib.util.find_spec(name) is not None


def seconds_of(function, least=0.3, repeats=7):
    """The median time of a call, over runs of at least `least` seconds in all."""
    function()
    times = []
    while sum(times) < least or len(times) < repeats:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Place:
    """Arrays of one framework in one place."""

    def __init__(self, framework, place):
        self.framework, self.place = framework, place
        self.module = importlib.import_module(framework)

    def random(self, shape):
        host = numpy.random.default_rng(1).integers(0, 256, shape, dtype=numpy.uint8)
        if self.framework == "numpy":
            return host
        if self.framework == "torch":
            return self.module.from_numpy(host).to(self.place)
        return self.module.asarray(host)

    def empty(self, shape):
        if self.framework == "torch":
            return self.module.empty(shape, dtype=self.module.uint8, device=self.place)
        return self.module.empty(shape, dtype="uint8")

    def wait(self):
        if self.place == "cuda":
            (self.module.cuda.synchronize if self.framework == "torch"
             else self.module.cuda.get_current_stream().synchronize)()


def places():
    yield Place("numpy", "cpu")
    if installed("torch"):
        import torch
        yield Place("torch", "cpu")
        if torch.cuda.is_available():
            yield Place("torch", "cuda")
    if installed("cupy"):
        import cupy
        if cupy.cuda.runtime.getDeviceCount() > 0:
            yield Place("cupy", "cuda")


def overheads(place):
    """Microseconds of calls with regions of 64 bytes, for which C has next to nothing to do."""
    code = gfk.RS(K, M)
    data, parity = place.random((K, 64)), place.empty((M, 64))
    lists = [data[i] for i in range(K)], [parity[i] for i in range(M)]
    x, y = place.random((64,)), place.empty((64,))
    calls = {
        "rs.encode(data, out=parity)": lambda: code.encode(data, out=parity),
        "rs.encode(data)": lambda: code.encode(data),
        "rs.encode(list, out=list)": lambda: code.encode(lists[0], out=lists[1]),
        "multiply(c, x, out=y)": lambda: gfk.multiply(7, x, out=y),
    }
    if place.framework == "torch":
        operators = importlib.import_module("gfk.torch")
        calls["gfk.torch.rs_encode_out"] = lambda: operators.rs_encode_out(data, parity)
        calls["gfk.torch.rs_encode"] = lambda: operators.rs_encode(data, M)

    def repeated(function):
        def run():
            for _ in range(CALLS):
                function()
        run()
        times = []
        for _ in range(15):
            place.wait()
            start = time.perf_counter()
            run()
            times.append((time.perf_counter() - start) / CALLS)
        place.wait()
        return statistics.median(times) * 1e6

    for name, function in calls.items():
        yield {"what": "overhead", "call": name, "us": repeated(function)}


def rate(place, region_bytes):
    """Encode of (10,4): GB/s of data by the package."""
    code = gfk.RS(K, M)
    data, parity = place.random((K, region_bytes)), place.empty((M, region_bytes))
    calls = max(8, min(50, (1 << 32) // (K * region_bytes))) if place.place == "cuda" else 1

    def python():
        for _ in range(calls):
            code.encode(data, out=parity)
        place.wait()

    yield {"what": "rate", "call": "rs.encode", "region_bytes": region_bytes,
           "gb_s": calls * K * region_bytes / seconds_of(python) / 1e9}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="a JSON file")
    options = parser.parse_args()
    rows = []

    def add(found, place=None):
        for row in found:
            if place is not None:
                row.update(framework=place.framework, place=place.place)
            rows.append(row)
            print(" ".join(f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}" for k, v in row.items()), flush=True)

    for place in places():
        add(overheads(place), place)
        for size in [1 << 20, 16 << 20] + ([(3 << 30) // K // 4096 * 4096] if place.place == "cuda" else []):
            add(rate(place, size), place)
    packages = ("gfk", "numpy", "torch", "cupy")
    versions = {name: str(getattr(sys.modules[name], "__version__", "")) for name in packages if name in sys.modules}
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({"machine": machine(versions), "rows": rows}, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
