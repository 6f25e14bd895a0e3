# SPDX-License-Identifier: BSD-3-Clause
"""Matrices that the library generates. generated() in src/matrix.cpp reads them."""

import dataclasses

import numpy

from . import _core
from ._arrays import integers


def _points(points, count, name):
    if points is None:
        return None
    made = integers(points, 2**32 - 1, "uint32", _core.InvalidConstant, name)
    if made.size != count:
        raise ValueError(f"{name}: {count} points are needed; there are {made.size}")
    return made


def problem(matrix, status, w):
    """What is wrong with a matrix in a field of w bits, by a status of the library; None: the status says all."""
    size = f"{matrix.rows} rows, {matrix.cols} columns and first = {matrix.first}"
    if status == _core.Status.INVALID_CONSTANT:
        return f"row_points, col_points: a point is not from 0 to 2^{w} - 1, so it is no element of GF(2^{w})"
    if status == _core.Status.INVALID_ARGUMENT:
        return "row_points, col_points: two points are equal"
    if status == _core.Status.NOT_SUPPORTED and matrix.kind == "par2":
        return "field: a matrix of PAR2 has the field of 16 bits with GF-Complete's polynomial"
    if status != _core.Status.INVALID_SIZE:
        return None
    if matrix.kind == "par2":
        return ("rows, cols, first: a matrix of PAR2 has 32768 columns at most, and first + rows is at most 65535; here "
                f"are {size}")
    if matrix.kind == "random":
        return f"first: {matrix.first} + {matrix.rows} rows passes 2^64"
    if matrix.kind == "vandermonde" and max(matrix.rows, matrix.cols) <= 1 << w:
        return f"first: {matrix.first} + the rows or columns passes 2^64"
    return f"rows, cols, first: {size} need more points than the 2^{w} elements of GF(2^{w})"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Matrix:
    """A matrix that the library generates where it is needed; matmul takes it in the place of an array, and Product
    too. It has no field and no place of its own. The class methods make one.

    `first` is where a part of a larger matrix begins. Points are integers below 2^w, no two of them equal. j is the
    number of a row, i of a column."""

    kind: str
    rows: int
    cols: int
    first: int = 0
    seed: int = 0
    row_points: numpy.ndarray | None = None
    col_points: numpy.ndarray | None = None

    def __post_init__(self):
        for name, count in ("row_points", self.rows), ("col_points", self.cols):
            object.__setattr__(self, name, _points(getattr(self, name), count, name))
        _core._check_matrix(self)

    @classmethod
    def cauchy(cls, rows, cols, *, row_points=None, col_points=None, first=0):
        """a[j][i] = 1 / (x_j + y_i): every square submatrix is regular.

        x_j is row_points[j], by default cols + first + j; y_i is col_points[i], by default i."""
        return cls("cauchy", rows, cols, first, row_points=row_points, col_points=col_points)

    @classmethod
    def vandermonde(cls, rows, cols, *, row_points=None, col_points=None, first=0):
        """Powers of points; 0^0 is 1. One of the two lists of points is given.

        row_points: a[j][i] = row_points[j]^(first + i). col_points: a[j][i] = col_points[i]^(first + j)."""
        if (row_points is None) == (col_points is None):
            raise ValueError("one of row_points and col_points is needed, and not both")
        return cls("vandermonde", rows, cols, first, row_points=row_points, col_points=col_points)

    @classmethod
    def par2(cls, rows, cols, *, first=0):
        """The recovery slices of PAR2: a[j][i] = c_i^(first + j), where c_i = 2^n and n is the i-th of the numbers that
        3, 5, 17 and 257 do not divide. w = 16 only."""
        return cls("par2", rows, cols, first)

    @classmethod
    def random(cls, rows, cols, seed=0, *, first=0):
        """Uniform elements, zero included, from Philox4x32-10; include/gfk/matmul.h says which."""
        return cls("random", rows, cols, first, seed)

    def to_numpy(self, field=8):
        """The elements, a numpy array of the shape (rows, cols) of integers of w bits.

        field: a Field, or a width of 8, 16 or 32.
        Raises InvalidConstant (a point is not in the field), InvalidArgument (two equal points), InvalidSize (more
        points than the field has), NotSupported (PAR2 in another field)."""
        words, w = _core._matrix_words(self, field)
        return words.astype(f"uint{w}")

    @property
    def shape(self):
        """(rows, cols)"""
        return self.rows, self.cols

    def __repr__(self):
        return f"<gfk.Matrix.{self.kind} of {self.rows} x {self.cols}>"
