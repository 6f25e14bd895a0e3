#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Trains a small network on 5 processes, kills 2 of them in the middle of a step, and goes on: new processes
take their places, and the others rebuild what they held. The losses are those of a run without kills, bit for bit.

  examples/python/train_through_kills.py [--steps N] [--kill-at STEP]

Each rank has a fifth of the weights and of Adam's moments, which no other rank has: what is lost with a rank
can only come from parity. Ranks are processes of one machine with gloo between them.
"""

import argparse
import datetime
import multiprocessing
import multiprocessing.connection
import os
import random
import signal
import tempfile

import gfk
import torch
import torch.distributed as dist
from gfk.distributed import MemoryStore, NotPrepared, ParityGroup

RANKS, M, EVERY = 5, 2, 4  # a version of the parity every 4 steps
context = multiprocessing.get_context("forkserver")


# ---- training --------------------------------------------------------------------------------------
def new_state(rank):
    """A rank's part of the weights and of Adam's state."""
    weights = torch.randn(RANKS, 700, generator=torch.Generator().manual_seed(1))[rank] / 8
    return {"step": torch.tensor(0), "weights": weights, "mean": torch.zeros(700), "square": torch.zeros(700)}


def loss_of(weights, rank, step):
    """The loss of a network of two layers on a batch of this rank."""
    x = torch.randn(64, 30, generator=torch.Generator().manual_seed(1000 * step + rank))
    hidden = torch.tanh(x @ weights[:3000].view(30, 100) + weights[3000:3100])
    y = hidden @ weights[3100:3200]
    return ((y - torch.sin(x.sum(1))) ** 2).mean()


def end_here():
    """The kill: this process ends at once, as if the machine were gone."""
    os.kill(os.getpid(), signal.SIGKILL)


def train_step(state, rank, is_killed):
    """One step of Adam on all ranks; the loss."""
    gathered = torch.empty(RANKS * 700)
    dist.all_gather_into_tensor(gathered, state["weights"])
    weights = gathered.requires_grad_()
    loss = loss_of(weights, rank, int(state["step"]))
    loss.backward()
    if is_killed:  # the others wait for this rank's gradient
        end_here()
    parts = torch.empty_like(weights.grad)
    dist.all_to_all_single(parts, weights.grad)
    gradient = parts.view(RANKS, 700).sum(0) / RANKS
    losses = torch.empty(RANKS)
    dist.all_gather_into_tensor(losses, loss.detach().view(1))

    state["step"] += 1
    state["mean"].lerp_(gradient, 0.1)
    state["square"].lerp_(gradient ** 2, 0.01)
    n = int(state["step"])
    state["weights"] -= 0.01 * (state["mean"] / (1 - 0.9 ** n)) / ((state["square"] / (1 - 0.99 ** n)).sqrt() + 1e-8)
    return losses.mean().item()


# ---- a rank ----------------------------------------------------------------------------------------
def train(connection, rank, store, steps, kill_at):
    """Goes on from the newest version of the parity, or from the beginning. A rank with a kill_at ends in that step, or
    after the last one."""
    group = ParityGroup(m=M, store=store, piece=4096)
    try:
        rebuilt = group.rebuild()
        state = {name: tensor.clone() for name, tensor in group.restore().items()}
        if rank == 0:
            connection.send(("rebuilt", (rebuilt, int(state["step"]))))
    except NotPrepared:  # nobody has a version
        state = new_state(rank)
    while state["step"] < steps:
        if state["step"] % EVERY == 0:
            group.encode(state)
        step = int(state["step"])
        connection.send(("loss", (step, train_step(state, rank, step == kill_at))))
    if kill_at == steps:
        end_here()


def rank_process(connection, rank, steps, kill_at):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.set_num_threads(1)
    store = MemoryStore()
    meeting_point = connection.recv()
    while True:
        dist.init_process_group("gloo", init_method=f"file://{meeting_point}", rank=rank, world_size=RANKS,
                                timeout=datetime.timedelta(seconds=5))
        try:
            train(connection, rank, store, steps, kill_at)
            connection.send(("done", None))
        except (RuntimeError, gfk.Error):  # of a collective: a rank is lost
            connection.send(("lost", None))
        try:
            meeting_point = connection.recv()  # when all are done or lost, and one was lost
        except EOFError:
            return
        dist.destroy_process_group()


# ---- the job ---------------------------------------------------------------------------------------
def run(steps, kill_at=None, victims=()):
    """The losses of all steps. The victims end in the middle of step kill_at, or after the last step."""
    losses, connections, processes = {}, [None] * RANKS, [None] * RANKS

    def start(rank, kill_at=None):
        connections[rank], theirs = context.Pipe()
        processes[rank] = context.Process(target=rank_process, args=(theirs, rank, steps, kill_at), daemon=True)
        processes[rank].start()
        theirs.close()

    with tempfile.TemporaryDirectory() as folder:
        for rank in range(RANKS):
            start(rank, kill_at if rank in victims else None)
        meetings = 0
        while True:
            meetings += 1
            for connection in connections:
                connection.send(f"{folder}/meeting{meetings}")
            working, lost = set(range(RANKS)), set()
            while working:
                for connection in multiprocessing.connection.wait([connections[r] for r in working]):
                    rank = connections.index(connection)
                    try:
                        what, value = connection.recv()
                    except (EOFError, ConnectionResetError):
                        what, value = "killed", None
                        lost.add(rank)
                    if what == "loss":
                        step, loss = value
                        assert losses.setdefault(step, loss) == loss, f"the loss of step {step} has changed"
                    elif what == "rebuilt":
                        print(f"rebuilt ranks {value[0]}, and going on from step {value[1]}")
                    else:
                        working.discard(rank)
            if not lost:
                break
            print(f"ranks {sorted(lost)} were killed, with {len(losses)} steps done")
            for rank in lost:
                start(rank)
        for process in processes:
            process.kill()
    return [losses[step] for step in range(steps)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60, help="2 or more")
    parser.add_argument("--kill-at", type=int, help="1 to --steps less 1; default: a random one")
    arguments = parser.parse_args()
    if arguments.steps < 2:
        parser.error("--steps is 2 or more")
    kill_at = random.randrange(1, arguments.steps) if arguments.kill_at is None else arguments.kill_at
    if not 1 <= kill_at < arguments.steps:
        parser.error(f"--kill-at is 1 to {arguments.steps - 1}")
    context.set_forkserver_preload(["torch", "torch.distributed", "gfk.distributed"])
    undisturbed = run(arguments.steps)
    disturbed = run(arguments.steps, kill_at, sorted(random.sample(range(RANKS), M)))
    print(f"loss of the first step {undisturbed[0]:.4f}, of the last {undisturbed[-1]:.4f}")
    assert disturbed == undisturbed, "the losses differ"
    print(f"the {len(undisturbed)} losses are those of the undisturbed run, bit for bit")


if __name__ == "__main__":
    main()
