# SPDX-License-Identifier: BSD-3-Clause
"""How calls take the caller's arrays. gfk.multiply is the call: 3 * x in GF(2^8) is x ^ (2 * x)."""

import array
import ctypes
import gc
import weakref

import gfk
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import in_threads

WORDS = {8: numpy.uint8, 16: numpy.uint16, 32: numpy.uint32}


def times_2(x):
    """2 * x in GF(2^8), by shifts."""
    x = numpy.asarray(x, numpy.uint8)
    return ((x << 1) ^ numpy.where(x & 0x80, 0x1D, 0)).astype(numpy.uint8)


# ---- what comes back ------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(7,), (1,), (0,), (), (3, 5), (2, 3, 4), (4, 0)], ids=str)
def test_result_is_of_the_same_framework_shape_and_dtype(arrays, random, shape):
    x = random.integers(0, 256, shape, numpy.uint8)
    result = gfk.multiply(2, arrays.array(x))
    found = arrays.numpy(result)
    assert found.shape == shape and found.dtype == numpy.uint8
    assert (found == times_2(x)).all()


@pytest.mark.parametrize("w", WORDS)
@pytest.mark.parametrize("signed", [False, True])
def test_words_and_bytes_are_one_memory(arrays, random, w, signed):
    """Symbols are little-endian, whether the array has words or bytes."""
    x = random.integers(0, 2**w, 6, WORDS[w])
    if signed:
        x = x.view(f"i{w // 8}")
    words = arrays.numpy(gfk.multiply(0x35, arrays.array(x), field=w))
    as_bytes = arrays.numpy(gfk.multiply(0x35, arrays.array(x.view(numpy.uint8)), field=w))
    assert words.dtype == x.dtype and as_bytes.dtype == numpy.uint8
    assert words.tobytes() == as_bytes.tobytes() != x.tobytes()


def test_out_is_returned_and_written(arrays, random):
    x = random.integers(0, 256, 100, numpy.uint8)
    out = arrays.array(numpy.zeros(100, numpy.uint8))
    if arrays.is_immutable:
        with pytest.raises(TypeError, match="out: an array of jax is immutable"):
            gfk.multiply(2, arrays.array(x), out=out)
        assert (arrays.numpy(out) == 0).all()
        return
    assert gfk.multiply(2, arrays.array(x), out=out) is out
    assert (arrays.numpy(out) == times_2(x)).all()


def test_out_may_have_another_shape_of_as_many_bytes(arrays, random):
    if arrays.is_immutable:
        return
    x = random.integers(0, 256, (4, 6), numpy.uint8)
    out = arrays.array(numpy.zeros(24, numpy.uint8))
    gfk.multiply(2, arrays.array(x), out=out)
    assert (arrays.numpy(out).reshape(4, 6) == times_2(x)).all()


def test_a_result_that_jax_keeps_is_not_shared():
    """New arrays of jax are written after they were made: none may be one that jax has elsewhere."""
    jax = pytest.importorskip("jax")
    device = jax.devices("cpu")[0]
    zeros = [jax.device_put(jax.numpy.zeros(8, "uint8"), device) for _ in range(2)]
    x = jax.device_put(numpy.full(8, 0x80, numpy.uint8), device)
    results = [gfk.multiply(c, x) for c in (1, 2, 2)]
    assert [int(r[0]) for r in results] == [0x80, 0x1D, 0x1D]
    assert (numpy.asarray(x) == 0x80).all() and not any(numpy.asarray(z).any() for z in zeros)
    assert not numpy.asarray(jax.device_put(jax.numpy.empty(8, "uint8"), device)).any()


def test_frameworks_mix_in_the_memory_of_the_cpu(cpu_arrays, random):
    x = random.integers(0, 256, 100, numpy.uint8)
    out = numpy.zeros(100, numpy.uint8)
    assert gfk.multiply(2, cpu_arrays.array(x), out=out) is out
    assert (out == times_2(x)).all()


# ---- layouts --------------------------------------------------------------------------------------
@given(st.integers(1, 40), st.integers(0, 9), st.integers(1, 9), st.integers(1, 3))
def test_layouts(length, start, end, step):
    """Every slice is either computed, or refused because it has gaps; nothing outside is written."""
    x = numpy.arange(length, dtype=numpy.uint8)
    whole = numpy.zeros(length, numpy.uint8)
    part, out = x[start:-end:step], whole[start:-end:step]
    if part.size > 1 and step > 1:
        with pytest.raises(ValueError, match="not contiguous"):
            gfk.multiply(2, part, out=out)
        assert not whole.any()
        return
    gfk.multiply(2, part, out=out)
    expected = numpy.zeros(length, numpy.uint8)
    expected[start:-end:step] = times_2(part)
    assert (whole == expected).all()


@pytest.mark.parametrize("view", [
    lambda x: x[:, ::2], lambda x: x.T, lambda x: x[::-1], lambda x: x[:, :3], lambda x: x[::2],
    lambda x: numpy.broadcast_to(x[0], (4, 6)), lambda x: numpy.asfortranarray(x)],
    ids=["columns", "transposed", "reversed", "part of rows", "every second row", "broadcast", "fortran"])
def test_gaps_are_refused(view):
    x = view(numpy.arange(24, dtype=numpy.uint8).reshape(4, 6))
    with pytest.raises(ValueError, match=r"x: the array is not contiguous.*ascontiguousarray"):
        gfk.multiply(2, x)


@pytest.mark.parametrize("view", [lambda x: x[1:3], lambda x: x[:1, ::-1][:, :1], lambda x: x[:, None, :],
                                  lambda x: x[2], lambda x: x[:0, ::2]],
                         ids=["rows", "one element", "dimension of 1", "row", "nothing"])
def test_what_has_no_gaps_is_taken(view):
    x = view(numpy.arange(24, dtype=numpy.uint8).reshape(4, 6))
    assert (gfk.multiply(2, x) == times_2(x)).all()


def test_gaps_of_torch_are_refused():
    torch = pytest.importorskip("torch")
    x = torch.arange(24, dtype=torch.uint8).reshape(4, 6)
    for view in (x.T, x[:, ::2], x[0].expand(4, 6)):
        with pytest.raises(ValueError, match="x.contiguous"):
            gfk.multiply(2, view)
    assert (gfk.multiply(2, x[1:3]).numpy() == times_2(x[1:3].numpy())).all()


def test_views_of_torch_that_change_what_is_read(random):
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(random.integers(0, 256, 24, numpy.uint8))
    view = torch._neg_view(x)
    assert view.is_neg() and view.data_ptr() == x.data_ptr()
    for arguments, name in (((view,), "x"), ((x, view), "out")):
        with pytest.raises(ValueError, match=rf"{name}: the tensor is a view that negates .* x.resolve_neg\(\)"):
            gfk.Multiplier(8).multiply(2, *arguments)
    with pytest.raises(ValueError, match="resolve_neg"):
        gfk.RS(2, 1).encode([x, view])
    assert (gfk.multiply(2, view.resolve_neg()).numpy() == times_2(-x.numpy())).all()
    with pytest.raises(TypeError, match=r"conjugates .* x.resolve_conj\(\).view\(torch.uint8\)"):
        gfk.multiply(2, torch.zeros(4, dtype=torch.complex64).conj())


def test_types_of_arrays_are_forgotten(exporter):
    """What is known of a type is kept as long as the type."""
    left = []
    for _ in range(300):
        kind = type("Exporter", (exporter,), {})
        gfk.multiply(2, kind(numpy.arange(8, dtype=numpy.uint8)), out=numpy.zeros(8, numpy.uint8))
        left.append(weakref.ref(kind))
    del kind
    gc.collect()
    assert not any(reference() for reference in left)


def test_any_alignment(arrays, random):
    """Also words at odd addresses."""
    if arrays.name != "numpy":
        return  # numpy makes views at any address
    for w, word in WORDS.items():
        x = random.integers(0, 256, 64, numpy.uint8)
        odd = x[1:1 + 40].view(word)
        assert gfk.multiply(7, odd, field=w).tobytes() == gfk.multiply(7, odd.copy(), field=w).tobytes()


# ---- dtypes -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "c8", "?", "u4", "u8", "i8", "S2", "S1",
                                   "V1", "V0", "U1", "O", "M8[s]", [("a", "u1"), ("b", "u1")]], ids=str)
def test_wrong_dtypes_are_refused(dtype):
    x = numpy.zeros(4, dtype)
    with pytest.raises(TypeError, match="x: the elements must be bytes or"):
        gfk.multiply(2, x, field=16)
    with pytest.raises(TypeError, match="out: the elements must be"):
        gfk.multiply(2, numpy.zeros(8, numpy.uint8), field=16, out=numpy.zeros(4, dtype))


def test_dtypes_of_w_8():
    with pytest.raises(TypeError, match=r"the elements must be bytes \(uint8\); view the array as uint8"):
        gfk.multiply(2, numpy.zeros(4, numpy.uint16))
    x = numpy.arange(4, dtype=numpy.float32)
    assert gfk.multiply(1, x.view(numpy.uint8)).view(numpy.float32).tolist() == x.tolist()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "int32"])
def test_wrong_dtypes_of_other_frameworks(arrays, dtype):
    if arrays.name == "torch":
        x = arrays.module.zeros(4, dtype=getattr(arrays.module, dtype), device=arrays.place)
    elif arrays.name == "jax":
        x = arrays.module.numpy.zeros(4, dtype)
    else:
        return  # above
    with pytest.raises(TypeError, match="x: the elements must be bytes"):
        gfk.multiply(2, x)


def test_half_symbols_are_refused():
    with pytest.raises(gfk.InvalidSize):
        gfk.multiply(2, numpy.zeros(5, numpy.uint8), field=16)
    with pytest.raises(ValueError):  # of Python, too
        gfk.multiply(2, numpy.zeros(6, numpy.uint8), field=32)


# ---- what is no array --------------------------------------------------------------------------------
@pytest.mark.parametrize("x", [None, 3, 2.5, "text", object(), {}, [1, 2], (1,), numpy.uint8], ids=repr)
def test_other_objects_are_refused(x):
    with pytest.raises(TypeError, match="x: .* is not an array|incompatible"):
        gfk.multiply(2, x)
    if x is not None:
        with pytest.raises(TypeError, match="out: .* is not an array"):
            gfk.multiply(2, numpy.zeros(1, numpy.uint8), out=x)


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview, lambda b: memoryview(b).cast("b"),
                                  lambda b: array.array("B", b), lambda b: numpy.frombuffer(b, "u1")[0:4]],
                         ids=["bytes", "bytearray", "memoryview", "chars", "array", "read-only"])
def test_buffers_of_python(make):
    result = gfk.multiply(2, make(b"\x01\x80\x02\xff"))
    assert isinstance(result, numpy.ndarray) and result.tobytes() == b"\x02\x1d\x04\xe3"


def test_words_of_python_buffers():
    words = array.array("H", [1, 0x8000])
    for x in (words, memoryview(words)):
        result = gfk.multiply(2, x, field=16)
        assert result.dtype == numpy.uint16 and result.tolist() == [2, 0x100B]
    out = bytearray(4)
    assert gfk.multiply(2, words, field=16, out=out) is out
    assert out == b"\x02\x00\x0b\x10"


def test_read_only_arrays_are_no_output():
    x = numpy.zeros(4, numpy.uint8)
    locked = x.copy()
    locked.flags.writeable = False
    for out in (locked, bytes(4), memoryview(bytes(4)), numpy.broadcast_to(x[:1], 4)):
        with pytest.raises(ValueError, match="out: the array is read-only"):
            gfk.multiply(2, x, out=out)
    assert gfk.multiply(2, locked).tolist() == [0] * 4


def test_a_buffer_is_released():
    data = bytearray(16)
    gfk.multiply(2, data, out=data)
    with pytest.raises(TypeError):
        gfk.multiply(2, data, out=numpy.zeros(16))
    data.append(0)  # Python refuses that while there are buffers


def test_out_of_another_length():
    with pytest.raises(ValueError, match="x has 4 bytes, and out 5"):
        gfk.multiply(2, bytes(4), out=bytearray(5))


# ---- DLPack -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("version", [None, (1, 0), (1, 3), (1, 99)], ids=str)
def test_dlpack_of_each_generation(exporter, version):
    x = exporter(numpy.array([1, 0x80], numpy.uint8), version=version)
    out = exporter(numpy.zeros(2, numpy.uint8), version=version)
    result = gfk.multiply(2, x)
    assert isinstance(result, numpy.ndarray) and result.tolist() == [2, 0x1D]
    assert gfk.multiply(2, x, out=out) is out and out.array.tolist() == [2, 0x1D]
    assert x.alive == out.alive == 0 and len(out.calls) == 1
    assert all("stream" not in call for call in x.calls + out.calls)  # DLPack knows streams of GPUs only
    assert all(("max_version" in call) == (version is not None) for call in x.calls)


def test_dlpack_of_a_newer_major_version_is_refused(exporter):
    x = exporter(numpy.zeros(2, numpy.uint8), version=(2, 0))
    with pytest.raises(TypeError, match="x: the array exports DLPack 2, which is too new"):
        gfk.multiply(2, x)
    assert x.alive == 0


def test_dlpack_read_only(exporter):
    x = exporter(numpy.array([1, 0x80], numpy.uint8), read_only=True)
    assert gfk.multiply(2, x).tolist() == [2, 0x1D]
    with pytest.raises(ValueError, match="out: the array is read-only"):
        gfk.multiply(2, bytes(2), out=x)
    assert x.alive == 0 and x.array.tolist() == [1, 0x80]


def test_dlpack_fields(exporter):
    x = numpy.array([1, 0x8000, 5], numpy.uint16)
    expected = [2, 0x100B, 10]
    assert gfk.multiply(2, exporter(x, byte_offset=64), field=16).tolist() == expected
    assert gfk.multiply(2, exporter(x, no_strides=True), field=16).tolist() == expected
    table = numpy.arange(12, dtype=numpy.uint16).reshape(3, 4)
    assert gfk.multiply(1, exporter(table, no_strides=True), field=16).tolist() == table.tolist()
    assert gfk.multiply(1, exporter(x, device=(3, 0)), field=16).tolist() == x.tolist()  # pinned by CUDA
    with pytest.raises(TypeError, match="elements must be"):
        gfk.multiply(2, exporter(x, lanes=2), field=16)
    with pytest.raises(TypeError, match="elements must be"):
        gfk.multiply(2, exporter(x.astype(numpy.float16)), field=16)
    with pytest.raises(ValueError, match="not contiguous"):
        gfk.multiply(2, exporter(x[::2]), field=16)
    with pytest.raises(ValueError, match="not contiguous"):
        gfk.multiply(2, exporter(table.T), field=16)


@pytest.mark.parametrize("device", [(4, 0), (7, 0), (8, 0), (10, 0), (12, 1)], ids=str)
def test_dlpack_of_other_devices(exporter, device):
    x = exporter(numpy.zeros(2, numpy.uint8), device=device)
    with pytest.raises(TypeError, match="neither in the CPU's memory nor on a CUDA device"):
        gfk.multiply(2, x)
    assert x.alive == 0


def test_errors_of_an_exporter_pass_through(exporter):
    class Broken(exporter):
        def __dlpack__(self, **arguments):
            raise BufferError("not today")

    class Strange(exporter):
        def __dlpack__(self, **arguments):
            return "no capsule"

    class Foreign(exporter):
        def __dlpack_device__(self):
            return None

    with pytest.raises(BufferError, match="not today"):
        gfk.multiply(2, Broken(numpy.zeros(2, numpy.uint8)))
    for kind in (Strange, Foreign):
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            gfk.multiply(2, kind(numpy.zeros(2, numpy.uint8)))


# ---- places ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("by", ["dlpack", "cuda"])
def test_a_build_without_cuda_refuses_arrays_of_a_gpu(fake_cuda, no_cuda, by):
    x = fake_cuda(numpy.zeros(4, numpy.uint8), by)
    with pytest.raises(gfk.NotSupported, match="this build of gfk has no CUDA"):
        gfk.multiply(2, x, out=x)
    with pytest.raises(gfk.NotSupported if by == "cuda" else TypeError, match="no CUDA|pass out="):
        gfk.multiply(2, x)
    with pytest.raises(gfk.Error):
        gfk.Field().multiply(x, x)


@pytest.mark.parametrize("number", [0, 1])
def test_arrays_of_two_places_are_refused(fake_cuda, number):
    """Nothing goes from one place to the other."""
    on_gpu, here = fake_cuda(numpy.zeros(4, numpy.uint8), number=number), numpy.zeros(4, numpy.uint8)
    for x, out in ((on_gpu, here), (here, on_gpu)):
        with pytest.raises(gfk.WrongDevice, match="the arrays of one call are in one place"):
            gfk.multiply(2, x, out=out)
    assert on_gpu.alive == 0


def test_arrays_of_two_gpus_are_refused(fake_cuda):
    x = [fake_cuda(numpy.zeros(4, numpy.uint8), number=i) for i in range(2)]
    with pytest.raises(gfk.WrongDevice, match="others on another GPU"):
        gfk.multiply(2, x[0], out=x[1])


def test_cuda_interfaces_that_are_wrong(fake_cuda, no_cuda):
    def claims(**fields):
        x = fake_cuda(numpy.zeros(4, numpy.uint8), "cuda")
        made = {**x.__cuda_array_interface__, **fields}
        return type("Claims", (), {"__cuda_array_interface__": made})()

    for typestr in ("|V16", "|V0", "<f4", "", "|u1"):
        for strides in (None, (1,)):
            with pytest.raises((TypeError, gfk.NotSupported)):
                gfk.multiply(2, claims(typestr=typestr, strides=strides))
    with pytest.raises(TypeError, match="mask"):
        gfk.multiply(2, claims(mask=object()))
    with pytest.raises(ValueError, match="read-only"):
        gfk.multiply(2, bytes(4), out=claims(data=(4096, True)))


# ---- lifetimes ------------------------------------------------------------------------------------------
def test_a_type_may_change_what_it_exports(exporter):
    """A class is known after its first array; its arrays need not be alike."""
    first, second = exporter(numpy.ones(3, numpy.uint8)), exporter(numpy.ones(3, numpy.uint8), device=(2, 7))
    assert gfk.multiply(1, first).tolist() == [1, 1, 1]
    with pytest.raises(gfk.WrongDevice):
        gfk.multiply(1, first, out=second)


def test_first_use_of_a_type_in_many_threads(random):
    x = random.integers(0, 256, 1000, numpy.uint8)
    wrong = []

    def work(seed):
        for i in range(20):
            kind = type(f"Buffer{seed}_{i}", (bytearray,), {})
            if gfk.multiply(2, kind(x.tobytes())).tobytes() != times_2(x).tobytes():
                wrong.append(i)

    in_threads(work, range(4))
    assert not wrong


# ---- unusual arrays --------------------------------------------------------------------------------------
def test_arrays_of_ctypes_have_no_strides():
    data = (ctypes.c_ubyte * 64)(*range(64))
    assert (gfk.multiply(3, data) == gfk.multiply(3, numpy.arange(64, dtype=numpy.uint8))).all()
    rows = ((ctypes.c_ubyte * 64) * 2)(*[data, data])
    assert (gfk.RS(2, 1).encode(rows) == gfk.RS(2, 1).encode([data, data])).all()


@pytest.mark.parametrize("dtype", [">u2", ">u4", ">i8"])
def test_big_endian_arrays_say_so(dtype):
    with pytest.raises(TypeError, match="x: the elements are big-endian"):
        gfk.multiply(3, numpy.zeros(8, dtype), field=16)
    with pytest.raises(TypeError, match="out: the elements are big-endian"):
        gfk.multiply(3, bytes(64), out=numpy.zeros(64 // numpy.dtype(dtype).itemsize, dtype))


def test_masked_arrays_are_refused():
    x = numpy.ma.masked_array(numpy.zeros(8, numpy.uint8), mask=[1] + [0] * 7)
    for arguments in ({}, {"out": x}):
        with pytest.raises(TypeError, match="mask"):
            gfk.multiply(3, numpy.zeros(8, numpy.uint8) if arguments else x, **arguments)


def test_rows_that_overlap_are_refused():
    x = numpy.broadcast_to(numpy.arange(64, dtype=numpy.uint8), (4, 64))
    with pytest.raises(ValueError, match="rows overlap"):
        gfk.RS(4, 2).encode(x)
    x = numpy.lib.stride_tricks.as_strided(numpy.zeros(200, numpy.uint8), (4, 64), (32, 1))
    with pytest.raises(ValueError, match="rows overlap"):
        gfk.RS(4, 2).encode(x)


def test_strides_of_an_interface_fit_its_shape():
    class Interface:
        def __init__(self, **fields):
            self.__cuda_array_interface__ = {"data": (4096, False), "typestr": "|u1", "version": 3, **fields}
    Interface.__cuda_array_interface__ = None  # types are asked whether they have it
    with pytest.raises(ValueError, match="5000 strides for 1 dimensions"):
        gfk.multiply(3, Interface(shape=(64,), strides=tuple(range(5000))))
    with pytest.raises(ValueError, match="whole number of elements"):
        gfk.multiply(3, Interface(shape=(64,), strides=(3,), typestr="<u2"), field=16)


def test_lists_that_change_during_a_call(random):
    """Taking an array runs code of Python, which drops the list's arrays."""
    class Exporter:
        hook = None

        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **arguments):
            if self.hook:
                self.hook()
            return self.array.__dlpack__(**arguments)

    data = random.integers(0, 256, (4, 64), numpy.uint8)
    arrays = [Exporter(row.copy()) for row in data]
    kept = []

    def change():
        arrays[0] = None
        del arrays[2:]
        kept.extend(bytes(16 + i) for i in range(200))

    arrays[1].hook = change
    assert (gfk.RS(4, 2).encode(arrays) == gfk.RS(4, 2).encode(data)).all()


def test_subclasses_of_torch_get_tensors():
    torch = pytest.importorskip("torch")

    class Own(torch.Tensor):
        pass

    x = torch.arange(64, dtype=torch.uint8)
    assert isinstance(gfk.multiply(3, x.as_subclass(Own)), torch.Tensor)
    with pytest.raises(TypeError, match="no memory that gfk can reach"):
        gfk.multiply(3, x.to_sparse())


def test_traced_arrays_of_jax_are_refused():
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="no memory that gfk can reach"):
        jax.jit(lambda x: gfk.multiply(3, x))(jax.numpy.zeros(8, "uint8"))


def test_released_memory_says_so():
    x = memoryview(bytearray(8))
    x.release()
    with pytest.raises(ValueError, match="released"):
        gfk.multiply(3, x)


# ---- bytes ------------------------------------------------------------------------------------------------
@given(st.binary(max_size=300), st.integers(1, 40))
def test_split_and_join(text, k):
    regions = gfk.split(text, k)
    assert regions.shape[0] == k and regions.shape[1] % 4 == 0 and regions.size < len(text) + 4 * k
    assert gfk.join(regions, len(text)) == gfk.join(list(regions), len(text)) == text
    assert not any(gfk.join(regions)[len(text):])


def test_split_and_join_of_other_objects(cpu_arrays):
    regions = gfk.split(memoryview(bytearray(b"0123456789")), 2)
    assert regions.flags.writeable and regions.tobytes() == b"0123456789" + bytes(6)
    assert gfk.join(cpu_arrays.array(regions), 10) == b"0123456789"
    assert gfk.join([cpu_arrays.array(row) for row in regions], 9) == b"012345678"
    assert gfk.split(numpy.arange(3, dtype="uint32"), 3).view("uint32").ravel().tolist() == [0, 1, 2]
    for call, error in ((lambda: gfk.split(b"a", 0), ValueError), (lambda: gfk.split("a", 1), TypeError),
                        (lambda: gfk.split(numpy.zeros((2, 4), "uint8").T, 1), ValueError),
                        (lambda: gfk.join(regions, 17), ValueError), (lambda: gfk.join(regions, -1), ValueError)):
        with pytest.raises(error):
            call()
