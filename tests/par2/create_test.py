# SPDX-License-Identifier: BSD-3-Clause
"""What create writes, next to what the specification says; its options, and what it refuses."""

import os

import common
import harness
import par2set
from common import ARGUMENTS, EMPTY, IO, OK, SIZE, check, gfk, sources, volumes, write
from harness import Folder


def packets_of(folder, base="set"):
    """Id of the set, kind and body of each packet of each volume."""
    return {name: par2set.packets(folder.read(name)) for name in volumes(folder, base)}


def exponents_in(found):
    return [int.from_bytes(body[:4], "little") for packets in found.values()
            for kind, _, body in packets if kind == par2set.RECOVERY]


def check_set(folder, expected, exponents, message):
    """Every packet is right, every volume describes the whole set, and each exponent is there once."""
    found = packets_of(folder)
    right = {par2set.MAIN: {expected.main}, par2set.FILE: {file.description for file in expected.files},
             par2set.CHECKSUMS: {file.checksums(expected.size) for file in expected.files}}
    for name, packets in found.items():
        check({set_id for _, set_id, _ in packets} == {expected.id}, f"{message}: id of the set in {name}")
        for kind, bodies in right.items():
            check({body for k, _, body in packets if k == kind} == bodies, f"{message}: {kind} in {name}")
        check(any(kind == par2set.CREATOR for kind, _, _ in packets), f"{message}: no creator in {name}")
        for kind, _, body in packets:
            if kind == par2set.RECOVERY:
                exponent = int.from_bytes(body[:4], "little")
                check(body[4:] == par2set.recovery_slice(expected.slices, exponent), f"{message}: slice {exponent}")
        if name != "set.par2":
            first, count = (int(part) for part in name.split(".vol")[1].removesuffix(".par2").split("+"))
            check(exponents_in({name: packets}) == list(range(first, first + count)), f"{message}: {name}")
    check(not exponents_in({"": found["set.par2"]}), f"{message}: recovery slices in the index")
    check(sorted(exponents_in(found)) == list(exponents), f"{message}: {sorted(exponents_in(found))}")


def sets():
    files = sources()
    listed = {name: content for name, content in files.items() if name != EMPTY}
    slices = common.count_of_slices(files)
    for options, size, exponents in (
            (("-c12",), SIZE, range(12)), (("-c", "12"), SIZE, range(12)), (("-r10",), SIZE, range(round(slices / 10))),
            (("-c12", "-f", "500"), SIZE, range(500, 512)), (("-c2", "-f65533"), SIZE, range(65533, 65535)),
            (("-c12", "-n5"), SIZE, range(12)), (("-c12", "-n5", "-u"), SIZE, range(12)),
            (("-c12", "-l"), SIZE, range(12)), (("-c0",), SIZE, ()), (("-c3", "-s4"), 4, range(3)),
            (("-c3", "-s8"), 8, range(3)),
            (("-c4", "-s20000"), 20000, range(4)), (("-c2", "-s1000000"), 1000000, range(2))):
        with Folder() as folder:
            write(folder, files)
            slice_size = () if any(o.startswith("-s") for o in options) else (f"-s{SIZE}",)
            run = gfk(folder, "create", *slice_size, *options, "set.par2", *files)
            check(EMPTY in run.text + run.err, "no word about the empty file")
            check_set(folder, par2set.Set(size, listed), exponents, " ".join(options))
            gfk(folder, "verify", "set.par2")
            if "-n5" in options:
                check(len(volumes(folder)) == 6, f"{options}: {volumes(folder)}")


def sizes():
    """Files of one byte, of one slice, of a word more; of as many bytes as their first 16 KiB have."""
    for length in 1, 2, 3, 4, SIZE - 1, SIZE, SIZE + 1, 16383, 16384, 16385, 50000:
        files = {"some.data": harness.rng.randbytes(length)}
        with Folder() as folder:
            write(folder, files)
            gfk(folder, "create", f"-s{SIZE}", "-c2", "set.par2", "some.data")
            check_set(folder, par2set.Set(SIZE, files), range(2), f"{length} bytes")
            os.unlink(folder / "some.data")
            gfk(folder, "repair", "set.par2", expect=OK if length <= 2 * SIZE else common.IMPOSSIBLE)
            check(length > 2 * SIZE or folder.read("some.data") == files["some.data"], f"{length} bytes")


def defaults():
    """About 2000 slices, 5 %; the name of the set from the first file; -b; -R for folders; -q says nothing."""
    files = {"a.bin": harness.rng.randbytes(100001), "tree/b.bin": harness.rng.randbytes(300), "tree/in/c": b"cc"}
    with Folder() as folder:
        write(folder, files)
        gfk(folder, "create", "a.bin")
        found = packets_of(folder, "a.bin")
        main = next(body for kind, _, body in found["a.bin.par2"] if kind == par2set.MAIN)
        size = int.from_bytes(main[:8], "little")
        slices = -(-100001 // size)
        check(1900 <= slices <= 2000, f"{slices} slices")
        check(abs(len(exponents_in(found)) - slices / 20) <= 1, f"{len(exponents_in(found))} recovery slices")
        gfk(folder, "verify", "a.bin.par2")
        run = gfk(folder, "create", "-q", "-q", "-b50", "-R", "set", "a.bin", "tree")
        check(run.text + run.err == "", f"-q -q says {run.text}{run.err}")
        found = packets_of(folder)
        main = next(body for kind, _, body in found["set.par2"] if kind == par2set.MAIN)
        expected = par2set.Set(int.from_bytes(main[:8], "little"), files)
        check(main == expected.main, "-R left out files")
        check(len(expected.slices) <= 50, f"-b50 makes {len(expected.slices)} slices")


def refused():
    files = {"a.bin": harness.rng.randbytes(1000), "b.bin": b"b"}
    with Folder() as folder, Folder() as outside:
        write(folder, files)
        write(outside, files)
        os.symlink("a.bin", folder / "link")
        os.symlink(outside.path, folder / "out")
        os.mkdir(folder / "folder")
        before = common.paths_in(folder)
        for code, *arguments in (
                (ARGUMENTS,), (ARGUMENTS, "set.par2"), (ARGUMENTS, "-s6", "set.par2", "a.bin"),
                (ARGUMENTS, "-s0", "set.par2", "a.bin"), (ARGUMENTS, "-s-4", "set.par2", "a.bin"),
                (ARGUMENTS, "-s4", "-b3", "set.par2", "a.bin"), (ARGUMENTS, "-c3", "-r5", "set.par2", "a.bin"),
                (ARGUMENTS, "-u", "-l", "set.par2", "a.bin"), (ARGUMENTS, "-n3", "-l", "set.par2", "a.bin"),
                (ARGUMENTS, "-b40000", "set.par2", "a.bin"), (ARGUMENTS, "-c65536", "set.par2", "a.bin"),
                (ARGUMENTS, "-c2", "-f65534", "-s4", "set.par2", "a.bin"), (ARGUMENTS, "-x", "set.par2", "a.bin"),
                (ARGUMENTS, "-c99999999999999999999", "set.par2", "a.bin"), (ARGUMENTS, "-c", "set.par2", "a.bin"),
                (ARGUMENTS, "-m0", "set.par2", "a.bin"), (ARGUMENTS, "-rk100", "set.par2", "a.bin"),
                ((ARGUMENTS, IO), "set.par2", "none"), ((ARGUMENTS, IO), "set.par2", outside / "a.bin"),
                ((ARGUMENTS, IO), "set.par2", f"../{os.path.basename(outside.path)}/a.bin"),
                ((ARGUMENTS, IO), "set.par2", "out/a.bin"), ((ARGUMENTS, IO), "set.par2", "link"),
                ((ARGUMENTS, IO), "-B", "folder", "set.par2", "a.bin"), ((ARGUMENTS, IO), "none/set.par2", "a.bin")):
            run = gfk(folder, "create", *arguments, expect=code)
            check(len(run.err) > 10, f"create {arguments} says {run.err!r}")
            check(common.paths_in(folder) == before, f"create {arguments} wrote {common.paths_in(folder)}")
        with open("/dev/full", "wb") as full:
            for arguments in ("--help",), ("-s4", "-c1", "full.par2", "b.bin"):
                gfk(folder, "create", *arguments, stdout=full, expect=IO)
            gfk(folder, "verify", "full.par2", stdout=full, expect=IO)
        for verb in "", "repai", "verify", "repair":
            harness.gfk("par2", *([verb] if verb else []), cwd=folder.path, expect=ARGUMENTS)
        gfk(folder, "create", f"-s{SIZE}", "-c1", "set.par2", "a.bin", "./a.bin", "b.bin", folder / "b.bin")
        check_set(folder, par2set.Set(SIZE, files), range(1), "the same file twice")
        whole = folder.contents("set.")
        gfk(folder, "create", "-s4", "-c1", "set.par2", "b.bin", expect=(ARGUMENTS, IO))
        check(folder.contents("set.") == whole, "an earlier set was replaced")
        os.unlink(folder / "set.par2")
        gfk(folder, "create", "-s4", "-c1", "set.par2", "b.bin", expect=(ARGUMENTS, IO))


def names():
    """A name can have all but NUL and the slash; one that is not UTF-8 is as good or refused."""
    files = {name: harness.rng.randbytes(100 + i) for i, name in enumerate(
        ("x", " a b ", "-c5", "quote'\"", "semi;$(x)`", "new\nline", "tab\t", "back\\slash", "日本語", "…", "a" * 255,
         "*?[", "c:d", "..three", "tree/...", "é/ü/ö"))}
    with Folder() as folder:
        write(folder, files)
        gfk(folder, "create", f"-s{SIZE}", "-c9", "-q", "set.par2", "--", *files)
        check_set(folder, par2set.Set(SIZE, files), range(9), "names")
        for name in list(files)[3:11]:
            os.unlink(folder / name)
        gfk(folder, "repair", "set.par2")
        common.check_files(folder, files, "names")
    with Folder() as folder:
        name = os.path.join(os.fsencode(folder.path), b"latin-\xe9")
        with open(name, "wb") as file:
            file.write(b"content")
        run = gfk(folder, "create", "-s4", "-c2", "set.par2", os.fsdecode(name), expect=(OK, ARGUMENTS, IO))
        check(run.code != OK or gfk(folder, "verify", "set.par2").code == OK, "a name that is not UTF-8")


if __name__ == "__main__":
    harness.main(sets, sizes, defaults, refused, names)
