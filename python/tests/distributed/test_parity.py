# SPDX-License-Identifier: BSD-3-Clause
"""ParityGroup over gloo: versions, losses, damage. A loss is a rank that comes back with an empty store."""

import itertools
import time

import pytest

pytest.importorskip("torch")

import ranks  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

import gfk  # noqa: E402
from gfk.distributed import FolderStore, MemoryStore, NotPrepared, ParityGroup  # noqa: E402


def tensors_of(rank, step=0):
    """Tensors that differ from rank to rank, in number, dtype and size."""
    generator = torch.Generator().manual_seed(1000 * step + rank)
    made = {
        "weight": torch.randn(100 + 37 * rank, 7, generator=generator),
        "step": torch.tensor(step),
        "flags": torch.rand(13 * rank, generator=generator) < 0.5,
        "half": torch.randn(5, 3, generator=generator).to(torch.bfloat16),
    }
    return {} if rank == 3 else made


def check(found, wanted):
    assert found.keys() == wanted.keys()
    for name, tensor in wanted.items():
        assert found[name].dtype == tensor.dtype and found[name].shape == tensor.shape, name
        assert torch.equal(found[name], tensor), name


# ---- every pattern of losses -----------------------------------------------------------------------


def lose_patterns(rank, m, piece, step):
    stores = [MemoryStore()]
    group = ParityGroup(m=m, store=stores[0], piece=piece)
    group.encode(tensors_of(rank))
    assert group.verify()
    size = dist.get_world_size()
    patterns = [lost for count in range(1, m + 1) for lost in itertools.combinations(range(size), count)]
    for lost in patterns[::step]:
        store = MemoryStore() if rank in lost else stores[0]
        again = ParityGroup(m=m, store=store, piece=piece)
        assert again.rebuild() == list(lost)
        check(again.restore(), tensors_of(rank))
        assert again.verify(), lost
        stores[0] = store
    lost = tuple(range(m + 1))
    again = ParityGroup(m=m, store=MemoryStore() if rank in lost else stores[0], piece=piece)
    with pytest.raises(gfk.TooManyErasures if m + 1 < size else NotPrepared):
        again.rebuild()
    return group.report


@pytest.mark.parametrize("size, m, piece, step", [(5, 2, 1 << 20, 1), (5, 2, 512, 1), (5, 1, 512, 1),
                                                  (3, 2, 256, 1), (2, 1, 256, 1), (8, 3, 1024, 7)])
def test_patterns_of_losses(size, m, piece, step):
    """Every pattern of up to m lost ranks, or each step-th one."""
    ranks.run(size, lose_patterns, m, piece, step)


# ---- what is sent and held -------------------------------------------------------------------------


def encode_large(rank, m):
    group = ParityGroup(m=m, piece=1 << 16)
    size = dist.get_world_size()
    group.encode([torch.full((1 << 18,), rank, dtype=torch.uint8)])
    largest, k = 1 << 18, size - m
    assert group.report.held <= largest + m * (largest / k + 256)
    return group.report.sent / (largest * (size - 1) / k)


@pytest.mark.parametrize("size, m", [(5, 2), (4, 1)])
def test_bytes_sent_are_those_of_the_formula(size, m):
    assert all(1 <= ratio < 1.05 for ratio in ranks.run(size, encode_large, m))


def encode_many(rank):
    tensors = {f"layer.{i}.weight": torch.full((3, 5), i % 100, dtype=torch.int16) for i in range(20000)}
    group = ParityGroup(m=2)
    start = time.process_time()
    group.encode(tensors)
    took = time.process_time() - start
    check(group.restore(), tensors)
    return took


def test_many_tensors():
    assert max(ranks.run(5, encode_many)) < 1.6


# ---- versions --------------------------------------------------------------------------------------


def go_through_versions(rank):
    store = MemoryStore()
    group = ParityGroup(m=2, store=store, piece=512)
    for step in range(3):
        group.encode(tensors_of(rank, step))
        assert group.version == step + 1
        assert len(store.entries()) == 1, "older versions are forgotten"
    changed = {} if rank in (1, 3) else {"weight": tensors_of(rank, 7)["weight"]}
    wanted = tensors_of(rank, 2) | changed
    group.update(changed)
    assert group.version == 4 and group.verify()
    check(group.restore(), wanted)
    sent = group.report.sent
    group.update({} if rank != 0 else {"step": torch.tensor(99)})
    assert group.report.sent < sent / 4, "pieces that did not change are not sent"
    lost = (0, 2)
    again = ParityGroup(m=2, store=MemoryStore() if rank in lost else store, piece=256)
    assert again.rebuild() == list(lost)
    check(again.restore(), wanted if rank != 0 else wanted | {"step": torch.tensor(99)})
    again.encode(tensors_of(rank, 5))
    assert again.version == 6


def test_versions_and_updates():
    ranks.run(5, go_through_versions)


def fail_on_one_rank(rank):
    store = MemoryStore()
    group = ParityGroup(m=1, store=store)
    with pytest.raises(NotPrepared, match="encode makes one"):
        group.verify()
    group.encode(tensors_of(rank))
    with pytest.raises(NotPrepared, match="rank 2: TypeError"):
        group.encode(tensors_of(rank, 1) if rank != 2 else {"x": "no tensor"})
    with pytest.raises(NotPrepared, match="rank 1: ValueError"):
        group.update({} if rank != 1 else {"weight": torch.zeros(3)})
    if rank == 1:  # the store breaks when the version is whole on the others
        store.put = lambda entry: (_ for _ in ()).throw(OSError("no space"))
    with pytest.raises(NotPrepared, match="rank 1: OSError: no space"):
        group.encode(tensors_of(rank, 1))
    assert group.version == 1 and [e.manifest.version for e in store.entries()] == [1]
    check(group.restore(), tensors_of(rank))
    assert group.verify()


def test_a_rank_that_cannot_stops_all_and_the_version_stays():
    ranks.run(4, fail_on_one_rank)


# ---- damage ----------------------------------------------------------------------------------------


def flip_a_bit_on_every_rank(rank):
    store = MemoryStore()
    group = ParityGroup(m=2, store=store, piece=512)
    group.encode(tensors_of(rank + 4))  # no rank without tensors
    assert group.locate().positions == {}
    for damaged in range(dist.get_world_size()):
        entry = store.entries()[0]
        for part in (entry.snapshot, entry.parity.view(-1)):
            if rank == damaged:
                part[part.numel() // 3] ^= 4
            assert not group.verify()
            found = group.locate()
            assert list(found.positions) == [damaged] and found.unexplained == 0
            if rank == damaged:
                part[part.numel() // 3] ^= 4
        if rank == damaged:
            entry.snapshot[0] ^= 1
        held = store.bytes_held()
        assert group.rebuild(lost=[damaged]) == [damaged]
        assert group.report.most_held == (2 * held if rank == damaged else held), "the wrong copy and the new one"
        check(group.restore(), tensors_of(rank + 4))
        assert group.verify()


def test_a_flipped_bit_on_every_rank_is_found_named_and_rebuilt():
    ranks.run(5, flip_a_bit_on_every_rank)


# ---- other ranks, other groups ---------------------------------------------------------------------


def rebuild_elsewhere(rank):
    """Five ranks encode; the group of the first three takes over, and holds all five positions."""
    store = MemoryStore()
    group = ParityGroup(m=2, store=store, piece=256)
    group.encode(tensors_of(rank))
    three = dist.new_group([0, 1, 2])
    if rank > 2:
        return None
    small = ParityGroup(three, m=1, store=store, piece=256)
    with pytest.raises(ValueError, match="holders"):
        small.rebuild()
    assert small.rebuild(holders={3: 0, 4: 2}) == [3, 4]
    check(small.restore(), tensors_of(rank))
    if rank == 2:
        check(small.restore(4), tensors_of(4))
    else:
        with pytest.raises(KeyError):
            small.restore(4)
    assert small.verify()
    with pytest.raises(NotPrepared, match="encode comes first"):
        small.update({})
    if rank == 0:  # position 3 is on rank 0 now, and the group has ranks 0 to 2
        small.store.entries()[1].parity[1, 7] ^= 1
    assert small.locate().positions == {3: 1} and small.locate().unexplained == 0
    small.encode(tensors_of(rank, 3))  # now three positions
    assert small.verify()
    return small.version


def test_lost_positions_on_other_ranks():
    assert ranks.run(5, rebuild_elsewhere) == [2, 2, 2, None, None]


def rebuild_a_wrong_position_elsewhere(rank, folder, damaged, target):
    """The damaged copy is forgotten, so that nothing is decoded from it later."""
    store = FolderStore(f"{folder}/{rank}") if folder else MemoryStore()
    group = ParityGroup(m=2, store=store, piece=256)
    group.encode(tensors_of(rank + 4))
    if rank == damaged:  # as if it had been wrong when it was kept
        entry, = store.entries()
        entry.snapshot[5] ^= 64
        store.put(entry)
    assert not group.verify() and list(group.locate().positions) == [damaged]
    assert group.rebuild(lost=[damaged], holders={damaged: target}) == [damaged]
    assert group.verify()
    held = {e.position for e in store.entries()}
    assert held == ({rank} - {damaged}) | ({damaged} if rank == target else set())
    if rank in (4, target):
        store.drop(lambda *_: True)
    lost = sorted({4, target, damaged})
    if len(lost) == 3:
        with pytest.raises(gfk.TooManyErasures):
            group.rebuild()
    else:
        assert group.rebuild() == lost
        check(group.restore(), tensors_of(rank + 4))


@pytest.mark.parametrize("damaged, target", [(1, 3), (3, 1), (3, 4)])
@pytest.mark.parametrize("in_folders", [False, True])
def test_a_damaged_copy_is_forgotten(tmp_path, in_folders, damaged, target):
    ranks.run(5, rebuild_a_wrong_position_elsewhere, in_folders and tmp_path, damaged, target)


def change_what_restore_gave(rank):
    group = ParityGroup(m=2, piece=256)
    group.encode(tensors_of(rank + 4))
    session = group._manifest.session
    found = group.restore()
    for tensor in found.values():
        tensor.zero_()
    assert group.verify()
    check(group.restore(), tensors_of(rank + 4))
    group.update(found)
    check(group.restore(), found)
    assert group.verify() and group._manifest.session != session, "each version has a session of its own"


def test_what_restore_gives_may_be_changed():
    ranks.run(4, change_what_restore_gave)


def update_one_of_two(rank):
    """Tensors that share memory are protected one by one."""
    x = torch.arange(1000) + rank
    tensors = {"x": x, "tied": x, "view": x.view(10, 100)[2:4].t()}
    group = ParityGroup(m=1)
    group.encode(tensors)
    before = group.restore()
    x += 7
    group.update({"x": x})
    check(group.restore(), before | {"x": x})
    group.update(tensors)
    check(group.restore(), tensors)
    assert group.verify()


def test_update_of_tensors_that_share_memory():
    ranks.run(3, update_one_of_two)


# ---- folders ---------------------------------------------------------------------------------------


def start_again(rank, folder, phase):
    store = FolderStore(f"{folder}/{rank}")
    group = ParityGroup(m=2, store=store, piece=512)
    if phase == "encode":
        group.encode(tensors_of(rank, 1))
        group.encode(tensors_of(rank, 2))
        return None
    rebuilt = group.rebuild()
    refused = group.report.refused
    check(group.restore(), tensors_of(rank, 2))
    assert group.verify()
    return rebuilt, refused


def test_folders_are_found_by_new_processes(tmp_path):
    ranks.run(5, start_again, tmp_path, "encode")
    assert [r for r, _ in ranks.run(5, start_again, tmp_path, "find")] == [[]] * 5
    for path in (tmp_path / "1").iterdir():
        path.unlink()
    snapshot = next((tmp_path / "4").glob("*.snapshot"))
    contents = bytearray(snapshot.read_bytes())
    contents[100] ^= 1
    snapshot.write_bytes(contents)
    found = ranks.run(5, start_again, tmp_path, "find")
    assert [r for r, _ in found] == [[1, 4]] * 5
    assert "snapshot does not match" in str(found[4][1])
