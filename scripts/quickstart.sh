#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, configures, builds, then benchmarks or tests. Debian 12, Ubuntu 24.04.
#
#   scripts/quickstart.sh bench    every row that can run here beside GF-Complete, as a table
#   scripts/quickstart.sh test     every test but the long ones, on the GPU too if there is one
#
# CUDA is never installed: nvcc 12.8 or newer is used when it is found, else the build has the host
# rows only. CMAKE_PREFIX_PATH and .deps/usr are searched for the libraries before apt is asked.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh

goal=${1:-}
case $goal in
test) items="libgf-complete-dev,gf_complete.h,gf_complete;libgtest-dev,gtest/gtest.h,gtest"
    items="$items;libxxhash-dev,xxhash.h,xxhash" ;;
bench) items="libgf-complete-dev,gf_complete.h,gf_complete;libbenchmark-dev,benchmark/benchmark.h,benchmark"
    items="$items;libisal-dev,isa-l.h,isal;libjerasure-dev,jerasure.h,Jerasure" ;;
*)
    echo "usage: $0 bench|test" >&2
    exit 2
    ;;
esac
build=build/quickstart

# ---- what is missing ---------------------------------------------------------------------------
packages=()
have "${CC:-cc}" || packages+=(gcc libc6-dev)
have "${CXX:-c++}" || packages+=(g++)
have cmake || packages+=(cmake)
have ninja || have make || packages+=(ninja-build)
have python3 || packages+=(python3)

# Asks CMake, which searches the paths that the build will search, and prints the packages of the
# libraries that it did not find.
probe() {
    local dir
    dir=$(mktemp -d)
    cat >"$dir/CMakeLists.txt" <<'PROBE'
cmake_minimum_required(VERSION 3.25)
project(probe LANGUAGES NONE)
foreach(item IN LISTS WANTED)
  string(REPLACE "," ";" item "${item}") # package, header, library
  list(POP_FRONT item package header library)
  find_path(header_${package} ${header})
  find_library(library_${package} ${library})
  if(NOT header_${package} OR NOT library_${package})
    message(STATUS "missing ${package}")
  endif()
endforeach()
PROBE
    cmake --no-warn-unused-cli -S "$dir" -B "$dir/build" -G "$(generator_of "$dir/build")" "-DWANTED=$items" \
        "-DCMAKE_LIBRARY_ARCHITECTURE=$(uname -m)-linux-gnu" | sed -n 's/^-- missing //p'
    rm -rf "$dir"
}

if have cmake && { have ninja || have make; }; then
    mapfile -t -O "${#packages[@]}" packages < <(probe)
else # nobody to ask; apt leaves alone what is installed
    for item in ${items//;/ }; do packages+=("${item%%,*}"); done
fi

if [ ${#packages[@]} -gt 0 ]; then
    sudo=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! have sudo || ! sudo -n true 2>/dev/null; then
            echo "packages are missing; run this as root, then start again:" >&2
            echo "apt-get update && apt-get install -y --no-install-recommends ${packages[*]}" >&2
            exit 1
        fi
        sudo=(sudo)
    fi
    echo "installing ${packages[*]}"
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi

# ---- build -------------------------------------------------------------------------------------
if [ -n "$nvcc" ]; then
    echo "CUDA $nvcc_version: $nvcc"
    options=(-DGFK_CUDA=ON "-DCMAKE_CUDA_COMPILER=$nvcc" "-DCMAKE_CUDA_ARCHITECTURES=${capabilities:-90}")
else
    echo "host rows only: there is no nvcc of 12.8 or newer (found: ${nvcc_version:-none})"
    options=(-DGFK_CUDA=OFF)
fi
if [ "$goal" = test ]; then
    options+=(-DGFK_TESTS=ON -DGFK_EXAMPLES=ON -DGFK_BENCH=OFF)
else
    options+=(-DGFK_TESTS=OFF -DGFK_EXAMPLES=OFF -DGFK_TOOL=OFF -DGFK_BENCH=ON)
fi
cmake -S . -B "$build" -G "$(generator_of "$build")" -DCMAKE_BUILD_TYPE=Release "${options[@]}"
cmake --build "$build" -j "$(nproc)"

# ---- run ---------------------------------------------------------------------------------------
if [ "$goal" = test ]; then
    # slow, huge and giant take minutes or a large GPU: scripts/gpu.sh runs them.
    exec ctest --test-dir "$build" -LE '^(slow|huge|giant)$' --no-tests=error -j "$(nproc)" \
        --output-on-failure --output-junit junit.xml
fi
rc=0
"$build/bench/gfk_bench" --out "$build/bench.json" || rc=$?
[ $rc -ne 0 ] || echo "results are in $build/bench.json"
exit $rc
