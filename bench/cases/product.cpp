// SPDX-License-Identifier: BSD-3-Clause
// Products on the device.
#include <algorithm>

#include "call.h"
#include "cases.h"

namespace {

constexpr size_t kLeastLong = 64 * kMiB; // bytes of data, where a card has little memory
constexpr double kNear = 1.25;           // times the fastest engine's time in bursts

Layout layout_of(const ProductCase &c) {
    return {c.shape.k, c.shape.m, c.region_bytes()};
}

struct ProductWork : MatrixWork {
    ProductWork(const Library &library, const ProductCase &c, uint64_t seed)
        : MatrixWork(c.shape.w, layout_of(c), c.mode), library_(library), case_(c) {
        matrix_ = matrix_of(c.shape, false, seed);
    }
    gfk_status start() override {
        const gfk_status status = case_.way == Way::Plain ? create_plain() : create();
        if (status != GFK_STATUS_SUCCESS)
            return status;
        // The slot grows here, not while a graph is captured.
        workspace_ = gpu_workspace(library_, workspace_bytes_);
        return MatrixWork::start();
    }
    void launch(long j, cudaStream_t stream) const override {
        if (case_.way == Way::Plain)
            return multiply_all(j, stream);
        run(library_.gfk_product_run, product_, j, mode_, stream);
    }
    std::string tag() const override { return "random"; }

  private:
    gfk_status create_plain() {
        const gfk_field field = field_of(w_);
        gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
        gfk_multiplier_info info;
        desc.device = gpu().device;
        const gfk_status status = gfk_multiplier_query(&field, &desc, &info);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        plain_ = &multiplier_of(library_, info.kernel);
        workspace_bytes_ = plain_->workspace_bytes;
        facts.add("kernel", info.kernel->id, "table_bytes", plain_->table_bytes, "workspace_bytes",
                  workspace_bytes_);
        return plain_->status;
    }
    gfk_status create() {
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        desc.engine = case_.way == Way::Engine ? case_.engine.c_str() : nullptr;
        desc.device = gpu().device;
        desc.bytes = layout_.bytes;
        return make_product(library_, case_.shape, matrix_, desc, &product_, &facts);
    }
    void multiply_all(long j, cudaStream_t stream) const {
        const auto [w, k, m] = case_.shape;
        for (size_t row = 0; row < m; row++)
            for (size_t i = 0; i < k; i++)
                gfk_check(library_.gfk_region_multiply(plain_->handle, matrix_[row * k + i],
                                                       layout_.in(j, i), layout_.out(j, row),
                                                       layout_.bytes, i == 0 ? mode_ : GFK_XOR,
                                                       workspace_, workspace_bytes_, stream),
                          "the plain way");
    }

    const Library &library_;
    ProductCase case_;
    Object<gfk_product_t> product_;
    const Multiplier *plain_ = nullptr; // of the plain way
    void *workspace_ = nullptr;
    size_t workspace_bytes_ = 0;
};

// An engine is measured for seconds if it and another one are near the fastest one in bursts.
bool is_contest(ProductCase c) {
    const std::string own = c.engine;
    c.contest = false;
    std::vector<double> us; // of each engine in bursts
    double own_us = 0;
    for (const std::string &engine : contenders(c.shape)) {
        c.engine = engine;
        const Result *result = find_result(c.name());
        if (!result)
            continue;
        us.push_back(result->fields.number("time_us_median"));
        own_us = engine == own ? us.back() : own_us;
    }
    std::sort(us.begin(), us.end());
    return own_us > 0 && us.size() > 1 && std::max(own_us, us[1]) <= kNear * us[0];
}

std::unique_ptr<Work> make_call(const Library &library, const ProductCase &c, uint64_t seed) {
    const auto work = std::make_shared<ProductWork>(library, c, seed);
    return std::make_unique<CallWork>(work->start(), [work] { work->launch(0, gpu().stream); });
}

void add_call_rows(const Options &options, Rows *rows) {
    for (unsigned w : {8u, 16u, 32u})
        for (const std::string &engine : contenders({w, 10, 4})) {
            const ProductCase c = {{w, 10, 4}, 4096 * 10, Way::Engine, engine};
            Row row("product_host_time/" + engine + "/" + shape_text(c.shape),
                    shape_facts("call", "product", "gpu", engine, c.shape));
            row.facts.add(engine_facts(engine));
            row.passes = CallWork::kPasses;
            row.make = made_by(make_call, c, options.seed);
            rows->push_back(row);
        }
}

// ---- what stands before the first byte of a product: creating it and its first run ---------------
constexpr size_t kCreateRegion = kMiB, kCreateStride = kCreateRegion + 8192;
const std::vector<Shape> kCreateShapes = {{8, 4, 2},     {8, 10, 4},  {8, 30, 3},
                                          {8, 128, 128}, {16, 10, 4}, {32, 10, 4}};

// A create and a run, until the outputs are there, each time with another matrix. The engine's own code
// is loaded by the pass that does not count.
struct CreateWork : Work {
    CreateWork(const Library &library, const std::string &engine, const Shape &shape, uint64_t seed)
        : library_(library), engine_(engine), shape_(shape), seed_(seed) {}
    gfk_status start() override {
        gpu_slot(Slot::Inputs, kCreateStride * shape_.k);
        gpu_slot(Slot::Outputs, kCreateStride * shape_.m);
        return GFK_STATUS_SUCCESS;
    }
    void warm_up() override {
        pass(-1);
        creates_.clear();
    }
    double pass(long number) override {
        const auto matrix = matrix_of(shape_, false, seed_ + 1 + (uint64_t)number);
        const gfk_regions in = {nullptr, gpu_slot(Slot::Inputs, 0), kCreateStride};
        const gfk_regions out = {nullptr, gpu_slot(Slot::Outputs, 0), kCreateStride};
        const Stopwatch watch;
        const auto product = product_of(library_, engine_, shape_, matrix);
        creates_.push_back(product.create_us);
        gfk_check(
            library_.gfk_product_run(product, &in, &out, kCreateRegion, GFK_SET, gpu().stream),
            engine_.c_str());
        gpu_synchronize();
        return watch.us();
    }
    void describe() override { facts.add("setup_us", times_of(creates_).median); }

  private:
    const Library &library_;
    std::string engine_;
    Shape shape_;
    uint64_t seed_;
    std::vector<double> creates_;
};

void add_create_rows(const Options &options, Rows *rows) {
    for (const Shape &shape : kCreateShapes)
        for (const std::string &engine : contenders(shape)) {
            Row row("first_call/" + engine + "/" + shape_text(shape),
                    shape_facts("create", "first_call", "gpu", engine, shape));
            row.facts.set("matrix", "random");
            row.facts.add(engine_facts(engine));
            row.data_bytes = (double)(kCreateRegion * shape.k);
            row.moved = product_moved(shape, GFK_SET);
            row.passes = 5;
            row.make = makes<CreateWork>(engine, shape, options.seed);
            rows->push_back(row);
        }
}

Row product_row(const ProductCase &c, uint64_t seed) {
    static const std::string ways[] = {"engine", "auto", "plain"};
    Row row(c.name(), shape_facts("product", "product", "gpu", c.id(), c.shape));
    row.facts.add("way", ways[(int)c.way] + (c.contest ? "_sustained" : ""), "mode",
                  mode_name(c.mode), "cold", true, "matrix", "random", "region_bytes",
                  c.region_bytes(), "nominal_bytes", c.data);
    if (c.way == Way::Engine)
        row.facts.add(engine_facts(c.engine));
    row.data_bytes = (double)(c.region_bytes() * c.shape.k);
    row.moved = product_moved(c.shape, c.mode);
    row.passes = c.replays;
    row.sustained = c.seconds;
    row.missing = [=] {
        const std::string reason = too_little_memory(layout_of(c).memory_needed());
        const bool skipped = c.contest && !is_contest(c);
        return reason.empty() && skipped ? "no other engine is near in bursts" : reason;
    };
    row.make = makes<ProductWork>(c, seed);
    return row;
}

} // namespace

double product_rate(const Shape &shape) {
    const ProductCase c = {shape, kGiB, Way::Auto};
    ProductWork work(linked_library(), c, 1);
    gfk_check(work.start(), "the kernel alone");
    return 1e6 * (double)(shape.k * c.region_bytes()) / time_work(&work, 5).median;
}

void add_product_rows(const Options &options, Rows *rows) {
    const std::vector<ProductCase> cases = product_cases(options);
    if (options.is("product:small"))
        add_create_rows(options, rows); // first: no code has been loaded yet
    product_rows(cases, options, rows);
    if (options.is("product:small"))
        add_call_rows(options, rows);
}

void product_rows(const std::vector<ProductCase> &cases, const Options &options, Rows *rows) {
    for (ProductCase c : cases) {
        const bool card = options.is("card");
        while (card && c.data > kLeastLong &&
               !too_little_memory(layout_of(c).memory_needed()).empty())
            c.data /= 2;
        Row row = product_row(c, options.seed);
        if (card) {
            ProductCase first = c;
            first.data = cases[0].region_bytes() * c.shape.k;
            row.shorter = first.name();
        }
        const PlainKind kind = c.few ? PlainKind::XorOnlyFew : PlainKind::XorOnly;
        const bool alone = options.is("long"); // engines are compared with each other
        if (Row *ceiling =
                alone ? nullptr
                      : add_ceiling(c.ceiling_name(), {kind, layout_of(c), c.mode}, &row, rows)) {
            ceiling->facts.set("nominal_bytes", c.data);
            ceiling->sustained = row.sustained;
        }
        rows->push_back(row);
    }
}
