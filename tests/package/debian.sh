#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the packages of dist/deb, which scripts/package.sh deb has made, on a bare Debian 12, and uses them.
#
#   tests/package/debian.sh [FOLDER]
#
# As root with debootstrap and a network: in FOLDER (default: build/debian-root), a new Debian with what is essential,
# and what apt adds for the packages. Else the packages are only unpacked, and the compiler of this machine uses
# them. The last line says which.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$(realpath -m "${1:-build/debian-root}")
work=$root/work
mirror=$(apt-get indextargets --format '$(SITE)' 2>/dev/null | head -n 1 || true)

# ---- install -----------------------------------------------------------------------------------
in_root() { env "$@"; }
if [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null; then
    how="installed by apt in a new Debian"
    [ -f "$root/etc/debian_version" ] ||
        debootstrap --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}" >"$root.log" 2>&1 ||
        { tail "$root.log" >&2; exit 1; }
    mkdir -p "$work"
    rm -f "$work"/*.deb
    cp dist/deb/*.deb "$work"
    in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@"; }
    # Only what the packages themselves ask for, and then the tools of a programmer.
    install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -q)
    packages=("$work"/libgfk[0-9]*.deb "$work"/gfk_*.deb) headers=("$work"/libgfk-dev_*.deb)
    in_root "${install[@]}" "${packages[@]#"$root"}" >"$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
    echo "the program alone: $(in_root gfk --version)"
    in_root "${install[@]}" --no-install-recommends "${headers[@]#"$root"}" gcc g++ libc6-dev make cmake pkg-config \
        >>"$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
    prefix=/usr at=/work
else
    how="unpacked by dpkg -x: only root with debootstrap can install"
    rm -rf "$root"
    mkdir -p "$work"
    for package in dist/deb/*.deb; do
        dpkg -x "$package" "$root"
    done
    prefix=$root/usr at=$work
    library=$(dirname "$(find "$root/usr/lib" -name 'libgfk.so')")
    export PATH="$prefix/bin:$PATH" LD_LIBRARY_PATH="$library" LIBRARY_PATH="$library" C_INCLUDE_PATH="$prefix/include"
    export CMAKE_PREFIX_PATH="$prefix" PKG_CONFIG_PATH="$library/pkgconfig"
fi
rm -rf "$work/consumer" "$work/fetch"
cp -r tests/package/consumer "$work"

# ---- the program -------------------------------------------------------------------------------
in_root gfk methods 8 | grep -E 'isal_w8|host_w8'
head -c 1000000 /dev/urandom >"$work/file"
in_root gfk encode -k 4 -m 2 "$at/file"
cp "$work/file" "$work/before"
rm "$work/file" "$work"/file.gfk.000 "$work"/file.gfk.003
in_root gfk repair "$at/file"
in_root gfk decode "$at/file"
cmp "$work/file" "$work/before"
rm "$work"/file* "$work/before"
for file in man/man1/gfk.1.gz bash-completion/completions/gfk zsh/vendor-completions/_gfk fish/vendor_completions.d/gfk.fish; do
    [ -s "$root/usr/share/$file" ] || { echo "$file is missing" >&2; exit 1; }
done

# ---- programs in C and C++ ---------------------------------------------------------------------
version=$(in_root pkg-config --modversion gfk)
in_root cmake -S "$at/consumer" -B "$at/consumer/build" "-DGFK_VERSION=$version" >"$work/log"
in_root cmake --build "$at/consumer/build" >>"$work/log"
echo "find_package: $(in_root "$at/consumer/build/consumer_c"), $(in_root "$at/consumer/build/consumer_cpp")"

in_root sh -c "cc $at/consumer/consumer.c -o $at/consumer/by_pkg_config \$(pkg-config --cflags --libs gfk)"
echo "pkg-config: $(in_root "$at/consumer/by_pkg_config")"

# FetchContent takes the installed package, and fetches only where there is none.
mkdir "$work/fetch"
cp tests/package/consumer/consumer.c "$work/fetch"
cat >"$work/fetch/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(fetch LANGUAGES C)
include(FetchContent)
FetchContent_Declare(gfk URL /nowhere/gf-kernels.tar.gz FIND_PACKAGE_ARGS $version)
FetchContent_MakeAvailable(gfk)
add_executable(consumer consumer.c)
target_link_libraries(consumer gfk::gfk)
END
in_root cmake -S "$at/fetch" -B "$at/fetch/build" >"$work/log"
in_root cmake --build "$at/fetch/build" >>"$work/log"
echo "FetchContent, installed: $(in_root "$at/fetch/build/consumer")"

# ---- and away ----------------------------------------------------------------------------------
if [ "$prefix" = /usr ]; then
    in_root apt-get purge -y -q gfk libgfk-dev 'libgfk[0-9]*' >>"$root.log" 2>&1
    left=$(find "$root/usr" "$root/etc" "$root/var/lib/dpkg/info" -iname '*gfk*')
    [ -z "$left" ] || { echo "left after purge: $left" >&2; exit 1; }
fi
echo "gfk $version: $how"
