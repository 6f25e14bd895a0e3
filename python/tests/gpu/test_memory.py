# SPDX-License-Identifier: BSD-3-Clause
"""10,000 calls leave nothing behind, and temporary memory is the framework's own."""

import gc

import gfk
import numpy
import pytest
from support import resident

CALLS = 10_000


def bytes_in_use(arrays):
    """Of the framework's allocator."""
    gc.collect()
    if arrays.name == "torch":
        return arrays.module.cuda.memory_allocated()
    if arrays.name == "cupy":
        return arrays.module.get_default_memory_pool().used_bytes()
    return sum(x.nbytes for x in arrays.module.live_arrays())


def free_bytes():
    """Of the GPU; None: nothing that tells is installed."""
    try:
        import torch
        return torch.cuda.mem_get_info()[0]
    except ImportError:
        import cupy
        return cupy.cuda.Device().mem_info[0]


WAYS = {
    "result": lambda x, code: gfk.multiply(2, x),
    "workspace": lambda x, code: gfk.multiply(2, x, field=32, method="SPLIT 32 8"),
    "encode": lambda x, code: code.encode(x),
    "decode": lambda x, code: code.decode(x, x[:2], [0, 9]),
    "verify": lambda x, code: code.verify(x, x[:2]),
    "error": lambda x, code: pytest.raises(ValueError, code.encode, x[:3]),
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_left(gpu_arrays, way):
    x, code, call = gpu_arrays.array(numpy.zeros((8, 4096), numpy.uint8)), gfk.RS(8, 2), WAYS[way]
    calls = CALLS if gpu_arrays.name != "jax" else CALLS // 10  # each waits
    for _ in range(300):
        call(x, code)
    gpu_arrays.numpy(x)
    before = bytes_in_use(gpu_arrays), free_bytes(), resident()  # free_bytes may load torch
    for _ in range(calls):
        call(x, code)
    gpu_arrays.numpy(x)
    assert bytes_in_use(gpu_arrays) == before[0]
    assert before[1] - free_bytes() < 64 << 20
    assert resident() - before[2] < 16 << 20


def test_objects_free_their_tables(streams):
    arrays = streams.arrays
    x = arrays.array(numpy.zeros((100, 4096), numpy.uint8))

    def make():
        gfk.Multiplier(8, kernel="table_w8_opt").multiply(2, x)
        gfk.RS(100, 4, table_limit=1 << 30).encode(x)
        gfk.Multiplier(16, kernel="log_w16_opt").multiply(2, x)

    for _ in range(20):
        make()
    streams.synchronize()
    before = free_bytes()
    for _ in range(300):
        make()
    streams.synchronize()
    assert before - free_bytes() < 64 << 20


def test_temporary_memory_is_not_given_away_too_early(torch_streams):
    """A workspace goes back to torch's allocator when the call returns, while its kernel still waits. Whoever
    gets that memory next is behind the kernel on the stream."""
    arrays, torch = torch_streams.arrays, torch_streams.module
    generator = numpy.random.default_rng(5)
    contents = generator.integers(0, 256, 1 << 16, numpy.uint8)
    x = arrays.array(contents)
    constants = [int(c) for c in generator.integers(2, 2**32, 50)]
    expected = [gfk.multiply(c, contents, field=32, method="SPLIT 32 8") for c in constants]
    for stream in (None, torch_streams.new()):
        with torch_streams.using(stream):
            torch_streams.sleep()
            results = []
            for c in constants:
                results.append(gfk.multiply(c, x, field=32, method="SPLIT 32 8"))
                for size in (512, 4096, 4351, 8192):
                    torch.empty(size, dtype=torch.uint8, device="cuda").fill_(0xFF)
            assert all((arrays.numpy(r) == e).all() for r, e in zip(results, expected))


def test_memory_of_a_pool_of_cupy(make_arrays):
    """Also memory that is managed by CUDA, and that of cudaMallocAsync."""
    cupy = pytest.importorskip("cupy")
    arrays, contents = make_arrays("cupy", "cuda"), numpy.arange(256, dtype=numpy.uint8)
    for allocator in (cupy.cuda.MemoryPool().malloc, cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc,
                      cupy.cuda.MemoryAsyncPool().malloc):
        with cupy.cuda.using_allocator(allocator):
            result = gfk.multiply(2, cupy.asarray(contents))
            assert (arrays.numpy(result) == gfk.multiply(2, contents)).all()
