#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Encode, lose, decode: the same bytes, or an error and no file."""

import os

import harness
from harness import Folder, check, losses, shard


def decode(folder, base, lost, n, content, m):
    """Decodes without the lost shards, which are just not given."""
    given = [shard(base, i) for i in range(n) if i not in lost]
    run = folder.gfk("decode", "-o", "out", *given,
                     expect=harness.OK if len(lost) <= m or not content else harness.UNRECOVERABLE)
    if run.code == harness.OK:
        check(folder.read("out") == content, f"{base} without {lost} differs")
        os.unlink(folder / "out")
    else:
        check("out" not in folder.names() and not folder.temps(), "an output was left behind")
        for i in lost:
            check(f"{i:03d}" in run.err, f"{run.err} does not name shard {i}")


def kinds_of_files():
    times = (0, -86400 * 10**9 + 1, 1234567890123456789, 4102444800 * 10**9, 999999999)
    for (name, content), changed in zip(harness.inputs().items(), times):
        with Folder() as folder:
            folder.write(name, content)
            os.chmod(folder / name, 0o640)
            os.utime(folder / name, ns=(0, changed))
            folder.gfk("encode", "-k4", "-m2", "--block-size", "8K", name)
            os.rename(folder / name, folder / "original")
            folder.lose(name, 1, 4)
            folder.gfk("decode", name)
            check(folder.read(name) == content, f"{name} differs")
            mode = os.stat(folder / name).st_mode & 0o7777
            check(mode == 0o640, f"the mode is {mode:o}")
            time = os.stat(folder / name).st_mtime_ns
            check(time == changed, f"the time is {time}, not {changed}")
            mode = os.stat(folder / shard(name, 0)).st_mode & 0o7777
            check(mode == 0o640, f"the shards' mode is {mode:o}")


def sizes_around_the_boundaries():
    codes = ((3, 2, 64), (1, 1, 64), (3, 2, 4096), (10, 4, 256))
    for k, m, block in codes[:1] if harness.options.reduced else codes:
        stripe = k * block
        sizes = {0, 1, 2, 63, 64, 65}
        for stripes in (1, 2, 5):
            sizes |= {stripes * stripe + d for d in (-65, -64, -1, 0, 1, 63, 64, 65)}
        sizes |= {64 * k - 1, 64 * k, 64 * k + 1}
        for size in harness.some(sorted(s for s in sizes if s >= 0), 3):
            content = harness.rng.randbytes(size)
            with Folder() as folder:
                folder.write("f", content)
                folder.gfk("encode", f"-k{k}", f"-m{m}", "--block-size", block, "f")
                for lost in ((), tuple(range(m)), tuple(range(k, k + m))):
                    decode(folder, "f", lost, k + m, content, m)


@harness.slow
def every_loss_of_small_codes():
    codes = [(1, 1), (1, 3), (2, 2), (3, 2), (4, 3)]
    for k, m in codes[:3] if harness.options.reduced else codes:
        content = harness.rng.randbytes(3 * k * 128 + 77)
        with Folder() as folder:
            folder.write("f", content)
            folder.gfk("encode", f"-k{k}", f"-m{m}", "--block-size", 128, "f")
            for lost in losses(k + m, k + m - 1):
                decode(folder, "f", lost, k + m, content, m)


def random_losses_of_large_codes():
    codes = [(10, 4), (30, 3), (16, 16), (200, 55)]
    for k, m in codes[:2] if harness.options.reduced else codes:
        content = harness.rng.randbytes(2 * k * 256 + 1001)
        with Folder() as folder:
            folder.write("f", content)
            folder.gfk("encode", f"-k{k}", f"-m{m}", "--block-size", 256, "f")
            for _ in harness.some(range(8), 4):
                lost = harness.rng.sample(range(k + m), harness.rng.randint(1, m))
                decode(folder, "f", lost, k + m, content, m)
            decode(folder, "f", tuple(range(m)), k + m, content, m)


def widths_polynomials_and_matrices():
    cases = [("-w", 8), ("-w", 16), ("-w", 32), ("-w", 8, "--polynomial", "0x11b"),
             ("-w", 16, "--polynomial", "0x1002d")]
    for matrix in ("cauchy", "vandermonde", "reed_sol_van", "cauchy_good", "gen_rs", "gen_cauchy1"):
        cases.append(("-w", 8, "--matrix", matrix))
    for matrix in ("cauchy", "vandermonde", "reed_sol_van", "cauchy_good"):
        cases.append(("-w", 16, "--matrix", matrix))
    for case in harness.some(cases, 2):
        content = harness.rng.randbytes(5000)
        with Folder() as folder:
            folder.write("f", content)
            folder.gfk("encode", "-k5", "-m3", "--block-size", 512, *case, "f")
            for lost in harness.some(((0, 1, 2), (4, 5, 7), (5, 6, 7)), 2):
                decode(folder, "f", lost, 8, content, 3)
            folder.gfk("verify", "f")


def streams():
    content = harness.rng.randbytes(300001)
    with Folder() as folder:
        folder.gfk("encode", "-k4", "-m2", "--block-size", "4K", "-o", "s", "-", input=content)
        check(len(folder.shards("s")) == 6, "the shards of standard input")
        os.unlink(folder / shard("s", 2))
        run = folder.gfk("decode", "-o", "-", "s")
        check(run.out == content, "standard output differs")
        folder.gfk("decode", "s")
        check(folder.read("s") == content, "a file without a name gets the shards' name")
        check(folder.gfk("info", "--json", "s").json()["mtime"] == "", "a stream has no time")
        check(os.stat(folder / "s").st_mtime_ns >= os.stat(folder / shard("s", 0)).st_mtime_ns,
              "the time of the shards is older")
        folder.gfk("encode", "-", expect=harness.USAGE)
        folder.gfk("encode", "-k2", "-m1", "-o", "empty", "-")
        check(folder.gfk("decode", "-o", "-", "empty").out == b"", "nothing from nothing")


def little_memory():
    content = harness.rng.randbytes(3 << 20)
    with Folder() as folder:
        folder.write("f", content)
        for memory in ("400K", "1M", "64M"):
            folder.gfk("encode", "-k4", "-m2", "--block-size", "64K", "--memory", memory, "f")
            folder.gfk("decode", "-f", "--memory", memory, "f")
            check(folder.read("f") == content, f"--memory {memory}")
        folder.gfk("encode", "-k4", "-m2", "--block-size", "64K", "--memory", "100K", "f",
                   expect=harness.USAGE)


def several_files():
    with Folder() as folder:
        for i in range(3):
            folder.write(f"f{i}", harness.rng.randbytes(1000 + i))
        folder.gfk("encode", "-k2", "-m1", "f0", "f1", "f2")
        for i in range(3):
            folder.gfk("verify", f"f{i}")
        folder.gfk("encode", "-k2", "-m1", "f0", "none", "f2", expect=harness.IO)
        folder.gfk("encode", "-k2", "-m1", "-o", "x", "f0", "f1", expect=harness.USAGE)


def a_file_named_like_a_shard():
    """Its shards are looked for before it is taken for one; without any it still is one."""
    with Folder() as folder:
        name, content = "p.gfk.000", harness.rng.randbytes(5000)
        folder.write(name, content)
        folder.gfk("encode", "-k2", "-m1", name)
        os.unlink(folder / name)
        os.unlink(folder / f"{name}.gfk.001")
        folder.gfk("verify", name, expect=harness.DAMAGED)
        folder.gfk("decode", name)
        check(folder.read(name) == content, "a file named like a shard")
        folder.gfk("repair", name)
        folder.gfk("verify", name)
    with Folder() as folder:
        folder.write("p", content)
        folder.gfk("encode", "-k2", "-m1", "p")
        run = folder.gfk("info", "--json", "p.gfk.002")
        check(run.json()["base"].endswith("p"), run.out)
        folder.gfk("info", "p.gfk.007", expect=harness.UNRECOVERABLE)


def numbers_are_decimal():
    with Folder() as folder:
        folder.write("f", b"x")
        folder.gfk("encode", "-k", "010", "-m", "0x2", "f")
        found = folder.gfk("info", "--json", "f").json()
        check((found["k"], found["m"]) == (10, 2), found)


def codes_that_there_are_not():
    cases = [(("-k6", "-m5", "--matrix", "gen_rs"), "could not be restored"),
             (("-k200", "-m50", "--matrix", "gen_rs"), "too many losses"),
             (("-w16", "--matrix", "gen_rs"), "defined for w = 8"),
             (("--polynomial", "0x11b", "--matrix", "reed_sol_van"), "the default polynomial"),
             (("-k200", "-m57"), "256 shards")]
    with Folder() as folder:
        folder.write("f", b"x")
        for arguments, why in cases:
            run = folder.gfk("encode", *arguments, "f", expect=harness.USAGE)
            check(why in run.err, run.err)
        check(os.listdir(folder.path) == ["f"], "no shards")


def order_of_names_decides():
    """Of two sets that are equal in all else, the one with the first name, by every file system."""
    with Folder() as folder:
        for number, content in enumerate((b"first", b"second")):
            folder.write("f", content * 100)
            os.utime(folder / "f", (1, 1))
            folder.gfk("encode", "-f", "-k2", "-m2", "f")
            os.unlink(folder / "f")
            for index in range(4):
                os.rename(folder / f"f.gfk.{index:03}", folder / f"{number}.{index}")
        for index in (3, 1, 2, 0):  # 0 and 1 of the first set, 2 and 3 of the second
            os.rename(folder / f"{index // 2}.{index}", folder / f"f.gfk.{index:03}")
        folder.gfk("decode", "f")
        check(folder.read("f") == b"first" * 100, "the set of the first name")


harness.main(kinds_of_files, sizes_around_the_boundaries, every_loss_of_small_codes,
             random_losses_of_large_codes, widths_polynomials_and_matrices, streams, little_memory,
             several_files, a_file_named_like_a_shard, numbers_are_decimal,
             codes_that_there_are_not, order_of_names_decides)
