// SPDX-License-Identifier: BSD-3-Clause
// Products on the CPU: this library's engines there, ISA-L and Jerasure, on data that caches do not
// hold.
#include "product_rows.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <benchmark/benchmark.h>

#include "baseline_coders.h"
#include "host_buffers.h"
#include "multipliers.h"
#include "product_plan.h"
#include "reporter.h"
#include "results.h"
#include "team.h"

namespace {

constexpr size_t kData = size_t{1} << 30;
constexpr size_t kCold = size_t{128} << 20;        // from here on caches do not matter
constexpr size_t kReferenceData = size_t{1} << 20; // the reference would take minutes for more
constexpr size_t kUnit = 512, kChecked = size_t{1} << 16;
constexpr int kPasses = 5;

std::vector<const coder *> coders() {
    return {
#ifdef HAVE_ISAL
        &isal_coder,
#endif
#ifdef HAVE_JERASURE
        &jerasure_coder,
#endif
    };
}

// k inputs and m outputs of one length in the bench's host memory.
struct Regions {
    std::vector<unsigned char *> in, out;
    size_t bytes;

    Regions(const Shape &shape, size_t data) : bytes(data / shape.k / kUnit * kUnit) {
        const HostBuffers buffers = host_buffers(bytes * std::max(shape.k, shape.m));
        for (size_t i = 0; i < shape.k; i++)
            in.push_back((unsigned char *)(uintptr_t)buffers.src + i * bytes);
        for (size_t j = 0; j < shape.m; j++)
            out.push_back(buffers.dst + j * bytes);
    }
};

gfk_product_t create(const Shape &shape, const char *engine, const std::vector<uint32_t> &matrix) {
    gfk_field field;
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    gfk_product_t product = nullptr;
    desc.engine = engine;
    gfk_check(gfk_field_init(&field, shape.w, 0), "gfk_field_init");
    gfk_check(gfk_product_create(&product, &field, shape.m, shape.k, matrix.data(), &desc), engine);
    return product;
}

void run_product(gfk_product_t product, const unsigned char *const *in, unsigned char *const *out,
                 size_t bytes) {
    const gfk_regions inputs = {(void *const *)in, nullptr, 0};
    const gfk_regions outputs = {(void *const *)out, nullptr, 0};
    gfk_check(gfk_product_run(product, &inputs, &outputs, bytes, GFK_SET, nullptr, 0, nullptr),
              "gfk_product_run");
}

// The first and the last bytes of every output against the reference engine.
bool right(const Regions &regions, const Shape &shape, const std::vector<uint32_t> &matrix) {
    const std::string id = "host_w" + std::to_string(shape.w);
    gfk_product_t reference = create(shape, id.c_str(), matrix);
    const size_t length = std::min(regions.bytes, kChecked);
    std::vector<unsigned char> expected(length * shape.m);
    bool same = true;
    for (size_t from : {size_t{0}, regions.bytes - length}) {
        std::vector<const unsigned char *> in;
        std::vector<unsigned char *> out;
        for (const unsigned char *p : regions.in)
            in.push_back(p + from);
        for (size_t j = 0; j < shape.m; j++)
            out.push_back(expected.data() + j * length);
        run_product(reference, in.data(), out.data(), length);
        for (size_t j = 0; j < shape.m; j++)
            same = same && std::memcmp(regions.out[j] + from, out[j], length) == 0;
    }
    gfk_product_destroy(reference);
    return same;
}

// One pass over the regions, in seconds.
using Pass = std::function<double()>;

void measure(benchmark::State &state, Result result, const Shape &shape, const Regions &regions,
             const std::vector<uint32_t> &matrix, const Pass &pass) {
    result.w = shape.w;
    result.bytes = regions.bytes * shape.k;
    result.moved = (double)(shape.k + shape.m) / (double)shape.k;
    result.cold = result.bytes >= kCold;
    result.constants = "random matrix";
    result.extra = {{"k", (double)shape.k}, {"m", (double)shape.m}};
    for (unsigned char *out : regions.out)
        std::memset(out, 0xa5, regions.bytes);
    pass();
    if (!right(regions, shape, matrix))
        return publish_failure(state, result, "differs from the host engine");
    std::vector<double> us;
    for (auto _ : state) {
        const double seconds = pass();
        us.push_back(1e6 * seconds);
        state.SetIterationTime(seconds);
    }
    set_times(&result, us);
    publish(state, result);
}

void run_engine(benchmark::State &state, const std::string &name, const gfk_engine_info *engine,
                const Shape &shape, size_t data, uint64_t seed) {
    progress(name);
    Result result;
    result.name = name;
    result.id = engine->id;
    result.method = gfk_engine_family_name(engine->family);
    result.implementation = "product";
    result.threads = engine->family == GFK_ENGINE_ISAL ? (int)usable_cores() : 1;
    const Regions regions(shape, data);
    const auto matrix = matrix_of(shape, MatrixKind::Random, seed);
    gfk_product_t product = create(shape, engine->id, matrix);
    measure(state, result, shape, regions, matrix, [&] {
        const auto start = std::chrono::steady_clock::now();
        run_product(product, regions.in.data(), regions.out.data(), regions.bytes);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    });
    gfk_product_destroy(product);
}

void run_coder(benchmark::State &state, const std::string &name, const coder *c, const Shape &shape,
               unsigned threads, size_t data, uint64_t seed) {
    progress(name);
    Result result;
    result.name = name;
    result.id = result.implementation = c->name;
    result.threads = (int)threads;
    const Regions regions(shape, data);
    const auto matrix = matrix_of(shape, MatrixKind::Random, seed);
    void *made = c->create((int)shape.k, (int)shape.m, matrix.data());
    gfk_check(made ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY, c->name);
    const size_t slice = (regions.bytes / threads + kUnit - 1) / kUnit * kUnit;
    const Team::Job job = [&](unsigned t) {
        const size_t from = std::min(regions.bytes, t * slice);
        const size_t to = std::min(regions.bytes, from + slice);
        std::vector<unsigned char *> in, out;
        for (unsigned char *p : regions.in)
            in.push_back(p + from);
        for (unsigned char *p : regions.out)
            out.push_back(p + from);
        if (to > from)
            c->encode(made, in.data(), out.data(), to - from);
    };
    {
        Team team(threads);
        measure(state, result, shape, regions, matrix, [&] { return team.run(&job); });
    }
    c->destroy(made);
}

std::string name_of(const std::string &id, const Shape &shape, size_t data, unsigned threads) {
    return id + "/" + shape_text(shape) + "/" + size_text(data) + "/set/" +
           (data / shape.k / kUnit * kUnit * shape.k >= kCold ? "cold" : "hot") +
           "/threads=" + std::to_string(threads);
}

void add(const std::string &name, std::function<void(benchmark::State &)> run) {
    auto *b = register_row(name, [run](benchmark::State &state) { run(state); });
    b->UseManualTime()->Iterations(kPasses)->Unit(benchmark::kMicrosecond);
}

void register_engines(const Shape &shape, size_t data, uint64_t seed) {
    for (size_t i = 0; i < gfk_engine_count(); i++) {
        const gfk_engine_info *engine = gfk_engine_at(i);
        const bool reference = engine->family == GFK_ENGINE_HOST;
        if (engine->w != shape.w || !(reference || engine->family == GFK_ENGINE_ISAL) ||
            gfk_engine_available(engine, -1, nullptr) != GFK_STATUS_SUCCESS)
            continue;
        const size_t mine = reference ? std::min(data, kReferenceData) : data;
        const std::string name = name_of(engine->id, shape, mine, reference ? 1 : usable_cores());
        add(name,
            [=](benchmark::State &state) { run_engine(state, name, engine, shape, mine, seed); });
    }
}

} // namespace

// s4's sweep on the CPU: one pass over buffers of 1 MiB, all cores. A decoder is an encoder with
// another matrix, so these rows stand for both.
static void register_sweep(uint64_t seed) {
    for (const Shape &shape : rs_sweep_shapes())
        for (const coder *c : coders()) {
            const unsigned threads = c->threads ? usable_cores() : 1;
            const size_t data = shape.k << 20;
            const std::string name = name_of(c->name, shape, data, threads) + "/sweep";
            add(name, [=](benchmark::State &state) {
                run_coder(state, name, c, shape, threads, data, seed);
            });
        }
}

void register_product_host_rows(const Options &options) {
    const uint64_t seed = options.seed;
    if (options.preset == Options::RsSweep)
        return register_sweep(seed);
    if (options.preset != Options::Product)
        return;
    const size_t data = options.sizes.empty() ? kData : options.sizes[0];
    for (const Shape &shape : cpu_shapes()) {
        register_engines(shape, data, seed);
        for (const coder *c : coders())
            for (unsigned threads : {1u, usable_cores()}) {
                const std::string name = name_of(c->name, shape, data, threads);
                if (threads == 1 || c->threads)
                    add(name, [=](benchmark::State &state) {
                        run_coder(state, name, c, shape, threads, data, seed);
                    });
                if (usable_cores() == 1)
                    break;
            }
    }
}

void describe_coders(Context *context) {
    for (const char *name : {"isa-l", "jerasure"}) {
        const auto all = coders();
        const auto found = std::find_if(all.begin(), all.end(), [&](const coder *c) {
            return std::strcmp(c->name, name) == 0;
        });
        const std::string key = std::strcmp(name, "isa-l") == 0 ? "isa_l" : name;
        context->push_back({key, found == all.end() ? "not found" : (*found)->version()});
        if (found != all.end())
            context->push_back({key + "_simd", (*found)->simd()});
    }
}
