# SPDX-License-Identifier: BSD-3-Clause
"""Processes with gloo between them, for the tests of gfk.distributed."""

import datetime
import multiprocessing
import os
import tempfile
import traceback

import torch
import torch.distributed as dist

context = multiprocessing.get_context("forkserver")
# What every rank would import: pytest with the test's file, torch._dynamo in the first step of an optimizer.
context.set_forkserver_preload(["torch", "torch.distributed", "torch._dynamo", "gfk", "gfk.distributed", "pytest"])


def join(path, rank, size, seconds=30, backend="gloo"):
    """The process group of a rendezvous file, in this process."""
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group(backend, init_method=f"file://{path}", rank=rank, world_size=size,
                            timeout=datetime.timedelta(seconds=seconds))


def _child(connection, path, rank, size, backend, function, arguments):
    try:
        if backend == "nccl":
            torch.cuda.set_device(rank)
        join(path, rank, size, backend=backend)
        connection.send((True, function(rank, *arguments)))
        dist.destroy_process_group()
    except BaseException:
        connection.send((False, traceback.format_exc()))


def run(size, function, *arguments, timeout=120, backend="gloo"):
    """function(rank, *arguments) in so many processes; the list of what they return."""
    with tempfile.TemporaryDirectory() as folder:
        ends, processes = [], []
        for rank in range(size):
            mine, theirs = context.Pipe()
            processes.append(context.Process(target=_child, args=(theirs, f"{folder}/group", rank, size, backend,
                                                                  function, arguments)))
            processes[-1].start()
            theirs.close()
            ends.append(mine)
        results = []
        for rank, end in enumerate(ends):
            try:
                results.append(end.recv() if end.poll(timeout) else (False, "no answer"))
            except EOFError:
                results.append((False, "ended without an answer"))
        for process in processes:
            process.join(5)
            process.kill()
    failed = [f"rank {r}:\n{text}" for r, (good, text) in enumerate(results) if not good]
    assert not failed, "\n".join(failed)
    return [value for _, value in results]
