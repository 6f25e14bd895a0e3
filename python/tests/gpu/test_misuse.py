# SPDX-License-Identifier: BSD-3-Clause
"""What calls refuse on a GPU; and that the next call works."""

import gfk
import numpy
import pytest

SMALL = numpy.arange(64, dtype=numpy.uint8).reshape(4, 16)


@pytest.fixture(autouse=True)
def next_call_works(request):
    yield
    if "gpu_arrays" in request.fixturenames:
        arrays = request.getfixturevalue("gpu_arrays")
        assert (arrays.numpy(gfk.multiply(2, arrays.array(SMALL))) == gfk.multiply(2, SMALL)).all()


@pytest.mark.parametrize("dtype", ["float32", "bool", "int64"])
def test_dtypes(gpu_arrays, dtype):
    x = gpu_arrays.array(numpy.zeros(8, dtype if gpu_arrays.name != "jax" or dtype != "int64" else "int32"))
    with pytest.raises(TypeError, match="elements must be bytes"):
        gfk.multiply(2, x)
    with pytest.raises(TypeError, match="elements must be bytes"):
        gfk.RS(2, 1).encode([x, x])


def test_shapes(gpu_arrays):
    code, x = gfk.RS(4, 2), gpu_arrays.array(SMALL)
    for wrong in (x[:3], x[0], [x[0]] * 3, [x[0], x[1], x[2], x[3, :8]]):
        with pytest.raises(ValueError):
            code.encode(wrong)
    with pytest.raises(ValueError):
        code.verify(x, x)
    with pytest.raises(gfk.InvalidSize):
        gfk.multiply(2, gpu_arrays.array(SMALL[0, :15]), field=16)


def test_gaps(gpu_arrays):
    if gpu_arrays.name == "jax":
        return  # its arrays have none
    x = gpu_arrays.array(SMALL)
    for wrong in (x.T, x[:, ::2], x[:, :3]):
        with pytest.raises(ValueError, match="not contiguous"):
            gfk.multiply(2, wrong)
    code = gfk.RS(2, 1)  # rows may be apart
    assert (gpu_arrays.numpy(code.encode(x[::2, :8])) == code.encode(SMALL[::2, :8])).all()


def test_places(gpu_arrays):
    x = gpu_arrays.array(SMALL)
    for arguments in ((x, SMALL.copy()), (SMALL, x)):
        with pytest.raises((gfk.WrongDevice, TypeError)):  # TypeError: jax's are immutable
            gfk.multiply(2, arguments[0], out=arguments[1])
    with pytest.raises(gfk.WrongDevice):
        gfk.RS(4, 2).verify(x, SMALL[:2])
    with pytest.raises(gfk.WrongDevice):
        gfk.RS(3, 1).encode([x[0], SMALL[1], x[2]])


def test_frameworks(make_arrays):
    torch, cupy = (pytest.importorskip(name) and make_arrays(name, "cuda") for name in ("torch", "cupy"))
    with pytest.raises(TypeError, match="the arrays of one call on a GPU are of one framework"):
        gfk.multiply(2, torch.array(SMALL), out=cupy.array(SMALL))


def test_rows_of_the_cpu(gpu_arrays):
    """A kernel or an engine of the CPU never reads a GPU's memory."""
    x = gpu_arrays.array(SMALL)
    with pytest.raises(gfk.WrongDevice):
        gfk.multiply(2, x, kernel="table_w8_host")
    with pytest.raises(gfk.Error):
        gfk.RS(4, 2, engine="host_w8").encode(x)
    with pytest.raises(gfk.NotSupported, match="element by element"):
        gfk.Field(8).multiply(x, x)


def test_jax_arrays_are_no_output(make_arrays):
    pytest.importorskip("jax")
    arrays = make_arrays("jax", "cuda")
    x = arrays.array(SMALL)
    with pytest.raises(TypeError, match="immutable"):
        gfk.multiply(2, x, out=x)
    assert (arrays.numpy(x) == SMALL).all()


def test_overlap(gpu_arrays):
    if gpu_arrays.name == "jax":
        return
    x = gpu_arrays.array(SMALL).reshape(-1)
    with pytest.raises(gfk.Overlap):
        gfk.multiply(2, x[:-1], out=x[1:])
    with pytest.raises(gfk.Overlap):
        gfk.RS(2, 1).encode([x[:16], x[16:32]], out=[x[8:24]])


def test_check_pointers(gpu_arrays):
    multiplier = gfk.Multiplier(8, check_pointers=True)
    assert (gpu_arrays.numpy(multiplier.multiply(2, gpu_arrays.array(SMALL))) == gfk.multiply(2, SMALL)).all()


def test_no_bytes(gpu_arrays):
    assert gpu_arrays.numpy(gfk.multiply(2, gpu_arrays.array(SMALL[:0]))).shape == (0, 16)


def test_gpus_that_are_not_there():
    with pytest.raises(gfk.Error):
        gfk.RS(4, 2).prepare("cuda:99")
    assert not any(k.available for k in gfk.kernels("cuda:99") if k.implementation != "host")
