# SPDX-License-Identifier: BSD-3-Clause
"""gfk.matmul, gfk.Matrix and the eliminations against Field's arithmetic, element by element."""

import gfk
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import in_threads, resident

OTHER = {8: 0x11B, 16: 0x1002D, 32: 0x10000008D}
WIDTHS = st.sampled_from([8, 16, 32])


def words(random, w, *shape):
    return random.integers(0, 2**w, shape, f"uint{w}")


def expected(field, a, x, out=None):
    """a x + out, one multiplication of Field after the other."""
    result = numpy.zeros((len(a), *x.shape[1:]), x.dtype) if out is None else out.copy()
    for row, into in zip(a, result):
        for c, region in zip(row, x):
            into ^= field.multiply(int(c), numpy.ascontiguousarray(region))
    return result


def with_gaps(x, gap=3):
    """The same rows with gaps between them."""
    wide = numpy.full((len(x), x.shape[1] + gap), 77, x.dtype)
    wide[:, :x.shape[1]] = x
    return wide[:, :x.shape[1]]


def planted(random, field, rows, cols, rank):
    """A matrix of this rank, whose independent rows are anywhere."""
    unit = numpy.eye(rank, dtype=f"uint{field.w}")
    upper = numpy.concatenate([unit, words(random, field.w, rank, cols - rank)], 1)
    upper = upper[:, random.permutation(cols)]
    lower = expected(field, words(random, field.w, rows - rank, rank), upper) if rank else \
        numpy.zeros((rows, cols), upper.dtype)
    return numpy.concatenate([upper, lower])[random.permutation(rows)].copy()


def regular(random, w, n):
    while True:
        a = words(random, w, n, n)
        if gfk.rank(a, field=w) == n:
            return a


# ---- products --------------------------------------------------------------------------------------
@given(WIDTHS, st.booleans(), st.integers(1, 12), st.integers(1, 12), st.integers(0, 70), st.booleans(),
       st.sampled_from(["array", "list", "bytes", "gaps"]),
       st.sampled_from([None, "array", "list", "bytes", "gaps"]), st.booleans(), st.integers(0, 1 << 30))
def test_matmul(w, is_other, rows, cols, length, has_gaps, layout, out_layout, accumulate, seed):
    random = numpy.random.default_rng(seed)
    field = gfk.Field(w, OTHER[w] if is_other else 0)
    a, b, y = words(random, w, rows, cols), words(random, w, cols, length), words(random, w, rows, length)
    layouts = {"array": numpy.copy, "list": lambda x: [row.copy() for row in x],
               "bytes": lambda x: x.copy().view("uint8"), "gaps": with_gaps}
    out = None if out_layout is None else layouts[out_layout](y)
    accumulate &= out is not None
    a_given = with_gaps(a) if has_gaps else a
    result = gfk.matmul(a_given, layouts[layout](b), field=field, out=out, accumulate=accumulate)
    assert out is None or result is out
    got = numpy.stack([numpy.ascontiguousarray(row) for row in result]).view(f"uint{w}").reshape(rows, length)
    assert (got == expected(field, a, b, y if accumulate else None)).all()


@pytest.mark.parametrize("w", [8, 16, 32])
def test_frameworks(arrays, random, w):
    field, a, b = gfk.Field(w), regular(random, w, 7), words(random, w, 7, 20)
    right = expected(field, a, b)
    given_a, given_b = arrays.array(a), arrays.array(b)
    assert (arrays.numpy(gfk.matmul(given_a, given_b, field=w)) == right).all()
    assert (arrays.numpy(gfk.matmul(given_a, [arrays.array(row) for row in b], field=w)) == right).all()
    made = gfk.Matrix.cauchy(5, 7)
    assert (arrays.numpy(gfk.matmul(made, given_b, field=w)) == expected(field, made.to_numpy(w), b)).all()
    inverse = arrays.numpy(gfk.invert(given_a, field=w))
    assert (expected(field, a, inverse) == numpy.eye(7)).all()
    assert (arrays.numpy(gfk.solve(given_a, arrays.array(right), field=w)) == b).all()
    assert gfk.rank(given_a, field=w) == 7
    found = gfk.pivots(given_a, field=w)
    assert isinstance(found, numpy.ndarray) and sorted(found) == list(range(7))
    a[3] = a[1] ^ a[2]
    with pytest.raises(gfk.Singular, match="rank is 6"):
        gfk.invert(arrays.array(a), field=w)
    inverses, ranks = gfk.invert_batch(arrays.array(numpy.stack([a, numpy.eye(7, dtype=a.dtype)])), field=w)
    assert arrays.numpy(ranks).tolist() == [6, 7] and (arrays.numpy(inverses)[1] == numpy.eye(7)).all()
    if arrays.is_immutable:
        for call in (lambda: gfk.matmul(given_a, given_b, field=w, out=given_b),
                     lambda: gfk.invert(given_a, field=w, out=given_a),
                     lambda: gfk.solve(given_a, given_b, field=w, out=given_b)):
            with pytest.raises(TypeError, match="immutable"):
                call()


def test_regions_need_not_be_of_the_elements_dtype(random):
    """New arrays are like b, not like a."""
    a, b = words(random, 16, 3, 4), words(random, 8, 4, 10)
    result = gfk.matmul(a, b, field=16)
    assert result.dtype == "uint8" and result.shape == (3, 10)
    assert (result.view("uint16") == expected(gfk.Field(16), a, b.view("uint16"))).all()


def test_matmul_refuses(random):
    a, b = words(random, 16, 3, 4), words(random, 16, 4, 10)
    for wrong, error, match in (
            (a.astype("uint8"), TypeError, "16 bits"), (a.astype("uint32"), TypeError, "16 bits"),
            (a.astype("float16"), TypeError, "16 bits"), (a[0], ValueError, "two dimensions"),
            (a.tolist(), TypeError, "not an array"), (a.T, ValueError, "contiguous"),
            (a[::-1], ValueError, "reverse"), (numpy.broadcast_to(a[:1], (3, 4)), gfk.InvalidArgument, "."),
            (a[:, :3], ValueError, "3 regions"), (a[:0], gfk.InvalidArgument, "."), (None, TypeError, "."),
            (a[None], ValueError, "two dimensions")):
        with pytest.raises(error, match=match):
            gfk.matmul(wrong, b, field=16)
    with pytest.raises(gfk.Overlap):
        gfk.matmul(a[:, :3].copy(), b[:3], field=16, out=b[1:])
    with pytest.raises(ValueError, match="out is needed"):
        gfk.matmul(a, b, field=16, accumulate=True)
    with pytest.raises(gfk.InvalidSize):
        gfk.matmul(a, b.view("uint8")[:, :3].copy(), field=16)
    assert (gfk.matmul(a, b, field=16, threads=1, check_pointers=True) == gfk.matmul(a, b, field=16)).all()


def test_places(fake_cuda, no_cuda, random):
    a = regular(random, 8, 4)
    away = fake_cuda(a.copy())
    for call in (lambda: gfk.matmul(away, a), lambda: gfk.matmul(a, away), lambda: gfk.solve(away, a),
                 lambda: gfk.invert(a, out=away), lambda: gfk.matmul(a, a, out=away)):
        with pytest.raises(gfk.WrongDevice):
            call()
    for call in (lambda: gfk.matmul(away, away, out=fake_cuda(a.copy())), lambda: gfk.rank(away),
                 lambda: gfk.invert(away, out=fake_cuda(a.copy()))):
        with pytest.raises((gfk.NotSupported, TypeError)):
            call()


# ---- generated matrices ----------------------------------------------------------------------------
@given(WIDTHS, st.integers(1, 9), st.integers(1, 9), st.integers(0, 200), st.integers(0, 1 << 30))
def test_generated_matrices(w, rows, cols, first, seed):
    field, random = gfk.Field(w), numpy.random.default_rng(seed)
    points = [int(p) for p in random.choice(256, rows + cols, replace=False)]
    x, y = points[:rows], points[rows:]
    fill = [(gfk.Matrix.cauchy(rows, cols, row_points=x, col_points=y),
             lambda j, i: field.inverse(x[j] ^ y[i])),
            (gfk.Matrix.cauchy(rows, cols, first=first), lambda j, i: field.inverse((cols + first + j) ^ i)),
            (gfk.Matrix.vandermonde(rows, cols, row_points=x, first=first),
             lambda j, i: field.power(x[j], first + i)),
            (gfk.Matrix.vandermonde(rows, cols, col_points=y, first=first),
             lambda j, i: field.power(y[i], first + j))]
    if w == 16:
        logs = [n for n in range(100) if n % 3 and n % 5 and n % 17 and n % 257]
        fill.append((gfk.Matrix.par2(rows, cols, first=first),
                     lambda j, i: field.power(field.power(2, logs[i]), first + j)))
    b = words(random, w, cols, 5)
    for matrix, element in fill:
        got = matrix.to_numpy(w)
        assert got.dtype == f"uint{w}" and got.shape == matrix.shape == (rows, cols)
        assert got.tolist() == [[element(j, i) for i in range(cols)] for j in range(rows)], matrix
        assert (gfk.matmul(matrix, b, field=w) == expected(field, got, b)).all()


def philox(counter, key):
    """Philox4x32-10 (Salmon et al. 2011): four words of 32 bits."""
    for _ in range(10):
        p, q = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = ((q >> 32) ^ counter[1] ^ key[0], q & 0xFFFFFFFF,
                   (p >> 32) ^ counter[3] ^ key[1], p & 0xFFFFFFFF)
        key = ((key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF)
    return counter


@pytest.mark.parametrize("w", [8, 16, 32])
def test_random_matrices(w):
    seed, first, cols = 0x123456789ABCDEF0, (7 << 32) - 1, 11
    right = []
    for r in (first, first + 1):
        text = b"".join(word.to_bytes(4, "little") for t in range(3)
                        for word in philox((t, 0, r & 0xFFFFFFFF, r >> 32), (seed & 0xFFFFFFFF, seed >> 32)))
        right.append(numpy.frombuffer(text, f"<u{w // 8}")[:cols])
    assert (gfk.Matrix.random(2, cols, seed, first=first).to_numpy(w) == right).all()


@pytest.mark.parametrize("make, w, error", [
    (lambda: gfk.Matrix.cauchy(2, 2, row_points=[1, 2], col_points=[2, 3]), 8, gfk.InvalidArgument),
    (lambda: gfk.Matrix.cauchy(2, 2, row_points=[1, 256]), 8, gfk.InvalidConstant),
    (lambda: gfk.Matrix.cauchy(2, 2, row_points=[1, 2**32]), 8, gfk.InvalidConstant),
    (lambda: gfk.Matrix.cauchy(2, 2, row_points=[1]), 8, ValueError),
    (lambda: gfk.Matrix.cauchy(2, 2, col_points=[1.5, 2]), 8, TypeError),
    (lambda: gfk.Matrix.cauchy(0, 2), 8, ValueError),
    (lambda: gfk.Matrix.cauchy(-1, 2), 8, gfk.InvalidArgument),
    (lambda: gfk.Matrix.cauchy(200, 200), 8, gfk.InvalidSize),
    (lambda: gfk.Matrix.vandermonde(2, 2), 8, ValueError),
    (lambda: gfk.Matrix.vandermonde(2, 2, row_points=[1, 2], col_points=[1, 2]), 8, ValueError),
    (lambda: gfk.Matrix.par2(2, 2), 8, gfk.NotSupported),
    (lambda: gfk.Matrix.par2(2, 2), (16, 0x1002D), gfk.NotSupported),
    (lambda: gfk.Matrix.par2(2, 40000), 16, gfk.InvalidSize),
    (lambda: gfk.Matrix.random(2, 2), 7, gfk.NotSupported)])
def test_generated_matrices_refuse(make, w, error):
    w = gfk.Field(*w) if isinstance(w, tuple) else w
    with pytest.raises(error) as caught:
        matrix = make()
        gfk.matmul(matrix, numpy.zeros((matrix.shape[1], 0), "uint8"), field=w)
        pytest.fail("matmul takes what to_numpy refuses")
    assert str(caught.value)
    with pytest.raises(error):
        make().to_numpy(w)


def test_matrices_print():
    assert repr(gfk.Matrix.par2(3, 4)) == "<gfk.Matrix.par2 of 3 x 4>"


# ---- eliminations ----------------------------------------------------------------------------------
@given(WIDTHS, st.booleans(), st.integers(1, 14), st.booleans(), st.integers(0, 1 << 30))
def test_inverses(w, is_other, n, has_gaps, seed):
    random = numpy.random.default_rng(seed)
    field = gfk.Field(w, OTHER[w] if is_other else 0)
    a = words(random, w, n, n)
    for i in range(n):  # with zeros in the first pivots' places
        a[i, i] *= random.integers(0, 2)
    given_a = with_gaps(a) if has_gaps else a.copy()
    try:
        inverse = gfk.invert(given_a, field=field)
    except gfk.Singular:
        assert gfk.rank(a, field=field) < n
        return
    assert (given_a == a).all()
    assert (expected(field, a, inverse) == numpy.eye(n)).all()
    assert gfk.invert(given_a, field=field, out=given_a) is given_a and (given_a == inverse).all(), "in place"
    b = words(random, w, n, 9)
    assert (gfk.solve(a, expected(field, a, b), field=field) == b).all()
    assert gfk.rank(a, field=field) == n


@given(WIDTHS, st.integers(1, 12), st.integers(1, 12), st.integers(0, 12), st.integers(0, 1 << 30))
def test_planted_ranks(w, rows, cols, rank, seed):
    field, random = gfk.Field(w), numpy.random.default_rng(seed)
    rank = min(rank, rows, cols)
    a = planted(random, field, rows, cols, rank)
    assert gfk.rank(a, field=w) == rank
    found = gfk.pivots(with_gaps(a), field=w)
    columns = found[found >= 0]
    assert found.shape == (rows,) and (found[found < 0] == -1).all()
    assert len(columns) == len(set(columns.tolist())) == rank and (columns < cols).all()
    for r in range(rows):  # a row has a pivot where it raises the rank of the rows before it
        before = gfk.rank(a[:r], field=w) if r else 0
        assert (found[r] >= 0) == (gfk.rank(a[:r + 1], field=w) > before)
    if rows == cols and rank < rows:
        out = numpy.full((rows, rows), 99, a.dtype)
        for call in (lambda: gfk.invert(a, field=w, out=out), lambda: gfk.solve(a, out.copy(), field=w, out=out)):
            with pytest.raises(gfk.Singular, match=f"rank is {rank}"):
                call()
        assert (out == 99).all(), "a singular matrix leaves the output as it was"


@pytest.mark.parametrize("w, n", [(8, 300), (16, 150), (32, 80)])
def test_larger_matrices(random, w, n):
    a = regular(random, w, n)
    inverse, pivots = gfk.invert(a, field=w, pivots=True)
    assert (gfk.matmul(inverse, a, field=w) == numpy.eye(n)).all() and sorted(pivots) == list(range(n))
    b = words(random, w, n, 3)
    x, pivots = gfk.solve(a, list(b), field=w, pivots=True, threads=1)
    assert (gfk.matmul(a, x, field=w) == b).all() and sorted(pivots) == list(range(n))


def test_eliminations_refuse(random):
    a = regular(random, 8, 5)
    for call in (gfk.invert, gfk.rank, gfk.pivots, lambda x: gfk.solve(x, a)):
        for wrong in (a.astype("uint16"), a.tolist(), a.astype(bool), gfk.Matrix.cauchy(5, 5)):
            with pytest.raises(TypeError):
                call(wrong)
        for wrong in (a[0], a.T, a[None]):
            with pytest.raises(ValueError):
                call(wrong)
    for call in (gfk.invert, lambda x: gfk.solve(x, a[:4])):
        with pytest.raises(ValueError, match="square"):
            call(a[:4])
    with pytest.raises(gfk.InvalidArgument):
        gfk.rank(a[:0])
    with pytest.raises(ValueError, match="5 x 5"):
        gfk.invert(a, out=numpy.empty((4, 5), "uint8"))
    with pytest.raises(TypeError):
        gfk.invert(a, out=numpy.empty((5, 5), "uint16"))
    wide = numpy.zeros((6, 5), "uint8")
    wide[:5] = a
    with pytest.raises(gfk.Overlap):
        gfk.invert(wide[:5], out=wide[1:])
    with pytest.raises(gfk.Overlap):
        gfk.solve(a, wide[:5], out=wide[1:])
    with pytest.raises(ValueError, match="read-only"):
        gfk.invert(a, out=numpy.broadcast_to(a, (5, 5)))
    with pytest.raises(TypeError):
        gfk.invert(a, 8)


# ---- batches ---------------------------------------------------------------------------------------
@given(WIDTHS, st.integers(0, 6), st.integers(1, 8), st.booleans(), st.integers(0, 1 << 30))
def test_batches(w, count, n, in_place, seed):
    field, random = gfk.Field(w), numpy.random.default_rng(seed)
    planted_ranks = [int(random.integers(0, n + 1)) if random.integers(0, 2) else n for _ in range(count)]
    a = numpy.empty((count, n, n), f"uint{w}")
    for matrix, rank in zip(a, planted_ranks):
        matrix[:] = planted(random, field, n, n, rank)
    given_a = a.copy()
    inverses, ranks = gfk.invert_batch(given_a, field=w, out=given_a if in_place else None)
    assert (inverses is given_a) == in_place
    assert ranks.dtype == "int32" and ranks.tolist() == planted_ranks
    for matrix, inverse, rank in zip(a, inverses, planted_ranks):
        if rank == n:
            assert (expected(field, matrix, inverse) == numpy.eye(n)).all()
        elif in_place:
            assert (inverse == matrix).all(), "a singular matrix leaves its inverse as it was"


def test_batches_refuse(random):
    a = words(random, 8, 4, 5, 5)
    for wrong, error in ((a[0], ValueError), (a[:, :4], ValueError), (a.transpose(0, 2, 1), ValueError),
                         (a[:, ::2, ::2], ValueError), (a.astype("uint16"), TypeError),
                         (a[:, :0, :0], gfk.InvalidArgument)):
        with pytest.raises(error):
            gfk.invert_batch(wrong)
    for out, error in ((a[:3], ValueError), (a.astype("uint16"), TypeError), (a[:, :4], ValueError)):
        with pytest.raises(error):
            gfk.invert_batch(a, out=out)
    more = numpy.zeros((5, 5, 5), "uint8")
    more[:4] = numpy.eye(5)
    with pytest.raises(gfk.Overlap):
        gfk.invert_batch(more[:4], out=more[1:])
    spaced = more[:4:2]
    inverses, ranks = gfk.invert_batch(spaced)
    assert ranks.tolist() == [5, 5] and (inverses == numpy.eye(5)).all()


@pytest.mark.parametrize("step", [0, 1, 2, 8])
def test_batches_whose_inverses_would_overlap(random, step):
    memory = words(random, 8, 40)
    memory[:9] = numpy.eye(3, dtype="uint8").ravel()
    before = memory.copy()
    shared = numpy.lib.stride_tricks.as_strided(memory, (3, 3, 3), (step, 3, 1))
    for a in (shared, words(random, 8, 3, 3, 3)):
        with pytest.raises(gfk.Overlap, match="out: the matrices overlap"):
            gfk.invert_batch(a, out=shared)
    assert (memory == before).all()
    inverses, ranks = gfk.invert_batch(shared)  # what is only read may overlap
    for i in range(3):
        assert ranks[i] == gfk.rank(shared[i])
        assert ranks[i] < 3 or (inverses[i] == gfk.invert(shared[i])).all()
    assert gfk.invert_batch(shared[:1], out=shared[:1])[1] == [3]


def test_matrices_without_rows_or_columns():
    some, wide = numpy.ones((3, 5), "uint8"), numpy.zeros((0, 5), "uint8")
    for shape in ((3, 0), (0, 3), (0, 0)):
        a = numpy.zeros(shape, "uint8")
        for call in (lambda: gfk.matmul(a, some if shape[1] else wide), lambda: gfk.rank(a),
                     lambda: gfk.pivots(a), lambda: gfk.invert(a), lambda: gfk.solve(a, some)):
            with pytest.raises(gfk.InvalidArgument, match="a: a matrix has one row and one column at"
                               f" least; the array has {shape[0]} x {shape[1]} elements"):
                call()
    with pytest.raises(gfk.InvalidArgument, match="a: a matrix has one row and one column .* n is 0"):
        gfk.invert_batch(numpy.zeros((2, 0, 0), "uint8"))


@pytest.mark.parametrize("call", [
    lambda a, kernel: gfk.matmul(a, a, field=16, kernel=kernel),
    lambda a, kernel: gfk.invert(a, field=16, kernel=kernel),
    lambda a, kernel: gfk.solve(a, a, field=16, kernel=kernel), lambda a, kernel: gfk.rank(a, field=16, kernel=kernel),
    lambda a, kernel: gfk.pivots(a, field=16, kernel=kernel)], ids=["matmul", "invert", "solve", "rank", "pivots"])
def test_kernels_of_products_refuse(call):
    a = numpy.eye(3, dtype="uint16")
    ids = [k.id for k in gfk.compiled_kernels()]
    assert "matmul_w16/clmad" in ids and "matmul_w8/clmad" in ids
    for wrong in ("nonsense", "", "matmul_w16", next(i for i in ids if i.startswith("eliminate_w16"))):
        with pytest.raises(gfk.UnknownMethod, match=f"^kernel: no kernel of matmul has the id {wrong};"):
            call(a, wrong)
    for name in ids:
        if name.startswith("matmul_w16/"):
            with pytest.raises(gfk.InvalidArgument, match=f"^kernel: {name} runs on GPUs, and this call is on the CPU"):
                call(a, name)
        elif name.startswith("matmul"):
            with pytest.raises(gfk.InvalidArgument, match=f"^kernel: {name} is for another width than w = 16"):
                call(a, name)
    with pytest.raises(ValueError, match="kernel: the text has a NUL character"):
        call(a, "matmul_w16/clmad\0x")
    with pytest.raises(TypeError):
        call(a, 16)
    call(a, None)


def test_batches_with_gaps(random):
    """Other matrices between those of a batch are not touched."""
    a = numpy.stack([regular(random, 16, 4) for _ in range(3)])
    spread, out = numpy.repeat(a, 2, 0), numpy.full((9, 4, 4), 7, "uint16")
    inverses, ranks = gfk.invert_batch(spread[::2], field=16, out=out[::3])
    assert ranks.tolist() == [4] * 3 and (out[1::3] == 7).all() and (out[2::3] == 7).all()
    for matrix, inverse in zip(a, out[::3]):
        assert (gfk.matmul(matrix, inverse.copy(), field=16) == numpy.eye(4)).all()


def test_the_list_of_kernels():
    table = gfk.compiled_kernels()
    assert len({k.id for k in table}) == len(table) > 10
    for owner in ("matmul", "eliminate", "invert_batch", "rlnc_take", "bmma", "clmad"):
        found = gfk.compiled_kernels(owner)
        assert found == [k for k in table if k.id.startswith(f"{owner}_w{k.w}/")]
        assert {k.w for k in found} == {8, 16, 32}
        assert gfk.compiled_kernels(owner=f"{owner}_w16") == [k for k in found if k.w == 16]
    assert gfk.compiled_kernels("invert_batch_w8")[0].inputs == (1, 8)
    assert gfk.compiled_kernels("host_w8") == gfk.compiled_kernels("nonsense") == []


# ---- objects and memory ----------------------------------------------------------------------------
def test_threads(random):
    a, matrix = regular(random, 16, 40), gfk.Matrix.cauchy(40, 40)
    inverse, product = gfk.invert(a, field=16), gfk.matmul(matrix, a, field=16)
    wrong = []

    def work(_):
        for _ in range(5):
            if (gfk.invert(a, field=16) != inverse).any() or (gfk.matmul(matrix, a, field=16) != product).any():
                wrong.append(1)

    in_threads(work, range(6))
    assert not wrong


def test_memory_does_not_grow(random):
    a, singular = regular(random, 8, 30), numpy.zeros((30, 30), "uint8")
    b, batch = words(random, 8, 30, 2000), numpy.stack([a] * 4)

    def calls(count):
        for _ in range(count):
            gfk.matmul(a, b, threads=1)
            gfk.matmul(gfk.Matrix.cauchy(5, 30, row_points=range(100, 105)), list(b), threads=1)
            gfk.solve(a, b, pivots=True, threads=1)
            gfk.invert_batch(batch)
            gfk.pivots(a, threads=1)
            with pytest.raises(gfk.Singular):
                gfk.invert(singular, threads=1)

    calls(30)
    before = resident()
    calls(330)
    assert resident() - before < 4 << 20
