// SPDX-License-Identifier: BSD-3-Clause
// The sets of rows: default, full, s2, limits, small, offsets, verdicts, giant.
#include "plan.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

#include "results.h"

namespace {

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
constexpr size_t kLargestHot = 16 * kMiB; // source and destination still fit a cache of 40 MB

const std::vector<size_t> kSizes = {64 * kKiB, kMiB, 16 * kMiB, 256 * kMiB, kGiB};
const std::vector<size_t> kSmallSizes = {4 * kKiB, 16 * kKiB, 64 * kKiB, 256 * kKiB,
                                         kMiB,     4 * kMiB,  16 * kMiB};
const std::vector<size_t> kFullSizes = {4 * kKiB,   16 * kKiB, 64 * kKiB, 256 * kKiB,
                                        kMiB,       4 * kMiB,  16 * kMiB, 64 * kMiB,
                                        256 * kMiB, kGiB,      2 * kGiB};

// Every row of the list for which pick says yes.
template <class Pick>
std::vector<const gfk_kernel_info *> kernels(Pick pick) {
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

std::vector<Row> sweep(const Options &options) {
    std::vector<Row> rows;
    const auto all = kernels([](const gfk_kernel_info *k) {
        return on_device(k) && runs_here(k) && !(k->labels & GFK_LABEL_GIANT);
    });
    const std::vector<size_t> &own = options.full ? kFullSizes : kSizes;
    for (size_t bytes : options.sizes.empty() ? own : options.sizes)
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR})
            for (bool cold : {true, false})
                for (const gfk_kernel_info *k : all) {
                    const bool plain = mode == GFK_SET && cold;
                    const bool ablation = k->labels & GFK_LABEL_ABLATION;
                    const bool usual =
                        bytes == 16 * kMiB || bytes == kGiB || !options.sizes.empty();
                    const bool wanted = ablation       ? plain && usual
                                        : options.full ? cold || bytes <= kLargestHot
                                                       : plain;
                    if (wanted)
                        rows.push_back({k, bytes, mode, cold});
                }
    return rows;
}

std::vector<Row> s2_rows() {
    std::vector<Row> rows;
    for (const gfk_kernel_info *k : kernels([](const gfk_kernel_info *k) {
             return on_device(k) && runs_here(k) && k->labels == 0;
         })) {
        rows.push_back({k, kS2Bytes, GFK_SET, true, Row::Fixed, kS2Constant});
        rows.push_back({k, kS2Bytes, GFK_SET, true, Row::Rotating});
    }
    return rows;
}

std::vector<const gfk_kernel_info *> optimized() {
    return kernels([](const gfk_kernel_info *k) {
        return k->implementation == GFK_IMPLEMENTATION_OPT && runs_here(k) && k->labels == 0;
    });
}

std::vector<Row> limit_rows(const Options &options) {
    std::vector<Row> rows;
    const size_t bytes = options.sizes.empty() ? 2 * kGiB : options.sizes[0];
    for (const gfk_kernel_info *k : optimized())
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
            rows.push_back({k, bytes, mode, true, Row::Each, 64});
            if (k->w == 8 && mode == GFK_SET) {
                rows.push_back({k, bytes, mode, true, Row::Each, 255});
            } else if (k->w != 8) {
                rows.push_back({k, bytes, mode, true, Row::Fixed, 2});
                rows.push_back({k, bytes, mode, true, Row::Fixed, all_ones(k->w)});
            }
        }
    return rows;
}

std::vector<Row> small_rows(const Options &options) {
    std::vector<Row> rows;
    for (size_t bytes : options.sizes.empty() ? kSmallSizes : options.sizes)
        for (const gfk_kernel_info *k : kernels([](const gfk_kernel_info *k) {
                 return on_device(k) && runs_here(k) && k->labels == 0;
             }))
            rows.push_back({k, bytes});
    return rows;
}

std::vector<Row> offset_rows(const Options &options) {
    std::vector<Row> rows;
    const size_t bytes = options.sizes.empty() ? kGiB : options.sizes[0];
    for (const gfk_kernel_info *k : optimized())
        for (auto [src, dst] : {std::pair{0u, 0u}, {1u, 3u}, {3u, 15u}, {15u, 1u}})
            rows.push_back({k, bytes, GFK_SET, true, Row::Rotating, 0, src, dst});
    return rows;
}

struct Step {
    const char *id; // with %u for the width
    uint32_t c;     // 0: rotating random constants; ~0: all ones
};

void add_verdict(std::vector<Verdict> *verdicts, const char *title, const char *claim,
                 std::vector<unsigned> widths, const std::vector<Step> &steps) {
    for (unsigned w : widths) {
        Verdict v{std::string(title) + ", w = " + std::to_string(w), claim, {}, {}};
        for (const Step &step : steps) {
            char id[64];
            std::snprintf(id, sizeof id, step.id, w);
            const gfk_kernel_info *k = gfk_kernel_find(id);
            const bool told = std::find(v.absent.begin(), v.absent.end(), id) != v.absent.end();
            if (k == nullptr && !told)
                v.absent.push_back(id);
            else if (k != nullptr)
                v.steps.push_back({k, kGiB, GFK_SET, true, step.c ? Row::Fixed : Row::Rotating,
                                   step.c == ~0u ? all_ones(w) : step.c});
        }
        verdicts->push_back(v);
    }
}

} // namespace

std::string Row::name() const {
    std::string name = kernel->id;
    name +=
        "/" + size_text(bytes) + (mode == GFK_XOR ? "/xor" : "/set") + (cold ? "/cold" : "/hot");
    if (constants == Fixed)
        name += "/c=" + std::to_string(c);
    if (constants == Each)
        name += (c == 255 ? "/c=all" : "/c=each") + std::to_string(c);
    if (misaligned())
        name += "/at=" + std::to_string(src_offset) + "," + std::to_string(dst_offset);
    return name;
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

std::vector<Row> plan_device_rows(const Options &options) {
    std::vector<Row> rows;
    switch (options.preset) {
    case Options::Default:
        rows = sweep(options);
        break;
    case Options::S2:
        rows = s2_rows();
        break;
    case Options::Limits:
        rows = limit_rows(options);
        break;
    case Options::Small:
        rows = small_rows(options);
        break;
    case Options::Offsets:
        rows = offset_rows(options);
        break;
    case Options::Verdicts:
        for (const Verdict &v : plan_verdicts())
            for (const Row &row : v.steps) {
                bool known = !runs_here(row.kernel);
                for (const Row &other : rows)
                    known = known || other.name() == row.name();
                if (!known)
                    rows.push_back(row);
            }
        break;
    default: // of products: product_plan.cpp
        break;
    }
    std::vector<Row> mine;
    for (size_t i = 0; i < rows.size(); i++)
        if (i % options.shards == options.shard - 1)
            mine.push_back(rows[i]);
    return mine;
}

std::vector<Row> plan_host_rows(const Options &options) {
    std::vector<Row> rows;
    if (options.preset != Options::Default || options.shard != 1)
        return rows;
    for (size_t bytes : options.sizes.empty() ? kSizes : options.sizes)
        for (const gfk_kernel_info *k : kernels([](const gfk_kernel_info *k) {
                 return !on_device(k) && !(k->labels & GFK_LABEL_GIANT);
             }))
            rows.push_back({k, bytes, GFK_SET, false});
    return rows;
}

std::vector<Row> plan_giant_rows() {
    std::vector<Row> rows;
    for (const gfk_kernel_info *k : kernels([](const gfk_kernel_info *k) {
             return on_device(k) && runs_here(k) && (k->labels & GFK_LABEL_GIANT);
         }))
        rows.push_back({k, kGiB, GFK_SET, true, Row::Fixed, 0x80000057u});
    return rows;
}

std::vector<Verdict> plan_verdicts() {
    std::vector<Verdict> v;
    add_verdict(&v, "LOG, the ladder",
                "GPU-RSCode: modulo, folding, doubled and zero-padded antilogarithms are each "
                "faster than the one before. GF GPU: a doubled antilogarithm is slower.",
                {8},
                {{"log_w%u_naive_mod", 0},
                 {"log_w%u_naive_fold", 0},
                 {"log_w%u_naive_double", 0},
                 {"log_w%u_naive_zero", 0}});
    add_verdict(&v, "LOG, where the tables live",
                "GPU-RSCode: shared memory filled in parallel beats global memory, constant memory "
                "and a serial fill.",
                {8},
                {{"log_w%u_naive_zero", 0},
                 {"log_w%u_opt_const", 0},
                 {"log_w%u_opt_serial", 0},
                 {"log_w%u_opt_parallel", 0}});
    add_verdict(&v, "LOG, a doubled antilogarithm in shared memory",
                "GF GPU: shared memory gives a substantial gain; doubling the antilogarithms in it "
                "to be rid of the modulo costs more than it saves.",
                {8},
                {{"log_w%u_naive", 0},
                 {"log_w%u_opt_shared", 0},
                 {"log_w%u_opt_doubled", 0},
                 {"log_w%u_opt", 0}});
    add_verdict(&v, "BYTWO_p, branch or mask",
                "GF GPU: a mask by multiplication is slower than the branch for w = 8 and 16; a "
                "mask by the sign bit is the same or slightly faster.",
                {8, 16, 32},
                {{"bytwo_p_w%u_naive", 0},
                 {"bytwo_p_w%u_naive_mulmask", 0},
                 {"bytwo_p_w%u_naive_signmask", 0},
                 {"bytwo_p_w%u_opt", 0}});
    add_verdict(&v, "SHIFT, a list of set bits (one bit set, random, all bits set)",
                "GF GPU: somewhat faster for one set bit, nothing for random constants, slower "
                "when every bit is set.",
                {8, 16, 32},
                {{"shift_w%u_naive", kS2Constant},
                 {"shift_w%u_opt_setbits", kS2Constant},
                 {"shift_w%u_naive", 0},
                 {"shift_w%u_opt_setbits", 0},
                 {"shift_w%u_naive", ~0u},
                 {"shift_w%u_opt_setbits", ~0u}});
    add_verdict(&v, "GROUP, tables in global or shared memory",
                "GF GPU: shared memory gives a moderate gain.", {8, 16, 32},
                {{"group_w%u_naive", 0}, {"group_w%u_opt_shared", 0}, {"group_w%u_opt", 0}});
    add_verdict(&v, "SPLIT, tables in global or shared memory",
                "GF GPU: shared memory is slower for w = 8 and nearly doubles w = 32.", {8, 16, 32},
                {{"split_w%u_naive", 0}, {"split_w%u_opt_shared", 0}, {"split_w%u_opt", 0}});
    add_verdict(&v, "TABLE, in global or shared memory",
                "GF GPU: shared memory gives a great gain.", {8},
                {{"table_w%u_naive", 0}, {"table_w%u_opt_shared", 0}, {"table_w%u_opt", 0}});
    return v;
}
