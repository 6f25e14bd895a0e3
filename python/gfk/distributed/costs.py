# SPDX-License-Identifier: BSD-3-Clause
"""What parity across ranks costs, on paper: bytes that are sent, received and kept, counted in the plans that
ParityGroup runs, and the least time that a link needs for them. `python -m gfk.distributed.costs` prints the table of
docs/distributed."""

from dataclasses import dataclass

import gfk

from ._layout import Layout, encode_plan, rebuild_plan

__all__ = ["Costs", "Traffic", "costs", "table"]

LINKS = {"100 Gb/s": 12.5e9, "400 Gb/s": 50e9, "NVLink 4": 450e9}  # bytes a second of a rank, in each direction


@dataclass
class Traffic:
    """Bytes of the rank that sends most, and of the one that receives most."""

    sent: int
    received: int

    def seconds(self, link):
        """The least time, for a link of so many bytes a second in each direction."""
        return max(self.sent, self.received) / link


@dataclass
class Costs:
    """What a rank sends and keeps to protect a snapshot of `size` bytes on every rank."""

    encode: Traffic
    rebuild: Traffic  # after the loss of `lost` neighbours
    parity: int  # bytes that a rank keeps beside its snapshot
    buffers: int  # bytes of pieces on their way during encode


def _traffic(plan, chunk):
    sent, received = [0] * plan.size, [0] * plan.size
    for _, worker, inputs, results in plan.stripes:
        for source, target in [*((plan.ranks[p], worker) for p in inputs),
                               *((worker, plan.ranks[p]) for _, p in results)]:
            if source != target:
                sent[source] += chunk
                received[target] += chunk
    return Traffic(max(sent), max(received))


def costs(ranks, m, size, *, lost=None, piece=8 << 20):
    """The Costs of `ranks` ranks with m parities and `size` bytes each. `lost` ranks are rebuilt, m by default."""
    layout = Layout(ranks, m)
    chunk = layout.chunk_bytes(size)
    gone = list(range(m if lost is None else lost))
    _, plan = rebuild_plan(layout, list(range(ranks)), ranks, gone, gfk.RS(layout.k, m))
    return Costs(_traffic(encode_plan(layout), chunk), _traffic(plan, chunk), m * chunk,
                 (4 * ranks - 2 * m) * min(piece, max(chunk, 256)))


def table(size=80 * 10**9, links=LINKS):
    """Lines of a table in Markdown: parity, and whole copies on m further ranks."""
    names = " | ".join(f"encode, {name}" for name in links)
    lines = [f"| N | m | kept | copies keep | sent | copies send | {names} | rebuild m, {list(links)[1]} |",
             "| --- " * (7 + len(links)) + "|"]
    for ranks in (8, 16, 32, 64):
        for m in (1, 2, 4):
            c = costs(ranks, m, size)
            times = " | ".join(f"{c.encode.seconds(link):.2f} s ({m * size / link:.2f} s)" for link in links.values())
            lines.append(f"| {ranks} | {m} | {c.parity / 1e9:.1f} GB | {m * size / 1e9:.0f} GB | "
                         f"{c.encode.sent / 1e9:.1f} GB | {m * size / 1e9:.0f} GB | {times} | "
                         f"{c.rebuild.seconds(list(links.values())[1]):.2f} s |")
    return lines


if __name__ == "__main__":
    print("\n".join(table()))
