#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures parity across ranks, and its exchange beside torch's all_to_all_single alone with messages of the same size.

  torchrun --nproc-per-node 5 bench/ranks.py [-m 2] [--megabytes 64] [--piece 8388608] [--backend gloo] [--store cpu]

A rate is what one rank sends to others in a second; 1 GB is 1e9 bytes. The last line is JSON. With NCCL, each rank
takes the GPU of its number; --store cuda:0 keeps snapshots and parity on a GPU with any backend.
"""

import argparse
import json
import os
import time

import torch
import torch.distributed as dist
from gfk.distributed import MemoryStore, ParityGroup
from gfk.distributed._exchange import Exchange, Wire
from gfk.distributed._layout import Layout, encode_plan


def best(work, rounds):
    """The shortest time of a call, of the slowest rank."""
    times = []
    for _ in range(rounds + 1):  # the first one is warm-up
        dist.barrier()
        start = time.perf_counter()
        work()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        took = [None] * dist.get_world_size()
        dist.all_gather_object(took, time.perf_counter() - start)
        times.append(max(took))
    return min(times[1:])


def nothing(*arguments):
    pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-m", type=int, default=2)
    parser.add_argument("--megabytes", type=float, default=64, help="of each rank")
    parser.add_argument("--piece", type=int, default=8 << 20)
    parser.add_argument("--backend", default="gloo")
    parser.add_argument("--store", default="cpu", help="cpu, cuda, or cuda:N")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if options.backend == "nccl":
        torch.cuda.set_device(rank)
    dist.init_process_group(options.backend)
    bytes_ = int(options.megabytes * 1e6)
    store = MemoryStore(options.store)
    layout = Layout(size, options.m)
    chunk = layout.chunk_bytes(bytes_)
    piece = min(options.piece, chunk)
    generator = torch.Generator().manual_seed(rank)
    tensors = {"x": torch.randint(0, 256, (bytes_,), dtype=torch.uint8, generator=generator).to(store.device)}
    group = ParityGroup(m=options.m, store=store, piece=options.piece)
    wire = Wire(dist.group.WORLD, group._wire.device, None)

    times = {"encode": best(lambda: group.encode(tensors), options.rounds)}
    report = group.report
    exchange = Exchange(encode_plan(layout), wire, piece)
    times["exchange alone"] = best(lambda: exchange.run(chunk, nothing, nothing, nothing), options.rounds)
    buffers = [torch.empty(size * piece, dtype=torch.uint8, device=wire.device) for _ in range(2)]
    calls = -(-chunk // piece)
    times["all_to_all_single"] = best(
        lambda: [dist.all_to_all_single(*buffers) for _ in range(calls)], options.rounds)
    times["verify"] = best(group.verify, options.rounds)
    times["update of nothing"] = best(lambda: group.update({}), options.rounds)
    times["rebuild of m"] = best(lambda: group.rebuild(lost=range(options.m)), options.rounds)

    sent = {"encode": report.sent, "exchange alone": report.sent, "all_to_all_single": calls * piece * (size - 1)}
    if rank == 0:
        print(f"{size} ranks, m = {options.m}, {bytes_ / 1e6:.0f} MB each, pieces of {piece} bytes, {options.backend}, "
              f"store on {store.device}")
        print(f"sent {report.sent} bytes, {report.sent / (bytes_ * (size - 1) / layout.k):.3f} of the formula; holds "
              f"{report.held}, at most {report.most_held}, and buffers of {report.buffers}")
        for name, seconds in times.items():
            rate = f"{sent[name] / seconds / 1e9:8.3f} GB/s" if name in sent else ""
            print(f"{name:20s} {seconds * 1e3:10.2f} ms {rate}")
        ratio = (sent["exchange alone"] / times["exchange alone"]) / (
            sent["all_to_all_single"] / times["all_to_all_single"])
        print(f"exchange alone: {100 * ratio:.0f} % of all_to_all_single")
        print(json.dumps({"ranks": size, "m": options.m, "bytes": bytes_, "piece": piece, "backend": options.backend,
                          "store": str(store.device), "seconds": times, "sent": sent, "ratio": ratio,
                          "held": report.held, "most_held": report.most_held, "buffers": report.buffers}))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
