#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `gfk par2` takes, next to gfk_matmul alone and to par2cmdline-turbo on all cores of the same machine.

    bench/par2.py GFK --out build/par2.json [--turbo PAR2] [--folder /dev/shm] [--seconds 300]

First, on a GPU: a create of 4 bytes, which is the start and the end of CUDA; the rate of the bus from pinned memory.
Then of each case, in the order of their work: create as a whole; reading and hashing alone (--hash-only); products alone,
whose operands are in buffers on the host (--products-only); gfk_matmul of the same shape with all operands in place;
repair of as many slices as there are recovery slices, whose bytes are compared. Then turbo, as long as the time lasts:
beyond it, and beyond --most-turbo multiply-adds, its time is computed from its rate in the largest case that it ran.
What does not fit into --seconds is left out, the largest cases first. The files are random bytes. A page with a table
is written next to the JSON; results/notes/par2.md has one.

--library is libgfk.so for gfk_matmul alone, by default the one that GFK is linked with."""

import argparse
import concurrent.futures
import ctypes
import glob
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from machine import machine

MB, GB = 10**6, 10**9
# bytes, files, slices, recovery slices in percent
CASES = [(100 * MB, 1, 100, 5), (100 * MB, 1, 2000, 10), (100 * MB, 1, 32768, 60), (GB, 8, 100, 60), (GB, 8, 2000, 5),
         (GB, 8, 2000, 60), (GB, 8, 32768, 10), (4 * GB, 1, 2000, 10), (4 * GB, 16, 2000, 10), (4 * GB, 16, 10000, 20),
         (4 * GB, 16, 32768, 60), (16 * GB, 16, 2000, 5), (16 * GB, 16, 8000, 30), (16 * GB, 16, 32768, 60)]
TINY = [(MB, 1, 100, 5), (3 * MB, 3, 500, 20), (3 * MB, 3, 1000, 60)]
PIECE = 64 << 20
CPU, PAR2_MATRIX, XOR = -1, 3, 1  # of gfk's headers


class Clock:
    """The time that is left."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def left(self):
        return self.end - time.monotonic()


# ---- files ---------------------------------------------------------------------------------------------

def in_parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(function, items))


class Files:
    """Random files of one case: `count` of them, in a folder of their own."""

    def __init__(self, folder, size, count):
        self.folder = folder / f"{size}-{count}"
        self.names = [f"file{i:02}.bin" for i in range(count)]
        self.sizes = [size * (i + 1) // count - size * i // count for i in range(count)]
        if not self.folder.exists():
            self.folder.mkdir()
            pieces = []
            for name, length in zip(self.names, self.sizes):
                with open(self.folder / name, "wb") as file:
                    file.truncate(length)
                pieces += [(name, at, min(PIECE, length - at)) for at in range(0, length, PIECE)]
            in_parallel(self.fill, pieces)

    def fill(self, piece):
        name, at, length = piece
        with open(self.folder / name, "r+b") as file:
            file.seek(at)
            file.write(os.urandom(length))

    def digest(self, name):
        digest = hashlib.blake2b()
        with open(self.folder / name, "rb", buffering=0) as file:
            while piece := file.read(PIECE):
                digest.update(piece)
        return digest.digest()

    def digests(self):
        return in_parallel(self.digest, self.names)

    def damage(self, slice_bytes, lost):
        """Overwrites the beginning of so many slices, spread over all files."""
        slices = [(name, at) for name, length in zip(self.names, self.sizes) for at in range(0, length, slice_bytes)]
        for name, at in random.Random(1).sample(slices, min(lost, len(slices))):
            with open(self.folder / name, "r+b") as file:
                file.seek(at)
                file.write(os.urandom(min(16, slice_bytes)))

    def remove(self, pattern):
        for path in glob.glob(str(self.folder / pattern)):
            os.unlink(path)


# ---- gfk_matmul alone --------------------------------------------------------------------------------------

class Field(ctypes.Structure):
    _fields_ = [("w", ctypes.c_uint), ("generator", ctypes.c_uint32), ("polynomial", ctypes.c_uint64)]


class Matrix(ctypes.Structure):
    _fields_ = [("elements", ctypes.c_void_p), ("rows", ctypes.c_size_t), ("cols", ctypes.c_size_t),
                ("stride", ctypes.c_size_t), ("kind", ctypes.c_int), ("row_points", ctypes.c_void_p),
                ("col_points", ctypes.c_void_p), ("first", ctypes.c_uint64), ("seed", ctypes.c_uint64)]


class Regions(ctypes.Structure):
    _fields_ = [("pointers", ctypes.c_void_p), ("base", ctypes.c_void_p), ("stride", ctypes.c_size_t)]


class Desc(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("device", ctypes.c_int), ("threads", ctypes.c_uint),
                ("check_pointers", ctypes.c_bool), ("kernel", ctypes.c_char_p)]


class Matmul:
    """gfk_matmul alone: on the first GPU, with memory of the CUDA driver, or on the CPU."""

    def __init__(self, library):
        self.gfk = ctypes.CDLL(library)
        size, pointer = ctypes.c_size_t, ctypes.c_void_p
        self.gfk.gfk_field_init.argtypes = [pointer, ctypes.c_uint, ctypes.c_uint64]
        self.gfk.gfk_matmul_workspace.argtypes = [pointer, size, size, size, pointer, pointer]
        self.gfk.gfk_matmul.argtypes = [*[pointer] * 4, size, ctypes.c_int, pointer, pointer, size, pointer]
        self.field, self.cuda = Field(), None
        self.check(self.gfk.gfk_field_init(ctypes.byref(self.field), 16, 0))
        try:
            cuda, device, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), pointer()
            if cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0:
                self.check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
                self.check(cuda.cuCtxSetCurrent(context))
                cuda.cuMemAlloc_v2.argtypes = [pointer, size]
                cuda.cuMemcpyHtoD_v2.argtypes = [ctypes.c_uint64, pointer, size]
                cuda.cuMemFree_v2.argtypes = [ctypes.c_uint64]
                self.cuda = cuda
        except OSError:
            pass

    @staticmethod
    def check(status):
        if status != 0:
            raise SystemExit(f"par2.py: a call returned {status}")

    def memory(self, size, content, gpu):
        """Memory that is aligned to 256 bytes, and what keeps it; the content again and again."""
        if not gpu:
            buffer = ctypes.create_string_buffer(size + 256)
            address = -(-ctypes.addressof(buffer) // 256) * 256
            for at in range(0, size, len(content) or size):
                ctypes.memmove(address + at, content, min(len(content), size - at))
            return address, buffer
        address = ctypes.c_uint64()
        self.check(self.cuda.cuMemAlloc_v2(ctypes.byref(address), size))
        for at in range(0, size, len(content) or size):
            self.check(self.cuda.cuMemcpyHtoD_v2(address.value + at, content, min(len(content), size - at)))
        return address.value, None

    def bus(self):
        """Bytes per second from pinned memory of the host to the GPU, the roofline of products of few rows."""
        size, pinned, times = 4 * PIECE, ctypes.c_void_p(), []
        self.check(self.cuda.cuMemAllocHost_v2(ctypes.byref(pinned), ctypes.c_size_t(size)))
        ctypes.memmove(pinned, os.urandom(size), size)
        address, _ = self.memory(size, b"", True)
        for _ in range(10):
            start = time.perf_counter()
            self.check(self.cuda.cuMemcpyHtoD_v2(address, pinned, size))
            times.append(time.perf_counter() - start)
        self.check(self.cuda.cuMemFree_v2(address))
        self.check(self.cuda.cuMemFreeHost(pinned))
        return size / min(times)

    def rate(self, rows, cols, size, most, gpu, clock):
        """Multiply-adds of bytes per second for slices of `size` bytes, or shorter ones where all do not fit into
        `most` bytes of memory."""
        size = max(4, min(size, most // (rows + cols)) // 16 * 16)
        matrix = Matrix(None, rows, cols, 0, PAR2_MATRIX, None, None, 0, 0)
        desc, workspace = Desc(ctypes.sizeof(Desc), 0 if gpu else CPU, 0, False, None), ctypes.c_size_t()
        field, matrix, desc_at = ctypes.byref(self.field), ctypes.byref(matrix), ctypes.byref(desc)
        self.check(self.gfk.gfk_matmul_workspace(field, rows, cols, size, desc_at, ctypes.byref(workspace)))
        content = os.urandom(min(PIECE, cols * size))
        kept = [self.memory(bytes_, content, gpu) for bytes_ in (cols * size, rows * size)]
        kept.append(self.memory(workspace.value, b"", gpu))
        b, c = (ctypes.byref(Regions(None, address, size)) for address, _ in kept[:2])
        times = []
        while len(times) < 2 or (sum(times) < 0.5 and len(times) < 50 and clock.left() > 0):
            start = time.perf_counter()
            self.check(self.gfk.gfk_matmul(field, matrix, b, c, size, XOR, desc_at, kept[2][0], workspace, None))
            if gpu:
                self.check(self.cuda.cuCtxSynchronize())
            times.append(time.perf_counter() - start)
        for address, _ in kept if gpu else ():
            self.check(self.cuda.cuMemFree_v2(address))
        return {"slice_bytes": size, "rate": rows * cols * size / min(times[1:])}  # the first loads the kernel


# ---- programs ------------------------------------------------------------------------------------------------

def run(arguments, folder):
    """Seconds, and what the program printed."""
    start = time.perf_counter()
    result = subprocess.run(list(map(str, arguments)), cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if result.returncode != 0:
        raise SystemExit(f"par2.py: {arguments[0]} {arguments[1]} {arguments[2]} ends with {result.returncode}: "
                         f"{result.stdout[-2000:]}{result.stderr[-2000:]}")
    return seconds, result.stdout


def summary(times):
    return {"min": min(times), "median": statistics.median(times), "count": len(times)}


def repeated(function, clock, most):
    """Up to `most` runs, as long as another one fits into a twentieth of what is left."""
    times, results = [], []
    while len(times) < most and (not times or times[-1] < clock.left() / 20):
        seconds, result = function()
        times.append(seconds)
        results.append(result)
    return summary(times), results


def numbers(output, word):
    """What create prints with -v -v: "time NAME SECONDS" and "count NAME NUMBER"."""
    return {name: float(value) for name, value in re.findall(rf"^{word} (\S+) (\S+)$", output, re.MULTILINE)}


def cuda_alone(options):
    """Median seconds of a create of 4 bytes on the GPU: the start and the end of CUDA."""
    (options.scratch / "bytes").write_bytes(b"byte")
    times = []
    for i in range(5):
        create = [options.gfk, "par2", "create", "--backend", "cuda", "-q", "-s4", "-c1", f"cuda{i}.par2", "bytes"]
        times.append(run(create, options.scratch)[0])
    return statistics.median(times)


def measure(options, clock, case, matmul):
    """The row of a case."""
    size, count, slices, percent = case
    files = Files(options.scratch, size, count)
    slice_bytes = -(-size // slices // 4) * 4
    slices = sum(-(-length // slice_bytes) for length in files.sizes)
    if slices > 32768:
        slice_bytes = -(-size // (32768 - count) // 4) * 4
        slices = sum(-(-length // slice_bytes) for length in files.sizes)
    recovery = max(1, slices * percent // 100)
    row = {"what": "par2", "bytes": size, "files": count, "slice_bytes": slice_bytes, "slices": slices,
           "percent": percent, "recovery": recovery, "multiply_adds": recovery * slices * slice_bytes}
    common = ["-v", "-v", "--backend", options.backend]
    create = [options.gfk, "par2", "create", *common, f"-s{slice_bytes}", f"-c{recovery}"]

    def whole():
        files.remove("set*.par2")
        return run([*create, "set.par2", *files.names], files.folder)

    row["create"], outputs = repeated(whole, clock, options.repetitions)
    parts = [numbers(output, "time") for output in outputs]
    row["parts"] = {name: min(part[name] for part in parts) for name in parts[0]}
    row["counts"] = numbers(outputs[0], "count")
    row["hashing"], _ = repeated(lambda: run([*create, "--hash-only", "none.par2", *files.names], files.folder), clock,
                                 options.repetitions)
    row["place"] = re.search(r"computed on the (.*)", outputs[0]).group(1)
    _, outputs = repeated(lambda: run([*create, "--products-only", "none.par2", *files.names], files.folder), clock,
                          options.repetitions)
    row["products"] = summary([numbers(output, "time")["products"] for output in outputs])
    row["gfk_matmul"] = matmul.rate(recovery, slices, slice_bytes, options.memory, row["place"] != "CPU", clock)

    before = files.digests()
    files.damage(slice_bytes, recovery)
    seconds, output = run([options.gfk, "par2", "repair", *common, "set.par2"], files.folder)
    row["repair"] = {"seconds": seconds, "slices": recovery, "parts": numbers(output, "time")}
    if files.digests() != before:
        raise SystemExit(f"par2.py: {case}: the repaired files are not what they were")
    files.remove("*.[0-9]*")
    files.remove("set*.par2")
    return row


def measure_turbo(options, clock, row, rate):
    """Adds turbo's times to a row: measured, or computed from its rate in multiply-adds per second."""
    files = Files(options.scratch, row["bytes"], row["files"])
    create = [options.turbo, "create", "-q", "-q", f"-s{row['slice_bytes']}", f"-t{len(os.sched_getaffinity(0))}"]

    def whole(recovery):
        files.remove("turbo*.par2")
        seconds, _ = run([*create, f"-c{recovery}", "turbo.par2", *files.names], files.folder)
        return seconds, None

    work = row["multiply_adds"]
    if work > options.most_turbo or (rate and work / rate > clock.left()):
        row["turbo"] = {"computed": work / rate} if rate else {}
        return rate
    hashing, _ = repeated(lambda: whole(0), clock, options.turbo_repetitions)
    times, _ = repeated(lambda: whole(row["recovery"]), clock, options.turbo_repetitions)
    files.remove("turbo*.par2")
    row["turbo"] = {"create": times, "hashing": hashing}
    return work / max(times["median"] - hashing["median"], times["median"] / 100)


# ---- the table --------------------------------------------------------------------------------------------------

def amount(size):
    return f"{size / GB:g} GB" if size >= GB else f"{size / MB:g} MB"


def table(rows, bus):
    yield ("| data | files | slices | recovery | multiply-adds | create, s | reading and hashing, s | products, s "
           "| create / longer | products, multiply-adds/s | of gfk_matmul | of the bus | repair, s | turbo, s | turbo / gfk |")
    yield "|" + " ---: |" * 15
    for row in rows:
        create, hashing, products = row["create"]["median"], row["hashing"]["median"], row["products"]["median"]
        rate = row["multiply_adds"] / products if products else 0
        turbo = row.get("turbo", {})
        seconds = turbo["create"]["median"] if "create" in turbo else turbo.get("computed")
        mark = " (computed)" if "computed" in turbo else ""
        wins = " **turbo**" if seconds and seconds < create else ""
        of_bus = f"{100 * row['bytes'] / products / bus:.0f} %" if row["place"] != "CPU" and products and bus else "-"
        times = f"{seconds:.1f}{mark} | {seconds / create:.1f}{wins}" if seconds else "- | -"
        yield (f"| {amount(row['bytes'])} | {row['files']} | {row['slices']} | {row['recovery']} "
               f"| {row['multiply_adds']:.1e}{' (CPU)' * (row['place'] == 'CPU')} | {create:.2f} "
               f"| {hashing:.2f} | {products:.3f} | {create / max(hashing, products):.2f} | {rate:.2e} "
               f"| {100 * rate / row['gfk_matmul']['rate']:.0f} % | {of_bus} | {row['repair']['seconds']:.2f} | {times} |")


def page(context, rows):
    yield "# PAR2\n"
    yield (f"`gfk par2 create` on {context['gpu'] or context['processor']}, {context['cores']} cores of "
           f"{context['processor']}; written by bench/par2.py, whose beginning explains the columns. Times are "
           "medians. Multiply-adds are of bytes; (CPU): gfk chose the CPU. Turbo is par2cmdline-turbo on all cores of "
           "the same machine; (computed): its time from its rate in the largest case that it ran; **turbo**: it is faster."
           + (f" A create of 4 bytes on the GPU takes {context['cuda']:.2f} s; the bus has {context['bus'] / GB:.1f} GB/s."
              if context["cuda"] else "") + "\n")
    yield from table(rows, context["bus"])


# ---- all cases --------------------------------------------------------------------------------------------------

def library_of(program):
    found = re.search(r"libgfk\.so\S* => (\S+)", subprocess.run(["ldd", program], capture_output=True, text=True,
                                                                check=True).stdout)
    if not found:
        raise SystemExit("par2.py: name libgfk.so with --library")
    return found.group(1)


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gfk", type=os.path.abspath)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--turbo", type=os.path.abspath, help="the program par2 of par2cmdline-turbo")
    parser.add_argument("--library", type=os.path.abspath)
    parser.add_argument("--folder", default="/dev/shm", help="for files; on tmpfs the disk does not count")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--turbo-repetitions", type=int, default=2)
    parser.add_argument("--memory", type=float, default=16 * GB, help="bytes of operands of gfk_matmul alone")
    parser.add_argument("--most-turbo", type=float, default=1e14, help="multiply-adds")
    parser.add_argument("--only", default="", help="a regular expression for cases: data, files, slices, percent, such "
                        "as '^4 GB 16 '")
    parser.add_argument("--tiny", action="store_true", help="cases of a few MB, to try this program")
    parser.add_argument("--backend", default="auto", help="of gfk par2")
    options = parser.parse_args()
    options.memory = int(options.memory)
    return options


def main():
    options = parsed()
    clock = Clock(options.seconds)
    matmul = Matmul(options.library or library_of(options.gfk))
    context = machine({"gfk": subprocess.run([options.gfk, "--version"], capture_output=True, text=True,
                                             check=True).stdout.split()[-1]})
    if options.turbo:
        context["versions"]["turbo"] = subprocess.run([options.turbo, "-V"], capture_output=True, text=True,
                                                      check=True).stdout.split()[-1]
    rows = []

    def save():
        options.out.write_text(json.dumps({"machine": context, "rows": rows}, indent=1) + "\n", encoding="utf-8")
        options.out.with_suffix(".md").write_text("\n".join(page(context, rows)) + "\n", encoding="utf-8")

    scratch = tempfile.mkdtemp(prefix="gfk-par2-", dir=options.folder)
    options.scratch = pathlib.Path(scratch)
    try:
        gpu = matmul.cuda and options.backend != "host"
        context |= {"cuda": cuda_alone(options) if gpu else None, "bus": matmul.bus() if gpu else None}
        # A third of the time is for turbo. A case takes about as long as the one before, by bytes and by work.
        seconds, done = 0.0, None
        for case in sorted(TINY if options.tiny else CASES, key=lambda c: (c[0], c[2] * c[3])):
            if not re.search(options.only, " ".join(map(str, (amount(case[0]), *case[1:])))):
                continue
            expected = seconds * max(1, case[0] / done[0]) if done else 0
            if clock.left() - expected < (options.seconds / 3 if options.turbo else 0):
                print(f"left out: {case}")
                continue
            start = time.monotonic()
            rows.append(measure(options, clock, case, matmul))
            seconds, done = time.monotonic() - start, case
            print(list(table(rows, context["bus"]))[-1], flush=True)
            save()
        rate = 0
        for row in sorted(rows, key=lambda row: row["multiply_adds"]) if options.turbo else ():
            rate = measure_turbo(options, clock, row, rate)
            save()
    finally:
        shutil.rmtree(scratch)
    print("\n".join(page(context, rows)))


if __name__ == "__main__":
    sys.exit(main())
