# SPDX-License-Identifier: BSD-3-Clause
"""PAR2 by the "Parity Volume Set Specification 2.0", with nothing of the tool: packets, sets of files, recovery
slices. Products by a constant are tables of 256 bytes, which bytes.translate applies."""

import binascii
import functools
import hashlib
import itertools
import struct

MAGIC = b"PAR2\0PKT"
HEADER = 64
MAIN, FILE, CHECKSUMS, RECOVERY, CREATOR, UNICODE = (
    b"PAR 2.0\0" + name.ljust(8, b"\0")
    for name in (b"Main", b"FileDesc", b"IFSC", b"RecvSlic", b"Creator", b"UniFileN"))
ORDER = 65535  # of the multiplicative group


def md5(content):
    return hashlib.md5(content).digest()


# ---- the field ---------------------------------------------------------------------------------------

def powers_of_two():
    value, powers = 1, []
    for _ in range(ORDER):
        powers.append(value)
        value = value << 1 ^ (0x1100b if value & 0x8000 else 0)
    return powers


POWERS = powers_of_two()
LOGARITHMS = {value: exponent for exponent, value in enumerate(POWERS)}
# The logarithms of the constants of input slices.
CONSTANTS = [n for n in range(ORDER) if n % 3 and n % 5 and n % 17 and n % 257]
MOST_SLICES = len(CONSTANTS)


@functools.lru_cache(4096)
def tables(constant):
    """Of the products of 0 to 255 and of 256 times them: the low bytes and the high bytes."""
    result = []
    for shift in 0, 8:
        products = [0]
        for bit in range(shift, shift + 8):
            product = POWERS[(LOGARITHMS[constant] + bit) % ORDER]
            products += [product ^ other for other in products]
        result += [bytes(p & 255 for p in products), bytes(p >> 8 for p in products)]
    return result


def multiply(constant, region):
    """The product of each little-endian word, as a number of as many bytes."""
    if constant == 0:
        return 0
    low, high = region[::2], region[1::2]
    ll, lh, hl, hh = tables(constant)
    product = bytearray(len(region))
    for half, of_low, of_high in (0, ll, hl), (1, lh, hh):
        total = int.from_bytes(low.translate(of_low), "little") ^ int.from_bytes(high.translate(of_high), "little")
        product[half::2] = total.to_bytes(len(low), "little")
    return int.from_bytes(product, "little")


def recovery_slice(slices, exponent):
    """sum of c_i^exponent times slice i"""
    size = len(slices[0])
    if size <= 64:  # a table costs more than the slice
        words = [0] * (size // 2)
        for n, piece in zip(CONSTANTS, slices):
            by = n * exponent
            for i, word in enumerate(struct.unpack(f"<{size // 2}H", piece)):
                if word:
                    words[i] ^= POWERS[(LOGARITHMS[word] + by) % ORDER]
        return struct.pack(f"<{size // 2}H", *words)
    total = 0
    for n, piece in zip(CONSTANTS, slices):
        total ^= multiply(POWERS[n * exponent % ORDER], piece)
    return total.to_bytes(size, "little")


# ---- packets -----------------------------------------------------------------------------------------

def packet(kind, set_id, body, length=None):
    """A packet; with the checksum that belongs to a wrong length."""
    length = HEADER + len(body) if length is None else length
    return MAGIC + struct.pack("<Q", length) + md5(set_id + kind + body) + set_id + kind + body


def packets(content):
    """Kind, id of the set and body of each packet, in the order of the file; everything else is an error."""
    at, found = 0, []
    while at < len(content):
        assert content[at:at + 8] == MAGIC, f"no packet at {at}"
        length, = struct.unpack_from("<Q", content, at + 8)
        assert length % 4 == 0 and HEADER <= length <= len(content) - at, f"the packet at {at} has length {length}"
        assert md5(content[at + 32:at + length]) == content[at + 16:at + 32], f"checksum of the packet at {at}"
        found.append((content[at + 48:at + 64], content[at + 32:at + 48], content[at + HEADER:at + length]))
        at += length
    return found


def padded(text):
    return text + bytes(-len(text) % 4)


class File:
    """A file of a set, as the packets describe it."""

    def __init__(self, name, content):
        self.name, self.content = name, content
        self.encoded = name if isinstance(name, bytes) else name.encode()
        head = md5(content[:16384])
        self.id = md5(head + struct.pack("<Q", len(content)) + self.encoded)
        self.description = self.id + md5(content) + head + struct.pack("<Q", len(content)) + padded(self.encoded)

    def slices(self, size):
        return [self.content[at:at + size].ljust(size, b"\0") for at in range(0, len(self.content), size)]

    def checksums(self, size):
        return self.id + b"".join(md5(piece) + struct.pack("<I", binascii.crc32(piece)) for piece in self.slices(size))


class Set:
    """What the packets of a set of files have to be. files: content by name."""

    def __init__(self, size, files):
        self.size = size
        self.files = sorted((File(*item) for item in files.items()), key=lambda file: file.id[::-1])
        self.main = struct.pack("<QI", size, len(self.files)) + b"".join(file.id for file in self.files)
        self.id = md5(self.main)
        self.slices = list(itertools.chain.from_iterable(file.slices(size) for file in self.files))

    def packet(self, kind, body):
        return packet(kind, self.id, body)

    def critical(self):
        """Every packet but recovery slices. A file without a slice has no checksums of slices."""
        result = [self.packet(MAIN, self.main)]
        for file in self.files:
            result.append(self.packet(FILE, file.description))
            if file.content:
                result.append(self.packet(CHECKSUMS, file.checksums(self.size)))
        return [*result, self.packet(CREATOR, padded(b"the tests of gfk"))]

    def recovery(self, exponent):
        return self.packet(RECOVERY, struct.pack("<I", exponent) + recovery_slice(self.slices, exponent))

    def write(self, folder, exponents, base="set"):
        """The index and one volume with all these exponents."""
        folder.write(f"{base}.par2", b"".join(self.critical()))
        content = b"".join([*self.critical(), *map(self.recovery, exponents)])
        folder.write(f"{base}.vol{min(exponents)}+{len(exponents)}.par2", content)
