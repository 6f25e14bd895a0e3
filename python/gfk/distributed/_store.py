# SPDX-License-Identifier: BSD-3-Clause
"""Where a rank keeps what it holds: in memory, or in files of a folder of its own.

An entry is what one position holds of one version: the bytes of its snapshot, its m parity chunks, and the
manifest, which is the same on all ranks. What is read from a folder or came from another rank is checked
before it is used: nothing in it is trusted, and nothing is executed.
"""

import contextlib
import functools
import gc
import json
import math
import os
import pathlib
import re
import stat
import zlib
from dataclasses import dataclass

import torch

import gfk

# A tensor is protected as the bytes that it has in memory. Some releases of torch do not have all of these.
DTYPES = {name: getattr(torch, name) for name in (
    "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "bool", "float16", "bfloat16",
    "float32", "float64", "complex32", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
    "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2") if hasattr(torch, name)}
FORMAT = "gfk parity 1"
MOST_BYTES = 1 << 50
MOST_MANIFEST_BYTES = 1 << 26
MOST_VERSION = 1 << 60
WIDTHS = 4, 8, 16, 32


class Damaged(gfk.Error):
    """What was read or received is no manifest or no entry."""

    status = "DAMAGED"


@contextlib.contextmanager
def no_collector():
    """Python's collector would go through all lists of a manifest again and again while it is made."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@no_collector()
def loads(text):
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Damaged("not JSON") from error


def _number(value, least, most):
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise Damaged(f"a number is not from {least} to {most}")
    return value


@dataclass(frozen=True)
class Manifest:
    """One version of a group: the same on all ranks. `ranks` lists for each position (name, dtype, shape) of
    its tensors, or (name, dtype, shape, strides) of those that are dense in another order than that of their
    dimensions; `w` and `matrix` are those of the code."""

    session: str
    version: int
    m: int
    chunk: int
    w: int
    matrix: str
    ranks: tuple

    @property
    def key(self):
        return self.session, self.version

    @functools.cached_property
    def crc(self):
        return zlib.crc32(self.encode())

    def bytes_of(self, position):
        return snapshot_bytes(self.ranks[position])

    def tensors(self, position, snapshot):
        """{name: tensor}: views of a snapshot."""
        made, at = {}, 0
        for name, dtype, shape, *strides in self.ranks[position]:
            size = _tensor_bytes(dtype, shape)
            flat = snapshot[at:at + size].view(DTYPES[dtype])
            made[name] = flat.as_strided(shape, strides[0], flat.storage_offset()) if strides else flat.view(shape)
            at += rounded(size)
        return made

    def gaps(self, position):
        """(start, end) of the bytes of a snapshot that are behind a tensor and belong to none."""
        at = 0
        for _, dtype, shape, *_ in self.ranks[position]:
            size = _tensor_bytes(dtype, shape)
            if size % 16:
                yield at + size, at + rounded(size)
            at += rounded(size)

    def encode(self):
        return self._text

    @functools.cached_property
    def _text(self):
        head = {"format": FORMAT, "session": self.session, "version": self.version, "m": self.m, "chunk": self.chunk,
                "w": self.w, "matrix": self.matrix}
        return json.dumps(head | {"ranks": self.ranks}, separators=(",", ":"), check_circular=False).encode()

    @staticmethod
    @functools.lru_cache(maxsize=2)  # all entries of a version have one text
    def decode(text):
        if len(text) > MOST_MANIFEST_BYTES:
            raise Damaged(f"a manifest of more than {MOST_MANIFEST_BYTES} bytes: too many tensors")
        found = loads(text)
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise Damaged("not a manifest of this format")
        session, ranks = found.get("session"), found.get("ranks")
        if not isinstance(session, str) or not re.fullmatch("[0-9a-f]{16}", session):
            raise Damaged("no session")
        if not isinstance(ranks, list) or not 2 <= len(ranks) <= 65536:
            raise Damaged("no list of ranks")
        w, matrix = _number(found.get("w"), 1, 64), found.get("matrix")
        if w not in WIDTHS or not isinstance(matrix, str) or not re.fullmatch("[a-z_]{1,40}", matrix):
            raise Damaged("no code")
        made = Manifest(session, _number(found.get("version"), 1, MOST_VERSION),
                        _number(found.get("m"), 1, len(ranks) - 1), _number(found.get("chunk"), 0, MOST_BYTES),
                        w, matrix, tuple(tensors_of(tensors) for tensors in ranks))
        for position in range(len(ranks)):
            if made.bytes_of(position) > made.chunk * (len(ranks) - made.m):
                raise Damaged("a snapshot is longer than its chunks")
        return made


def rounded(size):
    """The bytes that a tensor takes in a snapshot, so that the next one is aligned for every dtype."""
    return -(-size // 16) * 16


ITEM_BYTES = {name: dtype.itemsize for name, dtype in DTYPES.items()}


def _tensor_bytes(dtype, shape):
    return ITEM_BYTES[dtype] * math.prod(shape)


def snapshot_bytes(tensors):
    """The bytes of a snapshot of such tensors."""
    return sum(rounded(_tensor_bytes(dtype, shape)) for _, dtype, shape, *_ in tensors)


def tensors_of(tensors):
    """A rank's list of tensors, checked."""
    if not isinstance(tensors, list):
        raise Damaged("no list of tensors")
    made, known = [], {}  # the (dtype, shape) that have been checked
    for item in tensors:
        if not isinstance(item, list) or len(item) not in (3, 4) or not isinstance(item[0], str) or \
                not isinstance(item[1], str) or not all(isinstance(numbers, list) for numbers in item[2:]):
            raise Damaged("no tensor")
        key = item[1], *map(tuple, item[2:])
        try:
            found = known.get(key)
        except TypeError:  # a dimension is a list
            raise Damaged("no tensor") from None
        if found is None:
            found = known[key] = _layout_of(*item[1:])
        made.append((item[0], *found))
    if len({name for name, *_ in made}) != len(made):
        raise Damaged("two tensors have one name")
    return tuple(made)


def is_dense(shape, strides):
    """Do elements of such strides, all of them together, fill memory without gaps?"""
    step = 1
    for stride, n in sorted((s, n) for n, s in zip(shape, strides) if n != 1):
        if stride != step:
            return False
        step *= n
    return True


def _layout_of(dtype, shape, strides=None):
    if dtype not in DTYPES or len(shape) > 64 or not all(type(n) is int and 0 <= n <= MOST_BYTES for n in shape):
        raise Damaged("no tensor")
    # A 0 hides no dimension that is huge.
    if ITEM_BYTES[dtype] * math.prod([n or 1 for n in shape]) > MOST_BYTES:
        raise Damaged("a tensor is too long")
    if strides is None:
        return dtype, tuple(shape)
    if len(strides) != len(shape) or not all(type(n) is int and 0 <= n <= MOST_BYTES for n in strides) or \
            not is_dense(shape, strides) or 0 in shape:
        raise Damaged("a tensor has gaps")
    return dtype, tuple(shape), tuple(strides)


@dataclass
class Entry:
    """What one position holds: one-dimensional bytes, and m rows of a chunk; and how often it was rebuilt."""

    manifest: Manifest
    position: int
    snapshot: torch.Tensor
    parity: torch.Tensor
    rebuilt: int = 0


class MemoryStore:
    """Keeps entries in memory: that of `device`, or the CPU's; pinned: in the CPU's memory that GPUs access directly,
    which copies from and to GPUs are several times as fast with. Such memory takes long to make, so that of the version
    before is kept for the next one."""

    def __init__(self, device="cpu", *, pinned=False):
        self.device, self.pinned, self._spare = torch.device(device), pinned, None
        if pinned and self.device.type != "cpu":
            raise ValueError("pinned memory is the CPU's")
        if self.device.type == "cuda" and self.device.index is None:
            self.device = torch.device("cuda", torch.cuda.current_device())
        self._entries = {}

    def new(self, manifest, position):
        """An entry without contents, which `put` keeps."""
        shapes = (manifest.bytes_of(position),), (manifest.m, manifest.chunk)
        spare, self._spare = self._spare, None
        if spare is not None and (spare.snapshot.shape, spare.parity.shape) == shapes:
            return Entry(manifest, position, spare.snapshot, spare.parity)
        return Entry(manifest, position, *map(self._empty, shapes))

    def _empty(self, shape):
        if self.pinned and math.prod(shape) > 0:
            return torch.from_numpy(gfk.pinned_empty(shape))
        return torch.empty(shape, dtype=torch.uint8, device=self.device)

    def put(self, entry):
        self._entries[entry.manifest.key, entry.position] = entry

    def entries(self):
        return list(self._entries.values())

    def newest(self):
        """The highest version of which there is anything; 0: there is nothing."""
        return max((version for (_, version), _ in self._entries), default=0)

    def drop(self, is_old):
        """Forgets the entries of which is_old(manifest's key, position)."""
        gone = [self._entries.pop(name) for name in [name for name in self._entries if is_old(*name)]]
        if self.pinned and gone:
            self._spare = gone[-1]

    def bytes_held(self):
        return sum(e.snapshot.numel() + e.parity.numel() for e in self._entries.values())


def crc(tensor):
    """The checksum of a tensor of bytes."""
    return zlib.crc32(memoryview(tensor.contiguous().view(-1).cpu().numpy()))


NAME = re.compile(r"(?P<temporary>\.)?(?P<session>[0-9a-f]{16})-(?P<version>[0-9]{1,19})-(?P<position>[0-9]{1,5})"
                  r"\.(?P<part>json|snapshot|parity)(?(temporary)\.[0-9]+)")


class FolderStore:
    """Keeps entries in files of a folder, one folder for each rank, so that a process that starts again finds
    them. An entry is three files: NAME.snapshot, NAME.parity, and NAME.json, whose appearance makes the entry;
    it has checksums of all three. Entries that are incomplete or damaged are not entries, and files of other
    names are left alone. Nothing is remembered: each call reads the files that are there."""

    device = torch.device("cpu")

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.refused = {}  # file name: why it was no entry when `entries` read it

    def new(self, manifest, position):
        return MemoryStore().new(manifest, position)

    def put(self, entry):
        """The entry appears whole or not at all. Of an entry that it replaces, all files are there until the new
        ones are complete; where it ends between them, their checksums differ."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = entry.manifest.encode()
        head = json.dumps({"position": entry.position, "rebuilt": entry.rebuilt, "snapshot": crc(entry.snapshot),
                           "parity": crc(entry.parity), "manifest": zlib.crc32(text)}).encode()
        parts = {"snapshot": memoryview(entry.snapshot.contiguous().view(-1).numpy()),
                 "parity": memoryview(entry.parity.contiguous().view(-1).numpy()), "json": head + b"\n" + text}
        name = _name(entry.manifest, entry.position)
        written = {self.folder / f".{name}.{part}.{os.getpid()}": self.folder / f"{name}.{part}" for part in parts}
        try:
            for path, contents in zip(written, parts.values()):
                path.unlink(missing_ok=True)
                with open(path, "xb") as file:
                    file.write(contents)
                    file.flush()
                    os.fsync(file.fileno())
            for path, final in written.items():
                os.replace(path, final)
            folder = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        finally:
            for path in written:
                path.unlink(missing_ok=True)

    def _files(self):
        """(path, match) of the files whose names are of this format."""
        try:
            paths = sorted(self.folder.iterdir())
        except FileNotFoundError:
            return []
        return [(path, name) for path in paths if (name := NAME.fullmatch(path.name))]

    def entries(self):
        found, self.refused = [], {}
        for path, name in self._files():
            if name["part"] == "json" and not name["temporary"]:
                try:
                    found.append(_read(path))
                except (Damaged, OSError) as error:
                    self.refused[path.name] = str(error)
        return found

    def newest(self):
        return max((n for _, name in self._files() if (n := int(name["version"])) <= MOST_VERSION), default=0)

    def drop(self, is_old):
        """Removes the entries of which is_old(manifest's key, position), and what an interrupted `put` has left."""
        failed = None
        for path, name in sorted(self._files(), key=lambda item: item[1]["part"] != "json"):  # without .json: no entry
            if name["temporary"] or is_old((name["session"], int(name["version"])), int(name["position"])):
                try:
                    path.unlink(missing_ok=True)
                except OSError as error:
                    failed = error
        if failed is not None:
            raise failed

    def bytes_held(self):
        total = 0
        for path, name in self._files():
            if name["part"] != "json":
                with contextlib.suppress(FileNotFoundError):
                    total += path.lstat().st_size
        return total


def _name(manifest, position):
    return f"{manifest.session}-{manifest.version}-{position}"


def _check_pieces(file, name, size, wanted):
    """Refuses a file by its checksum, in little memory: what others wrote may claim any size on a small disk."""
    if size > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        raise Damaged(f"{name} has {size} bytes, more than this machine has memory")
    found, view = 0, memoryview(bytearray(1 << 22))
    while count := file.readinto(view):
        found = zlib.crc32(view[:count], found)
    if found != wanted:
        raise Damaged(f"{name} does not match its checksum")
    file.seek(0)


def _contents(path, size=None, wanted=None):
    """The bytes of a regular file of `size` bytes, or of no more than a manifest has. `wanted` is their checksum."""
    def opener(name, flags):  # a link is refused, and a pipe does not wait
        return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK)

    with open(path, "rb", buffering=0, opener=opener) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise Damaged(f"{path.name} is no regular file")
        if found.st_size > MOST_MANIFEST_BYTES + 4096 if size is None else found.st_size != size:
            raise Damaged(f"{path.name} has another length")
        if found.st_blocks * 512 < found.st_size // 2:  # parts of the file are not on the disk
            _check_pieces(file, path.name, found.st_size, wanted)
        try:
            made, at = torch.empty(found.st_size, dtype=torch.uint8), 0
        except RuntimeError as error:
            raise Damaged(f"{path.name}: no memory for {found.st_size} bytes") from error
        view = memoryview(made.numpy())
        while at < len(view):
            count = file.readinto(view[at:])
            if not count:
                raise Damaged(f"{path.name} has become shorter")
            at += count
        return made


def _read(path):
    """The entry of a .json file."""
    head, _, text = _contents(path).numpy().tobytes().partition(b"\n")
    fields = loads(head)
    if not isinstance(fields, dict) or fields.get("manifest") != zlib.crc32(text):
        raise Damaged("the manifest does not match its checksum")
    manifest = Manifest.decode(text)
    position = _number(fields.get("position"), 0, len(manifest.ranks) - 1)
    if path.name != _name(manifest, position) + ".json":
        raise Damaged("the file has another name than its contents say")
    rebuilt = _number(fields.get("rebuilt", 0), 0, MOST_VERSION)
    parts = {"snapshot": manifest.bytes_of(position), "parity": manifest.m * manifest.chunk}
    for part, size in parts.items():
        parts[part] = _contents(path.with_suffix("." + part), size, fields.get(part))
        if crc(parts[part]) != fields.get(part):
            raise Damaged(f"the {part} does not match its checksum")
    return Entry(manifest, position, parts["snapshot"], parts["parity"].view(manifest.m, manifest.chunk),
                 rebuilt)
