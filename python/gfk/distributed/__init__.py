# SPDX-License-Identifier: BSD-3-Clause
"""Parity across the ranks of a torch.distributed process group: any m of N ranks may be lost, and the others
rebuild what the lost ones held.

A version is a snapshot of the tensors of all ranks with its parity. A version stays until the next one is
whole on all ranks, so that a loss at any moment leaves one. The transport is the process group itself; all
ranks make the same calls in the same order.
"""

import contextlib
import dataclasses
import json
import operator
import secrets
import time
from collections.abc import Iterable, Mapping

import torch
import torch.distributed as dist

import gfk

from .._arrays import is_traced, remedy
from ._exchange import Exchange, RankLost, Wire, default_piece
from ._layout import Layout, Plan, Step, encode_plan, pieces, rebuild_decoders, rebuild_steps
from ._store import (DTYPES, MOST_BYTES, MOST_MANIFEST_BYTES, MOST_VERSION, Damaged, FolderStore, Manifest, MemoryStore,
                     is_dense, loads, no_collector, snapshot_bytes, tensors_of)

__all__ = ["Damaged", "FolderStore", "Located", "MemoryStore", "NotPrepared", "ParityGroup", "RankLost", "Report"]


class NotPrepared(gfk.Error):
    """A rank could not begin or end the call; the message says which and why. Nothing has changed."""

    status = "NOT_PREPARED"


@dataclasses.dataclass
class Report:
    """What the last call of a group did on this rank."""

    call: str
    version: int
    seconds: float = 0.0
    sent: int = 0  # bytes to other ranks
    buffers: int = 0  # bytes of buffers for pieces on their way
    held: int = 0  # bytes of snapshots and parity in the store after the call
    most_held: int = 0  # and during it, with those that are being made
    refused: dict = dataclasses.field(default_factory=dict)  # files of a FolderStore that the call did not take: why
    trouble: str = ""  # why an older version could not be removed; the next call that makes a version tries again


@dataclasses.dataclass
class Located:
    """Symbols that do not match the parity. `positions` counts the wrong ones of each position; `unexplained`
    counts places with more than floor(m/2) wrong symbols, of which no position can be named."""

    positions: dict = dataclasses.field(default_factory=dict)
    unexplained: int = 0


class ParityGroup:
    """Protects tensors of the N ranks of a process group by m parities.

    group    a process group of torch.distributed; None: the default one. Transport of NCCL is in the memory of
             the current CUDA device, of other backends in the CPU's.
    m        ranks that may be lost, 1 to N - 1
    store    MemoryStore(device) or FolderStore(folder); None: the CPU's memory. What it holds of an earlier
             process is found by `rebuild`.
    w, matrix  bits of a symbol, and the matrix of gfk.RS; a version remembers its own
    piece    bytes of a chunk that are on their way at a time; the buffers of encode are 4 N - 3 pieces. None: the
             N-th part of 128 MiB with NCCL, of 8 MiB with other backends
    timeout  seconds that a collective may take, from 0.001 on; None: the process group's own limit

    m, w, matrix and piece are the same on all ranks. A rank's position is its rank in the group that encoded.
    Memory: S + m S / (N - m) for a largest snapshot of S bytes, twice that during a call that makes a version.
    Sent: S (N - 1) / (N - m).

    Of several groups with one store, the newest has it, and calls of the older ones raise NotPrepared.

    All ranks of the group make the same call, or get NotPrepared. After RankLost the process group is of no
    more use: make a new one, with processes in place of the lost ones, a ParityGroup with the same store, and
    call rebuild.
    """

    def __init__(self, group=None, m=1, *, store=None, w=8, matrix="cauchy", piece=None, timeout=None):
        group = dist.group.WORLD if group is None else group
        if dist.get_world_size(group) < 2:
            raise ValueError("a group has 2 ranks at least, and this process is one of them")
        nccl = "nccl" in dist.get_backend(group)
        self._wire = Wire(group, torch.device("cuda", torch.cuda.current_device()) if nccl
                          else torch.device("cpu"), timeout)
        piece = default_piece(self.size, self._wire.device.type) if piece is None else piece
        self.m, self.piece, self._w = _integer(m, "m"), _integer(piece, "piece"), _integer(w, "w")
        self._matrix = matrix
        if self.piece < 256 or self.piece % 256 != 0:
            raise ValueError("piece is a multiple of 256 bytes")
        if not isinstance(matrix, str):
            raise TypeError("matrix is the name of a matrix")
        k = Layout(self.size, self.m).k
        self._codes = {(self.size, self.m, self._w, matrix): gfk.RS(k, self.m, self._w, matrix=matrix)}
        if not isinstance(store, (MemoryStore, FolderStore, type(None))):
            raise TypeError(f"store is a MemoryStore or a FolderStore, not {type(store).__name__}")
        self.store = MemoryStore() if store is None else store
        self._token = self.store.token = object()
        self._manifest = None  # of the current version
        self.report = None

    def __reduce__(self):
        raise TypeError("cannot pickle or copy a ParityGroup: of several groups with one store the newest has it")

    @property
    def rank(self):
        """This process's rank in the process group."""
        return self._wire.rank

    @property
    def size(self):
        """N, the ranks of the process group."""
        return self._wire.size

    @property
    def version(self):
        """The version that all ranks hold; None before the first."""
        return None if self._manifest is None else self._manifest.version

    # ---- agreement ---------------------------------------------------------------------------------

    def _agree(self, error=None):
        """Tells all ranks whether this one can go on; raises on all of them if one cannot."""
        text = "" if error is None else f"{type(error).__name__}: {error}"
        answers = self._wire.gather(text.encode()[:1000])
        failed = [f"rank {r}: {a.decode(errors='replace')}" for r, a in enumerate(answers) if a]
        if failed:
            raise NotPrepared("; ".join(failed)) from error

    def _together(self, work):
        """Runs `work` on this rank, and raises on all ranks if it raises on one."""
        error = result = None
        try:
            result = work()
        except RankLost:
            raise
        except Exception as caught:  # told to the others
            error = caught
        self._agree(error)
        return result

    def _gather_json(self, value):
        made = []
        for rank, text in enumerate(self._wire.gather(json.dumps(value).encode())):
            try:
                made.append(loads(text))
            except Damaged as error:
                raise Damaged(f"rank {rank} sent something else: {error}") from error
        return made

    def _meet(self, call, make=lambda: None, facts=()):
        """Begins a call: all ranks are in the same one, with the same options, facts and version. Returns what
        make(), which may fill `facts`, has given on each rank; raises on all ranks if it raised on one."""
        error = value = None
        try:
            self._check_store()
            value = make()
        except Exception as caught:  # told to the others
            error = caught
        state = None if self._manifest is None else [*self._manifest.key, self._manifest.crc]
        mine = [call, state if call != "rebuild" else None, [self.m, self.piece, self._w, self._matrix], *facts]
        answers = self._gather_json([f"{type(error).__name__}: {error}"[:1000] if error else "", mine, value])
        for rank, answer in enumerate(answers):
            if not isinstance(answer, list) or len(answer) != 3 or not isinstance(answer[0], str):
                raise Damaged(f"rank {rank} sent something else than what begins a call")
        failed = [f"rank {rank}: {text}" for rank, (text, _, _) in enumerate(answers) if text]
        if failed:
            raise NotPrepared("; ".join(failed)) from error
        first = answers[0][1]
        for rank, (_, head, _) in enumerate(answers):
            if head != first:
                raise NotPrepared("ranks differ in their call, version (session, number, checksum), options [m, "
                                  f"piece, w, matrix] or arguments: rank 0 {first}, rank {rank} {head}")
        return [value for _, _, value in answers]

    def _check_store(self):
        if self.store.token is not self._token:
            raise NotPrepared("another ParityGroup, which is newer, has taken over the store")

    def _code(self, manifest):
        key = len(manifest.ranks), manifest.m, manifest.w, manifest.matrix
        if key not in self._codes:
            self._codes[key] = gfk.RS(key[0] - key[1], key[1], manifest.w, matrix=manifest.matrix)
        return self._codes[key]

    # ---- calls that make a version -----------------------------------------------------------------

    def encode(self, tensors):
        """Takes a snapshot of this rank's tensors, {name: tensor} or a list, and makes the parity of all ranks'.

        Sizes may differ between ranks, and a rank may have none. Tensors are protected as the bytes that they have in
        memory; docs/distributed lists the dtypes. Raises NotPrepared on all ranks if one of them cannot (out of memory,
        a dtype, a tensor that wraps others); RankLost. In both cases the version before stays."""
        start, named = time.monotonic(), {}

        def describe():
            named.update(_named(tensors))
            return [self.store.newest(), secrets.randbits(64), _described(named)]

        manifest, layout = self._next_manifest(self._meet("encode", describe))
        entry, exchange = self._together(lambda: self._begin_encode(manifest, layout, named))
        code = self._code(manifest)

        def read(stripe, position, at, view):
            _read_piece(entry.snapshot, layout.region(position, stripe) * manifest.chunk + at, view)

        def compute(stripe, at, regions, made):
            data = [regions[layout.position(i, stripe)] for i in range(layout.k)]
            out = [made[layout.k + j, layout.position(layout.k + j, stripe)] for j in range(layout.m)]
            self._on_device(lambda inputs, outputs: code.encode(inputs, out=outputs), data, out)

        def write(stripe, region, position, at, view):
            entry.parity[region - layout.k, at:at + view.numel()].copy_(view)

        exchange.run(read, compute, write, self._waits)
        self._finish("encode", start, manifest, [entry], exchange)

    @no_collector()
    def _next_manifest(self, answers):
        layout = Layout(self.size, self.m)
        if not all(isinstance(a, list) and len(a) == 3 for a in answers):
            raise Damaged("a rank sent something else than its tensors")
        session, version = _next_key([a[:2] for a in answers])

        tensors = tuple(tensors_of(t) for _, _, t in answers)
        chunk = layout.chunk_bytes(max(map(snapshot_bytes, tensors)))
        manifest = Manifest(session, version, self.m, chunk, self._w, self._matrix, tensors)
        if chunk > MOST_BYTES or len(manifest.encode()) > MOST_MANIFEST_BYTES:
            raise NotPrepared("too many bytes, or too many tensors")
        return manifest, layout

    @no_collector()
    def _begin_encode(self, manifest, layout, named):
        self._code(manifest)
        entry = self.store.new(manifest, self.rank)
        for name, view in manifest.tensors(self.rank, entry.snapshot).items():
            view.copy_(named[name])
        for low, high in manifest.gaps(self.rank):
            entry.snapshot[low:high].zero_()
        return entry, self._exchange(manifest, lambda *sizes: pieces(encode_plan(layout), *sizes))

    def _piece_of(self, manifest):
        return max(256, min(self.piece, manifest.chunk))

    def _exchange(self, manifest, steps):
        """An Exchange of steps(chunk, piece)."""
        sizes = manifest.chunk, self._piece_of(manifest)
        return Exchange(steps(*sizes), self._wire, *sizes)

    @property
    def _waits(self):
        """Does a copy between the store and the pieces wait for a GPU?"""
        return self.store.device.type == "cpu"

    def _finish(self, call, start, manifest, entries, exchange, ranks=None):
        """Keeps new entries, and forgets what this rank holds of positions of other ranks. `ranks` has the rank of
        each position. When all ranks have done so, forgets older versions."""
        most = 0
        mine = [p for p, rank in enumerate(range(self.size) if ranks is None else ranks) if rank == self.rank]

        def put():
            nonlocal most
            most = self.store.bytes_held() + sum(e.snapshot.numel() + e.parity.numel() for e in entries)
            for entry in entries:
                self.store.put(entry)
            self.store.drop(lambda key, position: key == manifest.key and position not in mine)

        self._agree(exchange.error)  # before any rank keeps what it has received
        try:
            self._together(put)
        except NotPrepared:  # on all ranks. Rebuilt entries are as good as those of other ranks, and may stay.
            if call != "rebuild":
                with contextlib.suppress(OSError):
                    self.store.drop(lambda key, _: key == manifest.key)
            raise
        self._manifest = manifest
        self._done(call, start, exchange, most, lambda key, _: key != manifest.key)

    def _done(self, call, start, exchange, most=0, is_old=None):
        """The call has succeeded on all ranks: errors of the store are reported, and not raised."""
        self.report = Report(call, self._manifest.version, 0, exchange.sent, exchange.buffer_bytes(), most_held=most,
                             refused=getattr(self.store, "refused", {}))
        try:
            if is_old is not None:
                self.store.drop(is_old)
            self.report.held = self.store.bytes_held()
        except OSError as error:
            self.report.trouble = str(error)
        self.report.most_held = max(most, self.report.held)
        self.report.seconds = time.monotonic() - start

    def _on_device(self, call, inputs, outputs):
        """call(inputs, outputs) on the GPU where the pieces are, or on the store's for pieces in the CPU's memory."""
        device = self.store.device
        if self._wire.device.type == "cuda" or device.type == "cpu":
            return call(inputs, outputs)
        there = [None if t is None else t.to(device) for t in inputs]
        made = [torch.empty_like(t, device=device) for t in outputs]
        result = call(there, made)
        for to, of in zip(outputs, made):
            to.copy_(of)
        return result

    def update(self, tensors):
        """Makes a version in which some tensors have new contents: names, dtypes and shapes are those of the
        version before. Only pieces that changed are sent. A tensor that shares memory with another one, as tied weights
        do, is a tensor of its own in the version: give both. Otherwise as encode."""
        start, named, old = time.monotonic(), {}, None

        def describe():
            nonlocal old
            named.update(_named(tensors))
            old = self._changed(named)
            return [self.store.newest(), secrets.randbits(64)]

        session, version = _next_key(self._meet("update", describe))
        manifest = dataclasses.replace(self._manifest, session=session, version=version)
        layout = Layout(self.size, manifest.m)
        piece = self._piece_of(manifest)

        def begin():
            new = self.store.new(manifest, self.rank)
            new.snapshot.copy_(old.snapshot)
            new.parity.copy_(old.parity)
            views = manifest.tensors(self.rank, new.snapshot)
            for name, tensor in named.items():
                views[name].copy_(tensor)
            changed = []  # (chunk, start) of the pieces that differ
            for i in range(layout.k):
                for at in range(0, manifest.chunk, piece):
                    low, high = i * manifest.chunk + at, i * manifest.chunk + min(at + piece, manifest.chunk)
                    if not torch.equal(old.snapshot[low:high], new.snapshot[low:high]):
                        changed.append((i, at))
            return new, changed

        new, changed = self._together(begin)
        of_rank = [set(_rows(items, 2)) for items in self._gather_json(changed)]
        code, delta = self._code(manifest), torch.empty(piece, dtype=torch.uint8, device=self.store.device)

        def read(stripe, position, at, view):
            low = layout.region(position, stripe) * manifest.chunk + at
            part = delta[:view.numel()]
            _read_piece(new.snapshot, low, part)
            before = torch.empty_like(part)
            _read_piece(old.snapshot, low, before)
            view.copy_(torch.bitwise_xor(part, before))

        def compute(stripe, at, regions, made):
            some = next(iter(regions.values()))
            zeros = torch.zeros_like(some)
            data = [regions.get(layout.position(i, stripe), zeros) for i in range(layout.k)]
            out = [made[layout.k + j, layout.position(layout.k + j, stripe)] for j in range(layout.m)]
            self._on_device(lambda inputs, outputs: code.encode(inputs, out=outputs), data, out)

        def write(stripe, region, position, at, view):
            part = new.parity[region - layout.k, at:at + view.numel()]
            part.bitwise_xor_(view.to(part.device))

        steps = []
        for at in range(0, manifest.chunk, piece):
            plan = Plan(list(range(self.size)), self.size)
            for t in range(layout.positions):
                inputs = [p for i in range(layout.k) for p in [layout.position(i, t)] if (i, at) in of_rank[p]]
                if inputs:
                    plan.add(t, t, inputs, [(layout.k + j, layout.position(layout.k + j, t))
                                            for j in range(layout.m)])
            if plan.stripes:
                steps.append(Step.at(plan, at))
        exchange = self._together(lambda: Exchange(steps, self._wire, manifest.chunk, piece))
        exchange.run(read, compute, write, self._waits)
        self._finish("update", start, manifest, [new], exchange)

    def _changed(self, named):
        """This rank's entry, in which these tensors have new contents."""
        manifest = self._current()
        if len(manifest.ranks) != self.size:
            raise NotPrepared("the version is of other ranks than this group's: encode comes first")
        entry = _held(manifest, self.store.entries()).get(self.rank)
        if entry is None:
            raise NotPrepared(f"the store has lost this rank's part of the version: rebuild comes first "
                              f"{getattr(self.store, 'refused', '')}")
        views = manifest.tensors(self.rank, entry.snapshot)
        for name, tensor in named.items():
            if name not in views or views[name].dtype != tensor.dtype or views[name].shape != tensor.shape:
                raise ValueError(f"the version has no tensor {name!r} of this dtype and shape")
        return entry

    def _current(self):
        if self._manifest is None:
            raise NotPrepared("there is no version yet: encode makes one, rebuild finds one")
        return self._manifest

    # ---- calls that read a version -----------------------------------------------------------------

    def restore(self, position=None):
        """{name: tensor}: copies of the tensors of the current version at this rank's position, or at another one
        that this rank has rebuilt. Tensors that were dense have their strides, others are contiguous."""
        self._check_store()
        manifest = self._current()
        held = _held(manifest, self.store.entries())
        position = self.rank if position is None else position
        if position not in held:
            raise KeyError(f"this rank does not hold position {position}, but {sorted(held)}")
        return {name: tensor.clone() for name, tensor in manifest.tensors(position, held[position].snapshot).items()}

    def verify(self):
        """Does the parity match the snapshots, on all ranks? All ranks get the answer."""
        good = True

        def compute(layout, code, stripe, rows):
            nonlocal good
            good = self._on_device(lambda inputs, _: code.verify(inputs[:layout.k], inputs[layout.k:]),
                                   rows, []) and good

        self._examine("verify", compute)
        return all(answer == b"1" for answer in self._wire.gather(b"1" if good else b"0"))

    def locate(self):
        """Which positions are wrong? Names up to floor(m/2) wrong positions at each place, so m is at least 2.
        Reads only."""
        found = Located()

        def compute(layout, code, stripe, rows):
            verdict = self._on_device(lambda inputs, _: code.locate(inputs[:layout.k], inputs[layout.k:]), rows, [])
            found.unexplained += verdict.unexplained
            for region, count in enumerate(verdict.counts):
                if count:
                    p = layout.position(region, stripe)
                    found.positions[p] = found.positions.get(p, 0) + int(count)

        self._examine("locate", compute)
        total = Located()
        nobody = len(self._manifest.ranks)  # stands for the places that are not explained
        for counts in self._gather_json([[nobody, found.unexplained], *found.positions.items()]):
            for p, count in _rows(counts, 2):
                if p > nobody:
                    raise Damaged(f"a rank names position {p}, which does not exist")
                total.positions[p] = total.positions.get(p, 0) + count
        total.unexplained = total.positions.pop(nobody)
        return total

    def _examine(self, call, compute):
        """Takes all regions of each stripe to one rank: compute(layout, code, stripe, rows)."""
        start, entries = time.monotonic(), []

        def look():
            self._current()
            entries.extend(self.store.entries())
            return _rows_of(entries)

        found = _holders(self._meet(call, look))
        manifest = self._manifest
        layout = Layout(len(manifest.ranks), manifest.m)
        holders = found.get((*manifest.key, manifest.crc), {})
        missing = [p for p in range(layout.positions) if p not in holders]
        if missing:
            raise NotPrepared(f"nobody holds positions {missing}: rebuild comes first")
        plan = Plan([holders[p].rank for p in range(layout.positions)], self.size)
        for t in range(layout.positions):
            plan.add(t, holders[t].rank, range(layout.positions))
        code, exchange = self._together(lambda: (
            self._code(manifest), self._exchange(manifest, lambda *sizes: pieces(plan, *sizes))))

        def all_regions(stripe, at, regions, made):
            compute(layout, code, stripe, [regions[layout.position(i, stripe)] for i in range(layout.positions)])

        exchange.run(_reader(layout, manifest, entries), all_regions, None)
        self._agree(exchange.error)
        self._done(call, start, exchange)

    # ---- after a loss ------------------------------------------------------------------------------

    def rebuild(self, lost=None, *, holders=None):
        """Finds the newest version that enough ranks hold, and rebuilds the positions that are lost.

        lost     positions whose contents are not to be used, even if a rank has them: that rank forgets them when
                 they are rebuilt; None: those that no rank holds
        holders  {position: rank} says which rank shall hold a lost position; without it the rank of the same
                 number, which has taken the lost rank's place

        All ranks of the group call it, those that replace lost ones with an empty store. Returns the positions
        that were rebuilt. Raises TooManyErasures on all ranks if more than m are lost; NotPrepared; RankLost."""
        start = time.monotonic()
        entries, facts = [], []

        def look():
            if lost is not None and (isinstance(lost, (str, bytes)) or not isinstance(lost, Iterable)):
                raise TypeError(f"lost is a list of positions, not {type(lost).__name__}")
            facts.append(None if lost is None else sorted({_index(p, "position") for p in lost}))
            facts.append(sorted((_index(p, "position"), _index(r, "rank", self.size))
                                for p, r in dict(holders or {}).items()))
            entries.extend(self.store.entries())
            return _rows_of(entries)

        found = _holders(self._meet("rebuild", look, facts))
        wanted, holders = facts[0], dict(facts[1])
        manifest, held = self._newest(found, entries, wanted)
        layout = Layout(len(manifest.ranks), manifest.m)
        for p in [*(wanted or []), *holders]:
            _index(p, "position", layout.positions)
        lost = [p for p in range(layout.positions) if p not in held]
        targets = {p: holders.get(p, p) for p in lost}
        if any(r >= self.size for r in targets.values()):
            raise ValueError(f"positions {lost} are lost, and the group has {self.size} ranks: holders must say "
                             "which of them take their place")
        ranks = [held[p].rank if p in held else targets[p] for p in range(layout.positions)]
        decoders, new, of_version = {}, {}, found[*manifest.key, manifest.crc]

        def begin():
            decoders.update(rebuild_decoders(layout, lost, self._code(manifest)))
            new.update((p, self.store.new(manifest, p)) for p in lost if targets[p] == self.rank)
            for p, entry in new.items():
                entry.rebuilt = 1 + (of_version[p].rebuilt if p in of_version else 0)
            return self._exchange(manifest, lambda *sizes: rebuild_steps(layout, ranks, self.size, decoders, *sizes))

        exchange = self._together(begin)

        def compute(stripe, at, regions, made):
            rows = [regions.get(layout.position(i, stripe)) for i in range(layout.positions)]
            out = [made[region, layout.position(region, stripe)] for region in decoders[stripe].lost]
            self._on_device(lambda inputs, outputs: decoders[stripe].run(
                inputs[:layout.k], inputs[layout.k:], out=outputs), rows, out)

        def write(stripe, region, position, at, view):
            entry = new[position]
            if region >= layout.k:
                entry.parity[region - layout.k, at:at + view.numel()].copy_(view)
                return
            low = region * manifest.chunk + at
            part = entry.snapshot[low:low + view.numel()]
            part.copy_(view[:part.numel()])

        exchange.run(_reader(layout, manifest, entries), compute, write, self._waits)
        self._finish("rebuild", start, manifest, list(new.values()), exchange, ranks)
        return lost

    def _newest(self, found, entries, lost):
        """The manifest of the newest version that can be rebuilt, and {position: Holder} of it. Of versions with one
        number, that of which most positions are there."""
        refused = []
        for key in sorted(found, key=lambda key: (key[1], len(found[key]), key), reverse=True):
            held = {p: holder for p, holder in found[key].items() if lost is None or p not in lost}
            if not held:
                continue
            source = min(holder.rank for holder in held.values())
            mine = [e.manifest for e in entries if (*e.manifest.key, e.manifest.crc) == key]
            text = self._wire.share(mine[0].encode() if self.rank == source and mine else b"", source)
            try:  # all ranks have the same text
                manifest = Manifest.decode(text)
                if (*manifest.key, manifest.crc) != key:
                    raise Damaged("the manifest is not the one that was announced")
            except Damaged as error:
                refused.append(f"version {key[1]}: rank {source}: {error}")
                continue
            held = {p: holder for p, holder in held.items() if p < len(manifest.ranks)}
            if len(held) >= len(manifest.ranks) - manifest.m:
                return manifest, held
            refused.append(f"version {key[1]}: {len(manifest.ranks) - len(held)} ranks are lost, and "
                           f"{manifest.m} parities are there")
        if not refused:
            raise NotPrepared("no rank holds a version")
        raise gfk.TooManyErasures("; ".join(refused[:9]))


def _named(tensors):
    if isinstance(tensors, torch.Tensor) or not isinstance(tensors, Iterable):
        raise TypeError(f"tensors are a list of tensors, or a dict of tensors with names, not {type(tensors).__name__}")
    named = dict(tensors) if isinstance(tensors, Mapping) else {str(i): t for i, t in enumerate(tensors)}
    for name, tensor in named.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            raise TypeError("tensors are a list of tensors, or a dict of tensors with names")
        if not _is_memory(tensor):
            raise TypeError(f"tensor {name!r} is more than its own memory, or has none: {remedy(tensor)}")
        if _dtype_name(tensor) not in DTYPES or tensor.layout != torch.strided or tensor.is_nested:
            raise TypeError(f"tensor {name!r}: {tensor.dtype}, {tensor.layout} cannot be protected")
    return {name: tensor.detach() for name, tensor in named.items()}


def _is_memory(tensor):
    """Is the tensor its elements in memory, and nothing else? Tensors that wrap others, such as quantized ones, are
    not: copying one computes values of another type. Memory is missing where its storage was freed."""
    kind = type(tensor)
    if is_traced(tensor) or torch.nn.parameter.is_lazy(tensor):
        return False
    if kind.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__ or hasattr(tensor, "__tensor_flatten__"):
        return False
    if getattr(kind.__torch_function__, "__func__", kind.__torch_function__) not in (
            torch.Tensor.__torch_function__.__func__, torch.nn.Parameter.__torch_function__):
        return False
    if tensor.layout != torch.strided or tensor.is_nested or tensor.numel() == 0:
        return True
    last = sum((n - 1) * stride for n, stride in zip(tensor.shape, tensor.stride()))
    there = tensor.untyped_storage().nbytes()
    return tensor.device.type != "meta" and (tensor.storage_offset() + last + 1) * tensor.element_size() <= there


def _dtype_name(tensor):
    return str(tensor.dtype).removeprefix("torch.")


def _described(named):
    return [[name, _dtype_name(t), list(t.shape), *_order(t)] for name, t in named.items()]


def _order(tensor):
    """[the strides], for a tensor that is dense in another order than that of its dimensions, as channels_last is."""
    if tensor.is_contiguous() or tensor.numel() == 0 or not is_dense(tensor.shape, tensor.stride()):
        return []
    return [list(tensor.stride())]


def _rows(value, width):
    """Rows of numbers that came from another rank, as tuples."""
    if not isinstance(value, list) or not all(
            isinstance(row, list) and len(row) == width and
            all(type(n) is int and 0 <= n < 1 << 64 for n in row) for row in value):
        raise Damaged("a rank sent something else than rows of numbers")
    return [tuple(row) for row in value]


@dataclasses.dataclass(order=True)
class Holder:
    """A rank that has a position of a version. Of several the one counts that was rebuilt last, since a wrong copy
    may be left where a rank ended before it forgot its own; and of these, the lowest rank."""

    rebuilt: int
    minus_rank: int

    @property
    def rank(self):
        return -self.minus_rank


def _held(manifest, entries):
    """{position: entry} of a version."""
    return {e.position: e for e in entries if e.manifest == manifest}


def _rows_of(entries):
    """What `_holders` understands."""
    return [[int(e.manifest.session, 16), e.manifest.version, e.manifest.crc, e.position, e.rebuilt] for e in entries]


def _holders(answers):
    """{(session, version, checksum of the manifest): {position: Holder}} of what all ranks have."""
    found = {}
    for rank, rows in enumerate(answers):
        for session, version, crc, position, rebuilt in _rows(rows, 5):
            of_version = found.setdefault((f"{session:016x}", version, crc), {})
            holder = Holder(rebuilt, -rank)
            of_version[position] = max(of_version.get(position, holder), holder)
    return found


def _next_key(answers):
    """The session and the number of a new version, from the newest number and the 64 random bits of each rank. The
    number is newer than what any rank may find in its store later, and the session another one for each version,
    since a number that was given up may be given again."""
    answers = _rows(answers, 2)
    version = 1 + max(newest for newest, _ in answers)
    if version > MOST_VERSION:
        raise NotPrepared(f"a rank has version {version - 1}, and there is no higher number: remove its files")
    return f"{answers[0][1]:016x}", version


def _integer(value, what):
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: an integer is needed, not {type(value).__name__}") from None


def _index(value, what, end=1 << 63):
    """A position or a rank that the caller gave."""
    number = _integer(value, what)
    if not 0 <= number < end:
        raise ValueError(f"{what} {number} does not exist" + (f": there are {end}" if end < 1 << 63 else ""))
    return number


def _read_piece(snapshot, low, view):
    """Bytes of a snapshot, with zeros behind its end."""
    part = snapshot[low:low + view.numel()]
    view[:part.numel()].copy_(part)
    view[part.numel():].zero_()


def _reader(layout, manifest, entries):
    """Reads regions of the positions that this rank holds."""
    held = _held(manifest, entries)

    def read(stripe, position, at, view):
        region = layout.region(position, stripe)
        if region < layout.k:
            _read_piece(held[position].snapshot, region * manifest.chunk + at, view)
        else:
            view.copy_(held[position].parity[region - layout.k, at:at + view.numel()])

    return read
