# SPDX-License-Identifier: BSD-3-Clause
"""create and repair are killed before each call that changes files and at any moment; the disk is full; limits on
files. Nothing is lost, and no volume under its final name is a part of one."""

import itertools
import os
import resource
import signal
import subprocess
import time

import common
import harness
import par2set
from common import IO, MEMORY, MOVIE, OK, SIZE, UTF8, check, check_files, files_in, gfk, sources, volumes, write
from harness import Folder, command, environment

harness.parser.add_argument("kill_at", help="the library that kills")

KILLED = -signal.SIGKILL
RECOVERY = 12


class Create:
    """A set of new names."""

    arguments = ("create", f"-s{SIZE}", f"-c{RECOVERY}", "set.par2", "--")

    def __init__(self, folder, files):
        self.folder, self.files = folder, files
        write(folder, files)
        self.arguments = (*self.arguments, *files)

    def after_kill(self):
        check(files_in(self.folder).items() >= self.files.items(), "create changed the files")
        total = 0
        for name in volumes(self.folder):
            try:
                found = par2set.packets(self.folder.read(name))
            except AssertionError as error:
                raise AssertionError(f"{name} is a part of a volume: {error}") from error
            count = sum(kind == par2set.RECOVERY for kind, _, _ in found)
            total += count
            check(name == "set.par2" or count == int(name.split("+")[1].split(".")[0]), f"{name} has {count} slices")
        check("set.par2" not in volumes(self.folder) or total == RECOVERY, f"the index is there, and {total} slices")

    def rerun(self):
        run = gfk(self.folder, *self.arguments, expect=(OK, IO))
        if run.code == IO:  # volumes that are complete
            check(volumes(self.folder), f"nothing is in the way: {run.err}")
            for name in volumes(self.folder):
                os.unlink(self.folder / name)
            gfk(self.folder, *self.arguments)

    def after_rerun(self):
        gfk(self.folder, "verify", "set.par2")
        left = set(common.paths_in(self.folder)) - set(self.files) - set(volumes(self.folder))
        check(not left, f"left over: {left}")


class Repair:
    """Files are missing, damaged and renamed; the recovery slices are as many as the missing ones."""

    arguments = ("repair", "set.par2")

    def __init__(self, folder, files):
        self.folder, self.files = folder, files
        size = SIZE * len(files[common.EXACT]) // (8 * SIZE)
        write(folder, files)
        os.unlink(folder / UTF8)
        harness.overwrite(folder / MOVIE, 4 * size, bytes(2 * size))
        os.rename(folder / common.EXACT, folder / "exact.renamed")
        par2set.Set(size, files).write(folder, range(10 + 2))
        self.before = set(files_in(folder).values())

    def after_kill(self):
        now = files_in(self.folder)
        left_out = [name for name, content in self.files.items()
                    if content in self.before and content not in now.values()]
        check(not left_out, f"{left_out} are lost")
        gfk(self.folder, "verify", "set.par2", "exact.renamed", expect=(OK, common.POSSIBLE))

    def rerun(self):
        others = ("exact.renamed",) if os.path.exists(self.folder / "exact.renamed") else ()
        gfk(self.folder, *self.arguments, *others)

    def after_rerun(self):
        check_files(self.folder, self.files, "after a kill and another repair")
        gfk(self.folder, "verify", "set.par2")
        left = [path for path in common.paths_in(self.folder)
                if os.path.basename(path).startswith(".") or ".gfk" in path]
        check(not left, f"left over: {left}")


def before_every_call():
    files = sources()
    for scene_class in Create, Repair:
        for number in itertools.count(1, 3 if harness.options.reduced else 1):
            with Folder() as folder:
                scene = scene_class(folder, {n: c for n, c in files.items() if c or scene_class == Repair})
                run = gfk(folder, *scene.arguments, *(("exact.renamed",) if scene_class == Repair else ()),
                          env=environment(KILL_AT=str(number)), expect=(OK, KILLED))
                if run.code == OK:
                    scene.after_rerun()
                    check(number > 5, f"{scene_class.__name__} makes no calls")
                    break
                scene.after_kill()
                scene.rerun()
                scene.after_rerun()


def at_random_moments():
    files = {name: content * 8 for name, content in sources().items() if content}
    for scene_class in Create, Repair:
        killed, slowest = 0, 0.02
        for _ in range(100):
            with Folder() as folder:
                scene = scene_class(folder, files)
                start = time.monotonic()
                with subprocess.Popen(command("par2", *scene.arguments), cwd=folder.path, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL) as process:
                    try:
                        process.wait(harness.rng.uniform(0, slowest))
                        slowest = time.monotonic() - start
                    except subprocess.TimeoutExpired:
                        process.kill()
                        process.wait()
                if process.returncode == KILLED:
                    killed += 1
                    slowest *= 1.01
                    scene.after_kill()
                    if scene_class == Create:
                        scene.rerun()
                        scene.after_rerun()
            if killed == harness.options.kills:
                break
        check(killed == harness.options.kills, f"{scene_class.__name__}: runs end before they can be killed")


def names_after_contents():
    """A name is given only when the file's last byte is on the disk."""
    files = {name: content for name, content in sources().items() if content}
    for scene_class in Create, Repair:
        with Folder() as folder:
            scene = scene_class(folder, files)
            gfk(folder, *scene.arguments, *(("exact.renamed",) if scene_class == Repair else ()),
                env=environment(CALL_LOG=folder / "log"))
            synced, named = set(), 0
            for line in folder.read("log").decode().splitlines():
                call, inode = line.split()
                if call in ("write", "fchmod"):
                    synced.discard(inode)
                elif call == "fsync":
                    synced.add(inode)
                elif call in ("rename", "link"):
                    named += inode in synced
            check(named >= (5 if scene_class == Create else 2), f"{scene_class.__name__}: {named} names after contents")


def limited_files():
    """A limit on the length of files, which is what a full disk looks like: a message, and no partial set."""
    files = sources()
    for scene_class, limits in (Create, (0, 1, 3000, 6000, 12000)), (Repair, (0, 100, 4096, 20000)):
        for limit in limits:
            with Folder() as folder:
                scene = scene_class(folder, {n: c for n, c in files.items() if c or scene_class == Repair})
                before = {path: folder.read(path) for path in common.paths_in(folder)}
                run = gfk(folder, *scene.arguments, expect=IO, preexec_fn=lambda: resource.setrlimit(
                    resource.RLIMIT_FSIZE, (limit, limit)))
                check(run.err, "no message")
                now = {path: folder.read(path) for path in common.paths_in(folder)}
                check(scene_class == Repair or now == before, f"limit {limit}: left {now.keys() - before.keys()}")
                scene.after_kill()


def full_disk():
    """On a file system of 600 kB: create ends with 6 and leaves no part of a set."""
    script = 'mount -t tmpfs -o size=600k none "$1" && cd "$1" && shift && head -c 400000 /dev/urandom > data &&' \
             ' "$@"; code=$?; ls -A; exit $code'
    with Folder() as folder:
        run = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", folder.path,
                              *command("par2", "create", "-s4000", "-r80", "set.par2", "data")],
                             capture_output=True, text=True, check=False)
        if "unshare" in run.stderr or "mount" in run.stderr:
            raise harness.Skipped(f"no file system of its own: {run.stderr.strip()}")
        check(run.returncode == IO, f"a full disk ends with {run.returncode}: {run.stderr}")
        check("space" in run.stderr, f"the reason is missing: {run.stderr}")
        check(run.stdout.split()[-1:] == ["data"], f"left over: {run.stdout}")


def few_descriptors():
    """More files than may be open."""
    files = {f"file {i}.bin": harness.rng.randbytes(i + 1) for i in range(150)}
    few = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))}
    with Folder() as folder:
        write(folder, files)
        gfk(folder, "create", "-s512", "-c9", "set.par2", *files, **few)
        for name in list(files)[3:12]:
            os.unlink(folder / name)
        gfk(folder, "verify", "set.par2", expect=common.POSSIBLE, **few)
        gfk(folder, "repair", "set.par2", **few)
        check_files(folder, files, "few descriptors")


def little_memory():
    """Address space of less than the buffers: exit code 8 or success, and a message."""
    files = {"data": harness.rng.randbytes(3 << 20)}
    for mebibytes in (20, 40, 60, 80, 120, 200, 400):
        with Folder() as folder:
            write(folder, files)
            run = gfk(folder, "create", "-s65536", "-c10", "set.par2", "data", expect=None, preexec_fn=lambda:
                      resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20)))
            if run.code == 127 or "shared" in run.err:  # the program is not loaded
                continue
            check(run.code in (OK, MEMORY), f"{mebibytes} MiB: exit code {run.code}: {run.err}")
            check(run.code == OK or run.err, f"{mebibytes} MiB: no message")
            check(run.code == OK or not volumes(folder), f"{mebibytes} MiB: a partial set")
little_memory = harness.slow(little_memory)


if __name__ == "__main__":
    harness.main(before_every_call, at_random_moments, names_after_contents, limited_files, full_disk, few_descriptors,
                 little_memory)
