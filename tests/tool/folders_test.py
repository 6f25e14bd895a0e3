#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One set in several folders, of which one may be lost, and several sets of one name."""

import json
import os
import shutil

import harness
from forge import promise
from harness import Folder, check, flip, shard, words

K, M = 5, 3
N = K + M
CODE = (f"-k{K}", f"-m{M}", "--block-size", "1K")


class Disks(Folder):
    """Folders that stand for disks, and a file that is spread over them."""

    def __init__(self, disks, code=CODE):
        self.disks = [f"d{i}" for i in range(disks)]
        self.all = ",".join(self.disks)
        self.code = code

    def __enter__(self):
        super().__enter__()
        for disk in self.disks:
            os.mkdir(self / disk)
        self.content = harness.rng.randbytes(30000)
        self.write("f", self.content)
        self.encoding = self.gfk("encode", *self.code, "--to", self.all, "f")
        os.rename(self / "f", self / "original")
        self.whole = self.state()
        return self

    def state(self):
        return {f"{d}/{n}": self.read(f"{d}/{n}") for d in self.disks for n in
                (os.listdir(self / d) if os.path.isdir(self / d) else ())}

    def held(self):
        return [len(os.listdir(self / d)) for d in self.disks]

    def fail(self, *disks):
        """New disks that are empty."""
        for disk in disks:
            shutil.rmtree(self / f"d{disk}")
            os.mkdir(self / f"d{disk}")

    def bases(self):
        return [f"{d}/f" for d in self.disks]


def encode_to_several_folders():
    with Disks(4) as s:
        check(set(s.whole) == {f"d{i % 4}/{shard('f', i)}" for i in range(N)}, set(s.whole))
        check(s.encoding.err == "", s.encoding.err)
        check(s.names() == ["d0", "d1", "d2", "d3", "original"], s.names())
        for arguments in (("--in", s.all, "f"), ("--in", s.all), s.bases(), s.disks,
                          ("--in", "d3,d1", "--in", "d0,d2", "f"), reversed(s.bases())):
            run = s.gfk("verify", *arguments)
            check("8 of 8 shards are intact" in run.text, run.text)
        s.gfk("decode", "--in", s.all, "f")
        check(s.read("f") == s.content, "decode --in")
        s.gfk("decode", "-f", *s.bases())
        check(s.read("d0/f") == s.content, "beside the first base")
        os.unlink(s / "d0/f")
        run = s.gfk("scrub", ".")
        check(words(run) == {"d0/f": "ok"}, run.text)
        run = s.gfk("info", "--json", "--in", s.all, "f").json()
        check([p["path"] for p in run["shards"]] == [f"d{i % 4}/{shard('f', i)}" for i in range(N)],
              run)
    with Disks(2) as s:
        check("d0 gets 4 of the 8 shards of f, but only 3 may be lost" in s.encoding.err and
              "--to needs 3 folders" in s.encoding.err, s.encoding.err)
        run = s.gfk("encode", "--json", *CODE, "--to", "d0", "-o", "g", "original").json()
        check("d0 gets 8 of the 8" in run["messages"][0], run)
        before = s.state()
        for arguments in (("--to", "d0,none"), ("--to", "original")):
            s.gfk("encode", *CODE, *arguments, "original", expect=harness.IO)
        for arguments in (("--to", "d0,d0/../d0"), ("--to", ""), ("--to", "d0,,d1"), ("--to", ",d0"),
                          ("--to", "d0,d1", "-o", "d1/x")):
            s.gfk("encode", *CODE, *arguments, "original", expect=harness.USAGE)
        check(s.state() == before, "something was written")


def encode_again_to_several_folders():
    """Over other shards only with --force; and what is left of earlier shards goes."""
    with Disks(3) as s:
        s.write("f", s.content[::-1])
        s.gfk("encode", *CODE, "--to", s.all, "f", expect=harness.EXISTS)
        check(s.state() == s.whole, "shards were replaced")
        s.gfk("encode", "-f", *CODE, "--to", "d2,d0,d1", "f")
        check(sum(s.held()) == N and not s.whole.items() & s.state().items(), s.held())
        s.gfk("verify", "--in", s.all, "f")
        s.gfk("encode", *CODE, "--to", s.all, "f")  # the same file in another order
        check(set(s.state()) == set(s.whole), "the order of the folders")
        s.gfk("verify", *s.disks)


def any_folder_may_be_lost():
    codes = ((CODE, 3), (("-k2", "-m4"), 2), (CODE, 4), (CODE, 8), (("-k4", "-m2"), 3))
    for code, disks in codes[:2] if harness.options.reduced else codes:
        with Disks(disks, code) as s:
            for lost in range(disks):
                for arguments in harness.some((("--in", s.all, "f"), ("--in", s.all), s.bases(), s.disks), 2):
                    s.fail(lost)
                    s.gfk("verify", *arguments, expect=harness.DAMAGED)
                    run = s.gfk("decode", "-o", "-", *arguments)
                    check(run.out == s.content, "decode without a folder")
                    run = s.gfk("repair", *arguments)
                    check(run.err == "" and s.state() == s.whole, f"{arguments}: {s.held()} {run.err}")
                s.fail(lost)
                run = s.gfk("scrub", "--repair", *s.disks)
                check(words(run) == {"d0/f" if lost else "d1/f": "repaired"}, run.text)
                check(s.state() == s.whole, f"scrub --repair: {s.held()}")


def a_folder_that_is_gone():
    """Like a disk that is not mounted: its shards go to the others, as evenly as it can be."""
    with Disks(4) as s:
        shutil.rmtree(s / "d1")
        run = s.gfk("verify", "--in", s.all, "f", expect=harness.DAMAGED)
        check("cannot read the folder d1" in run.err and "6 of 8" in run.text, run.err)
        run = s.gfk("repair", "--in", s.all, "f")
        check("now holds" not in run.err and not os.path.exists(s / "d1"), run.err)
        check([len(os.listdir(s / d)) for d in ("d0", "d2", "d3")] == [3, 3, 2], run.text)
        shutil.rmtree(s / "d0")
        run = s.gfk("repair", *s.bases())
        check("d2 now holds 4 shards of d2/f, but only 3 may be lost" in run.err, run.err)
        check([len(os.listdir(s / d)) for d in ("d2", "d3")] == [4, 4], run.text)
    with Disks(4) as s:
        shutil.rmtree(s / "d1")
        run = s.gfk("repair", "--in", s.all)  # without a base, too
        check("warning: cannot read the folder d1" in run.err and "2 of 8 shards restored" in run.text,
              run.err)
        s.gfk("encode", *CODE, "--to", "d0,d2,d3", "-o", "g", "original")
        for command in ("verify", "repair", "info"):  # two sets, one message
            run = s.gfk(command, "--in", s.all)
            check(run.err.count("cannot read the folder d1") == 1, run.err)
            for line in s.gfk(command, "--json", "--in", s.all).text.splitlines():
                check("cannot read the folder d1" in "".join(json.loads(line)["messages"]), line)
        run = s.gfk("verify", "--in", "x,y", expect=harness.UNRECOVERABLE)
        check("no shards in the folder x or the other folders" in run.err, run.err)
        run = s.gfk("verify", "--in", "x,y", "f", expect=(harness.IO, harness.UNRECOVERABLE))
        check("cannot" in run.err, run.err)
        s.gfk("encode", "-q", *CODE, "-o", "h", "original")  # in no folder of --in
        for command in ("verify", "repair", "decode", "info"):
            run = s.gfk(command, "--in", "x,y", "h", expect=harness.IO)
            check("cannot read the folder x" in run.err and run.out == b"", run.err)
        for disk in s.disks:
            shutil.rmtree(s / disk, ignore_errors=True)
            os.mkdir(s / disk)
        run = s.gfk("verify", *s.disks, expect=harness.UNRECOVERABLE)
        check(run.err.count("no shards in the folder") == 4, run.err)
        run = s.gfk("scrub", "--json", *s.disks, expect=harness.UNRECOVERABLE)
        check(len(run.text.splitlines()) == 4, run.text)


def repair_keeps_the_balance():
    for _ in range(10 if harness.options.reduced else 40):
        disks = harness.rng.randint(2, N)
        with Disks(disks) as s:
            for index in harness.rng.sample(range(N), harness.rng.randint(1, M)):
                os.unlink(s / f"d{index % disks}/{shard('f', index)}")
            before = s.held()
            run = s.gfk("repair", "--in", s.all, "f")
            after = s.held()
            check(sum(after) == N and all(a >= b for a, b in zip(after, before)), after)
            check(max(after) <= -(-N // disks), f"{before} {after}")
            check(("now holds" in run.err) == (disks == 2), run.err)
            s.gfk("verify", "--in", s.all, "f")


def repair_to_chosen_folders():
    with Disks(4) as s:
        os.mkdir(s / "new")
        s.fail(1)
        run = s.gfk("repair", "--in", s.all, "--to", "new", "f")
        check(sorted(os.listdir(s / "new")) == [shard("f", 1), shard("f", 5)], run.text)
        check(run.err == "" and f"005 written new/{shard('f', 5)}" in run.text, run.text)
        s.gfk("verify", "--in", s.all + ",new", "f")
        for index in (0, 4, 2):
            os.unlink(s / f"d{index % 4}/{shard('f', index)}")
        run = s.gfk("repair", "--in", s.all + ",new", "--to", "new", "f")
        check("new now holds 5 shards of f" in run.err, run.err)
        check(len(os.listdir(s / "new")) == 5, "where --to says")
        os.unlink(s / f"new/{shard('f', 1)}")
        s.write(f"new/{shard('f', 1)}", b"a text")
        before = s.state()
        run = s.gfk("repair", "--in", s.all + ",new", "--to", "new", "f", expect=harness.EXISTS)
        check("is not a shard of this set" in run.err and s.state() == before, run.err)
        s.gfk("repair", "--in", s.all, "--to", "none", "f", expect=harness.IO)
    with Folder() as folder:  # from one folder to several
        content = harness.encoded(folder)
        for disk in ("x", "y"):
            os.mkdir(folder / disk)
        folder.lose("f", 1, 3)
        folder.gfk("repair", "--to", "x,y", "f")
        check(len(os.listdir(folder / "x")) == len(os.listdir(folder / "y")) == 1, "one each")
        check(len(folder.shards("f")) == 3, folder.names())
        os.unlink(folder / "f")
        folder.gfk("decode", ".", "x", "y")
        check(folder.read("f") == content, "three folders")


def names_with_commas():
    """A backslash before a comma makes the comma a part of a name; two are a backslash."""
    with Folder() as s:
        for name in ("a,b", "c\\", "c\\,d", ",", "e"):
            os.mkdir(s / name)
        s.write("f", b"contents")
        listed = r"a\,b,\,,c\\\,d/,e"
        s.gfk("encode", "-k2", "-m2", "--to", listed, "f")
        for index, name in enumerate(("a,b", ",", "c\\,d", "e")):
            check(os.listdir(s / name) == [shard("f", index)], os.listdir(s / name))
        os.unlink(s / f"a,b/{shard('f', 0)}")
        s.gfk("repair", "--in", listed, "--in", "c\\", "--to", "c\\", "f")
        check(os.listdir(s / "c\\") == [shard("f", 0)], "a backslash at the end")
        names = ("\\", "\\,", "h\\\\", "i\\\\j", "k\\,,", "l/m\\")
        for name in names:
            os.makedirs(s / name)
        listed = r"\\,\\\,,h\\\\,i\\j,k\\\,\,//,l/m\\,e"
        s.gfk("encode", "-k2", "-m5", "--to", listed, "-o", "g", "f")
        for index, name in enumerate((*names, "e")):
            check(shard("g", index) in os.listdir(s / name), f"{name}: {os.listdir(s / name)}")
        s.gfk("verify", "--in", listed, "g")
        for wrong in ("", ",", "a,", ",a", "a,,b", "a\\\\,"):
            s.gfk("encode", "--to", wrong, "f", expect=harness.USAGE)


def stray_shards():
    """Shards of another set in a folder of a set: they are no lost file, and not the file of the set."""
    for disks, strays in ((3, (0,)), (8, (1,)), (8, (7,)), (3, (0, 3))):
        with Disks(disks) as s:
            os.mkdir(s / "x")
            s.gfk("encode", *CODE, "--to", "x", "-o", "f", "original")
            place = f"d{disks - 1}"
            own = sorted(os.listdir(s / place))
            for index in strays:  # beside the set's own shards
                shutil.copy(s / f"x/{shard('f', index)}", s / place)
            lacking = len(set(own) & {shard("f", index) for index in strays})
            for command in (("verify", *s.bases()), ("verify", *s.disks), ("verify", *reversed(s.disks)),
                            ("scrub", *s.disks)):
                run = s.gfk(*command, expect=harness.DAMAGED if lacking else harness.OK)
                check(f"{8 - lacking} of 8 shards are intact" in run.text and "lost  " not in run.text and
                      "cannot be restored" not in run.text, f"{command}: {run.text}")
                check(f"{place}/{shard('f', strays[0])} belongs to another set, " in run.err and
                      f"with {len(strays)} of 8 shards" in run.err, run.err)
            check(s.gfk("decode", "-o", "-", *s.bases()).out == s.content, "decode")
            for folders in (".",), ("d0", "x", place), (place, "x", "d0"):  # both sets
                run = s.gfk("scrub", *folders, expect=None)
                check(words(run)["x/f"] == "ok" and "another set" not in run.err, run.text + run.err)
            for index in strays:
                os.unlink(s / f"{place}/{shard('f', index)}")
            for name in own:  # in the place of the set's own shards
                shutil.copy(s / f"x/{name}", s / f"{place}/{name}")
            run = s.gfk("verify", *s.bases(), expect=harness.DAMAGED)
            check(f"{8 - len(own)} of 8 shards are intact; the file can be restored" in run.text and
                  f"{place}/{own[0]} belongs to another set, " in run.err, run.text + run.err)
            check(s.gfk("decode", "-o", "-", *s.bases()).out == s.content, "decode")
            run = s.gfk("repair", *s.bases())
            check(s.read(f"{place}/{own[0]}") == s.read(f"x/{own[0]}") and place not in run.text, run.text)
            s.gfk("verify", "--in", s.all, "f")


def old_and_new(folder, old="d1", new="d2", seconds=(10**9, 2 * 10**9)):
    """Two encodes of one file in two folders; the contents."""
    contents = harness.rng.randbytes(9000), harness.rng.randbytes(9000)
    for disk, content, time in zip((old, new), contents, seconds):
        os.makedirs(folder / disk, exist_ok=True)
        folder.write("f", content)
        os.utime(folder / "f", (time, time))
        folder.gfk("encode", *CODE, "--to", disk, "f")
    os.unlink(folder / "f")
    return contents


def an_older_and_a_newer_set():
    """decode takes the newer file in any order of the folders; all other commands do both sets."""
    for old, new in (("d1", "d2"), ("d2", "d1")):
        with Folder() as s:
            _, newer = old_and_new(s, old, new)
            os.mkdir(s / "d3")
            for arguments in (("--in", "d1,d2", "f"), ("--in", "d2,d1", "f")):
                run = s.gfk("decode", "-o", "-", *arguments)
                check(run.out == newer, "decode took the older file")
                check(len(run.err.splitlines()) == 1 and f"{old}/{shard('f', 0)} belongs to another set, "
                      "changed 2001-09-09T01:46:40Z, with 8 of 8 shards; in use is the set of "
                      f"{new}/{shard('f', 0)}, changed 2033-05-18T03:33:20Z" in run.err, run.err)
            os.unlink(s / f"{new}/{shard('f', 1)}")
            os.unlink(s / f"{new}/{shard('f', 2)}")
            check(s.gfk("decode", "-o", "-", "--in", "d1,d2", "f").out == newer, "two are missing")
            for arguments in (("--in", "d1,d2", "f"), ("--in", "d1,d2"), ("d1", "d2"), ("d1/f", "d2/f")):
                run = s.gfk("verify", "--json", *arguments, expect=harness.DAMAGED)
                found = {r["set"]: r["bad_shards"] for r in map(json.loads, run.text.splitlines())}
                check(sorted(found.values()) == [0, 2] and "another set" not in run.text, run.text)
            run = s.gfk("info", "--in", "d1,d2", "f")
            check(run.text.count("8 of 8 can be read") == run.text.count("6 of 8 can be read") == 1,
                  run.text)
            check(s.gfk("scrub", ".", expect=harness.DAMAGED).text.count("damaged  ") == 1, "scrub")
            os.unlink(s / f"{old}/{shard('f', 5)}")
            run = s.gfk("repair", "--in", "d1,d2,d3", "f")  # d3 has room; no name is taken twice
            check("2 of 8 shards restored" in run.text and "1 of 8 shards restored" in run.text, run.text)
            check(s.gfk("verify", "--in", "d1,d2,d3", "f").text.count("8 of 8") == 2, "both repaired")
            for index in range(M + 1):
                for disk in (new, "d3"):
                    if os.path.exists(s / f"{disk}/{shard('f', index)}"):
                        os.unlink(s / f"{disk}/{shard('f', index)}")
            run = s.gfk("decode", "-o", "-", "--in", "d1,d2,d3", "f")
            check(run.out != newer and "with 4 of 8 shards" in run.err, run.err)
    with Folder() as s:  # both sets are in both folders, and neither can be restored from one folder
        _, newer = old_and_new(s)
        for index in range(N):
            here = ("d1", "d2")[index % 2]
            os.rename(s / f"d1/{shard('f', index)}", s / f"{here}/t")
            os.rename(s / f"d2/{shard('f', index)}", s / f"{('d2', 'd1')[index % 2]}/{shard('f', index)}")
            os.rename(s / f"{here}/t", s / f"{here}/{shard('f', 30 + index)}")
        check(s.gfk("decode", "-o", "-", "--in", "d1,d2", "f").out == newer, "mixed")
        for arguments in (("--in", "d1,d2", "f"), ("--in", "d1,d2"), ("d1", "d2"), ("d1/f", "d2/f")):
            check(s.gfk("verify", *arguments).text.count("8 of 8") == 2, arguments)
    with Folder() as s:  # a file without a time is the oldest
        _, newer = old_and_new(s)
        os.mkdir(s / "d0")
        s.gfk("encode", *CODE, "--to", "d0", "-o", "f", "-", input=b"from a pipe")
        run = s.gfk("decode", "-o", "-", "--in", "d0,d1,d2", "f")
        check(run.out == newer and "without a time" in run.err, run.err)


def a_newer_set_that_cannot_be_restored():
    """decode says why, and takes the next older set: three sets, the two newer ones are bad."""
    with Folder() as s:
        older, _ = old_and_new(s)
        s.write("f", b"newest")
        os.utime(s / "f", (3 * 10**9,) * 2)
        os.mkdir(s / "d3")
        s.gfk("encode", "-k1", "-m1", "--to", "d3", "f")
        os.unlink(s / "f")
        for index in range(M + 1):  # a block of the newer set is lost
            flip(s / f"d2/{shard('f', index)}", harness.HEADER + harness.BLOCK_HEADER)
        both = ("--in", "d1,d2", "f")
        run = s.gfk("decode", *both)
        check(s.read("f") == older and "cannot be restored" in run.err and
              f"trying the next set of f: that of d1/{shard('f', 0)}, changed 2001-09-09" in run.err, run.err)
        run = s.gfk("decode", "-f", "--json", *both).json()
        check(run["exit"] == 0 and run["bytes"] == len(older) and
              any("trying the next set" in m for m in run["messages"]), run)
        check(s.gfk("decode", "-o", "-", *both).out == older, "nothing was written of the newer file")
        for index in (0, 1):  # the newest one loses the magic bytes of its blocks
            s.write(f"d3/{shard('f', index)}", s.read(f"d3/{shard('f', index)}")[:harness.HEADER] + bytes(100))
        run = s.gfk("decode", "-f", "--in", "d1,d2,d3", "f")
        check(s.read("f") == older and run.err.count("trying the next set") == 2, run.err)
        for index in range(M + 1):
            flip(s / f"d1/{shard('f', index)}", harness.HEADER + harness.BLOCK_HEADER)
        run = s.gfk("decode", "-f", "--in", "d1,d2,d3", "f", expect=harness.UNRECOVERABLE)
        check(s.read("f") == older and run.err.count("trying the next set") == 2, run.err)


def forged(folder, place, **values):
    """A newer set of 1 + 1 shards, with a header of the forger; its contents."""
    content = harness.rng.randbytes(100)
    os.makedirs(folder / place, exist_ok=True)
    folder.write("f", content)
    folder.gfk("encode", "-k1", "-m1", "--block-size", "64", "--to", place, "f")
    os.unlink(folder / "f")
    for index in range(2):
        path = f"{place}/{shard('f', index)}"
        whole = folder.read(path)
        header = promise(whole, **{"seconds": 3 * 10**9, "index": index, **values})
        folder.write(path, header + whole[harness.HEADER:-harness.HEADER] + header)
    return content


@harness.slow
def a_newer_set_that_is_refused():
    """A stored name or a size that decode refuses does not hide an older set."""
    temp = b".gfk-tmp-0123456789ab"
    cases = [{"name": name} for name in (
        b".f" + temp, b".x" + temp, b"f.gfk.000", b"f.gfk.001", b"f.gfk.65535",
        b"folder", b"pipe", b"to a folder", b"g.gfk.001", b"other.gfk.000")]
    cases += [{"polynomial": 0x100}, {"polynomial": 0x11b, "matrix": 4}, {"block": 1 << 30, "size": 1 << 60},
              {"k": 2, "m": 65534, "w": 16, "polynomial": 0x1100b}, {"w": 32, "polynomial": 1 << 32}]
    for values in cases:
        name = values.get("name", b"")
        with Folder() as s:
            older, newer = old_and_new(s)
            s.write("g", b"another file")
            s.gfk("encode", "-k1", "-m1", "-q", "g")
            os.mkdir(s / "folder")
            os.mkfifo(s / "pipe")
            os.symlink("folder", s / "to a folder")
            s.write("other.gfk.000", b"a text")
            forged(s, "d3", **values)
            before = s.contents("g") | s.contents("other")
            for command in (("--in", "d1,d2,d3", "f"), ("-f", "--in", "d3,d2,d1", "f"),
                            ("--partial", "-f", "--in", "d3,d2,d1", "f")):
                run = s.gfk("decode", *command)
                check(s.read("f") == newer and run.err.count("trying the next set of f: that of d2/") == 1,
                      f"{values} {command}: {run.err}")
                check(not s.temps() and s.contents("g") | s.contents("other") == before, values)
            run = s.gfk("decode", "-o", "-", "--in", "d1,d2,d3", "f", expect=None)
            check(run.code == harness.OK and (len(run.out) == 100 if name else run.out == newer),
                  f"{values}: {run.err}")  # standard output has no name
            for index in range(M + 1):  # then the next one
                flip(s / f"d2/{shard('f', index)}", harness.HEADER + harness.BLOCK_HEADER)
            run = s.gfk("decode", "-f", "--in", "d1,d2,d3", "f")
            check(s.read("f") == older and run.err.count("trying the next set") == 2, f"{values}: {run.err}")
    with Folder() as s:  # the files of the newest set have other names as well
        _, newer = old_and_new(s)
        forged(s, "d3", polynomial=0x100)
        for index in range(2):
            shutil.copy(s / f"d3/{shard('f', index)}", s / f"d2/{shard('a', index)}")
            shutil.copy(s / f"d3/{shard('f', index)}", s / f"d2/{shard('f', 20 + index)}")
        run = s.gfk("decode", "d2")
        check(s.read("d2/f") == newer and run.err.count("trying the next set") == 1, run.err)
    with Folder() as s:  # a file that is there is in the way of the newest set, and only of this one
        _, newer = old_and_new(s)
        s.write("there", b"a file")
        content = forged(s, "d3", name=b"there")
        run = s.gfk("decode", "--in", "d1,d2,d3", "f", expect=harness.EXISTS)
        check(s.read("f") == newer and s.read("there") == b"a file" and "there exists" in run.err, run.err)
        run = s.gfk("decode", "--in", "d1,d2,d3", "f", expect=harness.EXISTS)
        check(s.read("there") == b"a file", run.err)
        s.gfk("decode", "-f", "--in", "d1,d2,d3", "f")
        check(s.read("there") == content, "decode -f")
    with Folder() as s:  # the longest name that a file system takes
        old_and_new(s)
        content = forged(s, "d3", name=b"n" * 255)
        s.gfk("decode", "--in", "d1,d2,d3", "f")
        check(s.read("n" * 255) == content, s.names())
    with Folder() as s:  # bytes were written
        old_and_new(s)
        forged(s, "d3", hash=1)
        run = s.gfk("decode", "-o", "-", "--in", "d1,d2,d3", "f", expect=harness.UNRECOVERABLE)
        check(len(run.out) == 100 and "do not use the output" in run.err and "trying" not in run.err, run.err)
    with Folder() as s:  # all sets have one refused name: one message
        for number in range(3):
            forged(s, f"d{number}", name=b"f.gfk.000", seconds=number)
        run = s.gfk("decode", "--in", "d0,d1,d2", "f", expect=harness.IO)
        check(run.err.count("has the name of a shard") == 1 and "trying" not in run.err, run.err)


def shards_without_headers_count():
    """A set of which only some shards have an intact header, and enough an intact block header, is as good as
    others: neither an older set nor a forged one, which may have its id, comes first or takes its files."""
    for same_id in (False, True):
        with Folder() as s:
            older, newer = old_and_new(s)
            first = s.read(f"d2/{shard('f', 0)}")
            values = {"set_id": first[16:32]} if same_id else {}
            forged(s, "d3", polynomial=0x100, **values)
            for index in range(4):
                path = s / f"d2/{shard('f', index)}"
                for at in (20, os.path.getsize(path) - 500):
                    flip(path, at)
            for order in ("d1,d2,d3", "d3,d2,d1"):
                run = s.gfk("decode", "-f", "--in", order, "f")
                check(s.read("f") == newer and run.err.count("trying the next set") == 1, run.err)
            check(s.gfk("decode", "-o", "-", "--in", "d1,d2", "f").out == newer, "the newer of two")
            run = s.gfk("verify", "--json", "--in", "d3,d1,d2", "f", expect=harness.UNRECOVERABLE)
            found = sorted((r.get("bad_shards", -1), r["exit"]) for r in map(json.loads, run.text.splitlines()))
            check((0, 0) in found and (4, 1) in found and len(found) == 3, run.text)
            s.gfk("repair", "--in", "d3,d1,d2", "f", expect=harness.UNRECOVERABLE)
            check(s.read(f"d2/{shard('f', 0)}") == first and s.gfk("decode", "-o", "-", "d1").out == older, "repair")


def a_newer_set_of_too_many_files():
    """The limit on open files is too low for the newest set, and not for the older one."""
    with Folder() as s:
        _, newer = old_and_new(s)
        os.mkdir(s / "d3")
        s.write("f", b"newest")
        os.utime(s / "f", (3 * 10**9,) * 2)
        s.gfk("encode", "-k200", "-m50", "--block-size", "64", "--to", "d3", "f")
        os.unlink(s / "f")
        run = s.gfk("decode", "--in", "d1,d2,d3", "f", open_files=150)
        check("limit on open files" in run.err and s.read("f") == newer, run.err)


def a_newer_set_under_temporary_names():
    """A killed encode left it complete. repair, which may not replace the older shards, keeps it."""
    with Folder() as s:
        _, newer = old_and_new(s)
        for index in range(N):
            os.rename(s / f"d2/{shard('f', index)}", s / f"d1/.{shard('f', index)}.gfk-tmp-0123456789ab")
        before = sorted(os.listdir(s / "d1"))
        for command in (("repair", "d1/f"), ("repair", "d1"), ("scrub", "--repair", "."), ("repair", "--in", "d1", "f")):
            run = s.gfk(*command, expect=harness.EXISTS)
            check("is in the way" in run.err and sorted(os.listdir(s / "d1")) == before, run.err)
        check(s.gfk("decode", "-o", "-", "d1/f").out == newer, "the newer file")
        new = s.gfk("info", "--json", "d1/f").text.splitlines()
        new = [json.loads(line)["set"] for line in new if json.loads(line)["shards"][0]["state"] == "damaged"]
        run = s.gfk("repair", "-f", "--json", "d1/f")
        check([json.loads(line)["set"] for line in run.text.splitlines()] == 2 * new, "a set that was replaced")
        check(sorted(os.listdir(s / "d1")) == [shard("f", i) for i in range(N)], os.listdir(s / "d1"))
        check(s.gfk("decode", "-o", "-", "d1/f").out == newer, "the newer file")


harness.main(encode_to_several_folders, encode_again_to_several_folders, any_folder_may_be_lost,
             a_folder_that_is_gone, repair_keeps_the_balance, repair_to_chosen_folders, names_with_commas,
             stray_shards, an_older_and_a_newer_set,
             a_newer_set_that_cannot_be_restored, a_newer_set_that_is_refused,
             shards_without_headers_count, a_newer_set_of_too_many_files, a_newer_set_under_temporary_names)
