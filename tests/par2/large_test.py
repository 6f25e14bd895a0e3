# SPDX-License-Identifier: BSD-3-Clause
"""Sets as large as the format allows: 32,768 slices, thousands of exponents; stripes where the memory is small."""

import hashlib
import os
import re
import subprocess

import common
import harness
import par2set
from common import OK, check, gfk, volumes, write
from harness import Folder, command


def recovery_slices(folder, base="set"):
    found = {}
    for name in volumes(folder, base):
        for kind, _, body in par2set.packets(folder.read(name)):
            if kind == par2set.RECOVERY:
                found[int.from_bytes(body[:4], "little")] = body[4:]
    return found


@harness.slow
def most_slices():
    """32,768 slices in two files, 300 exponents up to the last one; 250 slices are lost."""
    files = {"one": harness.rng.randbytes(4 * 20000), "two": harness.rng.randbytes(4 * 12768 - 3)}
    with Folder() as folder:
        write(folder, files)
        gfk(folder, "create", "-s4", "-c300", "-f65235", "set.par2", *files)
        expected, found = par2set.Set(4, files), recovery_slices(folder)
        check(sorted(found) == list(range(65235, 65535)), f"{len(found)} exponents")
        for exponent in 65235, 65400, 65534:
            check(found[exponent] == par2set.recovery_slice(expected.slices, exponent), f"exponent {exponent}")
        for at in range(1000, 40000, 160):
            harness.overwrite(folder / "two", at, b"????")
        gfk(folder, "verify", "set.par2", expect=common.POSSIBLE)
        gfk(folder, "repair", "set.par2")
        common.check_files(folder, files, "32768 slices")
        folder.write("three", b"4")
        run = gfk(folder, "create", "-s4", "-c1", "more.par2", "one", "two", "three", expect=common.ARGUMENTS)
        check("32768" in run.err.replace(",", ""), f"no word about the number of slices: {run.err}")


def many_exponents():
    """20,000 recovery slices of 100 slices; all input is lost."""
    count = 2000 if harness.options.reduced else 20000
    files = {"data": harness.rng.randbytes(400)}
    with Folder() as folder:
        write(folder, files)
        gfk(folder, "create", "-s4", f"-c{count}", "set.par2", "data")
        found, expected = recovery_slices(folder), par2set.Set(4, files)
        check(sorted(found) == list(range(count)), f"{len(found)} exponents")
        for exponent in harness.rng.sample(range(count), 50):
            check(found[exponent] == par2set.recovery_slice(expected.slices, exponent), f"exponent {exponent}")
        os.unlink(folder / "data")
        gfk(folder, "repair", "set.par2")
        common.check_files(folder, files, "many exponents")


@harness.slow
def many_lost():
    """1,500 of 3,000 slices are lost: a large matrix is inverted."""
    files = {"data": harness.rng.randbytes(8 * 3000)}
    with Folder() as folder:
        write(folder, files)
        gfk(folder, "create", "-s8", "-c1500", "set.par2", "data")
        harness.overwrite(folder / "data", 4000, harness.rng.randbytes(12000))
        gfk(folder, "repair", "set.par2")
        common.check_files(folder, files, "1500 lost slices")


def many_files():
    """1,000 files of one slice or less; a third of them is lost."""
    files = {f"folder {i % 7}/{i}.txt": harness.rng.randbytes(i % 60 + 1) for i in range(1000)}
    with Folder() as folder:
        write(folder, files)
        gfk(folder, "create", "-s64", "-r40", "-R", "set.par2", *{name.split("/")[0] for name in files})
        for name in harness.rng.sample(sorted(files), 333):
            os.unlink(folder / name)
        gfk(folder, "repair", "set.par2")
        common.check_files(folder, files, "1000 files")


def measured(folder, *arguments):
    """Runs the tool; the most memory that it had, in MiB."""
    where = ("--backend", harness.options.backend) if harness.options.backend and "--help" not in arguments else ()
    with subprocess.Popen(command("par2", arguments[0], *where, *arguments[1:]), cwd=folder.path,
                          stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    check(process.returncode == OK, f"{arguments}: exit code {process.returncode}")
    return usage.ru_maxrss >> 10


def written(folder, name, size):
    """Writes random bytes and returns their hash. A file in memory would count as memory of the tool, which begins as a
    copy of this process."""
    digest = hashlib.sha256()
    with open(folder / name, "wb") as file:
        while file.tell() < size:
            piece = harness.rng.randbytes(min(1 << 20, size - file.tell()))
            digest.update(piece)
            file.write(piece)
    return digest.digest()


def digest_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.digest()


def stripes():
    """Recovery slices of 30 MB within 8 MiB of buffers: the same volumes as with much memory, and repair."""
    slice_bytes = 600000 if harness.options.reduced else 2000000
    options = (f"-s{slice_bytes}", "-c15", "-q")
    with Folder() as folder:
        hashes = {name: written(folder, name, size)
                  for name, size in (("one", 15 * slice_bytes), ("two", 5 * slice_bytes + 12345))}
        before = measured(folder, "verify", "--help")
        exact = not harness.options.reduced and not harness.options.backend  # a simulated GPU has its memory here
        most = measured(folder, "create", "-m8", "-t16", *options, "set.par2", *hashes)
        check(not exact or most < before + 24, f"create -m8 takes {most} MiB, the program {before}")
        gfk(folder, "create", "-m512", *options, "more.par2", *hashes)
        for one, other in zip(volumes(folder), volumes(folder, "more")):
            check(digest_of(folder / one) == digest_of(folder / other), f"stripes make another {one}")
            os.unlink(folder / other)
        os.unlink(folder / "two")
        for at in range(0, 9 * slice_bytes, slice_bytes):
            harness.overwrite(folder / "one", at, b"damage")
        most = measured(folder, "repair", "-m8", "-q", "set.par2")
        check(not exact or most < before + 24, f"repair -m8 takes {most} MiB, the program {before}")
        for name, digest in hashes.items():
            check(digest_of(folder / name) == digest, f"stripes: {name}")


@harness.slow
def devices():
    """The memory of a simulated GPU has no room for all recovery slices, or there is no GPU, which is known when reading
    has begun: the same volumes."""
    files = {"data": harness.rng.randbytes(6000000)}

    def create(base, *options, **variables):
        run = gfk(folder, "create", *options, "-v", "-v", "-s12000", "-c520", "-t1", f"{base}.par2", "data",
                  env=dict(os.environ, **variables))
        return int(re.search(r"^count passes (\d+)$", run.text, re.MULTILINE)[1])

    with Folder() as folder:
        write(folder, files)
        create("set")
        create("none", "--backend", "auto", FAKE_DEVICES="0")
        passes = create("small", FAKE_MEMORY="16000000")
        check(passes > 1 or not os.path.basename(harness.options.tool).startswith("gfk_fake"), f"{passes} pass")
        for base in "none", "small":
            for one, other in zip(volumes(folder), volumes(folder, base)):
                check(folder.read(one) == folder.read(other), f"{base} makes another {one}")


if __name__ == "__main__":
    common.main(most_slices, many_exponents, many_lost, many_files, stripes, devices)
