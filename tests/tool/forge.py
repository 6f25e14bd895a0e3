# SPDX-License-Identifier: BSD-3-Clause
"""Headers of shards with other values, and checksums that fit."""

import struct

import xxh3
from harness import HEADER

_FIELDS = {"set_id": ("16s", 16), "w": ("<I", 32), "matrix": ("<I", 36), "polynomial": ("<Q", 40), "k": ("<I", 48),
           "m": ("<I", 52), "index": ("<I", 56), "block": ("<Q", 64), "size": ("<Q", 72), "hash": ("<Q", 80), "name_bytes": ("<I", 96),
           "name": ("255s", 100), "seconds": ("<q", 360)}


def promise(content, **values):
    """The first header of a shard with other values."""
    made = bytearray(content[:HEADER])
    if "name" in values:
        values.setdefault("name_bytes", len(values["name"]))
    for name, value in values.items():
        struct.pack_into(_FIELDS[name][0], made, _FIELDS[name][1], value)
    struct.pack_into("<Q", made, HEADER - 8, xxh3.hash64(bytes(made[:HEADER - 8])))
    return bytes(made)
