// SPDX-License-Identifier: BSD-3-Clause
// Region multiplies on the device: graphs of launches over rotating buffers and constants.
#include "region.h"

#include <algorithm>
#include <map>

#include "core/buffers.h"
#include "core/kernels.h"

namespace {

constexpr int kReplays = 9;
constexpr size_t kRound = 64; // launches without a pause go through so many constants

class RegionWork : public MatrixWork {
  public:
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
        for (size_t k = 0; k < constants_.size(); k++) {
            const gfk_status status = prepare(k, gpu().stream);
            if (status != GFK_STATUS_SUCCESS)
                return status;
        }
        gfk_status status = GFK_STATUS_SUCCESS;
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
    void describe(Fields *fields) const override {
        MatrixWork::describe(fields);
        describe_multiplier(multiplier_, fields);
        fields->set("constant_count", constants_.size());
        if (multiplier_.workspace_bytes != 0) {
            fields->set("setup", "prepare");
            fields->set("setup_us", prepare_us());
        } else if (case_.kernel->table_bytes != 0) {
            fields->set("setup", "create");
            fields->set("setup_us", multiplier_.create_us);
        }
        if (case_.constants != RegionCase::Each)
            return;
        const Times t = times_of(us_);
        double sum = 0;
        for (double us : us_)
            sum += us;
        const double bytes = (double)case_.bytes / 1e3;
        fields->set("best_constant_GBps", bytes / t.min);
        fields->set("mean_constant_GBps", bytes * (double)t.count / sum);
        fields->set("worst_constant_GBps", bytes / t.max);
    }

  protected:
    const uint32_t *matrix(long j) const override { return &constants_[constant_of(j)]; }
    long checked() const override {
        const long constants = other_library() ? 1 : (long)constants_.size();
        return std::max(constants, sets());
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
            multiplier_.handle, constants_[k], buffers_.in(j) + in_offset_,
            buffers_.out(j) + out_offset_, case_.bytes, mode_, workspace(k), workspace_stride_,
            stream);
    }
    double prepare_us() const {
        static std::map<const gfk_kernel_info *, double> known;
        double &us = known[case_.kernel];
        if (us != 0)
            return us;
        const bool giant = case_.kernel->labels & GFK_LABEL_GIANT;
        const long n = giant ? 1 : 256;
        const Graph graph(n, [&](long j, cudaStream_t stream) {
            gfk_check(prepare((size_t)j % constants_.size(), stream), case_.kernel->id);
        });
        std::vector<double> all;
        graph.replay_us();
        for (int i = 0; i < (giant ? 1 : 5); i++)
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

class EmptyWork : public DeviceWork {
  public:
    gfk_status start() override {
        launch(0, gpu().stream); // loads the kernel, which a capture should not do
        gpu_synchronize();
        return GFK_STATUS_SUCCESS;
    }
    std::string check(bool) override { return ""; }
    void launch(long, cudaStream_t stream) const override { launch_empty(stream); }
    long sets() const override { return 2000; }
    void make_cold() const override {}
};

Row empty_row() {
    Row row;
    row.name = "empty_launch";
    row.facts = Fields("kind", "ceiling", "operation", "empty_launch", "where", "gpu", "id",
                       "empty_launch", "note", "one launch of an empty kernel inside a graph");
    row.compared = false;
    row.make = [](const Library &) { return std::make_unique<EmptyWork>(); };
    return row;
}

// What AUTO takes is the fastest row of its width.
bool is_best(const gfk_kernel_info *kernel) {
    const gfk_field field = field_of(kernel->w);
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    gfk_multiplier_info info;
    desc.device = gpu().device; // not the CPU
    return gfk_multiplier_query(&field, &desc, &info) == GFK_STATUS_SUCCESS &&
           info.kernel == kernel;
}

Row device_row(const RegionCase &c, uint64_t seed) {
    const Layout layout{1, 1, c.bytes, false, c.cold};
    Row row = region_row(c);
    row.passes = c.constants == RegionCase::Each ? (int)c.c : kReplays;
    row.needs = c.ceiling_name();
    row.missing = [=] { return too_little_memory(RegionWork::layout_of(c).memory_needed()); };
    row.ceiling = [=]() -> Ceiling & {
        return ceiling_of(c.mode == GFK_SET ? PlainKind::Copy : PlainKind::Accumulate, layout,
                          c.mode);
    };
    row.make = [=](const Library &library) {
        return std::make_unique<RegionWork>(library, c, seed);
    };
    return row;
}

void finish_giant(Result *result) {
    double plain = 0; // gathers with the row's own traffic
    for (const Result &r : results())
        if (r.fields.text("operation") == "gather" && !r.fields.is("hashed"))
            plain = std::max(plain, r.fields.number("ggathers_per_s"));
    const double rate = result->gbps() / 4;
    result->fields.set("gsymbols_per_s", rate);
    if (plain > 0) {
        result->fields.set("ceiling_ggathers_per_s", plain);
        result->fields.set("percent_of_gathers", 100 * rate / plain);
    }
}

// ---- gathers ---------------------------------------------------------------------------------
constexpr size_t kTableBytes = 16 * kGiB;
const Layout kGatherLayout = {1, 1, kGiB, false};

class GatherWork : public DeviceWork {
  public:
    explicit GatherWork(const PlainKernel &kernel) : kernel_(kernel), buffers_(kGatherLayout) {}
    gfk_status start() override {
        gpu_workspace(linked_library(), kTableBytes);
        launch(0, gpu().stream);
        gpu_synchronize();
        return GFK_STATUS_SUCCESS;
    }
    std::string check(bool) override { return ""; }
    void launch(long j, cudaStream_t stream) const override {
        kernel_.run({buffers_.in(j), buffers_.out(j), buffers_.stride(), buffers_.bytes(), 1, 1,
                     false, gpu_workspace(linked_library(), 0)},
                    stream);
    }
    long sets() const override { return buffers_.sets(); }
    void make_cold() const override { buffers_.make_cold(); }

  private:
    PlainKernel kernel_;
    Buffers buffers_;
};

Row gather_row(const PlainKernel &kernel) {
    Row row;
    row.name = kernel.name;
    row.facts =
        Fields("kind", "ceiling", "operation", "gather", "where", "gpu", "id", kernel.name, "w", 32,
               "mode", "set", "cold", true, "region_bytes", kGiB, "table_bytes", kTableBytes);
    row.facts.set_true("hashed", kernel.name.find("hashed") != std::string::npos);
    row.data_bytes = (double)kGiB;
    row.moved = 2;
    row.passes = 5;
    row.compared = false;
    row.missing = [] { return too_little_memory(kTableBytes + kGatherLayout.memory_needed()); };
    row.make = [=](const Library &) { return std::make_unique<GatherWork>(kernel); };
    row.finish = [](Result *r) { r->fields.set("ggathers_per_s", r->gbps() / 4); };
    return row;
}

} // namespace

void add_region_rows(const Options &options, Rows *rows) {
    rows->push_back(empty_row());
    std::vector<std::string> seen;
    for (const RegionCase &c : region_cases(options)) {
        Row row = device_row(c, options.seed);
        if (std::find(seen.begin(), seen.end(), row.needs) == seen.end()) {
            seen.push_back(row.needs);
            rows->push_back(ceiling_row(row.needs,
                                        c.mode == GFK_SET ? PlainKind::Copy : PlainKind::Accumulate,
                                        {1, 1, c.bytes, false, c.cold}, c.mode));
            rows->back().sustained = options.is("limits") && c.mode == GFK_SET;
        }
        row.sustained = options.is("limits") && c.mode == GFK_SET && c.c == 64 &&
                        c.constants == RegionCase::Each && is_best(c.kernel);
        rows->push_back(row);
    }
}

void add_giant_rows(const Options &options, Rows *rows) {
    for (const PlainKernel &kernel : plain_kernels(PlainKind::Gather))
        rows->push_back(gather_row(kernel));
    for (const gfk_kernel_info *k : kernels([](const gfk_kernel_info *k) {
             return on_device(k) && runs_here(k) && (k->labels & GFK_LABEL_GIANT);
         })) {
        Row row =
            device_row({k, kGiB, GFK_SET, true, RegionCase::Fixed, 0x80000057u}, options.seed);
        row.passes = 5;
        row.needs.clear();
        row.ceiling = nullptr; // gathers bound these
        row.compared = false;  // two such tables do not fit
        row.missing = [k] {
            gpu_release(); // the last table makes room for this one
            for (const gfk_kernel_info *other :
                 kernels([](const gfk_kernel_info *) { return true; }))
                if (other->labels & GFK_LABEL_GIANT)
                    forget_multiplier(linked_library(), other);
            return too_little_memory((size_t)(k->table_bytes + k->workspace_bytes) +
                                     Layout{1, 1, kGiB, false}.memory_needed());
        };
        row.finish = finish_giant;
        rows->push_back(row);
    }
}
