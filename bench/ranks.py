#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures parity across ranks, and its exchange beside torch's all_to_all_single alone with pieces of one size.

  torchrun --nproc-per-node 5 bench/ranks.py [-m 2] [--megabytes 64] [--piece 1048576 8388608] [--backend gloo]
                                             [--store cpu] [--out FILE.json]

A rate is what one rank sends to others in a second; 1 GB is 1e9 bytes. With NCCL, each rank takes the GPU of its
number; --store cuda:0 keeps snapshots and parity on a GPU with any backend.
"""

import argparse
import json
import os
import time

import torch
import torch.distributed as dist

import gfk
from gfk.distributed import MemoryStore, ParityGroup
from gfk.distributed._exchange import Exchange, Wire
from gfk.distributed._layout import Layout, encode_plan, pieces
from machine import machine


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


def product_seconds(device, bytes_, rounds):
    """One product of k = 6, m = 2 over so many bytes of data, where the snapshots are."""
    code, size = gfk.RS(6, 2), bytes_ // 6
    data = torch.randint(0, 256, (6, size), dtype=torch.uint8, device=device)
    parity = torch.empty((2, size), dtype=torch.uint8, device=device)
    return best(lambda: code.encode(data, out=parity), rounds)


def measure(options, store, tensors, piece):
    """Prints what it finds, and returns it as a row."""
    size, bytes_ = dist.get_world_size(), tensors["x"].numel()
    group = ParityGroup(m=options.m, store=store, piece=piece)
    layout = Layout(size, options.m)
    chunk = layout.chunk_bytes(bytes_)
    piece = min(group.piece, chunk)
    wire = Wire(dist.group.WORLD, group._wire.device, None)
    times = {"encode": best(lambda: group.encode(tensors), options.rounds)}
    report = group.report
    exchange = Exchange(pieces(encode_plan(layout), chunk, piece), wire, chunk, piece)
    times["exchange alone"] = best(lambda: exchange.run(nothing, nothing, nothing, False), options.rounds)
    del exchange
    buffers = [torch.empty(size * piece, dtype=torch.uint8, device=wire.device) for _ in range(2)]
    calls = -(-chunk // piece)
    times["all_to_all_single"] = best(
        lambda: [dist.all_to_all_single(*buffers) for _ in range(calls)], options.rounds)
    del buffers
    times["verify"] = best(group.verify, options.rounds)
    times["update of nothing"] = best(lambda: group.update({}), options.rounds)
    times["rebuild of m"] = best(lambda: group.rebuild(lost=range(options.m)), options.rounds)
    times["product, k = 6, m = 2"] = product_seconds(store.device, bytes_, options.rounds)

    sent = {"encode": report.sent, "exchange alone": report.sent, "all_to_all_single": calls * piece * (size - 1)}
    ratio = (sent["exchange alone"] / times["exchange alone"]) / (
        sent["all_to_all_single"] / times["all_to_all_single"])
    if dist.get_rank() == 0:
        print(f"{size} ranks, m = {options.m}, {bytes_ / 1e6:.0f} MB each, pieces of {piece} bytes, "
              f"{options.backend}, store on {'pinned ' * store.pinned}{store.device}")
        print(f"sent {report.sent} bytes, {report.sent / (bytes_ * (size - 1) / layout.k):.3f} of the formula; holds "
              f"{report.held}, at most {report.most_held}, and buffers of {report.buffers}")
        for name, seconds in times.items():
            rate = f"{sent[name] / seconds / 1e9:8.3f} GB/s" if name in sent else ""
            print(f"{name:22s} {seconds * 1e3:10.2f} ms {rate}")
        print(f"exchange alone: {100 * ratio:.0f} % of all_to_all_single")
        print("", flush=True)
    return {"what": "ranks", "ranks": size, "m": options.m, "bytes": bytes_, "piece": piece,
            "backend": options.backend, "store": "pinned" if store.pinned else store.device.type, "seconds": times,
            "sent": sent, "ratio": ratio, "held": report.held, "most_held": report.most_held, "buffers": report.buffers}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-m", type=int, default=2)
    parser.add_argument("--megabytes", type=float, default=64, help="of each rank")
    parser.add_argument("--piece", type=int, nargs="*", default=[None], help="bytes; default: that of ParityGroup")
    parser.add_argument("--backend", default="gloo")
    parser.add_argument("--store", default="cpu", help="cpu, pinned, cuda, or cuda:N")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", help="a JSON file; rows are added to those that are there")
    options = parser.parse_args()
    if options.backend == "nccl":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group(options.backend)
    store = MemoryStore(pinned=True) if options.store == "pinned" else MemoryStore(options.store)
    generator = torch.Generator(store.device).manual_seed(dist.get_rank())
    tensors = {"x": torch.randint(0, 256, (int(options.megabytes * 1e6),), dtype=torch.uint8, generator=generator,
                                  device=store.device)}
    rows = [measure(options, store, tensors, piece) for piece in options.piece]
    if dist.get_rank() == 0 and options.out:
        if os.path.exists(options.out):
            with open(options.out, encoding="utf-8") as file:
                rows = json.load(file)["rows"] + rows
        versions = {"gfk": gfk.__version__, "torch": torch.__version__}
        if torch.cuda.is_available():
            versions["NCCL"] = ".".join(map(str, torch.cuda.nccl.version()))
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({"machine": machine(versions), "rows": rows}, file, indent=1)
            file.write("\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
