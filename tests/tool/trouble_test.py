#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the system refuses, and what is in the way."""

import os
import resource
import signal
import subprocess

import harness
from harness import Folder, check, command, encoded, environment, gfk, shard

harness.parser.add_argument("kill_at", help="the library that kills, here for its slow calls")

NOBODY = 65534


def as_somebody():
    """Arguments for a process that permissions hold for; None: there is no way to have one."""
    if os.geteuid() != 0:
        return {}
    options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        if subprocess.run(command("--version"), capture_output=True, **options).returncode == 0:
            return options
    except OSError:
        pass
    print("skipped: root, and nobody may not run the tool")
    return None


def own(folder, user):
    if user:
        for name in (".", *folder.names()):
            os.chown(folder / name, NOBODY, NOBODY)


def read_only_folder():
    user = as_somebody()
    if user is None:
        return
    with Folder() as folder:
        content = encoded(folder)
        os.rename(folder / "f", folder / "g")
        own(folder, user)
        os.chmod(folder.path, 0o555)
        before = folder.names()
        for arguments in (("encode", "g"), ("decode", "f")):
            run = gfk(*arguments, cwd=folder.path, expect=harness.IO, **user)
            check("ermission denied" in run.err, run.err)
        run = gfk("decode", "-o", "-", "f", cwd=folder.path, **user)
        check(run.out == content, "reading needs no writing")
        gfk("verify", "f", cwd=folder.path, **user)
        os.chmod(folder.path, 0o755)
        os.unlink(folder / shard("f", 0))
        os.chmod(folder.path, 0o555)
        gfk("repair", "f", cwd=folder.path, expect=harness.IO, **user)
        gfk("decode", "f", cwd=folder.path, expect=harness.IO, **user)
        check(folder.names() == [n for n in before if n != shard("f", 0)], "something was written")


def no_permission():
    user = as_somebody()
    if user is None:
        return
    with Folder() as folder:
        content = encoded(folder)
        own(folder, user)
        os.chmod(folder / "f", 0)
        gfk("encode", "-f", "f", cwd=folder.path, expect=harness.IO, **user)
        os.chmod(folder / shard("f", 1), 0)
        run = gfk("decode", "-o", "out", "f", cwd=folder.path, **user)
        check(folder.read("out") == content and "cannot open" in run.err, run.err)
        os.chmod(folder / shard("f", 2), 0)
        os.chmod(folder / shard("f", 4), 0)
        gfk("decode", "-o", "out2", "f", cwd=folder.path, expect=harness.UNRECOVERABLE, **user)
        own_name = folder.write("g", b"other")
        os.chmod(own_name, 0o644)
        gfk("encode", "-k3", "-m2", "-o", "f", "g", cwd=folder.path, expect=harness.EXISTS, **user)


def unreadable(folder, index, reason, **user):
    """Shard `index` is there and cannot be opened; shard 4 is not there."""
    states = ["ok", "ok", "ok", "ok", "missing"]
    states[index] = "unreadable"
    for name, exit_code in (("info", harness.OK), ("verify", harness.DAMAGED)):
        run = gfk(name, "f", cwd=folder.path, expect=exit_code, **user)
        line = f"{index:03d} unreadable {shard('f', index)}: "
        check(line in run.text and reason in run.text.split(line)[1].split("\n")[0], run.text)
        run = gfk(name, "--json", "f", cwd=folder.path, expect=exit_code, **user).json()
        check([s["state"] for s in run["shards"]] == states, run)
        check(run["shards"][index]["path"] == shard("f", index), run)
        check(reason in run["shards"][index]["details"], run)
        check(any(reason in m for m in run["messages"]), run)
    check(run["bad_shards"] == 2, run)


def shards_that_cannot_be_opened():
    with Folder() as folder:  # reasons that hold for root as well
        content = encoded(folder)
        os.unlink(folder / shard("f", 4))
        whole = folder.read(shard("f", 1))
        os.unlink(folder / shard("f", 1))
        os.symlink(shard("f", 1), folder / shard("f", 1))
        unreadable(folder, 1, "Too many levels of symbolic links")
        for arguments in (("repair", "f"), ("encode", "-k3", "-m2", "--block-size", "1K", "f")):
            run = gfk(*arguments, cwd=folder.path, expect=harness.EXISTS)
            check("cannot be read" in run.err and os.path.islink(folder / shard("f", 1)), run.err)
        gfk("repair", "-f", "f", cwd=folder.path)
        check(folder.read(shard("f", 1)) == whole, "made again")
        os.unlink(folder / shard("f", 4))
        os.unlink(folder / shard("f", 1))
        os.mkdir(folder / shard("f", 1))
        unreadable(folder, 1, "not a regular file")
        gfk("repair", "-f", "f", cwd=folder.path, expect=harness.IO)
        run = gfk("info", shard("f", 1), cwd=folder.path, expect=harness.UNRECOVERABLE)
        check("no shard of f can be read" in run.err, run.err)
        gfk("decode", "-o", "out", "f", cwd=folder.path)
        check(folder.read("out") == content, "without it")
    user = as_somebody()
    if user is None:
        return
    with Folder() as folder:
        encoded(folder)
        os.unlink(folder / shard("f", 4))
        whole = folder.read(shard("f", 1))
        own(folder, user)
        os.chmod(folder / shard("f", 1), 0)
        unreadable(folder, 1, "Permission denied", **user)
        run = gfk("repair", "f", cwd=folder.path, expect=harness.EXISTS, **user)
        check("cannot be read (Permission denied); --force" in run.err, run.err)
        check(shard("f", 4) not in folder.names() and not folder.temps(), folder.names())
        gfk("repair", "-f", "f", cwd=folder.path, **user)
        check(folder.read(shard("f", 1)) == whole and not folder.temps(), "made again")
        gfk("verify", "f", cwd=folder.path, **user)


def shards_with_bad_sectors():
    with Folder() as folder:
        content = encoded(folder)
        inode = str(os.stat(folder / shard("f", 2)).st_ino)
        for begin in (0, 3000):
            env = environment(BAD_FILE=inode, BAD_FROM=str(begin))
            run = gfk("verify", "--json", "f", cwd=folder.path, env=env,
                      expect=harness.DAMAGED).json()
            bad = run["shards"][2]
            check(bad["state"] == "damaged" and "Input/output error" in bad["details"], run)
            check(bad["bad_blocks"] == (7 if begin == 0 else 5), run)
            gfk("decode", "-f", "-o", "out", "f", cwd=folder.path, env=env)
            check(folder.read("out") == content, "from the others")
            os.unlink(folder / "out")
            gfk("repair", "f", cwd=folder.path, env=env)  # into a file that has another inode
            gfk("verify", "f", cwd=folder.path, env=env)
            inode = str(os.stat(folder / shard("f", 2)).st_ino)


def files_that_may_not_grow():
    """A limit on the length of files, which is what a full disk looks like to a program."""
    content = harness.rng.randbytes(400000)
    for command_line in (("encode", "-f", "-k3", "-m2", "--block-size", "1K", "f"),
                         ("decode", "-o", "out", "f"), ("repair", "f")):
        for limit in (0, 1, 700, 60000):
            with Folder() as folder:
                folder.write("f", content)
                gfk("encode", "-k3", "-m2", "--block-size", "1K", "f", cwd=folder.path)
                os.unlink(folder / shard("f", 1))
                before = {n: folder.read(n) for n in folder.names()}

                def set_limit():
                    if harness.options.reduced:  # ThreadSanitizer itself writes a file
                        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

                with open(os.devnull, "wb") as nothing:
                    gfk(*command_line, cwd=folder.path, expect=harness.IO, preexec_fn=set_limit,
                        stdout=nothing)
                check(before == {n: folder.read(n) for n in folder.names()}, "files changed")


def too_few_open_files():
    """Shards that only this run cannot open are not lost, so it does not say so."""
    def set_limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    with Folder() as folder:
        folder.write("f", harness.rng.randbytes(10000))
        gfk("encode", "-k60", "-m40", "f", cwd=folder.path)
        before = {n: folder.read(n) for n in folder.names()}
        for command_line in (("verify", "f"), ("info", "f"), ("decode", "-o", "out", "f"),
                             ("repair", "-f", "f"), ("encode", "-f", "-k60", "-m40", "f")):
            run = gfk(*command_line, cwd=folder.path, expect=harness.IO, preexec_fn=set_limit)
            check("oo many open files" in run.err or "limit on open files" in run.err, run.err)
            check(before == {n: folder.read(n) for n in folder.names()}, "files changed")


def full_disk():
    script = 'mount -t tmpfs -o size=600k none "$1" && cd "$1" && shift && "$@"; code=$?; ' \
             'ls -A "$PWD" >&2; exit $code'
    enter = ["unshare", "-rm", "sh", "-c", script, "sh"]
    with Folder() as folder:
        os.mkdir(folder / "disk")
        if subprocess.run([*enter, folder / "disk", "true"], capture_output=True).returncode != 0:
            print("skipped: no file system can be mounted here")
        else:
            path = folder.write("f", harness.rng.randbytes(800000))
            run = subprocess.run([*enter, folder / "disk", *command("encode", "-o", "f", path)],
                                 capture_output=True, text=True, check=False)
            check(run.returncode == harness.IO and "No space left" in run.stderr, run.stderr)
            check("gfk.0" not in run.stderr.split("\n", 1)[1], f"left over: {run.stderr}")
            gfk("encode", "f", cwd=folder.path)
            run = subprocess.run([*enter, folder / "disk",
                                  *command("decode", "-o", "out", folder / "f")],
                                 capture_output=True, text=True, check=False)
            check(run.returncode == harness.IO and "out" not in run.stderr.split("\n", 1)[1],
                  run.stderr)
    with Folder() as folder, open("/dev/full", "wb") as full:
        encoded(folder)
        gfk("decode", "-o", "-", "f", cwd=folder.path, expect=harness.IO, stdout=full)
        gfk("info", "f", cwd=folder.path, expect=harness.IO, stdout=full)
        gfk("info", "--json", "f", cwd=folder.path, expect=harness.IO, stdout=full)


def names_that_cannot_be_given():
    """The renaming stops half way: nothing is left, or everything that was written."""
    for number in range(1, 6):
        with Folder() as folder:
            content = harness.rng.randbytes(20000)
            folder.write("f", content)
            gfk("encode", "-k4", "-m1", "f", cwd=folder.path)
            before = {n: folder.read(n) for n in folder.names()}
            run = gfk("encode", "-f", "-k4", "-m1", "f", cwd=folder.path, expect=harness.IO,
                      env=environment(NO_RENAME=str(number)))
            check(f"cannot write {shard('f', number - 1)}" in run.err, run.err)
            if number == 1:
                check(before == {n: folder.read(n) for n in folder.names()}, folder.names())
            gfk("decode", "-o", "out", "f", cwd=folder.path)
            check(folder.read("out") == content, f"after {number - 1} new shards")
            gfk("encode", "-k4", "-m1", "f", cwd=folder.path)
            check(not folder.temps(), folder.names())
            gfk("verify", "f", cwd=folder.path)


def streams_that_are_closed():
    def closed(*numbers):
        return lambda: [os.close(n) for n in numbers]

    with Folder() as folder:
        content = encoded(folder)
        os.chmod(folder / "f", 0o600)
        for n in folder.shards("f"):
            os.unlink(folder / n)
        for numbers in ((0,), (0, 1, 2), (1, 2)):
            gfk("encode", "-q", "-f", "-k3", "-m2", "f", cwd=folder.path,
                preexec_fn=closed(*numbers))
            run = gfk("info", "--json", "f", cwd=folder.path).json()
            check((run["name"], run["mode"]) == ("f", 0o600), run)
            check(os.stat(folder / shard("f", 0)).st_mode & 0o777 == 0o600, "anybody may read it")
            gfk("decode", "-q", "-o", "out", "f", cwd=folder.path, preexec_fn=closed(*numbers))
            check(folder.read("out") == content, numbers)
            os.unlink(folder / "out")
        gfk("decode", "-o", "-", "f", cwd=folder.path, expect=harness.IO, preexec_fn=closed(1))
        gfk("info", "f", cwd=folder.path, expect=harness.IO, preexec_fn=closed(1))
        gfk("encode", "-o", "g", "-", cwd=folder.path, expect=harness.IO, preexec_fn=closed(0))
        check(not folder.shards("g") and not folder.temps(), folder.names())


def folders_in_the_way():
    with Folder() as folder:
        encoded(folder)
        os.mkdir(folder / "d")
        gfk("encode", "d", cwd=folder.path, expect=harness.IO)
        gfk("decode", "-f", "-o", "d", "f", cwd=folder.path, expect=harness.IO)
        os.mkfifo(folder / "pipe")
        os.symlink("pipe", folder / "link")
        os.symlink("d", folder / "folder")
        for name in ("pipe", "link", "folder"):  # with --force, too
            before = os.lstat(folder / name)
            run = gfk("decode", "-f", "-o", name, "f", cwd=folder.path, expect=harness.IO)
            check(os.lstat(folder / name).st_ino == before.st_ino, f"{name} was replaced")
            check("is a folder" in run.err or "is not a regular file" in run.err, run.err)
        os.symlink("nowhere", folder / "dangling")
        gfk("decode", "-o", "dangling", "f", cwd=folder.path, expect=harness.EXISTS)
        gfk("decode", "-f", "-o", "dangling", "f", cwd=folder.path)
        check(folder.read("dangling") == folder.read("f"), "a link that leads nowhere")
        gfk("decode", "-o", "none/out", "f", cwd=folder.path, expect=harness.IO)
        gfk("encode", "-o", "none/f", "f", cwd=folder.path, expect=harness.IO)
        gfk("verify", "d", cwd=folder.path, expect=harness.UNRECOVERABLE)
        os.mkdir(folder / shard("g", 2))
        gfk("encode", "-k3", "-m2", "-f", "-o", "g", "f", cwd=folder.path, expect=harness.IO)
        check(folder.shards("g") == [shard("g", 2)], "shards beside a folder with a shard's name")
        os.unlink(folder / shard("f", 2))
        os.mkdir(folder / shard("f", 2))
        gfk("repair", "f", cwd=folder.path, expect=harness.IO)
        os.mkfifo(folder / shard("h", 0))
        gfk("verify", "h", cwd=folder.path, expect=harness.UNRECOVERABLE)
        check(not folder.temps(), folder.temps())


def nothing_is_replaced_unasked():
    with Folder() as folder:
        content = encoded(folder)
        encode = ("encode", "-k3", "-m2", "--block-size", "1K")
        gfk(*encode, "f", cwd=folder.path)  # the same again
        gfk("decode", "f", cwd=folder.path, expect=harness.EXISTS)
        folder.write("g", content[::-1])
        before = {n: folder.read(n) for n in folder.shards("f")}
        gfk(*encode, "-o", "f", "g", cwd=folder.path, expect=harness.EXISTS)
        gfk("encode", "-k3", "-m2", "f", cwd=folder.path, expect=harness.EXISTS)
        gfk(*encode, "-o", "f", "-", cwd=folder.path, input=b"x", expect=harness.EXISTS)
        check(before == {n: folder.read(n) for n in folder.shards("f")}, "shards changed")
        gfk(*encode, "-f", "-o", "f", "g", cwd=folder.path)
        gfk("decode", "-f", "-o", "out", "f", cwd=folder.path)
        check(folder.read("out") == content[::-1], "--force")
        gfk("encode", "-k1", "-m1", "--force", "f", cwd=folder.path)
        check(len(folder.shards("f")) == 2, "what is left of a larger set is removed")
        folder.write(shard("t", 0), b"a text")
        gfk("encode", "-o", "t", "f", cwd=folder.path, expect=harness.EXISTS)
        check(folder.read(shard("t", 0)) == b"a text", "a text that is named like a shard")


def an_input_that_changes():
    """Never shards of a state that the file was not in: first its beginning changes, then its end,
    while the tool has read no more than what it has memory for."""
    refused = 0
    for _ in range(4):
        with Folder() as folder:
            old = harness.rng.randbytes(6 << 20)
            folder.write("f", old)
            process = subprocess.Popen(command("encode", "-w32", "-k4", "-m4", "--block-size", "16K",
                                               "--memory", "1M", "f"),
                                       cwd=folder.path, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            while not any(os.path.getsize(folder / name) for name in folder.temps()):
                if process.poll() is not None:
                    break
            harness.overwrite(folder / "f", 0, b"new")
            harness.overwrite(folder / "f", len(old) - 3, b"new")
            code = process.wait()
            check(code in (harness.OK, harness.IO), f"exit code {code}")
            refused += code == harness.IO
            if code == harness.OK:
                gfk("decode", "-o", "out", "f", cwd=folder.path)
                states = (old, b"new" + old[3:], b"new" + old[3:-3] + b"new")
                check(folder.read("out") in states, "a mixture of two states")
            else:
                check(not folder.shards("f") and not folder.temps(), "shards of a changed file")
    check(refused > 0, "no change came in time")


harness.main(read_only_folder, no_permission, shards_that_cannot_be_opened,
             shards_with_bad_sectors, files_that_may_not_grow, too_few_open_files,
             full_disk, names_that_cannot_be_given, streams_that_are_closed, folders_in_the_way,
             nothing_is_replaced_unasked, an_input_that_changes)
