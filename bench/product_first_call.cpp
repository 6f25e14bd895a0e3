// SPDX-License-Identifier: BSD-3-Clause
// What stands before the first byte: creating a product and its first run, compiling a matrix, and
// finding a compiled one in the cache folder.
#include "product_rows.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <benchmark/benchmark.h>

#include "gpu.h"
#include "multipliers.h"
#include "product_plan.h"
#include "reporter.h"
#include "results.h"

namespace {

constexpr int kTimes = 5; // each with a matrix of its own
constexpr size_t kRegion = size_t{1} << 20;
constexpr int kOthers = 80; // kernels; the engine keeps fewer in memory

double microseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
        .count();
}

// A folder of its own, removed with the process.
const std::string &cache_folder() {
    struct Folder {
        std::string path = (std::filesystem::temp_directory_path() / "gfk_bench.XXXXXX").string();
        Folder() {
            if (mkdtemp(path.data()) == nullptr)
                path.clear(); // rows say "not in the cache" then
        }
        ~Folder() {
            std::error_code ignored;
            if (!path.empty())
                std::filesystem::remove_all(path, ignored);
        }
    };
    static const Folder folder;
    return folder.path;
}

struct Created {
    gfk_status status;
    double us;
    bool from_cache;
    gfk_product_t product;
};

Created create(const Shape &shape, const std::string &engine, const std::vector<uint32_t> &matrix) {
    gfk_field field;
    gfk_check(gfk_field_init(&field, shape.w, 0), "gfk_field_init");
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    gfk_product_info info = {};
    Created c = {};
    desc.engine = engine.c_str();
    desc.compile = true;
    desc.cache_folder = cache_folder().empty() ? nullptr : cache_folder().c_str();
    const auto start = std::chrono::steady_clock::now();
    c.status = gfk_product_create(&c.product, &field, shape.m, shape.k, matrix.data(), &desc);
    c.us = microseconds_since(start);
    if (c.status == GFK_STATUS_SUCCESS)
        gfk_check(gfk_product_get_info(c.product, &info), "gfk_product_get_info");
    c.from_cache = info.from_cache;
    return c;
}

// Compiles others until what was compiled before is no longer in memory: once before default
// matrices, which other rows may have compiled, and once before looking into the folder.
void forget_compiled(bool for_folder) {
    static bool done[2];
    const uint32_t first = 2 + (for_folder ? kOthers : 0);
    for (uint32_t c = first; !done[for_folder] && c < first + kOthers; c++) {
        const Created other = create({8, 1, 1}, "xor_w8", {c});
        gfk_check(other.status, "xor_w8");
        gfk_product_destroy(other.product);
    }
    done[for_folder] = true;
}

Result result_of(const std::string &name, const std::string &engine, const Shape &shape,
                 const char *setup) {
    Result r;
    r.name = name;
    r.id = engine;
    r.implementation = "product";
    r.w = shape.w;
    r.on_device = true;
    r.setup = setup;
    r.extra = {{"k", (double)shape.k}, {"m", (double)shape.m}};
    return r;
}

// Creating a product and running it once on 1 MiB regions, until the outputs are there. The
// engine's own code is loaded by the first of the calls, which does not count.
void run_first_call(benchmark::State &state, const std::string &name, const std::string &engine,
                    const Shape &shape, uint64_t seed) {
    progress(name);
    Result result = result_of(name, engine, shape, "create");
    const size_t stride = kRegion + 8192;
    const gfk_regions in = {nullptr, gpu_slot(Slot::Inputs, stride * shape.k), stride};
    const gfk_regions out = {nullptr, gpu_slot(Slot::Outputs, stride * shape.m), stride};
    std::vector<double> calls, creates;
    const auto call = [&](uint64_t number) {
        const auto matrix = matrix_of(shape, MatrixKind::Random, seed + number);
        const auto start = std::chrono::steady_clock::now();
        const Created c = create(shape, engine, matrix);
        gfk_check(c.status, engine.c_str());
        gfk_check(gfk_product_run(c.product, &in, &out, kRegion, GFK_SET, nullptr, 0, gpu().stream),
                  engine.c_str());
        GPU_CHECK(cudaStreamSynchronize(gpu().stream));
        calls.push_back(microseconds_since(start));
        creates.push_back(c.us);
        gfk_product_destroy(c.product);
    };
    call(0);
    calls.clear();
    creates.clear();
    uint64_t number = 1;
    for (auto _ : state) {
        call(number++);
        state.SetIterationTime(calls.back() * 1e-6);
    }
    Result of_create;
    set_times(&result, calls);
    set_times(&of_create, creates);
    result.setup_us = of_create.median_us;
    result.bytes = kRegion * shape.k;
    result.moved = (double)(shape.k + shape.m) / (double)shape.k;
    publish(state, result);
}

// Creates that compile (cached: false) or that find what those left in the folder.
void run_create(benchmark::State &state, const std::string &name, const std::string &engine,
                const Shape &shape, MatrixKind kind, uint64_t seed, bool cached) {
    progress(name);
    Result result = result_of(name, engine, shape, cached ? "cache" : "compile");
    if (cached || kind == MatrixKind::Cauchy)
        forget_compiled(cached);
    std::vector<double> us;
    int found = 0;
    for (auto _ : state) {
        const Created c = create(shape, engine, matrix_of(shape, kind, seed + 1 + us.size()));
        if (c.status != GFK_STATUS_SUCCESS)
            return publish_failure(state, result, gfk_status_description(c.status));
        gfk_product_destroy(c.product);
        found += c.from_cache;
        us.push_back(c.us);
        state.SetIterationTime(c.us * 1e-6);
    }
    set_times(&result, us);
    result.setup_us = result.median_us;
    result.extra.push_back({"from_cache", (double)found});
    const char *remark = "";
    if (kind == MatrixKind::Cauchy)
        remark = ", a default matrix";
    else if (found != (cached ? (int)us.size() : 0))
        remark = cached ? " (NOT IN THE CACHE)" : " (FOUND IN A CACHE)";
    char note[80];
    std::snprintf(note, sizeof note, "%.2f ms%s", result.median_us / 1e3, remark);
    result.note = note;
    publish(state, result);
}

void register_creates(const std::string &what, bool cached, uint64_t seed) {
    for (const Shape &shape : specialised_shapes())
        for (const std::string &engine : contenders(shape)) {
            if (!(gfk_engine_find(engine.c_str())->labels & GFK_ENGINE_COMPILES))
                continue;
            for (MatrixKind kind : {MatrixKind::Random, MatrixKind::Cauchy}) {
                const bool cauchy = kind == MatrixKind::Cauchy;
                if (cauchy && cached)
                    continue;
                const std::string name =
                    what + "/" + engine + "/" + shape_text(shape) + (cauchy ? "/cauchy" : "");
                auto *b = register_row(name, [=](benchmark::State &state) {
                    run_create(state, name, engine, shape, kind, seed, cached);
                });
                // There is one default matrix, and only its first create can compile.
                b->UseManualTime()->Iterations(cauchy ? 1 : kTimes)->Unit(benchmark::kMicrosecond);
            }
        }
}

} // namespace

void register_product_first_calls(uint64_t seed) {
    register_creates("specialise", false, seed);
    register_creates("cache_hit", true, seed);
    for (const Shape &shape : {Shape{8, 4, 2}, Shape{8, 10, 4}, Shape{8, 30, 3}, Shape{8, 128, 128},
                               Shape{16, 10, 4}, Shape{32, 10, 4}})
        for (const std::string &engine : contenders(shape)) {
            if (gfk_engine_find(engine.c_str())->labels & GFK_ENGINE_COMPILES)
                continue;
            const std::string name = "first_call/" + engine + "/" + shape_text(shape);
            auto *b = register_row(name, [=](benchmark::State &state) {
                run_first_call(state, name, engine, shape, seed);
            });
            b->UseManualTime()->Iterations(kTimes)->Unit(benchmark::kMicrosecond);
        }
}
