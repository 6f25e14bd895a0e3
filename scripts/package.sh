#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the packages from a clone. Each goal writes into a folder of its own in dist.
#
#   scripts/package.sh            all of them
#   scripts/package.sh cpu        wheel and deb: what a machine makes in minutes
#   scripts/package.sh wheel      dist/cpu: wheels that compute on the CPU, for Python 3.11, and for 3.12 and newer
#   scripts/package.sh deb        dist/deb: libgfk0.3, libgfk-dev and gfk for Debian, which compute on the CPU
#   scripts/package.sh gpu-wheel  dist/gpu: wheels with kernels for compute capability 8.0, 9.0, 10.0 and 12.0, which
#                                 takes long and needs no GPU
#   scripts/package.sh check      what is in dist: sizes, tags, metadata; lintian for the packages of Debian
#
# Python 3.11 makes a wheel for 3.11; one newer Python makes a wheel for 3.12 and newer. Without one of the two, its
# wheel is left out. The tools for wheels come from PyPI into build/package-python*. Variables of the environment:
#   GFK_PYTHONS            the interpreters (python3.11, and the first of python3.12, python3.13 and python3.14 here)
#   GFK_ARCHITECTURES      compute capabilities of the GPU's wheels, as CMake writes them ("80-real;90-real;100-real;120")
#   DEBFULLNAME, DEBEMAIL  the maintainer in the packages of Debian
# shellcheck disable=SC2154 # env.sh sets nvcc and why
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh

say() { printf '==== %s\n' "$*"; }
# Packages are the same, whichever day and folder they are made in.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CMakeLists.txt)}
export SOURCE_DATE_EPOCH

# needs PROGRAM[,PACKAGE]...: installs what is missing.
needs() {
    local missing=() item
    for item in "$@"; do
        have "${item%,*}" || missing+=("${item#*,}")
    done
    [ ${#missing[@]} -eq 0 ] || apt_install "${missing[@]}"
}

# interpreters: one a line. Whether a name is more than a stub of pyenv is known when it runs.
interpreters() {
    local name
    for name in ${GFK_PYTHONS-python3.11}; do
        ! "$name" -c 'import venv' 2>/dev/null || echo "$name"
    done
    [ -z "${GFK_PYTHONS-}" ] || return 0
    for name in python3.12 python3.13 python3.14; do
        ! "$name" -c 'import venv' 2>/dev/null || { echo "$name"; return; }
    done
}

# ---- wheels ------------------------------------------------------------------------------------
# wheels FOLDER SETTING...: one wheel from each interpreter.
wheels() {
    local folder=dist/$1 settings=("${@:2}") names name version tools abi work wheel tag
    mapfile -t names < <(interpreters)
    [ ${#names[@]} -gt 0 ] || { echo "package.sh: there is no Python 3.11 or newer with the module venv (Debian: python3-venv)" >&2; return 1; }
    [ -f /usr/include/xxhash.h ] || apt_install libxxhash-dev || echo "going on without gfk.files"
    rm -rf "$folder"
    mkdir -p "$folder"
    for name in "${names[@]}"; do
        version=$("$name" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        tools=build/package-python$version
        if ! "$tools/bin/python" -c 'import scikit_build_core, nanobind, auditwheel, twine, wheel' 2>/dev/null; then
            say "tools for wheels of Python $version: $tools"
            "$name" -m venv "$tools"
            "$tools/bin/python" -m pip install -q --disable-pip-version-check "scikit-build-core>=0.11" "nanobind>=2.9" \
                "cmake>=3.26" ninja numpy auditwheel twine wheel
        fi
        abi=()
        ! at_least 3.12 "$version" || abi=(-C wheel.py-api=cp312)
        say "wheel by Python $version: $folder"
        work=$(mktemp -d)
        PATH="$PWD/$tools/bin:$PATH" "$tools/bin/python" -m pip wheel . --disable-pip-version-check -q --no-deps \
            --no-build-isolation -w "$work" "${abi[@]}" "${settings[@]/#/-Ccmake.define.}"
        wheel=$(echo "$work"/*.whl)
        # The name says which C library the wheel needs: that of this machine, as far as the wheel uses it.
        tag=$("$tools/bin/python" -m auditwheel show "$wheel" | tr '\n' ' ' | grep -o 'manylinux_[0-9]*_[0-9]*_[a-z0-9_]*' |
            head -n 1) || true
        if [ -z "$tag" ]; then
            echo "package.sh: auditwheel gives $wheel no tag" >&2
            return 1
        fi
        "$tools/bin/python" -m wheel tags --remove --platform-tag "$tag" "$wheel" >/dev/null
        mv "$work"/*.whl "$folder"
        rm -rf "$work"
    done
    check_wheels "$folder"
}

check_wheels() { # FOLDER
    local limit=$((3 << 20)) wheel tools
    [ "$1" != dist/gpu ] || limit=$((30 << 20))
    tools=$(find build -maxdepth 1 -name 'package-python*' | sort | tail -n 1)
    "$tools/bin/python" -m twine check --strict "$1"/*.whl
    for wheel in "$1"/*.whl; do
        python3 scripts/check_wheel.py "$wheel"
        [ "$(stat -c %s "$wheel")" -le $limit ] || { echo "package.sh: $wheel is larger than $limit bytes" >&2; return 1; }
    done
}

# ---- Debian ------------------------------------------------------------------------------------
deb() {
    local build=build/package-deb depends
    needs cc,gcc cmake dpkg-shlibdeps,dpkg-dev file
    [ -f /usr/include/xxhash.h ] || apt_install libxxhash-dev
    [ -f /usr/include/openssl/md5.h ] && [ -f /usr/include/zlib.h ] || apt_install libssl-dev zlib1g-dev
    rm -rf dist/deb
    mkdir -p dist/deb
    say "packages of Debian: dist/deb"
    export DEB_CFLAGS_STRIP="-g -O2" DEB_LDFLAGS_APPEND="-Wl,-z,now"
    stage configure cmake -S . -B $build -G "$(generator_of $build)" -DCMAKE_BUILD_TYPE=Release -DGFK_DEBIAN=ON \
        -DGFK_CUDA=OFF -DGFK_PORTABLE=ON -DGFK_TESTS=OFF -DGFK_BENCH=OFF -DGFK_EXAMPLES=OFF \
        -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_SKIP_INSTALL_RPATH=ON -DGFK_ZSH_COMPLETIONS=share/zsh/vendor-completions \
        "-DCMAKE_C_FLAGS=$(dpkg-buildflags --get CFLAGS) $(dpkg-buildflags --get CPPFLAGS)" \
        "-DCMAKE_EXE_LINKER_FLAGS=$(dpkg-buildflags --get LDFLAGS)" \
        "-DCMAKE_SHARED_LINKER_FLAGS=$(dpkg-buildflags --get LDFLAGS)"
    stage build cmake --build $build -j "$(nproc)"
    mkdir -p $build/shlibdeps/debian
    touch $build/shlibdeps/debian/control
    depends=$(cd $build/shlibdeps && dpkg-shlibdeps -O ../src/libgfk.so.*.*.* 2>/dev/null)
    stage pack cpack --config $build/CPackConfig.cmake -B dist/deb \
        -D "CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS=${depends#*=}"
    rm -rf dist/deb/_CPack_Packages
    check_deb
}

check_deb() {
    if have lintian; then
        lintian --allow-root --fail-on error,warning dist/deb/*.deb
    else
        echo "lintian is not installed, so the packages are not checked"
    fi
}

build=build/package-deb # where stage keeps its logs
gpu_wheel() {
    local architectures=${GFK_ARCHITECTURES:-80-real;90-real;100-real;120} numbers
    fetch_nvcc || { echo "package.sh: no nvcc of 13.3 or newer: $why" >&2; return 1; }
    read -ra numbers <<<"${architectures//[!0-9]/ }"
    python3 scripts/check_clmad.py "$nvcc" "${numbers[@]}"
    CUDACXX=$nvcc wheels gpu GFK_CUDA=ON "CMAKE_CUDA_ARCHITECTURES=$architectures"
}

[ $# -le 1 ] || { echo "package.sh: one goal, not $*" >&2; exit 2; }
case ${1:-all} in
all)
    wheels cpu GFK_CUDA=OFF
    deb
    gpu_wheel
    ;;
cpu)
    wheels cpu GFK_CUDA=OFF
    deb
    ;;
wheel) wheels cpu GFK_CUDA=OFF ;;
deb) deb ;;
gpu-wheel) gpu_wheel ;;
check)
    [ -d dist ] || { echo "package.sh: there is no folder dist: nothing was made here" >&2; exit 2; }
    for folder in dist/cpu dist/gpu; do
        [ ! -d $folder ] || check_wheels $folder
    done
    [ ! -d dist/deb ] || check_deb
    ;;
help | -h | --help) sed -n '3,17s/^# \{0,1\}//p' "$0"; exit ;;
*)
    echo "package.sh: there is no goal '$1'; the goals are all, cpu, wheel, deb, gpu-wheel, check and help" >&2
    exit 2
    ;;
esac
ls -l dist/*/*
