#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# nvcc_test.sh SOURCE_DIR WORK_DIR: with which nvcc does scripts/quickstart.sh build? The scripts run in a copy, and nvcc,
# nvidia-smi, python3 (which has pip) and cmake are scripts that say what they are told to, and note their arguments.
# shellcheck disable=SC2016 # the programs are written here, and run later
set -euo pipefail
source=$1 work=$2
rm -rf "$work"
mkdir -p "$work/bin" "$work/tree"
cp -r "$source/scripts" "$work/tree"
cd "$work/tree"

program() { # NAME LINE...
    { echo '#!/bin/sh'; printf '%s\n' "${@:2}"; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}
export WORK=$work CUDA_HOME=$work/none PATH=$work/bin:$PATH
program nvcc '[ -z "$SYSTEM" ] || echo "Cuda compilation tools, release $SYSTEM, V$SYSTEM.1"'
program pypi_nvcc 'echo "Cuda compilation tools, release 13.5, V13.5.1"'
program nvidia-smi '[ -z "$DRIVER" ] || echo "9.0, $DRIVER"'
program cmake 'echo "$@" >>"$WORK/cmake"' '[ "$1" != --build ]'
program apt-get 'exit 1'
program sudo 'exit 1'
program ccache 'exit 1'
program python3 'case "$*" in' \
    '*--version*) ;;' \
    '"-m venv"*) for folder; do :; done; mkdir -p "$folder/bin"; cp "$0" "$folder/bin/python" ;;' \
    '*" install "*nvcc.txt*) touch "$WORK/fetched"; [ "$PYPI" = yes ] || { echo "ERROR: no such thing"; exit 1; }' \
    '    for folder; do [ "$last" != --target ] || break; last=$folder; done' \
    '    mkdir -p "$folder/nvidia/cu13/bin"; cp "$WORK/bin/pypi_nvcc" "$folder/nvidia/cu13/bin/nvcc" ;;' \
    '*) echo "$@" >>"$WORK/cmake" ;;' 'esac'

failed=0
pypi=$PWD/build/nvcc-$(sed -n 's/^nvidia-cuda-nvcc==//p' scripts/nvcc.txt)/nvidia/cu13/bin/nvcc
# try SYSTEM DRIVER PYPI FETCHED NVCC LINE GOAL [OPTION]: where the system has an nvcc of that version and a GPU with that
# driver, or none, and PyPI answers or not: is PyPI asked, with which nvcc are the kernels built, and what is said?
try() {
    local fetched=no what="system '$1', driver '$2', PyPI $3, ${*:7}"
    rm -f "$work/fetched" "$work/cmake"
    SYSTEM=$1 DRIVER=$2 PYPI=$3 scripts/quickstart.sh "${@:7}" >"$work/log" 2>&1 || true
    [ ! -e "$work/fetched" ] || fetched=yes
    [ "$fetched" = "$4" ] || { echo "$what: PyPI was asked: $fetched"; failed=1; }
    if [ "$5" = none ]; then
        grep -q 'GFK_CUDA=OFF' "$work/cmake"
    else
        grep -q "GFK_CUDA=ON .*CMAKE_CUDA_COMPILER=$5 " "$work/cmake"
    fi || { echo "$what: not built with $5:"; cat "$work/cmake" "$work/log"; failed=1; }
    grep -q "$6" "$work/log" || { echo "$what: does not say $6:"; cat "$work/log"; failed=1; }
}
system=$work/bin/nvcc
no_clmad='\*\*\* WITHOUT CLMAD.*ERROR: no such thing.*put nvcc 13.3'
no_gpu='\*\*\* NO KERNELS: there is no GPU'
no_nvcc='\*\*\* NO KERNELS: there is no nvcc'

try 13.3 580.95.05 no no "$system" 'CUDA 13.3' bench
try 12.8 580.95.05 no yes "$system" "$no_clmad" bench
try 12.4 580.95.05 no yes none "$no_nvcc.*found: 12.4.*put nvcc 13.3" tool
try "" 580.95.05 no yes none "$no_nvcc" test
try 12.8 570.124.06 yes no "$system" 'WITHOUT CLMAD.*update the driver, which is 570.124.06' bench
try "" 570.124.06 yes no none "$no_nvcc.*update the driver" bench
try 13.0 580.95.05 yes no "$system" "CUDA 13.0" bench "-DCMAKE_CUDA_COMPILER=$system"
try 13.0 580.95.05 yes no "$system" "CUDA 13.0" tool -DGFK_CUDA=OFF
for goal in tool bench python ranks; do
    try 13.3 "" yes no none "$no_gpu" $goal
done
try 13.0 "" yes no "$system" 'CUDA 13.0' test
try "" "" yes no none "$no_nvcc" test
# PyPI gives its nvcc once, for all goals.
mkdir -p build/quickstart-python build/quickstart-bench
echo "CMAKE_CUDA_COMPILER:FILEPATH=$system" >build/quickstart-bench/CMakeCache.txt
try 13.0 580.95.05 yes yes "$pypi" 'CUDA 13.5' bench
[ ! -e build/quickstart-bench/CMakeCache.txt ] || { echo "the cache of another nvcc stays"; failed=1; }
for goal in tool bench test python ranks; do
    try 13.0 580.95.05 no no "$pypi" 'CUDA 13.5' $goal
done
try "" 580.95.05 no no "$pypi" 'CUDA 13.5' tool
try 13.0 "" no no "$pypi" 'CUDA 13.5' test
try 13.0 "" no no "$pypi" 'CUDA 13.5' tool -DGFK_CUDA=ON
try 13.3 580.95.05 no no "$system" 'CUDA 13.3' bench
try 12.8 570.124.06 no no "$system" 'CUDA 12.8' bench
exit $failed
