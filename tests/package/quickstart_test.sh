#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What scripts/quickstart.sh prints: help, the name of a wrong goal, and one line for each stage.
#
#   quickstart_test.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
checks=0

# expect NAME STATUS PATTERN COMMAND...: the exit status, and all of the output.
expect() {
    local rc=0 output
    output=$("${@:4}" 2>&1) || rc=$?
    # shellcheck disable=SC2053
    if [ "$rc" != "$2" ] || [[ $output != $3 ]]; then
        printf '%s: exit status %s, and\n%s\n' "$1" "$rc" "$output" >&2
        exit 1
    fi
    checks=$((checks + 1))
}

for help in help -h --help; do
    expect "$help" 0 "Installs what is missing, *test -R rs*" scripts/quickstart.sh "$help"
    [ -z "$(scripts/quickstart.sh "$help" 2>&1 >/dev/null)" ]
done
expect "wrong goal" 2 "quickstart.sh: there is no goal 'quite-wrong'; the goals are tool, *" \
    scripts/quickstart.sh quite-wrong
expect "no goal" 2 "quickstart.sh: there is no goal ''; *" scripts/quickstart.sh
cp -r scripts "$build"
expect "report before bench" 1 "nothing was measured yet: scripts/quickstart.sh bench comes first" \
    "$build/scripts/quickstart.sh" report

. scripts/env.sh
made() { printf '%s\n' '-- The C compiler' '-- gfk: no Jerasure' '[1/4] one' '[2/4] two' '[4/4] three'; }
expect "ninja" 0 "build (*build.log): 25% 50% 100% done in * s
  no Jerasure" stage build made
[ "$(cat "$build/build.log")" = "$(made)" ]
expect "make" 0 "build (*): 12% 55% 100% done in * s" stage build printf '[ 12%%] a\n[ 13%%] b\n[ 55%%] c\n[100%%] d\n'
expect "warning" 0 "build (*): done in * s
a.c:1:2: warning: unused
  int x;" stage build printf 'quiet\na.c:1:2: warning: unused\n  int x;\n'
expect "CMake's warning" 0 "configure (*): done in * s
CMake Warning:
  unused" stage configure printf '%s\n' '-- quiet' 'CMake Warning:' '  unused'
broken() { printf '[1/2] one\n%s\nlast line\n' "$(seq 100)" && return 3; }
expect "failure" 1 "build (*): 50% FAILED; the end of */build.log:
42
*
100
last line" stage build broken
echo "gfk: $checks checks of scripts/quickstart.sh"
