#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# headers_test.sh CC CXX INCLUDE_DIR: every public header compiles alone, and twice, as C11 and as
# C++17 without a warning, and gfk.h includes them all.
set -u
cc=$1 cxx=$2 include=$3
flags="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I $include"
failed=0
for path in "$include"/gfk/*.h; do
    header=gfk/$(basename "$path")
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
