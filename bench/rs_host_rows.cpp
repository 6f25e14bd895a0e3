// SPDX-License-Identifier: BSD-3-Clause
// What making a code and a decode matrix takes on one core.
#include <chrono>

#include <benchmark/benchmark.h>
#include <gfk/gfk.h>

#include "multipliers.h"
#include "product_plan.h"
#include "reporter.h"
#include "results.h"
#include "rs_rows.h"

namespace {

double microseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
        .count();
}

gfk_rs_t create(const Shape &shape) {
    gfk_field field;
    gfk_check(gfk_field_init(&field, shape.w, 0), "gfk_field_init");
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    gfk_rs_t code = nullptr;
    desc.product.family = GFK_ENGINE_HOST; // makes no tables: what is left is the code itself
    gfk_check(gfk_rs_create(&code, &field, shape.k, shape.m, &desc), "gfk_rs_create");
    return code;
}

void run(benchmark::State &state, const std::string &name, const Shape &shape, bool decoder) {
    progress(name);
    Result result;
    result.name = name;
    result.id = decoder ? "rs_decoder_create" : "rs_create";
    result.implementation = "rs";
    result.w = shape.w;
    result.extra = {{"k", (double)shape.k}, {"m", (double)shape.m}};
    std::vector<size_t> lost;
    for (size_t i = 0; i < shape.m; i++)
        lost.push_back(i * shape.k / shape.m);
    const gfk_rs_t code = create(shape);
    std::vector<double> times;
    for (auto _ : state) {
        const auto start = std::chrono::steady_clock::now();
        if (decoder) {
            gfk_rs_decoder_t made = nullptr;
            gfk_check(
                gfk_rs_decoder_create(&made, code, lost.data(), lost.size(), nullptr, 0, nullptr),
                "gfk_rs_decoder_create");
            times.push_back(microseconds_since(start));
            gfk_rs_decoder_destroy(made);
        } else {
            const gfk_rs_t made = create(shape);
            times.push_back(microseconds_since(start));
            gfk_rs_destroy(made);
        }
        state.SetIterationTime(times.back() * 1e-6);
    }
    gfk_rs_destroy(code);
    set_times(&result, times);
    publish(state, result);
}

} // namespace

void register_rs_host_rows(const Options &options) {
    if (options.preset != Options::Rs)
        return;
    for (const Shape &shape : {Shape{8, 10, 4}, Shape{8, 128, 128}, Shape{16, 10, 4},
                               Shape{16, 128, 128}, Shape{32, 10, 4}})
        for (const bool decoder : {false, true}) {
            const std::string name = std::string(decoder ? "rs_decoder_create" : "rs_create") +
                                     "_w" + std::to_string(shape.w) + "/" + shape_text(shape);
            auto *b = register_row(
                name, [=](benchmark::State &state) { run(state, name, shape, decoder); });
            b->UseManualTime()->Iterations(21)->Unit(benchmark::kMicrosecond);
        }
}
