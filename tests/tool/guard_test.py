#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tool replaces no input and no shard that it did not mean, writes where it looked, and does not wait for ever."""

import errno
import fcntl
import os
import shutil
import subprocess
import threading
import time

import harness
from harness import BLOCK_HEADER, HEADER, Folder, check, command, shard
from watch import Watched, environment


def inputs_are_not_replaced():
    def refused(s, *arguments, **more):
        before = {n: c for n, c in s.contents().items() if "gfk.002.gfk" not in n}
        run = s.gfk("encode", *arguments, expect=harness.EXISTS, **more)
        check("no shard replaces it" in run.err and before.items() <= s.contents().items(),
              f"{arguments}: {run.err}")

    with Folder() as s:
        content = harness.encoded(s)
        code = ("-k3", "-m2", "--block-size", "1K")
        for force in ((), ("-f",)):
            refused(s, *force, "-k3", "-m2", "-o", "f", shard("f", 3))       # one of the places
            refused(s, *force, "-k1", "-m1", "-o", "f", shard("f", 4))       # one of those to be removed
            refused(s, *force, *code, "f", shard("f", 2))                    # another input
            with open(s / shard("f", 1), "rb") as file:
                process = subprocess.run(command("encode", *force, *code, "-o", "f", "-"), cwd=s.path,
                                         stdin=file, capture_output=True, check=False)
            check(process.returncode == harness.EXISTS and b"no shard replaces it" in process.stderr,
                  process.stderr)
        shutil.copy(s / shard("f", 0), s / "copy")
        refused(s, "-f", *code, "-o", "f", "copy")  # a copy of one of its shards
        size = os.path.getsize(s / "copy")
        for at in (100, size - 400):  # with one, then with two damaged headers
            harness.flip(s / "copy", at)
            refused(s, "-f", *code, "-o", "f", "copy")
        os.link(s / "f", s / shard("g", 0))
        refused(s, "-f", *code, "-o", "g", "f")
        os.unlink(s / shard("g", 0))
        left = ".l.gfk.000.gfk-tmp-0123456789ab"  # what a killed run left is an input by another name
        s.write(left, content)
        os.symlink(left, s / "l")
        os.symlink(left, s / "n")
        s.gfk("encode", "-f", *code, "l")
        s.gfk("encode", "-f", *code, "-o", "l", "n")
        s.gfk("encode", "-f", *code, "l", "n")
        check(s.read(left) == content, "an input was removed")
        os.symlink("f", s / shard("g", 1))
        refused(s, "-f", *code, "-o", "g", shard("g", 1))
        os.unlink(s / shard("g", 1))
        s.write(shard("x", 3), content)  # a file of the user
        refused(s, "-f", *code, "-o", "x", shard("x", 3))
        os.mkdir(s / "d")
        os.rename(s / shard("x", 3), s / f"d/{shard('x', 1)}")
        run = s.gfk("encode", "-f", *code, "--to", ".,d", "-o", "x", f"d/{shard('x', 1)}",
                    expect=harness.EXISTS)
        check(s.read(f"d/{shard('x', 1)}") == content and not s.shards("x"), run.err)
        s.gfk("verify", "f")
        s.gfk("encode", "-f", *code, "-o", "y", shard("f", 2))  # a shard is a file like others
        run = s.gfk("decode", "-f", "-o", shard("f", 2), "f", expect=harness.EXISTS)
        check("is a shard" in run.err, run.err)
        shutil.copy(s / shard("f", 2), s / f"d/{shard('f', 2)}")
        shutil.copy(s / shard("f", 2), s / "renamed")
        for name in (shard("f", 4), f"d/{shard('f', 2)}", "renamed"):  # shards that decode does not read
            kept = s.read(name)
            run = s.gfk("decode", "-f", "-o", name, *(shard("f", i) for i in range(3)), expect=harness.EXISTS)
            check("is a shard" in run.err and s.read(name) == kept, run.err)
        s.gfk("verify", "f", "y")


def damaged_shards_are_not_replaced():
    """A shard whose two headers and first block header are damaged, alone or with another file of the set,
    is a shard as long as its name, its length or another block header says so."""
    code = ("-k3", "-m2", "--block-size", "1K")

    def refused(s, *arguments, **more):
        before = s.contents("f.")
        run = s.gfk(*arguments, expect=harness.EXISTS, **more)
        check(("no shard replaces it" in run.err or "is a shard" in run.err) and s.contents("f.") == before,
              f"{arguments}: {run.err}")

    def spoil(path, blocks=1):
        size = os.path.getsize(path)
        harness.overwrite(path, 0, bytes([85]) * HEADER)
        harness.overwrite(path, size - HEADER, bytes([85]) * HEADER)
        for block in range(blocks):
            harness.overwrite(path, HEADER + block * (BLOCK_HEADER + 1024), bytes([85]) * BLOCK_HEADER)

    for blocks, length in ((1, None), (1, 20000), (7, None), (7, 3000), (7, 20000)):
        with Folder() as s:
            harness.encoded(s)
            input = shard("f", 3)
            spoil(s / input, blocks)
            if length is not None:
                os.truncate(s / input, length)
            refused(s, "encode", "-f", *code, "-o", "f", input)
            refused(s, "encode", "-f", "-k1", "-m1", "-o", "f", input)
            if blocks == 1:  # the other block headers tell the set under any name
                with open(s / input, "rb") as file:
                    process = subprocess.run(command("encode", "-f", *code, "-o", "f", "-"), cwd=s.path,
                                             stdin=file, capture_output=True, check=False)
                check(process.returncode == harness.EXISTS, process.stderr)
                for disk in "xy":
                    os.mkdir(s / disk)
                os.rename(s / input, s / "x/renamed")
                refused(s, "encode", "-f", *code, "-o", "f", "x/renamed")
                os.rename(s / "x/renamed", s / f"x/{input}")
                refused(s, "encode", "-f", *code, "--to", ".,y", "-o", "f", f"x/{input}")
                os.rename(s / f"x/{input}", s / input)
                refused(s, "decode", "-f", "-o", input, "f")
                refused(s, "decode", "-f", "-o", input, *(shard("f", i) for i in range(3)))
            elif length is None:  # the length and the name
                for disk in "xy":
                    os.mkdir(s / disk)
                os.rename(s / input, s / f"x/{input}")
                refused(s, "encode", "-f", *code, "-o", "f", f"x/{input}")
                os.rename(s / f"x/{input}", s / "x/g")  # a file like others
                s.gfk("encode", "-f", *code, "-o", "f", "x/g")
        with Folder() as s:  # the input is intact, and the shards in the places are not
            harness.encoded(s)
            for index in range(5):
                if index != 3:
                    spoil(s / shard("f", index), blocks)
            for more in (("-o", "f", shard("f", 3)), ("-k1", "-m1", "-o", "f", shard("f", 3))):
                refused(s, "encode", "-f", *code, *more)
    with Folder() as s:
        content = harness.encoded(s)
        s.write("g", content)
        s.write(shard("g", 1), content)  # named like a shard, and no shard of a set that is there
        s.gfk("encode", "-f", *code, "g")
        check(s.gfk("decode", "-o", "-", "g").out == content, "a file with the name of a shard")


def shards_that_encode_cannot_remove():
    """A line for each shard of the replaced set that stays."""
    for call, words in (("open", "it cannot be read"), ("unlink", "it cannot be removed")):
        with Folder() as s:
            harness.encoded(s)
            run = s.gfk("encode", "-f", "-k2", "-m1", "f",
                        env=environment(FAIL_CALL=call, FAIL_NAME=shard("f", 4), FAIL_ERROR=str(errno.EIO)))
            check(f"{shard('f', 4)} stays: {words} (Input/output error)" in run.err, run.err)
            check(s.shards("f") == [shard("f", i) for i in (0, 1, 2, 4)], s.names())


def a_folder_becomes_a_link():
    """At any moment after the look: nothing is written, renamed or removed where the link leads."""
    def prepare(s, arguments):
        os.mkdir(s / "d")
        content = harness.rng.randbytes(5000)
        s.write("d/f", content)
        s.gfk("encode", "-k3", "-m2", "--block-size", "1K", "d/f")
        s.write("original", content)
        if arguments[0] != "encode":
            harness.flip(s / f"d/{shard('f', 1)}", 700)
            os.unlink(s / f"d/{shard('f', 2)}")
            os.unlink(s / "d/f")

    def calls_of(arguments):
        """How often it looks and writes. The first call opens the folder, or the one above it: an
        argument that is a link from the beginning stands for its target."""
        with Watched() as s:
            prepare(s, arguments)
            calls, _ = s.watched(*arguments)
            check(calls[0] in (["open", "d"], ["open", "."]), f"{arguments}: {calls[:3]}")
            return len(calls)

    for arguments in (("repair", "d/f"), ("repair", "d"), ("repair", "d/"), ("scrub", "--repair", "."),
                      ("scrub", "--repair", "d"), ("decode", "d/f"), ("decode", "d"),
                      ("decode", "-f", "-o", "d/out", "d/f"), ("decode", "--in", "d", "d/f"),
                      ("repair", *(f"d/{shard('f', i)}" for i in (0, 1, 3, 4))),
                      ("repair", "--in", "d", "f"), ("encode", "-f", "-k2", "-m1", "d/f"),
                      ("encode", "-f", "-k2", "-m1", "-o", "d/f", "original"),
                      ("encode", "-f", "-k2", "-m1", "--to", "d", "-o", "f", "original")):
        for number in range(2, calls_of(arguments) + 1):
            with Folder() as s, Folder() as elsewhere:
                prepare(s, arguments)
                for name in os.listdir(s / "d"):  # what a wrong run would replace or remove
                    shutil.copy(s / f"d/{name}", elsewhere / name)
                harness.flip(elsewhere / shard("f", 0), 700)
                elsewhere.write(".f.gfk.000.gfk-tmp-0123456789ab", b"left")
                before = elsewhere.contents()
                env = environment(SWAP_AT=str(number), SWAP_FOLDER=s / "d", SWAP_TO=elsewhere.path)
                run = s.gfk(*arguments, env=env, expect=None)
                check(elsewhere.contents() == before, f"{arguments}, call {number}: {run.err}")
                check(run.code in (0, 1, 3, 4, 5) and os.path.islink(s / "d"), f"{run.code}: {run.err}")


def a_lock_of_somebody_else():
    """Reading goes on without the lock; writing waits. Both say so."""
    with Folder() as s:
        harness.encoded(s)
        held = os.open(s.path, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        start = time.monotonic()
        run = s.gfk("verify", "f")
        check("holds the lock on the folder ." in run.err and "without the lock" in run.err, run.err)
        check(time.monotonic() - start < 20, "for ever")
        process = subprocess.Popen(command("decode", "-o", "out", "f"), cwd=s.path,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(8)
        check(process.poll() is None and "out" not in s.names(), "decode waits")
        fcntl.flock(held, fcntl.LOCK_UN)
        err = process.communicate(timeout=30)[1].decode()
        check(process.returncode == 0 and err.count("holds the lock") == 2, err)
        check(s.read("out") == s.read("f"), "and goes on")
        os.close(held)
        disks = [f"d{i}" for i in range(4)]
        for disk in disks:
            os.mkdir(s / disk)
        s.gfk("encode", "-k2", "-m2", "--to", ",".join(disks), "f")
        held = [os.open(s / disk, os.O_RDONLY) for disk in disks]
        for descriptor in held:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        start = time.monotonic()
        run = s.gfk("verify", "--in", ",".join(disks), "f")
        check(run.err.count("without the lock") == 4 and run.err.count("holds the lock") == 1, run.err)
        check(time.monotonic() - start < 15, "one wait for all folders")
        for disk in disks:
            os.unlink(s / f"{disk}/{shard('f', disks.index(disk))}")
            for name in ("g", "h"):
                s.write(f"{disk}/{name}", b"x")
        start = time.monotonic()
        fast = environment(CLOCK_FACTOR="20")
        files = [f"{disk}/{name}" for disk in disks for name in "gh"]
        run = s.gfk("encode", "-k1", "-m1", *files, env=fast, expect=harness.IO)
        check(run.err.count("another program locks it") == len(files) and run.err.count("gfk waits") == 1, run.err)
        check(time.monotonic() - start < 20, "60 seconds for all files")
        for descriptor in held:
            os.close(descriptor)


def pipes_do_not_hang():
    def quick(s, *arguments, expect, env=None):
        process = subprocess.run(command(*arguments), cwd=s.path, stdin=subprocess.DEVNULL,
                                 capture_output=True, timeout=60, check=False, env=env)
        check(process.returncode in expect, f"{arguments}: {process.returncode} {process.stderr}")
        return process.stderr.decode()

    with Folder() as s:
        content = harness.encoded(s)
        os.mkdir(s / "gfk")
        os.mkfifo(s / "gfk/calibration")
        cache = dict(os.environ, XDG_CACHE_HOME=s.path)
        for arguments in (("advise",), ("verify", "f"), ("decode", "-f", "f"), ("repair", "f"),
                          ("encode", "-f", "-w16", "-k3", "-m2", "-o", "g", "f")):
            quick(s, *arguments, expect=(harness.OK, harness.IO), env=cache)
        shutil.rmtree(s / "gfk")
        os.mkfifo(s / shard("f", 7))
        os.mkfifo(s / "pipe")
        for name in ("verify", "info", "repair", "decode"):
            quick(s, name, ".", expect=(0, 1, 5))
            quick(s, name, "pipe", expect=(3,))
            quick(s, name, shard("f", 7), expect=(3,))
        quick(s, "scrub", ".", expect=(0,))
        quick(s, "decode", "-f", "-o", "pipe", "f", expect=(4,))
        quick(s, "scrub", "pipe", expect=(4,))
        process = subprocess.Popen(command("encode", "-k2", "-m1", "-o", "p", "pipe"), cwd=s.path,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        line = []
        reader = threading.Thread(target=lambda: line.append(process.stderr.readline().decode()))
        reader.start()
        reader.join(20)
        check(line and "nobody writes to the pipe pipe; gfk waits" in line[0], line)
        with open(s / "pipe", "wb") as pipe:
            pipe.write(content)
        process.stderr.close()
        check(process.wait(30) == 0 and s.gfk("decode", "-o", "-", "p").out == content, "what was written")


harness.main(inputs_are_not_replaced, damaged_shards_are_not_replaced, shards_that_encode_cannot_remove,
             a_folder_becomes_a_link, a_lock_of_somebody_else, pipes_do_not_hang)
