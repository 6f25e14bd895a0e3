// SPDX-License-Identifier: BSD-3-Clause
// What stands before the first byte of a product: creating it and its first run.
#include "cases.h"
#include "core/device.h"

namespace {

constexpr int kTimes = 5; // each with a matrix of its own
constexpr size_t kRegion = kMiB, kStride = kRegion + 8192;

const std::vector<Shape> kShapes = {{8, 4, 2},     {8, 10, 4},  {8, 30, 3},
                                    {8, 128, 128}, {16, 10, 4}, {32, 10, 4}};

struct CreateCase {
    std::string engine;
    Shape shape;
    uint64_t seed;
};

// A create and a run on 1 MiB regions, until the outputs are there. The engine's own code is loaded
// by the first of the calls, which does not count.
struct CreateWork : Work {
    CreateWork(const Library &library, const CreateCase &c) : library_(library), case_(c) {}
    gfk_status start() override {
        gpu_slot(Slot::Inputs, kStride * case_.shape.k);
        gpu_slot(Slot::Outputs, kStride * case_.shape.m);
        return GFK_STATUS_SUCCESS;
    }
    void warm_up() override {
        pass(-1);
        creates_.clear();
    }
    double pass(long number) override {
        const auto [w, k, m] = case_.shape;
        const auto matrix = matrix_of(case_.shape, false, case_.seed + 1 + (uint64_t)number);
        const gfk_field field = field_of(w);
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        desc.engine = case_.engine.c_str();
        Object<gfk_product_t> product;
        const Stopwatch watch;
        gfk_check(product.make(library_.gfk_product_create, library_.gfk_product_destroy, &field, m,
                               k, matrix.data(), &desc),
                  case_.engine.c_str());
        creates_.push_back(product.create_us);
        const gfk_regions in = {nullptr, gpu_slot(Slot::Inputs, 0), kStride};
        const gfk_regions out = {nullptr, gpu_slot(Slot::Outputs, 0), kStride};
        gfk_check(library_.gfk_product_run(product, &in, &out, kRegion, GFK_SET, gpu().stream),
                  case_.engine.c_str());
        gpu_synchronize();
        return watch.us();
    }
    void describe() override { facts.add("setup_us", times_of(creates_).median); }

  private:
    const Library &library_;
    CreateCase case_;
    std::vector<double> creates_;
};

} // namespace

void add_product_create_rows(const Options &options, Rows *rows) {
    for (const Shape &shape : kShapes)
        for (const std::string &engine : contenders(shape)) {
            Row row("first_call/" + engine + "/" + shape_text(shape),
                    shape_facts("create", "first_call", "gpu", engine, shape));
            row.facts.set("matrix", "random");
            row.facts.add(engine_facts(engine));
            row.data_bytes = (double)(kRegion * shape.k);
            row.moved = product_moved(shape, GFK_SET);
            row.passes = kTimes;
            row.make = makes<CreateWork>(CreateCase{engine, shape, options.seed});
            rows->push_back(row);
        }
}
