#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs tests on something that is wrong on purpose. Succeeds if each fault that can exist here is
# caught by a comparison; 77 if none can. A crash, another failure, or no test at all, is no catch.
#
#   expect_caught.sh rows FOLDER FILTER PROGRAM [ARGUMENT...]
#       the library in FOLDER has faulty rows: each must be caught by one of its tests
#   expect_caught.sh LIBRARY FAULT:TEXT FILTER PROGRAM [ARGUMENT...]
#       LIBRARY has calls with this fault: each test must catch it, and print TEXT (awk)
set -u
preload='' fault='' text=''
if [ "$1" = rows ]; then
    LD_LIBRARY_PATH=$2${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
else
    preload=$1 fault=${2%%:*} text=${2#*:}
fi
filter=$3
shift 3

# Tests by name; a faulty row is the last part of its tests' names.
tests=$("$@" --gtest_list_tests --gtest_filter="$filter" |
    sed -n -e 's/^\([^ ]*\.\)$/\1/p' -e 's/^  \([^ ]*\).*/  \1/p' |
    awk '/^ / { print suite $1; next } { suite = $1 }')
[ -n "$tests" ] || { echo "no test in $filter"; exit 1; }
output=$(LD_PRELOAD=$preload GFK_FAULT=$fault "$@" --gtest_filter="$filter" 2>&1)
result=$?
verdicts=$(echo "$output" | TESTS=$tests TEXT=$text awk '
    # What a test printed, from its first line to its verdict.
    /^\[ RUN      \] / { test = $4; said = "" }
    { said = said "\n" $0 }
    /^\[(       OK|  SKIPPED |  FAILED  )\] .* ms\)$/ && test != "" {
        item = test
        must_say = ENVIRON["TEXT"]
        if (must_say == "") {
            sub(".*/", "", item)
            must_say = "(kernel|engine) " item ", .*expected .*got "
        }
        verdict[item] = verdict[item] ($2 == "FAILED" && said ~ must_say ? "caught" : $2)
        test = ""
    }
    END {
        count = split(ENVIRON["TESTS"], names, "\n")
        for (i = 1; i <= count; i++) {
            item = names[i]
            if (ENVIRON["TEXT"] == "")
                sub(".*/", "", item)
            if (!done[item]++)
                print verdict[item] ~ "caught" ? "caught:" : \
                      verdict[item] ~ "^(SKIPPED)+$" ? "cannot run here:" : "NOT CAUGHT:", item
        }
    }')
echo "$verdicts"
if echo "$verdicts" | grep -q '^NOT'; then
    echo "$output"
    exit 1
fi
echo "$verdicts" | grep -q '^caught' || exit 77
if [ $result -ne 1 ]; then
    echo "$output"
    echo "the tests ended with $result instead of 1"
    exit 1
fi
