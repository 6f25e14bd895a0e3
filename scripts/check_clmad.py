#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the files that use the carry-less multiply-add for every architecture of a release, and reads the machine code.

  check_clmad.py NVCC

NVCC is the compiler, 13.3 or newer, with cuobjdump and nvdisasm in the same folder. Every kernel must have CLMAD, no call and no
local memory. The last line is the number of kernels for each architecture.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("src/kernels/product/clmad", "src/kernels/region/carry_free")
ARCHITECTURES = (80, 90, 100, 120)
# RET: a function is called. CALL alone may be a jump out of a loop, on sm_80.
FOREIGN = re.compile(r"\b(RET|LDL|STL)\b")


def compile_file(nvcc, path, architecture, cubin):
    subprocess.run([nvcc, "-O3", "-std=c++17", f"-arch=sm_{architecture}", "-cubin", "-I", f"{TREE}/src", "-I", f"{TREE}/include",
                    path, "-o", cubin], check=True)


def functions(nvcc, cubin):
    """(name, machine code) of each kernel."""
    environment = dict(os.environ, PATH=f"{os.path.dirname(nvcc)}:{os.environ['PATH']}")
    text = subprocess.run(["cuobjdump", "-sass", cubin], check=True, env=environment, capture_output=True, text=True).stdout
    return [part.split("\n", 1) for part in text.split("Function : ")[1:]]


def faults_of(nvcc, path, architecture):
    """(number of kernels, what is wrong with them)."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "kernels.cubin")
        compile_file(nvcc, path, architecture, cubin)
        kernels = functions(nvcc, cubin)
    where = f"{os.path.relpath(path, TREE)}, sm_{architecture}"
    faults = [] if kernels else [f"{where}: no kernel"]
    for name, code in kernels:
        if "CLMAD" not in code:
            faults.append(f"{where}: {name} has no CLMAD")
        faults += [f"{where}: {name} has {word}" for word in sorted(set(FOREIGN.findall(code)))]
    return len(kernels), faults


def main(nvcc):
    paths = sorted(f"{TREE}/{folder}/{name}" for folder in FOLDERS for name in os.listdir(f"{TREE}/{folder}") if name.endswith(".cu"))
    tasks = [(nvcc, path, architecture) for architecture in ARCHITECTURES for path in paths]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda task: faults_of(*task), tasks))
    for _, faults in results:
        print("\n".join(faults), end="\n" if faults else "")
    for architecture in ARCHITECTURES:
        count = sum(n for (n, _), task in zip(results, tasks) if task[2] == architecture)
        print(f"sm_{architecture}: {count} kernels with CLMAD")
    return any(faults for _, faults in results)


if __name__ == "__main__":
    sys.exit(__doc__ if len(sys.argv) != 2 else main(os.path.abspath(sys.argv[1])))
