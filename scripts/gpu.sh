#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds, tests, checks and measures on a machine with a GPU, and writes the record of it.
#
#   scripts/gpu.sh STAGE...        build, test, sanitize, giant, bench, limits, small, product,
#                                  map, rs, host; all is these
#
# Each stage takes less than 8 minutes on 16 cores, the build for this GPU included, and replaces its
# section of results/<gpu>/tests.txt; a later stage runs also when an earlier one failed. Nothing is
# installed. Libraries are searched in CMAKE_PREFIX_PATH and .deps/usr.
#
#   GFK_COMMIT, GFK_TREE_CLEAN=1   the commit and its state, where the tree came without its .git
#   GFK_GPUS="0 1"                 the GPUs to share out to tests or sanitizers; all of them
#   OUT                            a folder for gpu.tar.gz: records, results, logs, JUnit files
# shellcheck disable=SC2317 # the functions stage_* are called by a name put together from the stage
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh

[ $# -gt 0 ] || { sed -n '3,14s/^# \{0,1\}//p' "$0" >&2; exit 2; }
stages=("$@")
[ "$*" != all ] || stages=(build test sanitize giant bench limits small product map rs host)
for stage in "${stages[@]}"; do
    case $stage in
    build | test | sanitize | giant | bench | limits | small | product | map | rs | host) ;;
    *) echo "$0: no stage $stage" >&2; exit 2 ;;
    esac
done
[ -n "$nvcc" ] || { echo "$0: there is no nvcc of 12.8 or newer" >&2; exit 2; }
[ -n "$capabilities" ] || { echo "$0: nvidia-smi shows no GPU" >&2; exit 2; }

ask() { nvidia-smi --query-gpu="$1" --format=csv,noheader | head -n 1; }
gpu=$(ask name)
slug=$(echo "$gpu" | tr '[:upper:]' '[:lower:]' | sed 's/nvidia//; s/^[^a-z0-9]*//; s/[^a-z0-9]\{1,\}/-/g')
build=build/gpu
results=results/$slug
logs=$build/logs
mkdir -p "$results" "$logs"
gpus=$(nvidia-smi -L | wc -l)
read -ra shared <<<"${GFK_GPUS:-$(seq -s ' ' 0 $((gpus - 1)))}"

# ---- what stands at the head of each section -------------------------------------------------------
commit=${GFK_COMMIT:-} tree=dirty
if [ -n "$commit" ]; then
    [ "${GFK_TREE_CLEAN:-}" != 1 ] || tree=clean
elif commit=$(git rev-parse HEAD 2>/dev/null); then
    # results/ is what the stages write themselves.
    [ -n "$(git status --porcelain -- . ':!results')" ] || tree=clean
fi

# What the benchmark writes into its own files.
described=$commit
[ -z "$commit" ] || [ $tree = clean ] || described=$commit-dirty

head_of_section() {
    echo "commit: ${commit:-unknown}"
    echo "tree: $tree"
    echo "date: $(date -u '+%Y-%m-%d %H:%M:%S UTC')"
    echo "gpu: $gpu, compute capability $(ask compute_cap), $(ask memory.total)"
    echo "driver: $(ask driver_version)"
    echo "cuda: $("$nvcc" --version | sed -n 's/.*, V\([0-9.]*\).*/\1/p')"
    echo "compiler: $("${CC:-cc}" --version | head -n 1); $(cmake --version | head -n 1)"
    echo "cpu: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
}

pack() {
    [ -z "${OUT:-}" ] || tar -czf "$OUT/gpu.tar.gz" "$results" "$logs"
}

# Seconds that this stage may still take, at least 1.
left() { echo $((deadline - SECONDS > 1 ? deadline - SECONDS : 1)); }

# ---- the stages: each prints the lines of its section to file descriptor 3 -------------------------
compile() {
    cmake -S . -B "$build" -G "$(generator_of "$build")" -DCMAKE_BUILD_TYPE=Release \
        -DGFK_CUDA=ON "-DCMAKE_CUDA_COMPILER=$nvcc" "-DCMAKE_CUDA_ARCHITECTURES=$capabilities" \
        -DGFK_TESTS=ON -DGFK_BENCH=ON -DGFK_EXAMPLES=ON "-DGFK_COMMIT=$described" &&
        cmake --build "$build" -j "$(nproc)"
}

# What ctest shares out: on each GPU four test programs at a time.
describe_gpus() {
    local i list=""
    for i in "${shared[@]}"; do
        list+="${list:+, }{\"id\": \"$i\", \"slots\": 4}"
    done
    echo "{\"version\": {\"major\": 1, \"minor\": 0}, \"local\": [{\"gpus\": [$list]}]}"
}

run_ctest() { # NAME, then what ctest is to select
    local name=$1 rc=0
    shift
    rm -f "$logs/$name.xml"
    describe_gpus >"$build/gpus.json"
    GFK_REQUIRE_GPU=1 GFK_TEST_GPUS=$gpus ctest --test-dir "$build" "$@" --no-tests=error \
        -j "$(nproc)" --resource-spec-file "$PWD/$build/gpus.json" \
        --stop-time "$(date -d "+$(left) seconds" +%T)" --output-on-failure --test-output-size-passed 4000000 --test-output-size-failed 4000000 \
        --output-junit "$PWD/$logs/$name.xml" || rc=1
    python3 scripts/record.py counts "$build" "$logs/$name.xml" >&3 || rc=1
    return "$rc"
}

stage_build() {
    local library
    library=$(readlink -f "$build/libgfk.so")
    echo "libgfk.so: $(stat -c %s "$library") bytes" >&3
}

stage_test() { run_ctest test -LE '^giant$'; }

stage_giant() {
    local rc=0
    GFK_TEST_GIANT=1 run_ctest giant -L '^giant$' || rc=1
    if timeout "$(left)" "$build/bench/gfk_bench" --giant --out "$results/giant.json"; then
        echo "benchmark: $results/giant.json" >&3
    else
        echo "benchmark: failed" >&3
        rc=1
    fi
    return "$rc"
}

# One tool over the short GPU tests. They provoke failing CUDA calls and check the statuses that come
# of them, so memcheck is told to look at memory only.
sanitize_with() {
    local tool=$1 line rc options=() verdict="nothing ran" log
    [ "$tool" != memcheck ] || options=(--report-api-errors no)
    while read -ra line; do # name, command
        log=$logs/$tool-${line[0]}.log rc=0
        [ "$verdict" != "nothing ran" ] || verdict=clean
        GFK_REQUIRE_GPU=1 timeout "$(left)" compute-sanitizer --tool "$tool" "${options[@]}" \
            --error-exitcode 86 "${line[@]:1}" --reduced >"$log" 2>&1 || rc=$?
        echo "$tool ${line[0]}: exit status $rc; $(grep '^gfk: .* tests' "$log" || echo 'no summary')"
        case $rc in
        0) continue ;;
        124) verdict="out of time in ${line[0]}" ;;
        86) verdict="errors in ${line[0]}" ;;
        *) verdict="${line[0]} ended with $rc" ;;
        esac
        tail -n 20 "$log"
    done < <(python3 scripts/record.py commands "$build")
    echo "$verdict" >"$logs/$tool.verdict"
}

stage_sanitize() {
    local tool rc=0 tools="memcheck racecheck initcheck synccheck" jobs=()
    for tool in $tools; do
        rm -f "$logs/$tool.verdict"
        CUDA_VISIBLE_DEVICES=${shared[${#jobs[@]} % ${#shared[@]}]} sanitize_with "$tool" &
        jobs+=($!)
    done
    wait "${jobs[@]}" # by name: there is also the tee that writes the log
    for tool in $tools; do
        echo "$tool: $(cat "$logs/$tool.verdict")" >&3
        [ "$(cat "$logs/$tool.verdict")" = clean ] || rc=1
    done
    return "$rc"
}

stage_bench() { measure default verdicts s2; }
stage_limits() { measure limits; }
stage_small() { measure small offsets small:small-2; } # twice: a second run tells slow from unlucky
stage_product() { measure product product-small product-perop; }
stage_map() { measure product-map; }
stage_rs() { measure rs rs-sweep; }
stage_host() { measure host host-streams; }

measure() { # PRESET[:FILE]...
    local rc=0 item preset file arguments plots=()
    for item in "$@"; do
        preset=${item%:*} file=$results/${item#*:}.json
        arguments=(--preset "$preset")
        [ "$preset" != default ] || arguments=()
        if timeout "$(left)" "$build/bench/gfk_bench" "${arguments[@]}" --out "$file"; then
            echo "$preset: $file" >&3
        else
            echo "$preset: failed" >&3
            rc=1
        fi
    done
    python3 -c 'import matplotlib' 2>/dev/null || plots=(--no-plots)
    python3 bench/report.py "${plots[@]}" "$results"/*.json || rc=1
    return "$rc"
}

# ---- run -------------------------------------------------------------------------------------------
run_stage() {
    local stage=$1 verdict=passed start=$SECONDS section
    deadline=$((start + 460))
    section=$(mktemp)
    echo "==== $stage"
    {
        if ! compile >"$logs/compile.log" 2>&1; then
            tail -n 40 "$logs/compile.log"
            verdict="the build failed"
        elif ! "stage_$stage" 3>"$section"; then
            verdict=failed
        fi
    } > >(tee "$logs/$stage.log") 2>&1
    printf '%s\n' "$(head_of_section)" "$(cat "$section")" "verdict: $verdict" \
        "seconds: $((SECONDS - start))" >"$section"
    cat "$section"
    python3 scripts/record.py put "$results/tests.txt" "$stage" <"$section"
    rm -f "$section"
    pack
    [ "$verdict" = passed ]
}

status=0
for stage in "${stages[@]}"; do
    run_stage "$stage" || status=1
done
exit $status
