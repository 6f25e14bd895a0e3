#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the files that use the carry-less multiply-add for architectures of a release, and reads the machine code.

  check_clmad.py NVCC [ARCHITECTURE...]      80, 90, ...; all of a release

NVCC is the compiler, 13.3 or newer, with cuobjdump and nvdisasm in the same folder. The files are those that include
src/kernels/common/clmad.cuh, also by way of another file. Every kernel of theirs must have CLMAD, no call and no local memory,
but for those that make the matrix operand of a matmul. The last lines are the number of kernels for each architecture.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = f"{TREE}/src/kernels/common/clmad.cuh"
# RET: a function is called. CALL alone may be a jump out of a loop, on sm_80.
FOREIGN = re.compile(r"\b(RET|LDL|STL)\b")
OPERANDS = re.compile("write_matrix|write_powers|store_points")  # src/kernels/product/matmul/generate.cuh


def architectures_of_release():
    with open(f"{TREE}/CMakePresets.json", encoding="utf-8") as file:
        presets = {preset["name"]: preset for preset in json.load(file)["configurePresets"]}
    return [int(n) for n in re.findall(r"\d+", presets["release"]["cacheVariables"]["CMAKE_CUDA_ARCHITECTURES"])]


def included(path):
    """The files of src that a file includes."""
    with open(path, encoding="utf-8") as file:
        names = re.findall(r'^#\s*include "(.*)"', file.read(), re.MULTILINE)
    for name in names:
        candidates = [os.path.normpath(f"{folder}/{name}") for folder in (os.path.dirname(path), f"{TREE}/src")]
        yield from [c for c in candidates if os.path.exists(c)][:1]


def users():
    """The .cu files that include HEADER, directly or not; but those of locating, which search, and keep a state in local memory."""
    kernels = [f"{folder}/{name}" for folder, _, names in os.walk(f"{TREE}/src/kernels") for name in names
               if name.endswith(".cu") and not folder.endswith("/locate")]
    for kernel in sorted(kernels):
        seen, left = set(), [kernel]
        while left:
            path = left.pop()
            if path not in seen:
                seen.add(path)
                left += included(path)
        if HEADER in seen:
            yield kernel


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
        kernels = [(name, code) for name, code in functions(nvcc, cubin) if not OPERANDS.search(name)]
    where = f"{os.path.relpath(path, TREE)}, sm_{architecture}"
    faults = [] if kernels else [f"{where}: no kernel"]
    for name, code in kernels:
        if "CLMAD" not in code:
            faults.append(f"{where}: {name} has no CLMAD")
        faults += [f"{where}: {name} has {word}" for word in sorted(set(FOREIGN.findall(code)))]
    return len(kernels), faults


def main(nvcc, *chosen):
    paths = list(users())
    print("\n".join(os.path.relpath(path, TREE) for path in paths))
    architectures = [int(n) for n in chosen] or architectures_of_release()
    tasks = [(nvcc, path, architecture) for architecture in architectures for path in paths]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda task: faults_of(*task), tasks))
    for _, faults in results:
        print("\n".join(faults), end="\n" if faults else "")
    for architecture in architectures:
        count = sum(n for (n, _), task in zip(results, tasks) if task[2] == architecture)
        print(f"sm_{architecture}: {count} kernels with CLMAD")
    return any(faults for _, faults in results)


if __name__ == "__main__":
    sys.exit(__doc__ if len(sys.argv) < 2 else main(os.path.abspath(sys.argv[1]), *sys.argv[2:]))
