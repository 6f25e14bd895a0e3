#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds papers/, measures its claims and writes its pages.
#
#   scripts/papers.sh [OPTION...]    all papers, or what the options of gfk_papers say, e.g. --paper opencl
#   scripts/papers.sh pages FILE...  only the pages of papers/, from these result files
#   scripts/papers.sh test           the library's tests on each kernel that only papers have; needs a GPU
#   scripts/papers.sh check          needs no GPU: builds, measures small rows of each paper on the CPU, and writes
#                                    pages of them; compiles the kernels too where there is an nvcc
#
# A complete run on a GPU is a record: papers/results/GPU/papers.json, with the counts of instructions beside it if
# there is a cuobjdump. The pages of papers/ are those of the H200; all others go to build/papers/pages.
#
#   GFK_PREBUILT=FOLDER   build/prebuilt-papers, packed by `scripts/gpu.sh prebuild` on another machine, or for check
#                         a build with -DGFK_PAPERS=ON: nothing is compiled
#   GFK_COMMIT            the commit, where the tree came without its .git
#   OUT                   a folder for papers.tar.gz: record and pages
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh

of_pages=h200 build=build/papers seconds=460
commit=${GFK_COMMIT:-}
export PYTHONPATH="$PWD/build/python${PYTHONPATH:+:$PYTHONPATH}"

need_pandas() { python3 -c 'import pandas' 2>/dev/null || pip_install build/python --no-compile pandas; }

write_pages() { # FOLDER FILE...
    need_pandas && python3 -B papers/report/write.py --out "$@"
}

configure() { # FOLDER OPTION...
    cmake -S . -B "$1" -G "$(generator_of "$1")" -DCMAKE_BUILD_TYPE=Release -DGFK_PAPERS=ON -DGFK_BENCH=ON \
        -DGFK_EXAMPLES=OFF -DGFK_TOOL=OFF "-DGFK_COMMIT=$commit" "${@:2}"
}

# Leaves the programs in $build.
compile() { # CMAKE-OPTION...
    local cuda=(-DGFK_CUDA=OFF)
    if [ -n "${GFK_PREBUILT:-}" ]; then
        build=$GFK_PREBUILT
        link_prebuilt_libraries "$GFK_PREBUILT"
        return
    fi
    if [ -n "$capabilities" ]; then
        fetch_nvcc || echo "without CLMAD: $why"
        [ -z "$nvcc" ] || cuda=(-DGFK_CUDA=ON "-DCMAKE_CUDA_COMPILER=$nvcc" "-DCMAKE_CUDA_ARCHITECTURES=$capabilities")
        forget_nvcc "$build"
    fi
    stage configure configure "$build" "${cuda[@]}" "$@"
    stage build cmake --build "$build" -j "$(nproc)"
}

case ${1:-} in
-h | --help | help)
    sed -n '3,17s/^# \{0,1\}//p' "$0"
    ;;
pages)
    write_pages papers "${@:2}"
    ;;
test)
    compile -DGFK_TESTS=ON
    for name in kernels engines; do # as in papers/CMakeLists.txt
        GFK_REQUIRE_GPU=1 LD_LIBRARY_PATH="$(realpath "$build")/papers/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
            "$build/tests/gfk_tests" "--gtest_filter=$(cat "$build/papers/$name.filter")" --gtest_brief=1
    done
    ;;
check)
    checked=build/papers/check
    if [ -z "${GFK_PREBUILT:-}" ]; then
        stage configure configure "$build" -DGFK_CUDA=OFF -DGFK_TESTS=OFF -DGFK_WERROR=ON
        stage build cmake --build "$build" -j "$(nproc)" --target gfk_papers
    fi
    rm -rf $checked
    mkdir -p $checked
    claims="gpu-rscode:S1-3 gf-gpu:S2-1 opencl:S3-3 gibraltar:S4-15 nuclei:S5-6"
    for claim in $claims; do
        rows=$checked/${claim%:*}.json
        "${GFK_PREBUILT:-$build}/papers/gfk_papers" --paper "${claim%:*}" --only cpu --sizes 65536 --out "$rows" >>$checked/log
        [ "$(grep -c '"state": "measured"' "$rows")" -gt 0 ] # each has compared all bytes
    done
    write_pages $checked $checked/*.json
    for claim in $claims; do
        line=$(grep -F "[${claim#*:}](" "$checked/${claim%:*}/README.md")
        echo "$(grep -c '"state": "measured"' "$checked/${claim%:*}.json") rows; $line"
        [[ $line != *"not run here"* ]]
    done
    python3 -B papers/report/papers_test.py
    if [ -z "${GFK_PREBUILT:-}" ] && [ -n "$nvcc" ]; then
        stage configure configure $build/cuda -DGFK_CUDA=ON "-DCMAKE_CUDA_COMPILER=$nvcc" -DGFK_TESTS=OFF \
            -DCMAKE_CUDA_ARCHITECTURES=90 -DGFK_WERROR=ON
        stage build cmake --build $build/cuda -j "$(nproc)" --target gfk_papers_kernels
    fi
    ;;
"" | --*)
    if [ -z "$commit" ] && commit=$(git rev-parse HEAD 2>/dev/null); then
        [ -z "$(git status --porcelain -- . ':!papers/results' ':!papers/*.md')" ] || commit+=-dirty
    fi
    compile -DGFK_TESTS=OFF
    gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1 || true)
    slug=$(echo "$gpu" | tr '[:upper:]' '[:lower:]' | sed 's/nvidia//; s/^[^a-z0-9]*//; s/[^a-z0-9]\{1,\}/-/g')
    results=build/papers/results
    [ -z "$slug" ] || [ $# -gt 0 ] || results=papers/results/$slug
    mkdir -p "$results"
    rc=0 # 1: some rows are wrong; the others have their pages all the same
    timeout $seconds "$build/papers/gfk_papers" "$@" --out build/papers.json.part || rc=$?
    [ $rc -le 1 ] || { echo "papers.sh: the run ended early ($rc); no record and no pages" >&2; exit $rc; }
    mv build/papers.json.part "$results/papers.json"
    rm -f "$results/sass.csv" # of another build
    if [ -n "${GFK_PREBUILT:-}" ] && [ -e "$build/sass.csv" ]; then
        cp "$build/sass.csv" "$results/sass.csv"
    elif [ -n "$slug" ]; then
        { need_pandas && count_instructions "$build" "$results/sass.csv"; } ||
            echo "instructions: not counted; the pages say what is missing"
    fi
    pages=build/papers/pages
    [ "$results" != papers/results/$of_pages ] || pages=papers
    write_pages "$pages" "$results/papers.json" || echo "no pages; scripts/papers.sh pages $results/papers.json writes them"
    if [ -n "${OUT:-}" ]; then
        mkdir -p build/papers/pages
        tar -czf "$OUT/papers.tar.gz" "$results" build/papers/pages papers/*.md papers/*/README.md
    fi
    exit $rc
    ;;
*)
    echo "papers.sh: there is no $1; see scripts/papers.sh --help" >&2
    exit 2
    ;;
esac
