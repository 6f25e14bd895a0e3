// SPDX-License-Identifier: BSD-3-Clause
// Every plain kernel of a kind, checked and timed; the best is kept.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "device.h"

namespace {

constexpr size_t kFinalists = 4;
constexpr double kH200Copy = 4170; // GB/s of traffic
const struct {
    size_t k, m;
    double traffic; // GB/s
} kH200XorOnly[] = {{4, 2, 4210}, {10, 4, 4270}, {30, 3, 4310}};

const char *const kNames[] = {"copy",         "accumulate", "xor_only",
                              "xor_only_few", "read_only",  "gather"};

// The kernels' sums as a matrix of zeros and ones. A copy has one input and one output.
std::vector<uint32_t> ones_of(size_t k, size_t m) {
    const size_t lanes = std::min(k, m);
    std::vector<uint32_t> matrix(k * m);
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < k; i++)
            matrix[j * k + i] = i % lanes == j % lanes;
    return matrix;
}

struct PlainWork : MatrixWork {
    PlainWork(const PlainKernel &kernel, const Plain &plain)
        : MatrixWork(8, plain.layout, plain.mode), kernel_(kernel), kind_(plain.kind) {
        matrix_ = ones_of(plain.layout.k, plain.layout.m);
    }
    gfk_status start() override {
        if (kind_ == PlainKind::Gather)
            gpu_workspace(linked_library(), kGatherTable);
        return MatrixWork::start();
    }
    void launch(long j, cudaStream_t stream) const override {
        const auto [k, m, bytes, gaps, cold] = layout_;
        kernel_.run({layout_.in(j), layout_.out(j), layout_.stride(), bytes, (unsigned)k,
                     (unsigned)m, mode_ == GFK_XOR,
                     kind_ == PlainKind::Gather ? gpu_workspace(linked_library(), 0) : nullptr},
                    stream);
    }
    std::string check(bool after) override {
        const bool checked = kind_ != PlainKind::ReadOnly && kind_ != PlainKind::Gather;
        return checked ? MatrixWork::check(after) : "";
    }
    std::string tag() const override { return "plain"; }
    long checked() const override {
        return kind_ == PlainKind::Copy || kind_ == PlainKind::Accumulate ? 1 : sets();
    }

    PlainKernel kernel_;
    PlainKind kind_;
};

double moved_bytes(const Plain &plain) {
    const size_t writes = plain.kind == PlainKind::ReadOnly ? 0 : plain.layout.m;
    return (double)plain.layout.bytes *
           (double)(plain.layout.k + writes * (plain.mode == GFK_SET ? 1 : 2));
}

// One pass of each kernel, and then more of those that were the fastest: these differ by less than
// one percent.
Ceiling measure(const Plain &plain) {
    Ceiling ceiling;
    ceiling.what = kNames[(int)plain.kind];
    const double traffic = moved_bytes(plain) / 1e3;
    std::vector<std::pair<double, PlainKernel>> field; // by the time of a launch
    std::unique_ptr<PlainWork> first;
    for (const PlainKernel &kernel : plain_kernels(plain.kind)) {
        auto work = std::make_unique<PlainWork>(kernel, plain);
        work->start();
        const std::string wrong = work->check(false);
        if (!wrong.empty()) {
            ceiling.error += (ceiling.error.empty() ? "" : "; ") + kernel.name + ": " + wrong;
            continue;
        }
        if (first)
            work->follow(*first);
        field.push_back({time_work(work.get(), 1).median, kernel});
        ceiling.variants.set(kernel.name, traffic / field.back().first);
        if (!first)
            first = std::move(work);
    }
    std::stable_sort(field.begin(), field.end(),
                     [](const auto &a, const auto &b) { return a.first < b.first; });
    field.resize(std::min(field.size(), kFinalists));
    for (const auto &[time, kernel] : field) {
        PlainWork work(kernel, plain);
        work.start();
        const Times times = time_work(&work, plain.kind == PlainKind::XorOnlyFew ? 3 : 5);
        const double gbps = traffic / times.median;
        ceiling.variants.set(kernel.name, gbps);
        if (gbps <= ceiling.gbps)
            continue;
        ceiling.gbps = gbps;
        ceiling.best = kernel.name;
        ceiling.times = times;
        ceiling.fields = work.facts;
        ceiling.measure_sustained = [plain, kernel = kernel] {
            PlainWork best(kernel, plain);
            best.start();
            best.warm_up();
            return best.sustain();
        };
    }
    return ceiling;
}

// The sentence that a plain kernel is slower than on a healthy H200, or "".
std::string slower(const std::string &what, double gbps, double healthy) {
    return gbps >= healthy ? ""
                           : what + " reaches " + std::to_string(std::lround(gbps)) +
                                 " GB/s of traffic, below the " +
                                 std::to_string(std::lround(healthy)) + " of a healthy H200";
}

} // namespace

const char *mode_name(gfk_accumulate mode) {
    return mode == GFK_SET ? "set" : "xor";
}

std::unique_ptr<DeviceWork> make_plain_work(const PlainKernel &kernel, const Plain &plain) {
    return std::make_unique<PlainWork>(kernel, plain);
}

Ceiling &ceiling_of(const Plain &plain) {
    static std::map<std::string, Ceiling> known;
    const auto &[k, m, bytes, gaps, cold] = plain.layout;
    const std::string key = std::to_string((int)plain.kind) + "/" + shape_text({8, k, m}) + "/" +
                            std::to_string(bytes) + (cold ? "/cold/" : "/hot/") +
                            mode_name(plain.mode);
    const auto found = known.find(key);
    return found != known.end() ? found->second : known.emplace(key, measure(plain)).first->second;
}

Row *add_ceiling(const std::string &name, const Plain &plain, Row *row, Rows *rows) {
    const auto &[k, m, bytes, gaps, cold] = plain.layout;
    const bool region = plain.kind == PlainKind::Copy || plain.kind == PlainKind::Accumulate;
    const std::string what =
        plain.kind == PlainKind::XorOnlyFew ? "xor_only" : kNames[(int)plain.kind];
    row->needs = name;
    row->ceiling = [=]() -> Ceiling & { return ceiling_of(plain); };
    if (std::any_of(rows->begin(), rows->end(), [&](const Row &r) { return r.name == name; }))
        return nullptr;
    Row ceiling(name, Fields("kind", "ceiling", "operation", what, "where", "gpu", "id",
                             region ? "ceiling_" + what : kNames[(int)plain.kind], "k", k, "m", m,
                             "mode", mode_name(plain.mode), "cold", cold, "region_bytes", bytes));
    ceiling.data_bytes = (double)k * (double)bytes;
    ceiling.moved = moved_bytes(plain) / ceiling.data_bytes;
    ceiling.passes = 1;
    ceiling.compared = false;
    ceiling.missing = [=] { return too_little_memory(plain.layout.memory_needed()); };
    ceiling.ceiling = row->ceiling;
    rows->push_back(ceiling);
    return &rows->back();
}

std::string void_reason(bool of_products) {
    if (std::strstr(gpu().properties.name, "H200") == nullptr)
        return "";
    double copy = 0;
    for (size_t bytes : {kGiB, 2 * kGiB}) { // the larger one only if the smaller does not show it
        const Layout layout{1, 1, bytes, false};
        if (copy < kH200Copy && layout.memory_needed() <= gpu_memory_budget())
            copy = std::max(copy, ceiling_of({PlainKind::Copy, layout}).gbps);
    }
    std::string reason = copy > 0 ? slower("copy of 1 and 2 GiB", copy, kH200Copy) : "";
    for (const auto &[k, m, traffic] : kH200XorOnly) {
        const Layout layout{k, m, 3 * kGiB / k / 512 * 512};
        if (reason.empty() && of_products && layout.memory_needed() <= gpu_memory_budget())
            reason = slower("the XOR-only kernel of " + shape_text({8, k, m}),
                            ceiling_of({PlainKind::XorOnly, layout}).gbps, traffic);
    }
    return reason;
}
