# SPDX-License-Identifier: BSD-3-Clause
"""FolderStore: what it finds in folders that somebody else has changed."""

import json
import os
import zlib

import pytest

pytest.importorskip("torch")

import torch  # noqa: E402

from gfk.distributed import Damaged, FolderStore, MemoryStore  # noqa: E402
from gfk.distributed._store import MOST_MANIFEST_BYTES, Manifest  # noqa: E402


def one_entry(folder):
    store = FolderStore(folder)
    manifest = Manifest("0123456789abcdef", 1, 1, 256, 8, "cauchy", ((("x", "float32", (5,)),), ()))
    entry = store.new(manifest, 0)
    entry.snapshot.copy_(torch.arange(32, dtype=torch.uint8))
    entry.parity.zero_()
    store.put(entry)
    assert len(store.entries()) == 1
    return next(folder.glob("*.json"))


def reseal(path, change):
    """Changes the manifest of an entry, with the right checksum."""
    head, _, text = path.read_bytes().partition(b"\n")
    head, manifest = json.loads(head), json.loads(text)
    change(head, manifest)
    text = json.dumps(manifest).encode()
    head["manifest"] = zlib.crc32(text)
    path.write_bytes(json.dumps(head).encode() + b"\n" + text)


FORGED = {
    "another format": lambda h, m: m.update(format="other"),
    "a negative size": lambda h, m: m["ranks"][0][0][2].__setitem__(0, -5),
    "a huge size": lambda h, m: m["ranks"][0][0][2].__setitem__(0, 1 << 60),
    "a huge size beside a 0": lambda h, m: m["ranks"][0][0].__setitem__(2, [0, 1 << 50, 1 << 50]),
    "a product that is huge": lambda h, m: m["ranks"][0][0].__setitem__(2, [1 << 40] * 4),
    "an unknown dtype": lambda h, m: m["ranks"][0][0].__setitem__(1, "object"),
    "a dtype that is no text": lambda h, m: m["ranks"][0][0].__setitem__(1, ["x"]),
    "two of a name": lambda h, m: m["ranks"][0].append(m["ranks"][0][0]),
    "a position that does not exist": lambda h, m: h.update(position=2),
    "another position": lambda h, m: h.update(position=1),
    "a true version": lambda h, m: m.update(version=True),
    "a float": lambda h, m: m.update(chunk=256.0),
    "no ranks": lambda h, m: m.update(ranks=[]),
    "m of all": lambda h, m: m.update(m=2),
    "a chunk too short": lambda h, m: m.update(chunk=16),
    "a session with a path": lambda h, m: m.update(session="../../../../etc/x"),
    "a width that does not exist": lambda h, m: m.update(w=9),
    "a matrix that is no name": lambda h, m: m.update(matrix=[[1, 2]]),
    "a list": lambda h, m: m.update(ranks={}),
}


@pytest.mark.parametrize("what", FORGED)
def test_forged_manifests_are_refused(tmp_path, what):
    path = one_entry(tmp_path)
    reseal(path, FORGED[what])
    store = FolderStore(tmp_path)
    assert store.entries() == [] and list(store.refused) == [path.name]


def test_truncated_and_foreign_files_are_refused(tmp_path):
    path = one_entry(tmp_path)
    whole = path.read_bytes()
    for cut in range(0, len(whole), 7):
        path.write_bytes(whole[:cut])
        assert FolderStore(tmp_path).entries() == [], cut
    for foreign in (b"", b"[" * 100000, b"\xff\xfe\n{}", b"{}\n{}", b"null\nnull"):
        path.write_bytes(foreign)
        assert FolderStore(tmp_path).entries() == [], foreign[:10]
    path.write_bytes(whole)
    assert len(FolderStore(tmp_path).entries()) == 1
    part = path.with_suffix(".parity")
    part.write_bytes(part.read_bytes()[:-1])
    assert FolderStore(tmp_path).entries() == []


# ---- memory ----------------------------------------------------------------------------------------


def test_pinned_memory_is_used_again():
    store, places = MemoryStore(pinned=True), []
    for version in range(1, 5):
        manifest = Manifest("0123456789abcdef", version, 1, 256, 8, "cauchy", ((("x", "uint8", (200,)),), ()))
        for position in (0, 1):  # 1 has a snapshot without bytes
            entry = store.new(manifest, position)
            entry.snapshot.fill_(version), entry.parity.fill_(version)
            if position == 0:
                store.put(entry)
        store.drop(lambda key, _: key != manifest.key)
        entry, = store.entries()
        assert entry.snapshot.unique().tolist() == [version] and entry.parity.unique().tolist() == [version]
        places.append(entry.snapshot.data_ptr())
    assert len(set(places)) < 4 and places[0] != places[1]
    with pytest.raises(ValueError):
        MemoryStore("cuda:0", pinned=True)


# ---- files that change -----------------------------------------------------------------------------


def test_files_that_were_deleted_or_replaced_are_seen(tmp_path):
    json_file = one_entry(tmp_path)
    store = FolderStore(tmp_path)
    entry, = store.entries()
    snapshot = json_file.with_suffix(".snapshot")
    whole = snapshot.read_bytes()
    snapshot.write_bytes(bytes(32))
    assert store.entries() == [] and "snapshot does not match" in store.refused[json_file.name]
    snapshot.write_bytes(whole)
    assert len(store.entries()) == 1 and store.refused == {}
    json_file.unlink()
    assert store.entries() == []
    assert entry.snapshot.tolist() == list(range(32)), "what was read does not change"


def test_a_file_that_is_truncated_after_it_was_read(tmp_path):
    """A file that is mapped into memory would end the process here."""
    json_file = one_entry(tmp_path)
    store = FolderStore(tmp_path)
    entry, = store.entries()
    os.truncate(json_file.with_suffix(".snapshot"), 0)
    assert entry.snapshot.tolist() == list(range(32))
    assert store.entries() == []
    assert "snapshot has another length" in store.refused[json_file.name]


def test_a_folder_that_was_removed(tmp_path):
    store = FolderStore(tmp_path / "a" / "b")
    assert store.entries() == [] and store.newest() == 0 and store.bytes_held() == 0
    store.drop(lambda *_: True)
    one_entry(tmp_path / "a" / "b")
    assert len(store.entries()) == 1


# ---- files that are no files of an entry -----------------------------------------------------------


@pytest.mark.parametrize("part", ["json", "snapshot", "parity"])
@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "huge"])
def test_what_is_no_file_of_an_entry_is_refused(tmp_path, part, kind):
    json_file = one_entry(tmp_path / "store")
    path = json_file.with_suffix("." + part)
    aside = path.rename(tmp_path / "aside")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(aside)
    elif kind == "folder":
        path.mkdir()
    else:  # without contents
        path.touch()
        os.truncate(path, 1 << 40)
    store = FolderStore(tmp_path / "store")
    assert store.entries() == [] and list(store.refused) == [json_file.name]


def test_files_of_other_names_are_not_read(tmp_path):
    json_file = one_entry(tmp_path)
    for name in ("notes.json", "0123456789abcdef-1.json", "0123456789ABCDEF-1-0.json", "x" + json_file.name):
        os.mkfifo(tmp_path / name)
    store = FolderStore(tmp_path)
    assert len(store.entries()) == 1 and store.refused == {}
    assert store.newest() == 1 and store.bytes_held() == 32 + 256
    store.drop(lambda *_: True)
    assert len(list(tmp_path.iterdir())) == 4


def test_a_manifest_is_not_longer_than_what_is_read_again():
    with pytest.raises(Damaged, match="too many tensors"):
        Manifest.decode(b"[" * (MOST_MANIFEST_BYTES + 1))


def test_a_position_without_contents(tmp_path):
    """Tensors without elements, of wide dtypes, and nothing else."""
    described = (("a", "float32", (0,)), ("b", "complex128", (3, 0, 2)), ("c", "int64", (0, 1 << 40)))
    manifest = Manifest("0123456789abcdef", 1, 1, 0, 8, "cauchy", (described, ()))
    store = FolderStore(tmp_path)
    store.put(store.new(manifest, 0))
    entry, = store.entries()
    found = manifest.tensors(0, entry.snapshot)
    assert [(t.dtype, tuple(t.shape)) for t in found.values()] == [
        (torch.float32, (0,)), (torch.complex128, (3, 0, 2)), (torch.int64, (0, 1 << 40))]
