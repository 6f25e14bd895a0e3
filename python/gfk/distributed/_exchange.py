# SPDX-License-Identifier: BSD-3-Clause
"""Runs a plan over a process group, piece by piece, so that its buffers have a fixed size."""

import datetime

import torch
import torch.distributed as dist

import gfk

from ._store import MOST_MANIFEST_BYTES, Damaged

MOST_GATHERED_BYTES = 1 << 31


class RankLost(gfk.Error):
    """A rank did not take part in a collective: it has ended, or was slower than the time limit. What the
    group held before the call is intact on the other ranks. The process group is of no more use: a collective
    may still be waiting in it."""

    status = "RANK_LOST"


class Wire:
    """The collectives of one process group. `device` is where its buffers are."""

    def __init__(self, group, device, timeout):
        self.group, self.device = group, device
        self.timeout = None if timeout is None else datetime.timedelta(seconds=timeout)
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        self.lost = None  # why this group has no more collectives

    def _waiter(self, start):
        """Starts a collective, and returns the function that waits for it."""
        def lost(error):
            self.lost = f"a rank of the group did not answer: {error}"
            return RankLost(self.lost)

        if self.lost is not None:
            raise RankLost(f"a new process group is needed: {self.lost}")
        try:
            work = start()
        except RuntimeError as error:
            raise lost(error) from error

        def wait():
            try:
                work.wait() if self.timeout is None else work.wait(self.timeout)
            except RuntimeError as error:
                raise lost(error) from error

        return wait

    def all_to_all(self, received, sent, into, out):
        return self._waiter(lambda: dist.all_to_all_single(received, sent, into, out, group=self.group,
                                                           async_op=True))

    def gather(self, text):
        """The bytes that each rank gives, on all ranks."""
        lengths = torch.zeros(self.size, dtype=torch.int64, device=self.device)
        mine = torch.tensor([len(text)], dtype=torch.int64, device=self.device)
        self._waiter(lambda: dist.all_gather_into_tensor(lengths, mine, group=self.group, async_op=True))()
        lengths = lengths.tolist()
        most = max(lengths)
        if min(lengths) < 0 or most > MOST_MANIFEST_BYTES or most * self.size > MOST_GATHERED_BYTES:
            raise Damaged("a rank announced a message of an impossible length")
        if most == 0:
            return [b""] * self.size
        mine = torch.zeros(most, dtype=torch.uint8)
        mine[:len(text)] = torch.frombuffer(bytearray(text), dtype=torch.uint8) if text else mine[:0]
        found = torch.zeros(self.size * most, dtype=torch.uint8, device=self.device)
        mine = mine.to(self.device)
        self._waiter(lambda: dist.all_gather_into_tensor(found, mine, group=self.group, async_op=True))()
        found = found.cpu().view(self.size, most).numpy()
        return [found[r, :n].tobytes() for r, n in enumerate(lengths)]

    def share(self, text, source):
        """The bytes that one rank gives, on all ranks."""
        source_rank = dist.get_global_rank(self.group, source)
        length = torch.tensor([len(text)], dtype=torch.int64, device=self.device)
        self._waiter(lambda: dist.broadcast(length, source_rank, group=self.group, async_op=True))()
        length = int(length.item())
        if not 0 <= length <= MOST_MANIFEST_BYTES:
            raise Damaged("a rank announced a message of an impossible length")
        found = torch.zeros(length, dtype=torch.uint8, device=self.device)
        if self.rank == source and length > 0:
            found.copy_(torch.frombuffer(bytearray(text), dtype=torch.uint8))
        self._waiter(lambda: dist.broadcast(found, source_rank, group=self.group, async_op=True))()
        return found.cpu().numpy().tobytes()


def _splits(plan, rank, items):
    """For each other rank: what this rank sends, and what it receives."""
    return [items(rank, r) for r in range(plan.size)], [items(r, rank) for r in range(plan.size)]


class Exchange:
    """The transfers of a plan on one rank. `sent` counts bytes that went to other ranks. `error` is what read,
    compute or write raised on this rank: its transfers go on, so that no rank waits in vain, and their contents
    are then worth nothing. All ranks must hear of the error before anything is kept."""

    def __init__(self, plan, wire, piece):
        self.plan, self.wire, self.piece = plan, wire, piece
        self.rank = wire.rank
        self.inputs = _splits(plan, self.rank, plan.inputs)
        self.results = _splits(plan, self.rank, plan.results)
        self.sent, self.error = 0, None
        # Two sets for inputs: those of a piece are on their way while the piece before is computed.
        self._inputs = [[self._buffer(side) for side in self.inputs] for _ in range(2)]
        self._results = [self._buffer(side) for side in self.results]

    def _buffer(self, side):
        return torch.empty(sum(map(len, side)) * self.piece, dtype=torch.uint8, device=self.wire.device)

    def buffer_bytes(self):
        return sum(buffer.numel() for pair in [*self._inputs, self._results] for buffer in pair)

    def _views(self, buffer, side, length):
        """(item, view) for each item of a side, in a buffer without gaps."""
        at = 0
        for items in side:
            for item in items:
                yield item, buffer[at:at + length]
                at += length

    def _start(self, received, sent, sides, length):
        out, into = ([len(items) * length for items in side] for side in sides)
        self.sent += sum(out) - out[self.rank]
        return self.wire.all_to_all(received[:sum(into)], sent[:sum(out)], into, out)

    def _attempt(self, function, *arguments):
        if self.error is None:
            try:
                function(*arguments)
            except Exception as error:
                self.error = error

    def run(self, chunk, read, compute, write, starts=None):
        """For each piece [start, start + length) of a chunk: read(stripe, position, start, view) fills a view
        that is sent; compute(stripe, start, {position: view}, {(result, position): view}) works where the
        stripe's inputs are; write(stripe, result, position, start, view) takes a result where it belongs.
        `starts`: only the pieces that begin there."""
        starts = list(range(0, chunk, self.piece)) if starts is None else starts
        works = {}

        def begin(number):
            start = starts[number]
            length = min(self.piece, chunk - start)
            out, into = self._inputs[number % 2]
            for (stripe, position), view in self._views(out, self.inputs[0], length):
                self._attempt(read, stripe, position, start, view)
            works[number] = self._start(into, out, self.inputs, length)

        if starts:
            begin(0)
        for number, start in enumerate(starts):
            length = min(self.piece, chunk - start)
            works.pop(number)()
            if number + 1 < len(starts):
                begin(number + 1)
            gathered, (out, into) = self._inputs[number % 2][1], self._results
            regions, made = {}, {}
            for (stripe, position), view in self._views(gathered, self.inputs[1], length):
                regions.setdefault(stripe, {})[position] = view
            for (stripe, result, position), view in self._views(out, self.results[0], length):
                made.setdefault(stripe, {})[result, position] = view
            for stripe, worker, _, _ in self.plan.stripes:
                if worker == self.rank:
                    self._attempt(compute, stripe, start, regions.get(stripe, {}), made.get(stripe, {}))
            if not self.plan.has_results:
                continue
            self._start(into, out, self.results, length)()
            for (stripe, result, position), view in self._views(into, self.results[1], length):
                self._attempt(write, stripe, result, position, start, view)
