# SPDX-License-Identifier: BSD-3-Clause
"""Parity across ranks on GPUs: over NCCL, and over gloo with what the ranks keep on the GPUs."""

import itertools
import pathlib
import sys

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "distributed"))

import ranks  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

from gfk.distributed import FolderStore, MemoryStore, NotPrepared, ParityGroup  # noqa: E402


def tensors_of(rank, step=0):
    generator = torch.Generator().manual_seed(100 * step + rank)
    made = {"weight": torch.randn(5000 + 333 * rank, 11, generator=generator), "step": torch.tensor(step),
            "half": torch.randn(77, generator=generator).to(torch.bfloat16)}
    return {name: tensor.to(torch.cuda.current_device()) for name, tensor in made.items()}


def check(found, wanted):
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[name], tensor) for name, tensor in wanted.items())


def go_through_losses(rank, m, gpus, piece):
    torch.cuda.set_device(rank % gpus)
    store = MemoryStore("cuda")
    assert store.device == torch.device("cuda", rank % gpus)
    group = ParityGroup(m=m, store=store, piece=piece)
    group.encode(tensors_of(rank))
    assert group.verify() and group.restore()["weight"].is_cuda
    for lost in itertools.combinations(range(dist.get_world_size()), m):
        store = MemoryStore("cuda") if rank in lost else store
        group = ParityGroup(m=m, store=store, piece=piece)
        assert group.rebuild() == list(lost)
        check(group.restore(), tensors_of(rank))
        assert group.verify()
    changed = {"weight": tensors_of(rank, 1)["weight"]} if rank == 1 else {}
    group.update(changed)
    check(group.restore(), tensors_of(rank) | changed)
    assert group.verify()
    entry = store.entries()[0]
    if rank == 1:
        entry.snapshot[1234] ^= 1
    assert not group.verify()
    if m >= 2:
        assert list(group.locate().positions) == [1]


@pytest.mark.gpu(2)
@pytest.mark.parametrize("piece", [256, 1 << 20])
def test_two_ranks_over_nccl(piece):
    """A mirror: one data region and one parity region."""
    ranks.run(2, go_through_losses, 1, 2, piece, backend="nccl")


@pytest.mark.gpu(2)
def test_six_ranks_on_two_gpus_over_gloo():
    ranks.run(6, go_through_losses, 2, 2, 1 << 16)


def test_four_ranks_on_one_gpu_over_gloo():
    ranks.run(4, go_through_losses, 1, 1, 1 << 16)


def keep_on_the_cpu(rank, pinned):
    torch.cuda.set_device(rank % torch.cuda.device_count())
    store = MemoryStore(pinned=pinned)  # tensors on the GPU, snapshots in the CPU's memory
    group = ParityGroup(m=1, store=store)
    group.encode(tensors_of(rank))
    assert group.verify()
    for step in (1, 2, 3):  # pinned memory of the version before the last is used again
        group.encode(tensors_of(rank, step))
        check({name: tensor.cuda() for name, tensor in group.restore().items()}, tensors_of(rank, step))
    assert group.verify() and store.entries()[0].snapshot.is_pinned() == pinned
    again = ParityGroup(m=1, store=MemoryStore(pinned=pinned) if rank == 0 else store)
    assert again.rebuild() == [0]
    check({name: tensor.cuda() for name, tensor in again.restore().items()}, tensors_of(rank, 3))


@pytest.mark.parametrize("backend", ["gloo", pytest.param("nccl", marks=pytest.mark.gpu(2))])
@pytest.mark.parametrize("pinned", [False, True])
def test_snapshots_in_the_memory_of_the_cpu(backend, pinned):
    ranks.run(2, keep_on_the_cpu, pinned, backend=backend)


def keep_in_folders(rank, folder):
    """A rank's disk is full for a while, and what rank 1 has is damaged later."""
    torch.cuda.set_device(rank % torch.cuda.device_count())
    store = FolderStore(f"{folder}/{rank}")
    group = ParityGroup(m=2, store=store)
    group.encode(tensors_of(rank))
    if rank == 2:
        store.put = lambda entry: (_ for _ in ()).throw(OSError("no space"))
    with pytest.raises(NotPrepared, match="^rank 2: OSError: no space"):
        group.encode(tensors_of(rank, 1))
    vars(store).pop("put", None)
    assert group.version == 1 and group.verify()
    if rank == 1:
        next(store.folder.glob("*.snapshot")).write_bytes(b"short")
    assert ParityGroup(m=2, store=store).rebuild() == [1]
    group = ParityGroup(m=2, store=FolderStore(f"{folder}/{rank}"))
    assert group.rebuild() == [] and group.verify()
    check({name: tensor.cuda() for name, tensor in group.restore().items()}, tensors_of(rank))


def test_folders_of_tensors_on_one_gpu(tmp_path):
    ranks.run(4, keep_in_folders, tmp_path)
