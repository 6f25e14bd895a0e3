# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in pinned memory, and the reports of pipelines."""

import math
import typing

import numpy

from . import _core


class Report(typing.NamedTuple):
    """What a call of a Pipeline did. The counts are in bytes of one region: cpu_bytes + gpu_bytes is the
    length of a region."""

    path: str  # "cpu", "gpu" or "both"
    reason: str  # for the choice, one sentence
    cpu_bytes: int
    gpu_bytes: int
    device_bytes: tuple  # gpu_bytes by device, in the order of info()["devices"]
    redone_bytes: int  # the part of cpu_bytes that a failed device should have done
    device_status: str | None  # of the first device that failed, "GFK_STATUS_..."; None: none failed
    staged_regions: int  # regions that went through pinned buffers; 0 on the CPU
    chunk: int  # bytes of one chunk, all regions together; 0 on the CPU
    seconds: float


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
