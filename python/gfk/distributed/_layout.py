# SPDX-License-Identifier: BSD-3-Clause
"""Which rank has which region of which stripe.

N positions make N stripes. Stripe t is a code of k = N - m data and m parity regions: its parity region j is
on position t + j, its data region i is chunk i of position t + m + i (all modulo N). So a position has one
region of each stripe: the k chunks of its snapshot in k stripes, and a parity region in the other m. The
first parity position of a stripe encodes it.
"""

import dataclasses
import functools


class Layout:
    """The places of regions for N positions and m parity regions."""

    def __init__(self, positions, m):
        if not 1 <= m < positions:
            raise ValueError(f"m is 1 to {positions - 1} for {positions} ranks, not {m}")
        self.positions, self.m, self.k = positions, m, positions - m

    def region(self, position, stripe):
        """The index of a position's region in a stripe: below k data, from k on parity."""
        distance = (position - stripe) % self.positions
        return distance - self.m if distance >= self.m else self.k + distance

    def position(self, region, stripe):
        """The position that has a region of a stripe."""
        distance = region + self.m if region < self.k else region - self.k
        return (stripe + distance) % self.positions

    def chunk_bytes(self, largest):
        """The bytes of a chunk, for a largest snapshot of so many bytes."""
        return -(-largest // (self.k * 256)) * 256


class Plan:
    """One step of an exchange: some stripes, for each of them the rank that computes, the regions that go there,
    and the results that leave it. `ranks` gives the rank in the process group that holds a position."""

    def __init__(self, ranks, size):
        self.ranks, self.size = ranks, size
        self.stripes = []  # (stripe, worker, [input position], [(result, target position)])
        self._items = {}

    def add(self, stripe, worker, inputs, results=()):
        self.stripes.append((stripe, worker, list(inputs), list(results)))

    def transfers(self):
        """(is a result, source rank, target rank, item) for everything that a worker takes or gives. An item is
        (stripe, position) of an input, (stripe, result, position) of a result."""
        for stripe, worker, inputs, results in self.stripes:
            for p in inputs:
                yield False, self.ranks[p], worker, (stripe, p)
            for result, p in results:
                yield True, worker, self.ranks[p], (stripe, result, p)

    @functools.cached_property
    def has_inputs(self):
        """Does a rank send an input to another one?"""
        return any(source != target for is_result, source, target, _ in self.transfers() if not is_result)

    @functools.cached_property
    def has_results(self):
        return any(source != target for is_result, source, target, _ in self.transfers() if is_result)

    def items(self, rank):
        """What a rank sends to each rank, receives from each rank, and keeps to itself: {"inputs out": [[item]]}. Both
        ends of a transfer have its items in one order."""
        if rank not in self._items:
            made = self._items[rank] = {f"{what} {side}": [[] for _ in range(self.size)]
                                        for what in ("inputs", "results") for side in ("out", "into")}
            made |= {"own inputs": [[]], "own results": [[]]}
            for is_result, source, target, item in self.transfers():
                what = "results" if is_result else "inputs"
                if source == target == rank:
                    made[f"own {what}"][0].append(item)
                elif source == rank:
                    made[f"{what} out"][target].append(item)
                elif target == rank:
                    made[f"{what} into"][source].append(item)
        return self._items[rank]


@dataclasses.dataclass
class Step:
    """A plan, and for each of its stripes the place in the chunk where the piece begins."""

    plan: Plan
    starts: dict

    @classmethod
    def at(cls, plan, start):
        return cls(plan, dict.fromkeys((stripe for stripe, *_ in plan.stripes), start))


def pieces(plan, chunk, piece):
    """The steps that take a plan through a chunk."""
    return [Step.at(plan, start) for start in range(0, chunk, piece)]


def encode_plan(layout):
    """The first parity position of each stripe takes the data, and sends the other parities on."""
    plan = Plan(list(range(layout.positions)), layout.positions)
    for t in range(layout.positions):
        plan.add(t, t, [layout.position(i, t) for i in range(layout.k)],
                 [(layout.k + j, layout.position(layout.k + j, t)) for j in range(layout.m)])
    return plan


def rebuild_decoders(layout, lost, code):
    """{stripe: decoder} for lost positions."""
    return {t: code.decoder(sorted(layout.region(p, t) for p in lost))
            for t in (range(layout.positions) if lost else [])}


def rebuild_steps(layout, ranks, size, decoders, chunk, piece):
    """The steps that rebuild what the decoders decode. A step has as many pieces as ranks hold something, of
    consecutive stripes, and each of these ranks decodes one of them: so no link waits for a rank that decodes two.
    `ranks` has the rank of each position."""
    sources, results = {}, {}
    for t, decoder in decoders.items():
        sources[t] = [layout.position(i, t) for i in decoder.sources]
        results[t] = [(region, layout.position(region, t)) for region in decoder.lost]
    lost = {p for of_stripe in results.values() for _, p in of_stripe}
    holders = sorted({rank for p, rank in enumerate(ranks) if p not in lost})
    todo = [(t, start) for start in range(0, chunk, piece) for t in decoders]
    plans, steps = {}, []
    for first in range(0, len(todo), len(holders)):
        part = todo[first:first + len(holders)]
        key = part[0][0], len(part)  # the first stripe, and how many
        if key not in plans:
            plan, free = plans.setdefault(key, Plan(ranks, size)), list(holders)
            for t, _ in part:
                near = {ranks[p] for p in sources[t]}
                worker = next((rank for rank in free if rank in near), free[0])
                free.remove(worker)
                plan.add(t, worker, sources[t], results[t])
        steps.append(Step(plans[key], dict(part)))
    return steps
