#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A reader of shards that knows docs/format.md and nothing else, over what the tool writes."""

import itertools
import os
import stat
import struct
import tarfile
import time

import harness
import xxh3
from harness import Folder, check, shard


def multiply(a, b, w, polynomial):
    product = 0
    while b:
        if b & 1:
            product ^= a
        a <<= 1
        if a >> w:
            a ^= polynomial
        b >>= 1
    return product


def inverse(a, w, polynomial):
    result, power = 1, a
    for _ in range(w - 1):  # a^(2^w - 2)
        power = multiply(power, power, w, polynomial)
        result = multiply(result, power, w, polynomial)
    return result


def read_header(raw):
    check(len(raw) == 512, "a header's length")
    check(raw[:8] == b"\x89GFK\r\n\x1a\n", "magic")
    (version, length, set_id, w, matrix, polynomial, k, m, index, mode, block, size, low, high,
     name_length) = struct.unpack_from("<II16sIIQIIIIQQQQI", raw, 8)
    seconds, nanoseconds = struct.unpack_from("<qI", raw, 360)
    check(version in (1, 2) and length == 512, "version and length")
    check(version == 2 or (seconds, nanoseconds) == (0, 0), "version 1 has no time")
    check(struct.unpack_from("<Q", raw, 504)[0] == xxh3.hash64(raw[:504]), "checksum")
    check(raw[100 + name_length:360] == bytes(260 - name_length) and raw[372:504] == bytes(132), "zeros")
    return {"set_id": set_id, "w": w, "matrix": matrix, "polynomial": polynomial, "k": k, "m": m,
            "index": index, "mode": mode, "block": block, "size": size, "hash": (low, high),
            "name": raw[100:100 + name_length], "version": version,
            "time": None if nanoseconds == 2**32 - 1 else seconds * 10**9 + nanoseconds}


def read_shard(raw):
    """Its header, and its blocks."""
    header = read_header(raw[:512])
    check(raw[:512] == raw[-512:], "the second header")
    blocks, at, left = [], 512, header["size"]
    while left > 0:
        stripe = min(left, header["k"] * header["block"])
        length = (stripe + 64 * header["k"] - 1) // (64 * header["k"]) * 64
        magic, index, set_id, number, said, zeros, checksum, own = struct.unpack_from(
            "<4sI16sQI12sQQ", raw, at)
        content = raw[at + 64:at + 64 + length]
        check(magic == b"\x89GFB" and zeros == bytes(12), "a block's magic and zeros")
        check((index, set_id, number, said) ==
              (header["index"], header["set_id"], len(blocks), length), "whose block it is")
        check(checksum == xxh3.hash64(content), "a block's checksum")
        check(own == xxh3.hash64(raw[at:at + 56]), "a block header's checksum")
        blocks.append(content)
        at += 64 + length
        left -= stripe
    check(at == len(raw) - 512, "a shard's length")
    return header, blocks


def check_parity(header, data, parity, j, rows):
    """Parity block j of a stripe, at some symbols."""
    w, polynomial = header["w"], header["polynomial"]
    form = {8: "<B", 16: "<H", 32: "<I"}[w]
    for _ in range(4):
        at = harness.rng.randrange(len(parity) * 8 // w) * (w // 8)
        expected = 0
        for i, block in enumerate(data):
            expected ^= multiply(rows[j][i], struct.unpack_from(form, block, at)[0], w, polynomial)
        check(struct.unpack_from(form, parity, at)[0] == expected, f"parity {j} at {at}")


def what_the_document_says():
    cases = [(1, 1, 8, 0x11d, 64, 1), (3, 2, 8, 0x11d, 64, 0), (3, 2, 8, 0x11b, 128, 1000),
             (10, 4, 8, 0x11d, 512, 20481), (4, 3, 16, 0x1100b, 256, 5000),
             (5, 2, 32, 0x100400007, 64, 3333), (4, 2, 8, 0x11d, 4096, 4 * 4096 * 2),
             (2, 1, 8, 0x11d, 64, 200001)]
    for k, m, w, polynomial, block, size in cases:
        content = harness.rng.randbytes(size)
        with Folder() as folder:
            name = "d\u00e4ta.bin"
            path = folder.write(name, content)
            os.chmod(path, 0o604)
            changed = harness.rng.randrange(-10**9, 10**10) * 10**9 + harness.rng.randrange(10**9)
            os.utime(path, ns=(0, changed))
            folder.gfk("encode", "-k", k, "-m", m, "-w", w, "--polynomial", hex(polynomial),
                       "--block-size", block, name)
            shards = [read_shard(folder.read(shard(name, i))) for i in range(k + m)]
        first = shards[0][0]
        check((first["k"], first["m"], first["w"], first["polynomial"], first["block"]) ==
              (k, m, w, polynomial, block), "the code")
        check(first["size"] == size and first["hash"] == xxh3.hash128(content), "the file")
        check(first["name"] == name.encode() and first["mode"] == stat.S_IMODE(0o604), "its name")
        check((first["version"], first["time"]) == (2, changed), "its time")
        check(first["matrix"] == 0, "cauchy")
        for i, (header, _) in enumerate(shards):
            check(header == dict(first, index=i), "headers differ in the index alone")
        stripes = list(zip(*(blocks for _, blocks in shards)))
        check(b"".join(b"".join(s[:k]) for s in stripes)[:size] == content, "the data")
        check(not any(b"".join(b"".join(s[:k]) for s in stripes)[size:]), "zeros behind it")
        rows = [[inverse(k + j ^ i, w, polynomial) for i in range(k)] for j in range(m)]
        for s in stripes:
            for j in range(m):
                check_parity(first, s[:k], s[k + j], j, rows)


def version_1_stays_readable():
    """Shards that the tool wrote before version 2: they come back, and stay what they are."""
    archive = os.path.join(os.path.dirname(os.path.abspath(__file__)), "version_1.tar.gz")
    with Folder() as folder:
        with tarfile.open(archive) as tar:
            tar.extractall(folder.path)
        content, shards = folder.read("old.txt"), folder.contents("old.txt.gfk.")
        os.unlink(folder / "old.txt")
        headers = [read_shard(shards[shard("old.txt", i)])[0] for i in range(3)]
        check([h["version"] for h in headers] == [1, 1, 1], headers)
        folder.gfk("verify", "old.txt")
        run = folder.gfk("info", "--json", "old.txt").json()
        check((run["mtime"], run["bytes"], run["mode"]) == ("", len(content), 0o640), run)
        for lost in range(3):
            os.unlink(folder / shard("old.txt", lost))
            before = time.time_ns() - 10**9
            folder.gfk("decode", "old.txt")
            check(folder.read("old.txt") == content, f"without shard {lost}")
            check(os.stat(folder / "old.txt").st_mtime_ns > before, "a time out of nothing")
            os.unlink(folder / "old.txt")
            folder.gfk("repair", "old.txt")
            check(folder.contents() == shards, f"shard {lost} is not what it was")
        for version, said, nanoseconds in ((3, 0, 0), (1, 0, 7), (2, 0, 10**9), (2, 1, 2**32 - 1)):
            for name, raw in shards.items():
                header = bytearray(raw[:512])
                struct.pack_into("<I", header, 8, version)
                struct.pack_into("<QI", header, 360, said, nanoseconds)
                struct.pack_into("<Q", header, 504, xxh3.hash64(bytes(header[:504])))
                folder.write(name, bytes(header) + raw[512:-512] + bytes(header))
            folder.gfk("decode", "old.txt", expect=harness.UNRECOVERABLE)


def sets_are_told_apart():
    with Folder() as folder:
        folder.write("f", b"the same")
        ids = set()
        for _ in range(4):
            folder.gfk("encode", "-k1", "-m1", "f")
            ids.add(read_shard(folder.read(shard("f", 0)))[0]["set_id"])
        check(len(ids) == 4, "every set has an id of its own")


def version_2_stays_readable():
    """Sets of every matrix, written by an earlier version of the tool: they come back, and any two shards are made
    again as they were."""
    archive = os.path.join(os.path.dirname(os.path.abspath(__file__)), "version_2.tar.gz")
    with Folder() as folder:
        with tarfile.open(archive) as tar:
            tar.extractall(folder.path)
        bases = [name for name in folder.names() if ".gfk." not in name]
        contents = folder.contents()
        check({base.split(".")[0] for base in bases} ==
              {"cauchy", "vandermonde", "reed_sol_van", "cauchy_good", "gen_rs", "gen_cauchy1"}, bases)
        for base in bases:
            run = folder.gfk("verify", "--json", base).json()
            check(run["matrix"] == base.split(".")[0] and run["w"] == int(base.split(".")[1]), run)
            check(run["mtime"] == "2025-01-01T00:00:00.123456789Z" and run["bad_shards"] == 0, run)
            check({read_shard(contents[shard(base, i)])[0]["version"] for i in range(5)} == {2}, base)
            os.unlink(folder / base)
            for lost in itertools.combinations(range(5), 2):
                folder.lose(base, *lost)
                folder.gfk("decode", base)
                check(folder.read(base) == contents[base], f"{base} without {lost}")
                os.unlink(folder / base)
                folder.gfk("repair", base)
                check(all(folder.read(shard(base, i)) == contents[shard(base, i)] for i in range(5)), base)


harness.main(what_the_document_says, version_1_stays_readable, version_2_stays_readable, sets_are_told_apart)
