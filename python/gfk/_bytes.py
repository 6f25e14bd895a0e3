# SPDX-License-Identifier: BSD-3-Clause
"""Bytes as the regions of a code, and back."""

import numpy

from ._arrays import to_host


def split(data, k):
    """k regions that hold the bytes of `data`: a new numpy array (k, length) of uint8, with zeros behind the data.

    data: bytes, or another object with the buffer protocol and no gaps. length is the least multiple of 4 for which
    the data fit, so that the regions are whole symbols of every field. join is the way back.
    Raises ValueError (k below 1, gaps), TypeError (no buffer)."""
    data = numpy.frombuffer(data, numpy.uint8)
    if k < 1:
        raise ValueError(f"k: an integer from 1 is needed, not {k}")
    regions = numpy.zeros((k, -(-len(data) // (4 * k)) * 4), numpy.uint8)
    regions.reshape(-1)[:len(data)] = data
    return regions


def join(regions, length=None):
    """The first `length` bytes of regions, one after the other, as bytes; None: all of them.

    regions: an array whose rows are the regions, or a list of arrays, of any framework and place; waits for a GPU.
    Raises ValueError where the regions have fewer bytes than `length`."""
    rows = regions if isinstance(regions, (list, tuple)) else [regions]
    data = b"".join(numpy.ascontiguousarray(to_host(row)).tobytes() for row in rows)
    if length is not None and not 0 <= length <= len(data):
        raise ValueError(f"length: {length} is not from 0 to {len(data)}, the bytes of the regions")
    return data[:length]
