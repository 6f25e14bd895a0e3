// SPDX-License-Identifier: BSD-3-Clause
// Region multiplies on the device: graphs of launches over rotating buffers and constants.
#include <algorithm>
#include <map>
#include <numeric>

#include "call.h"
#include "cases.h"

namespace {

constexpr size_t kChecked = 16 * kGiB; // of all launches with rotating constants: they are 64
constexpr size_t kRound = 64;          // launches without a pause go through so many constants

struct RegionWork : MatrixWork {
    RegionWork(const Library &library, const RegionCase &c, uint64_t seed)
        : MatrixWork(c.kernel->w, layout_of(c), c.mode), library_(library), case_(c),
          multiplier_(multiplier_of(library, c.kernel)), constants_(c.constant_list(seed)),
          workspace_stride_((multiplier_.workspace_bytes + 255) / 256 * 256) {
        in_offset_ = c.src_offset;
        out_offset_ = c.dst_offset;
        length_ = c.bytes;
    }
    // What surrounds misaligned regions is compared too.
    static Layout layout_of(const RegionCase &c) {
        const bool aligned = c.src_offset == 0 && c.dst_offset == 0;
        return {1, 1, c.bytes + (aligned ? 0 : 512), false, c.cold};
    }
    // Prepares the workspaces, and launches outside any graph: what is loaded lazily is loaded now.
    gfk_status start() override {
        if (multiplier_.status != GFK_STATUS_SUCCESS)
            return multiplier_.status;
        gpu_workspace(library_, workspace_stride_ * constants_.size());
        gfk_status status = GFK_STATUS_SUCCESS;
        for (size_t k = 0; k < constants_.size() && status == GFK_STATUS_SUCCESS; k++)
            status = prepare(k, gpu().stream);
        for (size_t k : {size_t{0}, constants_.size() - 1}) // c = 1, which copies, may be the first
            if (status == GFK_STATUS_SUCCESS)
                status = multiply(0, k, gpu().stream);
        gpu_synchronize();
        return status;
    }
    void launch(long j, cudaStream_t stream) const override {
        gfk_check(multiply(j, constant_of(j), stream), case_.kernel->id);
    }
    double pass(long number) override {
        us_.push_back(MatrixWork::pass(number));
        return us_.back();
    }
    void describe() override {
        facts.add(multiplier_facts(multiplier_, case_.kernel, [this] { return prepare_us(); }));
        if (case_.constants != RegionCase::Each)
            return;
        const Times t = times_of(us_);
        const double bytes = (double)case_.bytes / 1e3;
        const double sum = std::accumulate(us_.begin(), us_.end(), 0.0);
        facts.add("best_constant_GBps", bytes / t.min, "mean_constant_GBps",
                  bytes * (double)t.count / sum, "worst_constant_GBps", bytes / t.max);
    }
    const uint32_t *matrix(long j) const override { return &constants_[constant_of(j)]; }
    long checked() const override {
        size_t constants = other_library() ? 1 : constants_.size();
        if (case_.constants == RegionCase::Rotating)
            constants = std::min(constants, kChecked / case_.bytes);
        return std::max((long)constants, sets());
    }
    long round() const override { return (long)std::min(constants_.size(), kRound); }
    // Short replays keep the card below its power limit, so where a replay has fewer launches than
    // there are constants each replay takes the next ones.
    bool begin(long number, long n) override {
        const long count = (long)constants_.size();
        step_ = number >= 0 && case_.constants == RegionCase::Each ? 0 : 1;
        const bool moves = number >= 0 && (step_ == 0 || n < count);
        first_ = !moves ? 0 : step_ == 0 ? number % count : number * n;
        return moves;
    }

  private:
    size_t constant_of(long j) const { return (size_t)(first_ + step_ * j) % constants_.size(); }
    void *workspace(size_t k) const {
        return (char *)gpu_workspace(library_, 0) + k * workspace_stride_;
    }
    gfk_status prepare(size_t k, cudaStream_t stream) const {
        return library_.gfk_region_prepare(multiplier_.handle, constants_[k], workspace(k),
                                           workspace_stride_, stream);
    }
    gfk_status multiply(long j, size_t k, cudaStream_t stream) const {
        return library_.gfk_region_multiply_prepared(
            multiplier_.handle, constants_[k], layout_.in(j) + in_offset_,
            layout_.out(j) + out_offset_, case_.bytes, mode_, workspace(k), workspace_stride_,
            stream);
    }
    double prepare_us() const {
        static std::map<const gfk_kernel_info *, double> known;
        double &us = known[case_.kernel];
        if (us != 0)
            return us;
        const long n = is_giant(case_.kernel) ? 1 : 256;
        const Graph graph(n, [&](long j, cudaStream_t stream) {
            gfk_check(prepare((size_t)j % constants_.size(), stream), case_.kernel->id);
        });
        std::vector<double> all;
        graph.replay_us();
        for (int i = 0; i < (n == 1 ? 1 : 5); i++)
            all.push_back(graph.replay_us() / (double)n);
        return us = times_of(all).median;
    }

    const Library &library_;
    RegionCase case_;
    const Multiplier &multiplier_;
    std::vector<uint32_t> constants_;
    size_t workspace_stride_;
    long first_ = 0, step_ = 1; // launch j takes constant first_ + step_ * j
    std::vector<double> us_;
};

struct EmptyWork : DeviceWork {
    void launch(long, cudaStream_t stream) const override { launch_empty(stream); }
    long sets() const override { return 2000; }
    void make_cold() const override {}
};

Row device_row(const RegionCase &c, uint64_t seed) {
    Row row = region_row(c);
    row.passes = c.constants == RegionCase::Each ? (int)c.c : 9;
    row.missing = [=] { return too_little_memory(RegionWork::layout_of(c).memory_needed()); };
    row.make = makes<RegionWork>(c, seed);
    return row;
}

// ---- giants, and the gathers that bound them -------------------------------------------------
void add_gather_row(const PlainKernel &kernel, Rows *rows) {
    static const Plain plain = {PlainKind::Gather, {1, 1, kGiB, false}};
    Row row(kernel.name, Fields("kind", "ceiling", "operation", "gather", "where", "gpu", "id",
                                kernel.name, "w", 32, "mode", "set", "cold", true, "region_bytes",
                                kGiB, "table_bytes", kGatherTable));
    row.data_bytes = (double)kGiB;
    row.moved = 2;
    row.passes = 5;
    row.compared = false;
    row.missing = [] { return too_little_memory(kGatherTable + plain.layout.memory_needed()); };
    row.make = [=](const Library &) { return make_plain_work(kernel, plain); };
    row.finish = [](Result *r) { r->fields.set("ggathers_per_s", r->gbps() / 4); };
    rows->push_back(row);
}

void finish_giant(Result *result) {
    double plain = 0; // gathers with the row's own traffic
    for (const Result &r : results())
        if (r.fields.text("operation") == "gather" && r.name.find("hashed") == std::string::npos)
            plain = std::max(plain, r.fields.number("ggathers_per_s"));
    const double rate = result->gbps() / 4;
    result->fields.add("gsymbols_per_s", rate, "percent_of_gathers",
                       when(plain > 0, 100 * rate / plain));
}

// ---- what an asynchronous call costs the calling thread --------------------------------------
constexpr size_t kCallBytes = 4096;

// Rows with a workspace launch two kernels in one call; the prepared call launches one.
std::unique_ptr<Work> make_call(const Library &library, const gfk_kernel_info *kernel,
                                uint64_t seed) {
    const Multiplier &m = multiplier_of(library, kernel);
    const uint32_t c = random_constants(kernel->w, 1, seed)[0];
    const Layout layout = {1, 1, kCallBytes, false, false};
    layout.allocate();
    char *const in = layout.in(0), *const out = layout.out(0);
    void *const workspace = gpu_workspace(library, m.workspace_bytes);
    const auto call_of = [=, &m](auto function) {
        return [=, &m] {
            gfk_check(function(m.handle, c, in, out, kCallBytes, GFK_SET, workspace,
                               m.workspace_bytes, gpu().stream),
                      kernel->id);
        };
    };
    return std::make_unique<CallWork>(m.status, call_of(library.gfk_region_multiply),
                                      call_of(library.gfk_region_multiply_prepared));
}

} // namespace

void region_rows(const std::vector<RegionCase> &cases, const Options &options, Rows *rows) {
    if (cases.empty())
        return;
    Row empty("empty_launch",
              Fields("kind", "ceiling", "operation", "empty_launch", "where", "gpu", "id",
                     "empty_launch", "note", "one launch of an empty kernel inside a graph"));
    empty.compared = false;
    empty.make = [](const Library &) { return std::make_unique<EmptyWork>(); };
    rows->push_back(empty);
    for (const RegionCase &c : cases) {
        const bool limit = options.is("region:limits") && c.mode == GFK_SET;
        Row row = device_row(c, options.seed);
        row.sustained = limit && c.c == 64 && c.constants == RegionCase::Each && is_best(c.kernel);
        if (options.is("card")) {
            RegionCase first = c;
            first.bytes = cases[0].bytes;
            row.shorter = first.name();
            row.facts.add("way", is_best(c.kernel) ? "auto" : "engine");
        }
        const PlainKind kind = c.mode == GFK_SET ? PlainKind::Copy : PlainKind::Accumulate;
        if (Row *ceiling = add_ceiling(c.ceiling_name(),
                                       {kind, {1, 1, c.bytes, false, c.cold}, c.mode}, &row, rows))
            ceiling->sustained = limit;
        rows->push_back(row);
    }
}

void add_region_rows(const Options &options, Rows *rows) {
    region_rows(region_cases(options), options, rows);
}

void add_giant_rows(const Options &options, Rows *rows) {
    if (options.is("region:giant"))
        giant_rows(options, rows);
}

void giant_rows(const Options &options, Rows *rows) {
    for (const PlainKernel &kernel : plain_kernels(PlainKind::Gather))
        add_gather_row(kernel, rows);
    for (const gfk_kernel_info *k : kernels(is_giant)) {
        if (!on_device(k) || !runs_here(k))
            continue;
        Row row =
            device_row({k, kGiB, GFK_SET, true, RegionCase::Fixed, 0x80000057u}, options.seed);
        row.passes = 5;
        row.compared = false; // two such tables do not fit
        row.missing = [k] {
            gpu_release(); // the last table makes room for this one
            for (const gfk_kernel_info *other : kernels(is_giant))
                forget_multiplier(linked_library(), other);
            return too_little_memory((size_t)(k->table_bytes + k->workspace_bytes) +
                                     Layout{1, 1, kGiB, false}.memory_needed());
        };
        row.finish = finish_giant;
        rows->push_back(row);
    }
}

void add_region_call_rows(const Options &options, Rows *rows) {
    if (!options.is("region:sizes") || options.quick())
        return;
    for (const gfk_kernel_info *k :
         kernels([](const gfk_kernel_info *k) { return on_device(k); })) {
        if (!runs_here(k) || is_giant(k))
            continue;
        Row row(std::string("host_time/") + k->id, kernel_facts(k));
        row.facts.set("kind", "call");
        row.passes = CallWork::kPasses;
        row.make = made_by(make_call, k, options.seed);
        rows->push_back(row);
    }
}
