# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that have elements and no memory, or memory at an odd address: every call takes them, or says which
argument it is and what to do."""

import ctypes
import warnings

import gfk
import numpy
import pytest

WORDS = {8: numpy.uint8, 16: numpy.uint16, 32: numpy.uint32}


# ---- no memory --------------------------------------------------------------------------------------
def null():
    return (ctypes.c_uint8 * 16 * 4).from_address(0)


def freed(torch):
    tensor = torch.arange(64, dtype=torch.uint8).view(4, 16)
    tensor.untyped_storage().resize_(0)
    return tensor


def freed_view(torch):
    """Its address is a small number, which is not NULL."""
    whole = torch.zeros(5, 16, dtype=torch.uint8)
    view = whole[1:]
    whole.untyped_storage().resize_(0)
    return view


def short(torch):
    tensor = torch.zeros(4, 16, dtype=torch.uint8)
    tensor.untyped_storage().resize_(40)
    return tensor


def freed_parameter(torch):
    parameter = torch.nn.Parameter(torch.zeros(4, 16, dtype=torch.uint8), requires_grad=False)
    parameter.untyped_storage().resize_(0)
    return parameter


def fake(torch):
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        return torch.zeros(4, 16, dtype=torch.uint8)


def zero(torch):
    return torch._efficientzerotensor(4, 16, dtype=torch.uint8)


def wrapper(torch, flattens=True):
    class Wrapper(torch.Tensor):
        @staticmethod
        def __new__(cls, inner):
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        def __init__(self, inner):
            self.inner = inner

        if flattens:
            def __tensor_flatten__(self):
                return ["inner"], None

        @classmethod
        def __torch_dispatch__(cls, function, types, arguments=(), keywords=None):
            raise NotImplementedError(function)

    return Wrapper(torch.zeros(4, 16, dtype=torch.uint8))


def opaque(torch):
    return wrapper(torch, flattens=False)


def functional(torch):
    return torch._to_functional_tensor(torch.zeros(4, 16, dtype=torch.uint8))


def quantized(torch):
    return torch.quantize_per_tensor(torch.ones(4, 16), 0.1, 0, torch.quint8)


def sparse(torch):
    return torch.eye(16, dtype=torch.uint8)[:4].to_sparse()


def nested(torch):
    return torch.nested.nested_tensor([torch.zeros(16, dtype=torch.uint8)] * 4)


def lazy(torch):
    return torch.nn.UninitializedParameter(dtype=torch.uint8, requires_grad=False)


MISSING = {null: "NULL", freed: "storage was freed", freed_view: "storage was freed", short: "too short",
           freed_parameter: "storage was freed", fake: "FakeTensor", zero: "zeros", wrapper: r"\(x.inner\)",
           opaque: "wraps another tensor", functional: "outside of that function", quantized: r"x.int_repr\(\)",
           sparse: r"x.to_dense\(\)", nested: r"x.unbind\(\)", lazy: "uninitialized parameter"}


@pytest.fixture(params=MISSING, ids=lambda make: make.__name__)
def missing(request):
    """(an array of 4 x 16 bytes without memory, what the message says)"""
    if request.param is null:
        return null(), MISSING[null]
    torch = pytest.importorskip("torch")
    warnings.simplefilter("ignore")
    return request.param(torch), MISSING[request.param]


def calls(x):
    """(name of the argument, call) of every argument that is an array."""
    data = numpy.arange(64, dtype=numpy.uint8).reshape(4, 16)
    square = numpy.eye(16, dtype=numpy.uint8)
    code, field, rlnc = gfk.RS(4, 4), gfk.Field(8), gfk.RLNC(4, 16)
    parity, vectors = code.encode(data), rlnc.vectors(0, 4)
    product, multiplier = gfk.Product(numpy.eye(4, dtype=numpy.uint8)), gfk.Multiplier()
    decoder, updater, pipeline = code.decoder([0, 1, 2, 3]), code.updater(0), gfk.Pipeline(path="cpu")
    rows = [data[0], data[1], data[2], data[3]]
    flat, wide = gfk.RS(1, 1), gfk.RLNC(16, 16)
    yield from (
        ("data", lambda: code.encode(x)), ("out", lambda: code.encode(data, out=x)),
        ("data", lambda: flat.encode([x])), ("data", lambda: code.encode([*rows[:3], x])),
        ("data", lambda: code.decode(x, parity, [0])), ("parity", lambda: code.decode(data, x, [0])),
        ("data", lambda: flat.decode([x], [None], [1])), ("lost", lambda: code.decode(data, parity, x)),
        ("wanted", lambda: code.decode(data, parity, [0], wanted=x)),
        ("out", lambda: code.decode(data, parity, [0, 1, 2, 3], out=x)),
        ("data", lambda: code.verify(x, parity)), ("parity", lambda: code.verify(data, x)),
        ("out", lambda: code.verify(data, parity, out=x)),
        ("data", lambda: code.locate(x, parity)), ("parity", lambda: code.locate(data, x, repair=True)),
        ("before", lambda: code.delta(x, data)), ("after", lambda: code.delta(data, x)),
        ("out", lambda: code.delta(data, data, out=x)),
        ("before", lambda: code.update(0, x, data, parity)), ("after", lambda: code.update(0, data, x, parity)),
        ("parity", lambda: code.update(0, data[0], data[0], x)), ("delta", lambda: code.apply_delta(0, x, parity)),
        ("data", lambda: decoder.run(x, parity)), ("out", lambda: decoder.run(data, parity, out=x)),
        ("before", lambda: updater.run(x, data, parity)), ("parity", lambda: updater.apply(data[0], x)),
        ("data", lambda: code.batch([(x, None)])), ("out", lambda: code.batch([(data, x)])),
        ("lost", lambda: code.decoder(x)), ("matrix", lambda: gfk.RS(16, 4, matrix=x, unchecked=True)),
        ("x", lambda: gfk.multiply(3, x)), ("out", lambda: gfk.multiply(3, data, out=x)),
        ("x", lambda: multiplier.multiply(3, x)),
        ("a", lambda: field.multiply(x, 3)), ("b", lambda: field.multiply(3, x)),
        ("a", lambda: field.divide(x, data)), ("b", lambda: field.divide(data, x)),
        ("out", lambda: field.multiply(data, 3, out=x)), ("a", lambda: field.inverse(x)),
        ("a", lambda: field.power(x, 2)), ("out", lambda: field.power(data, 2, out=x)),
        ("matrix", lambda: gfk.Product(x)), ("matrix", lambda: gfk.product([x], data)),
        ("x", lambda: product.run(x)), ("out", lambda: product.run(data, out=x)),
        ("a", lambda: gfk.matmul(x, numpy.zeros((16, 4), numpy.uint8))), ("b", lambda: gfk.matmul(square[:4, :4], x)),
        ("out", lambda: gfk.matmul(square[:4, :4], data, out=x)),
        ("a", lambda: gfk.rank(x)), ("a", lambda: gfk.pivots(x)), ("a", lambda: gfk.invert(x)),
        ("out", lambda: gfk.invert(square, out=x)), ("a", lambda: gfk.solve(x, data)),
        ("b", lambda: gfk.solve(square[:4, :4], x)), ("out", lambda: gfk.solve(square[:4, :4], data, out=x)),
        ("a", lambda: gfk.invert_batch(x)), ("out", lambda: gfk.invert_batch(square[None], out=x)),
        ("row_points", lambda: gfk.Matrix.cauchy(64, 4, row_points=x)),
        ("out", lambda: wide.vectors(0, 4, out=x)), ("like", lambda: rlnc.vectors(0, 4, like=x)),
        ("sources", lambda: rlnc.encode(x, 0, 4)), ("out", lambda: rlnc.encode(data, 0, 4, out=x)),
        ("vectors", lambda: rlnc.encode(data, 0, 4, vectors=x)), ("like", lambda: rlnc.decoder(like=x)),
        ("payloads", lambda: rlnc.recode(x, vectors, 0, 4, 1)),
        ("vectors", lambda: wide.recode(data, x, 0, 4, 1)),
        ("out", lambda: rlnc.recode(data, vectors, 0, 4, 1, out=(x, vectors.copy()))),
        ("vectors", lambda: wide.decoder().add(None, data, vectors=x)),
        ("payloads", lambda: rlnc.decoder().add(range(4), x)), ("packets", lambda: rlnc.decoder().add(x, data)),
        ("generations", lambda: rlnc.decoder().add(range(4), data, generations=x)),
        ("out", lambda: rlnc.decoder().add(range(4), data, out=x)), ("out", lambda: rlnc.decoder().decode(out=x)),
        ("x", lambda: gfk.multiply(3, x, pipeline=pipeline)),
        ("matrix", lambda: gfk.product(x, data, pipeline=pipeline)),
        ("x", lambda: gfk.product(square[:4, :4], x, pipeline=pipeline)),
        ("b", lambda: gfk.matmul(square[:4, :4], x, pipeline=pipeline)),
        ("data", lambda: code.encode(x, pipeline=pipeline)),
        ("out", lambda: code.encode(data, out=x, pipeline=pipeline)),
        ("parity", lambda: code.decode(data, x, [0], pipeline=pipeline)),
        ("data", lambda: code.verify(x, parity, pipeline=pipeline)),
        ("sources", lambda: rlnc.encode(x, 0, 4, pipeline=pipeline)),
        ("payloads", lambda: rlnc.recode(x, vectors, 0, 4, 1, pipeline=pipeline)),
        ("vectors", lambda: wide.decode(None, data, vectors=x, pipeline=pipeline)),
        ("payloads", lambda: rlnc.decode(range(4), x, pipeline=pipeline)))


def test_arrays_without_memory_are_refused(missing):
    x, message = missing
    for name, call in calls(x):
        with pytest.raises(TypeError, match=f"^{name}: .*no memory.*{message}"):
            call()


def test_integers_without_memory_are_refused():
    torch = pytest.importorskip("torch")
    number = torch.tensor(3, dtype=torch.uint8)
    number.untyped_storage().resize_(0)
    data = numpy.zeros((2, 8), numpy.uint8)
    for name, call in (("c", lambda: gfk.multiply(number, data)), ("k", lambda: gfk.RS(number, 1)),
                       ("lost", lambda: gfk.RS(2, 1).decode(data, data[:1], [number])),
                       ("index", lambda: gfk.RS(2, 1).updater(number)),
                       ("matrix", lambda: gfk.Product([[number, 1]]))):
        with pytest.raises(TypeError, match=f"^{name}: .*no memory"):
            call()


def test_traced_functions():
    """A trace of torch sees no call of gfk: the trace would return memory that nobody wrote."""
    torch = pytest.importorskip("torch")
    x = torch.arange(64, dtype=torch.uint8).view(4, 16)
    for transform in (torch.vmap, torch.func.functionalize):
        with pytest.raises(TypeError, match="^x: .*no memory.*outside of"):
            transform(lambda row: gfk.multiply(3, row))(x)
        with pytest.raises(TypeError, match="^out: .*no memory.*outside of"):
            transform(lambda row: gfk.multiply(3, x[0], out=row))(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.fx.experimental.proxy_tensor import make_fx
        for trace in (lambda function: torch.jit.trace(function, x), lambda function: make_fx(function)(x)):
            with pytest.raises(TypeError, match="^out: torch.jit.trace .*outside of"):
                trace(lambda rows: gfk.multiply(3, rows))


def test_a_matrix_that_numpy_cannot_read():
    torch = pytest.importorskip("torch")
    for values in (torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, dtype=torch.bfloat16)):
        for name, call in (("matrix", lambda: gfk.Product(values)), ("matrix", lambda: gfk.RS(2, 2, matrix=values)),
                           ("row_points", lambda: gfk.Matrix.cauchy(2, 2, row_points=values[0]))):
            with pytest.raises(TypeError, match=f"^{name}: no array of integers"):
                call()


def test_dtensor():
    dist = pytest.importorskip("torch.distributed")
    torch = pytest.importorskip("torch")
    if not dist.is_available() or dist.is_initialized():
        return
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, distribute_tensor
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        x = distribute_tensor(torch.zeros(4, 16, dtype=torch.uint8), init_device_mesh("cpu", (1,)), [Replicate()])
        for name, call in calls(x):
            with pytest.raises(TypeError, match=rf"^{name}: .*no memory.*pass x.to_local\(\)"):
                call()
        assert gfk.RS(4, 2).encode(x.to_local()).shape == (2, 16)
    finally:
        dist.destroy_process_group()


def test_no_elements_need_no_memory():
    empty = (ctypes.c_uint8 * 0).from_address(0)
    assert gfk.multiply(3, empty).size == 0 and gfk.Field(8).multiply(empty, 3).size == 0
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(4, 0, dtype=torch.uint8)
    tensor.untyped_storage().resize_(0)
    assert gfk.RS(4, 2).encode(tensor).shape == (2, 0) and gfk.multiply(3, tensor).shape == (4, 0)


def test_views_inside_their_storage_are_taken():
    torch = pytest.importorskip("torch")
    whole = torch.arange(100, dtype=torch.uint8)
    assert gfk.RS(3, 1).encode(whole[1:100].view(3, 33)).shape == (1, 33)
    rows = whole.as_strided((4, 10), (30, 1))  # the last row ends with the storage
    assert gfk.RS(4, 1).encode(rows).tolist() == gfk.RS(4, 1).encode(rows.contiguous()).tolist()


# ---- odd addresses -------------------------------------------------------------------------------------
def odd(array):
    """A copy at an address that is no multiple of the elements."""
    memory = numpy.empty(array.nbytes + 16, numpy.uint8)
    start = 1 + -memory.ctypes.data % 8
    made = memory[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def odd_calls(w, x, out):
    """(name of the argument, call) of every argument whose elements are words, and whether any address will do."""
    code, rlnc, field = gfk.RS(4, 4, w), gfk.RLNC(4, 4 * w // 8, w), gfk.Field(w)
    parity, vectors, ones = code.encode(x.copy()), rlnc.vectors(0, 4), numpy.ones((4, 4), WORDS[w])
    pipeline = gfk.Pipeline(path="cpu")
    regular = gfk.Matrix.cauchy(4, 4).to_numpy(w)
    yield from (
        ("data", True, lambda: code.encode(x, out=out)),
        ("data", True, lambda: code.decode(x, parity, [1], out=out[:1])),
        ("data", True, lambda: code.verify(x, parity)), ("before", True, lambda: code.delta(x, x, out=out)),
        ("x", True, lambda: gfk.multiply(3, x, field=w, out=out)), ("a", True, lambda: field.multiply(x, x, out=out)),
        ("matrix", True, lambda: gfk.Product(x, w).run(ones)),
        ("b", True, lambda: gfk.matmul(regular, x, field=w, out=out)),
        ("b", True, lambda: gfk.solve(regular, x, field=w, out=out)),
        ("matrix", True, lambda: gfk.RS(4, 4, w, matrix=x, unchecked=True).encode(ones)),
        ("payloads", True, lambda: rlnc.decoder().add(range(4), x)),
        ("sources", True, lambda: rlnc.encode(x, 0, 4, out=out)),
        ("row_points", True, lambda: gfk.Matrix.vandermonde(4, 4, row_points=x[0]).to_numpy(w)),
        ("x", True, lambda: gfk.product([[1, 2, 3, 4]], x, field=w, pipeline=pipeline)),
        ("a", False, lambda: gfk.matmul(x, ones, field=w)), ("a", False, lambda: gfk.rank(x, field=w)),
        ("a", False, lambda: gfk.pivots(x, field=w)), ("a", False, lambda: gfk.invert(x, field=w)),
        ("out", False, lambda: gfk.invert(regular, field=w, out=out)),
        ("a", False, lambda: gfk.solve(x, ones, field=w)),
        ("a", False, lambda: gfk.invert_batch(x[None], field=w)),
        ("out", False, lambda: gfk.invert_batch(regular[None], field=w, out=out[None])),
        ("out", False, lambda: rlnc.vectors(0, 4, out=out)),
        ("vectors", False, lambda: rlnc.encode(ones, 0, 4, vectors=out)),
        ("vectors", False, lambda: rlnc.recode(ones, x, 0, 4, 1)),
        ("out", False, lambda: rlnc.recode(ones, vectors, 0, 4, 1, out=(ones.copy(), out))),
        ("vectors", False, lambda: rlnc.decoder().add(None, ones, vectors=x)),
        ("a", False, lambda: gfk.matmul(x, ones, field=w, pipeline=pipeline)),
        ("vectors", False, lambda: rlnc.recode(ones, x, 0, 4, 1, pipeline=pipeline)),
        ("vectors", False, lambda: rlnc.decode(None, ones, vectors=x, pipeline=pipeline)),
        ("out", False, lambda: code.verify(x, parity, out=odd(numpy.zeros(1, numpy.uint32)))))


@pytest.mark.parametrize("w", [16, 32])
def test_odd_addresses(random, w):
    even = random.integers(1, 2**w, (4, 4), WORDS[w])
    x, out = odd(even), odd(numpy.zeros((4, 4), WORDS[w]))
    right = odd_calls(w, even, numpy.zeros((4, 4), WORDS[w]))
    for (name, is_taken, call), (_, _, same) in zip(odd_calls(w, x, out), right, strict=True):
        if is_taken:
            assert numpy.array_equal(call(), same())
        else:
            with pytest.raises(ValueError, match=f"^{name}: the address .* multiple of"
                                                 ".*pass a copy"):
                call()


@pytest.mark.parametrize("w", [16, 32])
def test_vectors_behind_an_odd_header(w):
    packets = numpy.zeros(4, numpy.dtype([("header", "u1", 5), ("vector", WORDS[w], 4)]))
    with pytest.raises(ValueError, match="^vectors: .*pass a copy"):
        gfk.RLNC(4, 16, w).decoder().add(None, numpy.zeros((4, 16), numpy.uint8), vectors=packets["vector"])
    with pytest.raises(ValueError, match="^a: .*pass a copy"):
        gfk.rank(packets["vector"], field=w)
