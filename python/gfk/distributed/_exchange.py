# SPDX-License-Identifier: BSD-3-Clause
"""Runs the steps of plans over a process group, piece by piece, so that its buffers have a fixed size."""

import collections
import datetime
import numbers
import time

import torch
import torch.distributed as dist

import gfk

from ._store import MOST_MANIFEST_BYTES, Damaged

MOST_GATHERED_BYTES = 1 << 31
# A group of gloo that is freed waits for its collectives: where a rank hangs, for the group's own time limit, half an
# hour by default. So those that have lost a rank are never freed.
lost_groups = []
MOST_AHEAD = 8  # collectives that a GPU has not ended yet, where a time limit is to be kept
# What a rank sends and receives in one collective by default. From the curves in docs/distributed: larger calls
# gain little, and hold more memory.
CALL_BYTES = {"cuda": 128 << 20, "cpu": 8 << 20}


def default_piece(ranks, place):
    """Bytes of a piece, for so many ranks. place: "cuda" for NCCL, "cpu"."""
    return max(CALL_BYTES[place] // ranks // 4096 * 4096, 4096)


class RankLost(gfk.Error):
    """A rank did not take part in a collective: it has ended, or was slower than the time limit. What the
    group held before the call is intact on the other ranks. The process group is of no more use: a collective
    may still be waiting in it."""

    status = "RANK_LOST"


class Wire:
    """The collectives of one process group. `device` is where its buffers are."""

    def __init__(self, group, device, timeout):
        if not isinstance(timeout, (numbers.Real, type(None))):
            raise TypeError(f"timeout is a number of seconds, not {type(timeout).__name__}")
        if timeout is not None and not 0.001 <= timeout <= 1e8:
            raise ValueError(f"timeout is a number of seconds from 0.001 to 1e8, not {timeout}")
        self.group, self.device = group, device
        self.timeout = None if timeout is None else datetime.timedelta(seconds=timeout)
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        self.lost = None  # why this group has no more collectives
        self._under_way = collections.deque()  # collectives of NCCL that nobody has waited for

    def _waiter(self, start):
        """Starts a collective, and returns the function that waits for it. With NCCL the GPU waits, and the
        time limit is kept by `settle`."""
        if self.lost is not None:
            raise RankLost(f"a new process group is needed: {self.lost}")
        work = self._attempt(start)

        def wait():
            if self.timeout is None or self.device.type != "cuda":
                self._attempt(work.wait, *[self.timeout] if self.timeout else [])
                return
            self._attempt(work.wait)
            self._under_way.append(work)

        return wait

    def _attempt(self, function, *arguments):
        try:
            return function(*arguments)
        except RuntimeError as error:
            self.lost = f"a rank of the group did not answer: {error}"
            lost_groups.append(self.group)
            raise RankLost(self.lost) from error

    def settle(self, most=0):
        """Waits until `most` collectives have not ended yet; for so long as the time limit allows."""
        while len(self._under_way) > most:
            work, start = self._under_way.popleft(), time.monotonic()
            # The wait of NCCL with a time limit looks once in a millisecond.
            while not work.is_completed() and time.monotonic() - start < self.timeout.total_seconds():
                time.sleep(20e-6)
            self._attempt(work.wait, self.timeout)

    def all_to_all(self, received, sent, into, out):
        return self._waiter(lambda: dist.all_to_all_single(received, sent, into, out, group=self.group,
                                                           async_op=True))

    def gather(self, text):
        """The bytes that each rank gives, on all ranks."""
        lengths = torch.zeros(self.size, dtype=torch.int64, device=self.device)
        mine = torch.tensor([len(text)], dtype=torch.int64, device=self.device)
        self._waiter(lambda: dist.all_gather_into_tensor(lengths, mine, group=self.group, async_op=True))()
        self.settle()
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
        self.settle()
        found = found.cpu().view(self.size, most).numpy()
        return [found[r, :n].tobytes() for r, n in enumerate(lengths)]

    def share(self, text, source):
        """The bytes that one rank gives, on all ranks."""
        source_rank = dist.get_global_rank(self.group, source)
        length = torch.tensor([len(text)], dtype=torch.int64, device=self.device)
        self._waiter(lambda: dist.broadcast(length, source_rank, group=self.group, async_op=True))()
        self.settle()
        length = int(length.item())
        if not 0 <= length <= MOST_MANIFEST_BYTES:
            raise Damaged("a rank announced a message of an impossible length")
        found = torch.zeros(length, dtype=torch.uint8, device=self.device)
        if self.rank == source and length > 0:
            found.copy_(torch.frombuffer(bytearray(text), dtype=torch.uint8))
        self._waiter(lambda: dist.broadcast(found, source_rank, group=self.group, async_op=True))()
        self.settle()
        return found.cpu().numpy().tobytes()


class Exchange:
    """The transfers of some steps on one rank, in pieces of a chunk. Call c of all_to_all_single takes the inputs
    of step c and the results of step c - 2: step c - 1 is computed meanwhile. What stays on a rank is not sent.

    `sent` counts bytes that went to other ranks. `error` is what read, compute or write raised on this rank: its
    transfers go on, so that no rank waits in vain, and their contents are then worth nothing. All ranks must hear
    of the error before anything is kept."""

    def __init__(self, steps, wire, chunk, piece):
        self.steps, self.wire, self.chunk, self.piece = steps, wire, chunk, piece
        self.sent, self.error = 0, None
        items = [step.plan.items(wire.rank) for step in {id(step.plan): step for step in steps}.values()]

        def buffer(*sides):  # for the most items of each side
            count = sum(max((sum(map(len, i[side])) for i in items), default=0) for side in sides)
            return torch.empty(count * piece, dtype=torch.uint8, device=wire.device)

        # Two sets: the views of one are on their way while those of the other are read and written.
        self._sets = [(buffer("inputs out", "results out"), buffer("inputs into", "results into")) for _ in range(2)]
        self._own = buffer("own inputs"), buffer("own results")
        self._views = {}  # of the calls that are near; and of those without a short piece, by plans and set

    def buffer_bytes(self):
        return sum(buffer.numel() for buffer in [*self._sets[0], *self._sets[1], *self._own])

    def cut(self, buffer, at, step, items):
        """(item, view) for each item, one behind the other from `at` on; and where they end."""
        views = []
        for item in items:
            end = at + min(self.piece, self.chunk - step.starts[item[0]])
            views.append((item, buffer[at:end]))
            at = end
        return views, at

    def _call(self, number):
        """The Call of a number."""
        if number not in self._views:
            ends = [self.steps[i] if 0 <= i < len(self.steps) else None for i in (number, number - 2)]
            is_whole = all(at + self.piece <= self.chunk for step in ends if step for at in step.starts.values())
            key = number % 2, *(step and id(step.plan) for step in ends)
            made = self._views.get(key) if is_whole else None
            if made is None:
                made = Call(self, *ends, *self._sets[number % 2])
            if is_whole:
                self._views[key] = made
            self._views[number] = made
        return self._views[number]

    def _attempt(self, function, *arguments):
        if self.error is None:
            try:
                function(*arguments)
            except Exception as error:
                self.error = error

    def run(self, read, compute, write, waits=True):
        """For each stripe of each step, whose piece is [start, start + length) of a chunk: read(stripe, position,
        start, view) fills a view that is sent; compute(stripe, start, {position: view}, {(result, position): view})
        works where the stripe's inputs are; write(stripe, result, position, start, view) takes a result where it
        belongs. waits: may one of them wait for a GPU?"""
        steps, waiting = self.steps, {}
        last = len(steps) + 2 if any(step.plan.has_results for step in steps) else len(steps)

        def begin(number):
            call = self._call(number)
            for (stripe, position), view in call.inputs_out:
                self._attempt(read, stripe, position, steps[number].starts[stripe], view)
            if call.is_needed:
                self.sent += call.sent.numel()
                waiting[number] = self.wire.all_to_all(call.received, call.sent, call.into, call.out)

        for number in range(last):
            if number == 0:
                begin(0)
            if number in waiting:
                waiting.pop(number)()
                self.wire.settle(0 if waits else MOST_AHEAD)
            if number + 1 < last:
                begin(number + 1)
            call = self._call(number)
            self._write(write, steps[number - 2] if number >= 2 else None, call.results_into)
            if number < len(steps):
                self._compute(steps[number], call.inputs_into, self._call(number + 2).results_out, read, compute, write)
            del self._views[number]

    def _write(self, write, step, results):
        for (stripe, result, position), view in results:
            self._attempt(write, stripe, result, position, step.starts[stripe], view)

    def _compute(self, step, inputs, results, read, compute, write):
        items = step.plan.items(self.wire.rank)
        own_inputs, _ = self.cut(self._own[0], 0, step, items["own inputs"][0])
        own_results, _ = self.cut(self._own[1], 0, step, items["own results"][0])
        for (stripe, position), view in own_inputs:
            self._attempt(read, stripe, position, step.starts[stripe], view)
        regions, made = {}, {}
        for (stripe, position), view in [*own_inputs, *inputs]:
            regions.setdefault(stripe, {})[position] = view
        for (stripe, result, position), view in [*own_results, *results]:
            made.setdefault(stripe, {})[result, position] = view
        for stripe, worker, _, _ in step.plan.stripes:
            if worker == self.wire.rank:
                self._attempt(compute, stripe, step.starts[stripe], regions.get(stripe, {}), made.get(stripe, {}))
        self._write(write, step, own_results)


class Call:
    """One all_to_all_single on one rank: what is sent and received, and the views of the items in there. Each rank
    gets inputs of `step`, and behind them results of `before`, the step two calls ago."""

    def __init__(self, exchange, step, before, out, into):
        self.is_needed = bool(step and step.plan.has_inputs or before and before.plan.has_results)
        self.inputs_out, self.results_out, self.out, self.sent = self._side(exchange, step, before, out, "out")
        self.inputs_into, self.results_into, self.into, self.received = self._side(exchange, step, before, into, "into")

    @staticmethod
    def _side(exchange, step, before, buffer, side):
        all_inputs, all_results, splits, at = [], [], [], 0
        for peer in range(exchange.wire.size):
            start = at
            for of, what, made in ((step, "inputs", all_inputs), (before, "results", all_results)):
                if of is not None:
                    views, at = exchange.cut(buffer, at, of, of.plan.items(exchange.wire.rank)[f"{what} {side}"][peer])
                    made += views
            splits.append(at - start)
        return all_inputs, all_results, splits, buffer[:at]
