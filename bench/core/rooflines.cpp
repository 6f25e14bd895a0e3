// SPDX-License-Identifier: BSD-3-Clause
// Every plain kernel of a kind, checked and timed; the best is kept.
#include <algorithm>
#include <cstdio>
#include <map>

#include "buffers.h"

namespace {

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

class PlainWork : public MatrixWork {
  public:
    PlainWork(PlainKind kind, const PlainKernel &kernel, const Layout &layout, gfk_accumulate mode)
        : MatrixWork(8, layout, mode), kind_(kind), kernel_(kernel),
          matrix_(ones_of(layout.k, layout.m)) {}
    gfk_status start() override {
        launch(0, gpu().stream);
        gpu_synchronize();
        return GFK_STATUS_SUCCESS;
    }
    void launch(long j, cudaStream_t stream) const override {
        const Layout &layout = buffers_.layout();
        kernel_.run({buffers_.in(j), buffers_.out(j), buffers_.stride(), buffers_.bytes(),
                     (unsigned)layout.k, (unsigned)layout.m, mode_ == GFK_XOR},
                    stream);
    }
    std::string check(bool after) override {
        return kind_ == PlainKind::ReadOnly ? "" : MatrixWork::check(after);
    }

  protected:
    const uint32_t *matrix(long) const override { return matrix_.data(); }
    std::string tag() const override { return "plain"; }
    long checked() const override {
        return kind_ == PlainKind::Copy || kind_ == PlainKind::Accumulate ? 1 : sets();
    }

  private:
    PlainKind kind_;
    PlainKernel kernel_;
    std::vector<uint32_t> matrix_;
};

double moved_bytes(PlainKind kind, const Layout &layout, gfk_accumulate mode) {
    const size_t writes = kind == PlainKind::ReadOnly ? 0 : layout.m;
    return (double)layout.bytes * (double)(layout.k + writes * (mode == GFK_SET ? 1 : 2));
}

Ceiling measure(PlainKind kind, const Layout &layout, gfk_accumulate mode) {
    Ceiling ceiling;
    ceiling.what = kNames[(int)kind];
    const double traffic = moved_bytes(kind, layout, mode) / 1e3;
    for (const PlainKernel &kernel : plain_kernels(kind)) {
        PlainWork work(kind, kernel, layout, mode);
        work.start();
        const std::string wrong = work.check(false);
        if (!wrong.empty()) {
            ceiling.error += (ceiling.error.empty() ? "" : "; ") + kernel.name + ": " + wrong;
            continue;
        }
        const Times times = time_work(&work, kind == PlainKind::XorOnlyFew ? 3 : 5);
        const double gbps = traffic / times.median;
        ceiling.variants.push_back({kernel.name, gbps});
        if (gbps <= ceiling.gbps)
            continue;
        ceiling.gbps = gbps;
        ceiling.best = kernel.name;
        ceiling.times = times;
        work.describe(&ceiling.fields);
        ceiling.measure_sustained = [=] {
            PlainWork best(kind, kernel, layout, mode);
            best.start();
            best.warm_up();
            return best.sustain();
        };
    }
    return ceiling;
}

} // namespace

Ceiling &ceiling_of(PlainKind kind, const Layout &layout, gfk_accumulate mode) {
    static std::map<std::string, Ceiling> known;
    const std::string key = std::to_string((int)kind) + "/" + std::to_string(layout.k) + "+" +
                            std::to_string(layout.m) + "/" + std::to_string(layout.bytes) +
                            (layout.cold ? "/cold" : "/hot") + (mode == GFK_SET ? "/set" : "/xor");
    const auto found = known.find(key);
    return found != known.end() ? found->second
                                : known.emplace(key, measure(kind, layout, mode)).first->second;
}

Row ceiling_row(const std::string &name, PlainKind kind, const Layout &layout,
                gfk_accumulate mode) {
    const bool region = kind == PlainKind::Copy || kind == PlainKind::Accumulate;
    const char *what = kNames[(int)kind];
    Row row;
    row.name = name;
    row.facts = Fields(
        "kind", "ceiling", "operation", kind == PlainKind::XorOnlyFew ? "xor_only" : what, "where",
        "gpu", "id", region ? std::string("ceiling_") + what : what, "k", layout.k, "m", layout.m,
        "mode", mode == GFK_SET ? "set" : "xor", "cold", layout.cold, "region_bytes", layout.bytes);
    row.data_bytes = (double)layout.k * (double)layout.bytes;
    row.moved = moved_bytes(kind, layout, mode) / row.data_bytes;
    row.passes = 1;
    row.compared = false;
    row.missing = [=] { return too_little_memory(layout.memory_needed()); };
    row.ceiling = [=]() -> Ceiling & { return ceiling_of(kind, layout, mode); };
    return row;
}

std::string void_reason(bool of_products) {
    if (gpu().name.find("H200") == std::string::npos)
        return "";
    char text[160];
    double copy = 0;
    for (size_t bytes : {kGiB, 2 * kGiB}) { // the larger one only if the smaller does not show it
        const Layout layout{1, 1, bytes, false};
        if (copy < kH200Copy && layout.memory_needed() <= gpu_memory_budget())
            copy = std::max(copy, ceiling_of(PlainKind::Copy, layout, GFK_SET).gbps);
    }
    if (copy > 0 && copy < kH200Copy) {
        std::snprintf(text, sizeof text,
                      "copy of 1 and 2 GiB reaches %.0f GB/s, below the %.0f of a healthy H200",
                      copy, kH200Copy);
        return text;
    }
    for (const auto &[k, m, traffic] : kH200XorOnly) {
        const Layout layout{k, m, 3 * kGiB / k / 512 * 512};
        if (!of_products || layout.memory_needed() > gpu_memory_budget())
            continue;
        const double gbps = ceiling_of(PlainKind::XorOnly, layout, GFK_SET).gbps;
        if (gbps >= traffic)
            continue;
        std::snprintf(text, sizeof text,
                      "the XOR-only kernel of %zu+%zu reaches %.0f GB/s of traffic, below the %.0f "
                      "of a healthy H200",
                      k, m, gbps, traffic);
        return text;
    }
    return "";
}
