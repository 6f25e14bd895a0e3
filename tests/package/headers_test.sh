#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# headers_test.sh CC CXX INCLUDE_DIR: every public header compiles alone, and twice, as C11 and as
# C++17 without a warning, and gfk.h includes them all. Initializers and regions are made without casts,
# 0 for a pointer, and warnings.
set -u
cc=$1 cxx=$2 include=$3
flags="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I $include"
failed=0
regions='#include <gfk/gfk.h>
gfk_status encode(gfk_rs_t code, const void *const *data, void *const *parity, size_t bytes) {
    const gfk_regions in = gfk_inputs(data), out = {parity, GFK_NULL, 0};
    return gfk_rs_encode(code, &in, &out, bytes, GFK_NULL);
}
gfk_status encode_spaced(gfk_rs_t code, const uint8_t *data, uint8_t *parity, size_t bytes) {
    const gfk_regions in = gfk_inputs_spaced(data, bytes), out = {GFK_NULL, parity, bytes};
    return gfk_rs_encode(code, &in, &out, bytes, GFK_NULL);
}
extern const gfk_matrix of_pointers;
const gfk_matrix of_pointers = GFK_MATRIX_DENSE_INIT(GFK_NULL, 1, 1, 1);'
for macro in $(sed -n 's/^#define \(GFK_[A-Z]*_DESC_INIT\).*/\1/p' "$include"/gfk/*.h); do
    type=$(echo "${macro%_INIT}" | tr '[:upper:]' '[:lower:]')
    regions="$regions
extern const $type of_$type;
const $type of_$type = $macro;"
done
for compiler in "$cc -x c -std=c11" "$cxx -x c++ -std=c++17 -Wzero-as-null-pointer-constant"; do
    # shellcheck disable=SC2086
    echo "$regions" | $compiler $flags -Wcast-qual -Wconversion - || failed=1
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
