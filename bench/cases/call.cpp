// SPDX-License-Identifier: BSD-3-Clause
// What an asynchronous call costs the calling thread, in batches that the launch queue can hold, in
// turn with bare launches of an empty kernel, so that a drift of the clock hits all alike.
#include <memory>

#include "core/buffers.h"
#include "core/host.h"
#include "core/kernels.h"
#include "product.h"
#include "region.h"

namespace {

constexpr int kBatch = 100; // calls; the queue takes about 1000 launches before it blocks
constexpr int kBatches = 31;
constexpr double kAllowedUs = 2.0;
constexpr size_t kBytes = 4096;

template <class Call>
double batch_us(const Call &call) {
    const Stopwatch watch;
    for (int i = 0; i < kBatch; i++)
        call();
    const double us = watch.us() / kBatch;
    gpu_synchronize();
    return us;
}

class CallWork : public Work {
  public:
    std::string check(bool) override { return ""; }
    double pass(long) override {
        calls_.push_back(batch_us([this] { call(); }));
        bare_.push_back(batch_us([] { launch_empty(gpu().stream); }));
        after_pass();
        return calls_.back();
    }
    void warm_up() override {
        pass(0);
        calls_.clear();
        bare_.clear();
    }
    void describe(Fields *fields) const override {
        const double bare = times_of(bare_).median, above = times_of(calls_).median - bare;
        fields->set("launches_per_replay", kBatch);
        fields->set("bare_launch_us", bare);
        fields->set("above_bare_us", above);
        if (above > kAllowedUs)
            fields->set("note", "more than 2 us above a bare launch");
    }

  protected:
    virtual void call() = 0;
    virtual void after_pass() {}
    double bare_us() const { return times_of(bare_).median; }

  private:
    std::vector<double> calls_, bare_;
};

// Rows with a workspace launch two kernels in one call; the prepared call launches one.
class RegionCall : public CallWork {
  public:
    RegionCall(const Library &library, const gfk_kernel_info *kernel, uint64_t seed)
        : library_(library), kernel_(kernel), m_(multiplier_of(library, kernel)),
          c_(random_constants(kernel->w, 1, seed)[0]), buffers_({1, 1, kBytes, false, false}) {}
    gfk_status start() override {
        workspace_ = gpu_workspace(library_, m_.workspace_bytes);
        return m_.status;
    }
    void describe(Fields *fields) const override {
        CallWork::describe(fields);
        const double us = times_of(prepared_).median;
        fields->set("prepared_us", us);
        fields->set("prepared_above_bare_us", us - bare_us());
    }

  protected:
    void call() override {
        gfk_check(library_.gfk_region_multiply(m_.handle, c_, buffers_.in(0), buffers_.out(0),
                                               kBytes, GFK_SET, workspace_, m_.workspace_bytes,
                                               gpu().stream),
                  kernel_->id);
    }
    void after_pass() override {
        prepared_.push_back(batch_us([this] {
            gfk_check(library_.gfk_region_multiply_prepared(
                          m_.handle, c_, buffers_.in(0), buffers_.out(0), kBytes, GFK_SET,
                          workspace_, m_.workspace_bytes, gpu().stream),
                      kernel_->id);
        }));
    }

  private:
    const Library &library_;
    const gfk_kernel_info *kernel_;
    const Multiplier &m_;
    uint32_t c_;
    Buffers buffers_;
    void *workspace_ = nullptr;
    std::vector<double> prepared_;
};

class ProductCall : public CallWork {
  public:
    ProductCall(const Library &library, const ProductCase &c, uint64_t seed)
        : work_(make_product_work(library, c, seed)) {}
    gfk_status start() override { return work_->start(); }

  protected:
    void call() override { work_->launch(0, gpu().stream); }

  private:
    std::unique_ptr<DeviceWork> work_;
};

Row call_row(const std::string &name, const Fields &facts) {
    Row row;
    row.name = name;
    row.facts = facts;
    row.facts.set("kind", "call");
    row.passes = kBatches;
    return row;
}

} // namespace

void add_region_call_rows(const Options &options, Rows *rows) {
    const uint64_t seed = options.seed;
    for (const gfk_kernel_info *k : kernels([](const gfk_kernel_info *k) {
             return on_device(k) && runs_here(k) && !(k->labels & GFK_LABEL_GIANT);
         })) {
        Row row = call_row(std::string("host_time/") + k->id, kernel_facts(k));
        row.make = [=](const Library &library) {
            return std::make_unique<RegionCall>(library, k, seed);
        };
        rows->push_back(row);
    }
}

void add_product_call_rows(const Options &options, Rows *rows) {
    const uint64_t seed = options.seed;
    for (unsigned w : {8u, 16u, 32u}) {
        ProductCase c;
        c.shape = {w, 10, 4};
        c.data = kBytes * c.shape.k;
        for (const std::string &engine : contenders(c.shape)) {
            c.engine = engine;
            Row row = call_row("product_host_time/" + engine + "/" + shape_text(c.shape),
                               Fields("kind", "call", "operation", "product", "where", "gpu", "id",
                                      engine, "w", w, "k", c.shape.k, "m", c.shape.m));
            row.facts.add(engine_facts(engine));
            row.make = [=](const Library &library) {
                return std::make_unique<ProductCall>(library, c, seed);
            };
            rows->push_back(row);
        }
    }
}
