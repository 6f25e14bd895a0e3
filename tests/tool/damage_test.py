#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shards that are damaged, cut, swapped, renamed, doubled, or another file's: the file comes back,
or nothing does; repair makes them what they were."""

import os
import shutil
import struct
import time

import harness
import xxh3
from forge import promise as promised
from harness import BLOCK_HEADER, HEADER, Folder, check, flip, overwrite, shard

K, M, BLOCK = 4, 3, 512
N = K + M
STRIPES = 5
SIZE = (STRIPES - 1) * K * BLOCK + 900
LAST = 256  # the last block: 900 bytes over 4 shards, up to the next 64


class Set(Folder):
    """A folder with a file and its shards, which damage is done to."""

    def __init__(self, k=K, m=M, size=SIZE, block=BLOCK):
        self.k, self.m, self.block = k, m, block
        self.count = k + m
        self.content = harness.rng.randbytes(size)

    def __enter__(self):
        super().__enter__()
        self.write("f", self.content)
        self.gfk("encode", f"-k{self.k}", f"-m{self.m}", "--block-size", self.block, "f")
        os.rename(self / "f", self / "original")
        self.whole = self.contents("f.gfk.")
        return self

    def path_of(self, index):
        return self / shard("f", index)

    def offset(self, stripe):
        """Where a block's header is."""
        return HEADER + stripe * (BLOCK_HEADER + self.block)

    def comes_back(self, what):
        """verify says so, decode and repair do it, and verify is content."""
        run = self.gfk("verify", "f", expect=(harness.OK, harness.DAMAGED))
        self.gfk("decode", "f")
        check(self.read("f") == self.content, f"{what}: decode differs")
        os.unlink(self / "f")
        self.gfk("repair", "f")
        self.gfk("verify", "f")
        for name, content in self.whole.items():
            check(self.read(name) == content, f"{what}: {name} is not what it was")
        check(not self.temps(), f"{what}: left over: {self.temps()}")
        return run

    def is_lost(self, what):
        before = self.contents()
        self.gfk("verify", "f", expect=harness.UNRECOVERABLE)
        self.gfk("decode", "f", expect=harness.UNRECOVERABLE)
        self.gfk("repair", "f", expect=harness.UNRECOVERABLE)
        check(before == self.contents(), f"{what}: something was written")


def random_bit_flips():
    for _ in range(4 if harness.options.reduced else 60):
        with Set() as s:
            places = []
            for index in harness.rng.sample(range(N), harness.rng.randint(1, M)):
                for _ in range(harness.rng.randint(1, 5)):
                    places.append((index, harness.rng.randrange(len(s.whole[shard("f", index)])),
                                   harness.rng.randrange(8)))
            for place in places:
                flip(s.path_of(place[0]), *place[1:])
            run = s.comes_back(places)
            check(run.code in (harness.OK, harness.DAMAGED), "a verdict")


def every_byte_of_the_headers():
    positions = [*range(0, 120, 7), 359, 500, 505, 511]
    with Set() as s:
        end = len(s.whole[shard("f", 0)])
        for position in harness.some(positions, 4):
            for at in (position, end - HEADER + position):
                flip(s.path_of(1), at)
                run = s.gfk("verify", "f", expect=harness.DAMAGED)
                check("header damaged" in run.text, run.text)
                s.gfk("repair", "f")
                check(s.read(shard("f", 1)) == s.whole[shard("f", 1)], f"header byte {at}")


def both_headers_gone():
    for junk in (bytes(HEADER), harness.rng.randbytes(HEADER)):
        with Set() as s:
            for index in range(M + 1):  # more than m: identified by their blocks
                overwrite(s.path_of(index), 0, junk)
                overwrite(s.path_of(index), s.offset(STRIPES) - s.block + LAST, junk)
            s.comes_back("both headers gone")
    with Set() as s:
        for index in range(M):
            overwrite(s.path_of(index), 0, bytes(HEADER + 300))
            with open(s.path_of(index), "r+b") as file:
                file.truncate(1500)
        s.comes_back("nothing but a name")
    with Set() as s:
        for index in range(N):
            overwrite(s.path_of(index), 0, bytes(HEADER))
        s.comes_back("all first headers gone")
    with Set() as s:
        for index in range(N):
            overwrite(s.path_of(index), 0, bytes(HEADER))
            overwrite(s.path_of(index), s.offset(STRIPES) - s.block + LAST, bytes(HEADER))
        s.is_lost("all headers gone")


def cut_and_extended():
    with Set() as s:
        length = len(s.whole[shard("f", 0)])
        for cut in harness.some((0, 1, 511, 512, 600, s.offset(2), s.offset(2) + 64 + BLOCK, length - 512,
                                 length - 1), 2):
            with open(s.path_of(2), "r+b") as file:
                file.truncate(cut)
            with open(s.path_of(K), "ab") as file:
                file.write(harness.rng.randbytes(cut + 1))
            s.comes_back(f"cut to {cut}")


def damage_spread_over_all_shards():
    """One bad block in m shards of every stripe, not the same ones."""
    with Set() as s:
        for stripe in range(STRIPES):
            for i in range(M):
                flip(s.path_of((stripe + i) % N), s.offset(stripe) + BLOCK_HEADER + 11 * stripe)
        s.comes_back("spread")
    with Set(m=1) as s:
        for index in (0, 1):
            flip(s.path_of(index), s.offset(3) + BLOCK_HEADER + 5)
            flip(s.path_of(index), s.offset(3) + BLOCK_HEADER + 6)
        s.is_lost("two of one")
        err = s.gfk("decode", "f", expect=harness.UNRECOVERABLE).err
        check("stripe 3" in err and "000, 001" in err, err)


def is_intact(s, what):
    """A shard is what its header says: nothing is wrong, and repair writes nothing."""
    before = s.contents()
    run = s.gfk("verify", "--json", "f").json()
    check([shard["state"] for shard in run["shards"]] == ["ok"] * s.count, f"{what}: {run}")
    s.gfk("repair", "f")
    check(s.contents() == before, f"{what}: repair wrote something")
    s.gfk("decode", "f")
    check(s.read("f") == s.content, f"{what}: decode differs")
    os.unlink(s / "f")


def swapped_and_renamed():
    with Set() as s:
        for a, b in ((0, 1), (2, 6), (4, 5)):
            os.rename(s.path_of(a), s / "t")
            os.rename(s.path_of(b), s.path_of(a))
            os.rename(s / "t", s.path_of(b))
        is_intact(s, "swapped")
    with Set() as s:
        os.rename(s.path_of(3), s.path_of(33))
        os.rename(s.path_of(5), s / "a name of its own")
        os.rename(s.path_of(1), s / "g.gfk.001")
        is_intact(s, "renamed")
        run = s.gfk("info", "f")
        check("005 ok a name of its own: under another name" in run.text, run.text)
        flip(s.path_of(33), s.offset(1) + BLOCK_HEADER)
        s.gfk("verify", "f", expect=harness.DAMAGED)
        s.gfk("repair", "f")
        check(s.read(shard("f", 33)) == s.whole[shard("f", 3)], "damaged under another name")
        is_intact(s, "mended under another name")
    with Set() as s:
        for index in range(N):
            os.rename(s.path_of(index), s / f"part-{index}")
        s.gfk("decode", "-o", "out", *[f"part-{i}" for i in (6, 3, 1, 0)])
        check(s.read("out") == s.content, "shards under names of their own")
        s.gfk("verify", *[f"part-{i}" for i in range(N)])


def names_that_are_taken():
    """The only file of an intact shard is in the place of a missing one: neither is lost."""
    for chain in ((3, 0), (3, 0, 1), (6, 5, 4, 3, 2, 1, 0)):
        with Set() as s:
            os.unlink(s.path_of(chain[0]))
            for taken, index in zip(chain, chain[1:]):
                os.rename(s.path_of(index), s.path_of(taken))
            s.comes_back(f"taken: {chain}")
    with Set() as s:
        shutil.copy(s.path_of(0), s.path_of(3))
        s.comes_back("doubled over another")
        shutil.copy(s.path_of(0), s.path_of(40))
        first = s.gfk("info", "--json", "f").json()["shards"][0]
        check([os.path.basename(p) for p in first["copies"]] == [shard("f", 40)], first)
        flip(s.path_of(0), s.offset(1) + BLOCK_HEADER)
        s.lose("f", 1, 2, 3)
        s.comes_back("a double stands in for a damaged one")


def is_in_the_way(s, index, why):
    """repair refuses without --force and writes nothing."""
    before = s.contents()
    run = s.gfk("repair", "f", expect=harness.EXISTS)
    check(f"{shard('f', index)} is in the way: it {why}; --force replaces it" in run.err, run.err)
    check(s.contents() == before, "something was written")
    s.gfk("verify", "f", expect=harness.DAMAGED)
    s.gfk("decode", "f")
    check(s.read("f") == s.content, "decode among other files")
    os.unlink(s / "f")
    s.gfk("repair", "--force", "f")
    s.gfk("verify", "f")
    check(s.contents("f.gfk.") == s.whole, "what --force made")


def foreign():
    with Set() as s, Set() as other:
        for index in (1, 4):
            shutil.copy(other.path_of(index), s.path_of(index))
        run = s.gfk("verify", "f", expect=harness.DAMAGED)
        check("another set" in run.err, run.err)
        is_in_the_way(s, 1, "belongs to another set")
    length = len(s.whole[shard("f", 2)])
    for text in (b"a text that is no shard at all\n" * 100, b"x", bytes(HEADER),
                 bytes(length - 1), bytes(length + 1)):
        with Set() as s:
            s.write(shard("f", 2), text)
            os.unlink(s.path_of(5))
            is_in_the_way(s, 2, "is not a shard of this set")
    for text in (harness.rng.randbytes(length), bytes(length - 1) + b"x"):  # a shard's name and length
        with Set() as s:
            s.write(shard("f", 2), text)
            is_in_the_way(s, 2, "is not a shard of this set")
    with Set() as s:
        s.write(shard("f", 2), bytes(length))
        s.comes_back("nothing but zeros")
    for offset in harness.some((0, s.offset(STRIPES) - s.block + LAST, *map(s.offset, range(STRIPES))), 3):
        with Set() as s:  # one header still has the id of the set, but no header is intact
            noise = bytearray(harness.rng.randbytes(length))
            noise[offset:offset + BLOCK_HEADER] = s.whole[shard("f", 2)][offset:offset + BLOCK_HEADER]
            noise[offset + 4] ^= 1
            s.write(shard("f", 2), noise)
            s.comes_back(f"the id of the set at {offset}")


def block_headers_gone():
    """Without checksums blocks vouch for each other, or the hash of the file for them."""
    for damaged in (range(N), range(M + 1), range(K)):
        with Set() as s:
            for index in damaged:
                for stripe in range(STRIPES):
                    overwrite(s.path_of(index), s.offset(stripe), bytes(BLOCK_HEADER))
            s.comes_back(f"no checksums in {list(damaged)}")
    with Set() as s:
        s.lose("f", *range(M))
        for stripe in range(STRIPES):
            flip(s.path_of(5), s.offset(stripe) + 50)
        s.comes_back("k left, one of them without checksums")
        s.lose("f", *range(M))
        flip(s.path_of(5), s.offset(0) + 50)
        flip(s.path_of(5), s.offset(0) + 200)
        s.is_lost("k left, one of them wrong without checksums")


def blocks_in_wrong_places():
    """Intact blocks with intact headers, but of another stripe, shard or set."""
    record = BLOCK_HEADER + BLOCK
    for source in ("stripe", "shard", "set"):
        with Set() as s, Set() as other:
            for index in (0, 2, 5):
                for stripe in range(STRIPES - 1):
                    if source == "stripe":
                        donor, at = s.whole[shard("f", index)], s.offset((stripe + 1) % 4)
                    elif source == "shard":
                        donor, at = s.whole[shard("f", index + 1)], s.offset(stripe)
                    else:
                        donor, at = other.whole[shard("f", index)], s.offset(stripe)
                    overwrite(s.path_of(index), s.offset(stripe), donor[at:at + record])
            run = s.comes_back(f"blocks of another {source}")
            for index in (0, 2, 5):
                check(f"{index:03d} damaged f.gfk.{index:03d}: 4 of 5 blocks damaged\n" in run.text,
                      run.text)


def forge(s, index, stripe, position=None, length=None):
    """Changes one bit of a block, or all of the block, and its checksum with it."""
    length = length or (LAST if stripe == STRIPES - 1 else s.block)
    at = s.offset(stripe)
    if position is None:
        overwrite(s.path_of(index), at + BLOCK_HEADER, harness.rng.randbytes(length))
    else:
        flip(s.path_of(index), at + BLOCK_HEADER + position)
    with open(s.path_of(index), "rb") as file:
        file.seek(at)
        header = bytearray(file.read(BLOCK_HEADER))
        content = file.read(length)
    struct.pack_into("<Q", header, 48, xxh3.hash64(content))
    struct.pack_into("<Q", header, 56, xxh3.hash64(bytes(header[:56])))
    overwrite(s.path_of(index), at, header)


def parity_that_checksums_hide():
    """The data shards give the file's hash, so the parity is wrong: all of it, or half of it."""
    for indices in ((K,), (K + 1, K + 2), tuple(range(K, N))):
        with Set() as s:
            for index in indices:
                for stripe in (0, 2, STRIPES - 1):
                    forge(s, index, stripe, 17 + stripe)
            run = s.comes_back(f"parity {indices} forged")
            check(run.code == harness.DAMAGED and "3 of 5 blocks damaged, 3 with checksums that hid it" in
                  run.text and f"{N - len(indices)} of {N} shards are intact" in run.text, run.text)
    with Set() as s:  # a data shard is rebuilt from parity that is right
        forge(s, N - 1, 1)
        os.unlink(s.path_of(0))
        s.comes_back("a data shard is missing")


def padding_is_zero():
    """Bytes after the file's end in the last stripe: the shard with other bytes than zeros is named."""
    for k, m, size, block in harness.some(((2, 1, 1, 64), (2, 1, 64, 64), (3, 2, 65, 64), (4, 1, 1000, 512),
                                           (2, 2, 1500, 64)), 2):
        last = (size - 1) // (k * block)
        length = -(-(size - last * k * block) // (k * 64)) * 64
        for index in range(k):
            used = min(max(size - last * k * block - index * length, 0), length)
            for position in {used, length - 1} - {length}:
                with Set(k, m, size, block) as s:
                    if position >= used:
                        forge(s, index, last, position, length)
                        run = s.comes_back(f"padding of {index} of {k} + {m}")
                        check(f"  {index:03d} damaged " in run.text and run.text.count(" damaged ") == 1, run.text)
    with Set(2, 1, 1, 64) as s:  # the shard with nothing but padding would be rebuilt from forged parity
        forge(s, 2, 0, 5, 64)
        os.unlink(s.path_of(1))
        run = s.comes_back("parity that makes padding")
        check("001 missing" in run.text and "002 damaged" in run.text, run.text)


def shards_that_disagree():
    """Data that checksums hide: no shard is blamed and nothing is written, until the user chooses."""
    for k, m, wrong, hint in ((K, M, 1, True), (K, M, 3, True), (3, 2, 0, True), (2, 1, 1, False)):
        with Set(k, m) as s:
            forge(s, wrong, 1, 100)
            before = s.contents()
            for command in (("verify",), ("decode",), ("repair",), ("repair", "-f"), ("decode", "-o", "-")):
                run = s.gfk(*command, "f", expect=harness.UNRECOVERABLE)
                check("the shards of f disagree: in 1 stripe, first in stripe 1, " in run.err, run.err)
                names_wrong(run, {wrong} if hint else set(), set(range(k + m)) - {wrong}, k)
                if command[0] == "decode":
                    check(("do not use" in run.err) == ("-" in command), run.err)
            run = s.gfk("verify", "--json", "f", expect=harness.UNRECOVERABLE).json()
            check(run["disagree"] and not run["recoverable"] and run["bad_shards"] == 0, run)
            text = f"{k + m} of {k + m} shards are intact by their checksums, but the shards disagree"
            check(f"f: {text}\n" in s.gfk("verify", "f", expect=harness.UNRECOVERABLE).text, "verify")
            for command in (("scrub", "."), ("scrub", "--repair", ".")):
                run = s.gfk(*command, expect=harness.UNRECOVERABLE)
                check(f"lost     f: {text}\n" in run.text, run.text)
            check(before == s.contents(), "something was written")
            rest = [shard("f", i) for i in range(k + m) if i != wrong]
            s.gfk("decode", "-o", "chosen", *rest)
            check(s.read("chosen") == s.content, "the shards that the user chose")
            s.gfk("repair", "-f", *rest)
            check(s.read(shard("f", wrong)) == s.whole[shard("f", wrong)], "repaired from the choice")
    with Set() as s:  # a stripe that nobody can restore says more than a disagreement
        forge(s, 0, 1, 100)
        for index in range(4):
            flip(s.path_of(index), s.offset(3) + BLOCK_HEADER)
        s.is_lost("and a stripe that is lost")
        run = s.gfk("verify", "--json", "f", expect=harness.UNRECOVERABLE).json()
        check(not run["disagree"] and run["lost_stripes"] == 1, run)
    with Set() as s:  # of k shards, none can disagree
        forge(s, 0, 1)
        s.lose("f", 1, 2, 3)
        run = s.gfk("decode", "f", expect=harness.UNRECOVERABLE)
        check("what these shards of f make is not the file that was encoded\n" in run.err, run.err)


def names_wrong(run, wrong, rest, k):
    """The message names these shards alone, and suggests the others; or it names and suggests nobody."""
    listed = ", ".join(f"{i:03d}" for i in sorted(wrong))
    check((f"by the code, wrong may be {listed}." in run.err) if wrong else
          "wrong may be" not in run.err and "the code does not tell which of them are wrong" in run.err, run.err)
    check(f"Name {k} or more shards that you trust" in run.err, run.err)
    names = "".join(f" {shard('f', i)}" for i in sorted(rest)) if wrong else " SHARD..."
    check(f"gfk decode{names}" in run.err, run.err)


def shards_that_nobody_can_blame():
    """With shards missing, or wrong in different stripes, no honest shard is named as wrong, and no
    suggestion keeps a wrong one."""
    for k, m, lost, wrong, known in (
            (3, 2, (3,), {0: (1,)}, False), (3, 2, (0,), {3: (1,)}, False), (3, 2, (1,), {2: (0, 3)}, False),
            (3, 2, (), {0: (1,), 2: (1,)}, False), (3, 2, (), {0: (1,), 2: (3,)}, True),
            (3, 2, (), {0: (1, 2), 1: (2, 3)}, False), (4, 4, (5,), {2: (1,)}, True),
            (4, 4, (0,), {2: (1,), 5: (2,)}, True), (4, 4, (0, 7), {2: (1,)}, False),
            (2, 4, (), {0: (0,), 1: (1,), 2: (2,), 3: (3,), 4: (4,)}, False), (4, 1, (), {3: (0,)}, False)):
        for position in harness.some((None, 100), 2):
            with Set(k, m, size=4 * k * BLOCK + k * LAST) as s:
                for index, stripes in wrong.items():
                    for stripe in stripes:
                        forge(s, index, stripe, position)
                s.lose("f", *lost)
                before = s.contents()
                rest = set(range(k + m)) - set(lost) - set(wrong)
                for command in ("verify", "decode", "repair"):
                    run = s.gfk(command, "f", expect=harness.UNRECOVERABLE)
                    check("the shards of f disagree: " in run.err, run.err)
                    names_wrong(run, set(wrong) if known else set(), rest, k)
                check(before == s.contents(), "something was written")
                if len(rest) >= k:
                    s.gfk("decode", *[shard("f", i) for i in rest])
                    check(s.read("f") == s.content, "the shards that the user trusts")
                    os.unlink(s / "f")
                others = sorted(wrong) + sorted(rest)
                s.gfk("decode", *[shard("f", i) for i in others[:k]], expect=harness.UNRECOVERABLE)
                check("f" not in s.names(), "the file without its hash")


def every_block_has_a_flipped_bit():
    """More bad blocks than the code can rebuild, but few wrong symbols in each position."""
    with Set(k=6, m=4) as s:
        for index in range(10):
            flip(s.path_of(index), s.offset(0) + BLOCK_HEADER + 20 * index)
        s.comes_back("a bit in every block")


def promise(s, index, **values):
    """Changes what the first header says; the file keeps its length, and loses the second header."""
    overwrite(s.path_of(index), 0, promised(s.read(shard("f", index)), **values))
    overwrite(s.path_of(index), os.path.getsize(s.path_of(index)) - HEADER, bytes(HEADER))


def headers_that_promise_too_much():
    """What no file can hold is lost at once: nobody looks at every stripe, or makes every matrix."""
    for size in (1 << 60, 1 << 40):
        with Set() as s:
            for index in range(N):
                promise(s, index, size=size)
            start = time.monotonic()
            s.is_lost(f"{size} bytes")
            run = s.gfk("verify", "--json", "f", expect=harness.UNRECOVERABLE).json()
            stripes = -(-size // (K * BLOCK))
            check(stripes - STRIPES - 2 <= run["lost_stripes"] <= stripes, run)
            check(time.monotonic() - start < 60, "for ever")
    with Set() as s:
        for index in range(N):
            promise(s, index, k=32768, m=32768, w=16, polynomial=0x1100b)
        start = time.monotonic()
        s.is_lost("a code of 65,536 shards")
        check(time.monotonic() - start < 60, "for ever")
    with Set() as s:  # some files are long enough, fewer than k
        for index in range(N):
            promise(s, index, size=1 << 50)
        for index in range(K - 1):
            with open(s.path_of(index), "ab") as file:
                file.truncate(1 << 40)
        start = time.monotonic()
        for command in ("verify", "decode", "repair"):
            s.gfk(command, "f", expect=harness.UNRECOVERABLE)
        check(not os.path.exists(s / "f") and not s.temps(), "left over")
        check(time.monotonic() - start < 60, "for ever")


def names_that_leave_the_folder():
    """A stored name never leads decode out of the folder of the shards."""
    with Set() as s:  # so only the name is wrong below
        for index in range(N):
            promise(s, index, name_bytes=1, name=b"h")
        s.gfk("decode", "f")
        check(s.read("h") == s.content, "another name")
    for name in (b"../g", b"/g", b"..", b".", b"sub/g"):
        with Set() as s:
            os.mkdir(s / "sub")
            for index in range(N):
                promise(s, index, name=name)
            before = s.names()
            s.gfk("decode", "--force", "f", expect=harness.UNRECOVERABLE)
            check(s.names() == before and os.listdir(s / "sub") == [], name)
            check(not os.path.exists(s / "../g") and not os.path.exists("/g"), name)


def names_of_the_tool_itself():
    """A stored name that the tool gives to its own files: the next run would remove what decode wrote,
    or decode would replace a shard."""
    temp = ".gfk-tmp-0123456789ab"
    for name in harness.some((".g" + temp, ".f" + temp, ".f.gfk.001" + temp, ".x y.gfk.12345" + temp, "f.gfk.002",
                              "f.gfk.000", "f.gfk.009", "f.gfk.65535"), 3):
        with Set() as s:
            os.unlink(s.path_of(0))
            for index in range(1, N):
                promise(s, index, name=name.encode())
            before = s.contents()
            for force in ((), ("--force",)):
                run = s.gfk("decode", *force, "f", expect=harness.IO)
                check("has the name of a" in run.err and "--output" in run.err, run.err)
            check(s.contents() == before, name)
            s.gfk("decode", "-o", "g", "f")
            s.gfk("verify", "f", expect=harness.DAMAGED)
            check(s.read("g") == s.content, "with another name")
            if temp in name:
                s.gfk("decode", "-f", "-o", name, "f", expect=harness.USAGE)
                check(name not in s.names(), "the user's own choice")
    with Set() as s:  # a shard of another set
        for index in range(N):
            promise(s, index, name=b"g.gfk.000")
        s.gfk("decode", "f")
        check(s.read("g.gfk.000") == s.content, "nothing is in the way")
        s.gfk("encode", "-o", "g", "-f", "original")
        before = s.contents()
        run = s.gfk("decode", "--force", "f", expect=harness.EXISTS)
        check("a shard" in run.err and s.contents() == before, run.err)
    with Set() as s:  # --output is a shard of the set, under any name
        os.rename(s.path_of(2), s / "other")
        for name in (shard("f", 1), "other"):
            before = s.contents()
            run = s.gfk("decode", "-f", "-o", name, "f", expect=harness.EXISTS)
            check("a shard" in run.err and s.contents() == before, run.err)
        s.write(".g" + temp, b"x")
        s.gfk("encode", ".g" + temp, expect=harness.USAGE)
        s.gfk("encode", "-f", "-o", "g", ".g" + temp, expect=harness.USAGE)
        check(s.read(".g" + temp) == b"x" and not s.shards("g"), "an input with such a name")


def too_many_missing():
    with Set() as s:
        s.lose("f", 0, 2, 4, 6)
        s.is_lost("four of three")
        err = s.gfk("decode", "f", expect=harness.UNRECOVERABLE).err
        check("at least 1 of shards 000, 002, 004, 006" in err, err)
    with Folder() as folder:
        for command in ("decode", "verify", "repair", "info"):
            folder.gfk(command, "none", expect=harness.UNRECOVERABLE)


harness.main(random_bit_flips, every_byte_of_the_headers, both_headers_gone, cut_and_extended,
             damage_spread_over_all_shards, swapped_and_renamed, names_that_are_taken, foreign,
             blocks_in_wrong_places, block_headers_gone,
             parity_that_checksums_hide, padding_is_zero, shards_that_disagree, shards_that_nobody_can_blame,
             every_block_has_a_flipped_bit,
             headers_that_promise_too_much, names_that_leave_the_folder,
             names_of_the_tool_itself, too_many_missing)
