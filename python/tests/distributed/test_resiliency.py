# SPDX-License-Identifier: BSD-3-Clause
"""Parity checkpoints in the real nvidia-resiliency-ext."""

import shutil

import pytest

pytest.importorskip("torch")
pytest.importorskip("nvidia_resiliency_ext")

import ranks  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from nvidia_resiliency_ext.checkpointing.async_ckpt.core import AsyncCallsQueue  # noqa: E402
from nvidia_resiliency_ext.checkpointing.local import basic_state_dict  # noqa: E402
from nvidia_resiliency_ext.checkpointing.local.ckpt_managers.local_manager import (  # noqa: E402
    LocalCheckpointManager)

import gfk  # noqa: E402
from gfk.distributed import NotPrepared  # noqa: E402
from gfk.distributed.resiliency import ParityStrategy  # noqa: E402

SIZE = 5


class StateDict(basic_state_dict.BasicTensorAwareStateDict):
    """That of the package, for tensors in the CPU's memory."""

    def __init__(self, state_dict):
        self.state_dict, self._is_hollow = state_dict, False

    def restore_tensor_device(self, non_blocking=True):
        pass


def state_of(rank, iteration):
    generator = torch.Generator().manual_seed(10 * iteration + rank)
    return {"weights": [torch.randn(300 + 50 * rank, 9, generator=generator), torch.arange(rank)],
            "optimizer": {"step": torch.tensor(iteration), "name": f"adam of rank {rank}"},
            "half": torch.randn(11, generator=generator).half(), "iteration": iteration}


def manager_of(folder, m, **options):
    return LocalCheckpointManager(folder, repl_strategy=ParityStrategy(m=m, **options))


def is_same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(is_same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(is_same, a, b))
    return torch.equal(a, b) and a.dtype == b.dtype if isinstance(a, torch.Tensor) else a == b


def save(rank, folder, m):
    manager = manager_of(folder, m)
    for iteration in (1, 2):
        manager.save(StateDict(state_of(rank, iteration)), iteration)
    files = sorted(path.name for path in manager.local_ckpt_dir.iterdir())
    assert files == sorted(f"iter_0000002_{(rank + i) % SIZE}_local.pt" for i in range(m + 1))
    return manager.repl_strategy.report.sent / (4 * 9 * 500)


def load(rank, folder, m):
    manager = manager_of(folder, m)
    iteration = manager.find_latest()
    if iteration < 0:
        return iteration, None
    try:
        state, id_ = manager.load()
    except (gfk.TooManyErasures, NotPrepared) as error:
        return iteration, str(error)
    assert id_ == (2, rank, "") and is_same(state.state_dict, state_of(rank, 2))
    weights = state.state_dict["weights"][0]
    assert weights.untyped_storage().nbytes() == weights.nbytes, "a view would save its whole storage"
    return iteration, manager.repl_strategy.refused


def lose(folder, lost):
    for rank in lost:
        shutil.rmtree(folder / str(rank))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The folders of ranks that saved with m = 2."""
    folder = tmp_path_factory.mktemp("saved")
    assert max(ranks.run(SIZE, save, folder, 2)) < 1.2 * (SIZE - 1) / (SIZE - 2)
    assert ranks.run(SIZE, load, folder, 2) == [(2, None)] * SIZE
    return folder


@pytest.fixture
def folders(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "copy")


@pytest.mark.parametrize("lost", [[4], [0, 1], [1, 3]])
def test_lost_folders_are_rebuilt(folders, lost):
    lose(folders, lost)
    assert ranks.run(SIZE, load, folders, 2) == [(2, None)] * SIZE


def test_one_parity(tmp_path):
    ranks.run(SIZE, save, tmp_path, 1)
    lose(tmp_path, [3])
    assert ranks.run(SIZE, load, tmp_path, 1) == [(2, None)] * SIZE


def test_one_loss_too_many_is_refused_on_every_rank(folders):
    lose(folders, [0, 2, 3])
    for iteration, error in ranks.run(SIZE, load, folders, 2):
        assert iteration == 2 and "[0, 2, 3] have lost their files, and 2 parities" in error
    lose(folders, [1, 4])
    assert ranks.run(SIZE, load, folders, 2) == [(-1, None)] * SIZE


def save_asynchronously(rank, folder):
    """save() makes the parity and returns; another process writes the files, while the tensors change."""
    if not torch.cuda.is_available():  # the package takes a GPU for granted
        torch.cuda.synchronize, torch.cuda.current_device = (lambda: None), (lambda: "cpu")
    manager, queue = manager_of(folder, 2), AsyncCallsQueue(persistent=False)
    for iteration in (1, 2):
        state = StateDict(state_of(rank, iteration))
        queue.schedule_async_request(manager.save(state, iteration, is_async=True))
        next(iter(state.tensors)).zero_()
        queue.maybe_finalize_async_calls(blocking=True)


def test_asynchronous_saves(tmp_path):
    ranks.run(SIZE, save_asynchronously, tmp_path)
    assert ranks.run(SIZE, load, tmp_path, 2) == [(2, None)] * SIZE
    lose(tmp_path, [0, 3])
    assert ranks.run(SIZE, load, tmp_path, 2) == [(2, None)] * SIZE


def save_and_load_on_gpus(rank, folder, is_async):
    """The package's own state dict, whose tensors are on a GPU."""
    torch.cuda.set_device(rank % torch.cuda.device_count())

    def state(iteration):
        return basic_state_dict.dict_list_map_inplace(
            lambda x: x.cuda() if isinstance(x, torch.Tensor) else x, state_of(rank, iteration))

    manager, queue = manager_of(folder, 2, device="cuda"), AsyncCallsQueue(persistent=False)
    saved = basic_state_dict.BasicTensorAwareStateDict(state(2))
    request = manager.save(saved, 2, is_async=is_async)
    if is_async:
        queue.schedule_async_request(request)
        queue.maybe_finalize_async_calls(blocking=True)
    dist.barrier()
    if rank in (0, 3):
        lose(folder, [rank])
    dist.barrier()
    manager = manager_of(folder, 2, device="cuda")
    assert manager.find_latest() == 2
    loaded, _ = manager.load()
    loaded.restore_tensor_device(non_blocking=False)
    assert all(tensor.is_cuda for tensor in loaded.tensors)
    assert is_same(loaded.state_dict, state(2)) and manager.repl_strategy.refused is None


@pytest.mark.gpu
@pytest.mark.parametrize("is_async", [False, True])
def test_tensors_on_gpus(tmp_path, is_async):
    ranks.run(SIZE, save_and_load_on_gpus, tmp_path, is_async)


def damage(path):
    state = torch.load(path, weights_only=False)
    next(iter(state.tensors)).view(-1).view(torch.uint8)[5] ^= 8
    torch.save(state, path)


def test_damaged_files_count_as_lost(folders):
    damage(folders / "1" / "iter_0000002_1_local.pt")  # its own
    damage(folders / "4" / "iter_0000002_0_local.pt")  # a parity chunk
    found = ranks.run(SIZE, load, folders, 2)
    assert [refused for _, refused in found] == [
        None, "the checkpoint does not match its checksum", None, None,
        "the parity chunk does not match its checksum, or is another rank's"]
    lose(folders, [2])
    assert all("3 ranks are lost" in error for _, error in ranks.run(SIZE, load, folders, 2))


def damage_the_rest(path):
    state = torch.load(path, weights_only=False)
    state.state_dict["iteration"] += 1
    torch.save(state, path)


def test_damage_to_what_is_no_tensor_is_not_loaded(folders):
    """Numbers and texts beside the tensors come from where they have a checksum."""
    damage_the_rest(folders / "1" / "iter_0000002_1_local.pt")
    assert ranks.run(SIZE, load, folders, 2) == [(2, None)] * SIZE


def test_a_file_whose_object_raises_counts_as_lost(folders):
    path = folders / "1" / "iter_0000002_1_local.pt"
    state = torch.load(path, weights_only=False)
    del state.state_dict
    torch.save(state, path)
    found = ranks.run(SIZE, load, folders, 2)
    assert [bool(refused) for _, refused in found] == [False, True, False, False, False]


def save_in_groups(rank, folder):
    strategy = ParityStrategy.of_groups(3, jump=2, m=1)
    assert strategy.ranks == [rank % 2, rank % 2 + 2, rank % 2 + 4]
    manager = LocalCheckpointManager(folder, repl_strategy=strategy)
    manager.save(StateDict(state_of(rank, 2)), 2)
    dist.barrier()
    if rank in (2, 3):
        lose(folder, [rank])
    dist.barrier()
    manager = LocalCheckpointManager(folder, repl_strategy=strategy)
    assert manager.find_latest() == 2
    assert is_same(manager.load()[0].state_dict, state_of(rank, 2))


def test_groups_across_nodes(tmp_path):
    """Six ranks on three nodes of two: a node is lost, and each group has lost one rank."""
    ranks.run(6, save_in_groups, tmp_path)
