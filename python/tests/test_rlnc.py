# SPDX-License-Identifier: BSD-3-Clause
"""gfk.RLNC: coding vectors against gfk.Matrix, payloads against Field.multiply, and what decoders do."""

import gc

import gfk
import numpy
import pytest
from gfk import Outcome
from hypothesis import assume, given
from hypothesis import strategies as st
from support import in_threads, resident

SINGULAR, CORRUPT, SUCCESS = gfk.Singular.status, gfk.Corrupt.status, gfk.Status.SUCCESS


def words(random, w, *shape):
    return random.integers(0, 2**w, shape, f"uint{w}")


def expected(field, a, x):
    """a x, one multiplication of Field after the other."""
    result = numpy.zeros((len(a), *x.shape[1:]), x.dtype)
    for row, into in zip(a, result):
        for c, region in zip(row, x):
            into ^= field.multiply(int(c), numpy.ascontiguousarray(region))
    return result


# ---- coding vectors and payloads -------------------------------------------------------------------------
@given(st.sampled_from([8, 16, 32]), st.integers(1, 9), st.integers(0, 2**32 - 20), st.integers(0, 6),
       st.integers(0, 2**31), st.integers(1, 3), st.integers(0, 2**64 - 1))
def test_vectors_are_rows_of_random_matrices(w, n, first, count, generation, generations, seed):
    code = gfk.RLNC(n, 0, w, seed=seed)
    got = code.vectors(first, count, generation, generations)
    assert got.dtype == f"uint{w}"
    assert got.shape == ((generations, count, n) if generations > 1 else (count, n))
    for g, block in enumerate(got.reshape(generations, count, n)):
        for j, row in enumerate(block):
            right = gfk.Matrix.random(1, n, seed, first=first + j + ((generation + g) << 32)).to_numpy(w)[0]
            if not right.any():  # the unit vector in the place of the zero vector
                right[(first + j) % n] = 1
            assert (row == right).all()


def test_kernels_of_products():
    """A code with the id of a kernel can be made anywhere, and works on GPUs alone."""
    with pytest.raises(gfk.UnknownMethod, match="^kernel: no kernel of matmul has the id nonsense;"):
        gfk.RLNC(4, 16, kernel="nonsense")
    with pytest.raises(gfk.InvalidArgument, match="^kernel: matmul_w16/clmad is for another width than w = 8"):
        gfk.RLNC(4, 16, kernel="matmul_w16/clmad")
    with pytest.raises(ValueError, match="kernel: the text has a NUL character"):
        gfk.RLNC(4, 16, kernel="matmul_w8/clmad\0x")
    code, sources = gfk.RLNC(4, 16, kernel="matmul_w8/clmad"), numpy.zeros((4, 16), "uint8")
    for call in (lambda: code.vectors(0, 1), lambda: code.encode(sources, 0, 1), code.decoder,
                 lambda: code.recode(sources, numpy.eye(4, dtype="uint8"), 0, 1, 7),
                 lambda: code.encode(sources, 0, 1, pipeline=gfk.Pipeline(path="cpu"))):
        with pytest.raises(gfk.InvalidArgument, match="^kernel: matmul_w8/clmad runs on GPUs, and this call"):
            call()
    assert gfk.RLNC(4, 16, kernel=None).vectors(0, 1).shape == (1, 4)


def test_kinds_of_vectors():
    systematic = gfk.RLNC(5, 0, systematic=True).vectors(0, 7)
    assert (systematic[:5] == numpy.eye(5)).all() and (systematic[5:] > 1).any()
    full = gfk.RLNC(1000, 0, kind="rfc8681").vectors(0, 4)
    assert (full != 0).all(), "density threshold 15: no zeros"
    sparse = gfk.RLNC(1000, 0, kind="rfc8681", density=4).vectors(0, 4)
    assert 0.15 < (sparse != 0).mean() < 0.35
    other = gfk.RLNC(1000, 0, kind="rfc8681", seed=9).vectors(0, 4, 17)
    assert (full == other).all(), "seed and generation have no influence"
    thin = gfk.RLNC(1000, 0, density=64).vectors(0, 4)
    assert 0.2 < (thin != 0).mean() < 0.3
    assert ((thin == 0) | (thin == gfk.RLNC(1000, 0).vectors(0, 4))).all()


@given(st.sampled_from([8, 16, 32]), st.integers(1, 8), st.integers(0, 40), st.integers(0, 6),
       st.integers(1, 3), st.sampled_from([0, 1, 100]), st.booleans(),
       st.sampled_from(["2-D", "3-D", "list", "gaps", "bytes"]), st.booleans(), st.integers(0, 1 << 30))
def test_payloads(w, n, length, count, generations, density, systematic, layout, has_out, seed):
    random = numpy.random.default_rng(seed)
    field = gfk.Field(w)
    code = gfk.RLNC(n, length * w // 8, field, density=density, systematic=systematic, seed=seed, threads=1)
    sources = words(random, w, generations, n, length)
    flat = sources.reshape(generations * n, length)
    wide = numpy.zeros((generations, n + 2, length + 3), sources.dtype)
    wide[:, 1:-1, 2:-1] = sources
    layouts = {"2-D": flat, "3-D": sources, "list": list(flat), "gaps": wide[:, 1:-1, 2:-1],
               "bytes": flat.view("uint8").reshape(len(flat), length * w // 8)}
    out = numpy.zeros((generations, count + 1, length), sources.dtype)[:, :-1] if has_out else None
    payloads, vectors = code.encode(layouts[layout], 3, count, 7, generations, out=out, vectors=True)
    assert out is None or payloads is out
    if out is None:
        is_grouped = layout in ("3-D", "gaps") and n > 1
        assert payloads.shape[:-1][:2] == ((generations, count) if is_grouped else
                                           (generations * count, *payloads.shape[1:-1]))
    right = code.vectors(3, count, 7, generations).reshape(generations, count, n)
    assert (vectors.reshape(right.shape) == right).all()
    got = numpy.ascontiguousarray(payloads).view(sources.dtype).reshape(generations, count, length)
    for g in range(generations):
        assert (got[g] == expected(field, right[g], sources[g])).all()
    if out is None:
        again = code.encode(layouts[layout], 3, count, 7, generations)
        assert (again == payloads).all()


# ---- packets on their way --------------------------------------------------------------------------------
@given(st.sampled_from([8, 16, 32]), st.integers(1, 9), st.integers(1, 20), st.integers(1, 3),
       st.sampled_from([("philox", 0), ("philox", 80), ("rfc8681", 0), ("rfc8681", 6)]), st.booleans(),
       st.integers(0, 1 << 30))
def test_losses_and_two_recoders(w, n, length, generations, kind, systematic, seed):
    """Encode, lose packets, recode twice, decode."""
    assume(w == 8 or kind[0] == "philox")
    random = numpy.random.default_rng(seed)
    code = gfk.RLNC(n, length * w // 8, w, kind=kind[0], density=kind[1], systematic=systematic, seed=seed,
                    threads=1)
    sources = words(random, w, generations, n, length)
    count = 4 * n + 8
    payloads, vectors = code.encode(sources, 0, count, 5, generations, vectors=True)
    payloads, vectors = payloads.reshape(generations, count, length), vectors.reshape(generations, count, n)
    arrived = numpy.sort(random.permutation(count)[:3 * n + 6])
    direct = code.decoder(5, generations)
    numbers, names = arrived[None], numpy.arange(5, 5 + generations)[:, None]
    outcomes = direct.add(numbers, payloads[:, arrived], generations=names)
    assert outcomes.shape == (generations, len(arrived))
    got = [(payloads[:, arrived], vectors[:, arrived].copy())]
    for recoder in (1, 2):
        got.append(code.recode(got[-1][0], got[-1][1], 10, n + 6, recoder, 5, generations))
        assert got[-1][1].shape == (generations, n + 6, n) or generations == 1
    recoded = code.decoder(5, generations, spare=2)
    outcomes = recoded.add(None, got[2][0], got[2][1], names)
    ranks = [record.rank for record in recoded.records()]
    for g in range(generations):
        rows = got[2][1].reshape(generations, n + 6, n)[g].copy()
        innovative = outcomes.reshape(generations, -1)[g] == Outcome.INNOVATIVE
        assert ranks[g] == gfk.rank(rows, field=w) == innovative.sum()
        right = expected(gfk.Field(w), rows, sources[g])
        assert (got[2][0].reshape(generations, n + 6, length)[g] == right).all(), "payloads fit the vectors"
    for decoder in (direct, recoded):
        result, decoded = decoder.decode()
        result, decoded = result.reshape(sources.shape), decoded.reshape(generations, n)
        assert result.dtype == sources.dtype and decoded.dtype == bool
        assert (result[decoded] == sources[decoded]).all()
        assert decoder.rank == sum(record.rank for record in decoder.records())
        assert decoder.complete == decoded.all() == (decoder.rank == generations * n)
        for g, record in enumerate(decoder.records()):
            assert record.generation == 5 + g and record.determined == decoded[g].sum()
            assert record.status == (SUCCESS if record.rank == n else SINGULAR)
            if record.rank == n:
                assert decoded[g].all()


@pytest.mark.parametrize("w", [8, 16])
def test_frameworks(arrays, random, w):
    n, generations, length = 5, 2, 24
    code = gfk.RLNC(n, length * w // 8, w)
    sources = words(random, w, generations, n, length)
    payloads, vectors = code.encode(arrays.array(sources), 0, n + 2, 0, generations, vectors=True)
    assert arrays.numpy(payloads).shape == (generations, n + 2, length)
    right = code.vectors(0, n + 2, 0, generations)
    assert (arrays.numpy(vectors) == right).all()
    assert (arrays.numpy(code.vectors(0, n + 2, 0, generations, like=payloads)) == right).all()
    payloads, vectors = code.recode(payloads, vectors, 0, n + 3, 77, 0, generations)
    decoder = code.decoder(0, generations, spare=1, like=payloads)
    outcomes = decoder.add(None, payloads, vectors, [[0], [1]])
    assert isinstance(outcomes, numpy.ndarray) and outcomes.tolist() == [[1] * n + [2, 3, 3]] * 2
    result, decoded = decoder.decode()
    assert arrays.numpy(decoded).all() and (arrays.numpy(result) == sources).all()
    listed = [arrays.array(row) for row in sources.reshape(-1, length)]
    assert (arrays.numpy(code.encode(listed, 0, n, 0, generations)).reshape(generations, n, length)
            == arrays.numpy(code.encode(arrays.array(sources), 0, n, 0, generations))).all()
    if arrays.is_immutable:
        with pytest.raises(TypeError, match="immutable"):
            decoder.decode(payloads)
        return
    decoder.reset(8)
    assert (decoder.generation, decoder.generations, decoder.rank) == (8, 2, 0)
    out = arrays.array(numpy.full((generations, n + 3), 99, "uint8"))
    assert decoder.add(None, payloads, vectors, [[9], [8]], out=out) is out
    assert arrays.numpy(out).tolist() == outcomes.tolist()
    result = arrays.array(numpy.zeros((generations * n, length), sources.dtype))
    returned, decoded = decoder.decode(result, check=False)
    assert returned is result and arrays.numpy(decoded).shape == (generations * n,)
    assert (arrays.numpy(result).reshape(sources.shape) == sources[::-1]).all()


# ---- decoders --------------------------------------------------------------------------------------------
def test_sources_that_are_determined_early(random):
    """A systematic packet is a source; the others stay as they were."""
    code = gfk.RLNC(4, 16, systematic=True)
    sources = words(random, 8, 4, 16)
    packets = code.encode(sources, 0, 8)
    decoder = code.decoder()
    assert decoder.add(2, packets[2:3]).tolist() == [Outcome.INNOVATIVE]
    out = numpy.full((4, 16), 7, "uint8")
    for _ in range(2):
        result, decoded = decoder.decode(out)
        assert decoded.tolist() == [False, False, True, False] and (out[2] == sources[2]).all()
        assert (out[[0, 1, 3]] == 7).all() and not decoder.complete
    assert decoder.records() == [(0, SINGULAR, 1, 0, 0, 0, 1)]
    decoder.add([4, 5, 6], list(packets[4:7]))
    result, decoded = decoder.decode()
    assert decoded.all() and (result == sources).all() and decoder.complete


def test_dependent_packets(random):
    code = gfk.RLNC(3, 8)
    sources = words(random, 8, 3, 8)
    packets = code.encode(sources, 0, 6)
    decoder = code.decoder(spare=1)
    outcomes = decoder.add([0, 0, 1, 1, 2, 3], packets[[0, 0, 1, 1, 2, 3]])
    assert outcomes.dtype == "uint8"
    assert [Outcome(x).name for x in outcomes] == ["INNOVATIVE", "DEPENDENT", "INNOVATIVE", "DROPPED",
                                                   "INNOVATIVE", "DROPPED"]
    record = decoder.records()[0]
    assert (record.rank, record.kept, record.dropped) == (3, 1, 2)
    assert (decoder.decode()[0] == sources).all()


@pytest.mark.parametrize("w", [8, 16, 32])
def test_changed_packets_are_noticed(random, w):
    code = gfk.RLNC(4, 16, w)
    sources = words(random, w, 3, 4, 128 // w)
    packets = code.encode(sources, 0, 6, 0, 3)
    packets[1, 2, 1] ^= 1
    decoder = code.decoder(0, 3, spare=2)
    decoder.add(range(6), packets, generations=[[0], [1], [2]])
    with pytest.raises(gfk.Corrupt, match="generation 1"):
        decoder.decode()
    result, decoded = decoder.decode(check=False)
    assert decoded.all() and (result[[0, 2]] == sources[[0, 2]]).all() and (result[1] != sources[1]).any()
    assert [record.status for record in decoder.records()] == [SUCCESS, CORRUPT, SUCCESS]
    decoder.reset(0)
    decoder.add(range(6), code.encode(sources, 0, 6, 0, 3), generations=[[0], [1], [2]])
    assert (decoder.decode()[0] == sources).all(), "nothing of the changed packet is left"
    barely = code.decoder()
    barely.add(range(4), packets[1, :4].copy())
    barely.decode()  # from exactly n packets nothing can be noticed


def test_hostile_headers(random):
    code = gfk.RLNC(3, 8)
    packets = code.encode(words(random, 8, 3, 8), 0, 4, 10)
    decoder = code.decoder(10)
    for wrong in (-1, 2**32, 2**64, [0, 1, 2, -1]):
        count = len(wrong) if isinstance(wrong, list) else 1
        with pytest.raises((gfk.InvalidArgument, TypeError)):
            decoder.add(wrong, packets[:count])
        with pytest.raises((gfk.InvalidArgument, TypeError)):
            decoder.add(0, packets[:1], generations=-1)
    with pytest.raises((gfk.InvalidArgument, TypeError)):
        decoder.add(0, packets[:1], generations=2**64)
    for wrong in (0.0, "0", None, [[0], [1, 2]], b"0"):
        with pytest.raises((TypeError, ValueError)):
            decoder.add(wrong, packets[:1])
    with pytest.raises(ValueError):
        decoder.add([0, 1, 2], packets[:3], generations=[10, 11])
    outcomes = decoder.add([0] * 5, packets[[0] * 5], generations=[9, 11, 0, 2**64 - 1, 10])
    assert outcomes.tolist() == [Outcome.REFUSED] * 4 + [Outcome.INNOVATIVE]
    outcomes = decoder.add(None, packets[:2], numpy.zeros((2, 3), "uint8"))
    assert outcomes.tolist() == [Outcome.REFUSED] * 2
    assert decoder.records()[0].refused == 2 and decoder.rank == 1
    assert decoder.add([], packets[:0]).shape == (0,)
    assert decoder.add([], []).shape == (0,)
    last = code.decoder(2**64 - 1)
    assert last.add(2**32 - 1, packets[:1]).tolist() == [Outcome.INNOVATIVE]
    with pytest.raises(gfk.InvalidSize):
        code.decoder(2**64 - 1, 2)
    with pytest.raises(gfk.InvalidSize):
        last_of_two = code.decoder(0, 2)
        last_of_two.reset(2**64 - 1)


def test_decoders_refuse(random):
    code = gfk.RLNC(3, 8, 16)
    sources = words(random, 16, 3, 4)
    packets, vectors = code.encode(sources, 0, 4, vectors=True)
    decoder = code.decoder()
    for payloads, error in ((packets[:3], ValueError), (packets[:, :3].copy(), ValueError),
                            (packets.astype("uint32"), TypeError),
                            (list(packets[:3]), ValueError), (None, TypeError), (packets[0], ValueError),
                            (packets.T.copy().T, ValueError)):
        with pytest.raises(error):
            decoder.add(range(4), payloads)
    for rows, error in ((vectors[:3], ValueError), (vectors[:, :2], ValueError),
                        (vectors.view("uint8"), TypeError), (list(vectors), TypeError)):
        with pytest.raises(error):
            decoder.add(range(4), packets, rows)
    for out, error in ((numpy.empty(3, "uint8"), ValueError), (numpy.empty(4, "uint16"), TypeError),
                       (bytes(4), ValueError)):
        with pytest.raises(error):
            decoder.add(range(4), packets, out=out)
    with pytest.raises(gfk.Overlap):
        decoder.add(range(4), packets, out=packets.view("uint8")[0, :4])
    assert decoder.rank == 0
    for out, error in ((sources[:2], ValueError), (sources[:, :2].copy(), ValueError),
                       (bytes(24), ValueError), ([sources[0], sources[0], sources[1]], gfk.Overlap)):
        with pytest.raises(error):
            decoder.decode(out)
    with pytest.raises(TypeError, match="generation of each packet"):
        code.decoder(0, 2).add(range(4), packets)
    with pytest.raises(gfk.InvalidArgument):
        code.decoder(0, 0)
    with pytest.raises((gfk.OutOfMemory, gfk.InvalidSize)):
        code.decoder(0, 2**60)
    with pytest.raises(gfk.InvalidArgument, match="spare: .* not -1"):
        code.decoder(spare=-1)


def test_codes_refuse(random):
    for arguments, error in (((0, 8), gfk.InvalidArgument), ((65537, 8), gfk.InvalidSize),
                             ((3, 7, 16), gfk.InvalidSize), ((3, 8, 7), gfk.NotSupported),
                             ((-1, 8), gfk.InvalidArgument)):
        with pytest.raises(error):
            gfk.RLNC(*arguments)
    for options, error in (({"kind": "lt"}, ValueError), ({"density": 257}, gfk.InvalidArgument),
                           ({"kind": "rfc8681", "density": 17}, gfk.InvalidArgument),
                           ({"seed": -1}, gfk.InvalidArgument), ({"kind": "rfc8681", "field": 16}, gfk.NotSupported)):
        with pytest.raises(error):
            gfk.RLNC(3, 8, **options)
    code = gfk.RLNC(3, 8)
    assert (code.n, code.bytes, code.field) == (3, 8, gfk.Field())
    sources = words(random, 8, 3, 8)
    for wrong, error in ((sources[:2], ValueError), (sources[:, :7].copy(), ValueError),
                         (sources.astype("uint16"), TypeError)):
        with pytest.raises(error):
            code.encode(wrong, 0, 2)
    with pytest.raises(gfk.InvalidSize):
        code.encode(sources, 2**32 - 1, 2)
    with pytest.raises(gfk.InvalidSize):
        code.vectors(0, 1, 2**64 - 1, 2)
    with pytest.raises((gfk.InvalidSize, ValueError)):
        code.vectors(0, 2**40)
    with pytest.raises(gfk.Overlap):
        code.encode(sources, 0, 2, out=sources[:2])
    with pytest.raises(ValueError, match="2 x 3 elements are needed"):
        code.encode(sources, 0, 2, vectors=numpy.empty((3, 3), "uint8"))
    payloads, vectors = code.encode(sources, 0, 4, vectors=True)
    for arguments in ((payloads[:3], vectors), (payloads, vectors[:, :2]), (payloads[:, :4].copy(), vectors)):
        with pytest.raises(ValueError):
            code.recode(*arguments, 0, 2, 1)
    with pytest.raises(ValueError):
        code.recode(payloads[:3], vectors[:3], 0, 2, 1, 0, 2)
    with pytest.raises(TypeError, match="tuple"):
        code.recode(payloads, vectors, 0, 2, 1, out=payloads)
    with pytest.raises(gfk.Overlap):
        code.recode(payloads, vectors, 0, 2, 1, out=(payloads[:2], vectors[:2]))
    outs = numpy.empty((2, 8), "uint8"), numpy.empty((2, 5), "uint8")[:, :3]
    result = code.recode(payloads, vectors, 0, 2, 1, out=outs)
    assert result[0] is outs[0] and result[1] is outs[1]
    assert (outs[0] == expected(code.field, outs[1], sources)).all()


def test_vectors_alone():
    """A code of no bytes decides which packets to send."""
    code = gfk.RLNC(3, 0)
    decoder = code.decoder()
    assert decoder.add(range(4), numpy.empty((4, 0), "uint8")).tolist() == [1, 1, 1, 3]
    assert decoder.complete and decoder.decode()[1].all()


def test_places(fake_cuda, no_cuda, random):
    code, sources = gfk.RLNC(2, 8), words(random, 8, 2, 8)
    away, away_vectors = fake_cuda(sources.copy()), fake_cuda(words(random, 8, 2, 2))
    payloads, vectors = code.encode(sources, 0, 2, vectors=True)
    decoder = code.decoder()
    away_outcomes = fake_cuda(numpy.empty(2, "uint8"))
    for call in (lambda: code.encode(sources, 0, 2, out=away),
                 lambda: code.encode(sources, 0, 2, vectors=away_vectors),
                 lambda: code.recode(away, vectors, 0, 2, 1),
                 lambda: code.recode(payloads, away_vectors, 0, 2, 1),
                 lambda: decoder.add([0, 1], away), lambda: decoder.add(None, payloads, away_vectors),
                 lambda: decoder.add([0, 1], payloads, out=away_outcomes), lambda: decoder.decode(away)):
        with pytest.raises(gfk.WrongDevice):
            call()
    for call in (lambda: code.encode(away, 0, 2, out=fake_cuda(sources.copy())),
                 lambda: code.vectors(0, 2, out=away_vectors),
                 lambda: code.decoder(device="cuda:0"), lambda: code.decoder(like=away)):
        with pytest.raises((gfk.NotSupported, TypeError)):
            call()
    assert decoder.rank == 0 and decoder.device == "cpu"


# ---- objects and memory ----------------------------------------------------------------------------------
def test_a_decoder_keeps_its_code(random):
    sources = words(random, 8, 4, 100)
    code = gfk.RLNC(4, 100)
    packets, decoder = code.encode(sources, 0, 5), code.decoder()
    del code
    gc.collect()
    decoder.add(range(5), packets)
    assert (decoder.decode()[0] == sources).all()


def test_many_decoders(random):
    n = 16
    code, sources = gfk.RLNC(n, 64, threads=2), words(random, 8, n, 64)
    packets = code.encode(sources, 0, 8 * n)

    def work(first):
        for i in range(8):
            decoder = code.decoder(spare=1)
            numbers = numpy.arange(first + i, first + i + n + 3)
            decoder.add(numbers, packets[numbers])
            assert (decoder.decode()[0] == sources).all() or not decoder.complete

    in_threads(work, range(0, 6 * n, n))


def test_many_threads_at_one_decoder(random):
    """The calls on a decoder come one after the other: of 4 n different packets n are innovative."""
    n = 64
    code, sources = gfk.RLNC(n, 512, 16, threads=1), words(random, 16, n, 256)
    packets = code.encode(sources, 0, 4 * n)
    for _ in range(5):
        decoder, outcomes = code.decoder(spare=3 * n), []

        def work(first):
            for i in range(first, first + n, 4):
                outcomes.append(decoder.add(range(i, i + 4), packets[i:i + 4]))
                decoder.decode()

        in_threads(work, range(0, 4 * n, n))
        assert (numpy.concatenate(outcomes) == Outcome.INNOVATIVE).sum() == n == decoder.rank
        assert decoder.records()[0].kept == 3 * n and (decoder.decode()[0] == sources).all()


def test_memory_does_not_grow(random):
    code = gfk.RLNC(4, 20000, threads=1)
    sources = words(random, 8, 4, 20000)
    kept = code.decoder(spare=1)

    def calls(count):
        for _ in range(count):
            payloads, vectors = code.encode(sources, 0, 5, vectors=True)
            payloads, vectors = code.recode(payloads, list(vectors) and vectors, 0, 5, 1)
            decoder = code.decoder(spare=1)
            decoder.add(None, payloads, vectors)
            decoder.decode()
            decoder.records()
            kept.reset()
            kept.add(None, list(payloads), vectors)
            kept.decode()
            with pytest.raises(ValueError):
                kept.add([0], payloads)

    calls(20)
    before = resident()
    calls(230)
    assert resident() - before < 4 << 20
