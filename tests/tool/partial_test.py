#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""decode --partial writes what can be restored, and lists the bytes that are missing; holes in what
decode writes."""

import os
import re

import harness
from harness import BLOCK_HEADER, HEADER, Folder, check, flip, shard

BLOCK = 512


K, M = 3, 2
STRIPE = K * BLOCK
SIZE = 10 * STRIPE + 700  # the last stripe has blocks of 256 bytes


def spoil(folder, bad, *blocks):
    """Damages blocks: pairs of shard and stripe."""
    for index, stripe in blocks:
        flip(folder / shard("f", index), HEADER + stripe * (BLOCK_HEADER + BLOCK) + BLOCK_HEADER + 7)
        bad.add((index, stripe))


def missing(bad):
    """The bytes that the intact blocks do not give."""
    result = []
    for stripe in range(11):
        length = BLOCK if stripe < 10 else 256
        lost = [index for index in range(K + M) if (index, stripe) in bad]
        for index in lost if len(lost) > M else ():
            begin = stripe * STRIPE + index * length
            end = min(begin + length, SIZE)
            if index < K and begin < end and result and sum(result[-1]) == begin:
                result[-1] = (result[-1][0], result[-1][1] + end - begin)
            elif index < K and begin < end:
                result.append((begin, end - begin))
    return result


def expected(content, ranges):
    """The file with zeros in the place of missing bytes."""
    result = bytearray(content)
    for offset, count in ranges:
        result[offset:offset + count] = bytes(count)
    return bytes(result)


def partial(folder, content, ranges, *arguments):
    """The file that --partial writes, in text and in JSON."""
    run = folder.gfk("decode", "--partial", "-o", "out", *arguments, "f", expect=harness.UNRECOVERABLE)
    check(folder.read("out") == expected(content, ranges), "the bytes of the file")
    said = [(int(a), int(b) - int(a) + 1) for a, b in re.findall("missing: bytes (\\d+) to (\\d+)\n", run.text)]
    check(said == ranges and not folder.temps(), run.text)
    total = sum(count for _, count in ranges)
    check(f"out is not complete: {total} of {len(content)} bytes are missing" in run.err, run.err)
    run = folder.gfk("decode", "--partial", "--json", "-f", "-o", "out", *arguments, "f",
                     expect=harness.UNRECOVERABLE).json()
    check([(m["offset"], m["bytes"]) for m in run["missing"]] == ranges and run["exit"] == 3, run)
    check(run["bytes"] == len(content) and folder.read("out") == expected(content, ranges), "with JSON")
    os.unlink(folder / "out")


def stripes_beyond_repair():
    with Folder() as folder:
        content = harness.rng.randbytes(SIZE)
        folder.write("f", content)
        folder.gfk("encode", f"-k{K}", f"-m{M}", "--block-size", BLOCK, "f")
        os.unlink(folder / "f")
        bad = set()
        spoil(folder, bad, (0, 2), (1, 2), (4, 2), (1, 5), (2, 5), (3, 5), (0, 7), (4, 7))
        check(missing(bad) == [(2 * STRIPE, 2 * BLOCK), (5 * STRIPE + BLOCK, 2 * BLOCK)], missing(bad))
        run = folder.gfk("decode", "f", expect=harness.UNRECOVERABLE)
        check("f" not in folder.names() and "cannot be restored" in run.err, run.err)
        partial(folder, content, missing(bad))
        folder.gfk("decode", "-o", "-", "--partial", "f", expect=harness.UNRECOVERABLE)
        spoil(folder, bad, (0, 10), (1, 10), (2, 10))
        partial(folder, content, missing(bad))
        for index in (2, 3, 4):  # two shards are left
            os.unlink(folder / shard("f", index))
            bad |= {(index, stripe) for stripe in range(11)}
        partial(folder, content, missing(bad))
        for index in (0, 1):  # and their ends are cut off
            os.truncate(folder / shard("f", index), HEADER + 4 * (BLOCK_HEADER + BLOCK))
            bad |= {(index, stripe) for stripe in range(4, 11)}
        partial(folder, content, missing(bad))


def nothing_is_missing():
    with Folder() as folder:
        content = harness.encoded(folder)
        os.unlink(folder / shard("f", 1))
        folder.gfk("decode", "--partial", "-o", "out", "f")
        run = folder.gfk("decode", "--partial", "--json", "-o", "again", "f").json()
        check(folder.read("out") == folder.read("again") == content and run["missing"] == [], run)
    with Folder() as folder:  # what is lost is padding alone
        folder.write("f", b"x")
        folder.gfk("encode", "-k3", "-m1", "f")
        folder.lose("f", 1, 2)
        folder.gfk("decode", "-o", "out", "f", expect=harness.UNRECOVERABLE)
        folder.gfk("decode", "--partial", "-o", "out", "f")
        check(folder.read("out") == b"x", "padding")
        os.unlink(folder / shard("f", 0))  # nothing is left
        folder.gfk("decode", "--partial", "-o", "none", "f", expect=harness.UNRECOVERABLE)
        check("none" not in folder.names(), "a file without contents")


def several_sets():
    """A complete set comes before a part of a newer one; without a complete one, the newest counts."""
    contents = [harness.rng.randbytes(SIZE) for _ in range(3)]
    with Folder() as folder:
        for number, content in enumerate(contents):
            os.mkdir(folder / f"d{number}")
            folder.write("f", content)
            os.utime(folder / "f", (10**9 + number,) * 2)
            folder.gfk("encode", f"-k{K}", f"-m{M}", "--block-size", BLOCK, "--to", f"d{number}", "f")

        def spoil_set(number, stripe, count=3):
            for index in range(count):
                flip(folder / f"d{number}/{shard('f', index)}",
                     HEADER + stripe * (BLOCK_HEADER + BLOCK) + BLOCK_HEADER + 7)

        every = ("--in", "d0,d1,d2", "f")
        spoil_set(2, 4)
        run = folder.gfk("decode", "--partial", "-o", "out", *every)
        check(folder.read("out") == contents[1] and run.err.count("trying the next set") == 1, run.err)
        check(f"that of d1/{shard('f', 0)}" in run.err and "missing" not in run.text, run.err)
        spoil_set(1, 0)
        run = folder.gfk("decode", "--partial", "-f", "--json", "-o", "out", *every).json()
        check(folder.read("out") == contents[0] and run["missing"] == [], run)
        check(sum("trying the next set" in m for m in run["messages"]) == 2, run)
        folder.gfk("decode", "--partial", "-f", "-o", "-", *every, expect=harness.UNRECOVERABLE)
        spoil_set(0, 1)
        run = folder.gfk("decode", "--partial", "-f", "-o", "out", *every, expect=harness.UNRECOVERABLE)
        check(folder.read("out") == expected(contents[2], [(4 * STRIPE, STRIPE)]), run.err)
        check("no set of f can be restored completely; writing a part of the newest set" in run.err and
              run.text.count("missing: ") == 1 and not folder.temps(), run.err)
        for index in range(K + M):  # the newest has nothing left: a part of the next one
            os.truncate(folder / f"d2/{shard('f', index)}", HEADER)
        run = folder.gfk("decode", "--partial", "-f", "-o", "out", *every, expect=harness.UNRECOVERABLE)
        check(folder.read("out") == expected(contents[1], [(0, STRIPE)]), run.err)
        folder.gfk("decode", "--partial", "-o", "out", *every, expect=harness.EXISTS)


def holes():
    """decode does not write runs of zeros of 4 KiB; to a pipe it does."""
    for block in (64, 4096, 1 << 20):
        with Folder() as folder:
            content = bytes(3 << 20) + b"x" + bytes(5 << 20) + harness.rng.randbytes(9000) + bytes(100000)
            folder.write("f", content)
            folder.gfk("encode", "-k3", "-m2", "--block-size", block, "f")
            os.unlink(folder / "f")
            folder.gfk("decode", "f")
            check(folder.read("f") == content, "contents")
            check(os.stat(folder / "f").st_blocks * 512 < 100000, os.stat(folder / "f").st_blocks)
            check(folder.gfk("decode", "-o", "-", "f").out == content, "standard output")
            folder.write("g", bytes(1 << 20))
            folder.gfk("encode", "-k2", "-m1", "g")
            folder.gfk("decode", "-f", "g")
            check(folder.read("g") == bytes(1 << 20) and os.stat(folder / "g").st_blocks == 0, "zeros alone")


harness.main(stripes_beyond_repair, nothing_is_missing, several_sets, holes)
