# SPDX-License-Identifier: BSD-3-Clause
"""Costs on paper, beside the formulas, what ranks really send, and the table of the manual; and the examples."""

import importlib
import pathlib
import runpy
import subprocess
import sys

import pytest

pytest.importorskip("torch")

import ranks  # noqa: E402
import torch  # noqa: E402

import gfk  # noqa: E402
from gfk.distributed import ParityGroup  # noqa: E402
from gfk.distributed._layout import Layout, rebuild_decoders, rebuild_steps  # noqa: E402
from gfk.distributed.costs import costs, table  # noqa: E402

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = REPOSITORY / "examples" / "python"


@pytest.mark.parametrize("n", [2, 3, 5, 8, 16, 64])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_costs_are_those_of_the_formulas(n, m):
    if m >= n:
        return
    k = n - m
    size, piece = 256 * 1000 * k, 2560
    c = costs(n, m, size, piece=piece)
    assert c.encode.sent == c.encode.received == size * (n - 1) // k
    assert c.parity == m * size // k
    for lost in range(1, m + 1):
        c = costs(n, m, size, lost=lost, piece=piece)
        survivors = n - lost
        assert c.rebuild.sent >= size * n * (k - 1 + lost) // (k * survivors), "the mean of the survivors"
        assert c.rebuild.received >= size * n // k, "what a rebuilt rank receives"
        # No link waits for another one: a step takes what the rank that sends most, or a rebuilt rank, has to do.
        one_step = max(k - 1 + lost, survivors, k) + (lost < m)
        assert c.rebuild.busiest <= 1.03 * one_step * size * n // (k * survivors)


@pytest.mark.parametrize("n, m, lost", [(64, 4, 4), (64, 4, 1), (8, 3, 2), (5, 2, 2), (3, 2, 1), (2, 1, 1)])
def test_every_survivor_rebuilds_one_stripe_of_a_step(n, m, lost):
    layout, chunk, piece = Layout(n, m), 256 * 37, 512
    gone = range(1, 1 + lost)
    steps = rebuild_steps(layout, list(range(n)), n, rebuild_decoders(layout, gone, gfk.RS(n - m, m)), chunk, piece)
    done = [item for step in steps for item in step.starts.items()]
    assert sorted(done) == [(t, start) for t in range(n) for start in range(0, chunk, piece)]
    for step in steps:
        workers = [worker for _, worker, _, _ in step.plan.stripes]
        assert len(set(workers)) == len(workers) and not set(workers) & set(gone)
        assert step is steps[-1] or len(workers) == n - lost


def send(rank, m, size):
    group = ParityGroup(m=m, piece=1 << 16)
    group.encode([torch.full((size,), rank, dtype=torch.uint8)])
    encode = group.report
    group.rebuild(lost=range(m))
    return encode.sent, group.report.sent, encode.buffers, encode.held - size, encode.most_held


@pytest.mark.parametrize("n, m", [(5, 2), (4, 1)])
def test_ranks_send_what_the_costs_say(n, m):
    size = 1 << 18
    found, c = ranks.run(n, send, m, size), costs(n, m, size, piece=1 << 16)
    assert {f[0] for f in found} == {c.encode.sent}
    assert max(f[1] for f in found) == c.rebuild.sent
    assert {f[2] for f in found} == {c.buffers} and {f[3] for f in found} == {c.parity}
    assert c.encode.sent < 1.05 * size * (n - 1) / (n - m)


def test_the_manual_has_the_table():
    manual = (REPOSITORY / "docs" / "distributed" / "README.md").read_text()
    assert "\n".join(table()) in manual, "python -m gfk.distributed.costs prints the table"


@pytest.fixture
def train_through_kills(monkeypatch):
    """The example in this process, where torch is imported: a function of its arguments."""
    monkeypatch.syspath_prepend(EXAMPLES)

    def train(*arguments):
        monkeypatch.setattr(sys, "argv", ["train_through_kills.py", *arguments])
        importlib.import_module("train_through_kills").main()

    return train


def test_example_of_kills():
    done = subprocess.run([sys.executable, EXAMPLES / "train_through_kills.py", "--steps", "12"], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bit for bit" in done.stdout and "rebuilt ranks [" in done.stdout


@pytest.mark.parametrize("kill_at", [1, 2], ids=["in the last step", "behind it"])
def test_example_of_kills_at_the_end(train_through_kills, capsys, kill_at):
    example = importlib.import_module("train_through_kills")
    assert example.run(2, kill_at, [0, 3]) == example.run(2)
    output = capsys.readouterr().out
    assert f"ranks [0, 3] were killed, with {kill_at} steps done" in output
    assert "rebuilt ranks [0, 3], and going on from step 0" in output


def test_example_of_kills_says_when(train_through_kills, capsys):
    train_through_kills("--steps", "6", "--kill-at", "5")
    output = capsys.readouterr().out
    assert "were killed, with 5 steps done" in output and "and going on from step 4" in output
    assert "bit for bit" in output


@pytest.mark.parametrize("arguments", [["--steps", "1"], ["--steps", "4", "--kill-at", "4"]], ids=str)
def test_example_of_kills_refuses_steps_that_are_not_there(train_through_kills, capsys, arguments):
    with pytest.raises(SystemExit, match="^2$"):
        train_through_kills(*arguments)
    error = capsys.readouterr().err
    assert "usage:" in error and "Traceback" not in error


def checkpoint(rank, folder):
    example = runpy.run_path(str(EXAMPLES / "parity_checkpoint.py"))
    return example["demonstrate"](folder, 2)


def test_example_of_a_checkpoint(tmp_path):
    assert ranks.run(5, checkpoint, tmp_path) == [[3, 4]] * 5
