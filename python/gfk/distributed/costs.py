# SPDX-License-Identifier: BSD-3-Clause
"""What parity across ranks costs, on paper: bytes that are sent, received and kept, counted in the steps that
ParityGroup runs, and the least time that a link needs for them. `python -m gfk.distributed.costs` prints the table of
docs/distributed."""

from dataclasses import dataclass

import gfk

from ._exchange import default_piece
from ._layout import Layout, encode_plan, pieces, rebuild_decoders, rebuild_steps

__all__ = ["Costs", "Traffic", "costs", "table"]

LINKS = {"100 Gb/s": 12.5e9, "400 Gb/s": 50e9, "NVLink 4": 450e9}  # bytes a second of a rank, in each direction


@dataclass
class Traffic:
    """Bytes of the rank that sends most, and of the one that receives most; and `busiest`, the sum over all
    collectives of the bytes of the link that has most to do, which the other ranks wait for."""

    sent: int
    received: int
    busiest: int

    def seconds(self, link):
        """The least time, for a link of so many bytes a second in each direction."""
        return self.busiest / link


@dataclass
class Costs:
    """What a rank sends and keeps to protect a snapshot of `size` bytes on every rank."""

    encode: Traffic
    rebuild: Traffic  # after the loss of `lost` neighbours
    parity: int  # bytes that a rank keeps beside its snapshot
    buffers: int  # bytes of pieces on their way during encode
    piece: int


def _traffic(steps, ranks, chunk, piece):
    cached = {}

    def bytes_of(step, wants_results):
        """Sent and received by each rank, for the inputs or the results of a step."""
        is_whole = max(step.starts.values()) + piece <= chunk
        key = id(step.plan), wants_results
        if is_whole and key in cached:
            return cached[key]
        sent, received = [0] * ranks, [0] * ranks
        for is_result, source, target, item in step.plan.transfers():
            if is_result == wants_results and source != target:
                length = min(piece, chunk - step.starts[item[0]])
                sent[source] += length
                received[target] += length
        if is_whole:
            cached[key] = sent + received
        return sent + received

    total, busiest = [0] * 2 * ranks, 0
    for call in range(len(steps) + 2):  # inputs of one step, and results of the step two calls ago
        ends = [bytes_of(steps[call], False)] if call < len(steps) else []
        ends += [bytes_of(steps[call - 2], True)] if call >= 2 else []
        of_call = [sum(amounts) for amounts in zip(*ends)]
        total = [a + b for a, b in zip(total, of_call)]
        busiest += max(of_call, default=0)
    return Traffic(max(total[:ranks]), max(total[ranks:]), busiest)


def costs(ranks, m, size, *, lost=None, piece=None):
    """The Costs of `ranks` ranks with m parities and `size` bytes each. `lost` ranks are rebuilt, m by default. piece:
    that of ParityGroup; None: its default over NCCL."""
    layout, lost = Layout(ranks, m), m if lost is None else lost
    chunk = layout.chunk_bytes(size)
    piece = min(default_piece(ranks, "cuda") if piece is None else piece, max(chunk, 256))
    decoders = rebuild_decoders(layout, range(lost), gfk.RS(layout.k, m))
    rebuilt = rebuild_steps(layout, list(range(ranks)), ranks, decoders, chunk, piece)
    return Costs(_traffic(pieces(encode_plan(layout), chunk, piece), ranks, chunk, piece),
                 _traffic(rebuilt, ranks, chunk, piece), m * chunk, (4 * ranks - 3) * piece, piece)


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
