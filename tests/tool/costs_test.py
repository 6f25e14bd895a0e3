#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Small inputs never cost much: headers that promise large codes and long files, holes instead of
contents, a pipe in the place of a file."""

import os
import resource
import shutil
import struct
import time

import harness
import xxh3
from forge import promise
from harness import BLOCK_HEADER, HEADER, Folder, check, shard

SETS = ("verify", "info", "decode", "repair", "scrub")


def small(arguments, folder, expect, seconds=5, **more):
    """Runs the tool with 2 GiB of memory and a limit on the time."""
    def limit():
        if not harness.options.reduced:  # the sanitizers reserve much more
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    start = time.monotonic()
    run = folder.gfk(*arguments, expect=expect, preexec_fn=limit, **more)
    taken = time.monotonic() - start
    check(taken < seconds * (20 if harness.options.reduced else 1), f"{arguments}: {taken} s")
    return run


def an_empty_file_in_a_large_code():
    with Folder() as folder:
        folder.write("f", b"")
        folder.gfk("encode", "-k1", "-m1", "f")
        os.unlink(folder / "f")
        header = promise(folder.read(shard("f", 0)), k=32768, m=32768, w=16, polynomial=0x1100b)
        folder.write(shard("f", 0), 2 * header)
        os.unlink(folder / shard("f", 1))
        run = small(("verify", "--json", "f"), folder, harness.DAMAGED).json()
        check(run["recoverable"] and run["bad_shards"] == 65535, run["bad_shards"])
        run = small(("decode", "--json", "f"), folder, harness.OK).json()
        check(folder.read("f") == b"" and run["engine"] == "none", run)
        folder.write("g", b"x")
        for more in ((), ("--memory", "1G")):
            run = small(("encode", "-w16", "-k32768", "-m32768", *more, "g"), folder, harness.USAGE)
            check("needs --memory 8589934592 or more" in run.err, run.err)
        check(folder.shards("g") == [], "shards of a code that is too large")


def an_empty_file_in_more_shards_than_may_be_open():
    """The headers say all of an empty file: whatever repair writes, the file comes back."""
    k = 700
    for limit in (40, 256, 1024):
        with Folder() as folder:
            folder.write("f", b"")
            folder.gfk("encode", "-k1", "-m1", "f")
            for index in range(2):
                header = promise(folder.read(shard("f", index)), k=k, m=k, w=16, polynomial=0x1100b)
                folder.write(shard("f", index), 2 * header)
            for lost in (range(2, 2 * k), range(0, 2 * k - 1), (5, 1000), ()):
                for index in lost:
                    if os.path.exists(folder / shard("f", index)):
                        os.unlink(folder / shard("f", index))
                folder.gfk("decode", "-f", "f", open_files=limit)
                check(folder.read("f") == b"", "decode")
                folder.gfk("verify", "f", open_files=limit, expect=harness.DAMAGED if lost else harness.OK)
                folder.gfk("scrub", ".", open_files=limit, expect=harness.DAMAGED if lost else harness.OK)
                run = folder.gfk("repair", "--json", "f", open_files=limit).json()
                check(run["repaired"] == len(lost) and len(folder.shards("f")) == 2 * k, run["repaired"])
                check(run["messages"] == [], run["messages"])
            for index in range(0, 2 * k, 7):
                shutil.copy(folder / shard("f", index), folder / f"copy {index}")
            harness.flip(folder / shard("f", 9), 3)
            folder.gfk("verify", "f", open_files=limit, expect=harness.DAMAGED)
            folder.gfk("scrub", "--repair", ".", open_files=limit)
            check(folder.temps() == [], "temporary files")


def a_large_code_in_many_small_files():
    """k shards are there, so that somebody could restore the file, in 8 GiB of memory."""
    k, m = 600, 64000
    with Folder() as folder:
        folder.write("f", b"x")
        folder.gfk("encode", "-k1", "-m1", "--block-size", "64", "f")
        first = folder.read(shard("f", 0))
        for index in range(k):
            header = promise(first, k=k, m=m, w=16, polynomial=0x1100b, index=index)
            folder.write(shard("f", index), header + first[HEADER:-HEADER] + header)
        for command in ("verify", "decode", "repair"):
            run = small((command, "-o", "out", "f") if command == "decode" else (command, "f"), folder,
                        harness.USAGE)
            check(f"a code with k = {k} and m = {m} needs --memory 307200000 or more" in run.err, run.err)


def a_part_of_a_large_code():
    """With fewer than k shards nothing can be computed, so the matrix of the code is not made."""
    k = 5000
    with Folder() as folder:
        folder.write("f", b"x")
        folder.gfk("encode", "-k1", "-m1", "--block-size", "64", "f")
        first = folder.read(shard("f", 0))
        os.unlink(folder / shard("f", 1))
        for matrix in range(6):
            header = promise(first, k=k, m=k, w=16, polynomial=0x1100b, size=64 * k, matrix=matrix)
            folder.write(shard("f", 0), header + first[HEADER:-HEADER] + header)
            run = small(("decode", "-f", "--partial", "f"), folder, harness.UNRECOVERABLE)
            check("f is not complete: 319936 of 320000 bytes are missing" in run.err, run.err)
            check(folder.read("f") == b"x" + bytes(64 * k - 1), "the block that is there")


def sparse(folder, block, size, k=1, m=1, **islands):
    """Shards with two headers, and nothing between them but some blocks."""
    folder.write("f", harness.rng.randbytes(3 * block))
    folder.gfk("encode", f"-k{k}", f"-m{m}", "--block-size", block, "f")
    os.unlink(folder / "f")
    stripes = -(-size // (k * block))
    length = 2 * HEADER + stripes * (BLOCK_HEADER + block)
    for index in range(k + m):
        header = promise(folder.read(shard("f", index)), size=size)
        with open(folder / shard("f", index), "wb") as file:
            file.write(header)
            for place in islands.get("at", ()):
                file.seek(HEADER + place * (BLOCK_HEADER + block))
                file.write(b"island")
            file.truncate(length)
            file.seek(length - HEADER)
            file.write(header)
    return stripes


def holes():
    """Blocks in holes are damaged, unread, however many a header promises."""
    for block, size, k, m, at in ((64, 1 << 30, 1, 1, ()), (64, 1 << 40, 2, 1, ()), (4096, 1 << 40, 3, 2, ()),
                                  (64, 1 << 36, 1, 2, (10**5, 10**8)), (1 << 20, 1 << 42, 2, 2, (1, 1000))):
        with Folder() as folder:
            stripes = sparse(folder, block, size, k, m, at=at)
            check(os.stat(folder / shard("f", 0)).st_blocks < 200, "the file system has no holes")
            for command in SETS:
                run = small((command, "." if command == "scrub" else "f"), folder,
                            harness.OK if command == "info" else harness.UNRECOVERABLE)
                check(command == "info" or "cannot be restored" in run.err, run.err)
            run = small(("verify", "--json", "f"), folder, harness.UNRECOVERABLE).json()
            check(stripes - 1000 * (len(at) + 2) <= run["lost_stripes"] <= stripes, run)
            check(folder.shards("f") == folder.names(), folder.names())


def holes_in_one_shard():
    """Contents in the other shards restore the blocks that are in holes, and repair fills the holes."""
    with Folder() as folder:
        content = harness.rng.randbytes(2 << 20)
        folder.write("f", content)
        folder.gfk("encode", "-k2", "-m2", "--block-size", "4K", "f")
        whole = folder.contents("f.gfk.")
        os.unlink(folder / "f")
        for index, begin, end in ((0, 100000, 600000), (2, 50000, 700000), (3, 700000, 1000000)):
            with open(folder / shard("f", index), "wb") as file:
                name = shard("f", index)
                file.write(whole[name][:begin])
                file.seek(end)
                file.write(whole[name][end:])
        run = folder.gfk("verify", "--json", "f", expect=harness.DAMAGED).json()
        check(run["lost_stripes"] == 0 and run["bad_shards"] == 3, run)
        folder.gfk("decode", "f")
        check(folder.read("f") == content, "decode")
        os.unlink(folder / "f")
        folder.gfk("repair", "f")
        check(folder.contents() == whole, "repair")


def shards_without_headers():
    """Long holes under the name of a shard: the search for what is left of headers skips them."""
    with Folder() as folder:
        folder.write("f", b"x" * 5000)
        folder.gfk("encode", "-k2", "-m2", "--block-size", "64", "f")
        header = promise(folder.read(shard("f", 1)), size=1 << 40)
        for index in range(4):
            with open(folder / shard("f", index), "wb") as file:
                file.write(header if index == 1 else bytes(100))
                file.truncate(2 * HEADER + (1 << 33) * (BLOCK_HEADER + 64))
        for command in SETS:
            small((command, "." if command == "scrub" else "f"), folder, None)


def copies_and_sets_of_one_name():
    """The time grows with the number of copies of a shard, and of sets that cannot be restored."""
    with Folder() as folder:
        folder.write("f", b"x")
        folder.gfk("encode", "-k1", "-m1", "--block-size", "64", "f")
        whole = folder.read(shard("f", 0))
        for index in range(20000):
            folder.write(shard("f", index), whole)
        for command in SETS:
            small((command, *(("-f",) if command == "decode" else ()), "." if command == "scrub" else "f"),
                  folder, None, seconds=3)
    with Folder() as folder:
        for index in range(2000):
            header = promise(whole, set_id=struct.pack("<QQ", index, 1))
            folder.write(shard("f", index), header + bytes(128) + header)
        run = small(("decode", "f"), folder, harness.UNRECOVERABLE, seconds=15)
        check(run.err.count("trying the next set") == 1999 and run.err.count("belongs to another set") == 1999,
              run.err[:2000])


def sets_and_damaged_files_of_one_name():
    """2 ms of processor time for each set at most, whatever else has the name of the sets."""
    sets = 300 if harness.options.reduced else 2000
    with Folder() as folder:
        folder.write("f", b"x" * 500)
        folder.gfk("encode", "-k1", "-m1", "--block-size", "512", "f")
        whole = [folder.read(shard("f", index)) for index in range(2)]

        def header(number, index, **values):
            return promise(whole[index], set_id=struct.pack("<QQ", number, 1), **values)

        damaged = (lambda number: bytes([85]) * len(whole[0]), lambda number: bytes(len(whole[0])),
                   lambda number: b"", lambda number: whole[0][:8],
                   lambda number: header(sets + number, 0, k=2) + whole[0][HEADER:],
                   lambda number: whole[0][:16] + struct.pack("<QQ", number, 1) + bytes(len(whole[0]) - 32))
        for number in range(sets):
            length = 512 + 64 * (number % 100)  # some block lengths
            for index in range(2):
                block = bytearray(whole[index][HEADER:-HEADER])
                struct.pack_into("<QQ", block, 8, number, 1)
                struct.pack_into("<Q", block, 56, xxh3.hash64(bytes(block[:56])))
                made = header(number, index, block=length)
                folder.write(shard("f", 3 * number + index), made + block + made)
            kind, name = number % (len(damaged) + 2), shard("f", 3 * number + 2)
            if kind == len(damaged):
                os.mkdir(folder / name)
            elif kind == len(damaged) + 1:
                os.symlink("nowhere", folder / name)
            else:
                folder.write(name, damaged[kind](number))
        for command in (*SETS, "info --json"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run = folder.gfk(*command.split(), *(("-f", "-o", "out") if command == "decode" else ()),
                             "." if command == "scrub" else "f", expect=None)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            check(run.code in (harness.OK, harness.DAMAGED), f"{command}: {run.code} {run.err[-1000:]}")
            check(taken < 0.002 * sets or harness.options.reduced, f"{command}: {taken} s for {sets} sets")


def sets_that_want_one_name():
    """repair of sets of one base that lack the same shard: the first one gets the place, and nobody looks again."""
    sets = 300
    with Folder() as folder:
        folder.write("f", b"x" * 500)
        folder.gfk("encode", "-k1", "-m1", "--block-size", "512", "f")
        whole = folder.read(shard("f", 0))
        for number in range(sets):
            block = bytearray(whole[HEADER:-HEADER])
            struct.pack_into("<QQ", block, 8, number, 1)
            struct.pack_into("<Q", block, 56, xxh3.hash64(bytes(block[:56])))
            header = promise(whole, set_id=struct.pack("<QQ", number, 1))
            folder.write(shard("f", 2 * number), header + block + header)
        os.unlink(folder / shard("f", 1))
        run = small(("repair", "f"), folder, harness.EXISTS, seconds=3)
        check(run.text.count("1 of 2 shards restored") == 1 and
              run.err.count(f"{shard('f', 1)} is in the way: it belongs to another set") == sets - 1 and
              run.err.count("\n") == sets - 1, run.err[:2000])


def garbage_in_too_many_blocks():
    """The code looks for wrong symbols in a stripe only as long as this can restore the stripe."""
    for matrix in ("cauchy", "gen_rs"):
        with Folder() as folder:
            folder.write("f", bytes(20 << 20))
            folder.gfk("encode", "-k10", "-m4", "--matrix", matrix, "f")
            for index in range(5):
                size = os.path.getsize(folder / shard("f", index))
                harness.overwrite(folder / shard("f", index), HEADER + BLOCK_HEADER,
                                  harness.rng.randbytes(size - 2 * HEADER - BLOCK_HEADER))
            run = small(("verify", "f"), folder, harness.UNRECOVERABLE, seconds=10)
            check("9 blocks are intact, 10 are needed" in run.err, run.err)


def a_pipe_as_calibration():
    with Folder() as folder:
        harness.encoded(folder)
        os.makedirs(folder / "cache/gfk")
        os.mkfifo(folder / "cache/gfk/calibration")
        cache = dict(os.environ, XDG_CACHE_HOME=folder / "cache")
        small(("verify", "f"), folder, harness.OK, env=cache)
        run = small(("advise",), folder, harness.IO, env=cache)
        check("is not a regular file" in run.err, run.err)


harness.main(an_empty_file_in_a_large_code, an_empty_file_in_more_shards_than_may_be_open, a_large_code_in_many_small_files, a_part_of_a_large_code,
             holes, holes_in_one_shard, shards_without_headers, garbage_in_too_many_blocks,
             copies_and_sets_of_one_name, sets_and_damaged_files_of_one_name,
             sets_that_want_one_name, a_pipe_as_calibration)
