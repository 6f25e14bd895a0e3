# SPDX-License-Identifier: BSD-3-Clause
"""Codes, decoders, updaters and batches, against sums of products that Field computes element by element."""

import ctypes
import gc
import itertools
import tracemalloc

import gfk
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import in_threads

NAMES = ["cauchy", "vandermonde", "reed_sol_van", "cauchy_good", "gen_cauchy1"]
ENGINES = {w: [e.id for e in gfk.engines() if e.available and e.w == w
               and e.family in ("host", "isal", "gfcomplete")] for w in (8, 16, 32)}


def elements(w, shape, seed=0):
    return numpy.random.default_rng(seed).integers(0, 2**w, shape, f"uint{w}")


def product(rs, data):
    """The parity of a numpy array of symbols, by definition."""
    rows = numpy.zeros((rs.m, *data.shape[1:]), data.dtype)
    for j, i in itertools.product(range(rs.m), range(rs.k)):
        rows[j] ^= rs.field.multiply(numpy.full_like(data[i], rs.matrix[j, i]), data[i])
    return rows


def without(rows, lost, first=0):
    """The rows as a list, with None for the lost regions; row 0 has the index `first`."""
    return [None if first + i in lost else row for i, row in enumerate(rows)]


@st.composite
def codes(draw):
    w = draw(st.sampled_from([8, 16, 32]))
    name = draw(st.sampled_from(NAMES if w == 8 else NAMES[:4]))
    return gfk.RS(draw(st.integers(1, 9)), draw(st.integers(1, 4)), w, matrix=name)


@pytest.fixture(scope="module")
def stripe():
    rs = gfk.RS(6, 3)
    data = elements(8, (6, 200))
    return rs, data, product(rs, data)


# ---- encode and decode ---------------------------------------------------------------------------------
@given(codes(), st.integers(0, 40), st.booleans(), st.booleans(), st.integers(0, 99))
def test_encode(arrays, rs, length, as_bytes, as_list, seed):
    data = elements(rs.field.w, (rs.k, length), seed)
    parity = product(rs, data)
    view = (lambda x: x.view("uint8")) if as_bytes else (lambda x: x)
    x = arrays.array(view(data))
    made = rs.encode([arrays.array(row) for row in view(data)] if as_list else x)
    assert made.shape == view(parity).shape
    assert (arrays.numpy(made).view(parity.dtype) == parity).all()
    if not arrays.is_immutable:
        out = arrays.array(numpy.zeros_like(view(parity)))
        assert rs.encode(x, out) is out
        assert (arrays.numpy(out) == view(parity)).all()
        rows = [arrays.array(row) for row in numpy.zeros_like(view(parity))]
        assert rs.encode(x, out=rows) is rows
        assert all((arrays.numpy(a) == b).all() for a, b in zip(rows, view(parity)))


@given(codes(), st.data())
def test_decode(arrays, rs, choice):
    n, w = rs.k + rs.m, rs.field.w
    data = elements(w, (rs.k, choice.draw(st.integers(0, 20))), choice.draw(st.integers(0, 99)))
    word = numpy.concatenate([data, product(rs, data)])
    lost = choice.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=rs.m))
    wanted = choice.draw(st.none() | st.permutations(lost).map(lambda x: x[: len(x) // 2 + 1]))
    expected = word[lost if wanted is None else wanted]
    damaged = word.copy()
    damaged[lost] = 0x5A
    d, p = arrays.array(damaged[: rs.k]), arrays.array(damaged[rs.k :])
    decoder = rs.decoder(lost, wanted)
    assert (decoder.lost, decoder.wanted) == (lost, lost if wanted is None else wanted)
    assert set(decoder.sources).isdisjoint(lost) and len(decoder.sources) in (0, rs.k)
    rows = [arrays.array(row) for row in damaged]
    if len(lost) < n and data.size:
        given_up = [i for i in range(n) if i not in decoder.sources]
        parts = without(rows[: rs.k], lost), without(rows[rs.k :], lost, rs.k)
        assert (arrays.numpy(rs.decode(*parts, lost, wanted)) == expected).all()
        parts = without(rows[: rs.k], given_up), without(rows[rs.k :], given_up, rs.k)
        if decoder.sources:
            assert (arrays.numpy(rs.decode(*parts, lost, wanted)) == expected).all()
            assert (arrays.numpy(decoder.run(*parts)) == expected).all()
    for made in (rs.decode(d, p, lost, wanted), decoder.run(d, p)):
        assert made.shape == expected.shape
        assert (arrays.numpy(made) == expected).all()
    assert (arrays.numpy(d) == damaged[: rs.k]).all() and (arrays.numpy(p) == damaged[rs.k :]).all()
    if not arrays.is_immutable:
        places = [d[i] if i < rs.k else p[i - rs.k] for i in (lost if wanted is None else wanted)]
        assert rs.decode(d, p, lost, wanted, out=places) is places
        repaired = numpy.concatenate([arrays.numpy(d), arrays.numpy(p)])
        damaged[lost if wanted is None else wanted] = expected
        assert (repaired == damaged).all()
        repair_all(rs, d, p, lost)
        assert (numpy.concatenate([arrays.numpy(d), arrays.numpy(p)]) == word).all()


def repair_all(rs, d, p, lost):
    """Zeros the lost regions, and repairs them in place."""
    for i in lost:
        (d if i < rs.k else p)[i - rs.k if i >= rs.k else i][...] = 0
    assert rs.repair(d, p, lost) is None


def test_repair_in_lists(stripe):
    rs, data, parity = stripe
    rows, others = [row.copy() for row in data], [row.copy() for row in parity]
    rows[2][:], others[1][:], rows[4] = 0, 0, None
    rs.repair(rows, others, [2, 7])
    assert (rows[2] == data[2]).all() and (others[1] == parity[1]).all() and rows[4] is None
    with pytest.raises(ValueError, match="region 4 is None"):
        rs.repair(rows, others, [4])
    with pytest.raises(gfk.TooManyErasures):
        rs.repair(rows, others, [0, 1, 2])  # and region 4
    with pytest.raises(gfk.InvalidArgument):
        rs.repair(data, parity, [9])


def test_repair_writes_what_is_lost_alone(stripe):
    rs, data, parity = stripe
    data, damaged = data.copy(), parity.copy()
    data.flags.writeable = False
    damaged[2] = 0
    rs.repair(data, damaged, [8])
    assert (damaged == parity).all()
    with pytest.raises(ValueError, match="^data: .*read-only"):
        rs.repair(data, damaged, [0])
    with gfk.Pipeline(path="cpu") as pipeline:
        damaged[:] = 0
        rs.repair(data, damaged, [6, 7, 8], pipeline=pipeline)
        assert (damaged == parity).all() and pipeline.report.cpu_bytes == 200


def test_rows_that_are_apart(arrays, stripe):
    rs, data, parity = stripe
    contents = numpy.zeros((9, 250), "uint8")
    contents[:6, 20:220] = data
    if not arrays.is_immutable:
        wide = arrays.array(contents)
        assert rs.encode(wide[:6, 20:220], wide[6:, 20:220]).shape == (3, 200)
        result = arrays.numpy(wide)
        assert (result[6:, 20:220] == parity).all()
        result[:, 20:220] = 0
        assert not result.any()
    contents[6:, 20:220] = parity
    wide = arrays.array(contents)
    assert (arrays.numpy(rs.decode(wide[:6, 20:220], wide[6:, 20:220], [4]))[0] == data[4]).all()


def test_regions_of_more_dimensions(arrays, stripe):
    rs, data, parity = stripe
    x, y = arrays.array(data.reshape(6, 4, 50)), arrays.array(parity.reshape(3, 4, 50))
    made = rs.encode(x)
    assert made.shape == (3, 4, 50) and (arrays.numpy(made).reshape(3, 200) == parity).all()
    rebuilt = rs.decode([None, *(x[i] for i in range(1, 6))], y, [0])
    assert rebuilt.shape == (1, 4, 50) and (arrays.numpy(rebuilt).reshape(200) == data[0]).all()


def test_a_region_that_is_none_counts_as_lost(stripe):
    rs, data, parity = stripe
    assert (rs.decode(without(data, [1, 5]), parity, [5]) == data[[5]]).all()
    assert rs.decode(without(data, [1, 5]), parity, []).shape == (0, 200)
    assert rs.decode(without(data, [1, 5]), parity, [1], wanted=[], out=[]) == []
    with pytest.raises(gfk.TooManyErasures):
        rs.decode(without(data, [1, 5]), without(parity, [1, 2]), [0])
    with pytest.raises(gfk.InvalidArgument, match="reads region 1, which is None"):
        rs.decoder([5]).run(without(data, [1, 5]), parity)


def test_all_data_lost(stripe):
    rs = gfk.RS(2, 3)
    data = elements(8, (2, 31))
    parity = rs.encode(data)
    assert (rs.decode([None, None], parity, [1, 0]) == data[::-1]).all()
    with pytest.raises(ValueError, match="all regions are None"):
        rs.decode([None, None], [None] * 3, [1, 0])


def test_a_decoder_outlives_the_code(stripe):
    _, data, parity = stripe
    rs = gfk.RS(6, 3)
    decoder, updater, batch = rs.decoder([0]), rs.updater(1), rs.batch([(data, None)])
    del rs
    gc.collect()
    assert (decoder.run(data, parity)[0] == data[0]).all()
    assert (batch.run()[0] == parity).all()
    updater.run(data[1], data[1], parity.copy())


# ---- matrices and engines ------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES + ["gen_rs"])
def test_named_matrices(name):
    matrix = gfk.rs_matrix(name, 5, 3)
    assert matrix.dtype == "uint32" and matrix.shape == (3, 5)
    rs = gfk.RS(5, 3, matrix=name)
    assert (rs.matrix == matrix).all() and rs.info().matrix == name and name in repr(rs)
    same = gfk.RS(5, 3, matrix=matrix.tolist())
    assert (same.matrix == matrix).all() and same.info().matrix == "custom"
    data = elements(8, (5, 100))
    assert (same.encode(data) == rs.encode(data)).all() and (rs.encode(data) == product(rs, data)).all()
    if name == "cauchy":
        assert all(rs.field.multiply(int(matrix[j, i]), (5 + j) ^ i) == 1 for j in range(3) for i in range(5))


def test_a_matrix_of_the_library():
    matrix = gfk.Matrix.cauchy(3, 5)
    rs = gfk.RS(5, 3, matrix=matrix)
    assert (rs.matrix == matrix.to_numpy()).all() and rs.info().mds is True
    with pytest.raises(ValueError, match="3 x 5"):
        gfk.RS(3, 5, matrix=matrix)


def test_fields():
    field = gfk.Field(16, 0x1002D)
    rs = gfk.RS(3, 2, field)
    assert rs.field == field and (rs.k, rs.m) == (3, 2)
    data = elements(16, (3, 50))
    assert (rs.encode(data) == product(rs, data)).all()
    assert (gfk.rs_matrix("cauchy", 3, 2, field) == rs.matrix).all()
    assert (gfk.rs_matrix("cauchy", 3, 2, 16) != rs.matrix).any()


def test_a_matrix_that_is_not_mds(stripe):
    matrix = numpy.array([[1, 1, 1], [1, 1, 2]])
    with pytest.raises(gfk.Singular, match="unchecked"):
        gfk.RS(3, 2, matrix=matrix)
    rs = gfk.RS(3, 2, matrix=matrix, unchecked=True)
    assert rs.info().mds is False and gfk.RS(3, 2).info().mds is True
    data = elements(8, (3, 10))
    parity = rs.encode(data)
    assert (rs.decode(data, parity, [0, 2]) == data[[0, 2]]).all()
    for call in (lambda: rs.decode(data, parity, [0, 1]), lambda: rs.decoder([0, 1])):
        with pytest.raises(gfk.Singular):
            call()


@pytest.mark.parametrize("engine", ENGINES[8] + ENGINES[16] + ENGINES[32])
def test_engines(engine):
    w = int(engine.split("_w")[1])
    rs = gfk.RS(4, 2, w, engine=engine, check_pointers=True, expected_bytes=4096)
    assert rs.info().engine == engine and rs.info(device="cpu").device == "cpu"
    data = elements(w, (4, 1000))
    parity = product(rs, data)
    assert (rs.encode(data) == parity).all()
    assert (rs.decode(data, parity, [1, 3]) == data[[1, 3]]).all()
    assert rs.decoder([1]).info().engine == engine
    assert gfk.RS(4, 2, w, family=engine.split("_")[0]).info().engine == engine


def test_info_and_prepare(stripe):
    rs = gfk.RS(6, 3)
    rs.prepare()
    info = rs.info()
    assert info.locatable == 1 and info.table_bytes > 0
    rs.decoder([1]).prepare("cpu")
    rs.updater(1).prepare("cpu")
    assert rs.decoder([]).info() is None and rs.decoder([]).sources == []
    assert repr(rs) == "gfk.RS(6, 3, field=gfk.Field(8, polynomial=0x11d), matrix='cauchy')"


def test_what_the_constructor_refuses():
    for error, arguments, options in [
        (gfk.InvalidArgument, (0, 1), {}), (gfk.InvalidArgument, (1, 0), {}), (gfk.InvalidArgument, (-1, 1), {}),
        (gfk.InvalidSize, (200, 57), {}), (gfk.NotSupported, (3, 2, 64), {}), (TypeError, (3, 2, "8"), {}),
        (gfk.InvalidArgument, (3, 2), {"matrix": "hilbert"}),
        (ValueError, (3, 2), {"matrix": [[1, 2], [3, 4]]}),
        (gfk.InvalidConstant, (2, 1), {"matrix": [[1, 256]]}),
        (gfk.InvalidConstant, (2, 1), {"matrix": [[1, -1]]}),
        (TypeError, (2, 1), {"matrix": [[1.0, 2.0]]}), (TypeError, (2, 1), {"matrix": None}),
        (gfk.NotSupported, (30, 30), {"matrix": "gen_rs"}),
        (gfk.NotSupported, (3, 2, 16), {"matrix": "gen_rs"}),
        (gfk.Singular, (10, 6), {"matrix": "gen_rs"}),
        (gfk.UnknownMethod, (3, 2), {"engine": "host_w9"}), (gfk.UnknownMethod, (3, 2), {"family": "fpga"}),
        (gfk.UnknownMethod, (3, 2), {"method": "MAGIC"}),
        (gfk.UnknownMethod, (3, 2), {"engine": "prmt_w8/none"}),
        (gfk.InvalidArgument, (3, 2), {"engine": "host_w16"}),
        (gfk.UnknownMethod, (3, 2), {"family": "host", "method": "SPLIT"}),
        (gfk.InvalidArgument, (3, 2), {"family": "isal", "isal_library": "libisal.so"}),
        (gfk.NotSupported, (3, 2), {"family": "isal", "isal_library": "/none/libisal.so"}),
        (TypeError, (3, 2), {"colour": "red"}),
    ]:
        with pytest.raises(error):
            gfk.RS(*arguments, **options)
    for error, arguments in [(gfk.InvalidArgument, ("custom", 3, 2)), (gfk.InvalidArgument, ("cauchy", 0, 2)),
                             (gfk.InvalidSize, ("cauchy", 200, 57)),
                             (gfk.NotSupported, ("gen_rs", 3, 2, 32))]:
        with pytest.raises(error):
            gfk.rs_matrix(*arguments)


def test_what_depends_on_the_place_is_refused_there(stripe):
    _, data, _ = stripe
    if "isal_w8" in ENGINES[8]:
        error, rs = gfk.TableLimit, gfk.RS(6, 3, engine="isal_w8", table_limit=1)
    else:
        try:
            error, rs = gfk.WrongDevice, gfk.RS(6, 3, engine="prmt_w8")
        except gfk.NotSupported:
            pytest.skip("this build has neither ISA-L nor CUDA")
    for call in (lambda: rs.encode(data), rs.prepare, rs.info):
        with pytest.raises(error):
            call()
    assert len(rs.decoder([0]).sources) == 6 and rs.matrix.shape == (3, 6)


# ---- what calls refuse ---------------------------------------------------------------------------------
def test_wrong_arguments(arrays, stripe):
    rs, data, parity = stripe
    d, p = arrays.array(data), arrays.array(parity)
    odd = arrays.array(data[:, :199])
    for error, call in [
        (ValueError, lambda: rs.encode(d[:5])), (ValueError, lambda: rs.encode(d[0])),
        (ValueError, lambda: rs.encode([d[0]] * 5)), (TypeError, lambda: rs.encode(7)),
        (ValueError, lambda: rs.encode([d[0], d[1], d[2], d[3], d[4], odd[5]])),
        (TypeError, lambda: rs.encode(arrays.array(data.astype("float32")))),
        (TypeError, lambda: rs.encode(arrays.array(data.astype("uint16")))),
        (TypeError, lambda: rs.encode([None, *data[1:]])),
        (gfk.InvalidSize, lambda: gfk.RS(6, 3, 16).encode(odd)),
        (ValueError, lambda: rs.verify(odd, p)), (ValueError, lambda: rs.locate(odd, p)),
        (ValueError, lambda: rs.decode(odd, p, [0])), (ValueError, lambda: rs.decode(d, odd, [0])),
        (gfk.TooManyErasures, lambda: rs.decode(d, p, [0, 1, 2, 3])),
        (gfk.TooManyErasures, lambda: rs.decoder([0, 1, 2, 3])),
        (gfk.InvalidArgument, lambda: rs.decode(d, p, [9])),
        (gfk.InvalidArgument, lambda: rs.decode(d, p, [-1])),
        (gfk.InvalidArgument, lambda: rs.decode(d, p, [1, 1])),
        (gfk.InvalidArgument, lambda: rs.decode(d, p, [1], wanted=[2])),
        (TypeError, lambda: rs.decode(d, p, ["a"])), (TypeError, lambda: rs.decode(d, p, 1)),
        (gfk.InvalidArgument, lambda: rs.decoder([1], wanted=[2])),
        (gfk.InvalidArgument, lambda: rs.update(6, d[0], d[0], p)),
        (gfk.InvalidArgument, lambda: rs.updater(6)),
        (ValueError, lambda: rs.delta(d[0], odd[0])),
    ]:
        with pytest.raises(error):
            call()
    if arrays.is_immutable:
        return
    for error, call in [
        (ValueError, lambda: rs.encode(d, out=p[:2])), (ValueError, lambda: rs.encode(d, out=d[:3, :100])),
        (gfk.Overlap, lambda: rs.encode(d, out=d[:3])),
        (gfk.Overlap, lambda: rs.decode(d, p, [0], out=[d[1]])),
        (gfk.Overlap, lambda: rs.decode(d, p, [0], out=[p[2]])),  # a region that is not read
        (gfk.Overlap, lambda: rs.update(0, d[0], d[0], [d[0], p[0], p[1]])),
        (ValueError, lambda: rs.decode(d, p, [0], out=[d[0], d[1]])),
        (ValueError, lambda: rs.update(0, d[0], odd[0], p)),
        (ValueError, lambda: rs.update(0, d[0], d[0], odd[:3])),
        (ValueError, lambda: rs.apply_delta(0, odd[0], p)), (gfk.Overlap, lambda: rs.delta(d[0], d[0], d[0])),
        (TypeError, lambda: rs.verify(d, p, out=d[0, :4])),
        (ValueError, lambda: rs.verify(d, p, out=arrays.array(numpy.zeros(2, "int32")))),
    ]:
        with pytest.raises(error):
            call()
    assert (arrays.numpy(d) == data).all() and (arrays.numpy(p) == parity).all()


def test_read_only_arrays_are_not_written(stripe):
    rs, data, parity = stripe
    data, parity = data.copy(), parity.copy()
    data[0, 0] ^= 1
    data.flags.writeable = parity.flags.writeable = False
    rs.locate(data, parity)
    for call in (lambda: rs.encode(data, parity), lambda: rs.update(0, data[0], data[0], parity),
                 lambda: rs.locate(data, parity, repair=True),
                 lambda: rs.decode(data, parity, [0], out=data[:1]), lambda: rs.batch([(data, parity)])):
        with pytest.raises(ValueError, match="read-only"):
            call()


def test_jax_arrays_are_not_written(stripe):
    jax = pytest.importorskip("jax")
    rs, data, parity = stripe
    d, p = jax.numpy.array(data), jax.numpy.array(parity)
    for call in (lambda: rs.update(0, d[0], d[1], p), lambda: rs.apply_delta(0, d[0], p),
                 lambda: rs.encode(d, p), lambda: rs.locate(d, p, repair=True),
                 lambda: rs.updater(0).run(d[0], d[1], p)):
        with pytest.raises(TypeError, match="immutable.*numpy"):
            call()
    assert (numpy.array(p) == parity).all()


def test_arrays_in_two_places(stripe, fake_cuda):
    rs, data, parity = stripe
    for call in (lambda: rs.encode(data, fake_cuda(parity)), lambda: rs.verify(data, fake_cuda(parity)),
                 lambda: rs.decode(data, fake_cuda(parity), [0]),
                 lambda: rs.update(0, data[0], fake_cuda(data[0]), parity),
                 lambda: rs.batch([(data, parity), (fake_cuda(data), fake_cuda(parity))])):
        with pytest.raises(gfk.WrongDevice):
            call()


def test_a_build_without_cuda(stripe, fake_cuda, no_cuda):
    rs, data, parity = stripe
    d, p = fake_cuda(data), fake_cuda(parity)
    for call in (lambda: rs.encode(d, p), lambda: rs.decode(d, p, [0], out=p), lambda: rs.prepare("cuda:0"),
                 lambda: rs.info("cuda:0"), lambda: gfk.RS(6, 3, family="prmt"), lambda: rs.batch([(d, p)]),
                 lambda: gfk.RS(6, 3, engine="host_w8").encode(d, p)):
        with pytest.raises((gfk.NotSupported, gfk.NoDevice, ValueError)):
            call()


# ---- damaged regions -----------------------------------------------------------------------------------
def test_verify(arrays, stripe):
    rs, data, parity = stripe
    d, p = arrays.array(data), arrays.array(parity)
    assert rs.verify(d, p) is True
    for damaged, other, order in [(data, parity, 1), (parity, data, -1)]:
        changed = damaged.copy()
        changed[-1, -1] ^= 1
        assert rs.verify(*(arrays.array(changed), arrays.array(other))[::order]) is False
        if not arrays.is_immutable:
            word = arrays.array(numpy.full(1, 77, "int32"))
            assert rs.verify(*(arrays.array(changed), arrays.array(other))[::order], out=word) is word
            assert arrays.numpy(word)[0] == 1
            assert arrays.numpy(rs.verify(d, p, out=word))[0] == 0


@given(st.sampled_from([8, 16, 32]), st.data())
def test_locate(arrays, w, choice):
    rs = gfk.RS(6, 4, w)
    assert rs.info().locatable == 2
    word = elements(w, (10, 64))
    word[6:] = product(rs, word[:6])
    positions = st.tuples(st.integers(0, 9), st.integers(0, 63))
    errors = choice.draw(st.dictionaries(positions, st.integers(1, 2**w - 1), max_size=8))
    damaged, counts = word.copy(), numpy.zeros(10, "uint64")
    columns = {}
    for (region, position), error in errors.items():
        if columns.setdefault(position, 0) < 2:
            columns[position] += 1
            damaged[region, position] ^= error
            counts[region] += 1
    d, p = arrays.array(damaged[:6]), arrays.array(damaged[6:])
    found = rs.locate(d, p)
    assert (found.corrupt, found.located, found.unexplained) == (len(columns), len(columns), 0)
    assert found.first_corrupt == (min(columns) * w // 8 if columns else None)
    assert found.counts.dtype == "uint64" and (found.counts == counts).all()
    assert (arrays.numpy(d) == damaged[:6]).all(), "locate only reads"
    if not arrays.is_immutable:
        assert (rs.locate(d, p, repair=True).counts == counts).all()
        assert (numpy.concatenate([arrays.numpy(d), arrays.numpy(p)]) == word).all()


def test_locate_says_what_it_cannot_explain(stripe):
    rs, data, parity = stripe  # one wrong symbol per position can be named
    damaged = data.copy()
    damaged[:3, 7] ^= numpy.array([1, 2, 4], "uint8")
    damaged[1, 150] ^= 1
    found = rs.locate(damaged, parity)
    assert found.corrupt == 2 and found.first_corrupt == 7 and found.located + found.unexplained == 2
    assert repr(found).startswith("gfk.Located(corrupt=2, ") and "1: " in repr(found)
    assert "first_corrupt=None, regions={}" in repr(rs.locate(data, parity))
    with pytest.raises(gfk.NotSupported):
        gfk.RS(6, 1).locate(data, data[:1])


# ---- changed regions -----------------------------------------------------------------------------------
@given(codes(), st.data())
def test_update(cpu_arrays, rs, choice):
    arrays, w = cpu_arrays, rs.field.w
    data, new = elements(w, (rs.k, 50), 1), elements(w, 50, 2)
    index = choice.draw(st.integers(0, rs.k - 1))
    old, changed = product(rs, data), data.copy()
    changed[index] = new
    expected = product(rs, changed)
    before, after = arrays.array(data[index]), arrays.array(new)
    delta = rs.delta(before, after)
    assert (arrays.numpy(delta) == data[index] ^ new).all()
    if arrays.is_immutable:
        return
    updater = rs.updater(index)
    assert updater.index == index
    for call in (lambda p: rs.update(index, before, after, p), lambda p: rs.apply_delta(index, delta, p),
                 lambda p: updater.run(before, after, p), lambda p: updater.apply(delta, p)):
        parity = arrays.array(old)
        assert call(parity) is None
        assert (arrays.numpy(parity) == expected).all()
    parity = [arrays.array(row) for row in old]
    rs.update(index, before, after, parity)
    assert all((arrays.numpy(a) == b).all() for a, b in zip(parity, expected))
    assert (arrays.numpy(before) == data[index]).all() and (arrays.numpy(after) == new).all()
    assert rs.delta(before, after, out=before) is before
    assert (arrays.numpy(before) == arrays.numpy(delta)).all()


def test_update_of_a_part(stripe):
    rs, data, parity = stripe
    changed, parity = data.copy(), parity.copy()
    changed[2, 30:60] ^= 0xFF
    rs.update(2, data[2, 30:60], changed[2, 30:60], parity[:, 30:60])
    assert (parity == product(rs, changed)).all()


# ---- batches -------------------------------------------------------------------------------------------
def test_batch(arrays):
    rs = gfk.RS(5, 3)
    words = [elements(8, (8, length), length) for length in (1, 40, 333, 16, 0)]
    for word in words:
        word[5:] = product(rs, word[:5])
    losses = [[0], [7, 2], [4, 1, 6], [5], [3, 0]]
    stripes, expected = [], []
    for word, lost in zip(words, losses):
        rows = [arrays.array(row) for row in word]
        stripes.append((arrays.array(word[:5]), None))
        expected.append(word[5:])
        stripes.append((without(rows[:5], lost), without(rows[5:], lost, 5), lost))
        expected.append(word[lost])
    in_place = []
    if not arrays.is_immutable:
        for word, lost in zip(words, losses):
            damaged = word.copy()
            damaged[lost] = 1
            d, p = arrays.array(damaged[:5]), arrays.array(damaged[5:])
            stripes.append((d, p, lost, [d[i] if i < 5 else p[i - 5] for i in lost]))
            stripes.append((arrays.array(word[:5]), arrays.array(numpy.zeros_like(word[5:]))))
            in_place.append((word, d, p, stripes[-1][1]))
    batch = rs.batch(iter(stripes))
    assert len(batch) == len(stripes) and set(batch.statuses) == {gfk.Status.SUCCESS}
    del stripes[:10]
    gc.collect()  # the batch keeps what it needs
    for _ in range(2):
        results = batch.run()
        assert results is batch.results and len(results) == len(batch)
        assert all((arrays.numpy(a) == b).all() for a, b in zip(results, expected))
    for word, d, p, parity in in_place:
        assert (arrays.numpy(d) == word[:5]).all() and (arrays.numpy(p) == word[5:]).all()
        assert (arrays.numpy(parity) == word[5:]).all()


def test_a_batch_runs_again_on_new_data(stripe):
    rs, data, _ = stripe
    data, parity = data.copy(), numpy.zeros((3, 200), "uint8")
    batch = rs.batch([(data, parity)])
    data[:] = elements(8, (6, 200), 5)
    assert batch.run()[0] is parity
    assert (parity == product(rs, data)).all()


def test_a_batch_keeps_the_memory_of_tensors(stripe):
    """`x.data = y` and set_ give a tensor other memory: the batch works on the memory that it was made for."""
    torch = pytest.importorskip("torch")
    rs, data, parity = stripe
    size = 1 << 20  # memory of this size goes back to the system when it is freed
    large = numpy.tile(data, (1, size // 200))
    x = torch.nn.Parameter(torch.from_numpy(large).clone(), requires_grad=False)
    rows = [torch.nn.Parameter(row.clone(), requires_grad=False) for row in torch.from_numpy(large)]
    batch = rs.batch([(x, None), (rows, None)])
    x.data = torch.zeros(6, 8, dtype=torch.uint8)
    for row in rows:
        row.set_(torch.zeros(8, dtype=torch.uint8))
    gc.collect()
    for made in batch.run():
        assert (made.numpy() == numpy.tile(parity, (1, size // 200))).all()


def test_a_batch_refuses_tensors_that_were_resized(stripe):
    torch = pytest.importorskip("torch")
    rs, data, parity = stripe
    x, p = torch.from_numpy(data).clone(), torch.zeros(3, 200, dtype=torch.uint8)
    batch = rs.batch([(x, p)])
    batch.run()
    x.resize_(6, 1 << 20)
    with pytest.raises(ValueError, match=r"other memory .* \(resize_ does that\): make a new batch"):
        batch.run()


def test_bad_stripes(stripe):
    rs, data, parity = stripe
    good = (data, None)
    for error, bad in [(gfk.TooManyErasures, (data, parity, [0, 1, 2, 3])), (gfk.Overlap, (data, data[:3])),
                       (gfk.InvalidArgument, (without(data, [1]), parity, [0]))]:
        with pytest.raises(error, match="stripe 1 "):
            rs.batch([good, bad, bad])
        batch = rs.batch([good, bad, good], statuses=True)
        assert batch.statuses == [gfk.Status.SUCCESS, error.status, gfk.Status.SUCCESS]
        assert (batch.run()[2] == parity).all()
    for error, bad in [(TypeError, (data,)), (TypeError, 7), (TypeError, (data, parity, [0], None, None)),
                       (ValueError, (data[:5], parity)), (gfk.InvalidArgument, (data, parity, [9]))]:
        with pytest.raises(error) as caught:
            rs.batch([good, bad])
        assert caught.value.__notes__ == ["of stripe 1 of the batch"]
    assert rs.batch([]).run() == ()


def test_stripes_that_write_the_same_memory(stripe):
    rs, data, parity = stripe
    p, word = parity.copy(), numpy.zeros((5, 200), "uint8")
    first = (data, p)
    for other in (first, (data, list(p[::-1])), (data, parity, [0], p[1:2]),
                  (data, parity, [7, 2], [word[0], p[2]])):
        for statuses in (False, True):
            with pytest.raises(gfk.Overlap, match="stripes 0 and 2 of the batch write the same memory"):
                rs.batch([first, (data, None), other], statuses=statuses)
    with pytest.raises(gfk.Overlap, match="stripes 0 and 1 "):  # by one byte
        flat = numpy.zeros(1200, "uint8")
        rs.batch([(data, flat[:600].reshape(3, 200)), (data, flat[599:1199].reshape(3, 200))])
    made = rs.batch([first, (data, word[:3]), (data, parity, [0], word[3:4])]).run()
    assert (made[1] == parity).all() and (made[2] == data[:1]).all()


@pytest.mark.parametrize("counts, message", [
    ((0, 1), "k is 0: a code has one data region and one parity region at least"),
    ((1, 0), "m is 0: a code"),
    ((2**63, 2**63, 32), "k is 9223372036854775808 and m is 9223372036854775808: .* k . m is 2.32 at most"),
    ((2**64 - 1, 2, 32), "k is 18446744073709551615 and m is 2"),
    ((200, 57), "k is 200 and m is 57: .* 2.8 at most")])
def test_counts_that_no_code_has(counts, message):
    for call in (lambda: gfk.RS(*counts), lambda: gfk.rs_matrix("cauchy", *counts)):
        with pytest.raises(gfk.InvalidArgument if 0 in counts else gfk.InvalidSize, match=message):
            call()


def test_messages_about_indices(stripe):
    rs, data, parity = stripe
    for call in (lambda: rs.decode(data, parity, [0], wanted=[0, 1]), lambda: rs.decoder([0], wanted=[0, 1])):
        with pytest.raises(gfk.InvalidArgument, match="wanted: .* only lost regions can be rebuilt"):
            call()
    for call in (lambda: rs.decode(data, parity, [True]), lambda: rs.decoder([1], wanted=[True]),
                 lambda: rs.decoder([numpy.True_]), lambda: rs.updater(False),
                 lambda: rs.update(True, data[0], data[0], parity),
                 lambda: rs.batch([(data, parity, [True])])):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(TypeError, match="lost: an integer is needed, the index of a region, not a bool"):
        rs.decoder([True])


# ---- many calls ----------------------------------------------------------------------------------------
def test_threads():
    rs = gfk.RS(6, 3)
    data = elements(8, (6, 3000))
    parity = product(rs, data)
    losses = list(itertools.combinations(range(9), 3))
    wrong = []

    def work(number):
        for lost in losses[number::8]:
            word = numpy.concatenate([data, rs.encode(data)])
            expected = word[list(lost)]
            if not (rs.decode(word[:6], word[6:], lost) == expected).all() or not rs.verify(data, parity):
                wrong.append(lost)

    in_threads(work, range(8))
    assert not wrong


class Heap(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
                 "fordblks", "keepcost")]


def test_calls_keep_no_memory(stripe):
    mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo is None:
        pytest.skip("this C library has no mallinfo2")
    mallinfo.restype = Heap
    rs, data, parity = stripe
    decoder, p = rs.decoder([1]), parity.copy()

    def calls(count):
        for i in range(count):
            rs.encode(data)
            rs.decode(without(data, [1]), list(parity), [1])
            decoder.run(data, parity)
            assert rs.verify(data, parity)
            rs.locate(data, parity)
            rs.update(i % 6, data[0], data[0], p)
            rs.batch([(data, p), (data, parity, [0])]).run()
            with pytest.raises(gfk.TooManyErasures):
                rs.batch([(data, p), (data, parity, [0, 1, 2, 3])])
            with pytest.raises(gfk.Overlap):
                rs.encode(data, out=data[:3])
        gc.collect()

    calls(100)
    tracemalloc.start()
    calls(20)
    heap, (python, _) = mallinfo(), tracemalloc.get_traced_memory()
    calls(2000)
    now = mallinfo()
    grown = now.uordblks + now.hblkhd - heap.uordblks - heap.hblkhd
    grown = max(grown, tracemalloc.get_traced_memory()[0] - python)
    tracemalloc.stop()
    assert grown < 16 * 2000, f"the calls keep {grown} bytes"  # an object takes more


# ---- more regions than a launch takes ------------------------------------------------------------------
def test_many_regions():
    rs = gfk.RS(1500, 20, 16, matrix="vandermonde")
    data = elements(16, (1500, 8))
    parity = rs.encode(data)
    lost = list(range(3, 1500, 80)) + [1510]
    assert (rs.decode(data, parity, lost) == numpy.concatenate([data, parity])[lost]).all()
