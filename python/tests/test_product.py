# SPDX-License-Identifier: BSD-3-Clause
"""gfk.Product and gfk.product against sums of Field.multiply, element by element."""

import gfk
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import in_threads, resident

OTHER = {8: 0x11B, 16: 0x1002D, 32: 0x10000008D}
ENGINES = [e for e in gfk.engines() if e.available and e.family in ("host", "isal", "gfcomplete")]


def words(random, w, *shape):
    return random.integers(0, 2**w, shape, f"uint{w}")


def expected(field, matrix, x, out=None):
    """The product of a matrix with the rows of x, plus out."""
    result = numpy.zeros((len(matrix), *x.shape[1:]), x.dtype) if out is None else out.copy()
    for row, into in zip(matrix, result):
        for c, region in zip(row, x):
            into ^= field.multiply(int(c), numpy.ascontiguousarray(region))
    return result


# The ways in which a caller holds the rows of a matrix; each keeps the contents.
def strided(x):
    wide = numpy.empty((len(x), x[0].size + 5), x.dtype)
    wide[:, 2:-3] = x.reshape(len(x), -1)
    return wide[:, 2:-3]


LAYOUTS = {"array": lambda x: x.copy(), "rows with gaps": strided,
           "tuple of views": lambda x: tuple(strided(x)),
           "list": lambda x: [row.copy() for row in x], "bytes": lambda x: x.copy().view("uint8"),
           "three dimensions": lambda x: x.copy().reshape(*x.shape, 1)}


def read(x, like):
    """What a layout holds, as an array like the one that it was made from."""
    rows = [numpy.ascontiguousarray(row) for row in x]
    return numpy.stack(rows).reshape(len(rows), -1).view(like.dtype)


@given(st.sampled_from([8, 16, 32]), st.booleans(), st.integers(1, 7), st.integers(1, 9), st.integers(0, 70),
       st.sampled_from(sorted(LAYOUTS)), st.sampled_from([None, *sorted(LAYOUTS)]), st.booleans(),
       st.integers(0, 1 << 30))
def test_products(w, is_other, rows, cols, length, layout, out_layout, accumulate, seed):
    random = numpy.random.default_rng(seed)
    field = gfk.Field(w, OTHER[w] if is_other else 0)
    matrix, x = words(random, w, rows, cols), words(random, w, cols, length)
    y = words(random, w, rows, length)
    out = None if out_layout is None else LAYOUTS[out_layout](y)
    accumulate &= out is not None
    result = gfk.Product(matrix, field).run(LAYOUTS[layout](x), out, accumulate)
    assert out is None or result is out
    assert (read(result, x) == expected(field, matrix, x, y if accumulate else None)).all()


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.id)
def test_engines(random, engine):
    w = engine.w
    matrix, x = words(random, w, 3, 5), words(random, w, 5, 333)
    product = gfk.Product(matrix, w, engine=engine.id)
    assert product.info().engine == engine.id
    assert (product.run(x) == expected(gfk.Field(w), matrix, x)).all()
    assert gfk.Product(matrix, w, family=engine.family).info().engine.startswith(engine.family)


@pytest.mark.parametrize("w", [8, 16, 32])
def test_frameworks(arrays, random, w):
    matrix, x, y = words(random, w, 4, 6), words(random, w, 6, 100), words(random, w, 4, 100)
    product, right = gfk.Product(matrix, w), expected(gfk.Field(w), matrix, x)
    given_x = arrays.array(x)
    for result in (product.run(given_x), gfk.product(matrix, given_x, field=w),
                   product.run([arrays.array(row) for row in x])):
        assert (arrays.numpy(result) == right).all()
    out = arrays.array(y)
    if arrays.is_immutable:
        with pytest.raises(TypeError, match="immutable"):
            product.run(given_x, out)
        return
    assert product.run(given_x, out, accumulate=True) is out
    assert (arrays.numpy(out) == right ^ y).all()
    assert gfk.product(matrix, given_x, field=w, out=out) is out
    assert (arrays.numpy(out) == right).all()


def test_matrices_are_integers_of_any_width(random):
    matrix, x = words(random, 8, 2, 3), words(random, 8, 3, 10)
    right = expected(gfk.Field(), matrix, x)
    for given_matrix in (matrix.tolist(), matrix.astype("int64"), matrix.astype("uint32")[:, ::-1][:, ::-1],
                         numpy.asfortranarray(matrix), tuple(map(tuple, matrix.tolist()))):
        assert (gfk.product(given_matrix, x) == right).all()
    given_matrix = matrix.copy()
    product = gfk.Product(given_matrix)
    given_matrix[:] = 0
    assert (product.run(x) == right).all(), "the matrix is copied"
    made = gfk.Matrix.cauchy(2, 3)
    assert (gfk.product(made, x) == expected(gfk.Field(), made.to_numpy(), x)).all()


@pytest.mark.parametrize("matrix, error", [
    ([[256]], gfk.InvalidConstant), ([[-1]], gfk.InvalidConstant), ([[2**70]], gfk.InvalidConstant),
    ([[1.0]], TypeError), ([[True, 2**64]], gfk.InvalidConstant), (numpy.array([[1.5]]), TypeError),
    (["a"], TypeError), ([1, 2], ValueError), ([], ValueError), ([[]], ValueError),
    (3, ValueError), ([[1], [2, 3]], ValueError), (None, TypeError), ([[[1]]], ValueError)], ids=str)
def test_matrices_that_are_refused(matrix, error):
    with pytest.raises(error) as caught:
        gfk.Product(matrix)
    assert str(caught.value)


def test_wide_elements_need_a_wide_field():
    with pytest.raises(gfk.InvalidConstant, match="from 0 to 65535"):
        gfk.Product([[65536]], 16)
    gfk.Product([[2**32 - 1]], 32)


def test_options():
    matrix = [[1, 2], [3, 4]]
    product = gfk.Product(matrix, gfk.Field(16, 0x1002D))
    assert product.shape == (2, 2) and product.field == gfk.Field(16, 0x1002D)
    product.prepare()
    info = product.info()
    assert info.device == "cpu" and info.engine.endswith("w16")
    x = numpy.full((2, 4), 0x0101, "uint16")
    with pytest.raises(gfk.UnknownMethod):
        gfk.Product(matrix, engine="nonsense").run(x.view("uint8"))
    with pytest.raises(gfk.UnknownMethod):
        gfk.Product(matrix, engine="nonsense").prepare()
    with pytest.raises(gfk.UnknownMethod):
        gfk.Product(matrix, family="nonsense")
    with pytest.raises(gfk.InvalidArgument):
        gfk.Product(matrix, 16, engine="host_w8").run(x)
    with pytest.raises(gfk.WrongDevice):
        gfk.Product(matrix, 8, engine="prmt_w8").run(x.view("uint8"))
    limited = gfk.Product(matrix, 8, engine="host_w8", table_limit=1)
    assert gfk.Product(matrix, 8, engine="host_w8").info().table_bytes > limited.info().table_bytes == 0
    assert (limited.run(x.view("uint8")) == gfk.product(matrix, x.view("uint8"))).all()
    with pytest.raises(TypeError):
        gfk.Product(matrix, 8, "host_w8")
    assert gfk.Product(matrix, check_pointers=True).run(x.view("uint8"))[:, 0].tolist() == [1 ^ 2, 3 ^ 4]


def test_refused_regions(random):
    product, x = gfk.Product([[1, 2, 3], [4, 5, 6]]), words(random, 8, 3, 64)
    out = numpy.zeros((2, 64), "uint8")
    for wrong, error, match in (
            (x[:2], ValueError, "3 regions are needed"), (list(x[:2]), ValueError, "3 regions are needed"),
            (x.astype("uint16"), TypeError, "uint8"), (x.astype("float32"), TypeError, "uint8"),
            (x[:, ::2], ValueError, "contiguous"), (x[::-1], ValueError, "reverse"),
            ([x[0], x[1], x[2, :5]], ValueError, "one length"), (x[0], ValueError, "two dimensions"),
            ("text", TypeError, "array"), (None, TypeError, "."), ([x[0], None, x[1]], TypeError, ".")):
        with pytest.raises(error, match=match):
            product.run(wrong, out)
    for wrong, error in ((out[:1], ValueError), (out[:, :5], ValueError), (x[:2], gfk.Overlap),
                         (numpy.broadcast_to(out, (2, 64)), ValueError), (bytes(128), ValueError),
                         (list(out[:1]), ValueError), ([out[0], out[0]], gfk.Overlap)):
        with pytest.raises(error):
            product.run(x, wrong)
    with pytest.raises(ValueError, match="out is needed"):
        product.run(x, accumulate=True)
    with pytest.raises(ValueError, match="out is needed"):
        gfk.product([[1, 2, 3]], x, accumulate=True)
    with pytest.raises(gfk.InvalidSize):
        gfk.product([[1, 2, 3]], x[:, :63].copy(), field=16)
    assert not out.any(), "nothing has been written"


def test_places(fake_cuda, no_cuda, random):
    product, x = gfk.Product([[1, 2], [3, 4]]), words(random, 8, 2, 32)
    for by in ("dlpack", "cuda"):
        away = fake_cuda(x.copy(), by=by)
        with pytest.raises((gfk.NotSupported, TypeError)):
            product.run(away)
        with pytest.raises(gfk.NotSupported):
            product.run(away, fake_cuda(x.copy(), by=by))
        with pytest.raises((gfk.WrongDevice, gfk.NotSupported)):
            product.run(x, away)
    with pytest.raises(gfk.WrongDevice):
        product.run(x, fake_cuda(x.copy()))
    with pytest.raises(gfk.NotSupported):
        product.prepare("cuda:0")


def test_threads(random):
    """Threads share a product; the first of them makes its tables."""
    matrix, x = words(random, 16, 4, 8), words(random, 16, 8, 4000)
    product, right = gfk.Product(matrix, 16), expected(gfk.Field(16), matrix, x)
    wrong = []

    def work(_):
        for _ in range(5):
            if (product.run(x) != right).any():
                wrong.append(1)

    in_threads(work, range(6))
    assert not wrong


def test_memory_does_not_grow(random):
    x, list_of_x = words(random, 8, 4, 16384), list(words(random, 8, 4, 16384))
    product = gfk.Product([[1, 2, 3, 4], [5, 6, 7, 8]])

    def calls(count):
        for _ in range(count):
            product.run(x)
            product.run(list_of_x)
            gfk.product([[1, 2, 3, 4]], x)
            with pytest.raises(gfk.Overlap):
                product.run(x, x[:2])

    calls(50)
    before = resident()
    calls(500)
    assert resident() - before < 4 << 20


def test_options_that_c_would_cut():
    for option, text in ("engine", ENGINES[0].id), ("family", "host"), ("method", "SPLIT"):
        for make in (lambda **options: gfk.Product([[1]], **options),
                     lambda **options: gfk.RS(2, 1, **options)):
            with pytest.raises(ValueError, match=f"{option}: the text has a NUL character"):
                make(**{option: text + "\0x"})
    for option in ("isal_library", "gfcomplete_library"):
        with pytest.raises((TypeError, ValueError)):
            gfk.Product([[1]], **{option: "/tmp\0x"})


@pytest.mark.parametrize("option", ["isal_library", "gfcomplete_library"])
@pytest.mark.parametrize("path", ["lib.so", "./lib.so"])
def test_paths_that_are_not_absolute(option, path):
    with pytest.raises(gfk.InvalidArgument, match=f"{option}: an absolute path is needed, not \"{path}\""):
        gfk.Product([[1]], **{option: path})
    with pytest.raises(gfk.InvalidArgument, match=f"{option}: an absolute path"):
        gfk.RS(2, 1, **{option: path})
