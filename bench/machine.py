# SPDX-License-Identifier: BSD-3-Clause
"""What the Python benchmarks say of the machine."""

import os
import pathlib
import platform
import subprocess


def processors():
    """The name of each core's processor; that of the architecture where /proc does not tell."""
    lines = pathlib.Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    return [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")] or [platform.machine()]


def gpus():
    """How many GPUs of which name, and their driver; "" where nvidia-smi finds none."""
    try:
        found = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                               check=True, capture_output=True, text=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return ""
    return (f"{len(found)} " if len(found) > 1 else "") + found[0].replace(", ", ", driver ")


def machine(versions):
    """What stands at the head of a result file, with the versions of these packages."""
    return {"processor": processors()[0], "cores": len(os.sched_getaffinity(0)), "gpu": gpus(),
            "versions": {"Python": platform.python_version(), **versions}}
