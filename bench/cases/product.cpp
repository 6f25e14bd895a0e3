// SPDX-License-Identifier: BSD-3-Clause
// Products on the device.
#include "product.h"

#include <algorithm>
#include <cstdio>

#include "core/buffers.h"
#include "core/host.h"

namespace {

Layout layout_of(const ProductCase &c) {
    return {c.shape.k, c.shape.m, c.region_bytes()};
}

class ProductWork : public MatrixWork {
  public:
    ProductWork(const Library &library, const ProductCase &c, uint64_t seed)
        : MatrixWork(c.shape.w, layout_of(c), c.mode), library_(library), case_(c),
          matrix_(matrix_of(c.shape, c.matrix, seed)) {}
    ~ProductWork() override { library_.gfk_product_destroy(product_); }
    gfk_status start() override {
        const gfk_status status = case_.way == Way::Plain ? create_plain() : create();
        if (status != GFK_STATUS_SUCCESS)
            return status;
        // The slot grows here, not while a graph is captured.
        workspace_ = gpu_workspace(library_, workspace_bytes());
        launch(0, gpu().stream);
        gpu_synchronize();
        return GFK_STATUS_SUCCESS;
    }
    void launch(long j, cudaStream_t stream) const override {
        if (case_.way == Way::Plain)
            return multiply_all(j, stream);
        const gfk_regions in = inputs(j), out = outputs(j);
        gfk_check(library_.gfk_product_run(product_, &in, &out, buffers_.bytes(), mode_, workspace_,
                                           workspace_bytes(), stream),
                  info_.engine->id);
    }
    void describe(Fields *fields) const override {
        MatrixWork::describe(fields);
        if (plain_ != nullptr) {
            fields->set("kernel", kernel_->id);
            fields->set("table_bytes", plain_->table_bytes);
            fields->set("workspace_bytes", plain_->workspace_bytes);
            return;
        }
        fields->add(product_facts(info_));
        fields->set("setup", "create");
        fields->set("setup_us", create_us_);
    }

  protected:
    const uint32_t *matrix(long) const override { return matrix_.data(); }
    std::string tag() const override {
        return case_.matrix == MatrixKind::Random ? "random" : "cauchy";
    }

  private:
    size_t workspace_bytes() const {
        return plain_ ? plain_->workspace_bytes : (size_t)info_.workspace_bytes;
    }
    gfk_status create_plain() {
        const gfk_field field = field_of(w_);
        gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
        gfk_multiplier_info info;
        desc.device = gpu().device; // not the CPU
        const gfk_status status = gfk_multiplier_query(&field, &desc, &info);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        kernel_ = info.kernel;
        plain_ = &multiplier_of(library_, kernel_);
        return plain_->status;
    }
    gfk_status create() {
        const gfk_field field = field_of(w_);
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        desc.engine = case_.way == Way::Engine ? case_.engine.c_str() : nullptr;
        desc.device = gpu().device;
        desc.compile = case_.way != Way::Auto;
        desc.bytes = buffers_.bytes();
        const Stopwatch watch;
        const gfk_status status = library_.gfk_product_create(&product_, &field, case_.shape.m,
                                                              case_.shape.k, matrix_.data(), &desc);
        create_us_ = watch.us();
        return status == GFK_STATUS_SUCCESS ? library_.gfk_product_get_info(product_, &info_)
                                            : status;
    }
    void multiply_all(long j, cudaStream_t stream) const {
        const auto [w, k, m] = case_.shape;
        for (size_t row = 0; row < m; row++)
            for (size_t i = 0; i < k; i++)
                gfk_check(library_.gfk_region_multiply(plain_->handle, matrix_[row * k + i],
                                                       buffers_.in(j, i), buffers_.out(j, row),
                                                       buffers_.bytes(), i == 0 ? mode_ : GFK_XOR,
                                                       workspace_, plain_->workspace_bytes, stream),
                          kernel_->id);
    }

    const Library &library_;
    ProductCase case_;
    std::vector<uint32_t> matrix_;
    gfk_product_t product_ = nullptr;
    gfk_product_info info_ = {};
    const Multiplier *plain_ = nullptr;       // of the plain way
    const gfk_kernel_info *kernel_ = nullptr; // the same
    void *workspace_ = nullptr;
    double create_us_ = 0;
};

// Every engine at (10, 4), and at w = 8 beside it two other shapes.
bool is_sustained(const Options &options, const ProductCase &c) {
    const size_t k = c.shape.k, m = c.shape.m;
    const bool shape =
        (k == 10 && m == 4) || (c.shape.w == 8 && ((k == 20 && m == 4) || (k == 30 && m == 3)));
    return options.is("product") && shape && c.way == Way::Engine && c.mode == GFK_SET &&
           c.matrix == MatrixKind::Random;
}

Row product_row(const ProductCase &c, uint64_t seed) {
    static const char *const ways[] = {"engine", "auto", "auto_compile", "plain"};
    Row row;
    row.name = c.name();
    row.facts =
        Fields("kind", "product", "operation", "product", "where", "gpu", "id", c.id(), "w",
               c.shape.w, "k", c.shape.k, "m", c.shape.m, "way", ways[(int)c.way], "compile",
               c.way == Way::AutoCompile, "mode", c.mode == GFK_XOR ? "xor" : "set", "cold", true,
               "matrix", c.matrix == MatrixKind::Random ? "random" : "cauchy", "region_bytes",
               c.region_bytes(), "nominal_bytes", c.data);
    if (c.way == Way::Engine)
        row.facts.add(engine_facts(c.engine));
    row.data_bytes = (double)(c.region_bytes() * c.shape.k);
    row.moved = product_moved(c.shape, c.mode);
    row.passes = c.replays;
    row.needs = c.ceiling_name();
    row.missing = [=] { return too_little_memory(layout_of(c).memory_needed()); };
    row.ceiling = [=]() -> Ceiling & {
        return ceiling_of(c.few ? PlainKind::XorOnlyFew : PlainKind::XorOnly, layout_of(c), c.mode);
    };
    row.make = [=](const Library &library) { return make_product_work(library, c, seed); };
    return row;
}

} // namespace

std::unique_ptr<DeviceWork> make_product_work(const Library &library, const ProductCase &c,
                                              uint64_t seed) {
    return std::make_unique<ProductWork>(library, c, seed);
}

void add_product_rows(const Options &options, Rows *rows) {
    for (size_t i = 0; i < gfk_engine_count(); i++) {
        const char *reason = nullptr;
        if (gfk_engine_available(gfk_engine_at(i), -1, &reason) != GFK_STATUS_SUCCESS)
            std::fprintf(stderr, "gfk_bench: %s is absent: %s\n", gfk_engine_at(i)->id, reason);
    }
    if (options.is("product-small")) // first: nothing has been compiled or loaded yet
        add_product_create_rows(options, rows);
    std::vector<std::string> seen;
    for (const ProductCase &c : product_cases(options)) {
        Row row = product_row(c, options.seed);
        row.sustained = is_sustained(options, c);
        auto known = std::find(seen.begin(), seen.end(), row.needs);
        if (known == seen.end()) {
            seen.push_back(row.needs);
            rows->push_back(ceiling_row(row.needs,
                                        c.few ? PlainKind::XorOnlyFew : PlainKind::XorOnly,
                                        layout_of(c), c.mode));
            rows->back().facts.set("nominal_bytes", c.data);
            rows->back().sustained = row.sustained;
        }
        rows->push_back(row);
    }
    if (options.is("product-small"))
        add_product_call_rows(options, rows);
}
