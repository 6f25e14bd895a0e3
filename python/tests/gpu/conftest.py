# SPDX-License-Identifier: BSD-3-Clause
"""What the tests on a GPU share: the calls to test, and streams that are kept busy.

The expected results are those of the same calls on numpy's arrays, which other engines compute."""

import contextlib
import importlib.util

import gfk
import numpy
import pytest

ROWS, LENGTH = 10, 1 << 16
CODE, WIDE = gfk.RS(8, 2), gfk.RS(7, 3, 16)
PRODUCT = gfk.Product([[1, 2, 3], [0x53, 0xCA, 0xFF]])
CAUCHY = gfk.Matrix.cauchy(6, ROWS)
CALLS = {
    "multiply": lambda x: gfk.multiply(0x53, x),
    "multiply with a workspace": lambda x: gfk.multiply(0x1234567, x, field=32, method="SPLIT 32 8"),
    "encode": lambda x: CODE.encode(x[:8]),
    "encode w = 16": lambda x: WIDE.encode(x[:7]),
    "encode a list": lambda x: CODE.encode([x[i] for i in range(8)]),
    "decode": lambda x: CODE.decode(x[:8], x[8:], [1, 9]),
    "product": lambda x: PRODUCT.run(x[:3]),
    "matmul": lambda x: gfk.matmul(CAUCHY, x),
}


class Streams:
    """Streams of torch or of cupy. `arrays` makes the arrays."""

    def __init__(self, arrays):
        self.arrays, self.module = arrays, arrays.module
        if arrays.name == "cupy":
            self.spin = self.module.RawKernel(
                'extern "C" __global__ void spin(long long n)'
                '{ long long t = clock64(); while (clock64() - t < n); }', "spin")

    def new(self):
        """A stream that does not wait for the legacy default stream."""
        return self.module.cuda.Stream() if self.arrays.name == "torch" else \
            self.module.cuda.Stream(non_blocking=True)

    def using(self, stream):
        """The stream is the current one; None: the framework's default."""
        if stream is None:
            return contextlib.nullcontext()
        return self.module.cuda.stream(stream) if self.arrays.name == "torch" else stream

    def sleep(self, cycles=200_000_000):
        """The current stream is busy for about a tenth of a second."""
        if self.arrays.name == "torch":
            self.module.cuda._sleep(cycles)
        else:
            self.spin((1,), (1,), (numpy.int64(cycles),))

    def is_busy(self, stream):
        if self.arrays.name == "torch":
            return not (stream or self.module.cuda.current_stream()).query()
        return not (stream or self.module.cuda.get_current_stream()).done

    def synchronize(self):
        if self.arrays.name == "torch":
            self.module.cuda.synchronize()
        else:
            self.module.cuda.Device().synchronize()

    def write(self, to, x):
        """Copies one array of the GPU to another, in the order of the current stream."""
        if self.arrays.name == "torch":
            to.copy_(x)
        else:
            to[...] = x


WITH_STREAMS = [name for name in ("torch", "cupy") if importlib.util.find_spec(name)]


@pytest.fixture(scope="session", params=WITH_STREAMS or [None])
def streams(request, make_arrays):
    """Streams of torch and of cupy; jax has no current stream."""
    if request.param is None:
        pytest.skip("neither torch nor cupy is installed")
    return Streams(make_arrays(request.param, "cuda"))


@pytest.fixture(scope="session")
def torch_streams(make_arrays):
    """Streams of torch, for what torch alone has."""
    pytest.importorskip("torch")
    return Streams(make_arrays("torch", "cuda"))


@pytest.fixture(scope="session")
def data():
    """A numpy array of random bytes: ROWS regions of LENGTH bytes, another one each time."""
    generator = numpy.random.default_rng(7)
    return lambda length=LENGTH: generator.integers(0, 256, (ROWS, length), numpy.uint8)


@pytest.fixture(params=CALLS)
def call(request):
    """Each of the calls."""
    return CALLS[request.param]
