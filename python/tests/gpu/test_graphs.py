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
    stream = streams.new()
    with stream:
        work()  # cupy's pool then has the memory of this stream
        stream.synchronize()
        stream.begin_capture()
        work()
        graph = stream.end_capture()
    return lambda: graph.launch(streams.module.cuda.get_current_stream())


CODE = gfk.RS(8, 2)
UPDATER = CODE.updater(3)
PRODUCT = gfk.Product([[1, 2, 3], [4, 5, 6]])
CALLS = {  # of data and of what the call writes
    "encode": lambda x, out: CODE.encode(x, out=out),
    "multiply": lambda x, out: gfk.multiply(0x53, x[:2], out=out),
    "accumulate": lambda x, out: gfk.multiply(0x53, x[:2], out=out, accumulate=True),
    "product": lambda x, out: PRODUCT.run(x[:3], out=out),
    "matmul": lambda x, out: gfk.matmul(gfk.Matrix.cauchy(2, 8), x, out=out),
    "updater": lambda x, out: UPDATER.run(x[0], x[1], out),
}


@pytest.mark.parametrize("way", CALLS)
def test_replay(streams, data, way):
    arrays, call = streams.arrays, CALLS[way]
    x, out = arrays.array(data()[:8]), arrays.array(data()[:2])
    replay = captured(streams, lambda: call(x, out))
    for _ in range(3):
        contents, expected = data()[:8], data()[:2]
        streams.write(x, arrays.array(contents))
        streams.write(out, arrays.array(expected))
        replay()
        call(contents, expected)
        assert (arrays.numpy(out) == expected).all()


def test_decoders(streams, data):
    arrays, contents = streams.arrays, data()[:8]
    parity, decoder = CODE.encode(contents), CODE.decoder([2, 5])
    x, checks = arrays.array(contents), arrays.array(parity)
    zeros = arrays.array(numpy.zeros((2, contents.shape[1]), numpy.uint8))
    out = arrays.array(numpy.zeros((2, contents.shape[1]), numpy.uint8))
    replay = captured(streams, lambda: decoder.run(x, checks, out=out))
    streams.write(out, zeros)
    replay()
    assert (arrays.numpy(out) == contents[[2, 5]]).all()


def test_new_arrays_of_torch_are_of_the_graph(torch_streams, data):
    """Results without out= come from the graph's own memory."""
    arrays, results = torch_streams.arrays, []
    x = arrays.array(data()[:8])
    replay = captured(torch_streams, lambda: results.append(CODE.encode(x)))
    for _ in range(3):
        contents = data()[:8]
        x.copy_(arrays.array(contents))
        replay()
        assert (arrays.numpy(results[-1]) == CODE.encode(contents)).all()
