# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the tool share: running it, folders to work in, real inputs, the count."""

import argparse
import collections
import itertools
import json
import os
import pty
import random
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

OK, DAMAGED, USAGE, UNRECOVERABLE, IO, EXISTS, BACKEND, INTERNAL = range(8)

HEADER = 512
BLOCK_HEADER = 64

parser = argparse.ArgumentParser()
parser.add_argument("tool", help="the program")
parser.add_argument("--seed", type=int, default=20240229)
parser.add_argument("--reduced", action="store_true", help="fewer cases, for sanitizers")
parser.add_argument("--only", metavar="FUNCTION,...", help="the test's functions to run")
parser.add_argument("--kills", type=int, default=12,
                    help="crash_test: runs of encode to kill, and runs of repair")
options = None
rng = None
_test = None  # the name of the function that runs
_checked = 0
_runs = collections.Counter()  # of a kind


def check(condition, message):
    """One combination; a failure ends the test."""
    global _checked
    _checked += 1
    if not condition:
        raise AssertionError(message)


class Skipped(Exception):
    """Ends a test that needs what this machine or program lacks."""


def slow(test):
    """The mark of tests that sanitizers, which run with --reduced, skip."""
    test.slow = True
    return test


def some(cases, every):
    """Cases that prove one thing again and again: sanitizers take each `every`-th of them."""
    cases = list(cases)
    return cases[::every] if options.reduced else cases


def leaks_or_not(kind, env):
    """The environment of a run. The check for leaks takes longer than most runs, so it is left out of the third run
    of a kind and of most that follow."""
    _runs[kind] += 1
    count = _runs[kind]
    if not options.reduced or count & (count - 1) == 0:
        return env
    env = dict(os.environ if env is None else env)
    env["ASAN_OPTIONS"] = "detect_leaks=0:" + env.get("ASAN_OPTIONS", "")
    return env


class Run:
    def __init__(self, process, out, err):
        self.code = process.returncode
        self.out = out or b""
        self.err = err.decode(errors="replace")

    @property
    def text(self):
        return self.out.decode(errors="replace")

    def json(self):
        return json.loads(self.out)


def environment(**more):
    """For a tool with the library kill_at, which a test has as its last argument."""
    result = dict(os.environ, LD_PRELOAD=options.kill_at, **more)
    result["ASAN_OPTIONS"] = "verify_asan_link_order=0:" + result.get("ASAN_OPTIONS", "")
    return result


def command(*arguments):
    return [options.tool, *map(str, arguments)]


def gfk(*arguments, cwd=None, input=None, expect=OK, **more):
    """Runs the tool; its exit code must be the expected one (None: any). open_files: the most that it may have."""
    if limit := more.pop("open_files", None):
        more["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    kind = (_test, arguments[:2 if arguments[:1] == ("par2",) else 1], expect)
    process = subprocess.Popen(command(*arguments), cwd=cwd, stdin=subprocess.PIPE,
                               env=leaks_or_not(kind, more.pop("env", None)),
                               stdout=more.pop("stdout", subprocess.PIPE),
                               stderr=subprocess.PIPE, **more)
    out, err = process.communicate(input or b"")
    run = Run(process, out, err)
    if expect is not None:
        codes = expect if isinstance(expect, tuple) else (expect,)
        check(run.code in codes, f"gfk {' '.join(map(str, arguments))}: exit code {run.code}, "
              f"not {expect}\n{run.text}\n{run.err}")
    return run


def on_a_terminal(*arguments, **more):
    """Runs the tool with a terminal as standard error; the exit code, and what the terminal got."""
    master, slave = pty.openpty()
    process = subprocess.Popen(command(*arguments), stdout=subprocess.DEVNULL, stderr=slave, **more)
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(master)
    return process.wait(), seen


def scratch():
    """Where folders of tests are: in memory, if there is room."""
    shm = "/dev/shm"
    if os.access(shm, os.W_OK) and shutil.disk_usage(shm).free > 512 << 20:
        return shm
    return tempfile.gettempdir()


class Folder:
    """A folder of its own, removed afterwards."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="gfk-test-", dir=scratch())
        return self

    def __exit__(self, *_):
        try:
            shutil.rmtree(self.path)
        except OSError:  # folders without permissions
            subprocess.run(["chmod", "-R", "u+rwx", self.path], check=False)
            shutil.rmtree(self.path, ignore_errors=True)

    def __truediv__(self, name):
        return os.path.join(self.path, name)

    def write(self, name, content):
        with open(self / name, "wb") as file:
            file.write(content)
        return self / name

    def read(self, name):
        with open(self / name, "rb") as file:
            return file.read()

    def names(self):
        return sorted(os.listdir(self.path))

    def shards(self, base, folder="."):
        return sorted(n for n in os.listdir(self / folder) if n.startswith(base + ".gfk."))

    def lose(self, base, *indices):
        for index in indices:
            os.unlink(self / shard(base, index))

    def temps(self):
        return sorted(n for _, _, names in os.walk(self.path) for n in names if ".gfk-tmp-" in n)

    def contents(self, prefix=""):
        return {n: self.read(n) for n in self.names() if n.startswith(prefix)}

    def gfk(self, *arguments, **more):
        return gfk(*arguments, cwd=self.path, **more)


def shard(base, index):
    return f"{base}.gfk.{index:03d}"


def encoded(folder, size=20000):
    """Makes the file f and its shards, five small ones; its content."""
    content = rng.randbytes(size)
    folder.write("f", content)
    folder.gfk("encode", "-k3", "-m2", "--block-size", "1K", "f")
    return content


def inputs():
    """Files of different kinds: name and content."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(__file__, "rb") as file:
        text = file.read() * 8
    with open(options.tool, "rb") as file:
        executable = file.read(300000)
    with Folder() as folder:
        with tarfile.open(folder / "a.tar.gz", "w:gz") as tar:
            tar.add(here, arcname="tests")
        archive = folder.read("a.tar.gz")
    return {"text": text, "executable": executable, "archive": archive, "zeros": bytes(100000),
            "random": rng.randbytes(70001)}


def words(run):
    """The first word of each line of scrub, and the base behind it."""
    return {line.split()[1].rstrip(":"): line.split()[0] for line in run.text.splitlines()[:-1]}


def losses(n, most):
    """All sets of at most `most` of n shards."""
    for count in range(most + 1):
        yield from itertools.combinations(range(n), count)


def flip(path, position, bit=0):
    with open(path, "r+b") as file:
        file.seek(position)
        byte = file.read(1)[0]
        file.seek(position)
        file.write(bytes([byte ^ 1 << bit]))


def overwrite(path, position, content):
    with open(path, "r+b") as file:
        file.seek(position)
        file.write(content)


def main(*tests):
    global options, rng, _test
    options = parser.parse_args()
    os.environ["XDG_CACHE_HOME"] = "/dev/null"  # nobody's calibration
    options.tool = os.path.abspath(options.tool)
    # The thread that waits for signals never ends; ThreadSanitizer would wait a second for it.
    os.environ["TSAN_OPTIONS"] = "atexit_sleep_ms=0:" + os.environ.get("TSAN_OPTIONS", "")
    if options.only is not None:
        only = options.only.split(",")
        tests = [test for test in tests if test.__name__ in only]
        assert len(tests) == len(only), only
    if options.reduced:
        tests = [test for test in tests if not hasattr(test, "slow")]
    for test in tests:
        _test = test.__name__
        rng = random.Random(f"{options.seed} {_test}")
        start = time.monotonic()
        before = _checked
        try:
            test()
        except Skipped as reason:
            print(f"{test.__name__}: skipped: {reason}", flush=True)
            continue
        except AssertionError as error:
            print(f"FAILED {test.__name__} (--seed {options.seed}): {error}")
            sys.exit(1)
        print(f"{test.__name__}: {_checked - before} combinations, "
              f"{time.monotonic() - start:.1f} s", flush=True)
        if _checked == before:
            print(f"FAILED {test.__name__}: checked nothing")
            sys.exit(1)
    print(f"{_checked} combinations checked")
