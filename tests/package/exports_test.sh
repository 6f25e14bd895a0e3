#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# exports_test.sh NM LIBRARY EXPORTS_MAP INCLUDE_DIR: what the library exports, what the committed
# list allows, and what the headers declare are the same functions.
set -eu
nm=$1 library=$2 map=$3 include=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$nm" -D --defined-only "$library" | awk '{print $3}' | sort >"$work/library"
sed -n 's/^ *\(gfk_[a-z0-9_]*\);$/\1/p' "$map" | sort >"$work/map"
cat "$include"/gfk/*.h | tr '\n' ' ' | grep -o 'GFK_API [^(;]*gfk_[a-z0-9_]*(' |
    sed 's/.*\(gfk_[a-z0-9_]*\)($/\1/' | sort >"$work/headers"
[ -s "$work/headers" ]
diff "$work/headers" "$work/map"
diff "$work/map" "$work/library"
echo "$(wc -l <"$work/library") functions"
