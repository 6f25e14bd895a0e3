#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 in front of every call that changes files, and at random moments; several runs at once.
After a kill nothing that was there is lost, and a second run finishes the job. Needs the library
kill_at as its last argument."""

import os
import signal
import subprocess
import time

import harness
from harness import Folder, check, command, environment, shard

harness.parser.add_argument("kill_at", help="the library that kills")

KILLED = -signal.SIGKILL


class Scene:
    """Something to interrupt: how it begins, and what must hold after a kill."""

    size = 40000
    code = ("-k3", "-m2", "--block-size", "4K")
    larger = ("-k10", "-m4")
    disks = ()  # the folders that the shards are spread over

    def __init__(self, folder):
        self.folder = folder
        for disk in self.disks:
            os.mkdir(folder / disk)
        self.to = ("--to", ",".join(self.disks)) if self.disks else ()
        self.of = ("--in", ",".join(self.disks), "f") if self.disks else ("f",)
        self.new = harness.rng.randbytes(self.size)
        folder.write("f", self.new)

    def decoded(self):
        """What decode gives now; None: an error."""
        run = self.folder.gfk("decode", "-f", "-o", "out", *self.of,
                              expect=(harness.OK, harness.UNRECOVERABLE))
        content = self.folder.read("out") if run.code == harness.OK else None
        check(content is not None or "out" not in self.folder.names(), "half a file")
        return content

    def after_kill(self):
        check(self.folder.read("f") == self.new, "the input changed")

    def after_rerun(self):
        check(self.decoded() == self.new, "the rerun's shards")
        self.folder.gfk("verify", *self.of)
        check(not self.folder.temps(), f"left over: {self.folder.temps()}")


class FirstEncode(Scene):
    def arguments(self):
        return ("encode", *self.code, *self.to, "f")

    def after_kill(self):
        super().after_kill()
        check(self.decoded() in (None, self.new), "wrong content")


class EncodeAgain(FirstEncode):
    """Over the same file's shards."""

    def __init__(self, folder):
        super().__init__(folder)
        self.folder.gfk("encode", *self.code, *self.to, "f")

    def after_kill(self):
        Scene.after_kill(self)
        check(self.decoded() == self.new, "the earlier shards were lost")


class EncodeOver(Scene):
    """Over another file's shards, more of them. Half of either kind is not enough for a file."""

    code = ("-k5", "-m1", "--block-size", "4K")

    def __init__(self, folder):
        super().__init__(folder)
        self.old = harness.rng.randbytes(self.size + 5000)
        folder.write("old", self.old)
        self.folder.gfk("encode", "-k6", "-m1", "--block-size", "2K", *self.to, "-o", "f", "old")

    def arguments(self):
        return ("encode", "--force", *self.code, *self.to, "f")

    def after_kill(self):
        super().after_kill()
        check(self.decoded() in (self.old, self.new), "both files were lost")

    def after_rerun(self):
        super().after_rerun()
        k, m = (int(option[2:]) for option in self.code[:2])
        count = sum(len(self.folder.shards("f", disk)) for disk in self.disks or (".",))
        check(count == k + m, f"{count} shards")


class EncodeOverSpread(EncodeOver):
    size = 9000
    larger = ("-k9", "-m5")
    disks = ("d0", "d1", "d2")


class RepairSpread(Scene):
    """One disk of three is new; one more shard is damaged, and one has the name of a lost one."""

    size = 9000
    code = ("-k4", "-m4", "--block-size", "4K")
    larger = ("-k8", "-m7")
    disks = ("d0", "d1", "d2")

    def __init__(self, folder):
        super().__init__(folder)
        self.folder.gfk("encode", *self.code, *self.to, "f")
        self.whole = self.content()
        for name in folder.shards("f", "d1"):
            os.unlink(folder / f"d1/{name}")
        os.rename(folder / f"d0/{shard('f', 0)}", folder / f"d1/{shard('f', 4)}")
        harness.flip(folder / f"d2/{shard('f', 5)}", 700)

    def content(self):
        return {f"{disk}/{name}": self.folder.read(f"{disk}/{name}")
                for disk in self.disks for name in self.folder.shards("f", disk)}

    def arguments(self):
        return ("repair", *self.of)

    def after_kill(self):
        super().after_kill()
        check(self.decoded() == self.new, "repair lost something")

    def after_rerun(self):
        super().after_rerun()
        check(set(self.content().values()) == set(self.whole.values()), "all shards")
        counts = [len(self.folder.shards("f", disk)) for disk in self.disks]
        check(max(counts) <= len(self.whole) // 3 + 2, counts)


class Repair(Scene):
    def __init__(self, folder):
        super().__init__(folder)
        self.folder.gfk("encode", *self.code, "f")
        self.whole = folder.contents("f.gfk.")
        os.rename(folder / shard("f", 1), folder / shard("f", 0))  # in the place of a lost one
        harness.flip(folder / shard("f", 3), 5000)

    def arguments(self):
        return ("repair", "f")

    def after_kill(self):
        super().after_kill()
        check(self.decoded() == self.new, "repair lost something")

    def after_rerun(self):
        super().after_rerun()
        for name, content in self.whole.items():
            check(self.folder.read(name) == content, f"{name} is not what it was")


class Decode(Scene):
    def __init__(self, folder):
        super().__init__(folder)
        self.folder.gfk("encode", *self.code, "f")
        os.unlink(folder / shard("f", 1))

    def arguments(self):
        return ("decode", "-o", "again", "f")

    def after_kill(self):
        super().after_kill()
        if "again" in self.folder.names():
            check(self.folder.read("again") == self.new, "half a file")
            os.unlink(self.folder / "again")

    def after_rerun(self):
        check(self.folder.read("again") == self.new, "the rerun's file")
        check(not self.folder.temps(), f"left over: {self.folder.temps()}")


SCENES = (FirstEncode, EncodeAgain, EncodeOver, EncodeOverSpread, Repair, RepairSpread, Decode)


def before_every_call():
    for scene_class in SCENES:
        number = 0
        while True:
            number += 3 if harness.options.reduced else 1
            with Folder() as folder:
                scene = scene_class(folder)
                run = folder.gfk(*scene.arguments(), env=environment(KILL_AT=str(number)),
                                 expect=(harness.OK, KILLED))
                if run.code == harness.OK:
                    check(number > 5, f"{scene_class.__name__} makes calls")
                    break
                scene.after_kill()
                folder.gfk(*scene.arguments())
                scene.after_rerun()


def kill_some(count, scenes):
    """Until so many runs were killed before they ended, at any moment of the time that one takes."""
    killed = tried = 0
    slowest = 0.02
    while killed < count:
        base = scenes[tried % len(scenes)]
        tried += 1
        with Folder() as folder:
            larger = {"size": 8 << 20, "code": (*base.larger, "--block-size", "64K")}
            scene = type(base.__name__, (base,), larger)(folder)
            start = time.monotonic()
            process = subprocess.Popen(command(*scene.arguments()), cwd=folder.path,
                                       stdout=subprocess.DEVNULL)
            try:
                code = process.wait(harness.rng.uniform(0, slowest))
                slowest = time.monotonic() - start
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
            check(code in (harness.OK, KILLED), f"exit code {code}")
            if code == KILLED:
                killed += 1
                slowest *= 1.01
                scene.after_kill()
                folder.gfk(*scene.arguments())
            scene.after_rerun()
        check(tried < 10 * count + 100, "runs end before they can be killed")


def at_random_moments():
    kills = harness.options.kills
    kill_some(kills, (FirstEncode, EncodeAgain, EncodeOver, EncodeOverSpread))
    kill_some(kills, (Repair, RepairSpread))
    kill_some(kills // 4, (Decode,))


def names_after_contents():
    """A name is given only when the file's last byte is on the disk, and then the folder is."""
    for scene_class in SCENES:
        with Folder() as folder:
            scene = scene_class(folder)
            folder.gfk(*scene.arguments(), env=environment(CALL_LOG=folder / "log"))
            calls = [line.split() for line in folder.read("log").decode().splitlines()]
            parent = {str(os.stat(os.path.join(path, name)).st_ino): str(os.stat(path).st_ino)
                      for path, _, names in os.walk(folder.path) for name in names}
            synced, renamed = set(), set()
            for call, inode in calls:
                if call in ("write", "fchmod"):
                    synced.discard(inode)
                elif call == "fsync":
                    synced.add(inode)
                elif call == "rename":
                    check(inode in synced, f"{scene_class.__name__}: a name before the content")
                    synced.discard(parent[inode])
                    renamed.add(parent[inode])
            check(renamed and renamed <= synced, "the folders are on the disk")


# ---- several runs at once ------------------------------------------------------------------------


def at_once(folder, *runs):
    """Starts all of them; their exit codes."""
    processes = [subprocess.Popen(command(*r), cwd=folder.path, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) for r in runs]
    return [p.wait() for p in processes]


def two_runs_at_once():
    code = ("-k3", "-m2", "--block-size", "16K")
    for _ in range(4 if harness.options.reduced else 25):
        with Folder() as folder:
            contents = [harness.rng.randbytes(300000 + i) for i in range(3)]
            for i, content in enumerate(contents):
                folder.write(f"f{i}", content)
            same = ("encode", *code, "-o", "s", "f0")
            codes = at_once(folder, same, same, same)
            check(codes == [0, 0, 0], f"the same file: {codes}")
            folder.gfk("verify", "s")
            codes = at_once(folder, *[("encode", "--force", *code, "-o", "s", f"f{i}")
                                      for i in range(3)])
            check(codes == [0, 0, 0], f"different files: {codes}")
            folder.gfk("verify", "s")
            folder.gfk("decode", "-f", "-o", "out", "s")
            check(folder.read("out") in contents, "a mixture of two files")
            folder.lose("s", 0, 3)
            codes = at_once(folder, *[("repair", "s")] * 3)
            check(codes == [0, 0, 0], f"repair: {codes}")
            folder.gfk("verify", "s")
            os.unlink(folder / shard("s", 1))
            codes = at_once(folder, ("repair", "s"), ("encode", "--force", *code, "-o", "s", "f1"),
                            ("decode", "-f", "-o", "o1", "s"), ("decode", "-f", "-o", "o1", "s"))
            check(codes[1:] == [0, 0, 0] and codes[0] in (harness.OK, harness.EXISTS),
                  f"all: {codes}")
            folder.gfk("verify", "s", expect=(harness.OK, harness.DAMAGED))
            check(folder.read("o1") in contents, "decode while others write")
            folder.gfk("repair", "s")
            folder.gfk("decode", "-f", "-o", "out", "s")
            check(folder.read("out") == contents[1], "the last encode's file")
            check(not folder.temps(), f"left over: {folder.temps()}")


def another_repair_is_faster():
    """Its shard comes while this run looks at the place: stat finds no file, and then lstat finds one."""
    with Folder() as folder:
        harness.encoded(folder)
        whole = folder.contents("f.gfk.")
        os.unlink(folder / shard("f", 3))
        os.mkdir(folder / "late")
        os.rename(folder / shard("f", 1), folder / f"late/{shard('f', 1)}")
        folder.gfk("repair", "f", env=environment(LATE_FILE=shard("f", 1),
                                                  LATE_FROM=f"late/{shard('f', 1)}"))
        check(os.listdir(folder / "late") == [], "the shard came in between")
        check(folder.contents("f.gfk.") == whole, "all shards")


def renaming_is_not_mixed():
    """Two runs that replace the same shards, slowly; in several folders, named in different order."""
    slowly = environment(SLOW_CALL="rename")
    for turn in range(2 if harness.options.reduced else 6):
        to, of = ((), ()), ("s",)
        with Folder() as folder:
            if turn % 2 == 1:
                for disk in ("d0", "d1", "d2"):
                    os.mkdir(folder / disk)
                to = (("--to", "d0,d1,d2"), ("--to", "d2,d0,d1"))
                of = ("--in", "d1,d0,d2", "s")
            contents = [harness.rng.randbytes(9000 + i) for i in range(2)]
            processes = []
            for i, content in enumerate(contents):
                folder.write(f"f{i}", content)
            folder.gfk("encode", "-q", "-f", "-k5", "-m1", *to[0], "-o", "s", "f0")
            for i in range(2):
                processes.append(subprocess.Popen(
                    command("encode", "-f", "-k5", "-m1", *to[i], "-o", "s", f"f{i}"),
                    cwd=folder.path, env=slowly, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL))
            while any(p.poll() is None for p in processes):
                run = folder.gfk("decode", "-o", "-", *of)
                check(run.out in contents, "a mixture")
            check([p.wait() for p in processes] == [0, 0], "both end well")
            folder.gfk("verify", *of)
            folder.gfk("decode", "-f", "-o", "out", *of)
            check(folder.read("out") in contents, "a mixture of two files")


def started(folder, *arguments):
    """A run that reads a pipe, and has begun to write."""
    process = subprocess.Popen(command(*arguments), cwd=folder.path, stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.stdin.write(harness.rng.randbytes(50000))
    process.stdin.flush()
    for _ in range(500):
        if len(folder.temps()) == 3:
            return process
        time.sleep(0.01)
    raise AssertionError("no run started")


def a_live_run_keeps_its_files():
    with Folder() as folder:
        folder.write("f", harness.rng.randbytes(9000))
        live = started(folder, "encode", "-k2", "-m1", "-o", "f", "-")
        mine = folder.temps()
        folder.gfk("encode", "-k2", "-m1", "f")
        folder.gfk("repair", "f")
        check(folder.temps() == mine, "a live run's files were removed")
        live.communicate()
        check(live.returncode == harness.EXISTS, "it finds another file's shards there")
        check(not folder.temps(), "it cleans up after itself")
        folder.gfk("verify", "f")


def signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Folder() as folder:
            before = signal.signal(number, signal.SIG_DFL)  # a background shell, or nohup, ignores some
            live = started(folder, "encode", "-k2", "-m1", "-o", "f", "-")
            signal.signal(number, before)
            live.send_signal(number)
            code = live.wait()
            live.stdin.close()
            check(code == -number, f"signal {number} gives {code}")
            check(folder.names() == [], f"left over: {folder.names()}")


harness.main(before_every_call, at_random_moments, names_after_contents, two_runs_at_once,
             another_repair_is_faster, renaming_is_not_mixed, a_live_run_keeps_its_files, signals)
