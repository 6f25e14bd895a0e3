#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# package_test.sh CMAKE CC GENERATOR SOURCE_DIR BUILD_DIR WORK_DIR: installs the build into an empty
# prefix and uses it from there by find_package, by hand and by pkg-config, and from the build folder: the
# commands of docs/install.md.
set -eu
cmake=$1 cc=$2 generator=$3 source=$4 build=$5 work=$6
rm -rf "$work"
mkdir -p "$work"
"$cmake" --install "$build" --prefix "$work/prefix" >"$work/install.log"
version=$(sed -n 's/^#define GFK_VERSION_M[A-Z]* //p' "$work/prefix/include/gfk/gfk.h" | paste -s -d .)
"$cmake" -G "$generator" -S "$source" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DGFK_VERSION="$version" \
    -DCMAKE_BUILD_TYPE=Release >"$work/configure.log"
"$cmake" --build "$work/build"
"$work/build/consumer_c"
"$work/build/consumer_cpp"

library=$(dirname "$(find "$work/prefix" -name 'libgfk.*' | head -n 1)")
for folders in "-I$work/prefix/include -L$library -lgfk -Wl,-rpath,$library" \
    "-I$source/../../../include -L$build/src -lgfk -Wl,-rpath,$build/src"; do
    # shellcheck disable=SC2086
    "$cc" -std=c11 "$source/consumer.c" -o "$work/consumer_by_hand" $folders
    "$work/consumer_by_hand"
done

if [ -x "$work/prefix/bin/gfk" ]; then # and its completions, where the shells look for them
    for file in bash-completion/completions/gfk zsh/site-functions/_gfk fish/vendor_completions.d/gfk.fish; do
        grep -q 'calibrate.*--threads' "$work/prefix/share/$file"
    done
fi

if ! command -v pkg-config >/dev/null; then
    echo "pkg-config is not installed; that half is left out"
    exit 0
fi
pc=$(find "$work/prefix" -name gfk.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
"$cc" -std=c11 "$source/consumer.c" -o "$work/consumer_pc" $(pkg-config --cflags --libs gfk) \
    "-Wl,-rpath,$library"
"$work/consumer_pc"
