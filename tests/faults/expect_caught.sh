#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# expect_caught.sh LIBRARY_DIR FILTER PROGRAM [ARGUMENT...]: runs the tests of FILTER on the library
# with faulty rows. Succeeds if each faulty row that can run here is caught by a comparison of bytes;
# 77 if none can. A crash, or no test at all, is not a catch.
set -u
library=$1 filter=$2
shift 2
LD_LIBRARY_PATH=$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

rows=$("$@" --gtest_list_tests --gtest_filter="$filter" | sed -n 's/^  [^/]*\/\([a-z0-9_]*faulty\).*/\1/p' | sort -u)
if [ -z "$rows" ]; then
    echo "no faulty row has a test in $filter"
    exit 1
fi
output=$("$@" --gtest_filter="$filter" 2>&1)
result=$?
caught=0 missed=0
for row in $rows; do
    if echo "$output" | grep -q "^\[  FAILED  \] .*/$row" &&
        echo "$output" | grep -q "\(kernel\|engine\) $row, .*expected .*got "; then
        echo "caught: $row"
        caught=$((caught + 1))
    elif echo "$output" | grep -q "^\[  SKIPPED \] .*/$row" &&
        ! echo "$output" | grep -q "^\[       OK \] .*/$row"; then
        echo "cannot run here: $row"
    else
        echo "NOT CAUGHT: $row"
        missed=$((missed + 1))
    fi
done
if [ $missed -ne 0 ]; then
    echo "$output"
    exit 1
fi
[ $caught -eq 0 ] && exit 77
if [ $result -ne 1 ]; then
    echo "$output"
    echo "the tests ended with $result instead of 1"
    exit 1
fi
