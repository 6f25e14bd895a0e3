#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of a model and its optimizer in one folder for each rank, with parity: some ranks lose their
folders, and load what the others rebuild. No package but torch and gfk is needed.

  torchrun --nproc-per-node 5 examples/python/parity_checkpoint.py FOLDER [-m PARITIES]
"""

import argparse
import pathlib
import shutil

import torch
import torch.distributed as dist
from gfk.distributed import FolderStore, ParityGroup


# ---- what a program takes over ---------------------------------------------------------------------
def tensors_of(model, optimizer):
    """All tensors of a rank by name. What is no tensor (learning rates, counters) belongs to the program's settings,
    or is made a tensor."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    for i, state in optimizer.state_dict()["state"].items():
        tensors.update({f"optimizer.{i}.{name}": tensor for name, tensor in state.items()})
    return tensors


def load(model, optimizer, tensors):
    """The other way round; load_state_dict copies."""
    model.load_state_dict({name.removeprefix("model."): t for name, t in tensors.items() if name.startswith("model.")})
    states = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, i, key = name.split(".")
            states.setdefault(int(i), {})[key] = tensor.clone()
    optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})


# ---- the demonstration -----------------------------------------------------------------------------
def new_model(rank, seed):
    """The part of a model that is this rank's; parts may differ in size."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(64, 100 + 10 * rank), torch.nn.ReLU(),
                                torch.nn.Linear(100 + 10 * rank, 8))
    return model, torch.optim.AdamW(model.parameters())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-m", type=int, default=2, help="ranks that may be lost")
    arguments = parser.parse_args()
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    folder = arguments.folder / str(rank)  # on a disk of this rank's node

    model, optimizer = new_model(rank, 1)
    model(torch.randn(16, 64)).square().mean().backward()
    optimizer.step()
    group = ParityGroup(m=arguments.m, store=FolderStore(folder))
    group.encode(tensors_of(model, optimizer))
    saved = {name: tensor.clone() for name, tensor in tensors_of(model, optimizer).items()}
    if rank == 0:
        print(f"version {group.version}: sent {group.report.sent:,} bytes, holds {group.report.held:,}")

    if rank in range(size - arguments.m, size):  # these nodes are replaced
        shutil.rmtree(folder)
    model, optimizer = new_model(rank, 2)
    group = ParityGroup(m=arguments.m, store=FolderStore(folder))
    rebuilt = group.rebuild()
    load(model, optimizer, group.restore())
    found = tensors_of(model, optimizer)
    assert found.keys() == saved.keys() and all(torch.equal(found[name], saved[name]) for name in saved)
    assert group.verify()
    if rank == 0:
        print(f"rebuilt ranks {rebuilt}, and all ranks have loaded what they had saved")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
