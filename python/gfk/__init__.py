# SPDX-License-Identifier: BSD-3-Clause
"""Galois-field arithmetic GF(2^w), Reed-Solomon codes and network coding on arrays of the GPU and the CPU.

Arrays are those of numpy, torch, cupy, jax, or of anything else that exports DLPack; nothing is copied. A
call works where its arrays are: in the CPU's memory on the CPU, on a CUDA device there, in the order of the
framework's current stream. Results are arrays of the same framework in the same place.
"""

import functools

from . import _core, _reduce, files  # noqa: F401
from ._bytes import join, split
from ._core import *  # noqa: F403
from ._core import Field, Multiplier, Product, __version__
from ._host import pinned_empty
from ._matrix import Matrix
from ._records import (
    Advice, Calibration, CompiledKernelInfo, EngineInfo, KernelInfo, Located, MultiplierInfo, PipelineInfo,
    ProductInfo, Report, RLNCRecord, RSInfo,
)


@functools.lru_cache(maxsize=64)
def _multiplier(field, method, implementation, kernel):
    return Multiplier(field, method=method, implementation=implementation, kernel=kernel)


def multiply(c, x, *, field=8, method=None, implementation="auto", kernel=None, out=None, accumulate=False,
             pipeline=None):
    """c * x for every symbol of an array, or out ^= c * x with accumulate.

    The arguments are those of Multiplier and Multiplier.multiply; the 64 multipliers that were used last
    are kept."""
    if type(field) is not int and not isinstance(field, Field):
        field = Multiplier(field).field  # or TypeError: a float that equals a width is in no cache
    multiplier = _multiplier(field, method, implementation, kernel)
    return multiplier.multiply(c, x, out, accumulate, pipeline=pipeline)


def product(matrix, x, *, field=8, out=None, accumulate=False, pipeline=None):
    """One run of a Product that is made for it and then freed; waits on a GPU."""
    return Product(matrix, field).run(x, out, accumulate, pipeline=pipeline)


for _name in dir(_core):
    _thing = getattr(_core, _name)
    if isinstance(_thing, type) and issubclass(_thing, Exception):
        _thing.__module__ = "gfk"  # what tracebacks show

__all__ = [name for name in dir(_core) if not name.startswith("_")]
__all__ += ["Advice", "Calibration", "CompiledKernelInfo", "EngineInfo", "KernelInfo", "Located", "Matrix",
            "MultiplierInfo", "PipelineInfo", "ProductInfo", "RLNCRecord", "RSInfo", "Report", "files", "join", "multiply",
            "pinned_empty", "product", "split"]
