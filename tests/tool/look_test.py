#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tool looks once at each folder and each file, and says where it could not look."""

import collections
import errno
import itertools
import json
import os
import resource
import subprocess

import harness
from harness import Folder, check, command, shard
from watch import Watched, environment


class Sets(Watched):
    """A folder with files and their shards."""

    def __init__(self, count, k=1, m=1):
        self.files = [f"f{i:05}" for i in range(count)]
        self.code = (f"-k{k}", f"-m{m}")

    def __enter__(self):
        super().__enter__()
        work = self / "work"
        os.mkdir(work)
        for first in range(0, len(self.files), 100):  # small folders, for a tool that lists often
            part = self.files[first:first + 100]
            for name in part:
                self.write(f"work/{name}", os.urandom(500))
            harness.gfk("encode", "-q", *self.code, *part, cwd=work)
            for name in os.listdir(work):
                os.rename(f"{work}/{name}", self / name)
        os.rmdir(work)
        return self


def opened(calls):
    return collections.Counter(name for call, name in calls if call == "open" and ".gfk." in name and
                               ".gfk-tmp-" not in name)


def listed(calls):
    return sum(call == "list" for call, _ in calls)


# ---- how often ------------------------------------------------------------------------------------


def each_file_and_folder_once():
    with Sets(50, 3, 2) as s:
        shards = {name for name in s.names() if ".gfk." in name}
        for arguments in (("verify", "."), ("info", "."), ("scrub", "."), ("repair", "."),
                          ("decode", "-f", "."), ("verify", *s.files), ("info", *s.files),
                          ("repair", *s.files), ("decode", "-f", *s.files), ("scrub", "--repair", "."),
                          ("verify", "--in", ".", *s.files), ("verify", "--in", "."),
                          ("verify", *sorted(shards))):
            calls, _ = s.watched(*arguments)
            opens = opened(calls)
            what = f"{arguments[:2]}: {listed(calls)} lists, {sum(opens.values())} opens"
            check(set(opens) == shards and max(opens.values()) == 1, what)
            check(listed(calls) <= 1, what)
        for name in s.files[::7]:  # some shards are missing, renamed, or damaged
            os.unlink(s / shard(name, 1))
            os.rename(s / shard(name, 2), s / f"renamed {name}")
            harness.flip(s / shard(name, 3), 700)
        calls, _ = s.watched("verify", *s.files, expect=harness.DAMAGED)
        check(max(opened(calls).values()) == 1 and listed(calls) == 1, opened(calls))
        calls, run = s.watched("repair", *s.files)
        check(max(opened(calls).values()) <= 2 and listed(calls) == 1, opened(calls))
        check(run.text.count("restored") == len(s.files[::7]), run.text)
        s.gfk("verify", ".")


def encode_lists_once():
    with Sets(40, 2, 1) as s:
        for arguments in ((s.files[0],), s.files):
            calls, _ = s.watched("encode", "-k2", "-m1", *arguments)
            check(listed(calls) == 1, f"{listed(calls)} lists for {len(arguments)} files")
            check(max(opened(calls).values()) <= 2, "before the work, and under the lock")
        os.mkdir(s / "d")
        calls, _ = s.watched("encode", "-k2", "-m1", "--to", "d,.", *s.files, expect=harness.OK)
        check(listed(calls) == 2, f"{listed(calls)} lists of two folders")
        s.gfk("verify", "--in", ".,d", *s.files)
        check(sum(".gfk." in n for n in s.names() + os.listdir(s / "d")) == 3 * 40, "the rest is gone")


def calls_grow_with_the_sets():
    """Ten times the sets need ten times the calls."""
    counts = {}
    for number in (40, 400):
        with Sets(number) as s:
            for name in s.files[::5]:
                os.unlink(s / shard(name, 0))
            for arguments in (("verify", "."), ("scrub", "."), ("info", *s.files), ("decode", "-f", "."),
                              ("decode", "-f", *s.files), ("verify", *s.files), ("repair", *s.files),
                              ("encode", "-k1", "-m1", *s.files)):
                calls, _ = s.watched(*arguments, expect=None)
                counts.setdefault(arguments[:3], []).append(len(calls))
    for arguments, (few, many) in counts.items():
        check(many <= 11 * few, f"{arguments}: {few} and {many} calls")


def threads_start_once():
    """Those of the library, one less than cores, and one for signals; a set has one for each step of its work."""
    with Sets(30, 2, 1) as s:
        for name in s.files[::2]:
            harness.flip(s / shard(name, 1), 700)
        for arguments, expect, steps in ((("verify", "."), harness.DAMAGED, 3), (("repair", "."), harness.OK, 6),
                                         (("decode", "-f", *s.files), harness.OK, 3),
                                         (("encode", "-f", "-k2", "-m1", *s.files), harness.OK, 3)):
            threads, _ = s.watched(*arguments, threads=True, expect=expect)
            most = steps * len(s.files) + len(os.sched_getaffinity(0))
            check(0 < len(threads) <= most, f"{arguments[0]}: {len(threads)} threads, not {most}")


def processor_time():
    """At most 2 ms for each set, in a folder that the earlier searches made slow."""
    if harness.options.reduced:
        return
    count = 2000
    with Sets(count) as s:
        for arguments in (("info", "."), ("verify", "."), ("scrub", "."), ("repair", "."),
                          ("decode", "-f", "."), ("verify", *s.files), ("repair", *s.files),
                          ("decode", "-f", *s.files), ("encode", "-k1", "-m1", *s.files)):
            seconds = float("inf")
            for _ in range(5): # the least: other programs on the machine slow this one down
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                s.gfk(*arguments)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                seconds = min(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
                if seconds <= 2e-3 * count:
                    break
            check(seconds <= 2e-3 * count, f"{arguments[:2]}: {1e3 * seconds / count:.2f} ms for each set")


def few_descriptors():
    """Many sets need no more open files than one set."""
    with Sets(120) as s:
        for name in s.files[:40]:
            os.makedirs(s / f"d/{name}")
            os.rename(s / shard(name, 0), s / f"d/{name}/{shard(name, 0)}")
        for arguments in (("scrub", "."), ("scrub", "--repair", "."), ("verify", *s.files[40:]),
                          ("decode", "-f", *s.files[40:])):
            run = s.gfk(*arguments, open_files=64)
            check(run.err == "", run.err)
        for name in s.files:
            os.makedirs(s / f"d/{name}", exist_ok=True)
            for index in range(2):
                if os.path.exists(s / shard(name, index)):
                    os.rename(s / shard(name, index), s / f"d/{name}/{shard(name, index)}")
        run = s.gfk("verify", *(f"d/{name}" for name in s.files),
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 400)))
        check(run.err == "", f"the locks on folders: {run.err}")
        folders, bases = zip(*((f"d/{name}", f"d/{name}/{name}") for name in s.files))
        commands = (("verify", *folders), ("info", *bases), ("repair", *folders), ("scrub", *folders), ("scrub", "."),
                    ("decode", "-f", *folders), ("verify", "--in", ",".join(folders)),
                    ("encode", "-k1", "-m1", *(shard(base, 0) for base in bases)))
        for arguments in commands:
            for limit in (16, 20, 64, 100):
                run = s.gfk(*arguments, open_files=limit)
                check(run.err == "", f"{limit} open files: {arguments[0]}: {run.err[:1000]}")


def is_said(folder, arguments, words, env=None, **more):
    """A line, the verdict failed, and exit code 4."""
    run = folder.gfk(*arguments, env=env, expect=harness.IO, **more)
    check(words in run.err, f"{arguments}: {run.err}")
    if arguments[0] == "scrub":
        check("failed   " in run.text and " 0 failed" not in run.text, run.text)
        run = folder.gfk("scrub", "--json", *arguments[1:], env=env, expect=harness.IO, **more)
        found = [json.loads(line) for line in run.text.splitlines()]
        check(any(r.get("verdict") == "failed" and r["exit"] == harness.IO and
                  any(words in m for m in r["messages"]) for r in found), run.text)


def places_that_fail():
    with Sets(3, 2, 1) as s:
        os.makedirs(s / "d/e")
        for name in s.files[1:]:
            for index in range(3):
                os.rename(s / shard(name, index), s / f"d/{shard(name, index)}")
        eio = str(errno.EIO)
        for arguments in (("scrub", "."), ("scrub", "--repair", ".")):
            is_said(s, arguments, "cannot read the folder d: Input/output error",
                    environment(FAIL_CALL="open", FAIL_NAME="d", FAIL_ERROR=eio))
            is_said(s, arguments, "Input/output error", environment(FAIL_CALL="readdir", FAIL_ERROR=eio))
            is_said(s, arguments, f"cannot look at d/{shard(s.files[1], 0)}: Input/output error",
                    environment(FAIL_CALL="look", FAIL_NAME=shard(s.files[1], 0), FAIL_ERROR=eio))
        for name in ("verify", "info", "repair", "decode"):
            is_said(s, (name, "d"), "Input/output error", environment(FAIL_CALL="readdir", FAIL_ERROR=eio))
            is_said(s, (name, f"d/{s.files[1]}"), "cannot read the folder d: Input/output error",
                    environment(FAIL_CALL="readdir", FAIL_ERROR=eio))
        is_said(s, ("encode", "-k2", "-m1", s.files[0]), "cannot read the folder .: Input/output error",
                environment(FAIL_CALL="readdir", FAIL_ERROR=eio))
        os.rename(s / f"d/{shard(s.files[1], 1)}", s / "d/renamed")
        is_said(s, ("scrub", "."), "cannot open d/renamed: Input/output error",
                environment(FAIL_CALL="open", FAIL_NAME="renamed", FAIL_ERROR=eio))
        s.gfk("scrub", ".", env=environment(FAIL_CALL="open", FAIL_NAME="renamed",
                                            FAIL_ERROR=str(errno.ENOENT)), expect=harness.DAMAGED)
        for fails in ("look", "open"):
            for name in (("verify",), ("info",), ("decode", "-f")):
                what = "look at" if fails == "look" else "open"
                is_said(s, (*name, f"d/{s.files[1]}"), f"cannot {what} d/renamed: Input/output error",
                        environment(FAIL_CALL=fails, FAIL_NAME="renamed", FAIL_ERROR=eio))
        for what in (s.files[0], "d"):
            is_said(s, ("verify", what), f"cannot look at {what}: Input/output error",
                    environment(FAIL_CALL="look", FAIL_NAME=what, FAIL_ERROR=eio))
        untyped = dict(FAIL_CALL="look", FAIL_NAME="d", FAIL_ERROR=eio, NO_TYPES="1")
        is_said(s, ("scrub", "."), "cannot look at d: Input/output error", environment(**untyped))
        run = s.gfk("scrub", ".", env=environment(FAIL_ONCE="1", **untyped))
        check("3 sets: 3 ok" in run.text, f"the second look finds the folder: {run.text} {run.err}")
        stale = environment(FAIL_CALL="open", FAIL_NAME=shard(s.files[0], 1), FAIL_ERROR=str(errno.ESTALE))
        for arguments in (("verify", s.files[0]), ("scrub", ".")):
            run = s.gfk(*arguments, env=stale, expect=harness.DAMAGED)
            check(f"cannot open {shard(s.files[0], 1)}: Stale file handle" in run.err, run.err)


def reads_that_fail():
    """A line for each shard that the system cannot read; without any header, the exit code is 4."""
    eio = str(errno.EIO)

    def failing(name, **more):
        return environment(FAIL_CALL="read", FAIL_NAME=name, FAIL_ERROR=eio, **more)

    def has_lines(run, names):
        for name in names:
            check(run.err.count(f"cannot read {name}: Input/output error") == 1, f"{name}: {run.err}")

    commands = (("verify",), ("info",), ("decode", "-f"), ("repair",), ("scrub",))
    with Folder() as s:
        content = harness.encoded(s)
        shards = [shard("f", i) for i in range(5)]
        before = s.contents("f.")
        for name in commands:
            for what in (".",) if name == ("scrub",) else ("f", ".", *([shards] if name != ("repair",) else ())):
                arguments = (*name, *([what] if isinstance(what, str) else what))
                is_said(s, arguments, f"cannot read {shards[1]}: Input/output error", failing("f.gfk."))
                has_lines(s.gfk(*arguments, env=failing("f.gfk."), expect=harness.IO), shards)
        is_said(s, ("scrub", "--repair", "."), "Input/output error", failing("f.gfk."))
        check(s.contents("f.") == before, "something was written")
        for begin, end in (("0", "99999"), ("700", "99999"), ("0", "1"), ("700", "701")):  # one header, or one block
            env = failing(shards[1], FAIL_FROM=begin, FAIL_TO=end)
            for name, code in ((("verify",), harness.DAMAGED), (("info",), harness.OK), (("decode", "-f"), harness.OK),
                               (("scrub",), harness.DAMAGED)):
                if name[0] == "info" and end == "701":  # it reads headers only
                    continue
                run = s.gfk(*name, ".", env=env, expect=code)
                has_lines(run, shards[1:2])
                if name[0] in ("verify", "info"):
                    check("the system said: Input/output error" in run.text, run.text)
                run = s.gfk(*name, "--json", ".", env=env, expect=code)
                check(any("Input/output error" in m for m in run.json()["messages"]), run.text)
            check(s.read("f") == content, "decode")
        has_lines(s.gfk("repair", ".", env=failing(shards[3])), shards[3:4])
        check(s.contents("f.") == before, "what repair wrote")
        for index in (1, 2, 4):  # two are left
            os.unlink(s / shards[index])
        has_lines(s.gfk("verify", "f", env=failing(shards[3]), expect=harness.UNRECOVERABLE), shards[3:4])
        os.unlink(s / shards[0])
        os.rename(s / shards[3], s / "renamed")
        for name in ("verify", "info", "decode"):
            for call in ("read", "open"):
                is_said(s, (name, "renamed"), "cannot read renamed: Input/output error",
                        environment(FAIL_CALL=call, FAIL_NAME="renamed", FAIL_ERROR=eio))
    with Folder() as s:
        harness.encoded(s)
        s.lose("f", *range(1, 5))
        for name in commands:  # the system cannot open the only shard
            is_said(s, (*name, "."), f"cannot open {shard('f', 0)}: Input/output error",
                    environment(FAIL_CALL="open", FAIL_NAME=shard("f", 0), FAIL_ERROR=eio))


def no_memory_of_the_system():
    """The system has no memory for a call: the shard is not lost, and the exit code is 7."""
    with Folder() as s:
        harness.encoded(s)
        os.unlink(s / shard("f", 1))
        before = s.contents()
        for call in ("look", "open"):
            for arguments in (("verify", "f"), ("info", "."), ("decode", "-o", "out", "f"), ("scrub", "."),
                              ("repair", "f"), ("verify", *(shard("f", i) for i in (0, 2, 3)))):
                for json_too in ((), ("--json",)):
                    run = s.gfk(*arguments, *json_too, expect=harness.INTERNAL,
                                env=environment(FAIL_CALL=call, FAIL_NAME=shard("f", 3),
                                                FAIL_ERROR=str(errno.ENOMEM)))
                    check("out of memory" in run.err + run.text, f"{run.text} {run.err}")
        check(s.contents() == before, "something was written")
    for arguments in (("decode", "-f", "."), ("decode", "-f", "f"), ("decode", "-o", "out", "f"), ("repair", "."),
                      ("verify", shard("f", 0)), ("scrub", "."), ("scrub", "--repair", "."), ("encode", "-f", "f"),
                      ("encode", "-f", "-k2", "-m1", "f")):
        for call in ("look", "open"):
            for at in itertools.count(0):  # no call, and then each call of the run
                with Folder() as s:
                    harness.encoded(s)
                    os.unlink(s / shard("f", 1))
                    harness.flip(s / shard("f", 2), 5)
                    log = s.path + ".log"
                    env = environment(FAIL_CALL=call, FAIL_AT=str(at), FAIL_ERROR=str(errno.ENOMEM), LOOK_LOG=log)
                    run = s.gfk(*arguments, env=env, expect=None)
                    with open(log, encoding="utf-8") as file:
                        count = sum(line.startswith(call) for line in file)
                    os.unlink(log)
                    if at == 0:
                        normal = run.code
                        continue
                    if count < at:
                        break
                    if run.code == harness.INTERNAL:
                        check("out of memory" in run.err, f"{arguments}: {call} {at}: {run.err}")
                    else:  # it does without what the call was for
                        check(run.code == normal and "Cannot allocate" not in run.err,
                              f"{arguments}: {call} {at}: {run.code} {run.err}")


def folders_that_may_be_read_but_not_entered():
    more = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    with Sets(2) as s:
        os.mkdir(s / "d")
        for index in range(2):
            os.rename(s / shard(s.files[1], index), s / f"d/{shard(s.files[1], index)}")
        os.chmod(s.path, 0o755)
        os.chmod(s / "d", 0o444)
        try:
            if subprocess.run(command("--version"), capture_output=True, **more).returncode != 0:
                raise OSError
        except OSError:
            raise harness.Skipped("root, and nobody may not run the tool")
        is_said(s, ("scrub", "."), "cannot read the folder d: Permission denied", **more)
        for name in ("verify", "info", "decode", "repair"):
            is_said(s, (name, "d"), "Permission denied", **more)
            is_said(s, (name, f"d/{s.files[1]}"), "Permission denied", **more)
        is_said(s, ("verify", "--in", "d,.", s.files[0]), "Permission denied", **more)


def deep_folders():
    """Each level has a folder besides the next level. The work is linear in the levels: few descriptors stay
    open, the way back up opens each folder once, and folders without shards need no path."""
    levels = 2000 if harness.options.reduced else 20000
    with Sets(1) as s:
        deep = os.open(s.path, os.O_RDONLY)
        for _ in range(levels):
            for name in "ab":
                os.mkdir(name, dir_fd=deep)
            below = os.open("a", os.O_RDONLY, dir_fd=deep)
            os.close(deep)
            deep = below
        os.close(deep)
        calls, _ = s.watched("scrub", ".")
        count = sum(call == "open" for call, _ in calls)
        if not harness.options.reduced:
            s.gfk("scrub", "--memory", "16M", ".", preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_AS, (400 << 20, 400 << 20)))
        subprocess.run(["rm", "-rf", s / "a"], check=True)  # too deep for shutil.rmtree
        check(count < 5 * levels, f"{count} folders opened")


def long_paths():
    """Folders below the longest path that the system takes at once."""
    with Sets(1) as s:
        deep = os.open(s.path, os.O_RDONLY)
        for _ in range(30):
            os.mkdir("n" * 200, dir_fd=deep)
            below = os.open("n" * 200, os.O_RDONLY, dir_fd=deep)
            os.close(deep)
            deep = below
        for index in range(2):
            os.rename(s / shard(s.files[0], index), shard(s.files[0], index), dst_dir_fd=deep)
        run = s.gfk("scrub", ".")
        check("1 set: 1 ok" in run.text, run.text)
        os.unlink(shard(s.files[0], 1), dir_fd=deep)
        s.gfk("scrub", ".", expect=harness.DAMAGED)
        run = s.gfk("scrub", "--repair", ".")
        check("1 repaired" in run.text and len(os.listdir(deep)) == 2, run.text)
        for call in ("look", "open"):  # the path is cut, the reason is not
            env = environment(FAIL_CALL=call, FAIL_NAME=shard(s.files[0], 0), FAIL_ERROR=str(errno.EIO))
            run = s.gfk("scrub", ".", env=env, expect=(harness.DAMAGED, harness.IO))
            line = run.err.splitlines()[0]
            check(f"...{'n' * 99}" in line.replace("/", "") and line.endswith(": Input/output error") and
                  3000 < len(line) < 4200, run.err)
            run = s.gfk("scrub", "--json", ".", env=env, expect=(harness.DAMAGED, harness.IO))
            check('Input/output error"]' in run.text, run.text)
        os.close(deep)


harness.main(each_file_and_folder_once, encode_lists_once, threads_start_once, calls_grow_with_the_sets, processor_time,
             few_descriptors, places_that_fail, reads_that_fail, folders_that_may_be_read_but_not_entered, deep_folders,
             long_paths, no_memory_of_the_system)
