#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds, tests, checks and measures on a machine with GPUs, and writes the record of it.
#
#   scripts/gpu.sh STAGE...   build, test, sanitize, giant, region, product, rs, matmul, rlnc, cpu, host,
#                             python, package; all is these
#   scripts/gpu.sh quick      the tests of the folders that changed since GFK_BASE (HEAD), or of the files GFK_CHANGED
#   scripts/gpu.sh prebuild   needs no GPU: builds for compute capability 9.0 and packs build/prebuilt, and
#                             build/prebuilt-papers for scripts/papers.sh
#
# Each stage takes less than 8 minutes on one GPU and 16 cores, the build included, and replaces its
# section of results/<gpu>/tests.txt; a later stage runs also when an earlier one failed. Tests and
# sanitizers are shared out to the GPUs, and so are the groups of all stages from region to rlnc that stand
# beside each other: each group has a GPU and a fixed set of cores to itself. The stages cpu, host,
# python and package run alone. The report comes once, after all stages. Nothing is installed:
# libraries are searched in CMAKE_PREFIX_PATH and .deps/usr, and all of them must be there.
#
#   GFK_COMMIT, GFK_TREE_CLEAN=1   the commit and its state, where the tree came without its .git
#   GFK_GPUS="0 1"                 the GPUs to share the work out to; all of them
#   GFK_CORES=16                   cores of a benchmark; at most the machine's, shared by its GPUs
#   GFK_SECOND=1                   the record's second run, of the same commit, without the giant tests: its figures go
#                                  into the rows of the first run, and nothing into tests.txt
#   GFK_CLMAD=ON                   where nvcc is older than 13.3 and CMAKE_CUDA_COMPILER_LAUNCHER names a
#                                  program that takes the objects of a newer one from elsewhere
#   GFK_PREBUILT=FOLDER            programs packed by prebuild on another machine: nothing is compiled
#   GFK_REPORT=0                   no report at the end: results/<gpu>/*.csv are read on another machine
#   OUT                            a folder for gpu.tar.gz: records, results, logs, JUnit files
# shellcheck disable=SC2317 # the functions stage_* are called by a name put together from the stage
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh

[[ ${1:---help} != --help ]] || { sed -n '3,27s/^# \{0,1\}//p' "$0" >&2; exit 2; }
all=(build test sanitize giant region product rs matmul rlnc cpu host python package)
# The GPU rows that the stages measure, the longest first: a stage, which has the name of its preset, the name of the
# run in results/<gpu>/*.csv, and a filter.
rows="product product-map ^map:
product product ^large:
region region-limits ^limits:
matmul matmul .
region region ^sizes:
region region-small ^small:
rs rs-sweep ^sweep:
rs rs ^codes:
product product-small ^small:
rlnc rlnc .
product product-perop ^perop:
region region-offsets ^offsets:"
stages=("$@")
[ "$*" != all ] || stages=("${all[@]}")
for stage in "${stages[@]}"; do
    [[ " ${all[*]} quick prebuild " == *" $stage "* ]] || { echo "$0: no stage $stage" >&2; exit 2; }
done
[ -n "$nvcc" ] || [ -n "${GFK_PREBUILT:-}" ] || { echo "$0: there is no nvcc of 12.8 or newer" >&2; exit 2; }
build=build/gpu
logs=$build/logs
mkdir -p "$logs"

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

describe_compilers() {
    echo "cuda: $("$nvcc" --version | sed -n 's/.*, V\([0-9.]*\).*/\1/p')"
    echo "compiler: $("${CC:-cc}" --version | head -n 1); $(cmake --version | head -n 1)"
}

head_of_section() {
    echo "commit: ${commit:-unknown}"
    echo "tree: $tree"
    echo "date: $(date -u '+%Y-%m-%d %H:%M:%S UTC')"
    echo "gpu: $gpu, compute capability $(ask compute_cap), $(ask memory.total); ${#shared[@]} of them"
    echo "driver: $(ask driver_version)"
    if [ -n "${GFK_PREBUILT:-}" ]; then
        echo "built: on another machine"
        sed 1d "$build/BUILT"
    else
        describe_compilers
    fi
    echo "cpu: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), ${#cpus[@]} cores"
}

pack() { # what there is so far, at once: the machine may be taken away
    [ -z "${OUT:-}" ] || flock "$logs" tar -czf "$OUT/gpu.tar.gz" "$results" "$rows_of" "$logs"
}

# Seconds that this stage may still take, at least 1.
left() { echo $((deadline - SECONDS > 1 ? deadline - SECONDS : 1)); }

# ---- the programs ----------------------------------------------------------------------------------
configure_and_build() { # ARCHITECTURES
    forget_nvcc "$build"
    cmake -S . -B "$build" -G "$(generator_of "$build")" -DCMAKE_BUILD_TYPE=Release -DGFK_REQUIRE_ALL=ON \
        -DGFK_CUDA=ON "-DGFK_CLMAD=${GFK_CLMAD:-AUTO}" "-DCMAKE_CUDA_COMPILER=$nvcc" "-DCMAKE_CUDA_ARCHITECTURES=$1" \
        -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON -DGFK_TOOL=ON \
        -DGFK_TESTS=ON -DGFK_BENCH=ON -DGFK_EXAMPLES=ON "-DGFK_PAPERS=${papers:-OFF}" "-DGFK_COMMIT=$described" &&
        cmake --build "$build" -j "$(nproc)"
}

compile() {
    if [ -n "${GFK_PREBUILT:-}" ]; then unpack; else configure_and_build "$capabilities"; fi
}

# The build folder without what only a compiler reads.
prebuild() {
    local folder
    papers=ON configure_and_build 90-real
    rm -rf build/prebuilt
    cp -a $build build/prebuilt
    rm -rf build/prebuilt/logs
    find build/prebuilt \( -name '*.[ao]' -o -name '*.ptx' -o -name '*.cubin' -o -name '*.gch' -o -name '.ninja*' \
        -o -name '*.ninja' -o -name compile_commands.json \) -delete
    if have cuobjdump && python3 -c 'import pandas' 2>/dev/null; then
        count_instructions "$build" build/prebuilt/sass.csv
    fi
    { echo "$described"; describe_compilers; } >build/prebuilt/BUILT
    find build/prebuilt -type f -perm -u+x -exec strip -g {} + 2>/dev/null || true # but for scripts
    # What scripts/papers.sh needs, in a folder of its own: both together are large.
    rm -rf build/prebuilt-papers
    mkdir -p build/prebuilt-papers/tests
    mv build/prebuilt/papers build/prebuilt-papers
    mkdir build/prebuilt/papers # an installation includes the file
    cp build/prebuilt-papers/papers/cmake_install.cmake build/prebuilt/papers
    [ ! -e build/prebuilt/sass.csv ] || mv build/prebuilt/sass.csv build/prebuilt-papers
    cp -a build/prebuilt/{BUILT,CMakeCache.txt} build/prebuilt-papers
    cp -a build/prebuilt/tests/gfk_tests build/prebuilt-papers/tests
    for folder in build/prebuilt build/prebuilt-papers; do
        echo "$folder: $(du -sh $folder | cut -f 1), for GFK_PREBUILT"
    done
}

# Paths of the other machine become paths of this one in what ctest and cmake --install read, but for
# OLD_RPATH, which says what is in the programs.
unpack() {
    local variable program edit=()
    [ "$(head -n 1 "$GFK_PREBUILT/BUILT")" = "$described" ] ||
        { echo "$GFK_PREBUILT is of $(head -n 1 "$GFK_PREBUILT/BUILT"), not of $described"; return 1; }
    ! cmp -s "$GFK_PREBUILT/BUILT" "$build/BUILT" || return 0
    cp -a "$GFK_PREBUILT/." "$build" || return 1
    there() { sed -n "s/^$1:[A-Z]*=//p" "$GFK_PREBUILT/CMakeCache.txt"; }
    for variable in CMAKE_COMMAND=cmake _Python3_EXECUTABLE=python3 CMAKE_C_COMPILER=cc \
        CMAKE_CXX_COMPILER=c++ CMAKE_NM=nm; do
        program=$(there "${variable%=*}")
        [ -z "$program" ] || edit+=(-e "s|\([=\"]\)$program\"|\1$(command -v "${variable#*=}")\"|g")
    done
    find "$build" -name '*.cmake' -exec sed -i "${edit[@]}" \
        -e "/OLD_RPATH/!s|$(there CMAKE_HOME_DIRECTORY)|$PWD|g" {} +
    link_prebuilt_libraries "$GFK_PREBUILT"
}

# ---- sharing out -----------------------------------------------------------------------------------
# share_out SLOTS FUNCTION: calls FUNCTION with each line of stdin, SLOTS at a time on each GPU, on the
# cores of that slot; false if one of the calls was.
share_out() {
    local slots=$1 function=$2 free line place cores at=0 slot g jobs=() rc=0
    cores=$((${#cpus[@]} / (${#shared[@]} * slots)))
    cores=$((cores < 1 ? 1 : cores < GFK_CORES ? cores : GFK_CORES))
    free=$(mktemp -u)
    mkfifo "$free"
    exec 4<>"$free" # the places that are free: a GPU and its cores
    rm "$free"
    for ((slot = 0; slot < slots; slot++)); do
        for g in "${shared[@]}"; do
            echo "$g $(IFS=,; echo "${cpus[*]:at % ${#cpus[@]}:cores}")" >&4
            at=$((at + cores))
        done
    done
    while read -ra line; do
        read -ru 4 -a place
        (
            taskset -cp "${place[1]}" "$BASHPID" >/dev/null || echo "cores: not fixed"
            CUDA_VISIBLE_DEVICES=${place[0]} $function "${line[@]}" && rc=0 || rc=1
            echo "${place[@]}" >&4
            exit "$rc"
        ) </dev/null &
        jobs+=($!)
    done
    for line in "${jobs[@]}"; do wait "$line" || rc=1; done
    exec 4>&-
    return "$rc"
}

# ---- the stages: each prints the lines of its section to file descriptor 3 -------------------------
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
        --stop-time "$(date -d "+$(left) seconds" +%T)" --output-on-failure \
        --test-output-size-passed 4000000 --test-output-size-failed 4000000 \
        --output-junit "$PWD/$logs/$name.xml" || rc=1
    python3 scripts/record.py counts "$build" "$logs/$name.xml" >&3 || rc=1
    return "$rc"
}

stage_build() {
    local library
    library=$(readlink -f "$build/src/libgfk.so")
    echo "libgfk.so: $(stat -c %s "$library") bytes" >&3
}

# The file tool's failing allocations need no GPU, and take five minutes beside the other entries.
stage_test() { run_ctest test -LE '^giant$' -E '^tool\.memory$'; }

stage_giant() {
    local rc=0
    [ -n "${GFK_SECOND:-}" ] || GFK_TEST_GIANT=1 run_ctest giant -L '^giant$' || rc=1
    share_out 1 measure <<<"region-giant --preset region --filter ^giant: --only gpu" || rc=1
    return "$rc"
}

# One tool over one of the short GPU tests. They provoke failing CUDA calls and check the statuses that
# come of them, so memcheck is told to look at memory only.
sanitize() { # TOOL NAME COMMAND...
    local tool=$1 log=$logs/$1-$2.log rc=0 options=() verdict
    [ "$tool" != memcheck ] || options=(--report-api-errors no)
    GFK_REQUIRE_GPU=1 timeout "$(left)" compute-sanitizer --tool "$tool" "${options[@]}" \
        --error-exitcode 86 "${@:3}" --reduced >"$log" 2>&1 || rc=$?
    case $rc in
    0) verdict=clean ;;
    124) verdict="out of time" ;;
    86) verdict=errors ;;
    *) verdict="ended with $rc" ;;
    esac
    echo "$tool $2: $verdict; $(grep '^gfk: .* tests' "$log" || echo 'no summary')"
    echo "$verdict" >"$logs/$tool-$2.verdict"
    [ "$rc" = 0 ] || { tail -n 20 "$log"; return 1; }
}

stage_sanitize() {
    local tool rc=0 verdicts
    rm -f "$logs"/*.verdict
    for tool in racecheck memcheck initcheck synccheck; do # the longest first
        python3 scripts/record.py commands "$build" | sed "s/^/$tool /"
    done | share_out 4 sanitize || rc=1
    for tool in memcheck racecheck initcheck synccheck; do
        verdicts=$(cat "$logs/$tool"-*.verdict 2>/dev/null | sort -u | paste -sd ',')
        echo "$tool: ${verdicts:-nothing ran}" >&3
        [ "$verdicts" = clean ] || rc=1
    done
    return "$rc"
}

# The CPU's rows and the bus: one after the other, with nothing else on the machine.
stage_cpu() { alone -cpu "--only cpu" region product rs matmul rlnc; }
stage_host() { alone "" "" host; }

# The Python package for the library of this build, once for all stages of a run. pip takes what it needs from
# this machine.
install_package() {
    local prefix=$PWD/build/python-prefix site=$PWD/build/python-site
    [ "${PYTHONPATH:-}" != "$site" ] || return 0
    cmake --install "$build" --prefix "$prefix" >"$logs/python-install.log" 2>&1 || return 1
    python3 -m pip install -q --no-build-isolation --no-deps --no-index --upgrade --target "$site" . \
        -C cmake.define.GFK_PYTHON_INSTALLED=ON -C "cmake.define.CMAKE_PREFIX_PATH=$prefix" || return 1
    export PYTHONPATH=$site PATH=$prefix/bin:$PATH
}

# Its tests on torch, cupy, jax and numpy, as far as they are installed, in three parts beside each other:
# processes of the CPU, the tests that look at the memory of the first GPU, and the rest on the last GPU; where
# that is the first GPU, one after the other.
stage_python() {
    local rc=0 part jobs=()
    install_package || return 1
    tests_of_python() { # NAME, then what pytest is to select
        GFK_REQUIRE_GPU=$gpus timeout "$(left)" python3 -m pytest -q -p no:cacheprovider \
            --junitxml "$logs/python-$1.xml" "${@:2}" >"$logs/python-$1.log" 2>&1
    }
    tests_of_python gloo python/tests/distributed & jobs+=($!)
    tests_of_python gpu python/tests/gpu & jobs+=($!)
    [ "$gpus" -gt 1 ] || wait $! || true
    CUDA_VISIBLE_DEVICES=$(seq -s , $((gpus - 1)) -1 0) \
        tests_of_python rest python/tests --ignore python/tests/distributed --ignore python/tests/gpu & jobs+=($!)
    for part in "${jobs[@]}"; do wait "$part" || rc=1; done
    tail -n 40 "$logs"/python-{gloo,gpu,rest}.log
    echo "pytest: $(python3 scripts/record.py total "$logs"/python-{gloo,gpu,rest}.xml)" >&3 || rc=1
    return "$rc"
}

# What calls of the package cost, rates of other packages, and parity across ranks.
stage_package() {
    local rc=0 name
    install_package || return 1
    rm -f "$rows_of"/{python,peers,ranks}.json
    timeout "$(left)" python3 bench/python.py --out "$rows_of/python.json" || rc=1
    timeout "$(left)" python3 bench/peers.py "$rows_of/peers.json" || rc=1
    [ "$gpus" -lt 2 ] ||
        ranks 2 -m 1 --backend nccl --store cuda --megabytes 2000 --piece 1048576 8388608 67108864 268435456 || rc=1
    ranks 6 -m 2 --megabytes 128 --piece 262144 1396736 2793472 8388608 || rc=1
    for name in python peers ranks; do # without a library there is no file of peers
        [ ! -e "$rows_of/$name.json" ] || keep "$name" || rc=1
    done
    return "$rc"
}

ranks() { # RANKS OPTION...
    GLOO_SOCKET_IFNAME=lo timeout "$(left)" python3 -m torch.distributed.run --nproc-per-node "$1" bench/ranks.py "${@:2}" \
        --out "$rows_of/ranks.json"
}

keep() { # RUN: its rows into the tables of results/<gpu>, one run at a time
    flock "$logs" python3 bench/report.py --into "$results" ${GFK_SECOND:+--second} "$rows_of/$1.json"
}

measure() { # RUN OPTION...
    local file=$rows_of/$1.json start=$SECONDS rc=0
    rm -f "$file"
    timeout "$(left)" "$build/bench/gfk_bench" "${@:2}" --out "$file" >"$logs/bench-$1.log" 2>&1 || rc=$?
    cat "$logs/bench-$1.log"
    [ ! -s "$file" ] || keep "$1" || rc=1
    if [ "$rc" = 0 ]; then
        echo "$1: $((SECONDS - start)) s, $(nproc) cores" >&3
    else
        echo "$1: failed ($rc)" >&3
    fi
    return "$rc"
}

gpu_rows() { # STAGE RUN FILTER
    measure "$2" --preset "$1" --filter "$3" --only gpu 3>>"$logs/$1.section"
    pack
}

alone() { # SUFFIX-OF-RUNS OPTIONS PRESET...
    local preset rc=0 cores
    cores=$(IFS=,; echo "${cpus[*]:0:GFK_CORES}")
    for preset in "${@:3}"; do
        (
            taskset -cp "$cores" "$BASHPID" >/dev/null || echo "cores: not fixed"
            # shellcheck disable=SC2086 # options are words
            measure "$preset$1" --preset "$preset" $2
        ) || rc=1
    done
    return "$rc"
}

report() {
    if [ "${GFK_REPORT:-1}" = 0 ]; then
        return 0
    elif python3 -c 'import matplotlib, pandas' 2>/dev/null; then
        python3 bench/report.py results/*/*
    else
        echo "no report: pandas or matplotlib is missing; run scripts/quickstart.sh report results/*/*"
    fi
}

# Not a part of the record: it says whether it is worth going on. The tests of a folder have its name as a label; the
# folders common, device and support are of all tests.
stage_quick() {
    local changed=${GFK_CHANGED:-} labels
    [ -n "$changed" ] ||
        changed=$({ git diff --name-only "${GFK_BASE:-HEAD}"; git ls-files -o --exclude-standard; } | sort -u)
    labels=$(grep -oP '^(src/(host|kernels)|tests)/\K[a-z]+(?=/)' <<<"${changed// /$'\n'}" | sort -u | paste -sd '|')
    [[ ! "|$labels|" =~ \|(common|device|support)\| ]] || labels=.
    echo "labels: ${labels:=base}"
    run_ctest quick -L "^($labels)" -LE '^(slow|huge|giant)$'
}

# ---- run -------------------------------------------------------------------------------------------
write_section() { # STAGE VERDICT SECONDS, and the lines of its own on stdin
    local section
    section=$(head_of_section; cat; echo "verdict: $2"; echo "seconds: $3")
    echo "$section"
    [ "$1" = quick ] || [ -n "${GFK_SECOND:-}" ] || python3 scripts/record.py put "$results/tests.txt" "$1" <<<"$section"
    pack
    [ "$2" = passed ]
}

run_stages() { # one stage, or several whose presets are shared out together
    local stage verdict=passed result start=$SECONDS compiled status=0 taken
    deadline=$((start + 460 * $#))
    echo "==== $*"
    if compile >"$logs/compile.log" 2>&1; then
        compiled=$((SECONDS - start))
        for stage in "$@"; do : >"$logs/$stage.section"; done
        if [ "$(type -t "stage_$1")" = function ]; then
            { "stage_$1" 3>"$logs/$1.section" || verdict=failed; } > >(tee "$logs/$1.log") 2>&1
        else
            grep -E "^($(IFS='|'; echo "$*")) " <<<"$rows" | share_out 1 gpu_rows || true
        fi
    else
        compiled=$((SECONDS - start)) verdict="the build failed"
        tail -n 40 "$logs/compile.log"
    fi
    taken="$((SECONDS - start)), $compiled of them for the build"
    [ $# -eq 1 ] || taken+=", with the stages $* together"
    for stage in "$@"; do
        result=$verdict
        ! grep -q ': failed' "$logs/$stage.section" || result=failed
        write_section "$stage" "$result" "$taken" <"$logs/$stage.section" || status=1
    done
    return "$status"
}

if [ "$*" = prebuild ]; then
    prebuild
    exit
fi
[ -n "$capabilities" ] || { echo "$0: nvidia-smi shows no GPU" >&2; exit 2; }
ask() { nvidia-smi --query-gpu="$1" --format=csv,noheader | head -n 1; }
gpu=$(ask name)
slug=$(echo "$gpu" | tr '[:upper:]' '[:lower:]' | sed 's/nvidia//; s/^[^a-z0-9]*//; s/[^a-z0-9]\{1,\}/-/g; s/-[0-9]*gb.*//')
results=results/$slug
rows_of=$build/rows # JSON files of the benchmark, whose rows go to $results
mkdir -p "$results" "$rows_of"
gpus=$(nvidia-smi -L | wc -l)
read -ra shared <<<"${GFK_GPUS:-$(seq -s ' ' 0 $((gpus - 1)))}"
read -ra cpus <<<"$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))')"
GFK_CORES=${GFK_CORES:-16}

status=0 together=()
for stage in "${stages[@]}" ''; do
    if [ -n "$stage" ] && grep -q "^$stage " <<<"$rows"; then
        together+=("$stage")
        continue
    fi
    [ ${#together[@]} -eq 0 ] || run_stages "${together[@]}" || status=1
    together=()
    [ -z "$stage" ] || run_stages "$stage" || status=1
done
for stage in "${stages[@]}"; do # once, after all stages, if one of them has measured
    [[ " build test sanitize quick " == *" $stage "* ]] && continue
    report || status=1
    pack
    break
done
exit $status
