# SPDX-License-Identifier: BSD-3-Clause
"""A file of more than 4 GiB and slices of more than 4 GiB: created here, verified by another program if there is one,
repaired here. Most of the file is a hole, which is damaged and restored as any other bytes."""

import os
import sys
import tempfile

import common
import harness
from common import POSSIBLE, check, gfk
from harness import Folder

SIZE = (4 << 30) + 123457
PLACES = (0, (1 << 31) - 5, (1 << 32) - 50, (1 << 32) + 70000, SIZE - 1000)


def pieces(path):
    with open(path, "rb") as file:
        for at in PLACES:
            file.seek(at)
            yield file.read(1000)


def create(folder, *options):
    with open(folder / "data.bin", "wb") as file:
        file.truncate(SIZE)
        for at in PLACES:
            file.seek(at)
            file.write(harness.rng.randbytes(1000)[:SIZE - at])
    gfk(folder, "create", *options, "set.par2", "data.bin")
    return list(pieces(folder / "data.bin"))


def more_than_4_gib():
    with Folder() as folder:
        before = create(folder, "-s50000000", "-c3")
        turbo = common.find_turbo()
        if turbo:
            common.peer(turbo, folder, "verify", "-q", "set.par2")
        for at in PLACES[2:]:
            harness.overwrite(folder / "data.bin", at + 100, b"damage")
        if turbo:
            common.peer(turbo, folder, "verify", "-q", "set.par2", expect=POSSIBLE)
        gfk(folder, "verify", "set.par2", expect=POSSIBLE)
        gfk(folder, "repair", "set.par2")
        check(list(pieces(folder / "data.bin")) == before, "the file differs")
        check(os.path.getsize(folder / "data.bin") == SIZE, "the file has another length")
        gfk(folder, "verify", "set.par2")


def slices_of_more_than_4_gib():
    with Folder() as folder:
        before = create(folder, f"-s{SIZE // 4 * 4}", "-c1")
        harness.overwrite(folder / "data.bin", (1 << 32) + 70100, b"damage")
        gfk(folder, "repair", "set.par2")
        check(list(pieces(folder / "data.bin")) == before, "the file differs")


if __name__ == "__main__":
    harness.scratch = tempfile.gettempdir
    status = os.statvfs(tempfile.gettempdir())
    if status.f_bavail * status.f_frsize < 20 << 30:
        print("skipped: less than 20 GiB are free for temporary files")
        sys.exit(77)
    harness.main(more_than_4_gib, slices_of_more_than_4_gib)
