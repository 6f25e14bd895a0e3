#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every allocation of every command fails once, alone or with all that follow: the exit code is 7 and a
message says so, or the result is the right one. Needs the library no_memory as its last argument."""

import json
import os
import re
import shutil
import struct
import subprocess

import harness
import xxh3
from harness import BLOCK_HEADER, HEADER, Folder, check, command, flip, shard

harness.parser.add_argument("no_memory", help="the library that lets allocations fail")

MEMORY = re.compile("out of memory|memory could not be allocated|cannot start a thread|[Cc]annot allocate memory")


class Tool:
    """One process for each scene: it forks for each run, so that a run does not load the program again."""

    def __init__(self, folder, streams, arguments):
        self.streams = streams
        streams.write("in", b"text" * 99)
        self.process = subprocess.Popen(
            command(*arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=dict(os.environ, LD_PRELOAD=harness.options.no_memory, NO_MEMORY_FOLDER=folder.path,
                     NO_MEMORY_STREAMS=streams.path, XDG_CACHE_HOME=folder / "cache",
                     CUDA_VISIBLE_DEVICES="",  # the driver's allocations are not the tool's
                     LD_BIND_NOW="1"))  # once, and not in each process

    def run(self, number, left=False):
        """The result of a run without an allocation, and the number of its allocations."""
        self.process.stdin.write(struct.pack("@ll", number, left))
        self.process.stdin.flush()
        code, count = struct.unpack("@ll", self.process.stdout.read(struct.calcsize("@ll")))
        return subprocess.CompletedProcess((), code, self.streams.read("out"), self.streams.read("err")), count

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        check(self.process.wait() == 0, "the end")


def plain(output):
    """Without what differs between runs: speeds, ids, and the engines that cannot be loaded."""
    text = re.sub(r'[0-9.]+ MB/s|"seconds":[0-9.]+|"engine":"[^"]*"|"set":"[0-9a-f]+"|"mtime":"[^"]*"', "",
                  output.decode(errors="replace"))
    if "isal_" in text or "gfcomplete_" in text:  # the lists of methods
        text = re.sub(r'.*\b(?:isal|gfcomplete)_.*\n|\{"id":"(?:isal|gfcomplete)_[^}]*\}', "", text)
    return text


def tree(folder):
    found = {}
    for path, folders, names in os.walk(folder.path):
        for name in names + folders:
            whole = os.path.join(path, name)
            if not os.path.isdir(whole):
                with open(whole, "rb") as file:
                    found[os.path.relpath(whole, folder.path)] = file.read()
    return found


def files(contents):
    """The names of all files, with the contents of those that no id makes different."""
    return {name: content if ".gfk." not in name else len(content) for name, content in contents.items()}


class Scene:
    def __init__(self, *arguments, prepare=None):
        self.arguments = arguments
        self.prepare = prepare

    def fill(self, folder):
        content = harness.rng.randbytes(1500)
        folder.write("f", content)
        os.utime(folder / "f", (10**9, 10**9))
        folder.gfk("encode", "-q", "-k2", "-m2", "--block-size", "512", "f")
        os.rename(folder / "f", folder / "original")
        if self.prepare is not None:
            self.prepare(folder)


def damaged(folder):
    flip(folder / shard("f", 1), HEADER + BLOCK_HEADER)
    os.unlink(folder / shard("f", 2))
    flip(folder / shard("f", 3), 20)  # a shard header
    flip(folder / shard("f", 3), HEADER + 20)


def renamed(folder):
    os.rename(folder / shard("f", 0), folder / "other")
    os.unlink(folder / shard("f", 1))
    folder.write("g", b"text")


def lost(folder):
    for index in range(3):
        flip(folder / shard("f", index), HEADER + BLOCK_HEADER)


def disagreeing(folder):
    """A data block with other contents, under checksums that fit."""
    content = bytearray(folder.read(shard("f", 0)))
    block = HEADER + BLOCK_HEADER
    content[block] ^= 1
    struct.pack_into("<Q", content, HEADER + 48, xxh3.hash64(bytes(content[block:block + 512])))
    struct.pack_into("<Q", content, HEADER + 56, xxh3.hash64(bytes(content[HEADER:HEADER + 56])))
    folder.write(shard("f", 0), bytes(content))


def two_sets(folder):
    os.mkdir(folder / "d")
    folder.write("newer", b"newer" * 300)
    folder.gfk("encode", "-q", "-k2", "-m1", "-o", "f", "--to", "d", "newer")
    for index in range(2):
        flip(folder / f"d/{shard('f', index)}", HEADER + BLOCK_HEADER)


def spread(folder):
    for disk in ("x", "y"):
        os.mkdir(folder / disk)
    for index in range(4):
        os.rename(folder / shard("f", index), folder / f"{'xy'[index % 2]}/{shard('f', index)}")
    os.unlink(folder / f"x/{shard('f', 0)}")


def calibrated(folder):
    """A calibration file that a run has written; the run takes two seconds."""
    os.mkdir(folder / "cache")
    folder.gfk("calibrate", "-q", expect=None, env=dict(os.environ, XDG_CACHE_HOME=folder / "cache"))


SCENES = (
    Scene("encode", "-k2", "-m2", "original"),
    Scene("encode", "-k2", "-m1", "--block-size", "64", "-o", "g", "--json", "-"),
    Scene("encode", "-f", "-k2", "-m2", "-o", "f", "original"),
    Scene("encode", "-k2", "-m2", "--to", "x,y", "--json", "original", prepare=spread),
    Scene("verify", "f"), Scene("verify", "--json", "f"), Scene("verify", "f", prepare=damaged),
    Scene("verify", "--json", "f", prepare=damaged), Scene("verify", "f", prepare=renamed),
    Scene("verify", "--json", ".", prepare=renamed), Scene("verify", "f", prepare=lost),
    Scene("verify", "--json", ".", prepare=lost), Scene("verify", "none"),
    Scene("verify", "--json", "none"), Scene("verify", "x/f", "y", prepare=spread),
    Scene("verify", "--in", "x,y", "--json", "f", prepare=spread),
    Scene("info", "f"), Scene("info", "--json", ".", prepare=damaged), Scene("info", *map(
        lambda i: shard("f", i), range(4)), prepare=damaged),
    Scene("decode", "f"), Scene("decode", "--json", "f", prepare=damaged),
    Scene("decode", "-o", "g", "other", shard("f", 2), prepare=renamed),
    Scene("decode", "-o", "-", "f"), Scene("decode", "-o", "-", "--json", "f"),
    Scene("verify", "--json", "f", prepare=disagreeing), Scene("decode", "f", prepare=disagreeing),
    Scene("decode", "--partial", "--json", "f", prepare=lost), Scene("decode", "--partial", "f"),
    Scene("decode", "-o", "g", "--in", "d,.", "f", prepare=two_sets),
    Scene("decode", "--partial", "--json", "-o", "g", "--in", "d,.", "f", prepare=two_sets), Scene("decode", "f", prepare=lost),
    Scene("repair", "f"), Scene("repair", "f", prepare=damaged),
    Scene("repair", "--json", "f", prepare=damaged), Scene("repair", "f", prepare=renamed),
    Scene("repair", "--in", "x,y", "f", prepare=spread), Scene("repair", "--json", "x", "y", prepare=spread),
    Scene("scrub", "."), Scene("scrub", "--json", ".", prepare=two_sets),
    Scene("scrub", "--repair", ".", prepare=damaged), Scene("scrub", "--json", "--repair", ".", prepare=spread),
    Scene("methods"), Scene("methods", "--json", "8"), Scene("help"), Scene("help", "encode"),
    Scene("help", "--options"), Scene("advise"), Scene("encode", "--json", "none"),
    Scene("advise", "--json", prepare=calibrated))


def judge(scene, number, process, expected, contents, before, after):
    """The run is right, or has exit code 7 and left everything as it was or as it should become."""
    what = f"{' '.join(scene.arguments)} without allocation {number}"
    said = process.stdout + process.stderr
    found = files(contents)
    check(not any(".gfk-tmp-" in name for name in found), f"{what}: left over: {sorted(found)}")
    if process.returncode != harness.INTERNAL:
        check(process.returncode == expected.returncode, f"{what}: exit code {process.returncode}: {said}")
        check(plain(process.stdout) == plain(expected.stdout), f"{what}: {said}, not {expected.stdout}")
        check(found == after, f"{what}: {sorted(found)}, not {sorted(after)}")
    else:
        check(MEMORY.search(said.decode(errors="replace")), f"{what}: {said}")
        if not scene.arguments[0] == "repair" and "--repair" not in scene.arguments:
            check(found in (before, after), f"{what}: {sorted(found)}")
        for name, content in contents.items():  # repair may have written some of the shards
            check(".gfk." in name or content == {**before, **after}[name], f"{what}: {name}")
    lines = process.stderr if "-" in scene.arguments and scene.arguments[0] == "decode" else process.stdout
    for line in lines.splitlines() if "--json" in scene.arguments else ():
        report = json.loads(line)
        check(report["exit"] != harness.INTERNAL or report["messages"], f"{what}: {line}")


def every_allocation_fails():
    for scene in SCENES:
        with Folder() as origin, Folder() as folder, Folder() as streams:
            scene.fill(origin)
            first = tree(origin)

            def renew():
                shutil.rmtree(folder.path)
                shutil.copytree(origin.path, folder.path, symlinks=True)

            renew()
            tool = Tool(folder, streams, scene.arguments)
            expected, count = tool.run(0)
            before, after = files(first), files(tree(folder))
            check(count > 0, "allocations")
            renew()
            for left in (False, True):
                number = 0
                while number < count:
                    number += 7 if harness.options.reduced else 4 if left else 1
                    process, made = tool.run(number, left)
                    contents = tree(folder)
                    judge(scene, number, process, expected, contents, before, after)
                    if process.returncode != harness.INTERNAL:
                        count = max(count, made)  # another way may allocate more
                    if contents != first:
                        renew()
            tool.close()


harness.main(every_allocation_fails)
