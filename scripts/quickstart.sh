#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, configures, builds and runs. Debian 12, Ubuntu 24.04.
#
#   scripts/quickstart.sh tool                the program gfk
#   scripts/quickstart.sh bench [OPTION...]   every row and engine that runs here, beside GF-Complete, ISA-L
#                                             and Jerasure, in minutes; with an OPTION what that asks for
#   scripts/quickstart.sh test [OPTION...]    every test but the long ones, on the GPU too if there is one
#   scripts/quickstart.sh report [OPTION...]  pages and plots of what bench measured last
#   scripts/quickstart.sh python [OPTION...]  the Python package, its tests on the arrays that are there, an example
#   scripts/quickstart.sh ranks [OPTION...]   the Python package with torch, and an example of parity across ranks:
#                                             processes that train a network are killed, replaced and rebuilt;
#                                             torch from PyPI takes 5 GB in build/quickstart-ranks
#   scripts/quickstart.sh install             what test and .ci/run need, and nothing else
#
# Options of the form -DNAME=VALUE go to cmake, the others to gfk_bench, ctest, bench/report.py, pytest
# or the example: "bench --preset product", "test -L rs", "test -R rs_decode". Each goal builds in a folder of
# its own, build/quickstart-GOAL; that of python and of ranks is a virtual environment. What cmake and the
# compilers print is in configure.log and build.log there.
#
# No CUDA toolkit is needed, and none is installed: on a machine with a GPU the build takes an nvcc of 13.3 or
# newer if there is one, else that of PyPI, which comes to build/nvcc-VERSION (130 MB; driver 580), else an nvcc of
# 12.8 or newer, else the CPU's rows only. Where there is no GPU, tool, bench, python and ranks leave the kernels
# out and say so; test compiles them if there is an nvcc; -DGFK_CUDA=ON asks for them, and for nvcc as above.
# CMAKE_PREFIX_PATH and .deps/usr are searched for libraries before apt is asked, and python and ranks ask pip for
# nothing else where the packages are installed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh

goal=${1:-} programs=""
isal="libisal-dev,isa-l.h,isal" xxhash="libxxhash-dev,xxhash.h,xxhash"
gtest="libgtest-dev,gtest/gtest.h,gtest" openssl="libssl-dev,openssl/md5.h,crypto"
peers="libgf-complete-dev,gf_complete.h,gf_complete;libjerasure-dev,jerasure.h,Jerasure;$isal"
case $goal in
tool) items="$xxhash;$isal;$openssl" ;;
bench) items="$peers" ;;
test | install)
    items="$peers;$xxhash;$openssl;$gtest"
    programs="mandoc,mandoc pkg-config,pkg-config zsh,zsh fish,fish par2,par2"
    ;;
python | ranks) items="$xxhash;$isal" ;;
report) items="" ;;
help | -h | --help)
    sed -n '3,26s/^# \{0,1\}//p' "$0"
    exit
    ;;
*)
    echo "quickstart.sh: there is no goal '$goal'; the goals are tool, bench, test, report, python, ranks," \
        "install and help" >&2
    exit 2
    ;;
esac
build=build/quickstart-$goal
options=() arguments=()
for option in "${@:2}"; do
    if [[ $option == -D* ]]; then options+=("$option"); else arguments+=("$option"); fi
done
if [[ $goal = @(tool|install) && ${#arguments[@]} -gt 0 ]]; then
    echo "quickstart.sh: '$goal' has no option ${arguments[0]}" >&2
    exit 2
fi

# install_pandas [matplotlib]: for bench/report.py, which says what there is not without it. Both come
# from one place: a matplotlib of PyPI brings a numpy that an older pandas of the system cannot use.
install_pandas() {
    local check="import pandas ${1:+, $1; exit($1.__version_info__ < (3, 7))}"
    export PYTHONPATH="$PWD/build/quickstart-report${PYTHONPATH:+:$PYTHONPATH}"
    python3 -c "$check" 2>/dev/null || pip_install build/quickstart-report pandas "$@" ||
        apt_install python3-pandas ${1:+"python3-$1"} || true
}

# ---- report ------------------------------------------------------------------------------------
if [ "$goal" = report ]; then
    [ ${#arguments[@]} -gt 0 ] || arguments=(build/quickstart-bench/results/*.json)
    if [ "${arguments[0]}" = "build/quickstart-bench/results/*.json" ]; then
        echo "nothing was measured yet: scripts/quickstart.sh bench comes first" >&2
        exit 1
    fi
    for argument in "${arguments[@]}"; do # before anything is installed
        [[ $argument != *.json || -e $argument ]] || { echo "quickstart.sh: there is no file $argument" >&2; exit 2; }
    done
    have python3 || apt_install python3
    install_pandas matplotlib
    exec python3 bench/report.py "${arguments[@]}"
fi

# ---- what is missing ---------------------------------------------------------------------------
tools=() optional=()
for program in $programs; do # what tests run
    have "${program%,*}" || optional+=("${program#*,}")
done
have "${CC:-cc}" || tools+=(gcc libc6-dev)
have "${CXX:-c++}" || tools+=(g++)
have cmake || tools+=(cmake)
have ninja || have make || tools+=(ninja-build)
have make || optional+=(make) # what cmake takes without -G
have python3 || tools+=(python3)
if [[ $goal = @(python|ranks|install) ]]; then
    python3 -c 'import ensurepip' 2>/dev/null || tools+=(python3-venv)
    python3 -c 'import os, sysconfig as s; os.stat(s.get_path("include") + "/Python.h")' 2>/dev/null ||
        tools+=(python3-dev)
fi

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
    mapfile -t -O "${#optional[@]}" optional < <(probe)
else # nobody to ask; apt leaves alone what is installed
    for item in ${items//;/ }; do optional+=("${item%%,*}"); done
fi
packages=("${tools[@]}" "${optional[@]}")
if [ ${#packages[@]} -gt 0 ] && ! apt_install "${packages[@]}"; then
    [ ${#tools[@]} -eq 0 ] && [ "$goal" != install ] || exit 1
    echo "going on; CMake says what is left out without ${optional[*]}"
fi
[ "$goal" != install ] || exit 0

# ---- build -------------------------------------------------------------------------------------
asked=$capabilities given='' why=''
for option in "${options[@]}"; do
    case $option in
    -DGFK_CUDA=*) asked=${option#*=} ;;
    -DCMAKE_CUDA_COMPILER=*) given=${option#*=} ;;
    esac
done
if [ -n "$given" ]; then
    nvcc=$given nvcc_version=$(version_of "$given")
elif [[ -n $asked && $asked != OFF ]] && ! fetch_nvcc && [ -n "$nvcc" ]; then
    note="*** WITHOUT CLMAD, the fastest kernels for most codes: nvcc $nvcc_version is older than 13.3; $why"
    echo "$note"
fi
if [ -z "$capabilities" ] && [ "$goal" != test ] && [ "$asked" != ON ]; then
    note="*** NO KERNELS: there is no GPU here, so this build is for the CPU only.
*** To compile the kernels all the same, which takes minutes: scripts/quickstart.sh $goal -DGFK_CUDA=ON"
    echo "$note"
    cuda=(-DGFK_CUDA=OFF)
elif [ -z "$nvcc" ]; then
    note="*** NO KERNELS: there is no nvcc of 12.8 or newer (found: ${nvcc_version:-none})${why:+; $why}"
    echo "$note"
    cuda=(-DGFK_CUDA=OFF)
else
    echo "CUDA $nvcc_version: $nvcc"
    cuda=(-DGFK_CUDA=ON "-DCMAKE_CUDA_COMPILER=$nvcc" "-DCMAKE_CUDA_ARCHITECTURES=${capabilities:-90-real}")
    forget_nvcc "$build" build/python-*
fi

# ---- python ------------------------------------------------------------------------------------
if [[ $goal = @(python|ranks) ]]; then
    needs=(pytest hypothesis) pip=() settings=()
    [ "$goal" = python ] || needs=(torch)
    echo "making the virtual environment $build"
    python3 -m venv --system-site-packages "$build"
    if "$build/bin/python" -c "import scikit_build_core, nanobind, numpy; $(printf 'import %s;' "${needs[@]}")" \
        2>/dev/null; then
        pip=(--no-build-isolation --no-index)
    else
        python3 -m venv "$build"
    fi
    for option in "${cuda[@]}" "${options[@]}"; do
        settings+=("--config-settings=cmake.define.${option#-D}")
    done
    echo "pip builds gfk and installs numpy ${needs[*]} in $build"
    python=$build/bin/python
    pip install "${pip[@]}" "${settings[@]}" . "${needs[@]}" || exit 1
    echo "${note:-}"
    if [ "$goal" = ranks ]; then
        exec "$python" examples/python/train_through_kills.py "${arguments[@]}"
    fi
    "$python" -m pytest -q "${arguments[@]}"
    "$python" examples/python/protect_tensors.py
    echo "the package is in $build; $python PROGRAM.py runs your programs with it"
    exit
fi

# ---- the other goals ---------------------------------------------------------------------------
parts=(-DGFK_TESTS=OFF -DGFK_EXAMPLES=OFF -DGFK_TOOL=OFF -DGFK_BENCH=OFF)
case $goal in
tool) parts+=(-DGFK_TOOL=ON) ;;
bench) parts+=(-DGFK_BENCH=ON) ;;
test) parts+=(-DGFK_TESTS=ON -DGFK_EXAMPLES=ON -DGFK_TOOL=ON) ;;
esac
stage configure cmake -S . -B "$build" -G "$(generator_of "$build")" -DCMAKE_BUILD_TYPE=Release "${cuda[@]}" \
    "${parts[@]}" "${options[@]}"
stage build cmake --build "$build" -j "$(nproc)"
echo "${note:-}"
# needs PROGRAM LIBRARY: the goal is nothing without both.
needs() {
    [ -x "$build/$1" ] && return
    echo "$goal needs $2, which could not be installed: see above" >&2
    exit 1
}

# ---- run ---------------------------------------------------------------------------------------
case $goal in
tool)
    needs tools/gfk xxHash
    echo "built: $build/tools/gfk"
    ;;
bench)
    mkdir -p "$build/results"
    [ ${#arguments[@]} -gt 0 ] || arguments=(--preset quick)
    "$build/bench/gfk_bench" --out "$build/results/bench.json" "${arguments[@]}"
    if [ "$build/results/bench.json" -nt "$build/build.log" ]; then # not with --list or --help
        install_pandas
        python3 bench/report.py --tables "$build/results/bench.json" || true # says what is missing
    fi
    echo "pages and plots of these results: scripts/quickstart.sh report"
    ;;
test) # slow, huge and giant take minutes or a large GPU: scripts/gpu.sh runs them.
    ctest --test-dir "$build" -LE '^(slow|huge|giant)$' --no-tests=error -j "$(nproc)" \
        --output-on-failure --output-junit junit.xml "${arguments[@]}"
    ;;
esac
