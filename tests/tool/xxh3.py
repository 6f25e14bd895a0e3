# SPDX-License-Identifier: BSD-3-Clause
"""XXH3 from the library that the tool itself uses."""

import ctypes
import ctypes.util


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


_library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
for _name, _result in (("XXH3_64bits", ctypes.c_uint64), ("XXH3_128bits", Hash128)):
    getattr(_library, _name).argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    getattr(_library, _name).restype = _result


def hash64(content):
    return _library.XXH3_64bits(content, len(content))


def hash128(content):
    """Lower half, upper half."""
    result = _library.XXH3_128bits(content, len(content))
    return result.low, result.high
