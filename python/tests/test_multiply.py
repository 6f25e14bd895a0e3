# SPDX-License-Identifier: BSD-3-Clause
"""gfk.multiply and Multiplier with every kernel that runs here, against Field.multiply."""

import importlib.util
import threading
import time

import gfk
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import in_threads, resident

KERNELS = [k for k in gfk.kernels() if k.available]
# Without those that need table_limit.
SMALL = [k for k in KERNELS if k.table_bytes + k.workspace_bytes <= 1 << 30]
HOST = [k.id for k in SMALL if k.implementation == "host"]
OTHER = {8: 0x11B, 16: 0x1002D, 32: 0x10000008D}


def words(random, w, count):
    return random.integers(0, 2**w, count, f"uint{w}")


def expected(field, c, x):
    return field.multiply(c, x)  # element by element


# ---- the kernels ---------------------------------------------------------------------------------------
def test_the_list():
    table = gfk.kernels()
    assert len({k.id for k in table}) == len(table) >= 72, "each cell of methods, widths and implementations has a row"
    for k in table:
        assert k.id.startswith(f"{k.method.lower()}_w{k.w}_{k.implementation}")
        assert k.available == (k.reason == "")
    assert len(HOST) >= 20, "each method has a host row for each width"
    assert all(k.available for k in table if k.implementation == "host")
    engines = gfk.engines()
    assert len({e.id for e in engines}) == len(engines) > 10
    assert any(e.available and e.family == "host" for e in engines), engines


def on_a_gpu(make_arrays):
    """Arrays on the GPU that calls may write, of what is installed."""
    name = next((name for name in ("torch", "cupy") if importlib.util.find_spec(name)), None)
    if name is None:
        pytest.skip("neither torch nor cupy is installed")
    return make_arrays(name, "cuda")


@pytest.mark.parametrize("kernel", SMALL, ids=lambda k: k.id)
def test_every_kernel(make_arrays, random, kernel):
    w = kernel.w
    arrays = make_arrays("numpy", "cpu") if kernel.implementation == "host" else on_a_gpu(make_arrays)
    for field in (gfk.Field(w), gfk.Field(w, OTHER[w])):
        multiplier = gfk.Multiplier(field, kernel=kernel.id)
        assert multiplier.field == field
        x, y = words(random, w, 67), words(random, w, 67)
        for c in (0, 1, 2, 2**w - 1, int(words(random, w, 1)[0])):
            for accumulate in (False, True):
                out = arrays.array(y)
                multiplier.multiply(c, arrays.array(x), out, accumulate)
                assert (arrays.numpy(out) == (expected(field, c, x) ^ (y if accumulate else 0))).all()


@given(st.sampled_from(HOST), st.binary(max_size=200), st.integers(0, 2**32 - 1))
def test_host_kernels_agree(kernel, data, c):
    w = int(kernel.split("_w")[1].split("_")[0])
    x = numpy.frombuffer(data[: len(data) // 4 * 4], numpy.uint8)
    c &= 2**w - 1
    assert (gfk.multiply(c, x, field=w, kernel=kernel) == expected(gfk.Field(w), c, x)).all()


def test_the_kept_multipliers_know_their_field():
    x = numpy.array([0x80], numpy.uint8)
    for _ in range(2):
        assert gfk.multiply(2, x).tolist() == [0x1D]
        assert gfk.multiply(2, x, field=gfk.Field(8, 0x11B)).tolist() == [0x1B]
        assert gfk.multiply(2, x, method="SPLIT 8 4").tolist() == [0x1D]


def test_choices():
    for kernel in HOST:
        info = gfk.Multiplier(int(kernel.split("_w")[1].split("_")[0]), kernel=kernel).info()
        assert info.kernel == kernel and info.device == "cpu"
    assert gfk.Multiplier(8, method="LOG").info().kernel.startswith("log_w8")
    assert gfk.Multiplier(16, implementation="host").info().kernel.endswith("host")
    info = gfk.Multiplier(32, kernel="table_w32_host").info()
    assert info.table_bytes + info.workspace_bytes > 1 << 30


@pytest.mark.parametrize("arguments, error", [
    ({"method": "nonsense"}, gfk.UnknownMethod), ({"method": "CARRY_FREE_GK"}, gfk.NotSupported),
    ({"implementation": "fast"}, gfk.UnknownMethod), ({"kernel": "nonsense"}, gfk.UnknownMethod),
    ({"kernel": "log_w16_host"}, gfk.InvalidArgument), ({"method": "SPLIT 5 3"}, gfk.UnknownMethod),
    ({"field": 32, "kernel": "table_w32_host"}, gfk.TableLimit), ({"field": 7}, gfk.NotSupported),
    ({"field": "8"}, TypeError)], ids=str)
def test_choices_that_are_refused(arguments, error):
    with pytest.raises(error) as caught:
        gfk.multiply(2, bytes(4), **arguments)
    assert str(caught.value)


@pytest.mark.parametrize("arguments", [{"kernel": "table_w8_opt"}, {"kernel": "log_w8_naive"},
                                       {"implementation": "opt"}], ids=str)
def test_kernels_of_cuda_take_no_arrays_of_the_cpu(arguments):
    """Nothing falls from one place to the other."""
    with pytest.raises(gfk.WrongDevice, match="runs on GPUs, and not in the CPU's memory"):
        gfk.multiply(2, bytes(4), **arguments)


# ---- how it is called -------------------------------------------------------------------------------------
def test_accumulate_and_in_place(arrays, random):
    if arrays.is_immutable:
        return
    x, y = words(random, 8, 1000), words(random, 8, 1000)
    times_9 = expected(gfk.Field(), 9, x)
    into, out = arrays.array(x), arrays.array(y)
    assert gfk.multiply(9, into, out=out, accumulate=True) is out
    assert (arrays.numpy(out) == y ^ times_9).all()
    gfk.multiply(9, into, out=into)
    assert (arrays.numpy(into) == times_9).all()


def test_accumulate_needs_out():
    with pytest.raises(ValueError, match="accumulate adds to out, so out is needed"):
        gfk.multiply(2, bytes(4), accumulate=True)


def test_overlap_is_refused():
    x = numpy.arange(100, dtype=numpy.uint8)
    for shift in (1, 49):
        with pytest.raises(gfk.Overlap):
            gfk.multiply(2, x[:-shift], out=x[shift:])
    assert (x == numpy.arange(100)).all()


def test_check_pointers():
    multiplier = gfk.Multiplier(check_pointers=True)
    assert multiplier.multiply(2, b"\x01").tolist() == [2]


def test_keywords():
    assert gfk.multiply(c=2, x=b"\x01").tolist() == [2]
    with pytest.raises(TypeError):
        gfk.multiply(2, b"\x01", 8)
    with pytest.raises(TypeError):
        gfk.Multiplier(8, "LOG")


def test_threads(random):
    """Calls of many threads share a multiplier, and the first of them makes its tables."""
    x = words(random, 16, 20000)
    results = {c: expected(gfk.Field(16), c, x) for c in range(2, 10)}
    multiplier = gfk.Multiplier(16, kernel="split_w16_host")
    wrong = []

    def work(c):
        for _ in range(5):
            if (multiplier.multiply(c, x) != results[c]).any():
                wrong.append(c)

    in_threads(work, list(results))
    assert not wrong


def test_the_gil_is_released(random):
    """Another thread runs while a long call does."""
    x = words(random, 8, 8 << 20)
    out = numpy.empty_like(x)
    multiplier = gfk.Multiplier(8, kernel="shift_w8_host")
    done, counted = threading.Event(), []

    def count():
        number = 0
        while not done.is_set():
            number += 1
            time.sleep(0)
        counted.append(number)

    thread = threading.Thread(target=count)
    thread.start()
    multiplier.multiply(3, x, out)
    before = time.perf_counter()
    multiplier.multiply(3, x, out)
    seconds = time.perf_counter() - before
    done.set()
    thread.join()
    assert seconds > 0.01, "the call must be long"
    assert counted[0] > 100


# ---- many calls ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("way", ["result", "out", "dlpack", "error"])
def test_memory_does_not_grow(exporter, way):
    x, out = numpy.zeros(4096, numpy.uint8), numpy.zeros(4096, numpy.uint8)
    known_by_dlpack = exporter(x)

    def call():
        if way == "result":
            gfk.multiply(2, x)
        elif way == "out":
            gfk.multiply(2, x, out=out)
        elif way == "dlpack":
            known_by_dlpack.kept.clear()
            gfk.multiply(2, known_by_dlpack, out=out)
        else:
            with pytest.raises(ValueError):
                gfk.multiply(2, x, out=out[1:])

    for _ in range(500):
        call()
    before = resident()
    for _ in range(10_000 if way != "error" else 3000):
        call()
    assert resident() - before < 4 << 20  # 4 KiB left by each call would be 40 MiB


def test_fields_and_multipliers_are_freed():
    def make():
        gfk.multiply(2, bytes(64), field=gfk.Field(16, 0x1002D))
        gfk.Multiplier(16, kernel="log_w16_host").multiply(2, bytes(64))  # has tables of 0.5 MiB

    for _ in range(20):
        make()
    before = resident()
    for _ in range(200):
        make()
    assert resident() - before < 16 << 20


def test_overhead(cpu_arrays, capsys):
    """What a call costs without its work; printed. The bound only catches what went wrong badly."""
    x = cpu_arrays.array(numpy.zeros(16, numpy.uint8))
    arguments = {} if cpu_arrays.is_immutable else {"out": cpu_arrays.array(numpy.zeros(16, numpy.uint8))}
    multiplier, best = gfk.Multiplier(), 1.0
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(200):
            multiplier.multiply(2, x, **arguments)
        best = min(best, (time.perf_counter() - start) / 200)
    with capsys.disabled():
        new = "" if arguments else ", with a new array"
        print(f"\n{cpu_arrays}: {1e6 * best:.2f} us a call{new}", end=" ")
    assert best < 1e-3
