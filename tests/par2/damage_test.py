# SPDX-License-Identifier: BSD-3-Clause
"""verify and repair after damage, of sets that the tool made and of sets made from the specification."""

import os

import common
import harness
import par2set
from common import (EMPTY, EXACT, IMPOSSIBLE, IO, FAILED, MOVIE, NOTES, OK, PHOTO, POSSIBLE, SIZE, UTF8, check,
                    check_files, files_in, gfk, sources, write)
from harness import Folder

RECOVERY = 40


def made_by_reference(folder, files):
    par2set.Set(SIZE, files).write(folder, range(RECOVERY))


def made_by_gfk(folder, files):
    gfk(folder, "create", f"-s{SIZE}", f"-c{RECOVERY}", "set.par2", *files)


def missing_empty(folder):
    os.unlink(folder / EMPTY)


def all_at_once(folder):
    """Damage of many kinds, in each file."""
    common.truncated(folder)
    common.missing_folder(folder)
    common.insertion(folder)
    common.overwritten(folder)
    harness.flip(folder / UTF8, 5)
    os.unlink(folder / EMPTY)


def wrong_order(folder):
    """Slices of a file are in another order, and some are there twice."""
    content = folder.read(MOVIE)
    pieces = [content[at:at + SIZE] for at in range(0, len(content), SIZE)]
    folder.write(MOVIE, b"".join(pieces[3:9] + pieces[5:7] + pieces[:3] + [b"?"] + pieces[9:]))


def after_each_damage():
    files = sources()
    for create in made_by_reference, made_by_gfk:
        with Folder() as folder:
            write(folder, files)
            create(folder, files)
            sets = {name: folder.read(name) for name in common.volumes(folder)}
        damages = common.DAMAGES | {wrong_order: POSSIBLE}
        if create == made_by_reference:  # the tool, as other programs, leaves empty files out
            damages |= {missing_empty: POSSIBLE, all_at_once: POSSIBLE}
        for damage, code in damages.items():
            with Folder() as folder:
                write(folder, files | sets)
                others = damage(folder) or ()
                before = files_in(folder)
                gfk(folder, "verify", "set.par2", *others, expect=code)
                check(files_in(folder) == before, f"{damage.__name__}: verify changed files")
                gfk(folder, "repair", "set.par2", *others)
                check_files(folder, files, f"{create.__name__}, {damage.__name__}")
                for path, content in before.items():
                    check(content in files_in(folder).values() or path in others,
                          f"{damage.__name__}: the content of {path} before repair is lost")
                gfk(folder, "verify", "set.par2")
                check(not folder.temps() and all(".gfk" not in path for path in common.paths_in(folder)), "left over")


def old_versions():
    """A damaged file stays under the first free name NAME.1, NAME.2; -p removes it and the set."""
    files = sources()
    with Folder() as folder:
        write(folder, files)
        made_by_reference(folder, files)
        folder.write(EXACT + ".1", b"somebody's")
        harness.flip(folder / EXACT, 100)
        damaged = folder.read(EXACT)
        gfk(folder, "repair", "set.par2")
        check_files(folder, files | {EXACT + ".1": b"somebody's", EXACT + ".2": damaged}, "repair")
        harness.flip(folder / MOVIE, 100)
        gfk(folder, "repair", "-p", "set.par2")
        check_files(folder, files | {EXACT + ".1": b"somebody's"}, "repair -p")
        check(not os.path.exists(folder / (MOVIE + ".1")) and not common.volumes(folder), f"-p left {folder.names()}")


def too_much():
    """More damage than recovery: nothing is written."""
    files = sources()
    with Folder() as folder:
        write(folder, files)
        par2set.Set(SIZE, files).write(folder, range(3, 10))
        harness.overwrite(folder / MOVIE, 0, bytes(7 * SIZE))
        gfk(folder, "verify", "set.par2", expect=POSSIBLE)
        harness.overwrite(folder / UTF8, 0, bytes(1))
        before = {path: folder.read(path) for path in common.paths_in(folder)}
        run = gfk(folder, "verify", "set.par2", expect=IMPOSSIBLE)
        check("1 " in run.text + run.err, f"how many slices are missing: {run.text}{run.err}")
        gfk(folder, "repair", "set.par2", expect=IMPOSSIBLE)
        check({path: folder.read(path) for path in common.paths_in(folder)} == before, "files were changed")
        os.unlink(folder / "set.vol3+7.par2")
        gfk(folder, "repair", "set.par2", expect=IMPOSSIBLE)


def singular():
    """Slices 0 and 2 have the logarithms 1 and 4; 3 * 21845 = 65535, so exponents 0 and 21845 are not enough for
    them, nor 0, 21845 and 43690 for slices 0, 2 and 6, of 13. A further exponent helps."""
    content = harness.rng.randbytes(10 * SIZE)
    for lost, exponents, code in (
            ((0, 2), (0, 21845), IMPOSSIBLE), ((0, 2), (0, 21845, 43690), IMPOSSIBLE), ((0, 2), (0, 21845, 7), OK),
            ((0, 1), (0, 21845), OK), ((0, 2, 6), (0, 21845, 43690), IMPOSSIBLE),
            ((0, 2, 6), (0, 21845, 43690, 1), IMPOSSIBLE), ((0, 2, 6), (0, 21845, 43690, 1, 2), OK),
            ((0, 2, 6), (5, 21850, 43695, 65534, 1, 17), OK), ((0, 2, 3, 6), (0, 21845, 43690, 1, 2, 9, 4), OK)):
        with Folder() as folder:
            folder.write("data", content)
            par2set.Set(SIZE, {"data": content}).write(folder, exponents)
            for i in lost:
                harness.overwrite(folder / "data", i * SIZE, bytes(SIZE))
            damaged = folder.read("data")
            gfk(folder, "repair", "set.par2", expect=code)
            check(folder.read("data") == (content if code == OK else damaged), f"lost {lost}, exponents {exponents}")


def other_name():
    """A whole file with another name is moved to its place if it is named, and copied if it is not."""
    files = sources()
    del files[EMPTY]
    for named in False, True:
        with Folder() as folder:
            write(folder, files)
            gfk(folder, "create", f"-s{SIZE}", "-c1", "set.par2", *files)
            os.rename(folder / MOVIE, folder / "film.bin")
            gfk(folder, "repair", "set.par2", *(["film.bin"] if named else []))
            check_files(folder, files, "film.bin")
            check(os.path.exists(folder / "film.bin") != named, f"film.bin, named: {named}")


def several_calls():
    """Volumes of two calls of create are one set, and volumes of another set stay out of it."""
    files = sources()
    del files[EMPTY]
    with Folder() as folder:
        write(folder, files)
        gfk(folder, "create", f"-s{SIZE}", "-c5", "set.par2", *files)
        gfk(folder, "create", f"-s{SIZE}", "-c5", "-f1000", "more.par2", *files)
        gfk(folder, "create", f"-s{SIZE + 4}", "-c9", "-f2000", "set.other.par2", *files)
        harness.overwrite(folder / MOVIE, 0, bytes(10 * SIZE))
        gfk(folder, "verify", "set.par2", expect=IMPOSSIBLE)
        others = [name for name in common.volumes(folder, "more")]
        gfk(folder, "verify", "set.par2", *others, expect=POSSIBLE)
        gfk(folder, "repair", "set.par2", *others)
        check_files(folder, files, "two calls")


def equal_slices():
    """Slices, files and both that are equal to each other; zeros, the padding of a last slice."""
    random = harness.rng.randbytes(SIZE)
    files = {"zeros": bytes(12 * SIZE + 100), "same": random * 9 + random[:50], "copy": random * 9 + random[:50],
             "twice.bin": random + bytes(SIZE) + random + bytes(7)}
    def restore(damage, code):
        with Folder() as folder:
            write(folder, files)
            par2set.Set(SIZE, files).write(folder, range(6))
            damage(folder)
            gfk(folder, "verify", "set.par2", expect=code)
            gfk(folder, "repair", "set.par2")
            check_files(folder, files, "equal slices")
    restore(lambda folder: os.unlink(folder / "copy"), POSSIBLE)
    restore(lambda folder: os.unlink(folder / "twice.bin"), POSSIBLE)
    restore(lambda folder: os.truncate(folder / "zeros", 3 * SIZE), POSSIBLE)
    restore(lambda folder: os.truncate(folder / "same", 3 * SIZE + 1), POSSIBLE)
    restore(lambda folder: folder.write("same", b"1" + files["same"]), POSSIBLE)


def things_in_the_way():
    """A link is not followed, neither for a file nor for a folder; what it leads to stays as it is."""
    files = sources()
    with Folder() as outside, Folder() as folder:
        write(folder, files)
        made_by_reference(folder, files)
        outside.write("kept", files[EXACT][:-1] + b"?")
        kept = outside.read("kept")
        os.unlink(folder / EXACT)
        os.symlink(outside / "kept", folder / EXACT)
        gfk(folder, "verify", "set.par2", expect=POSSIBLE)
        gfk(folder, "repair", "set.par2", expect=(OK, FAILED, IO))
        check(outside.read("kept") == kept and outside.names() == ["kept"], "a link was followed")
        if os.path.lexists(folder / EXACT) and os.path.islink(folder / EXACT):
            os.unlink(folder / EXACT)
            gfk(folder, "repair", "set.par2")
        check_files(folder, files, "a link in the place of a file")

        os.rename(folder / "folder", folder / "elsewhere")
        os.symlink(outside.path, folder / "folder")
        run = gfk(folder, "repair", "set.par2", expect=(FAILED, IO))
        check("folder" in run.err, f"no word about the link: {run.err}")
        check(outside.names() == ["kept"], f"written behind a link: {outside.names()}")
        os.unlink(folder / "folder")

        folder.write("folder", b"a file in the place of a folder")
        run = gfk(folder, "repair", "set.par2", expect=(FAILED, IO))
        check("folder" in run.err, f"no word about the file: {run.err}")
        os.unlink(folder / "folder")
        os.rename(folder / "elsewhere", folder / "folder")

        os.unlink(folder / NOTES)
        os.mkdir(folder / NOTES)
        gfk(folder, "verify", "set.par2", expect=POSSIBLE)
        gfk(folder, "repair", "set.par2", expect=(FAILED, IO))
        os.rmdir(folder / NOTES)
        os.mkfifo(folder / NOTES)  # nobody writes into it
        gfk(folder, "repair", "set.par2", expect=(OK, FAILED, IO))


def other_paths():
    """The set in another folder than the files, and than the working folder."""
    files = sources()
    with Folder() as folder:
        os.makedirs(folder / "data")
        os.makedirs(folder / "sets")
        os.makedirs(folder / "work")
        for name, content in files.items():
            os.makedirs(os.path.dirname(folder / f"data/{name}"), exist_ok=True)
            folder.write(f"data/{name}", content)
        gfk(folder, "create", "-B", "../data", f"-s{SIZE}", f"-c{RECOVERY}", "../sets/set.par2",
            *(f"../data/{name}" for name in files), cwd=folder / "work")
        os.unlink(folder / f"data/{PHOTO}")
        gfk(folder, "verify", "-B", "../data", "../sets/set.par2", expect=POSSIBLE, cwd=folder / "work")
        gfk(folder, "repair", "-B", folder / "data", folder / "sets/set.par2", cwd="/")
        for name, content in files.items():
            check(folder.read(f"data/{name}") == content, f"{name} with -B")
        for name in os.listdir(folder / "sets"):
            os.rename(folder / f"sets/{name}", folder / f"data/{name}")
        gfk(folder, "verify", folder / "data/set.par2", cwd="/")
        os.unlink(folder / f"data/{UTF8}")
        gfk(folder, "repair", "data/set.par2")
        check(folder.read(f"data/{UTF8}") == files[UTF8], "without -B the files are where the set is")


def no_set():
    with Folder() as folder:
        folder.write("data", b"1234")
        for name, content in (("empty.par2", b""), ("text.par2", b"no packet"), ("zeros.par2", bytes(100000))):
            folder.write(name, content)
            for verb in "verify", "repair":
                run = gfk(folder, verb, name, expect=(IMPOSSIBLE, common.DATA))
                check(run.err, f"{verb} of {name} says nothing")
        for verb in "verify", "repair":
            check(gfk(folder, verb, "none.par2", expect=(common.ARGUMENTS, common.DATA, IO)).err, "says nothing")
        whole = par2set.Set(SIZE, {"data": b"1234"})
        for left_out in range(3):  # without Main, or the description, or the checksums
            critical = whole.critical()
            del critical[left_out]
            folder.write("part.par2", b"".join([*critical, whole.recovery(0)]))
            expected = OK if left_out == 2 else (IMPOSSIBLE, common.DATA)
            gfk(folder, "verify", "part.par2", expect=expected)


if __name__ == "__main__":
    common.main(after_each_damage, old_versions, too_much, singular, other_name, several_calls, equal_slices,
                things_in_the_way, other_paths, no_set)
