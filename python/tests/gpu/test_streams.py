# SPDX-License-Identifier: BSD-3-Clause
"""Work on a GPU is in the order of the framework's current stream, and calls return at once."""

import threading

import gfk
import numpy
import pytest
from support import in_threads


@pytest.mark.parametrize("side", [False, True], ids=["default stream", "side stream"])
def test_a_producer_that_still_runs(streams, data, call, side):
    """The array gets its contents on the stream after the call was made, and the call sees them."""
    arrays, contents = streams.arrays, data()
    stream = streams.new() if side else None
    new = arrays.array(contents)
    with streams.using(stream):
        x = arrays.array(numpy.zeros_like(contents))
        call(x)  # loads tables and kernels, which waits
        streams.synchronize()
        streams.sleep()
        streams.write(x, new)
        result = call(x)
        still_running = streams.is_busy(stream)
        streams.write(x, arrays.array(numpy.zeros_like(contents)))  # after the call, which read x before
        found = arrays.numpy(result)
    assert still_running, "the call waited, or the producer was too short to tell"
    assert (found == call(contents)).all()


def test_work_is_on_the_current_stream_alone(streams, data):
    """The default stream is busy, and a call on a side stream is not behind it."""
    arrays, contents = streams.arrays, data()
    x, out = arrays.array(contents), arrays.array(numpy.zeros_like(contents))
    side = streams.new()
    with streams.using(side):
        gfk.multiply(7, x, out=out)
    streams.synchronize()
    streams.sleep(1_000_000_000)
    with streams.using(side):
        gfk.multiply(9, x, out=out)
        side.synchronize()
    assert streams.is_busy(None), "the call waited for the default stream, or that one was too fast to tell"
    streams.synchronize()
    assert (arrays.numpy(out) == gfk.multiply(9, contents)).all()


def test_consumers_on_the_stream_see_the_results(streams, data):
    arrays, contents = streams.arrays, data()
    x, side = arrays.array(contents), streams.new()
    streams.synchronize()
    expected = gfk.multiply(3, gfk.multiply(2, contents))
    with streams.using(side):
        for _ in range(20):
            streams.sleep(1_000_000)
            found = gfk.multiply(3, gfk.multiply(2, x))
        assert (arrays.numpy(found) == expected).all()


def test_verify_without_waiting(streams, data):
    arrays, contents = streams.arrays, data()
    code = gfk.RS(8, 2)
    x, right = arrays.array(contents[:8]), arrays.array(code.encode(contents[:8]))
    wrong, answer = arrays.array(contents[8:]), arrays.array(numpy.full(1, 7, numpy.int32))
    assert code.verify(x, right) is True and code.verify(x, wrong) is False
    streams.sleep()
    code.verify(x, right, out=answer)
    assert streams.is_busy(None)
    assert arrays.numpy(answer).tolist() == [0]
    code.verify(x, wrong, out=answer)
    assert arrays.numpy(answer).tolist() == [1]


def test_jax_waits_for_what_it_computes(make_arrays, data):
    jax = pytest.importorskip("jax")
    arrays, contents = make_arrays("jax", "cuda"), data()
    matrix = jax.device_put(numpy.eye(4096, dtype="float32"), jax.devices("gpu")[0])

    @jax.jit
    def slow(x, a):
        a = jax.lax.fori_loop(0, 50, lambda _, b: b @ a, a)
        return x ^ (a[0, 1] != 0).astype(x.dtype)

    x = arrays.array(contents)
    slow(x, matrix).block_until_ready()
    for _ in range(5):
        assert (arrays.numpy(gfk.multiply(2, slow(x, matrix))) == gfk.multiply(2, contents)).all()
    result = gfk.multiply(2, x)
    assert (numpy.asarray(result ^ x) == gfk.multiply(3, contents)).all()  # jax computes with it at once


def test_threads_have_their_own_streams(streams, data, call):
    arrays, first, wrong = streams.arrays, data(), []

    def work(seed):
        contents = numpy.roll(first, seed, axis=1)
        expected = call(contents)
        stream = streams.new()
        with streams.using(stream):
            x = arrays.array(contents)
            for _ in range(25):
                if (arrays.numpy(call(x)) != expected).any():
                    wrong.append(seed)

    in_threads(work, range(4))
    assert not wrong


def test_the_first_call_of_an_object_in_many_threads(streams, data):
    """Tables are made once, and nobody uses them before they are there."""
    arrays, contents = streams.arrays, data()
    expected = gfk.RS(8, 2).encode(contents[:8])
    x = arrays.array(contents[:8])
    streams.synchronize()
    for _ in range(5):
        code, start, wrong = gfk.RS(8, 2), threading.Barrier(8), []

        def work(_, code=code, start=start, wrong=wrong):
            with streams.using(streams.new()):
                start.wait()  # all make their first call at once
                if (arrays.numpy(code.encode(x)) != expected).any():
                    wrong.append(1)

        in_threads(work, range(8))
        assert not wrong
