# SPDX-License-Identifier: BSD-3-Clause
"""Packets whose checksums are right and whose contents are not: every run of verify and repair ends with one of the
exit codes, within the time and memory of a small set, and changes nothing but the files of the set."""

import binascii
import os
import resource
import struct
import time

import common
import harness
import par2set
from common import FAILED, IO, OK, check, gfk
from harness import Folder
from par2set import CHECKSUMS, FILE, MAIN, RECOVERY, packet

SIZE = 64
LIMIT = 400 << 20  # bytes of a process with -m32, program and libraries included
MOST_SECONDS = 20

NUMBERS = (0, 1, 2, 3, 4, 6, 60, 68, 2**15, 2**16 - 1, 2**16, 2**31, 2**32 - 4, 2**32, 2**40, 2**47, 2**62, 2**63 - 1,
           2**63, 2**64 - SIZE, 2**64 - 4, 2**64 - 1)


def numbers():
    return harness.some(NUMBERS, 7)


class Case:
    """A folder in a folder, with files, their packets, and one file damaged."""

    def __init__(self):
        self.folder = Folder().__enter__()
        os.mkdir(self.folder / "in")
        self.files = {"first": harness.rng.randbytes(5 * SIZE + 1), "second": harness.rng.randbytes(2 * SIZE)}
        for name, content in self.files.items():
            self.folder.write(f"in/{name}", content)
        harness.overwrite(self.folder / "in/first", 70, b"other")
        self.set = par2set.Set(SIZE, self.files)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.__exit__()

    def run(self, content, what, repaired=None):
        """verify and repair of these packets. repaired: whether the damage must be repaired."""
        self.folder.write("in/set.par2", content)
        before = self.files_in(), self.outside()
        for verb in "verify", "repair":
            start = time.monotonic()
            run = gfk(self.folder, verb, "-m32", "set.par2", cwd=self.folder / "in", expect=None)
            check(0 <= run.code <= 8, f"{what}: {verb} ends with {run.code}\n{run.err}")
            check(run.code == OK or run.err or run.text, f"{what}: {verb} ends with {run.code} and says nothing")
            check(time.monotonic() - start < MOST_SECONDS, f"{what}: {verb} takes {time.monotonic() - start:.0f} s")
            used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
            check(harness.options.reduced or used < LIMIT, f"{what}: {verb} takes {used >> 20} MiB")
            check(self.outside() == before[1], f"{what}: {verb} left {self.outside()} outside")
            if verb == "verify":
                check(self.files_in() == before[0], f"{what}: verify changed files")
        after = self.files_in()
        if repaired is not None:
            check((after["first"] == self.files["first"]) == repaired,
                  f"{what}: {'not ' if repaired else ''}repaired, exit code {run.code}\n{run.err}")
        for name in self.files:
            check(after.get(name) in (self.files[name], before[0][name]), f"{what}: {name} has other content")
        for name in after.keys() - before[0].keys():  # what repair kept or restored
            if name != "first.1":
                os.unlink(self.folder / f"in/{name}")
        if after["first"] == self.files["first"]:
            os.replace(self.folder / "in/first.1", self.folder / "in/first")
        return run

    def files_in(self):
        return {name: self.folder.read(f"in/{name}") for name in os.listdir(self.folder / "in") if name != "set.par2"
                and os.path.isfile(self.folder / f"in/{name}")}

    def outside(self):
        return sorted(self.folder.names())

    def all(self, exponents=range(4)):
        return [*self.set.critical(), *map(self.set.recovery, exponents)]


def joined(packets):
    return b"".join(packets)


def intact():
    with Case() as case:
        case.run(joined(case.all()), "intact packets", repaired=True)


def lengths():
    """Of packets. The MD5 is that of the bytes that are there, as long as they are."""
    with Case() as case:
        kinds = (MAIN, case.set.main), (FILE, case.set.files[0].description), (RECOVERY, case.set.recovery(0)[64:])
        for kind, body in kinds:
            for length in numbers():
                bad = packet(kind, case.set.id, body, length)
                case.run(bad + joined(case.all()), f"{kind} of length {length}", repaired=True)
                case.run(joined(case.all()) + bad, f"{kind} of length {length} at the end", repaired=True)
        for length in range(0, 64, 7):
            case.run(joined(case.all()) + case.all()[0][:length], "part of a header", repaired=True)


def main_packets():
    with Case() as case:
        ids = [file.id for file in case.set.files]
        for size, count, ids_there in [
                *((number, 2, ids) for number in numbers()),
                *((SIZE, number & 0xffffffff, ids) for number in numbers()),
                (SIZE, 2, ids[:1]), (SIZE, 2, []), (SIZE, 1, ids), (SIZE, 2, ids[::-1]), (SIZE, 3, ids + ids[:1]),
                (SIZE, 2, [ids[0]] * 2), (SIZE, 40000, ids * 20000), (SIZE, 2, [bytes(16)] * 2),
                (SIZE, 2, ids + [b"1234"])]:
            case.set.main = struct.pack("<QI", size, count) + b"".join(ids_there)
            case.set.id = par2set.md5(case.set.main)
            case.run(joined(case.all()), f"Main with slice size {size}, {count} files, {len(ids_there)} ids")
        case.set = par2set.Set(SIZE, case.files)
        for length in range(0, len(case.set.main), 4):
            case.run(packet(MAIN, case.set.id, case.set.main[:length]) + joined(case.all()), f"Main of {length} bytes")


def descriptions():
    """Lengths and checksums of files."""
    with Case() as case:
        for number in numbers():
            case.set = par2set.Set(SIZE, case.files)
            for file in case.set.files:
                if file.name == "first":
                    head = par2set.md5(file.content[:16384])
                    file.id = par2set.md5(head + struct.pack("<Q", number) + b"first")
                    file.description = (file.id + par2set.md5(file.content) + head + struct.pack("<Q", number) +
                                        b"first\0\0\0")
            case.set.files.sort(key=lambda file: file.id[::-1])
            case.set.main = case.set.main[:12] + b"".join(file.id for file in case.set.files)
            case.set.id = par2set.md5(case.set.main)
            if number != len(case.files["first"]):
                case.run(joined(case.all()), f"a file of {number} bytes", repaired=False)
        case.set = par2set.Set(SIZE, case.files)
        for length in harness.some(range(0, 64, 4), 4):
            for kind, body in (FILE, case.set.files[0].description), (CHECKSUMS, case.set.files[0].checksums(SIZE)):
                case.run(packet(kind, case.set.id, body[:length]) + joined(case.all()), f"{kind} of {length} bytes")
        file = case.set.files[0]
        for checksums in (file.checksums(SIZE)[:-20], file.checksums(SIZE) + bytes(20), file.checksums(SIZE) * 3,
                          file.checksums(SIZE)[:-4], file.id + bytes(20 * 100000), bytes(len(file.checksums(SIZE)))):
            case.run(packet(CHECKSUMS, case.set.id, checksums) + joined(case.all()), f"{len(checksums)} bytes of IFSC")


def names():
    """Names that lead out of the folder, or that are no names: nothing is written there."""
    with Case() as case:
        outside = case.folder.path
        for name in ("../first", "..", ".", "", "/", f"{outside}/absolute", "//first", "./first", "a/../../first",
                     "a//b", "a/", "a/./b", "x/../first", "a\\..\\b", "..\\first", "C:\\first", "nul\0name", "\0",
                     "n\0/../../x", "line\nend", "\x1b[2Jclear", "a" * 256, "a" * 4000, "a/" * 2000 + "a", "a" * 70000,
                     "set.par2", "second", "second/below", b"\xff\xfe", b"\xc0\xae\xc0\xae/first"):
            files = dict(case.files)
            files[name] = files.pop("first")
            case.set = par2set.Set(SIZE, files)
            run = case.run(joined(case.all()), f"name {name[:20]!r}", repaired=False)
            check("\x1b" not in run.err + run.text, "a name can clear the terminal")
            check(not os.path.exists(case.folder / "absolute"), "an absolute name")
        folder = Folder()
        with folder:  # one name is the folder of another
            files = {"a": b"file", "a/b": b"file in it"}
            par2set.Set(SIZE, files).write(folder, range(2))
            gfk(folder, "verify", "set.par2", expect=None)
            run = gfk(folder, "repair", "set.par2", expect=(FAILED, IO, common.DATA, common.IMPOSSIBLE))
            check(run.err, "no word about the two names")


def recovery_slices():
    with Case() as case:
        right = case.set.recovery(0)[68:]
        good = joined(case.set.critical())
        for exponent in (65536, 2**31, 2**32 - 1):
            bad = case.set.packet(RECOVERY, struct.pack("<I", exponent) + right)
            case.run(good + bad, f"exponent {exponent}", repaired=False)
            case.run(good + bad + case.set.recovery(1), f"exponent {exponent}, and a right one", repaired=True)
        for size in (0, 1, 2, 4, SIZE - 4, SIZE + 4, SIZE * 2, 100000):
            bad = case.set.packet(RECOVERY, struct.pack("<I", 0) + right[:1] * size)
            case.run(good + bad, f"a recovery slice of {size} bytes", repaired=False)
            case.run(good + bad + case.set.recovery(0), f"recovery slices of {size} and {SIZE} bytes", repaired=True)
        wrong = case.set.packet(RECOVERY, bytes(4) + harness.rng.randbytes(SIZE))
        run = case.run(good + wrong, "a recovery slice that is wrong", repaired=False)
        check(run.code == FAILED, f"a wrong recovery slice ends with {run.code}, not {FAILED}")
        case.run(good + case.set.recovery(7) * 3000, "3000 copies", repaired=True)
        case.run(good * 300 + case.set.recovery(7), "300 copies of all", repaired=True)
        other = par2set.Set(SIZE, {"first": b"other content", "second": b"2"})
        case.run(joined([*case.all(), *other.critical(), other.recovery(0)]), "another set behind", repaired=True)
        empty = par2set.Set(SIZE, {})
        case.run(joined(empty.critical()), "a set of no files")


def huge():
    """Sets that promise much: nothing is allocated for a promise."""
    with Case() as case:
        for size in 4, 2**20, 2**40:
            # One file of 32768 slices, and none of its checksums.
            length = size * par2set.MOST_SLICES
            file = par2set.File("big", b"")
            file.id = par2set.md5(par2set.md5(b"") + struct.pack("<Q", length) + b"big")
            description = file.id + bytes(16) + par2set.md5(b"") + struct.pack("<Q", length) + b"big\0"
            main = struct.pack("<QI", size, 1) + file.id
            set_id = par2set.md5(main)
            content = packet(MAIN, set_id, main) + packet(FILE, set_id, description)
            case.run(content, f"a missing file of {length} bytes", repaired=False)
            checksums = packet(CHECKSUMS, set_id, file.id + bytes(20) * par2set.MOST_SLICES)
            slices = b"".join(packet(RECOVERY, set_id, struct.pack("<I", e) + bytes(4)) for e in range(3))
            case.run(content + checksums + slices, f"a missing file of {length} bytes, with checksums", repaired=False)
        many = {f"f{i}": b"%d" % i for i in range(3000)}
        case.run(joined(par2set.Set(SIZE, many).critical()), "3000 missing files", repaired=False)


def costly():
    """Packets that are cheap to make, and would take long to look at."""
    with Case() as case:
        ids = [b"the same" + struct.pack("<Q", i) for i in range(40000)]
        same = joined(packet(CHECKSUMS, case.set.id, id_ + bytes(20)) for id_ in ids)
        case.run(joined(case.all()) + same, "ids that begin with the same bytes", repaired=True)
        case.run(joined(case.all()) + par2set.MAGIC * 200000, "the magic again and again", repaired=True)
        nested = b"".join(par2set.MAGIC + struct.pack("<Q", 64 * (20000 - i)) + bytes(48) for i in range(20000))
        case.run(joined(case.all()) + nested, "packets in packets", repaired=True)
        zeros = bytes(2 << 20)  # every window has the CRC32 that is looked for, and another MD5
        case.files = {"first": zeros[1:], "second": b"2"}
        case.set = par2set.Set(SIZE, case.files)
        for file in case.set.files:
            crc = struct.pack("<I", binascii.crc32(bytes(SIZE)))
            forged = file.id + b"".join(struct.pack("<Q", i) * 2 + crc for i in range(len(file.slices(SIZE))))
            file.checksums = lambda _, forged=forged: forged
        case.folder.write("in/first", zeros)
        case.folder.write("in/second", b"2")
        case.run(joined(case.all(range(1))), "windows with the right CRC32", repaired=False)


def random_bytes():
    """Packets in which random bytes are others, with MD5 that are right; packets cut and in any order."""
    random = harness.rng
    with Case() as case:
        for round_ in harness.some(range(300), 15):
            packets = random.sample(case.all(), 9)
            for _ in range(random.randint(1, 4)):
                i = random.randrange(len(packets))
                kind = random.randrange(5)
                body = bytearray(packets[i])
                if len(body) == 64:
                    continue
                at = random.randrange(64, len(body))
                if kind == 0:
                    body[at] = random.randrange(256)
                elif kind == 1:
                    body[at:at + 8] = struct.pack("<Q", random.choice(NUMBERS))
                elif kind == 2:
                    body = body[:64 + (at - 64) // 4 * 4]
                elif kind == 3:
                    body[at:at] = bytes(random.choice((4, 8, 20, 4096)))
                else:
                    packets[i] = bytes(body[:at])  # torn: the MD5 is wrong
                    continue
                packets[i] = packet(bytes(body[48:64]), bytes(body[32:48]), bytes(body[64:]))
            case.run(joined(packets), f"round {round_}")


if __name__ == "__main__":
    harness.main(intact, lengths, main_packets, descriptions, names, recovery_slices, huge, costly, random_bytes)
