#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints the nvcc to build with: the system's if it is 13.3 or newer, else that of PyPI, which comes to
# build/nvcc-VERSION, else the system's of 12.8 or newer. Nothing is installed outside of build.
#
#   CUDACXX=$(scripts/nvcc.sh) cmake -S . -B build
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
apt_install() { return 1; }

why=''
fetch_nvcc >&2 || echo "*** nvcc is ${nvcc_version:-not here}, and CLMAD needs 13.3; $why" >&2
echo "$nvcc"
[ -n "$nvcc" ]
