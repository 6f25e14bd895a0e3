# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the other scripts, in the repository root: libraries unpacked under .deps/usr, nvcc and
# the GPUs of this machine. Sets nvcc, nvcc_version and capabilities, each empty if there is none.
# shellcheck shell=bash disable=SC2034

if [ -d .deps/usr ]; then
    export CMAKE_PREFIX_PATH="$PWD/.deps/usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
    deps_lib="$PWD/.deps/usr/lib/$(uname -m)-linux-gnu"
    export LD_LIBRARY_PATH="$deps_lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi

have() { command -v "$1" >/dev/null 2>&1; }

# The first nvcc of 12.8 or newer; nvcc_version stays that of an older one if there is no other.
nvcc='' nvcc_version=''
for candidate in "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc; do
    [ -z "$nvcc" ] && [ -x "$candidate" ] || continue
    nvcc_version=$("$candidate" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p' || true)
    if [ "$(printf '%s\n' 12.8 "${nvcc_version:-0}" | sort -V | head -n 1)" = 12.8 ]; then
        nvcc=$candidate
    fi
done

# Compute capabilities as CMake writes architectures: "90", or "89;90".
capabilities=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    sed -n 's/^\([0-9]*\)\.\([0-9]*\)$/\1\2/p' | sort -u | paste -sd ';' || true)

# The generator to configure a build folder with: what it has already, else ninja if there is one.
generator_of() {
    if [ -f "$1/CMakeCache.txt" ]; then
        sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$1/CMakeCache.txt"
    elif have ninja; then
        echo Ninja
    else
        echo "Unix Makefiles"
    fi
}
