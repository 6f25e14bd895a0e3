# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are slow, that fail in the middle of a call, that disagree, or that send what they should not."""

import dataclasses
import gc
import json
import pathlib
import resource
import time

import pytest

pytest.importorskip("torch")

import ranks  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

import gfk  # noqa: E402
from gfk.distributed import Damaged, FolderStore, MemoryStore, NotPrepared, ParityGroup, RankLost  # noqa: E402
from gfk.distributed._exchange import Exchange  # noqa: E402


def tensors_of(rank, step=0):
    return {"x": torch.full((3000 + 100 * rank,), 10 * step + rank, dtype=torch.uint8)}


def holds(group, step):
    return torch.equal(group.restore()["x"], tensors_of(group.rank, step)["x"])


def in_folder(folder, **options):
    """A FolderStore of this rank, and a group that has encoded the rank's tensors there."""
    rank = dist.get_rank()
    store = FolderStore(f"{folder}/{rank}")
    group = ParityGroup(store=store, **options)
    group.encode(tensors_of(rank))
    return store, group


# ---- stragglers ------------------------------------------------------------------------------------


def wait_for_a_straggler(rank):
    store = MemoryStore()
    group = ParityGroup(m=1, store=store, piece=256, timeout=1.5)
    group.encode(tensors_of(rank))
    dist.barrier()
    if rank == 2:
        time.sleep(2.5)
    start = time.monotonic()
    with pytest.raises(RankLost, match="did not answer"):
        group.encode(tensors_of(rank, 1))
    took = time.monotonic() - start
    with pytest.raises(RankLost, match="a new process group is needed"):
        group.verify()
    assert group.version == 1 and holds(group, 0), "the version stays"
    return took


def test_a_straggler_costs_the_time_limit_and_the_version_stays():
    took = ranks.run(3, wait_for_a_straggler)
    assert all(1 < t < 4 for t in took[:2]), took


def free_a_group_that_lost_a_rank(rank):
    if rank == 1:
        return time.sleep(12)  # hangs, and keeps its connections
    group = ParityGroup(m=1, timeout=1)
    with pytest.raises(RankLost):
        group.encode(tensors_of(rank))
    start = time.monotonic()
    dist.destroy_process_group()
    del group
    gc.collect()
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    return time.monotonic() - start


def test_a_group_that_lost_a_rank_is_freed_at_once():
    """And not after its own time limit of 30 s."""
    took, _ = ranks.run(2, free_a_group_that_lost_a_rank)
    assert took < 5, took


# ---- a rank that fails in the middle ---------------------------------------------------------------


def fail_in_the_middle(rank, folder):
    store, group = in_folder(folder, m=2, piece=256)
    whole = Exchange.run

    def fails(function, start):  # rank 1 fails in the third piece
        def run(*arguments):
            if rank == 1 and arguments[start] >= 512:
                raise MemoryError("of the test")
            return function(*arguments)
        return run

    for fail_read in (True, False):
        Exchange.run = lambda self, read, compute, *rest: whole(
            self, fails(read, 2) if fail_read else read, compute if fail_read else fails(compute, 1), *rest)
        for call in (lambda: group.encode(tensors_of(rank, 1)), lambda: group.update(tensors_of(rank, 1)),
                     group.verify, group.locate):
            with pytest.raises(NotPrepared, match="^rank 1: MemoryError: of the test$"):
                call()
        Exchange.run = whole
        assert group.version == 1 and holds(group, 0) and group.verify()


def test_an_error_in_the_middle_stops_all_ranks_and_the_version_stays(tmp_path):
    ranks.run(4, fail_in_the_middle, tmp_path)


def fail_to_keep_what_is_rebuilt(rank, folder):
    ParityGroup(m=2, store=FolderStore(f"{folder}/{rank}")).encode(tensors_of(rank))
    store = FolderStore(f"{folder}/{rank}")
    if rank == 0:
        store.drop(lambda *_: True)
        store.put = lambda entry: (_ for _ in ()).throw(OSError("no space"))
    with pytest.raises(NotPrepared, match="rank 0: OSError: no space"):
        ParityGroup(m=2, store=store).rebuild()
    store = FolderStore(f"{folder}/{rank}")
    group = ParityGroup(m=2, store=store)
    assert group.rebuild() == [0], "the other ranks still have the version"
    assert holds(group, 0) and group.verify()


def test_a_failed_rebuild_leaves_the_version_on_the_others(tmp_path):
    ranks.run(4, fail_to_keep_what_is_rebuilt, tmp_path)


def leave_files_of_a_killed_put(rank, folder):
    store, group = in_folder(folder, m=1)
    session = store.entries()[0].manifest.session
    for name in (f"{session}-2-{rank}.snapshot", f".{session}-2-{rank}.parity.4711", "notes.json", "a-1-2.parity"):
        (store.folder / name).write_bytes(b"x")
    group.encode(tensors_of(rank))
    assert group.version == 3 and holds(group, 0), "newer than what a killed put left"
    session = store.entries()[0].manifest.session
    assert sorted(path.name for path in store.folder.iterdir()) == sorted(
        [f"{session}-3-{rank}.{part}" for part in ("json", "parity", "snapshot")] + ["a-1-2.parity", "notes.json"])


def test_files_of_a_killed_put_are_removed(tmp_path):
    ranks.run(3, leave_files_of_a_killed_put, tmp_path)


# ---- errors of files -------------------------------------------------------------------------------


def broken(*arguments):
    raise OSError("of the test")


def fail_with_files(rank, folder):
    store, group = in_folder(folder, m=2, piece=256, timeout=20)
    calls = {"encode": lambda: group.encode(tensors_of(rank, 1)), "update": lambda: group.update(tensors_of(rank, 1)),
             "verify": group.verify, "locate": group.locate, "rebuild": lambda: group.rebuild(lost=[1])}
    used = {"entries": ("update", "verify", "locate", "rebuild"), "newest": ("encode", "update"),
            "new": ("encode", "update", "rebuild"), "bytes_held": ("encode", "update", "rebuild"),
            "put": ("encode", "update", "rebuild")}
    for method, names in used.items():
        for name in names:
            if rank == 1:
                setattr(store, method, broken)
            with pytest.raises(NotPrepared, match="^rank 1: OSError: of the test$"):
                calls[name]()
            vars(store).pop(method, None)
            assert group.version == 1 and holds(group, 0) and group.verify(), (method, name)
            assert len(list(store.folder.iterdir())) == 3
    folder_of_rank = store.folder
    if rank == 1:  # as if another disk were there
        store.folder = store.folder / "no folder"
        store.folder.touch()
    for name in ("encode", "rebuild"):
        with pytest.raises(NotPrepared, match="^rank 1: NotADirectoryError"):
            calls[name]()
    store.folder = folder_of_rank
    assert group.verify()


def test_errors_of_files_on_one_rank_stop_all_and_the_version_stays(tmp_path):
    ranks.run(4, fail_with_files, tmp_path)


def lose_files_between_calls(rank, folder):
    store, group = in_folder(folder, m=1)
    if rank == 1:
        next(store.folder.glob("*.parity")).write_bytes(b"short")
    with pytest.raises(NotPrepared, match="^rank 1: .*rebuild comes first.*parity has another length"):
        group.update({})
    with pytest.raises(NotPrepared, match=r"nobody holds positions \[1\]: rebuild comes first"):
        group.verify()
    assert group.rebuild() == [1] and bool(group.report.refused) == (rank == 1)
    assert holds(group, 0) and group.verify()
    group.update(tensors_of(rank, 1))
    assert holds(group, 1)


def test_files_that_are_lost_between_calls(tmp_path):
    ranks.run(3, lose_files_between_calls, tmp_path)


def fill_the_disk(rank, folder):
    """Files of rank 1 have a limit: what is written before it stays on the disk for a while."""
    store, group = in_folder(folder, m=1)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if rank == 1:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
    for call in (lambda: group.encode(tensors_of(rank, 1)), lambda: group.rebuild(lost=[1])):
        with pytest.raises(NotPrepared, match="^rank 1: OSError.*File too large"):
            call()
        assert len(list(store.folder.iterdir())) == 3
        assert group.version == 1 and holds(group, 0) and group.verify()
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    group.encode(tensors_of(rank, 1))
    assert group.version == 2 and holds(group, 1) and group.verify()


def test_a_disk_that_is_full_leaves_the_version_and_no_files(tmp_path):
    ranks.run(3, fill_the_disk, tmp_path)


def keep_the_old_version(rank, folder):
    """Rank 1 cannot remove the old version when the new one is whole."""
    store, group = in_folder(folder, m=1)
    unlink = pathlib.Path.unlink
    if rank == 1:
        pathlib.Path.unlink = lambda path, **options: broken() if "-1-" in path.name else unlink(path, **options)
    group.encode(tensors_of(rank, 1))
    assert group.version == 2 and holds(group, 1) and group.verify()
    pathlib.Path.unlink = unlink
    assert len(store.entries()) == (2 if rank == 1 else 1)
    group.encode(tensors_of(rank, 2))
    assert len(store.entries()) == 1 and group.report.trouble == ""
    store.bytes_held = broken
    assert group.verify() and group.report.trouble == "of the test"


def test_an_old_version_that_cannot_be_removed_is_no_error(tmp_path):
    ranks.run(3, keep_the_old_version, tmp_path)


# ---- copies that are left over ---------------------------------------------------------------------


def leave_a_wrong_copy(rank, folder, fault):
    """Position 1 is rebuilt on rank 3, and rank 1 ends before its wrong copy is gone."""
    store, group = in_folder(folder, m=2, piece=256)
    if rank == 1:
        entry, = store.entries()
        entry.snapshot[5] ^= 64
        store.put(entry)
        store.drop = broken
    if fault == "before the end":
        with pytest.raises(NotPrepared, match="rank 1"):
            group.rebuild(lost=[1], holders={1: 3})
    else:  # as if rank 1 had been told that all is well
        put = store.put
        store.drop = lambda is_old: None
        group.rebuild(lost=[1], holders={1: 3})
        assert store.put == put
    store = FolderStore(f"{folder}/{rank}")
    assert [e.position for e in store.entries()] == {1: [1], 3: [1, 3]}.get(rank, [rank])
    group = ParityGroup(m=2, store=store, piece=256)
    assert group.rebuild() == []
    assert group.verify(), "of two copies the one that was rebuilt last counts"
    assert [e.position for e in store.entries()] == {1: [], 3: [1, 3]}.get(rank, [rank])
    if rank == 3:
        assert torch.equal(group.restore(1)["x"], tensors_of(1)["x"])


@pytest.mark.parametrize("fault", ["before the end", "behind the end"])
def test_a_wrong_copy_that_is_left_over_is_dropped_at_the_next_start(tmp_path, fault):
    ranks.run(4, leave_a_wrong_copy, tmp_path, fault)


def use_a_number_again(rank):
    """Rank 3 has version 2, which no other rank has; without it the others make another version 2."""
    store = MemoryStore()
    ParityGroup(m=1, store=store).encode(tensors_of(rank))
    old = store.entries()
    group = ParityGroup(m=1, store=store)
    group.rebuild()
    group.encode(tensors_of(rank, 1))
    if rank == 3:
        with_2 = store
    else:  # the others ended before they had kept it
        store = MemoryStore()
        for entry in old:
            store.put(entry)
    group = ParityGroup(m=1, store=MemoryStore() if rank == 3 else store)
    assert group.rebuild() == [3] and group.version == 1
    group.encode(tensors_of(rank, 2))
    assert group.version == 2
    group = ParityGroup(m=1, store=with_2 if rank == 3 else store)  # rank 3 comes back as it was
    assert group.rebuild() == [3] and group.version == 2
    assert holds(group, 2) and group.verify() and len(group.store.entries()) == 1


def test_a_version_number_that_is_used_again():
    ranks.run(4, use_a_number_again)


# ---- ranks that disagree ---------------------------------------------------------------------------


def disagree(rank):
    store = MemoryStore()
    group = ParityGroup(m=1, store=store, piece=512)
    group.encode(tensors_of(rank))
    with pytest.raises(NotPrepared, match="ranks differ in their call.*update.*encode"):
        group.encode(tensors_of(rank, 1)) if rank == 1 else group.update(tensors_of(rank, 1))
    other = ParityGroup(m=1, piece=256 if rank == 1 else 512)
    with pytest.raises(NotPrepared, match="ranks differ"):
        other.rebuild()
    with pytest.raises(NotPrepared, match="ranks differ"):
        group.rebuild(lost=[rank])
    fresh = group if rank != 2 else ParityGroup(m=1, piece=512)  # rank 2 was replaced, and nobody has called rebuild
    with pytest.raises(NotPrepared, match="ranks differ"):
        fresh.encode(tensors_of(rank, 1))
    again = ParityGroup(m=1, store=store, piece=512)
    again.encode(tensors_of(rank, 1))  # without rebuild on all: newer than what the stores have all the same
    assert again.version == 2 and holds(again, 1) and again.verify()
    with pytest.raises(NotPrepared, match="rank 0: TypeError.*cannot be protected"):
        again.encode({} if rank else {"x": torch.zeros(3).to_sparse()})


def test_ranks_that_disagree_get_an_error_and_the_version_stays():
    ranks.run(3, disagree)


def rebuild_with_other_options(rank):
    """The version says which code it has."""
    store = MemoryStore()
    group = ParityGroup(m=2, store=store, matrix="vandermonde", w=16)
    group.encode(tensors_of(rank))
    again = ParityGroup(m=1, store=MemoryStore() if rank in (0, 3) else store)
    assert again.rebuild() == [0, 3]
    assert holds(again, 0) and again.verify()


def test_rebuild_needs_no_options_of_the_version():
    ranks.run(5, rebuild_with_other_options)


def give_wrong_arguments(rank):
    for arguments, error in [
            ({"m": 0}, "m is 1 to 3"), ({"m": 4}, "m is 1 to 3"), ({"m": -1}, "m is 1 to 3"), ({"m": 1.0}, "float"),
            ({"w": 9}, "8, 16 or 32"), ({"w": "8"}, "str"), ({"matrix": "other"}, "no matrix"), ({"matrix": 3}, "name"),
            ({"piece": 100}, "multiple of 256"), ({"piece": 0}, "multiple of 256"), ({"piece": 512.0}, "float"),
            ({"timeout": 0}, "timeout"), ({"timeout": -1}, "timeout"), ({"timeout": float("nan")}, "timeout"),
            ({"timeout": float("inf")}, "timeout"), ({"timeout": 1e-9}, "timeout"), ({"timeout": 1e30}, "timeout")]:
        with pytest.raises((TypeError, ValueError, gfk.Error), match=error):
            ParityGroup(**arguments)
    group = ParityGroup(m=2)
    group.encode(tensors_of(rank))
    for lost, holders, error in [
            ([4], None, "position 4 does not exist: there are 4"), ([-1], None, "position -1"), ([1.5], None, "float"),
            ("12", None, "TypeError"), (3, None, "TypeError"), ([1 << 70], None, "position"),
            ([1], {1: 4}, "rank 4 does not exist"), ([1], {1: -1}, "rank -1"), ([1], {7: 1}, "position 7"),
            ([1], {1: 1 << 70}, "rank"), ([1], [2], "TypeError")]:
        with pytest.raises((ValueError, NotPrepared), match=error):
            group.rebuild(lost, holders=holders)
    with pytest.raises(NotPrepared, match="^rank 2: ValueError"):
        group.rebuild([-1] if rank == 2 else [1])
    assert group.version == 1 and holds(group, 0) and group.verify()


def test_wrong_arguments_are_refused_on_all_ranks():
    ranks.run(4, give_wrong_arguments)


def share_a_store(rank):
    store = MemoryStore()
    old = ParityGroup(m=1, store=store)
    old.encode(tensors_of(rank))
    new = ParityGroup(m=1, store=store) if rank == 1 else old
    for call in (lambda: old.encode(tensors_of(rank, 1)), old.verify, old.rebuild):
        with pytest.raises(NotPrepared, match="^rank 1: NotPrepared: another ParityGroup"):
            call()
    if rank == 1:
        with pytest.raises(NotPrepared, match="^another ParityGroup"):
            old.restore()
    assert new.rebuild() == [] and holds(new, 0)


def test_the_newest_of_two_groups_has_the_store():
    ranks.run(3, share_a_store)


def come_to_the_last_version(rank):
    store = MemoryStore()
    ParityGroup(m=1, store=store).encode(tensors_of(rank))
    entry, = store.entries()
    store.drop(lambda *_: True)
    store.put(dataclasses.replace(entry, manifest=dataclasses.replace(entry.manifest, version=1 << 60)))
    group = ParityGroup(m=1, store=store)
    assert group.rebuild() == [] and group.version == 1 << 60
    for call in (group.encode, group.update):
        with pytest.raises(NotPrepared, match="no higher number"):
            call(tensors_of(rank, 1))
    store.drop(lambda *_: True)
    store.put(dataclasses.replace(entry, manifest=dataclasses.replace(entry.manifest, version=1 + (1 << 60))))
    with pytest.raises(gfk.TooManyErasures, match="a number is not from 1 to"):
        group.rebuild()


def test_version_numbers_have_an_end():
    ranks.run(3, come_to_the_last_version)


# ---- messages of a rank that lies ------------------------------------------------------------------

FORGED = {
    "no JSON": b"{", "nothing": b"", "deep": b"[" * 100000, "another kind": b"7", "a list of lists": b"[[[]]]",
    "other lengths": b'["", [], null, null]', "no text": b"[1, [], null]", "a float": b"[[1.5, 2, 3, 4]]",
    "a huge number": b"[[%d, 1, 2, 3]]" % (1 << 70), "bad text": b"\xff\xfe", "text": b'[["a", 1, 2, 3]]',
}


def forge(rank):
    """Rank 0's n-th message is replaced by a forged one, for each n of each call."""
    store = MemoryStore()
    group = ParityGroup(m=2, store=store, piece=4096)
    group.encode(tensors_of(rank))
    wire_gather, seen = group._wire.gather, [0]
    refused = 0
    for text in FORGED.values():
        for call in ("encode", "update", "rebuild", "locate"):
            for number in range(3):
                seen[0] = 0

                def gather(mine):
                    seen[0] += 1
                    return wire_gather(text if rank == 0 and seen[0] == number + 1 else mine)

                group._wire.gather = gather
                try:
                    getattr(group, call)(*[tensors_of(rank, 1)] if call in ("encode", "update") else [])
                except gfk.Error:
                    refused += 1
                group._wire.gather = wire_gather
                assert group._wire.lost is None
        group.rebuild()
        assert group.verify(), "the ranks go on in step, with a version that is whole"
    return refused


def test_forged_messages_are_refused_on_all_ranks():
    counts = ranks.run(3, forge)
    assert min(counts) == max(counts) > 60, counts


LIES = {
    "another manifest": lambda text: json.dumps(json.loads(text) | {"version": 9}).encode(),
    "cut": lambda text: text[:-5],
    "no dtype": lambda text: text.replace(b"uint8", b"objec"),
    "another length": lambda text: text.replace(b"3000", b"2999"),
    "empty": lambda text: b"",
}


def lie_about_the_manifest(rank):
    store = MemoryStore()
    ParityGroup(m=1, store=store).encode(tensors_of(rank))
    for lie in LIES.values():
        group = ParityGroup(m=1, store=store)
        share = group._wire.share
        group._wire.share = lambda text, source: share(lie(text) if rank == source and text else text, source)
        with pytest.raises(gfk.TooManyErasures, match="version 1: rank 0"):
            group.rebuild()
    entries = store.entries
    if rank == 1:  # a position that does not exist is no help
        store.entries = lambda: [type(e)(e.manifest, 77, e.snapshot, e.parity) for e in entries()]
    with pytest.raises(gfk.TooManyErasures, match="2 ranks are lost"):
        ParityGroup(m=1, store=MemoryStore() if rank == 2 else store).rebuild()


def test_lies_about_a_manifest_are_refused_on_all_ranks():
    ranks.run(3, lie_about_the_manifest)


def announce_an_impossible_length(rank):
    group = ParityGroup(m=1)
    if rank == 0:
        class Long(bytes):
            def __len__(self):
                return 1 << 40
        with pytest.raises(Damaged, match="impossible length"):
            group._wire.gather(Long(b"x"))
    else:
        with pytest.raises(Damaged, match="impossible length"):
            group._wire.gather(b"x")


def test_messages_of_an_impossible_length_are_refused():
    ranks.run(2, announce_an_impossible_length)
