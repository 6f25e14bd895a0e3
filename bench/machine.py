# SPDX-License-Identifier: BSD-3-Clause
"""What the Python benchmarks say of the machine."""

import pathlib
import platform


def processors():
    """The name of each core's processor; that of the architecture where /proc does not tell."""
    lines = pathlib.Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    return [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")] or [platform.machine()]
