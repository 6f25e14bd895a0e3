# SPDX-License-Identifier: BSD-3-Clause
"""The calls of gfk as operators of torch, which torch.compile and CUDA graphs take.

An operator's arguments are tensors, numbers and names; the code behind them is kept, and made at the first
call with such arguments in a place. That first call allocates: make it before the capture of a graph.
Operators whose names end in _out write a tensor that they are given. Arguments and errors are those of
gfk.RS, gfk.matmul and gfk.multiply; `w` and `polynomial` are those of gfk.Field.
"""

import functools
from collections.abc import Sequence

import torch

import gfk

__all__ = ["matmul", "multiply", "rs_decode", "rs_encode", "rs_encode_out", "rs_verify"]


@functools.lru_cache(maxsize=64)
def _code(k, m, w, polynomial, matrix):
    return gfk.RS(k, m, gfk.Field(w, polynomial), matrix=matrix)


@torch.library.custom_op("gfk::multiply", mutates_args=())
def multiply(c: int, x: torch.Tensor, w: int = 8, polynomial: int = 0) -> torch.Tensor:
    """c * x for every symbol of a tensor."""
    return gfk.multiply(c, x, field=gfk.Field(w, polynomial))


@multiply.register_fake
def _(c, x, w=8, polynomial=0):
    return torch.empty_like(x)


@torch.library.custom_op("gfk::matmul", mutates_args=())
def matmul(a: torch.Tensor, b: torch.Tensor, w: int = 8, polynomial: int = 0) -> torch.Tensor:
    """a b over GF(2^w): `a` has elements of w bits, and a row of `b` is a region."""
    return gfk.matmul(a, b, field=gfk.Field(w, polynomial))


@matmul.register_fake
def _(a, b, w=8, polynomial=0):
    return b.new_empty((a.shape[0], *b.shape[1:]))


@torch.library.custom_op("gfk::rs_encode", mutates_args=())
def rs_encode(data: torch.Tensor, m: int, w: int = 8, polynomial: int = 0, matrix: str = "cauchy") -> torch.Tensor:
    """The m parity regions of the rows of `data`."""
    return _code(data.shape[0], m, w, polynomial, matrix).encode(data)


@rs_encode.register_fake
def _(data, m, w=8, polynomial=0, matrix="cauchy"):
    return data.new_empty((m, *data.shape[1:]))


@torch.library.custom_op("gfk::rs_encode_out", mutates_args=("parity",))
def rs_encode_out(data: torch.Tensor, parity: torch.Tensor, w: int = 8, polynomial: int = 0,
                  matrix: str = "cauchy") -> None:
    """Writes the parity of the rows of `data` to the rows of `parity`."""
    _code(data.shape[0], parity.shape[0], w, polynomial, matrix).encode(data, out=parity)


@torch.library.custom_op("gfk::rs_decode", mutates_args=())
def rs_decode(data: torch.Tensor, parity: torch.Tensor, lost: Sequence[int], w: int = 8, polynomial: int = 0,
              matrix: str = "cauchy") -> torch.Tensor:
    """The lost regions, in the order of `lost`: rows of `data`, then of `parity`. Their contents are not read."""
    code = _code(data.shape[0], parity.shape[0], w, polynomial, matrix)
    return code.decode(data, parity, list(lost))


@rs_decode.register_fake
def _(data, parity, lost, w=8, polynomial=0, matrix="cauchy"):
    return data.new_empty((len(lost), *data.shape[1:]))


@torch.library.custom_op("gfk::rs_verify", mutates_args=())
def rs_verify(data: torch.Tensor, parity: torch.Tensor, w: int = 8, polynomial: int = 0,
              matrix: str = "cauchy") -> torch.Tensor:
    """One int32: 0 if the parity matches the data, else 1. Does not wait."""
    word = torch.empty(1, dtype=torch.int32, device=data.device)
    return _code(data.shape[0], parity.shape[0], w, polynomial, matrix).verify(data, parity, out=word)


@rs_verify.register_fake
def _(data, parity, w=8, polynomial=0, matrix="cauchy"):
    return data.new_empty(1, dtype=torch.int32)
