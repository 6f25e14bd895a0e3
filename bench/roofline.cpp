// SPDX-License-Identifier: BSD-3-Clause
// Every shape of the copy and read-read-write kernels, checked and timed; the best is kept.
#include "roofline.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

#include "device_kernels.h"
#include "multipliers.h"

namespace {

constexpr int kReplays = 5;
constexpr double kH200Copy = 4170; // GB/s of traffic

// One launch against c = 1 of the reference row, which is a copy or an XOR.
std::string verify(const Rotation &rotation, gfk_accumulate mode, const Launch &launch) {
    const Multiplier &reference = multiplier_of(reference_of(8, true));
    const cudaStream_t stream = gpu().stream;
    void *workspace = gpu_slot(Slot::ReferenceWorkspace, reference.workspace_bytes);
    Checker checker;
    rotation.poison();
    launch(0, stream);
    rotation.poison_scratch(0);
    gfk_check(gfk_region_multiply(reference.handle, 1, rotation.src(0), rotation.scratch(),
                                  rotation.bytes(), mode, workspace, reference.workspace_bytes,
                                  stream),
              "gfk_region_multiply");
    checker.check(rotation.scratch(), rotation.dst(0), rotation.bytes(), 0);
    return checker.verdict();
}

Roofline measure(size_t bytes, gfk_accumulate mode, bool cold) {
    Roofline best;
    const Rotation rotation(bytes, cold);
    for (size_t i = 0; i < ceiling_variant_count(); i++) {
        const CeilingVariant &variant = ceiling_variant(i);
        const auto run = mode == GFK_SET ? variant.copy : variant.accumulate;
        if (run == nullptr)
            continue;
        const Launch launch = [&](long j, cudaStream_t stream) {
            run(rotation.src(j), rotation.dst(j), bytes, stream);
        };
        const std::string wrong = verify(rotation, mode, launch);
        if (!wrong.empty()) {
            best.error += std::string(best.error.empty() ? "" : "; ") + variant.name + ": " + wrong;
            continue;
        }
        const Timing timing = time_launches(rotation, launch, kReplays);
        const double traffic = (double)bytes * (mode == GFK_SET ? 2 : 3);
        const double gbps = traffic / timing.median_us / 1e3;
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

const Roofline &roofline(size_t bytes, gfk_accumulate mode, bool cold) {
    static std::map<std::tuple<size_t, int, bool>, Roofline> known;
    const auto key = std::make_tuple(bytes, (int)mode, cold);
    const auto found = known.find(key);
    if (found != known.end())
        return found->second;
    return known.emplace(key, measure(bytes, mode, cold)).first->second;
}

std::string void_reason() {
    constexpr size_t gib = size_t{1} << 30;
    double copy = 0;
    if (gpu().name.find("H200") == std::string::npos)
        return "";
    for (size_t bytes : {gib, 2 * gib}) // the larger one only if the smaller does not show it
        if (copy < kH200Copy && Rotation::memory_needed(bytes, true) <= gpu_memory_budget())
            copy = std::max(copy, roofline(bytes, GFK_SET, true).gbps);
    if (copy >= kH200Copy || copy == 0)
        return "";
    char text[120];
    std::snprintf(text, sizeof text,
                  "copy of 1 and 2 GiB reaches %.0f GB/s, below the %.0f of a healthy H200", copy,
                  kH200Copy);
    return text;
}
