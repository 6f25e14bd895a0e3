#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# subproject_test.sh CMAKE GENERATOR SOURCE_DIR WORK_DIR: a project with add_subdirectory(SOURCE_DIR), on a machine
# with an nvcc: without a GPU no kernels are compiled unless GFK_CUDA=ON, with a GPU they are.
# nvcc and nvidia-smi are scripts: nvcc notes that it was called, and fails.
set -eu
cmake=$1 generator=$2 source=$3 work=$4
rm -rf "$work"
mkdir -p "$work/bin"
printf 'cmake_minimum_required(VERSION 3.25)\nproject(program LANGUAGES C)\nadd_subdirectory("%s" gfk)\n' "$source" \
    >"$work/CMakeLists.txt"
printf '#!/bin/sh\ntouch "%s/called"\nexit 1\n' "$work" >"$work/bin/nvcc"
printf '#!/bin/sh\n[ -n "$GPU" ] && echo "$GPU"\n' >"$work/bin/nvidia-smi"
chmod +x "$work/bin/nvcc" "$work/bin/nvidia-smi"
failed=0
# try GPU CALLED OPTION...: with that compute capability or none, is nvcc called (yes, no)?
try() {
    rm -rf "$work/build" "$work/called"
    GPU=$1 CUDACXX="$work/bin/nvcc" PATH="$work/bin:$PATH" "$cmake" -G "$generator" -S "$work" -B "$work/build" \
        "${3:--DGFK_TOOL=OFF}" >"$work/log" 2>&1 || true
    was=no
    [ ! -e "$work/called" ] || was=yes
    [ $was = "$2" ] || {
        echo "GPU '$1', ${3:-}: nvcc called: $was, and should be: $2"
        cat "$work/log"
        failed=1
    }
}
try "" no
grep -q 'no GPU; -DGFK_CUDA=ON compiles' "$work/log" || failed=1
try "" yes -DGFK_CUDA=ON
try 9.0 yes
try 9.0 no -DGFK_CUDA=OFF
exit $failed
