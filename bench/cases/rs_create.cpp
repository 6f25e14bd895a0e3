// SPDX-License-Identifier: BSD-3-Clause
// What making a code and a decode matrix takes on one core.
#include <memory>

#include "cases.h"
#include "core/host.h"

namespace {

constexpr int kTimes = 21;

gfk_rs_t create(const Library &library, const Shape &shape) {
    const gfk_field field = field_of(shape.w);
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    gfk_rs_t code = nullptr;
    desc.product.family = GFK_ENGINE_HOST; // makes no tables: what is left is the code itself
    gfk_check(library.gfk_rs_create(&code, &field, shape.k, shape.m, &desc), "gfk_rs_create");
    return code;
}

class CreateWork : public Work {
  public:
    CreateWork(const Library &library, const Shape &shape, bool decoder)
        : library_(library), shape_(shape), decoder_(decoder) {
        for (size_t i = 0; i < shape.m; i++)
            lost_.push_back(i * shape.k / shape.m);
    }
    ~CreateWork() override { library_.gfk_rs_destroy(code_); }
    gfk_status start() override {
        code_ = create(library_, shape_);
        return GFK_STATUS_SUCCESS;
    }
    std::string check(bool) override { return ""; }
    double pass(long) override {
        const Stopwatch watch;
        if (!decoder_) {
            const gfk_rs_t made = create(library_, shape_);
            const double us = watch.us();
            library_.gfk_rs_destroy(made);
            return us;
        }
        gfk_rs_decoder_t made = nullptr;
        gfk_check(library_.gfk_rs_decoder_create(&made, code_, lost_.data(), lost_.size(), nullptr,
                                                 0, nullptr),
                  "gfk_rs_decoder_create");
        const double us = watch.us();
        library_.gfk_rs_decoder_destroy(made);
        return us;
    }

  private:
    const Library &library_;
    Shape shape_;
    bool decoder_;
    std::vector<size_t> lost_;
    gfk_rs_t code_ = nullptr;
};

} // namespace

void add_rs_create_rows(const Options &options, Rows *rows) {
    if (!options.is("rs"))
        return;
    for (const Shape &shape : {Shape{8, 10, 4}, Shape{8, 128, 128}, Shape{16, 10, 4},
                               Shape{16, 128, 128}, Shape{32, 10, 4}})
        for (const bool decoder : {false, true}) {
            const std::string what = decoder ? "rs_decoder_create" : "rs_create";
            Row row;
            row.name = what + "_w" + std::to_string(shape.w) + "/" + shape_text(shape);
            row.facts = Fields("kind", "create", "operation", what, "where", "cpu", "id", what, "w",
                               shape.w, "k", shape.k, "m", shape.m, "threads", 1);
            row.passes = kTimes;
            row.make = [=](const Library &library) {
                return std::make_unique<CreateWork>(library, shape, decoder);
            };
            rows->push_back(row);
        }
}
