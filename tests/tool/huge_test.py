#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A file of more than 4 GiB, in less memory than that."""

import os
import subprocess
import sys
import tempfile

import harness
from harness import Folder, check, command, shard

SIZE = (4 << 30) + (300 << 20) + 12345
PIECE = 16 << 20
MEMORY = 64 << 20


def pieces(basis):
    """The file, which is not kept: every piece differs."""
    for number in range(0, SIZE, PIECE):
        piece = number.to_bytes(8, "little") + basis[8:]
        yield piece[:min(PIECE, SIZE - number)]


def measured(*arguments, cwd):
    """Runs the tool; the most memory that it had, in bytes."""
    with subprocess.Popen(command(*arguments), cwd=cwd) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    check(process.returncode == harness.OK, f"{arguments}: exit code {process.returncode}")
    return usage.ru_maxrss << 10


def more_than_4_gib():
    basis = harness.rng.randbytes(PIECE)
    with Folder() as folder:
        with open(folder / "f", "wb") as file:
            file.writelines(pieces(basis))
        most = measured("encode", "-k4", "-m2", "--memory", MEMORY, "f", cwd=folder.path)
        check(most < 2 * MEMORY, f"encode took {most} bytes of memory")
        os.unlink(folder / "f")
        os.unlink(folder / shard("f", 0))
        position = os.path.getsize(folder / shard("f", 5)) - 100000
        harness.flip(folder / shard("f", 5), position)
        most = measured("decode", "--memory", MEMORY, "f", cwd=folder.path)
        check(most < 2 * MEMORY, f"decode took {most} bytes of memory")
        with open(folder / "f", "rb") as file:
            for piece in pieces(basis):
                check(file.read(PIECE) == piece, "the file differs")
            check(file.read(1) == b"", "the file is longer")
        os.unlink(folder / "f")
        measured("repair", "f", cwd=folder.path)
        measured("verify", "f", cwd=folder.path)


harness.scratch = tempfile.gettempdir
if os.statvfs(tempfile.gettempdir()).f_bavail * os.statvfs(tempfile.gettempdir()).f_frsize < 20 << 30:
    print("skipped: less than 20 GiB are free for temporary files")
    sys.exit(77)
harness.main(more_than_4_gib)
