// SPDX-License-Identifier: BSD-3-Clause
// The presets of region multiplies as data: default, full, s2, limits, small, offsets.
#include <algorithm>
#include <random>
#include <utility>

#include "region.h"

namespace {

constexpr size_t kLargestHot = 16 * kMiB; // source and destination still fit a cache of 40 MB
constexpr size_t kRotatingConstants = 64;

const std::vector<size_t> kSizes = {64 * kKiB, kMiB, 16 * kMiB, 256 * kMiB, kGiB};
const std::vector<size_t> kSmallSizes = {4 * kKiB, 16 * kKiB, 64 * kKiB, 256 * kKiB,
                                         kMiB,     4 * kMiB,  16 * kMiB};
const std::vector<size_t> kFullSizes = {4 * kKiB,   16 * kKiB, 64 * kKiB, 256 * kKiB,
                                        kMiB,       4 * kMiB,  16 * kMiB, 64 * kMiB,
                                        256 * kMiB, kGiB,      2 * kGiB};
const std::pair<unsigned, unsigned> kOffsets[] = {{0, 0}, {1, 3}, {3, 15}, {15, 1}};

const std::vector<size_t> &sizes_or(const Options &options, const std::vector<size_t> &usual) {
    return options.sizes.empty() ? usual : options.sizes;
}

bool plain(const gfk_kernel_info *k) {
    return on_device(k) && runs_here(k) && k->labels == 0;
}

bool optimized(const gfk_kernel_info *k) {
    return plain(k) && k->implementation == GFK_IMPLEMENTATION_OPT;
}

std::vector<RegionCase> sweep(const Options &options) {
    std::vector<RegionCase> cases;
    const auto all = kernels([](const gfk_kernel_info *k) {
        return on_device(k) && runs_here(k) && !(k->labels & GFK_LABEL_GIANT);
    });
    for (size_t bytes : sizes_or(options, options.full ? kFullSizes : kSizes))
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR})
            for (bool cold : {true, false})
                for (const gfk_kernel_info *k : all) {
                    const bool usual = mode == GFK_SET && cold;
                    const bool size = bytes == 16 * kMiB || bytes == kGiB || !options.sizes.empty();
                    const bool wanted = k->labels & GFK_LABEL_ABLATION ? usual && size
                                        : options.full ? cold || bytes <= kLargestHot
                                                       : usual;
                    if (wanted)
                        cases.push_back({k, bytes, mode, cold});
                }
    return cases;
}

std::vector<RegionCase> limits(const Options &options) {
    std::vector<RegionCase> cases;
    const size_t bytes = options.size_or(2 * kGiB);
    for (const gfk_kernel_info *k : kernels(optimized))
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
            cases.push_back({k, bytes, mode, true, RegionCase::Each, 64});
            if (k->w == 8 && mode == GFK_SET) {
                cases.push_back({k, bytes, mode, true, RegionCase::Each, 255});
            } else if (k->w != 8) {
                cases.push_back({k, bytes, mode, true, RegionCase::Fixed, 2});
                cases.push_back({k, bytes, mode, true, RegionCase::Fixed, all_ones(k->w)});
            }
        }
    return cases;
}

} // namespace

const std::vector<size_t> &default_sizes() {
    return kSizes;
}

std::vector<const gfk_kernel_info *> kernels(std::function<bool(const gfk_kernel_info *)> pick) {
    std::vector<const gfk_kernel_info *> picked;
    for (size_t i = 0; i < gfk_kernel_count(); i++)
        if (pick(gfk_kernel_at(i)))
            picked.push_back(gfk_kernel_at(i));
    return picked;
}

bool on_device(const gfk_kernel_info *k) {
    return k->implementation != GFK_IMPLEMENTATION_HOST;
}

bool runs_here(const gfk_kernel_info *k) {
    return gfk_kernel_available(k, -1, nullptr) == GFK_STATUS_SUCCESS;
}

uint32_t all_ones(unsigned w) {
    return 0xffffffffu >> (32 - w);
}

std::vector<uint32_t> random_constants(unsigned w, size_t count, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<uint32_t> constants;
    while (constants.size() < count) {
        const uint32_t c = (uint32_t)random() & all_ones(w);
        if (c > 1) // 0 and 1 are not multiplications
            constants.push_back(c);
    }
    return constants;
}

std::vector<RegionCase> region_cases(const Options &options) {
    std::vector<RegionCase> cases;
    if (options.is("default"))
        cases = sweep(options);
    if (options.is("limits"))
        cases = limits(options);
    if (options.is("verdicts"))
        cases = verdict_cases();
    if (options.is("s2"))
        for (const gfk_kernel_info *k : kernels(plain)) {
            cases.push_back({k, kS2Bytes, GFK_SET, true, RegionCase::Fixed, kS2Constant});
            cases.push_back({k, kS2Bytes});
        }
    if (options.is("small"))
        for (size_t bytes : sizes_or(options, kSmallSizes))
            for (const gfk_kernel_info *k : kernels(plain))
                cases.push_back({k, bytes});
    if (options.is("offsets"))
        for (const gfk_kernel_info *k : kernels(optimized))
            for (auto [src, dst] : kOffsets)
                cases.push_back(
                    {k, options.size_or(kGiB), GFK_SET, true, RegionCase::Rotating, 0, src, dst});
    std::vector<RegionCase> mine;
    for (size_t i = options.shard - 1; i < cases.size(); i += options.shards)
        mine.push_back(cases[i]);
    return mine;
}

std::string RegionCase::name() const {
    std::string name = kernel->id + ceiling_name().substr(sizeof "ceiling" - 1);
    if (constants == Fixed)
        name += "/c=" + std::to_string(c);
    if (constants == Each)
        name += (c == 255 ? "/c=all" : "/c=each") + std::to_string(c);
    if (src_offset != 0 || dst_offset != 0)
        name += "/at=" + std::to_string(src_offset) + "," + std::to_string(dst_offset);
    return name;
}

std::string RegionCase::ceiling_name() const {
    return "ceiling/" + size_text(bytes) + (mode == GFK_XOR ? "/xor" : "/set") +
           (cold ? "/cold" : "/hot");
}

std::vector<uint32_t> RegionCase::constant_list(uint64_t seed) const {
    if (constants == Fixed)
        return {c};
    if (constants == Rotating)
        return random_constants(kernel->w, kRotatingConstants, seed);
    if (c != 255)
        return random_constants(kernel->w, c, seed);
    std::vector<uint32_t> all;
    for (uint32_t x = 1; x <= 255; x++)
        all.push_back(x);
    return all;
}

Fields kernel_facts(const gfk_kernel_info *kernel) {
    Fields f = Fields("kind", "region", "operation", "multiply", "where",
                      on_device(kernel) ? "gpu" : "cpu", "id", kernel->id, "kernel", kernel->id,
                      "w", kernel->w, "method", gfk_method_name(kernel->method), "implementation",
                      gfk_implementation_name(kernel->implementation));
    f.set_text("variant", kernel->variant);
    f.set_true("ablation", kernel->labels & GFK_LABEL_ABLATION);
    f.set_true("giant", kernel->labels & GFK_LABEL_GIANT);
    f.set("shared_bytes", kernel->shared_bytes);
    return f;
}

Row region_row(const RegionCase &c) {
    static const char *const names[] = {"rotating", "fixed", "each"};
    Row row;
    row.name = c.name();
    row.facts = kernel_facts(c.kernel);
    row.facts.add(Fields("mode", c.mode == GFK_XOR ? "xor" : "set", "cold", c.cold, "constants",
                         c.constants == RegionCase::Each && c.c == 255 ? "all" : names[c.constants],
                         "region_bytes", c.bytes, "nominal_bytes", c.bytes));
    if (c.constants == RegionCase::Fixed)
        row.facts.set("constant", c.c);
    row.facts.set("src_offset", c.src_offset);
    row.facts.set("dst_offset", c.dst_offset);
    row.data_bytes = (double)c.bytes;
    row.moved = c.mode == GFK_XOR ? 3 : 2;
    return row;
}

void describe_multiplier(const Multiplier &m, Fields *fields) {
    fields->set("table_bytes", m.table_bytes);
    fields->set("workspace_bytes", m.workspace_bytes);
}
