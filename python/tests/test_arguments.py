# SPDX-License-Identifier: BSD-3-Clause
"""What messages say about arguments, objects that pickle and copy by their arguments, and buffers of bytes."""

import concurrent.futures
import copy
import ctypes
import multiprocessing
import pickle

import gfk
import numpy
import pytest

DATA = numpy.arange(64, dtype=numpy.uint8).reshape(4, 16)


# ---- integers -----------------------------------------------------------------------------------------
CODE, RLNC, PIPELINE = gfk.RS(4, 2), gfk.RLNC(4, 16), gfk.Pipeline(path="cpu")
DECODER = RLNC.decoder()
MOST = {32: r"2\^32 - 1", 64: r"2\^64 - 1"}
# (argument, call, regular expression of its range)
INTEGERS = [
    ("k", lambda n: gfk.RS(n, 4), "from 1 to 255"), ("m", lambda n: gfk.RS(4, n, 16), "from 1 to 65535"),
    ("k", lambda n: gfk.rs_matrix("cauchy", n, 4), "from 1 to 255"),
    ("expected_bytes", lambda n: gfk.RS(2, 1, expected_bytes=n), MOST[64]),
    ("table_limit", lambda n: gfk.Product([[1]], table_limit=n), MOST[64]),
    ("table_limit", lambda n: gfk.Multiplier(table_limit=n), MOST[64]),
    ("lost", lambda n: CODE.decode(DATA, DATA[:2], [n]), "0 to 5"), ("index", CODE.updater, "0 to 3"),
    ("exponent", lambda n: gfk.Field().power(3, n), MOST[32]), ("polynomial", lambda n: gfk.Field(8, n), MOST[64]),
    ("c", lambda n: gfk.multiply(n, DATA), r"from 0 to 2\^8 - 1"),
    ("a", lambda n: gfk.Field().inverse(n), r"2\^8 - 1"),
    ("rows", lambda n: gfk.Matrix.cauchy(n, 2), "from 1"), ("cols", lambda n: gfk.Matrix.random(2, n), "from 1"),
    ("first", lambda n: gfk.Matrix.par2(2, 2, first=n), MOST[64]),
    ("seed", lambda n: gfk.Matrix.random(2, 2, n), MOST[64]),
    ("threads", lambda n: gfk.matmul(DATA[:, :4], DATA, threads=n), MOST[32]),
    ("threads", lambda n: gfk.rank(DATA, threads=n), MOST[32]),
    ("threads", lambda n: gfk.invert(DATA[:, :4], threads=n), MOST[32]),
    ("n", lambda n: gfk.RLNC(n, 16), "from 1 to 65536"), ("n", lambda n: gfk.RLNC(n, 16, kind="rfc8681"), "65535"),
    ("bytes", lambda n: gfk.RLNC(4, n), MOST[64]),
    ("density", lambda n: gfk.RLNC(4, 16, density=n), "from 0 to 256"),
    ("density", lambda n: gfk.RLNC(4, 16, kind="rfc8681", density=n), "from 0 to 16"),
    ("seed", lambda n: gfk.RLNC(4, 16, seed=n), MOST[64]),
    ("threads", lambda n: gfk.RLNC(4, 16, threads=n), MOST[32]),
    ("first", lambda n: RLNC.vectors(n, 1), MOST[32]), ("count", lambda n: RLNC.vectors(0, n), "from 0"),
    ("generation", lambda n: RLNC.encode(DATA, 0, 1, n), MOST[64]),
    ("generations", lambda n: RLNC.encode(DATA, 0, 1, 0, n), "from 0"),
    ("seed", lambda n: RLNC.recode(DATA, DATA[:, :4], 0, 1, n), MOST[64]),
    ("generation", lambda n: RLNC.decoder(n), MOST[64]), ("generations", lambda n: RLNC.decoder(0, n), "from 1"),
    ("spare", lambda n: RLNC.decoder(spare=n), "from 0"), ("generation", DECODER.reset, MOST[64]),
    ("packets", lambda n: DECODER.add([n], DATA[:1]), "0 to 4294967295"),
    ("first", lambda n: RLNC.encode(DATA, n, 1, pipeline=PIPELINE), MOST[32]),
    ("seed", lambda n: RLNC.recode(DATA, DATA[:, :4], 0, 1, n, pipeline=PIPELINE), MOST[64]),
    ("generation", lambda n: RLNC.decode(range(4), DATA, None, n, pipeline=PIPELINE), MOST[64]),
    ("threads", lambda n: gfk.Pipeline(threads=n), "from 0 to 4096"),
    ("streams", lambda n: gfk.Pipeline(streams=n), "64"),
    ("chunk", lambda n: gfk.Pipeline(chunk=n), MOST[64]),
    ("device_memory", lambda n: gfk.Pipeline(device_memory=n), MOST[64]),
    ("pinned_memory", lambda n: gfk.calibrate(pinned_memory=n), MOST[64]),
]


@pytest.mark.parametrize("name, call, bounds", INTEGERS, ids=[f"{i}-{name}" for i, (name, *_) in enumerate(INTEGERS)])
def test_integers(name, call, bounds):
    for number in (-2, 2**64, 10**5000):
        with pytest.raises(ValueError, match=f"{name}: .*{bounds}"):
            call(number)
    for wrong in (1.0, "1", numpy.float32(2), [1.5]):
        with pytest.raises(TypeError, match=f"{name}: .*(integer|is not an array)"):
            call(wrong)


PLACES = [CODE.info, CODE.prepare, CODE.decoder([0]).info, CODE.updater(0).prepare, gfk.Product([[1]]).info,
          gfk.Multiplier().info, gfk.kernels, gfk.engines, lambda device: RLNC.decoder(device=device)]


@pytest.mark.parametrize("call", PLACES, ids=range(len(PLACES)))
def test_devices(call):
    for text in ("gpu", "cpu:0", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999", "CUDA", ""):
        with pytest.raises(gfk.InvalidArgument, match=f'device: "{text}" is no device; "cpu", "cuda" .* "cuda:0"'):
            call(text)
    for wrong in (0, -1, 1.5, b"cpu", ["cpu"]):
        with pytest.raises(TypeError, match='device: a string is needed, "cpu", "cuda" or "cuda:0", not'):
            call(wrong)
    call("cpu")


def test_a_device_of_torch():
    torch = pytest.importorskip("torch")
    assert CODE.info(torch.device("cpu")) == CODE.info("cpu")


def test_integers_of_numpy_are_taken():
    assert gfk.RS(numpy.int64(4), numpy.uint8(2)).k == 4 and gfk.RLNC(4, numpy.array(16)).bytes == 16


@pytest.mark.parametrize("call, error, message", [
    (lambda: gfk.RS(200, 4, matrix="gen_rs"), gfk.NotSupported,
     "^matrix: whether .* too much to check .*unchecked=True"),
    (lambda: gfk.RS(20, 4, 16, matrix="gen_rs"), gfk.NotSupported, "^matrix: gen_rs is not defined for this field"),
    (lambda: gfk.RS(20, 4, family="isal", isal_library="/none.so"), gfk.NotSupported, "^engine, family, method: "),
    (lambda: gfk.RS(3, 2, engine="host_w16"), gfk.InvalidArgument,
     "^engine: host_w16 is for symbols of 16 bits, not of 8"),
    (lambda: gfk.Product([[1]], engine="host_w16"), gfk.InvalidArgument, "^engine: host_w16 "),
    (lambda: gfk.RS(2**31, 2**31, 32), gfk.InvalidSize, "^k, m: "),
    (lambda: gfk.RS(3, 2, matrix="none"), gfk.InvalidArgument, "^matrix: no matrix has the name none: cauchy"),
    (lambda: gfk.RS(3, 2, matrix=[[1, 2, 3], [1]]), ValueError, "^matrix: "),
    (lambda: gfk.rs_matrix("gen_rs", 4, 2, 32), gfk.NotSupported, "^matrix: gen_rs is not defined"),
    (lambda: gfk.RLNC(4, 15, 16), gfk.InvalidSize, "^bytes: 15 bytes are no whole number of 16-bit symbols"),
    (lambda: gfk.RLNC(4, 16, 16, kind="rfc8681"), gfk.NotSupported, "^kind: rfc8681 is for w = 8"),
    (lambda: RLNC.vectors(2**32 - 1, 2), gfk.InvalidSize, r"^first, count: .* 2\^32"),
    (lambda: RLNC.vectors(0, 1, 2**64 - 1, 2), gfk.InvalidSize, r"^generation: .* 2\^64"),
    (lambda: RLNC.vectors(0, 2**20, 0, 2**20), gfk.InvalidSize, "^generations, count: "),
    (lambda: RLNC.decoder(0, 2**30), gfk.InvalidSize, "^generations, spare: "),
    (lambda: RLNC.recode(DATA[:0], DATA[:0, :4], 0, 1, 1), gfk.InvalidArgument,
     "^payloads, vectors: 0 received .* 1 to 65536"),
    (lambda: gfk.Matrix.cauchy(200, 100).to_numpy(), gfk.InvalidSize, "^rows, cols, first: 200 rows, 100 columns"),
    (lambda: gfk.matmul(gfk.Matrix.cauchy(300, 4), DATA), gfk.InvalidSize, "^rows, cols, first: 300 rows"),
    (lambda: gfk.matmul(gfk.Matrix.cauchy(300, 4), DATA, pipeline=PIPELINE), gfk.InvalidSize,
     "^rows, cols, first: 300 rows"),
    (lambda: gfk.Product(gfk.Matrix.cauchy(2, 2, row_points=[3, 3])), gfk.InvalidArgument, "^row_points, .* equal"),
    (lambda: gfk.Matrix.cauchy(1, 2, row_points=[256]).to_numpy(), gfk.InvalidConstant, r"^row_points, .* 2\^8 - 1"),
    (lambda: gfk.Matrix.par2(65535, 2, first=1).to_numpy(16), gfk.InvalidSize, "^rows, cols, first: "),
    (lambda: gfk.Matrix.par2(2, 2).to_numpy(8), gfk.NotSupported, "^field: a matrix of PAR2 "),
    (lambda: gfk.Matrix.random(2, 2, first=2**64 - 1).to_numpy(), gfk.InvalidSize, r"^first: .* 2\^64"),
    (lambda: gfk.Matrix.random(2**40, 2**30).to_numpy(), gfk.OutOfMemory, r"\(1099511627776, 1073741824\)"),
    (lambda: gfk.matmul(numpy.broadcast_to(DATA[:1, :4], (3, 4)), DATA), gfk.InvalidArgument,
     "^a: .*rows overlap.*copy"),
    (lambda: gfk.multiply(3, DATA[0, :3], field=16), gfk.InvalidSize, "^x: a region of 3 bytes is no whole"),
    (lambda: gfk.Field(16).multiply(DATA[0, :3], 3), gfk.InvalidSize, "^a: "),
    (lambda: gfk.pinned_empty(2**80), ValueError, "^shape: "),
    (lambda: gfk.RS(2, 1).decode(DATA[:2], DATA[:1], 1), TypeError, "^lost: a list of integers is needed, not int"),
    (lambda: gfk.RS(DATA[0, :1], 1), TypeError, "^k: an integer is needed, not this numpy.ndarray"),
    (lambda: gfk.multiply(DATA, DATA), TypeError, "^c: an integer is needed, not this numpy.ndarray"),
    (lambda: gfk.RS(2, 1).updater(DATA[0, :2]), TypeError, "^index: an integer is needed, not this numpy.ndarray"),
])
def test_messages(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_no_class_says_what_c_says():
    for name in gfk.__all__:
        assert "NULL" not in (getattr(getattr(gfk, name), "__doc__", "") or ""), name


# ---- elements and bytes -----------------------------------------------------------------------------------
def test_numbers_are_to_be_converted():
    """numpy's default integers: seen as bytes a matrix would be another one."""
    square = numpy.array([[1, 2], [3, 4]])
    code = gfk.RLNC(2, 16)
    for name, call in (
            ("a", lambda: gfk.rank(square)), ("a", lambda: gfk.pivots(square)), ("a", lambda: gfk.invert(square)),
            ("a", lambda: gfk.solve(square, DATA[:2])), ("a", lambda: gfk.invert_batch(square[None])),
            ("a", lambda: gfk.matmul(square, DATA[:2])), ("a", lambda: gfk.matmul(square, DATA[:2], pipeline=PIPELINE)),
            ("a", lambda: gfk.Field().multiply(square, 3)), ("b", lambda: gfk.Field().divide(3, square)),
            ("a", lambda: gfk.Field().inverse(square)), ("a", lambda: gfk.Field().power(square, 2)),
            ("vectors", lambda: code.decoder().add(None, DATA[:2], vectors=square)),
            ("vectors", lambda: code.recode(DATA[:2], square, 0, 1, 1)),
            ("vectors", lambda: code.decode(None, DATA[:2], square, pipeline=PIPELINE))):
        with pytest.raises(TypeError, match=rf"^{name}: .*x.astype\('uint8'\)") as caught:
            call()
        assert "view" not in str(caught.value)
    with pytest.raises(TypeError, match="^a: .*uint16"):
        gfk.rank(square.astype(numpy.uint8), field=16)
    for name, call in (("out", lambda: gfk.Field().multiply(DATA, 3, out=numpy.zeros((4, 16)))),
                       ("out", lambda: gfk.invert(numpy.eye(2, dtype=numpy.uint8), out=square))):
        with pytest.raises(TypeError, match=f"^{name}: .*pass an array of uint8"):
            call()


def test_out_is_not_ignored():
    field, out = gfk.Field(8), numpy.zeros(1, numpy.uint8)
    for call in (lambda: field.multiply(3, 5, out=out), lambda: field.divide(3, 5, out=out),
                 lambda: field.inverse(3, out=out), lambda: field.power(3, 5, out)):
        with pytest.raises(TypeError, match="^out: "):
            call()
    assert gfk.Field(8).multiply(out, 5, out=out) is out


@pytest.mark.parametrize("make", [
    lambda text: ctypes.create_string_buffer(text, len(text)), lambda text: memoryview(bytearray(text)).cast("c"),
    lambda text: (ctypes.c_char * len(text))(*text), lambda text: (ctypes.c_ubyte * len(text))(*text),
    lambda text: memoryview(bytearray(text)).cast("b"), bytearray],
    ids=["string buffer", "cast to c", "c_char", "c_ubyte", "cast to b", "bytearray"])
def test_buffers_of_bytes(make):
    text = bytes(range(1, 17))
    right = gfk.multiply(3, numpy.frombuffer(text, numpy.uint8)).tobytes()
    assert gfk.multiply(3, make(text)).tobytes() == right == gfk.Field().multiply(make(text), 3).tobytes()
    out = make(bytes(16))
    assert gfk.multiply(3, make(text), out=out) is out and bytes(memoryview(out).cast("B")) == right
    assert gfk.RS(2, 1).encode([make(text)] * 2).shape == (1, 16)
    assert gfk.RS(2, 1).delta(make(text), make(text)).tobytes() == bytes(16)


def test_a_float_is_never_a_width():
    gfk.multiply(3, DATA, field=8)
    for wrong in (8.0, numpy.float64(8), "8", [8]):
        for call in (lambda w: gfk.multiply(3, DATA, field=w), gfk.Field, gfk.Multiplier, lambda w: gfk.RS(2, 1, w),
                     lambda w: gfk.Product([[1]], w), lambda w: gfk.RLNC(2, 8, w), lambda w: gfk.rank(DATA, field=w)):
            with pytest.raises(TypeError, match="^(w|field): "):
                call(wrong)
    assert (gfk.multiply(3, DATA, field=numpy.int64(8)) == gfk.multiply(3, DATA)).all()


# ---- pickle and copy -----------------------------------------------------------------------------------------
def located(w=8):
    code = gfk.RS(4, 2, w)
    data, parity = DATA.copy(), code.encode(DATA)
    data[1, 5] ^= 7
    return code.locate(data, parity)


WORK = {
    "RS": (lambda: gfk.RS(4, 2, gfk.Field(16), matrix="vandermonde", expected_bytes=99), lambda o: o.encode(DATA)),
    "custom RS": (lambda: gfk.RS(4, 2, matrix=[[1, 2, 3, 4], [4, 3, 2, 9]], unchecked=True), lambda o: o.encode(DATA)),
    "RS with options": (lambda: gfk.RS(4, 2, engine="host_w8", isal_library="/tmp/x", table_limit=1 << 30,
                                       check_pointers=True), lambda o: o.info().engine),
    "polynomial": (lambda: gfk.RS(4, 2, gfk.Field(8, 0x12B)), lambda o: o.encode(DATA)),
    "Product": (lambda: gfk.Product([[1, 2, 3, 200]], family="host"), lambda o: o.run(DATA)),
    "Multiplier": (lambda: gfk.Multiplier(16, method="SPLIT 16 4", implementation="host"),
                   lambda o: o.multiply(9, DATA)),
    "kernel": (lambda: gfk.Multiplier(8, kernel=next(k.id for k in gfk.kernels() if k.w == 8 and k.available)),
               lambda o: o.info().kernel),
    "cauchy": (lambda: gfk.Matrix.cauchy(3, 4, first=7), lambda o: o.to_numpy()),
    "points": (lambda: gfk.Matrix.cauchy(2, 2, row_points=[9, 5], col_points=[1, 2]), lambda o: o.to_numpy()),
    "vandermonde": (lambda: gfk.Matrix.vandermonde(2, 3, col_points=[9, 5, 7], first=3), lambda o: o.to_numpy()),
    "par2": (lambda: gfk.Matrix.par2(3, 4, first=2), lambda o: o.to_numpy(16)),
    "random": (lambda: gfk.Matrix.random(3, 4, 2**64 - 1, first=2**63), lambda o: o.to_numpy(32)),
    "RLNC": (lambda: gfk.RLNC(4, 16, 16, density=100, systematic=True, seed=2**63), lambda o: o.encode(DATA, 2, 9)),
    "rfc8681": (lambda: gfk.RLNC(4, 16, kind="rfc8681", density=3, threads=1), lambda o: o.encode(DATA, 2, 9)),
    "Located": (located, lambda o: [repr(o), o.corrupt, o.located, o.unexplained, o.first_corrupt, o.counts.tolist()]),
    "nothing located": (lambda: gfk.RS(4, 2).locate(DATA, gfk.RS(4, 2).encode(DATA)),
                        lambda o: [repr(o), o.first_corrupt]),
    "RSDecoder": (lambda: gfk.RS(4, 2).decoder([0, 5], [5]), lambda o: (o.lost, o.wanted, o.sources)),
    "RSUpdater": (lambda: gfk.RS(4, 2).updater(3), lambda o: o.index),
    "Field": (lambda: gfk.Field(32), lambda o: (o.w, o.polynomial, hash(o))),
    "Outcome": (lambda: gfk.Outcome.DROPPED, int),
}


def outcome(name, thing):
    found = WORK[name][1](thing)
    return found.tolist() if isinstance(found, numpy.ndarray) else found


@pytest.mark.parametrize("name", WORK)
def test_pickle_and_copy(name):
    thing = WORK[name][0]()
    right = outcome(name, thing)
    copies = [pickle.loads(pickle.dumps(thing, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    copies += [copy.copy(thing), copy.deepcopy(thing), copy.deepcopy({"model": [thing]})["model"][0]]
    for made in copies:
        assert type(made) is type(thing) and outcome(name, made) == right


def test_options_are_pickled():
    assert gfk.RLNC(4, 16, kernel="matmul_w8/clmad").__reduce__()[1][2]["kernel"] == "matmul_w8/clmad"
    code = WORK["RS with options"][0]()
    arguments = code.__reduce__()[1][2]
    assert arguments["engine"] == "host_w8" and str(arguments["isal_library"]) == "/tmp/x"
    assert arguments == pickle.loads(pickle.dumps(code)).__reduce__()[1][2]
    assert {"k", "m", "field", "matrix", "unchecked", "table_limit", "check_pointers"} <= set(arguments)


class Model(gfk.RS):
    """A code with attributes of its own, and another constructor."""

    __slots__ = ("slot", "__dict__")

    def __init__(self, name):
        super().__init__(4, 2, matrix="vandermonde")
        self.name, self.decoder_of_0, self.slot = name, self.decoder([0]), 5


def test_classes_that_are_derived():
    model = Model("one")
    for made in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert type(made) is Model and (made.name, made.slot, made.k) == ("one", 5, 4)
        assert (made.encode(DATA) == model.encode(DATA)).all() and made.decoder_of_0.lost == [0]


def test_a_code_and_its_decoder_stay_together():
    code = gfk.RS(4, 2)
    made_code, made = pickle.loads(pickle.dumps((code, code.decoder([1]))))
    parity = made_code.encode(DATA)
    assert (made.run(DATA, parity) == DATA[1]).all()


def test_a_pool_of_processes():
    context = multiprocessing.get_context("forkserver")
    with concurrent.futures.ProcessPoolExecutor(1, context) as pool:
        for name in WORK:
            thing = WORK[name][0]()
            assert pool.submit(outcome, name, thing).result() == outcome(name, thing)
        assert (pool.submit(CODE.encode, DATA).result() == CODE.encode(DATA)).all()
        assert pool.submit(gfk.rank, DATA).result() == gfk.rank(DATA)
        assert (pool.submit(gfk.multiply, 3, DATA).result() == gfk.multiply(3, DATA)).all()
        assert pool.submit(gfk.Matrix.par2, 2, 3).result().shape == (2, 3)
        with pytest.raises(gfk.TooManyErasures, match="More regions are lost"):
            pool.submit(gfk.RS(4, 2).decode, DATA, DATA[:2], [0, 1, 2]).result()


@pytest.mark.parametrize("make", [gfk.Pipeline, lambda: RLNC.decoder(), lambda: CODE.batch([(DATA, None)])],
                         ids=["Pipeline", "RLNCDecoder", "RSBatch"])
def test_what_holds_memory_is_not_copied(make):
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle"):
            call(make())
