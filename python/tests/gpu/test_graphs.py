# SPDX-License-Identifier: BSD-3-Clause
"""Calls in CUDA graphs: captured once, replayed with other contents."""

import gfk
import numpy
import pytest


def captured(streams, work):
    """A function that replays what `work` launched. It ran once before, so that its tables are there."""
    module = streams.module
    if streams.arrays.name == "torch":
        side = streams.new()
        side.wait_stream(module.cuda.current_stream())
        with streams.using(side):
            work()
        module.cuda.current_stream().wait_stream(side)
        graph = module.cuda.CUDAGraph()
        with module.cuda.graph(graph):
            work()
        return graph.replay
    work()
    streams.synchronize()
    stream = streams.new()
    with stream:
        stream.begin_capture()
        work()
        graph = stream.end_capture()
    return lambda: graph.launch(streams.module.cuda.get_current_stream())


WAYS = {
    "encode": (lambda x, out, code: code.encode(x, out=out), lambda x, code: code.encode(x)),
    "multiply": (lambda x, out, code: gfk.multiply(0x53, x[:2], out=out),
                 lambda x, code: gfk.multiply(0x53, x[:2])),
    "product": (lambda x, out, code: PRODUCT.run(x[:3], out=out), lambda x, code: PRODUCT.run(x[:3])),
    "update": (lambda x, out, code: code.update(3, x[0], x[1], out), None),
}
PRODUCT = gfk.Product([[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize("way", WAYS)
def test_replay(streams, data, way):
    arrays, code = streams.arrays, gfk.RS(8, 2)
    x, out = arrays.array(data()[:8]), arrays.array(numpy.zeros((2, data().shape[1]), numpy.uint8))
    run, expect = WAYS[way]
    code.prepare(0)
    replay = captured(streams, lambda: run(x, out, code))
    for _ in range(3):
        contents, before = data()[:8], data()[:2]
        streams.write(x, arrays.array(contents))
        streams.write(out, arrays.array(before))
        replay()
        if expect is None:
            code.update(3, contents[0], contents[1], before)
        assert (arrays.numpy(out) == (before if expect is None else expect(contents, code))).all()


def test_decoders(streams, data):
    arrays, code = streams.arrays, gfk.RS(8, 2)
    contents = data()[:8]
    parity = code.encode(contents)
    decoder = code.decoder([2, 5])
    x, checks = arrays.array(contents), arrays.array(parity)
    zeros = arrays.array(numpy.zeros((2, contents.shape[1]), numpy.uint8))
    out = arrays.array(numpy.zeros((2, contents.shape[1]), numpy.uint8))
    replay = captured(streams, lambda: decoder.decode(x, checks, out=out))
    streams.write(out, zeros)
    replay()
    assert (arrays.numpy(out) == contents[[2, 5]]).all()


def test_new_arrays_of_torch_are_of_the_graph(torch_streams, data):
    """Results without out= come from the graph's own memory."""
    arrays, code, results = torch_streams.arrays, gfk.RS(8, 2), []
    x = arrays.array(data()[:8])
    replay = captured(torch_streams, lambda: results.append(code.encode(x)))
    for _ in range(3):
        contents = data()[:8]
        x.copy_(arrays.array(contents))
        replay()
        assert (arrays.numpy(results[-1]) == code.encode(contents)).all()
