#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Several sets in one command, and a tree of folders."""

import itertools
import json
import os
import shutil
import subprocess

import harness
from harness import Folder, check, flip, shard, words

K, M = 5, 3
N = K + M
CODE = (f"-k{K}", f"-m{M}", "--block-size", "1K")


class Sets(Folder):
    """A folder with files in folders, and their shards beside them."""

    names_of_files = ("a", "b", "sub/c", "sub/deep/d", "other/a")

    def __enter__(self):
        super().__enter__()
        os.makedirs(self / "sub/deep")
        os.mkdir(self / "other")
        self.originals = {}
        for name in self.names_of_files:
            self.originals[name] = harness.rng.randbytes(9000)
            self.write(name, self.originals[name])
        self.gfk("encode", *CODE, *self.names_of_files)
        for name in self.names_of_files:
            os.unlink(self / name)
        return self


def several_bases_and_folders():
    with Sets() as s:
        run = s.gfk("verify", "a", "b", "sub/c")
        check([line.split(":")[0] for line in run.text.splitlines()] == ["a", "b", "sub/c"], run.text)
        s.lose("b", 1, 2)
        lines = s.gfk("verify", "--json", "a", "b", "sub/c", expect=harness.DAMAGED).text.splitlines()
        runs = [json.loads(line) for line in lines]
        check([(r["base"], r["exit"]) for r in runs] == [("a", 0), ("b", 1), ("sub/c", 0)], runs)
        run = s.gfk("info", "b", "other")
        check(run.text.count("code       k = 5") == 2 and "other/a.gfk.007" in run.text, run.text)
        s.gfk("decode", "a", "b", "sub", "other/a")  # sub holds c, but not d, which is below
        for name in ("a", "b", "sub/c", "other/a"):
            check(s.read(name) == s.originals[name], f"{name} differs")
        check(not os.path.exists(s / "sub/deep/d"), "a folder's folders")
        run = s.gfk("decode", "-o", "out", "a", "b", expect=harness.USAGE)
        check("the shards of 2" in run.err and "out" not in s.names(), run.err)
        s.lose("a", 0, 1, 2, 3)
        run = s.gfk("repair", "a", "b", "none", expect=harness.UNRECOVERABLE)
        check("b: 2 of 8 shards restored" in run.text and "shards of none" in run.err, run.err)
        s.gfk("verify", "b")
        run = s.gfk("verify", "--json", "a", "none", "b", expect=harness.UNRECOVERABLE)
        check([json.loads(line)["exit"] for line in run.text.splitlines()] == [3, 3, 0], run.text)
        run = s.gfk("verify", "--json", "sub/deep", expect=harness.OK).json()
        check(run["base"] == "sub/deep/d", run)
        os.mkdir(s / "empty")
        run = s.gfk("verify", "empty", expect=harness.UNRECOVERABLE)
        check("no shards in the folder empty" in run.err, run.err)
        shards = [os.path.join(p, n) for p in ("sub", "other") for n in os.listdir(s / p)
                  if ".gfk." in n]
        harness.rng.shuffle(shards)
        run = s.gfk("verify", *shards)
        check(sorted(line.split(":")[0] for line in run.text.splitlines()) == ["other/a", "sub/c"],
              run.text)


def a_base_comes_before_a_folder():
    with Folder() as folder:
        os.mkdir(folder / "photos")
        folder.gfk("encode", *CODE, "-o", "photos", "-", input=b"an archive")
        folder.gfk("encode", *CODE, "-o", "photos/x", "-", input=b"inside")
        check(folder.gfk("decode", "-o", "-", "photos").out == b"an archive", "the base")
        check(folder.gfk("decode", "-o", "-", "photos/").out == b"inside", "the folder")


def the_worst_code():
    """Lost is worse than everything else; then the larger code."""
    with Sets() as s:
        s.lose("a", 0)
        s.gfk("verify", "a", "b", expect=harness.DAMAGED)
        s.gfk("verify", "b", "a", expect=harness.DAMAGED)
        s.lose("b", 0, 1, 2, 3)
        s.write(shard("a", 0), b"a text")
        s.gfk("repair", "a", "sub/c", expect=harness.EXISTS)
        for order in (("a", "b"), ("b", "a")):
            s.gfk("repair", *order, expect=harness.UNRECOVERABLE)


def a_tree():
    with Sets() as s:
        run = s.gfk("scrub", ".")
        check(words(run) == dict.fromkeys(s.names_of_files, "ok"), run.text)
        check(run.text.splitlines()[-1].startswith("5 sets: 5 ok"), run.text)
        s.lose("sub/deep/d", 0, 7)
        flip(s / shard("a", 3), 2000)
        run = s.gfk("scrub", s.path, expect=harness.DAMAGED)
        check(f"damaged  {s / 'sub/deep/d'}: 6 of 8 shards are intact" in run.text, run.text)
        check(f"damaged  {s / 'a'}: 7 of 8 shards are intact" in run.text, run.text)
        s.lose("sub/c", 0, 1, 2, 3)
        run = s.gfk("scrub", ".", expect=harness.UNRECOVERABLE)
        check(words(run) == {"a": "damaged", "b": "ok", "sub/c": "lost", "sub/deep/d": "damaged",
                             "other/a": "ok"}, run.text)
        lines = s.gfk("scrub", "--json", ".", expect=harness.UNRECOVERABLE).text.splitlines()
        found = {r["base"]: (r["verdict"], r["exit"]) for r in map(json.loads, lines)}
        check(found["sub/c"] == ("lost", 3) and found["a"] == ("damaged", 1), found)
        run = s.gfk("scrub", "-q", ".", expect=harness.UNRECOVERABLE)
        check(run.out == b"" and "damaged a:" in run.err and "lost sub/c:" in run.err and
              "ok" not in run.err, run.err)
        run = s.gfk("scrub", "--repair", ".", expect=harness.UNRECOVERABLE)
        check(words(run)["a"] == words(run)["sub/deep/d"] == "repaired", run.text)
        shutil.rmtree(s / "sub/deep")
        s.gfk("scrub", "other", ".", expect=harness.UNRECOVERABLE)
        s.gfk("verify", "a", "b", "other")
        s.lose("sub/c", *range(4, N))
        check(set(words(s.gfk("scrub", ".", "sub", "a/..", expect=None))) >= {"a", "b"}, "twice")
        run = s.gfk("scrub", "sub", expect=harness.UNRECOVERABLE)
        check("no shards in the folder sub" in run.err, run.err)
        run = s.gfk("scrub", "nowhere", expect=harness.IO)
        check("cannot read the folder nowhere" in run.err, run.err)
        s.gfk("scrub", expect=harness.USAGE)


def files_that_are_named_like_shards():
    """A file of the user that has the name of a shard is ignored; what may be a shard is not."""
    with Sets() as s:
        s.write("sub/x.gfk.000", b"a text of the user")
        for arguments in (("scrub", "."), ("verify", "sub")):
            run = s.gfk(*arguments)
            check("lost  " not in run.text and "sub/x:" not in run.text and run.err ==
                  "gfk: sub/x.gfk.000 is ignored: it is not a shard\n", run.err)
        run = s.gfk("scrub", "--json", ".")
        check([json.loads(line)["exit"] for line in run.text.splitlines()] == [0] * 6, run.text)
        s.write("other/y.gfk.003", b"another text")
        s.gfk("verify", "sub/x", expect=harness.UNRECOVERABLE)
        for lost in (b"", bytes(600), s.read(shard("a", 0))[:400]):
            s.write("other/y.gfk.003", lost)
            run = s.gfk("scrub", ".", expect=harness.UNRECOVERABLE)
            check("lost     other/y" in run.text, run.text)
        s.write("other/y.gfk.003", b"a text")
        s.write("other/y.gfk.004", b"a text")
        s.gfk("scrub", ".", expect=harness.UNRECOVERABLE)
    with Folder() as s:
        s.write("x.gfk.000", b"a text of the user")
        run = s.gfk("scrub", ".", expect=harness.UNRECOVERABLE)
        check(run.out == b"" and run.err.endswith("gfk: there are no shards\n"), run.err)


def renamed_in_a_tree():
    """A walk finds shards under any name, if their length and first header are right."""
    with Sets() as s:
        for index in range(N):
            os.rename(s / shard("b", index), s / f"sub/{index} of b")
        os.rename(s / shard("a", 2), s / "other/x")
        os.rename(s / shard("sub/c", 2), s / shard("sub/deep/d", 77))
        run = s.gfk("scrub", ".")
        check(len(words(run)) == 5 and run.text.count("8 of 8") == 5, run.text)
        os.unlink(s / "sub/3 of b")
        run = s.gfk("scrub", "--repair", ".")
        check(run.text.count("repaired") == 2, run.text)
        s.gfk("scrub", ".")


def links():
    """A link in a folder is not followed; a link on the command line stands for its target."""
    with Sets() as s, Folder() as elsewhere:
        os.symlink("..", s / "sub/up")
        os.symlink(s / "other", s / "sub/other")
        elsewhere.write("e", b"elsewhere")
        elsewhere.gfk("encode", *CODE, "e")
        os.symlink(elsewhere.path, s / "away")
        check(words(s.gfk("scrub", ".")) == dict.fromkeys(s.names_of_files, "ok"), "followed")
        run = s.gfk("scrub", "away")
        check(words(run) == {"away/e": "ok"}, run.text)
        s.gfk("verify", "away", "away/e")
        os.rename(s / shard("a", 1), elsewhere / "a1")
        os.symlink(elsewhere / "a1", s / shard("a", 1))
        run = s.gfk("verify", "a", expect=harness.DAMAGED)
        check(f"001 unreadable {shard('a', 1)}: a symbolic link" in run.text, run.text)
        s.gfk("scrub", ".", expect=harness.DAMAGED)
        s.gfk("repair", "a", expect=harness.EXISTS)
        check(os.path.islink(s / shard("a", 1)), "a link was replaced")
        s.gfk("verify", *[shard("a", i) for i in range(N)])  # named, so followed
        flip(elsewhere / "a1", 2000)
        s.gfk("repair", *[shard("a", i) for i in range(N)])
        check(os.path.islink(s / shard("a", 1)), "repaired behind the link")
        s.gfk("verify", *[shard("a", i) for i in range(N)])


def the_order_of_arguments():
    """A base, a shard and the folder of both name one set in any order."""
    with Folder() as s:
        for name in ("d", "e"):
            os.mkdir(s / name)
        for name in ("f", "d/g", "spread"):
            s.write(name, harness.rng.randbytes(5000))
        s.gfk("encode", "-k3", "-m2", "--block-size", "512", "f", "d/g")
        s.gfk("encode", "-k3", "-m2", "--block-size", "512", "--to", "d,e", "spread")
        for index in range(5):
            os.link(s / shard("f", index), s / f"d/any{index}")
            os.unlink(s / f"d/any{index}") if index != 2 else os.unlink(s / shard("f", index))
        os.rename(s / "d/any2", s / "any2")
        cases = (("f", "."), (shard("f", 0), "."), ("any2", "."), (shard("f", 0), "f"), (shard("f", 0), "f", "."),
                 ("d/g", "d", "e"), ("d/" + shard("g", 0), "d", "e"), ("d/spread", "e/spread", "e", "d"),
                 ("d/" + shard("spread", 0), "e/" + shard("spread", 1), "d", "e"))
        for arguments in cases:
            for command in (("verify",), ("repair",), ("decode", "-f"), ("info",)):
                found = set()
                for order in harness.some(itertools.permutations(arguments), 5):
                    run = s.gfk(*command, "--json", *order)
                    lines = map(json.loads, run.text.splitlines())
                    found.add(tuple(sorted((r.get("set") or r["output"], len(r["messages"]),
                                            sum(one["state"] == "ok" for one in r.get("shards", ())))
                                           for r in lines)))
                check(len(found) == 1, f"{command} {arguments}: {found}")
                ok = {one[2] for one in found.pop()}
                check(ok == ({0} if command[0] == "decode" else {5}), f"{command} {arguments}: {ok}")
        check(s.temps() == [] and len(s.shards("g", "d")) == 5, s.names())
    with Folder() as s:  # scrub: of folders in each other
        os.makedirs(s / "a/b/c")
        s.write("a/b/c/f", b"x")
        s.gfk("encode", "-k3", "-m2", "a/b/c/f")
        for order in harness.some(itertools.permutations((".", "a", "a/b", "a/b/c")), 5):
            run = s.gfk("scrub", *order)
            check(run.err == "" and run.text.count("ok  ") == 1, f"{order}: {run.err}")
        os.mkdir(s / "empty")
        for order in (("empty", "a", "empty"), ("a", "empty", "empty")):
            run = s.gfk("scrub", *order, expect=harness.UNRECOVERABLE)
            check(run.err.count("no shards in the folder empty") == 1, run.err)


def sets_of_the_same_name():
    """Only what has the same set id is one set."""
    with Sets() as s:
        run = s.gfk("verify", "a", "other/a")
        check(len(run.text.splitlines()) == 2, run.text)
        s.lose("other/a", *range(N))
        s.gfk("verify", "a", "other/a", expect=harness.UNRECOVERABLE)  # a lacks nothing
        run = s.gfk("verify", "a", "other", expect=harness.UNRECOVERABLE)
        check("no shards in the folder other" in run.err, run.err)
    with Sets() as s:  # a shard of one set under the name of another set in another folder
        os.rename(s / shard("a", 1), s / shard("other/a", 1))
        s.gfk("repair", "a", "other/a", expect=harness.EXISTS)
        run = s.gfk("verify", "a", "other/a", expect=harness.DAMAGED)
        check("a: 8 of 8" in run.text and "other/a: 7 of 8" in run.text, run.text)


def folders_named_like_shards():
    """A folder is a folder, whatever its name: as an argument, in a tree, and next to shards."""
    with Folder() as s:
        os.mkdir(s / "d.gfk.000")
        s.write("d.gfk.000/f", b"contents")
        s.gfk("encode", "-k2", "-m1", "d.gfk.000/f")
        for command in (("verify", "d.gfk.000"), ("info", "d.gfk.000/"), ("repair", "d.gfk.000"),
                        ("decode", "-f", "d.gfk.000"), ("scrub", "."), ("scrub", "d.gfk.000"),
                        ("verify", "--in", "d.gfk.000")):
            run = s.gfk(*command)
            check("d.gfk.000/f" in run.text or "shards     3 of 3" in run.text, run.text)
            check(run.err == "", run.err)
        run = s.gfk("encode", "d.gfk.000", expect=harness.IO)
        check("d.gfk.000 is a folder" in run.err, run.err)


def inputs_without_a_name():
    """A pipe needs --output, and its shards store no name."""
    with Folder() as s:
        os.mkfifo(s / "pipe")
        for name in ("pipe", "/dev/null", "/dev/stdin"):
            run = s.gfk("encode", name, input=b"x", expect=harness.USAGE)
            check(f"{name} needs --output" in run.err and len(s.names()) == 1, run.err)
        writer = subprocess.Popen(["sh", "-c", "printf contents > pipe"], cwd=s.path)
        s.gfk("encode", "-k2", "-m1", "-o", "f", "pipe")
        writer.wait()
        check(s.gfk("info", "--json", "f").json()["name"] == "", "no name is stored")
        s.gfk("decode", "f")
        check(s.read("f") == b"contents", "decode")


def only_some_shards_are_named():
    """The message says that the other shards were not read, and how to read them."""
    with Folder() as s:
        content = harness.encoded(s)
        os.mkdir(s / "sub")
        for index in range(5):
            os.rename(s / shard("f", index), s / f"sub/{shard('f', index)}")
        for command in ("verify", "repair", "decode"):
            run = s.gfk(command, f"sub/{shard('f', 0)}", expect=harness.UNRECOVERABLE)
            check(f"only the named file was read, and not sub/{shard('f', 1)}; gfk {command} sub/f reads all "
                  "shards of f" in run.err, run.err)
        run = s.gfk("verify", *(f"sub/{shard('f', i)}" for i in (0, 1, 2)), expect=harness.DAMAGED)
        check("only the named files were read" in run.err, run.err)
        run = s.gfk("decode", "-o", "out", *(f"sub/{shard('f', i)}" for i in (0, 1, 2)))
        check(s.read("out") == content and run.err == "", run.err)
        for index in range(1, 5):
            os.unlink(s / f"sub/{shard('f', index)}")
        run = s.gfk("repair", f"sub/{shard('f', 0)}", expect=harness.UNRECOVERABLE)
        check("only the named" not in run.err, run.err)


def too_few_permissions():
    if os.geteuid() == 0:
        probe = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", *harness.command("--version")],
                               capture_output=True, check=False)
        if probe.returncode != 0:
            raise harness.Skipped("root may read every folder, and nobody may not run the tool")
        more = {"user": 65534, "group": 65534, "extra_groups": []}
    else:
        more = {}
    with Sets() as s:
        for path, _, _ in os.walk(s.path):
            os.chmod(path, 0o755)
        os.chmod(s / "sub/deep", 0)
        run = s.gfk("scrub", ".", expect=harness.IO, **more)
        check("cannot read the folder sub/deep" in run.err and words(run)["sub/c"] == "ok", run.text)


harness.main(several_bases_and_folders, a_base_comes_before_a_folder, the_worst_code, a_tree,
             files_that_are_named_like_shards, renamed_in_a_tree, links, the_order_of_arguments, sets_of_the_same_name, folders_named_like_shards,
             inputs_without_a_name, only_some_shards_are_named, too_few_permissions)
