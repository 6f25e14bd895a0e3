# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in pinned memory."""

import math
import typing

import numpy

from . import _core


def pinned_empty(shape, dtype="uint8"):
    """A numpy array without contents in pinned memory, which the GPU accesses directly. Ordinary memory where
    there is no device. It takes long because it touches every page: make an array once, and use it again.

    Raises OutOfMemory, NotSupported (this machine cannot pin)."""
    dtype = numpy.dtype(dtype)
    shape = (shape,) if isinstance(shape, typing.SupportsIndex) else tuple(shape)
    if min(shape, default=0) < 0:
        raise ValueError("negative dimensions are not allowed")
    if dtype.hasobject:
        raise TypeError("pinned memory holds no objects of Python")
    if math.prod(shape) * dtype.itemsize == 0:
        return numpy.empty(shape, dtype)
    return _core._pinned_bytes(math.prod(shape) * dtype.itemsize).view(dtype).reshape(shape)
