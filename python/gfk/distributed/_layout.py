# SPDX-License-Identifier: BSD-3-Clause
"""Which rank has which region of which stripe.

N positions make N stripes. Stripe t is a code of k = N - m data and m parity regions: its parity region j is
on position t + j, its data region i is chunk i of position t + m + i (all modulo N). So a position has one
region of each stripe: the k chunks of its snapshot in k stripes, and a parity region in the other m. The
first parity position of a stripe encodes it.
"""


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
    """An exchange: for each stripe, the regions that go to the rank that computes, and the results that
    leave it. `ranks` gives the rank in the process group that holds a position."""

    def __init__(self, ranks, size):
        self.ranks, self.size = ranks, size
        self.stripes = []  # (stripe, worker, [input position], [(result, target position)])

    def add(self, stripe, worker, inputs, results=()):
        self.stripes.append((stripe, worker, list(inputs), list(results)))

    @property
    def has_results(self):
        return any(results for _, _, _, results in self.stripes)

    def inputs(self, source, target):
        """What a rank sends to another one: (stripe, position), in the order of both."""
        return [(stripe, p) for stripe, worker, inputs, _ in self.stripes if worker == target
                for p in inputs if self.ranks[p] == source]

    def results(self, source, target):
        """The results that a rank sends to another one: (stripe, result, position)."""
        return [(stripe, result, p) for stripe, worker, _, results in self.stripes if worker == source
                for result, p in results if self.ranks[p] == target]


def encode_plan(layout):
    """The first parity position of each stripe takes the data, and sends the other parities on."""
    plan = Plan(list(range(layout.positions)), layout.positions)
    for t in range(layout.positions):
        plan.add(t, t, [layout.position(i, t) for i in range(layout.k)],
                 [(layout.k + j, layout.position(layout.k + j, t)) for j in range(layout.m)])
    return plan


def rebuild_plan(layout, ranks, size, lost, code):
    """({stripe: decoder}, plan). Of the ranks that have a stripe's inputs, the one with the fewest stripes so far
    decodes it. `ranks` has the rank of each position, `lost` the positions to rebuild."""
    plan, decoders, load = Plan(ranks, size), {}, [0] * size
    for t in range(layout.positions if lost else 0):
        decoder = decoders[t] = code.decoder(sorted(layout.region(p, t) for p in lost))
        sources = [layout.position(i, t) for i in decoder.sources]
        worker = min((ranks[p] for p in sources), key=lambda rank: load[rank])
        load[worker] += 1
        plan.add(t, worker, sources, [(region, layout.position(region, t)) for region in decoder.lost])
    return decoders, plan
