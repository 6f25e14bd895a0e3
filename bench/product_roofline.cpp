// SPDX-License-Identifier: BSD-3-Clause
// Every shape of the XOR-only kernel, checked and timed; the best is kept.
#include "product_roofline.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "product_buffers.h"
#include "product_ceilings.h"

namespace {

constexpr int kReplays = 5;

// The XOR-only kernels' sums as a matrix of zeros and ones.
std::vector<uint32_t> ones_of(const Shape &shape) {
    const size_t lanes = std::min(shape.k, shape.m);
    std::vector<uint32_t> matrix(shape.k * shape.m);
    for (size_t j = 0; j < shape.m; j++)
        for (size_t i = 0; i < shape.k; i++)
            matrix[j * shape.k + i] = i % lanes == j % lanes;
    return matrix;
}

Roofline measure(const ProductRow &row) {
    Roofline best;
    const ProductBuffers buffers(row.shape, row.region_bytes());
    const ProductReference reference(row.shape, ones_of(row.shape), row.mode, "xor-only");
    const double traffic =
        (double)row.region_bytes() * (double)row.shape.k * moved_per_byte(row) / 1e3;
    for (size_t i = 0; i < xor_only_count(); i++) {
        const XorOnlyVariant &variant = xor_only_variant(i);
        if (row.few && !variant.few)
            continue;
        const Launch launch = [&](long j, cudaStream_t stream) {
            variant.run({buffers.in(j), buffers.out(j), buffers.stride(), buffers.bytes(),
                         (unsigned)row.shape.k, (unsigned)row.shape.m, row.mode == GFK_XOR},
                        stream);
        };
        buffers.poison_outputs();
        for (long j = 0; j < buffers.sets(); j++)
            launch(j, gpu().stream);
        const std::string wrong = reference.check(buffers, buffers.sets());
        if (!wrong.empty()) {
            best.error += std::string(best.error.empty() ? "" : "; ") + variant.name + ": " + wrong;
            continue;
        }
        const Timing timing = time_launches(
            buffers.sets(), [&] { buffers.make_cold(); }, launch, row.few ? 3 : kReplays);
        const double gbps = traffic / timing.median_us;
        best.variants.push_back({variant.name, gbps});
        if (gbps > best.gbps) {
            best.gbps = gbps;
            best.best = variant.name;
            best.timing = timing;
        }
    }
    return best;
}

} // namespace

double moved_per_byte(const ProductRow &row) {
    const double k = (double)row.shape.k, m = (double)row.shape.m;
    return (k + (row.mode == GFK_SET ? m : 2 * m)) / k;
}

const Roofline &product_roofline(const ProductRow &row) {
    static std::map<std::string, Roofline> known;
    ProductRow ceiling = row;
    ceiling.way = Way::XorOnly;
    ceiling.shape.w = 8;
    ceiling.matrix = MatrixKind::Random;
    const auto found = known.find(ceiling.name());
    if (found != known.end())
        return found->second;
    return known.emplace(ceiling.name(), measure(ceiling)).first->second;
}

std::string product_void_reason() {
    if (gpu().name.find("H200") == std::string::npos)
        return "";
    const struct {
        Shape shape;
        double traffic; // GB/s
    } healthy[] = {{{8, 4, 2}, 4210}, {{8, 10, 4}, 4270}, {{8, 30, 3}, 4310}};
    for (const auto &known : healthy) {
        ProductRow row;
        row.shape = known.shape;
        row.data = size_t{3} << 30;
        if (ProductBuffers::memory_needed(row.shape, row.region_bytes()) > gpu_memory_budget())
            continue;
        const Roofline &best = product_roofline(row);
        if (best.gbps >= known.traffic)
            continue;
        char text[160];
        std::snprintf(text, sizeof text,
                      "the XOR-only kernel of %s reaches %.0f GB/s of traffic, below the %.0f of a "
                      "healthy H200",
                      shape_text(known.shape).c_str(), best.gbps, known.traffic);
        return text;
    }
    return "";
}
