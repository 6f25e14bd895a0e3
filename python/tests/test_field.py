# SPDX-License-Identifier: BSD-3-Clause
"""Field, against polynomials over GF(2) multiplied and reduced here, bit by bit."""

import copy
import pickle

import gfk
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

POLYNOMIALS = {8: 0x11D, 16: 0x1100B, 32: 0x100400007}
OTHERS = {8: 0x11B, 16: 0x1002D, 32: 0x10000008D}  # irreducible, too
FIELDS = [gfk.Field(w, p) for table in (POLYNOMIALS, OTHERS) for w, p in table.items()]


def product(a, b, polynomial):
    result, w = 0, polynomial.bit_length() - 1
    for i in range(w):
        result ^= (a << i) if b >> i & 1 else 0
    for i in range(2 * w - 2, w - 1, -1):
        result ^= (polynomial << (i - w)) if result >> i & 1 else 0
    return result


@st.composite
def elements(draw, count):
    """A field and some of its elements."""
    f = draw(st.sampled_from(FIELDS))
    return f, *(draw(st.integers(0, 2**f.w - 1)) for _ in range(count))


@given(elements(2))
def test_multiply(case):
    f, a, b = case
    assert f.multiply(a, b) == product(a, b, f.polynomial)


@given(elements(3))
def test_laws(case):
    f, a, b, c = case
    assert f.multiply(a, b ^ c) == f.multiply(a, b) ^ f.multiply(a, c)
    assert f.multiply(f.multiply(a, b), c) == f.multiply(a, f.multiply(b, c))
    if b:
        assert f.multiply(f.divide(a, b), b) == a
        assert f.multiply(b, f.inverse(b)) == 1


@given(elements(1), st.integers(0, 300))
def test_power(case, exponent):
    f, a = case
    expected = 1
    for _ in range(exponent):
        expected = product(expected, a, f.polynomial)
    assert f.power(a, exponent) == expected


def test_the_generator_generates():
    for f in FIELDS:
        order = 2**f.w - 1
        primes = [p for p in (3, 5, 17, 257, 65537) if order % p == 0]
        assert f.power(f.generator, order) == 1
        assert all(f.power(f.generator, order // p) != 1 for p in primes)


def test_members():
    for w, polynomial in POLYNOMIALS.items():
        f = gfk.Field(w)
        assert (f.w, f.polynomial) == (w, polynomial)
        assert repr(f) == f"gfk.Field({w}, polynomial={polynomial:#x})"
        assert eval(repr(f)) == f
    assert gfk.Field().w == 8
    with pytest.raises(AttributeError):
        gfk.Field().w = 16


def test_equality_hash_copies_and_pickle():
    f, other = gfk.Field(8, 0x11B), gfk.Field(8)
    assert f == gfk.Field(8, 0x11B) and f != other and f != 8 and f != None  # noqa: E711
    assert len({f, other, gfk.Field(8, 0x11B)}) == 2
    for made in (pickle.loads(pickle.dumps(f)), copy.copy(f), copy.deepcopy(f)):
        assert made == f and made.multiply(2, 0x80) == 0x1B


# ---- arrays ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("w", POLYNOMIALS)
def test_arrays(cpu_arrays, random, w):
    f, word = gfk.Field(w), f"uint{w}"
    a, b = (random.integers(1, 2**w, (5, 8), word) for _ in range(2))
    in_a, in_b = cpu_arrays.array(a), cpu_arrays.array(b)
    each = {name: numpy.array([getattr(f, name)(int(x), int(y)) for x, y in zip(a.flat, b.flat)], word)
            for name in ("multiply", "divide")}
    for name, expected in each.items():
        result = cpu_arrays.numpy(getattr(f, name)(in_a, in_b))
        assert result.dtype == word and result.shape == (5, 8) and (result.ravel() == expected).all()
    assert (cpu_arrays.numpy(f.multiply(f.inverse(in_a), in_a)) == 1).all()
    assert (cpu_arrays.numpy(f.power(in_a, 2)) == cpu_arrays.numpy(f.multiply(in_a, in_a))).all()
    assert (cpu_arrays.numpy(f.power(in_a, 2**w - 1)) == 1).all()


def test_an_integer_beside_an_array():
    f, x = gfk.Field(), numpy.arange(1, 256, dtype=numpy.uint8)
    assert (f.multiply(7, x) == gfk.multiply(7, x)).all() and (f.multiply(x, 7) == gfk.multiply(7, x)).all()
    assert (f.divide(1, x) == f.inverse(x)).all()
    assert (f.multiply(f.divide(x, 7), 7) == x).all()


def test_numpy_scalars_are_integers():
    f, x = gfk.Field(16), numpy.arange(5, dtype=numpy.uint16)
    for a in (x[3], numpy.int64(3), numpy.uint8(3)):
        assert f.multiply(a, 7) == 9 and isinstance(f.multiply(7, a), int)
        assert f.multiply(x, a).tolist() == [0, 3, 6, 5, 12]
    assert f.power(numpy.int64(3), 2) == 5


def test_out():
    f, x = gfk.Field(), numpy.arange(8, dtype=numpy.uint8)
    out = numpy.zeros(8, numpy.uint8)
    assert f.multiply(x, 3, out=out) is out and (out == gfk.multiply(3, x)).all()
    assert f.multiply(x, x, out=x) is x and x[3] == 5
    with pytest.raises(gfk.InvalidSize):
        f.multiply(x, 3, out=numpy.zeros(9, numpy.uint8))


def test_empty_arrays():
    assert gfk.Field(16).multiply(numpy.zeros((0, 3), numpy.uint16), 5).shape == (0, 3)


# ---- errors --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("arguments, error, base", [
    ((4,), gfk.NotSupported, RuntimeError), ((64,), gfk.NotSupported, RuntimeError),
    ((8, 0x1D), gfk.InvalidArgument, ValueError), ((8, 0x1100B), gfk.InvalidArgument, ValueError),
    ((8, 0x11C), gfk.ReduciblePolynomial, ValueError), ((16, 0x10001), gfk.ReduciblePolynomial, ValueError)])
def test_fields_that_are_refused(arguments, error, base):
    with pytest.raises(error) as caught:
        gfk.Field(*arguments)
    assert isinstance(caught.value, base) and isinstance(caught.value, gfk.Error)
    assert caught.value.status is error.status in gfk.Status and str(caught.value)


def test_division_by_zero():
    f, x = gfk.Field(), numpy.array([1, 0], numpy.uint8)
    for call in (lambda: f.divide(1, 0), lambda: f.divide(0, 0), lambda: f.inverse(0), lambda: f.inverse(x),
                 lambda: f.divide(x, x)):
        with pytest.raises(gfk.DivisionByZero):
            call()
        with pytest.raises(ZeroDivisionError):
            call()
    assert f.power(0, 0) == 1


@pytest.mark.parametrize("value", [256, -1, 2**40, 2**70, numpy.int64(-1)], ids=str)
def test_elements_out_of_range(value):
    f, x = gfk.Field(), numpy.zeros(2, numpy.uint8)
    for call in (lambda: f.multiply(value, 1), lambda: f.multiply(1, value), lambda: f.inverse(value),
                 lambda: f.multiply(x, value), lambda: gfk.multiply(value, x)):
        with pytest.raises(gfk.InvalidConstant, match=r"not an element of GF\(2\^8\)"):
            call()


@pytest.mark.parametrize("value", [1.0, "1", None, [1]], ids=repr)
def test_elements_that_are_no_integers(value):
    with pytest.raises(TypeError):
        gfk.Field().multiply(value, 1)
    with pytest.raises(TypeError):
        gfk.Field().power(2, value)


def test_arrays_that_do_not_fit():
    f, x = gfk.Field(), numpy.zeros(4, numpy.uint8)
    with pytest.raises(ValueError, match="a and b have 4 and 5 bytes"):
        f.multiply(x, numpy.zeros(5, numpy.uint8))
    with pytest.raises(TypeError):
        f.multiply(x, numpy.zeros(4, numpy.float32))


@pytest.mark.parametrize("w", [8, 16, 32])
def test_an_out_that_overlaps_an_argument(w):
    f, x = gfk.Field(w), numpy.arange(1, 10, dtype=f"uint{w}")
    y, before = x[:-1].copy(), x.copy()
    for call in (lambda a, out: f.multiply(a, 3, out), lambda a, out: f.multiply(y, a, out),
                 lambda a, out: f.divide(a, y, out), lambda a, out: f.inverse(a, out),
                 lambda a, out: f.power(a, 3, out)):
        for a, out in ((x[:-1], x[1:]), (x[1:], x[:-1])):
            with pytest.raises(gfk.Overlap, match="out may be a or b itself"):
                call(a, out)
        assert (x == before).all()
    assert f.multiply(x, x, out=x) is x and (x == f.power(before, 2)).all()
    half = numpy.concatenate([y, y])
    assert (f.inverse(half[:8], half[8:]) == f.inverse(y)).all(), "memory that only touches"


@pytest.mark.parametrize("value", [-1, 2**32, 2**40, 2**64, numpy.int64(-1)], ids=str)
def test_exponents_out_of_range(value):
    for a in (2, numpy.ones(3, numpy.uint8)):
        with pytest.raises(ValueError, match=f"exponent: an integer from 0 to 2.32 - 1 .* not {value}"):
            gfk.Field().power(a, value)
    assert gfk.Field().power(2, 2**32 - 1) == gfk.Field().power(2, (2**32 - 1) % 255)


@pytest.mark.parametrize("w", [-1, 0, 1, 7, 2**40, 2**64, 2**70, numpy.int64(-1)], ids=str)
def test_widths_out_of_range(w):
    x = numpy.ones((1, 4), numpy.uint8)
    for call in (lambda: gfk.Multiplier(w), lambda: gfk.matmul(x[:, :1], x, field=w),
                 lambda: gfk.RS(2, 1, w), lambda: gfk.RLNC(2, 8, w), lambda: gfk.Product([[1]], w)):
        with pytest.raises(gfk.NotSupported, match=f"(w|field): a field has 8, 16 or 32 bits, not {w}$"):
            call()


@pytest.mark.parametrize("polynomial", [1, 0x1D, 0x1100B])
def test_polynomials_of_another_degree(polynomial):
    with pytest.raises(gfk.InvalidArgument, match=f"polynomial: {hex(polynomial)} is not of degree 8"):
        gfk.Field(8, polynomial)


def test_where_a_field_is_asked_for():
    for wrong in ("8", 8.0, [8], numpy.zeros(1, numpy.uint8)):
        with pytest.raises(TypeError, match="a gfk.Field is needed, or a width"):
            gfk.Multiplier(wrong)
    assert gfk.Multiplier(gfk.Field(8, 0x11B)).field.polynomial == 0x11B
    assert gfk.Multiplier(numpy.int64(16)).field == gfk.Field(16)


def test_every_status_has_its_exception():
    names = {name for name in gfk.__all__ if isinstance(getattr(gfk, name), type)
             and issubclass(getattr(gfk, name), gfk.Error)}
    assert {"Singular", "TooManyErasures", "WrongDevice", "TableLimit", "Corrupt"} <= names
    statuses = {getattr(gfk, name).status for name in names - {"Error"}}
    assert len(statuses) == len(names) - 1
    assert issubclass(gfk.OutOfMemory, MemoryError) and issubclass(gfk.Singular, ArithmeticError)
