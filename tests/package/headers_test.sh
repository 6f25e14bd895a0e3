#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# headers_test.sh CC CXX INCLUDE_DIR: every public header compiles alone, and twice, as C11 and as
# C++17 without a warning, and gfk.h includes them all. Regions are made without casts and warnings.
set -u
cc=$1 cxx=$2 include=$3
flags="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I $include"
failed=0
regions='#include <gfk/gfk.h>
gfk_status encode(gfk_rs_t code, const void *const *data, void *const *parity, size_t bytes) {
    const gfk_regions in = gfk_inputs(data), out = {parity, 0, 0};
    return gfk_rs_encode(code, &in, &out, bytes, 0);
}
gfk_status encode_spaced(gfk_rs_t code, const uint8_t *data, uint8_t *parity, size_t bytes) {
    const gfk_regions in = gfk_inputs_spaced(data, bytes), out = {0, parity, bytes};
    return gfk_rs_encode(code, &in, &out, bytes, 0);
}'
for compiler in "$cc -x c -std=c11" "$cxx -x c++ -std=c++17"; do
    # shellcheck disable=SC2086
    echo "$regions" | $compiler $flags -Wcast-qual - || failed=1
done
for path in "$include"/gfk/*.h; do
    header=gfk/$(basename "$path")
    # shellcheck disable=SC2086
    for compiler in "$cc -x c -std=c11" "$cxx -x c++ -std=c++17"; do
        printf '#include <%s>\n#include <%s>\ntypedef int not_empty;\n' "$header" "$header" |
            $compiler $flags - || {
            echo "$header does not compile with $compiler"
            failed=1
        }
    done
    if [ "$header" != gfk/gfk.h ] && ! grep -q "#include <$header>" "$include/gfk/gfk.h"; then
        echo "gfk.h does not include $header"
        failed=1
    fi
done
exit $failed
