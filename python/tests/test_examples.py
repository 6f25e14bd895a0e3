# SPDX-License-Identifier: BSD-3-Clause
"""The programs of examples/python."""

import pathlib
import subprocess
import sys

import gfk
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"


def output_of(name, *arguments):
    command = [sys.executable, EXAMPLES / name, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("arguments", [(), ("--numpy", "-m", 3)], ids=str)
def test_protect_tensors(arguments):
    text = output_of("protect_tensors.py", *arguments)
    assert "lost: embedding, head" in text and "the hashes of all tensors are as before" in text


def test_protect_tensors_notices_a_wrong_tensor():
    program = (EXAMPLES / "protect_tensors.py").read_text()
    program = program.replace("tensors.update(made)", "tensors.update(made); made[lost[0]][...] = 1")
    done = subprocess.run([sys.executable, "-c", program, "--numpy"], capture_output=True, text=True)
    assert done.returncode == 1 and "WRONG" in done.stdout, done.stdout + done.stderr


def test_rates(tmp_path):
    text = output_of("rates.py", "--out", tmp_path, "--megabytes", 0.01, "--seconds", 0.0005)
    page = (tmp_path / "rates.html").read_text()
    assert "wrote" in text and "<h2>" in page
    family = "host" if "in the memory of the CPU" in page else "perop"  # engines of the place of the arrays
    for engine in gfk.engines():
        if engine.available and engine.family == family:
            assert f"<td>{engine.id}<td>" in page
    assert ("<img" in page) != ("no matplotlib" in page)
