# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the other scripts, in the repository root: what is unpacked under .deps/usr, nvcc and the
# GPUs of this machine. Sets nvcc, nvcc_version, capabilities and driver, each empty if there is none.
# shellcheck shell=bash disable=SC2034

if [ -d .deps/usr ]; then
    export CMAKE_PREFIX_PATH="$PWD/.deps/usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
    export PATH="$PATH:$PWD/.deps/usr/bin"
    deps_lib="$PWD/.deps/usr/lib/$(uname -m)-linux-gnu"
    export LD_LIBRARY_PATH="$deps_lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi

have() { command -v "$1" >/dev/null 2>&1; }

# ccache where there is one with something in it: an empty one costs time. Nothing needs it.
if have ccache && [ -d "$(ccache --get-config cache_dir)/0" ]; then
    export CMAKE_{C,CXX,CUDA}_COMPILER_LAUNCHER=ccache
fi

# Architectures of this machine as CMake writes them: machine code alone, "90-real" or "89-real;90-real". PTX would double
# the library, and only newer GPUs compile it. And the version of the driver.
cards=$(nvidia-smi --query-gpu=compute_cap,driver_version --format=csv,noheader 2>/dev/null | grep '^[0-9]' || true)
capabilities=$(sed -n 's/^\([0-9]*\)\.\([0-9]*\),.*/\1\2-real/p' <<<"$cards" | sort -u | paste -sd ';')
driver=$(sed -n '1s/.*, *//p' <<<"$cards")

# ---- nvcc --------------------------------------------------------------------------------------
at_least() { [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; } # LEAST VERSION
version_of() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p' || true; }
pypi_nvcc=$PWD/build/nvcc-$(sed -n 's/^nvidia-cuda-nvcc==//p' scripts/nvcc.txt)/nvidia/cu13/bin/nvcc

# The system's nvcc if it is 13.3 or newer, which CLMAD needs; else the one of PyPI, if fetch_nvcc has fetched it and
# the driver runs its code; else the system's of 12.8 or newer. nvcc_version stays that of an older one if there is no
# other.
find_nvcc() {
    local candidate version
    nvcc='' nvcc_version=''
    for candidate in "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" "$pypi_nvcc"; do
        [ -x "$candidate" ] || continue
        version=$(version_of "$candidate")
        [ "$candidate" != "$pypi_nvcc" ] || at_least 580 "${driver:-580}" || continue
        if at_least 13.3 "${version:-0}"; then
            nvcc=$candidate nvcc_version=$version
            return
        elif [ -z "$nvcc" ]; then
            nvcc_version=$version
            ! at_least 12.8 "${version:-0}" || nvcc=$candidate
        fi
    done
}
find_nvcc

# fetch_nvcc: finds an nvcc of 13.3 or newer, from PyPI if it must. False if there is none; $why has reason and
# remedy.
fetch_nvcc() {
    local folder=${pypi_nvcc%/nvidia/*}
    ! at_least 13.3 "${nvcc_version:-0}" || return 0
    if ! at_least 580 "${driver:-580}"; then
        why="the code of a newer one needs driver 580 or newer: update the driver, which is $driver"
        return 1
    fi
    mkdir -p build
    if ! (
        flock 8 # another goal may be fetching it
        [ -x "$pypi_nvcc" ] || {
            rm -rf "$folder.part"
            pip_install "$folder.part" --no-compile -r scripts/nvcc.txt && mv "$folder.part" "$folder"
        }
    ) 8>"$folder.lock"; then
        why="PyPI gives no newer one ($(reason '^ *(ERROR|E:)')): connect PyPI, or put nvcc 13.3 or newer into PATH"
        return 1
    fi
    find_nvcc
    at_least 13.3 "${nvcc_version:-0}"
}

# forget_nvcc FOLDER...: of build folders that have another nvcc. CMake would take this one and forget all other options.
forget_nvcc() {
    local folder was
    for folder in "$@"; do
        was=$(sed -n 's/^CMAKE_CUDA_COMPILER:[A-Z]*=//p' "$folder/CMakeCache.txt" 2>/dev/null || true)
        [ -z "$was" ] || [ "$was" = "$nvcc" ] || rm -rf "$folder/CMakeCache.txt" "$folder/CMakeFiles"
    done
}

# count_instructions BUILD FILE: of the kernels that the papers name. No file if they cannot be counted.
count_instructions() {
    PATH=${nvcc:+${nvcc%/*}:}$PATH python3 -B papers/report/sass.py "$1/papers/lib/libgfk.so" "$1/papers/gfk_papers" \
        >"$1/sass.part" && mv "$1/sass.part" "$2"
}

# link_prebuilt_libraries FOLDER: the engines on the CPU load ISA-L and GF-Complete from the paths that the machine has
# where the programs of this folder were built. These paths become links to the libraries of this machine.
link_prebuilt_libraries() {
    local variable path found
    for variable in GFK_ISAL_LIBRARY GFK_GFCOMPLETE_LIBRARY; do
        path=$(sed -n "s/^$variable:[A-Z]*=//p" "$1/CMakeCache.txt")
        if [ -z "$path" ] || [ -e "$path" ]; then continue; fi
        found=$(find -L "$PWD/.deps" /usr/lib /usr/local/lib -name "${path##*/}" -print -quit 2>/dev/null || true)
        [ -n "$found" ] || { echo "there is no ${path##*/}, so the engines that load it cannot run"; continue; }
        mkdir -p "${path%/*}" && ln -sfn "$found" "$path" || return 1
    done
}

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

# stage NAME COMMAND...: one line that grows with every 10 % of the steps of make or ninja, and all output in
# $build/NAME.log. What the project's CMake files say and warnings follow; where the command fails, the log's end.
stage() {
    local log=$build/$1.log next=10 percent line begin=$SECONDS
    mkdir -p "$build"
    printf '%s (%s):' "$1" "$log"
    if "${@:2}" 2>&1 | tee "$log" | while IFS= read -r line; do
        [[ $line =~ ^\[\ *([0-9]+)(/([0-9]+)|%)\] ]] || continue
        percent=$((BASH_REMATCH[3] ? 100 * BASH_REMATCH[1] / BASH_REMATCH[3] : BASH_REMATCH[1]))
        ((percent < next)) || printf " %d%%" "$percent"
        ((percent < next)) || next=$((percent / 10 * 10 + 10))
    done; then
        echo " done in $((SECONDS - begin)) s"
        sed -n 's/^-- gfk: /  /p' "$log"
        grep -iE -A 4 '(CMake|:|ptxas|nvcc) ?warning\b' "$log" || true
    else
        printf ' FAILED; the end of %s:\n' "$log"
        tail -n 60 "$log"
        return 1
    fi
}

# show PATTERN COMMAND...: prints the lines that match as they come, so that one sees that the command works, and
# keeps all lines in $shown. In a condition only.
show() {
    mkdir -p "${shown%/*}"
    "${@:2}" 2>&1 | tee "$shown" | grep -E --line-buffered "$1" | sed -u 's/^ */  /'
    return "${PIPESTATUS[0]}"
}
no_network="there is no network"
shown=build/quickstart-logs/${0##*/}.txt

# reason PATTERN: why the last command that was shown failed: the first line that matches, else the last one.
reason() {
    local network='Temporary failure|Name or service not known|Network is unreachable|Could not resolve|timed out'
    if grep -qE "$network|Connection refused|No route to host|NewConnectionError" "$shown"; then
        echo "$no_network"
    else
        { grep -m 1 -E "$1" "$shown" || grep . "$shown" | tail -n 1; } | sed 's/^ *//'
    fi
}

# apt_install PACKAGE...: as root, or by sudo where it asks for no password. False if one is not installed.
apt_install() {
    local sudo=() package failed=()
    if ! have apt-get; then
        echo "there is no apt-get to install $*" >&2
        return 1
    elif [ "$(id -u)" -ne 0 ]; then
        if ! have sudo || ! sudo -n true 2>/dev/null; then
            echo "packages are missing; to install them, run as root:" >&2
            echo "apt-get update && apt-get install -y --no-install-recommends $*" >&2
            return 1
        fi
        sudo=(sudo)
    fi
    echo "apt-get installs $*"
    sudo+=(env DEBIAN_FRONTEND=noninteractive)
    local install=("${sudo[@]}" apt-get install -y -q --no-install-recommends)
    local why=''
    show '^Get:' "${sudo[@]}" apt-get update -q -o APT::Update::Error-Mode=any -o Acquire::Retries=0 ||
        why=$(reason '^E:')
    if [ "$why" = "$no_network" ]; then
        echo "$why: only what is in apt's cache can be installed" >&2
        install+=(--no-download)
    fi
    show '^(Get:|Setting up)' "${install[@]}" "$@" && return
    for package in "$@"; do # one that does not exist keeps the others from being installed
        show '^(Get:|Setting up)' "${install[@]}" "$package" && continue
        failed+=("$package")
        [ -n "$why" ] || why=$(reason '^E:')
    done
    [ ${#failed[@]} -eq 0 ] && return
    echo "apt-get could not install ${failed[*]}: $why" >&2
    return 1
}

# pip COMMAND...: of the python3 that $python names, and why it failed.
pip() {
    show '^ *(Collecting|Downloading|Building wheel|Processing|Successfully)' "${python:-python3}" -m pip "$@" \
        --disable-pip-version-check --progress-bar off --retries 1 && return
    echo "pip failed: $(reason '^ *(ERROR|CMake Error|error:)')" >&2
    return 1
}

# pip_install FOLDER PACKAGE...: into a folder for PYTHONPATH; nothing of the system's changes.
pip_install() {
    "${python:-python3}" -m pip --version >/dev/null 2>&1 || apt_install python3-pip || return 1
    echo "pip installs ${*:2} in $1"
    pip install --upgrade --root-user-action=ignore --target "$@"
}
