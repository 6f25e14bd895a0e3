# SPDX-License-Identifier: BSD-3-Clause
"""Parity instead of copies in the local checkpoints of nvidia-resiliency-ext:

    strategy = gfk.distributed.resiliency.ParityStrategy(group, m=2)
    manager = LocalCheckpointManager(folder, repl_strategy=strategy)

Every rank saves its own checkpoint and m files of parity. The files have the ids of the next m ranks of the
group, so that the manager finds an id of every rank while at most m ranks have lost their files. A checkpoint
that does not match its checksum counts as lost.

The manager's own files are pickles, as without this module: only read folders that you trust.
"""

import json
import pickle
import zlib

import torch
import torch.distributed as dist
from nvidia_resiliency_ext.checkpointing.local.base_state_dict import TensorAwareStateDict
from nvidia_resiliency_ext.checkpointing.local.replication.group_utils import GroupWrapper, parse_group_sequence
from nvidia_resiliency_ext.checkpointing.local.replication.strategies import (
    LazyReplicationStrategyBuilder, ReplicationStrategy)

import gfk

from . import Damaged, MemoryStore, ParityGroup, _rows
from ._store import Manifest, crc

__all__ = ["LazyParityStrategy", "ParityShard", "ParityStrategy"]

HOLLOW = "hollow"  # the name of the state dict without its tensors, among the tensors "0", "1", ...


class ParityShard(TensorAwareStateDict):
    """One parity chunk of one rank, as the manager saves it.

    manifest   what Manifest.encode gives
    position   of the rank that has the chunk; `row` is its number, 0 to m - 1
    checksums  of the snapshots of all ranks
    hollow     the rank's own state dict without its tensors, pickled
    """

    def __init__(self, manifest, position, row, checksums, hollow, parity):
        self.manifest, self.position, self.row, self.checksums = manifest, position, row, checksums
        self.hollow, self.parity = hollow, parity
        self.checksum = self._checksum()

    def _checksum(self):
        head = json.dumps([self.position, self.row, self.checksums]).encode()
        return zlib.crc32(self.manifest + head + self.hollow, crc(self.parity))

    def check(self, position, row):
        """Raises Damaged unless this is the chunk that was saved here; returns the manifest."""
        try:
            manifest = Manifest.decode(self.manifest)
            good = (self.position, self.row, self.checksum) == (position, row, self._checksum())
            good = good and row < manifest.m and self.parity.shape == (manifest.chunk,)
            good = good and self.parity.dtype == torch.uint8 and len(self.checksums) == len(manifest.ranks)
        except (AttributeError, TypeError, ValueError) as error:
            raise Damaged(f"no parity chunk: {error}") from error
        if not good:
            raise Damaged("the parity chunk does not match its checksum, or is another rank's")
        return manifest

    def pop_tensors(self):
        made, self.parity = [self.parity], None
        return made

    @property
    def tensors(self):
        yield self.parity

    @property
    def is_hollow(self):
        return self.parity is None

    def insert_tensors(self, tensor_data):
        self.parity, = tensor_data

    def init_tensors(self):
        self.parity = torch.empty(Manifest.decode(self.manifest).chunk, dtype=torch.uint8)

    def copy_tensors_to_cpu(self, non_blocking=False):
        self.parity = self.parity.cpu()

    def restore_tensor_device(self, non_blocking=True):
        pass


class Plan:
    """What this rank reads of an iteration: all that it has."""

    def __init__(self, wanted, ids):
        self.wanted, self.ids = wanted, set(ids)

    def required_ids(self):
        return self.ids


class ParityStrategy(ReplicationStrategy):
    """Stores the parity of a process group's ranks: any m of them may lose their files.

    group    a process group of torch.distributed; None: the default one
    m        ranks that may be lost, 1 to N - 1
    device   where snapshots and parity are while they are made
    options  of ParityGroup: w, matrix, piece, timeout
    """

    def __init__(self, group=None, m=1, *, device="cpu", **options):
        self.group = dist.group.WORLD if group is None else group
        self.ranks = dist.get_process_group_ranks(self.group)
        self.m, self.device, self.options = m, device, options
        self.report = None  # of the last call's ParityGroup
        self.refused = None  # why this rank's own files were not used by the last load

    @classmethod
    def of_groups(cls, size, jump=1, m=1, **options):
        """Splits all ranks into groups of ranks n, n + jump, ..., as CliqueReplicationStrategy does: with the
        ranks of a node as `jump`, each rank of a group is on a node of its own."""
        groups = parse_group_sequence(replication_jump=jump, replication_factor=size,
                                      world_size=dist.get_world_size())
        made = GroupWrapper.from_list_of_groups([dist.new_group(g) for g in groups])
        return cls(made.group, m, **options)

    def _parity_group(self):
        return ParityGroup(self.group, self.m, store=MemoryStore(self.device), **self.options)

    # ---- saving ------------------------------------------------------------------------------------

    def replicate(self, local_ckpt, id_):
        """The checkpoint itself and m parity chunks, with their ids."""
        group = self._parity_group()
        named = group._together(lambda: _named(local_ckpt))
        group.encode(named)
        self.report = group.report
        entry, = group.store.entries()
        checksums = [_rows([[n]], 1)[0][0] for n in group._gather_json(crc(entry.snapshot))]
        text, hollow = entry.manifest.encode(), named[HOLLOW].numpy().tobytes()
        shards = [ParityShard(text, entry.position, row, checksums, hollow, entry.parity[row].to("cpu", copy=True))
                  for row in range(self.m)]
        return [local_ckpt, *shards], [id_, *self._shard_ids(id_)]

    def _shard_ids(self, id_):
        """The ids of the next m ranks."""
        iteration, rank, session = id_
        position = self.ranks.index(rank)
        return [(iteration, self.ranks[(position + 1 + row) % len(self.ranks)], session) for row in range(self.m)]

    # ---- loading -----------------------------------------------------------------------------------

    def retrieve_plan(self, globally_available_ids, wanted):
        """Raises gfk.TooManyErasures, on all ranks of the group, if too many have lost their files."""
        own, = wanted
        whole = {r for r in self.ranks if self._is_whole(globally_available_ids[r], (own[0], r, own[2]))}
        if len(self.ranks) - len(whole) > self.m:
            others = sorted({i for r in self.ranks for i, _, _ in globally_available_ids[r]} - {own[0]})
            good = [i for i in others if sum(self._is_whole(globally_available_ids[r], (i, r, own[2]))
                                             for r in self.ranks) >= len(self.ranks) - self.m]
            raise gfk.TooManyErasures(
                f"iteration {own[0]}: ranks {sorted(set(self.ranks) - whole)} have lost their files, and {self.m} "
                f"parities are there; iterations that can be rebuilt, once the files of newer ones are removed: "
                f"{good}")
        mine = globally_available_ids[own[1]]
        return Plan(own, [own, *self._shard_ids(own)] if self._is_whole(mine, own) else [])

    def _is_whole(self, available, own):
        return {own, *self._shard_ids(own)} <= set(available)

    def retrieve_execute(self, plan, my_data):
        """{id: state dict}: the one that was saved, or what the other ranks rebuild of it. Raises
        gfk.TooManyErasures on all ranks if too many are lost or damaged."""
        group = self._parity_group()
        position, checksums, own = self.ranks.index(plan.wanted[1]), None, None
        self.refused = None
        if plan.ids:
            try:
                own, checksums = self._put(group.store, position, plan, my_data)
            except Exception as error:  # an object of a damaged pickle may raise anything
                self.refused = str(error) if isinstance(error, Damaged) else f"{type(error).__name__}: {error}"
        rebuilt = group.rebuild()
        self.report = group.report
        of_others = [rows for rows in group._gather_json([] if checksums is None else [checksums]) if rows]

        def result():
            if position not in rebuilt:
                return own
            entry, = group.store.entries()
            if crc(entry.snapshot) != _rows(of_others[0], len(self.ranks))[0][position]:
                raise Damaged("what was rebuilt does not match its checksum")
            return _state_dict(group.restore())

        return {plan.wanted: group._together(result)}

    def _put(self, store, position, plan, my_data):
        """Puts what this rank has read into the store. Returns its state dict, the tensors with the rest that the
        parity is of, since no checksum covers the rest in the rank's own file; and the checksums of all ranks."""
        shards = [my_data[i] for i in self._shard_ids(plan.wanted)]
        if not all(isinstance(shard, ParityShard) for shard in shards):
            raise Damaged("no parity chunk")
        manifest = [shard.check(position, row) for row, shard in enumerate(shards)][0]
        first = shards[0]
        if any((s.manifest, s.checksums, s.hollow) != (first.manifest, first.checksums, first.hollow)
               for s in shards):
            raise Damaged("the parity chunks are of several checkpoints")
        if len(manifest.ranks) != len(self.ranks) or manifest.m != self.m:
            raise Damaged("the checkpoint is of another group")
        entry = store.new(manifest, position)
        entry.snapshot.zero_()
        views = manifest.tensors(position, entry.snapshot)
        found = list(my_data[plan.wanted].tensors)
        tensors = {str(i): t for i, t in enumerate(found)}
        tensors[HOLLOW] = _bytes(first.hollow)
        for name, view in views.items():
            if name not in tensors or (tensors[name].dtype, tensors[name].shape) != (view.dtype, view.shape):
                raise Damaged("the checkpoint is not the one that the parity is of")
            view.copy_(tensors[name])
        if len(tensors) != len(views) or crc(entry.snapshot) != first.checksums[position]:
            raise Damaged("the checkpoint does not match its checksum")
        for row, shard in enumerate(shards):
            entry.parity[row].copy_(shard.parity)
        own = pickle.loads(first.hollow)
        own.insert_tensors(found)
        store.put(entry)
        return own, first.checksums


class LazyParityStrategy(LazyReplicationStrategyBuilder):
    """ParityStrategy.of_groups(...), made at the first call: when there are process groups."""

    def __init__(self, size, jump=1, m=1, **options):
        super().__init__()
        self._arguments, self._options = (size, jump, m), options

    def _eager_build(self):
        return ParityStrategy.of_groups(*self._arguments, **self._options)


def _bytes(text):
    return torch.frombuffer(bytearray(text), dtype=torch.uint8)


def _named(state_dict):
    """The tensors of a state dict, and the pickled rest."""
    tensors = list(state_dict.pop_tensors())
    try:
        hollow = pickle.dumps(state_dict)
    finally:
        state_dict.insert_tensors(tensors)
    return {HOLLOW: _bytes(hollow)} | {str(i): t for i, t in enumerate(tensors)}


def _state_dict(named):
    """The state dict that takes over such tensors, which have been checked."""
    made = pickle.loads(named.pop(HOLLOW).cpu().numpy().tobytes())
    made.insert_tensors([named[str(i)] for i in range(len(named))])
    made.restore_tensor_device(non_blocking=False)
    return made
