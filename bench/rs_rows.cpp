// SPDX-License-Identifier: BSD-3-Clause
// The presets rs and rs-sweep: operations of codes on the device, each beside the plain kernel of
// its traffic.
#include "rs_rows.h"

#include <cstdio>

#include <benchmark/benchmark.h>

#include "multipliers.h"
#include "product_roofline.h"
#include "read_ceiling.h"
#include "reporter.h"
#include "results.h"
#include "rs_work.h"

namespace {

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

struct RsRow {
    std::string what; // "rs_encode"
    RsCode code;
    size_t region;
    std::string detail;   // behind the sizes: "lost=2 data"
    size_t reads, writes; // regions that a launch moves
    size_t data;          // of these, what GB/s are of
    gfk_accumulate ceiling_mode = GFK_SET;
    size_t units = 1;         // stripes
    std::string rate_of = {}; // the row whose GB/s this one's are compared with; "": none
    std::function<std::unique_ptr<RsWork>()> make = {};
    int replays = 9;

    std::string id() const {
        return what + "_w" + std::to_string(code.shape.w) + (code.prepared ? "_compile" : "");
    }
    std::string name() const {
        return id() + "/" + shape_text(code.shape) + "/" + size_text(region) +
               (units > 1 ? "x" + std::to_string(units) : "") +
               (detail.empty() ? "" : "/" + detail);
    }
};

// GB/s of traffic of the best plain kernel that reads and writes as many regions of this length.
double ceiling_of(const RsRow &row) {
    if (row.writes == 0)
        return read_roofline(row.reads, row.region).gbps;
    ProductRow plain;
    const bool adds = row.ceiling_mode == GFK_XOR; // reads the outputs too
    plain.shape = {8, row.reads - (adds ? row.writes : 0), row.writes};
    // Of a batch: long regions, as its stripes together are.
    plain.data = (row.units > 1 ? 3 * kGiB / plain.shape.k : row.region) * plain.shape.k;
    plain.mode = row.ceiling_mode;
    return product_roofline(plain).gbps;
}

void run_row(benchmark::State &state, const RsRow &row) {
    progress(row.name());
    const double regions = (double)row.region * (double)row.units;
    Result result;
    result.name = row.name();
    result.id = row.id();
    result.implementation = "rs";
    result.w = row.code.shape.w;
    result.bytes = row.region * row.units * row.data;
    result.moved = (double)(row.reads + row.writes) / (double)row.data;
    result.accumulate = row.ceiling_mode == GFK_XOR;
    result.cold = result.on_device = true;
    result.extra = {{"k", (double)row.code.shape.k}, {"m", (double)row.code.shape.m}};
    if (regions * (double)(row.code.shape.k + row.code.shape.m) * 1.6 > (double)gpu_memory_budget())
        return publish_skip(state, result, "the device has too little memory");
    result.roofline = ceiling_of(row); // before the row's own buffers
    const std::unique_ptr<RsWork> work = row.make();
    const gfk_status status = work->start();
    if (status != GFK_STATUS_SUCCESS)
        return publish_failure(state, result, gfk_status_description(status));
    std::string wrong = work->check();
    if (!wrong.empty())
        return publish_failure(state, result, wrong);
    const Launch launch = [&](long j, cudaStream_t stream) { work->launch(j, stream); };
    const Timing timing =
        time_launches(work->sets(), [&] { work->make_cold(); }, launch, row.replays);
    for (auto _ : state)
        state.SetIterationTime(timing.median_us * 1e-6);
    result.median_us = timing.median_us;
    result.min_us = timing.min_us;
    result.max_us = timing.max_us;
    result.launches = timing.launches;
    result.replays = timing.replays;
    wrong = work->check();
    if (!wrong.empty())
        return publish_failure(state, result, wrong + " (after the timed replays)");
    result.setup = "create";
    result.setup_us = work->create_us;
    result.variant = result.note = work->chosen;
    if (const Result *other = row.rate_of.empty() ? nullptr : find_result(row.rate_of)) {
        const double percent = 100 * result.source_gbps() / other->source_gbps();
        char text[96];
        std::snprintf(text, sizeof text, "%s; %.1f %% of %s", work->chosen.c_str(), percent,
                      row.rate_of.c_str());
        result.note = text;
        result.extra.push_back({"percent_of_other", percent});
    }
    publish(state, result);
}

class Plan {
  public:
    explicit Plan(std::vector<RsRow> *rows) : rows_(rows) {}

    std::string encode(const RsCode &code, size_t region, int replays = 9) {
        const auto [w, k, m] = code.shape;
        RsRow row{"rs_encode", code, region, "", k, m, k};
        row.make = [=] { return rs_encode(code, region); };
        return add(row, replays);
    }
    void decode(const RsCode &code, size_t region, size_t e, RsLost which,
                const std::string &rate_of, int replays = 9) {
        static const char *const names[] = {"data", "parity", "mixed"};
        RsRow row{
            "rs_decode",  code, region,      "lost=" + std::to_string(e) + " " + names[(int)which],
            code.shape.k, e,    code.shape.k};
        row.rate_of = rate_of;
        row.make = [=] { return rs_decode(code, region, e, which); };
        add(row, replays);
    }
    std::string verify(const RsCode &code, size_t region) {
        const size_t n = code.shape.k + code.shape.m;
        RsRow row{"rs_verify", code, region, "", n, 0, code.shape.k};
        row.make = [=] { return rs_verify(code, region); };
        return add(row, 9);
    }
    void locate(const RsCode &code, size_t region, const std::string &rate_of) {
        const size_t n = code.shape.k + code.shape.m;
        RsRow row{"rs_locate", code, region, "clean", n, 0, code.shape.k};
        row.rate_of = rate_of;
        row.make = [=] { return rs_locate(code, region); };
        add(row, 9);
    }
    void update(const RsCode &code, size_t region) {
        const size_t m = code.shape.m;
        RsRow row{"rs_update", code, region, "", 2 + m, m, 1, GFK_XOR};
        row.make = [=] { return rs_update(code, region); };
        add(row, 9);
    }
    void batch(const RsCode &code, size_t region, size_t stripes, size_t e,
               const std::string &rate_of) {
        const auto [w, k, m] = code.shape;
        RsRow row{e ? "rs_batch_decode" : "rs_batch_encode", code, region, "", k, e ? e : m, k};
        row.units = stripes;
        row.rate_of = rate_of;
        row.make = [=] { return rs_batch(code, region, stripes, e); };
        add(row, 9);
    }

  private:
    std::string add(RsRow row, int replays) {
        row.replays = replays;
        rows_->push_back(row);
        return row.name();
    }
    std::vector<RsRow> *rows_;
};

size_t region_of(size_t data, size_t k) {
    return data / k / 512 * 512;
}

void figures(std::vector<RsRow> *rows, size_t data) {
    Plan plan(rows);
    std::string large; // encode at 10+4 by the engines for run-time matrices
    for (const Shape &shape : {Shape{8, 6, 3}, Shape{8, 10, 4}, Shape{8, 17, 3}})
        for (const bool prepared : {true, false}) {
            const RsCode code{shape, prepared};
            const size_t region = region_of(data, shape.k);
            const std::string encode = plan.encode(code, region);
            if (!prepared && shape.k == 10)
                large = encode;
            for (RsLost which : {RsLost::Data, RsLost::Parity, RsLost::Mixed})
                plan.decode(code, region, shape.m, which, encode);
            plan.decode(code, region, 1, RsLost::Data, "");
            const std::string verify = plan.verify(code, region);
            plan.locate(code, region, verify);
        }
    for (const Shape &shape :
         {Shape{8, 10, 2}, Shape{8, 10, 3}, Shape{8, 10, 4}, Shape{16, 10, 4}, Shape{32, 10, 4}})
        for (const bool prepared : {true, false})
            plan.update({shape, prepared}, region_of(data, 10));
    for (const size_t region : {4 * kKiB, 16 * kKiB})
        for (const size_t e : {0, 4})
            plan.batch({{8, 10, 4}, false}, region, 4096, e, large);
    for (const Shape &shape :
         {Shape{8, 223, 32}, Shape{8, 128, 128}, Shape{16, 1000, 24}, Shape{16, 4096, 256}})
        plan.encode({shape, false}, region_of(data, shape.k), 3);
}

// s4's sweep over k for m = 2 to 16, with buffers of 1 MiB.
void sweep(std::vector<RsRow> *rows) {
    Plan plan(rows);
    for (const Shape &shape : rs_sweep_shapes()) {
        const RsCode code{shape, false};
        plan.encode(code, kMiB, 3);
        plan.decode(code, kMiB, std::min(shape.k, shape.m), RsLost::Mixed, "", 3);
    }
}

} // namespace

void register_rs_rows(const Options &options) {
    static std::vector<RsRow> rows;
    if (options.preset == Options::Rs)
        figures(&rows, options.sizes.empty() ? 3 * kGiB : options.sizes[0]);
    else
        sweep(&rows);
    for (const RsRow &row : rows) {
        auto *b =
            register_row(row.name(), [&row](benchmark::State &state) { run_row(state, row); });
        b->UseManualTime()->Iterations(1)->Unit(benchmark::kMicrosecond);
    }
}
