#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast the tool turns files into shards and back, beside plain copies of as many bytes.

    bench/tool_rates.py GFK FOLDER [GIB] [--backend NAME]...

Writes a file of random bytes to FOLDER, and times `gfk encode -k 10 -m 4`, `verify`, `decode` after
four data shards are gone, and `repair`. Before each, the files that it will read are written back and
dropped from the cache, and a copy that reads and writes as many bytes, in as many files, is timed the
same way: one thread reads 8 MiB at a time, another writes, and everything is brought to the disk."""

import argparse
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

K, M, PIECE = 10, 4, 8 << 20


def forget(paths):
    for path in filter(Path.exists, paths):
        with open(path, "rb+") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def write_random(path, size):
    with open(path, "wb") as file:
        while file.tell() < size:
            file.write(os.urandom(min(PIECE, size - file.tell())))


def copy(sources, read_bytes, written_files, write_bytes, folder):
    """Seconds to read the first bytes of the sources, and to write as many files of equal length."""
    pieces = queue.Queue(4)

    def read():
        left = read_bytes
        for source in sources:
            with open(source, "rb", buffering=0) as file:
                while left > 0 and (piece := file.read(min(PIECE, left))):
                    left -= len(piece)
                    pieces.put(piece)
        pieces.put(None)

    with tempfile.TemporaryDirectory(dir=folder) as copies:
        start = time.monotonic()
        threading.Thread(target=read).start()
        files = [open(f"{copies}/{i}", "wb", buffering=0) for i in range(written_files)]
        while (piece := pieces.get()) is not None:
            for file in files:
                file.write(memoryview(piece)[:len(piece) * write_bytes // read_bytes // written_files])
        for file in files:
            os.fsync(file.fileno())
            file.close()
        return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("gfk", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("gib", type=float, nargs="?", default=4)
    parser.add_argument("--backend", action="append")
    options = parser.parse_args()
    size, file = int(options.gib * 2**30), options.folder / "tool_rates.bin"
    shards = [Path(f"{file}.gfk.{i:03}") for i in range(K + M)]
    parity = size * M // K
    steps = [("encode", ["-k", str(K), "-m", str(M)], [file], size, K + M, size + parity),
             ("verify", [], shards, size + parity, 0, 0), ("decode", [], shards[M:], size, 1, size),
             ("repair", [], shards[M:], size, M, parity)]
    write_random(file, size)
    for backend in options.backend or ["host"]:
        for what, arguments, *copied in steps:
            if what == "decode":
                for path in [file, *shards[:M]]:
                    path.unlink()
            forget([file, *shards])
            plain = copy(*copied, options.folder)
            forget([file, *shards])
            start = time.monotonic()
            subprocess.run([options.gfk, what, *arguments, "--backend", backend, file, "--quiet"], check=True)
            seconds = time.monotonic() - start
            print(f"{what:7} {backend:5} {size / seconds / 1e9:7.2f} GB/s of file, a copy of as many "
                  f"bytes {size / plain / 1e9:7.2f}, {100 * plain / seconds:5.1f} %", flush=True)
        for shard in shards:
            shard.unlink()
    file.unlink()


if __name__ == "__main__":
    sys.exit(main())
