# SPDX-License-Identifier: BSD-3-Clause
"""Daemon threads that are in calls when the interpreter ends: the exit status is the program's."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading, time
import gfk, numpy

class Exports:  # an array by DLPack, whose methods are code of Python that gives up the GIL
    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        time.sleep(0)
        return 1, 0

    def __dlpack__(self, **arguments):
        sum(range(500))
        return self.array.__dlpack__(**arguments)

class Index:
    def __init__(self, number):
        self.number = number

    def __index__(self):
        sum(range(500))
        time.sleep(0)
        return self.number

class Array(numpy.ndarray):  # an array whose end is code of Python
    def __del__(self):
        sum(range(500))
        time.sleep(0)

data = numpy.random.default_rng(1).integers(0, 256, (4, 1 << 14), numpy.uint8)
square = numpy.random.default_rng(2).integers(0, 256, (40, 40), numpy.uint8)
rs, rlnc = gfk.RS(4, 2), gfk.RLNC(4, 1 << 14)
parity, packets = rs.encode(data), rlnc.encode(data, 0, 4)
pipeline = gfk.Pipeline(path="cpu", threads=2)
decoder, updater, product = rs.decoder([0]), rs.updater(1), gfk.Product(square[:2, :4])

def error():
    try:
        rs.decode(data, parity, [0, 1, 2])
    except gfk.TooManyErasures:
        pass

CALLS = {
    "encode": lambda: rs.encode(data),
    "small": lambda: rs.encode(data[:, :8]),
    "decode": lambda: rs.decode(data, parity, [0, 5]),
    "verify": lambda: rs.verify(data, parity),
    "locate": lambda: rs.locate(data, parity),
    "decoder": lambda: decoder.run(data, parity),
    "updater": lambda: updater.run(data[0], data[0], parity),
    "batch": lambda: rs.batch([(data, None), (data, parity, [1])]).run(),
    "make": lambda: gfk.RS(20, 4),
    "error": error,
    "multiply": lambda: gfk.multiply(3, data),
    "field": lambda: gfk.Field(8).multiply(data, 3),
    "product": lambda: product.run(data),
    "matmul": lambda: gfk.matmul(gfk.Matrix.random(4, 4), data),
    "invert": lambda: gfk.rank(square),
    "rlnc": lambda: rlnc.decoder().add(range(4), packets),
    "pipeline": lambda: rs.encode(data, pipeline=pipeline),
    "pipeline decode": lambda: rlnc.decode(range(4), packets, pipeline=pipeline),
    "pipelines": lambda: rs.verify(data, parity, pipeline=gfk.Pipeline(path="cpu", threads=2)),
    "lists": lambda: gfk.Product([[1, 2, 3]] * 50),
    "export": lambda: rs.encode(Exports(data)),
    "index": lambda: rs.decode(data, parity, [Index(0), Index(4)], out=numpy.empty((2, 1 << 14), numpy.uint8)),
    "iterate": lambda: rs.decoder(Index(n) for n in (1, 2)),
    "delete": lambda: rs.encode([row.view(Array) for row in data]),
    "pinned": lambda: gfk.pinned_empty(4096),
}

def repeat(call):
    while True:
        call()

for _ in range(3):
    threading.Thread(target=repeat, args=(CALLS[sys.argv[1]],), daemon=True).start()
time.sleep(0.1)
sys.exit(int(sys.argv[2]))
"""
CALLS = [line.split('"')[1] for line in PROGRAM.splitlines() if line.startswith('    "')]


@pytest.mark.parametrize("call", CALLS)
def test_threads_in_calls_at_the_end(call):
    for status in (3, 0):
        done = subprocess.run([sys.executable, "-c", PROGRAM, call, str(status)], capture_output=True, text=True,
                              timeout=100)
        assert (done.returncode, done.stderr) == (status, "")
