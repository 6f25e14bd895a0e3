# SPDX-License-Identifier: BSD-3-Clause
"""Processes that are killed at random moments of encode, update and rebuild, and replaced."""

import os
import random
import tempfile
import time

import pytest

pytest.importorskip("torch")

import ranks  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

from gfk.distributed import MemoryStore, ParityGroup, RankLost  # noqa: E402

SIZE, M = 5, 2
SECONDS = 4  # limit of a collective: a rank that waits for one that has given up waits so long
ROUNDS = int(os.environ.get("GFK_KILLS", "5"))


def tensors_of(rank, step):
    generator = torch.Generator().manual_seed(100 * step + rank)
    return {"x": torch.randint(0, 256, (60000 + 999 * rank,), dtype=torch.uint8, generator=generator)}


def serve(connection, rank):
    """A rank's process: does what the pipe says, and answers with what came of it."""
    store, group = MemoryStore(), None
    while True:
        try:
            name, argument = connection.recv()
        except EOFError:
            return
        try:
            if name == "join":
                if dist.is_initialized():
                    dist.destroy_process_group()
                ranks.join(argument, rank, SIZE, seconds=SECONDS)
                group = ParityGroup(m=M, store=store, piece=1024)
                answer = None
            elif name == "encode":
                answer = group.encode(tensors_of(rank, argument))
            elif name == "update":
                answer = group.update(tensors_of(rank, argument))
            elif name == "rebuild":
                answer = group.rebuild()
            elif name == "state":
                answer = group.version, group.restore()["x"].numpy().tobytes(), group.verify()
            connection.send((True, answer))
        except RankLost as error:
            connection.send((False, str(error)))


class Job:
    def __init__(self, folder):
        self.folder, self.joined = folder, 0
        self.processes, self.ends = [None] * SIZE, [None] * SIZE
        for rank in range(SIZE):
            self.start(rank)

    def start(self, rank):
        self.ends[rank], theirs = ranks.context.Pipe()
        self.processes[rank] = ranks.context.Process(target=serve, args=(theirs, rank), daemon=True)
        self.processes[rank].start()
        theirs.close()

    def kill(self, rank):
        self.processes[rank].kill()
        self.processes[rank].join()

    def begin(self, name, argument=None):
        for end in self.ends:
            end.send((name, argument))

    def answers(self):
        """(good, answer) of each rank; None of those that were killed."""
        made = []
        for end in self.ends:
            try:
                assert end.poll(60), "a rank hangs"
                made.append(end.recv())
            except (EOFError, ConnectionResetError):
                made.append(None)
        return made

    def call(self, name, argument=None):
        self.begin(name, argument)
        answers = self.answers()
        assert all(a is not None and a[0] for a in answers), answers
        return [a[1] for a in answers]

    def join(self):
        self.joined += 1
        self.call("join", f"{self.folder}/group{self.joined}")

    def stop(self):
        for process in self.processes:
            process.kill()


def test_kills_at_random_moments():
    rng = random.Random(5)
    interrupted = 0
    with tempfile.TemporaryDirectory() as folder:
        job = Job(folder)
        try:
            job.join()
            start = time.monotonic()
            job.call("encode", 0)
            duration = time.monotonic() - start
            step = kills = 0
            for _ in range(ROUNDS):
                before, step = step, step + 1
                killed = rng.sample(range(SIZE), rng.choice([1, 1, 2]))
                job.begin(rng.choice(["encode", "update"]), step)
                time.sleep(rng.random() * duration)
                for rank in killed:
                    job.kill(rank)
                kills += len(killed)
                interrupted += any(a is not None and not a[0] for a in job.answers())
                for rank in killed:
                    job.start(rank)
                job.join()
                if len(killed) < M and rng.random() < 0.5:  # another one while the first is rebuilt
                    job.begin("rebuild")
                    time.sleep(rng.random() * duration)
                    other = rng.choice([r for r in range(SIZE) if r not in killed])
                    job.kill(other)
                    kills += 1
                    job.answers()
                    job.start(other)
                    job.join()
                job.call("rebuild")
                states = job.call("state")
                versions = {version for version, _, _ in states}
                assert len(versions) == 1 and all(good for _, _, good in states)
                contents = [found for _, found, _ in states]
                wanted = [[tensors_of(r, s)["x"].numpy().tobytes() for r in range(SIZE)] for s in (before, step)]
                assert contents in wanted, "a mixture of two versions"
                step = (before, step)[wanted.index(contents)]
        finally:
            job.stop()
    print(f"{kills} ranks were killed, and {interrupted} of {ROUNDS} calls were interrupted")
    assert interrupted > 0, "no kill came in time"
