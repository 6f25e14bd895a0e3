#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the system refuses, and what is in the way."""

import fcntl
import os
import resource
import shutil
import signal
import socket
import subprocess
import time

import harness
from harness import Folder, check, command, encoded, environment, gfk, shard

harness.parser.add_argument("kill_at", help="the library that kills, here for its slow calls")

NOBODY = 65534


def as_somebody():
    """Arguments for a process that permissions hold for; skips the test if there is no way to have one."""
    if os.geteuid() != 0:
        return {}
    options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        if subprocess.run(command("--version"), capture_output=True, **options).returncode == 0:
            return options
    except OSError:
        pass
    raise harness.Skipped("root, and nobody may not run the tool")


def own(folder, user):
    if user:
        for name in (".", *folder.names()):
            os.chown(folder / name, NOBODY, NOBODY)


def read_only_folder():
    user = as_somebody()
    with Folder() as folder:
        content = encoded(folder)
        os.rename(folder / "f", folder / "g")
        own(folder, user)
        os.chmod(folder.path, 0o555)
        before = folder.names()
        for arguments in (("encode", "g"), ("decode", "f")):
            run = folder.gfk(*arguments, expect=harness.IO, **user)
            check("ermission denied" in run.err, run.err)
        run = folder.gfk("decode", "-o", "-", "f", **user)
        check(run.out == content, "reading needs no writing")
        folder.gfk("verify", "f", **user)
        os.chmod(folder.path, 0o755)
        os.unlink(folder / shard("f", 0))
        os.chmod(folder.path, 0o555)
        folder.gfk("repair", "f", expect=harness.IO, **user)
        folder.gfk("decode", "f", expect=harness.IO, **user)
        check(folder.names() == [n for n in before if n != shard("f", 0)], "something was written")


def no_permission():
    user = as_somebody()
    with Folder() as folder:
        content = encoded(folder)
        own(folder, user)
        os.chmod(folder / "f", 0)
        folder.gfk("encode", "-f", "f", expect=harness.IO, **user)
        os.chmod(folder / shard("f", 1), 0)
        run = folder.gfk("decode", "-o", "out", "f", **user)
        check(folder.read("out") == content and "cannot open" in run.err, run.err)
        os.chmod(folder / shard("f", 2), 0)
        os.chmod(folder / shard("f", 4), 0)
        folder.gfk("decode", "-o", "out2", "f", expect=harness.UNRECOVERABLE, **user)
        own_name = folder.write("g", b"other")
        os.chmod(own_name, 0o644)
        folder.gfk("encode", "-k3", "-m2", "-o", "f", "g", expect=harness.EXISTS, **user)


def unreadable(folder, index, reason, **user):
    """Shard `index` is there and cannot be opened; shard 4 is not there."""
    states = ["ok", "ok", "ok", "ok", "missing"]
    states[index] = "unreadable"
    for name, exit_code in (("info", harness.OK), ("verify", harness.DAMAGED)):
        run = folder.gfk(name, "f", expect=exit_code, **user)
        line = f"{index:03d} unreadable {shard('f', index)}: "
        check(line in run.text and reason in run.text.split(line)[1].split("\n")[0], run.text)
        run = folder.gfk(name, "--json", "f", expect=exit_code, **user).json()
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
        unreadable(folder, 1, "a symbolic link")
        for arguments in (("repair", "f"), ("encode", "-k3", "-m2", "--block-size", "1K", "f")):
            run = folder.gfk(*arguments, expect=harness.EXISTS)
            check("cannot be read" in run.err and os.path.islink(folder / shard("f", 1)), run.err)
        folder.gfk("repair", "-f", "f")
        check(folder.read(shard("f", 1)) == whole, "made again")
        for target in ("nowhere", shard("f", 0), "f"):
            folder.lose("f", 1, 4)
            os.symlink(target, folder / shard("f", 1))
            unreadable(folder, 1, "a symbolic link")
            folder.gfk("repair", "f", expect=harness.EXISTS)
            check(os.path.islink(folder / shard("f", 1)), "a link was replaced")
            folder.gfk("repair", "-f", "f")
            check(not os.path.islink(folder / shard("f", 1)) and folder.read("f") == content, "-f")
        folder.lose("f", 4, 1)
        for make in (os.mkfifo, lambda path: os.symlink("/dev/null", path), unix_socket):
            make(folder / shard("f", 1))
            unreadable(folder, 1, "a symbolic link" if os.path.islink(folder / shard("f", 1)) else
                       "not a regular file")
            folder.gfk("repair", "-f", "f", expect=harness.IO)
            os.unlink(folder / shard("f", 1))
        folder.gfk("decode", "-o", "out", "f")
        check(folder.read("out") == content, "without it")
    user = as_somebody()
    with Folder() as folder:
        encoded(folder)
        os.unlink(folder / shard("f", 4))
        whole = folder.read(shard("f", 1))
        own(folder, user)
        os.chmod(folder / shard("f", 1), 0)
        unreadable(folder, 1, "Permission denied", **user)
        run = folder.gfk("repair", "f", expect=harness.EXISTS, **user)
        check("cannot be read (Permission denied); --force" in run.err, run.err)
        check(shard("f", 4) not in folder.names() and not folder.temps(), folder.names())
        folder.gfk("repair", "-f", "f", **user)
        check(folder.read(shard("f", 1)) == whole and not folder.temps(), "made again")
        folder.gfk("verify", "f", **user)


def unix_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path)


def folders_named_like_shards():
    """They are no shards: nothing is read there, nothing is written there, and a line says so."""
    with Folder() as folder:
        content = encoded(folder)
        os.unlink(folder / shard("f", 2))
        os.makedirs(folder / f"{shard('f', 2)}/below")
        os.mkdir(folder / shard("f", 7))
        folder.write(f"{shard('f', 2)}/text", b"a file of the user")
        for arguments, code in (("info", harness.OK), ("verify", harness.DAMAGED)):
            for what in ("f", "."):
                run = folder.gfk(arguments, what, expect=code)
                check("002 missing\n" in run.text and "unreadable" not in run.text, run.text)
                check(run.err == "".join(f"gfk: warning: {shard('f', i)} is a folder, not a shard\n"
                                         for i in (2, 7)), run.err)
                run = folder.gfk(arguments, "--json", what, expect=code).json()
                check([s["state"] for s in run["shards"]] == ["ok", "ok", "missing", "ok", "ok"], run)
                check(run["messages"] == [f"{shard('f', i)} is a folder, not a shard" for i in (2, 7)], run)
        folder.gfk("scrub", ".", expect=harness.DAMAGED)
        before = sorted(os.walk(folder.path))
        for arguments in (("repair", "f"), ("repair", "-f", "f"), ("repair", "."), ("scrub", "--repair", "."),
                          ("scrub", "--repair", "-f", "."), ("encode", "-f", "-k3", "-m2", "f")):
            run = folder.gfk(*arguments, expect=harness.IO)
            check(f"{shard('f', 2)} is a folder: the shard cannot be written there" in run.err, run.err)
        check(sorted(os.walk(folder.path)) == before, "something was written")
        folder.gfk("decode", "-o", "out", "f")
        check(folder.read("out") == content, "without it")
        os.mkdir(folder / "other")
        folder.gfk("repair", "--in", ".,other", "f")  # a folder with room
        check(os.listdir(folder / "other") == [shard("f", 2)], os.listdir(folder / "other"))
        run = folder.gfk("verify", shard("f", 2), expect=harness.UNRECOVERABLE)
        check("no shards in the folder f.gfk.002" in run.err, run.err)
        temps = [f".{name}.gfk-tmp-0123456789ab" for name in (shard("f", 0), shard("f", 9), "out")]
        for name, make in zip(temps, (os.mkdir, os.mkfifo, os.mkfifo)):
            make(folder / name)
        folder.gfk("repair", "--in", ".,other", "f")
        folder.gfk("decode", "-f", "-o", "out", "--in", ".,other", "f")
        check(all(name in folder.names() for name in temps), "not files of an earlier run")
        os.mkdir(folder / shard("g", 0))
        for what in ("g", "--in=.,other g"):
            run = folder.gfk("verify", *what.split(), expect=harness.UNRECOVERABLE)
            check("there are no shards of g" in run.err and "g.gfk.000 is a folder" in run.err, run.err)
        os.mkdir(folder / "g")  # the folder counts, where no file is named like a shard
        os.rename(folder / shard("f", 0), folder / f"g/{shard('f', 0)}")
        check("000 ok g/f.gfk.000" in folder.gfk("info", "g").text, "the folder g")
        folder.gfk("encode", "-k1", "-m1", "-o", "h", "out")
        os.unlink(folder / shard("h", 1))
        os.mkdir(folder / shard("h", 1))
        run = folder.gfk("decode", "-f", "-o", "out", shard("h", 0))  # no word about a shard that is not there
        check(run.err == "", run.err)


def shards_with_bad_sectors():
    with Folder() as folder:
        content = encoded(folder)
        inode = str(os.stat(folder / shard("f", 2)).st_ino)
        for begin in (0, 3000):
            env = environment(BAD_FILE=inode, BAD_FROM=str(begin))
            run = folder.gfk("verify", "--json", "f", env=env, expect=harness.DAMAGED).json()
            bad = run["shards"][2]
            check(bad["state"] == "damaged" and "Input/output error" in bad["details"], run)
            check(bad["bad_blocks"] == (7 if begin == 0 else 5), run)
            folder.gfk("decode", "-f", "-o", "out", "f", env=env)
            check(folder.read("out") == content, "from the others")
            os.unlink(folder / "out")
            folder.gfk("repair", "f", env=env)  # into a file that has another inode
            folder.gfk("verify", "f", env=env)
            inode = str(os.stat(folder / shard("f", 2)).st_ino)
        os.rename(folder / shard("f", 2), folder / "odd")  # under another name the header must be read
        env = environment(BAD_FILE=inode, BAD_FROM="0")
        for arguments in (("scrub", "."), ("verify", "f"), ("info", "."), ("decode", "-o", "-", "f")):
            run = folder.gfk(*arguments, env=env, expect=harness.IO)
            check("cannot read odd: Input/output error" in run.err, run.err)
        os.rename(folder / "odd", folder / shard("f", 2))


def files_that_may_not_grow():
    """A limit on the length of files, which is what a full disk looks like to a program."""
    content = harness.rng.randbytes(400000)
    for command_line in (("encode", "-f", "-k3", "-m2", "--block-size", "1K", "f"),
                         ("decode", "-o", "out", "f"), ("repair", "f")):
        for limit in harness.some((0, 1, 700, 60000), 2):
            with Folder() as folder:
                folder.write("f", content)
                folder.gfk("encode", "-k3", "-m2", "--block-size", "1K", "f")
                os.unlink(folder / shard("f", 1))
                before = folder.contents()

                def set_limit():
                    if harness.options.reduced:  # ThreadSanitizer itself writes a file
                        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

                with open(os.devnull, "wb") as nothing:
                    folder.gfk(*command_line, expect=harness.IO, preexec_fn=set_limit, stdout=nothing)
                check(before == folder.contents(), "files changed")


def too_few_open_files():
    """Shards that only this run cannot open are not lost, so it does not say so."""
    with Folder() as folder:
        folder.write("f", harness.rng.randbytes(10000))
        folder.gfk("encode", "-k60", "-m40", "f")
        before = folder.contents()
        for command_line in (("verify", "f"), ("info", "f"), ("decode", "-o", "out", "f"),
                             ("repair", "-f", "f"), ("encode", "-f", "-k60", "-m40", "f")):
            run = folder.gfk(*command_line, expect=harness.IO, open_files=64)
            check("the limit on open files, 64, is too low for so many shards or folders (ulimit -n)" in run.err, run.err)
            check(before == folder.contents(), "files changed")
        folder.write("g", b"x" * 1000)
        folder.gfk("encode", "-k4", "-m150", "g")  # few shards are left, and many are missing
        whole = folder.contents("g.gfk.")
        for index in range(150):
            if index % 37 != 3:
                os.unlink(folder / shard("g", index))
        folder.gfk("repair", "g", open_files=64)
        check(folder.contents("g.gfk.") == whole, "repaired a part at a time")


def more_copies_than_open_files():
    """The best file of each shard is read, and of the others as many as may be open."""
    with Folder() as folder:
        content = encoded(folder)
        os.rename(folder / "f", folder / "original")
        for number in range(300):
            shutil.copy(folder / shard("f", number % 5), folder / shard("f", number + 5))
        for index in (0, 1, 2):  # copies that are not the best have what the best ones lack
            harness.flip(folder / shard("f", index), harness.HEADER + harness.BLOCK_HEADER + index)
        for limit in harness.some((30, 60, 200), 2):
            for arguments in (("verify", "f"), ("info", "f"), ("scrub", ".")):
                run = folder.gfk(*arguments, open_files=limit, expect=None)
                check(run.code in (harness.OK, harness.DAMAGED) and "more files of the shards of f cannot be open" in run.err,
                      f"{limit} {arguments}: {run.err}")
            run = folder.gfk("decode", "-o", "-", "f", open_files=limit)
            check(run.out == content, run.err)
        folder.gfk("repair", "f", open_files=limit)
        folder.gfk("verify", "f")


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
            folder.gfk("encode", "f")
            run = subprocess.run([*enter, folder / "disk",
                                  *command("decode", "-o", "out", folder / "f")],
                                 capture_output=True, text=True, check=False)
            check(run.returncode == harness.IO and "out" not in run.stderr.split("\n", 1)[1],
                  run.stderr)
    with Folder() as folder, open("/dev/full", "wb") as full:
        encoded(folder)
        folder.gfk("decode", "-o", "-", "f", expect=harness.IO, stdout=full)
        folder.gfk("info", "f", expect=harness.IO, stdout=full)
        folder.gfk("info", "--json", "f", expect=harness.IO, stdout=full)


def names_that_cannot_be_given():
    """The renaming stops half way: nothing is left, or everything that was written."""
    for number in harness.some(range(1, 6), 2):
        with Folder() as folder:
            content = harness.rng.randbytes(20000)
            folder.write("f", content)
            folder.gfk("encode", "-k4", "-m1", "f")
            before = folder.contents()
            run = folder.gfk("encode", "-f", "-k4", "-m1", "f", expect=harness.IO,
                             env=environment(NO_RENAME=str(number)))
            check(f"cannot write {shard('f', number - 1)}" in run.err, run.err)
            if number == 1:
                check(before == folder.contents(), folder.names())
            folder.gfk("decode", "-o", "out", "f")
            check(folder.read("out") == content, f"after {number - 1} new shards")
            folder.gfk("encode", "-k4", "-m1", "f")
            check(not folder.temps(), folder.names())
            folder.gfk("verify", "f")


def streams_that_are_closed():
    def closed(*numbers):
        return lambda: [os.close(n) for n in numbers]

    with Folder() as folder:
        content = encoded(folder)
        os.chmod(folder / "f", 0o600)
        for n in folder.shards("f"):
            os.unlink(folder / n)
        for numbers in ((0,), (0, 1, 2), (1, 2)):
            folder.gfk("encode", "-q", "-f", "-k3", "-m2", "f", preexec_fn=closed(*numbers))
            run = folder.gfk("info", "--json", "f").json()
            check((run["name"], run["mode"]) == ("f", 0o600), run)
            check(os.stat(folder / shard("f", 0)).st_mode & 0o777 == 0o600, "anybody may read it")
            folder.gfk("decode", "-q", "-o", "out", "f", preexec_fn=closed(*numbers))
            check(folder.read("out") == content, numbers)
            os.unlink(folder / "out")
        folder.gfk("decode", "-o", "-", "f", expect=harness.IO, preexec_fn=closed(1))
        folder.gfk("info", "f", expect=harness.IO, preexec_fn=closed(1))
        folder.gfk("encode", "-o", "g", "-", expect=harness.IO, preexec_fn=closed(0))
        check(not folder.shards("g") and not folder.temps(), folder.names())


def streams_that_do_not_block():
    """Standard input, output and error with O_NONBLOCK: the tool waits, and nothing is lost."""
    def pipe():
        ends = os.pipe()
        for end in ends:
            os.set_blocking(end, False)
            fcntl.fcntl(end, 1031, 4096)  # F_SETPIPE_SZ
        return ends

    def read(end, slowly):
        os.set_blocking(end, True)
        time.sleep(0.3)
        parts = []
        while part := os.read(end, 3000):
            parts.append(part)
            time.sleep(slowly)
        os.close(end)
        return b"".join(parts)

    with Folder() as folder:
        content = encoded(folder, 300000)
        names = [f"a long name for a set {number}" for number in range(60)]
        for name in names:
            os.link(folder / "f", folder / name)
        folder.gfk("encode", "-q", "-k1", "-m1", *names)
        for name in names:
            os.unlink(folder / name)
        for arguments in (("decode", "-o", "-", "f"), ("info", "."), ("info", "--json", "."), ("scrub", "."),
                          ("help", "encode"), ("methods",), ("help", "--options")):
            if arguments[0] != "decode":
                expected = folder.gfk(*arguments).out
            else:
                expected = content
            out, out_end = pipe()
            process = subprocess.Popen(command(*arguments), cwd=folder.path, stdout=out_end, stderr=subprocess.PIPE)
            os.close(out_end)
            got = read(out, 0.001)
            said = process.communicate()[1]
            check(process.returncode == 0 and got == expected, f"{arguments}: {len(got)} of {len(expected)}: {said}")
        out, out_end = pipe()
        process = subprocess.Popen(command("verify", *(f"none {i}" for i in range(500))), cwd=folder.path,
                                   stdout=subprocess.DEVNULL, stderr=out_end)
        os.close(out_end)
        lines = read(out, 0).splitlines()
        process.wait()
        check(len(lines) == 500, f"{len(lines)} lines on standard error")
        source, source_end = pipe()
        process = subprocess.Popen(command("encode", "-k2", "-m1", "-o", "g", "-"), cwd=folder.path, stdin=source,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        os.close(source)
        os.set_blocking(source_end, True)
        for part in range(0, len(content), 50000):
            time.sleep(0.02)
            rest = content[part:part + 50000]
            while rest:
                rest = rest[os.write(source_end, rest):]
        os.close(source_end)
        said = process.communicate()[1]
        check(process.returncode == 0 and folder.gfk("decode", "-o", "-", "g").out == content, said)


def folders_in_the_way():
    with Folder() as folder:
        encoded(folder)
        os.mkdir(folder / "d")
        folder.gfk("encode", "d", expect=harness.IO)
        folder.gfk("decode", "-f", "-o", "d", "f", expect=harness.IO)
        os.mkfifo(folder / "pipe")
        os.symlink("pipe", folder / "link")
        os.symlink("d", folder / "folder")
        for name in ("pipe", "link", "folder"):  # with --force, too
            before = os.lstat(folder / name)
            run = folder.gfk("decode", "-f", "-o", name, "f", expect=harness.IO)
            check(os.lstat(folder / name).st_ino == before.st_ino, f"{name} was replaced")
            check("is a folder" in run.err or "is not a regular file" in run.err, run.err)
        os.symlink("nowhere", folder / "dangling")
        folder.gfk("decode", "-o", "dangling", "f", expect=harness.EXISTS)
        folder.gfk("decode", "-f", "-o", "dangling", "f")
        check(folder.read("dangling") == folder.read("f"), "a link that leads nowhere")
        folder.gfk("decode", "-o", "none/out", "f", expect=harness.IO)
        folder.gfk("encode", "-o", "none/f", "f", expect=harness.IO)
        folder.gfk("verify", "d", expect=harness.UNRECOVERABLE)
        os.mkdir(folder / shard("g", 2))
        folder.gfk("encode", "-k3", "-m2", "-f", "-o", "g", "f", expect=harness.IO)
        check(folder.shards("g") == [shard("g", 2)], "shards beside a folder with a shard's name")
        os.unlink(folder / shard("f", 2))
        os.mkdir(folder / shard("f", 2))
        folder.gfk("repair", "f", expect=harness.IO)
        os.mkfifo(folder / shard("h", 0))
        folder.gfk("verify", "h", expect=harness.UNRECOVERABLE)
        check(not folder.temps(), folder.temps())


def nothing_is_replaced_unasked():
    with Folder() as folder:
        content = encoded(folder)
        encode = ("encode", "-k3", "-m2", "--block-size", "1K")
        folder.gfk(*encode, "f")  # the same again
        folder.gfk("decode", "f", expect=harness.EXISTS)
        folder.write("g", content[::-1])
        before = folder.contents("f.gfk.")
        folder.gfk(*encode, "-o", "f", "g", expect=harness.EXISTS)
        folder.gfk("encode", "-k3", "-m2", "f", expect=harness.EXISTS)
        folder.gfk(*encode, "-o", "f", "-", input=b"x", expect=harness.EXISTS)
        check(before == folder.contents("f.gfk."), "shards changed")
        folder.gfk(*encode, "-f", "-o", "f", "g")
        folder.gfk("decode", "-f", "-o", "out", "f")
        check(folder.read("out") == content[::-1], "--force")
        folder.gfk("encode", "-k1", "-m1", "--force", "f")
        check(len(folder.shards("f")) == 2, "what is left of a larger set is removed")
        folder.write(shard("t", 0), b"a text")
        folder.gfk("encode", "-o", "t", "f", expect=harness.EXISTS)
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
                folder.gfk("decode", "-o", "out", "f")
                states = (old, b"new" + old[3:], b"new" + old[3:-3] + b"new")
                check(folder.read("out") in states, "a mixture of two states")
            else:
                check(not folder.shards("f") and not folder.temps(), "shards of a changed file")
    check(refused > 0, "no change came in time")


harness.main(read_only_folder, no_permission, shards_that_cannot_be_opened, folders_named_like_shards,
             shards_with_bad_sectors, files_that_may_not_grow, too_few_open_files, more_copies_than_open_files,
             full_disk,
             names_that_cannot_be_given, streams_that_are_closed, streams_that_do_not_block, folders_in_the_way,
             nothing_is_replaced_unasked, an_input_that_changes)
