// SPDX-License-Identifier: BSD-3-Clause
// The rows of region multiplies as data: the groups of preset region, and preset card.
#include <algorithm>
#include <random>

#include "cases.h"

namespace {

constexpr size_t kLargestHot = 16 * kMiB; // source and destination still fit a cache of 40 MB
constexpr size_t kRotatingConstants = 64;

const std::vector<size_t> kSizes = {64 * kKiB, kMiB, 16 * kMiB, 256 * kMiB, kGiB};
const std::vector<size_t> kSmallSizes = {4 * kKiB, 16 * kKiB, 64 * kKiB, 256 * kKiB,
                                         kMiB,     4 * kMiB,  16 * kMiB};
const std::vector<size_t> kFullSizes = {4 * kKiB,   16 * kKiB, 64 * kKiB, 256 * kKiB,
                                        kMiB,       4 * kMiB,  16 * kMiB, 64 * kMiB,
                                        256 * kMiB, kGiB,      2 * kGiB};
const std::vector<size_t> kQuickSizes = {kGiB};
const std::vector<size_t> kCardSizes = {64 * kKiB, kMiB, 256 * kMiB};
const std::pair<unsigned, unsigned> kOffsets[] = {{0, 0}, {1, 3}, {3, 15}, {15, 1}};

const std::vector<size_t> &sizes_or(const Options &options, const std::vector<size_t> &usual) {
    return options.sizes.empty() ? usual : options.sizes;
}

// AUTO's, and the two methods that have an engine for products too.
bool of_card(const gfk_kernel_info *k) {
    return optimized(k) &&
           (is_best(k) || k->method == GFK_METHOD_SPLIT || k->method == GFK_METHOD_CARRY_FREE);
}

bool swept(const gfk_kernel_info *k) {
    return on_device(k) && runs_here(k) && !is_giant(k);
}

uint32_t all_ones(unsigned w) {
    return 0xffffffffu >> (32 - w);
}

using Cases = std::vector<RegionCase>;

Cases sweep(const Options &options) {
    Cases cases;
    const auto all = kernels(swept);
    const auto &usual_sizes = options.full ? kFullSizes : options.quick() ? kQuickSizes : kSizes;
    for (size_t bytes : sizes_or(options, usual_sizes))
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR})
            for (bool cold : {true, false})
                for (const gfk_kernel_info *k : all) {
                    const bool usual = mode == GFK_SET && cold;
                    if (options.full ? cold || bytes <= kLargestHot : usual)
                        cases.push_back({k, bytes, mode, cold});
                }
    return cases;
}

Cases limits(const Options &options) {
    Cases cases;
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

std::vector<const gfk_kernel_info *> kernels(KernelTest test) {
    std::vector<const gfk_kernel_info *> picked;
    for (size_t i = 0; i < gfk_kernel_count(); i++)
        if (test(gfk_kernel_at(i)))
            picked.push_back(gfk_kernel_at(i));
    return picked;
}

bool on_device(const gfk_kernel_info *k) {
    return k->implementation != GFK_IMPLEMENTATION_HOST;
}

bool runs_here(const gfk_kernel_info *k) {
    return gfk_kernel_available(k, GFK_CURRENT_DEVICE, nullptr) == GFK_STATUS_SUCCESS;
}

bool plain(const gfk_kernel_info *k) {
    return on_device(k) && runs_here(k) && k->labels == 0;
}

bool optimized(const gfk_kernel_info *k) {
    return plain(k) && k->implementation == GFK_IMPLEMENTATION_OPT;
}

bool is_giant(const gfk_kernel_info *k) {
    return k->labels & GFK_LABEL_GIANT;
}

bool is_best(const gfk_kernel_info *kernel) {
    const gfk_field field = field_of(kernel->w);
    const gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    gfk_multiplier_info info;
    return gfk_multiplier_query(&field, &desc, &info) == GFK_STATUS_SUCCESS &&
           info.kernel == kernel;
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
    Cases cases;
    if (options.is("region:sizes"))
        cases = sweep(options);
    if (options.is("region:limits"))
        cases = limits(options);
    if (options.is("card"))
        for (size_t bytes : sizes_or(options, kCardSizes))
            for (const gfk_kernel_info *k : kernels(of_card))
                cases.push_back({k, bytes});
    if (options.is("region:small"))
        for (size_t bytes : sizes_or(options, kSmallSizes))
            for (const gfk_kernel_info *k : kernels(plain))
                cases.push_back({k, bytes});
    if (options.is("region:offsets"))
        for (const gfk_kernel_info *k : kernels(optimized))
            for (auto [src, dst] : kOffsets)
                cases.push_back(
                    {k, options.size_or(kGiB), GFK_SET, true, RegionCase::Rotating, 0, src, dst});
    return cases;
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

Fields kernel_facts(const gfk_kernel_info *k) {
    return Fields("kind", "region", "operation", "multiply", "where", on_device(k) ? "gpu" : "cpu",
                  "id", k->id, "kernel", k->id, "w", k->w, "method", gfk_method_name(k->method),
                  "implementation", gfk_implementation_name(k->implementation), "variant",
                  given(k->variant), "giant", when(is_giant(k), true), "shared_bytes",
                  k->shared_bytes);
}

Row region_row(const RegionCase &c) {
    static const char *const names[] = {"rotating", "fixed", "each"};
    const bool all = c.constants == RegionCase::Each && c.c == 255;
    Row row(c.name(), kernel_facts(c.kernel));
    row.facts.add("mode", c.mode == GFK_XOR ? "xor" : "set", "cold", c.cold, "constants",
                  all ? "all" : names[c.constants], "region_bytes", c.bytes, "nominal_bytes",
                  c.bytes, "constant", when(c.constants == RegionCase::Fixed, c.c), "src_offset",
                  c.src_offset, "dst_offset", c.dst_offset);
    row.data_bytes = (double)c.bytes;
    row.moved = c.mode == GFK_XOR ? 3 : 2;
    return row;
}

Fields multiplier_facts(const Multiplier &m, const gfk_kernel_info *kernel,
                        const std::function<double()> &prepare_us) {
    Fields f = Fields("table_bytes", m.table_bytes, "workspace_bytes", m.workspace_bytes);
    if (m.workspace_bytes != 0)
        f.add("setup_us", prepare_us());
    else if (kernel->table_bytes != 0)
        f.add("setup_us", m.handle.create_us);
    return f;
}
