// SPDX-License-Identifier: BSD-3-Clause
// Region multiplies on one thread of the CPU: the references.
#include <cstring>
#include <map>
#include <tuple>

#include "cpu.h"

namespace {

constexpr size_t kConstants = 8;
constexpr double kLongestPass = 0.2; // seconds; sizes stop growing there

// c * src by the host reference of the width; made once and kept.
const unsigned char *reference_product(unsigned w, uint32_t c, size_t bytes) {
    static std::map<std::tuple<unsigned, uint32_t, size_t>, std::vector<unsigned char>> known;
    std::vector<unsigned char> &expected = known[{w, c, bytes}];
    if (expected.empty()) {
        const Multiplier &m = multiplier_of(linked_library(), reference_of(w));
        const Aligned workspace(m.workspace_bytes);
        expected.resize(bytes);
        gfk_check(gfk_region_multiply(m.handle, c, host_buffers(bytes).src, expected.data(), bytes,
                                      GFK_SET, workspace.data(), m.workspace_bytes, nullptr),
                  "the host reference");
    }
    return expected.data();
}

// A prepared workspace for each constant.
std::unique_ptr<Work> make_region(const Library &library, const RegionCase &c, uint64_t seed) {
    auto work = std::make_unique<CallsWork>();
    const Multiplier &m = multiplier_of(library, c.kernel);
    const auto constants = random_constants(c.kernel->w, kConstants, seed);
    const size_t stride = (m.workspace_bytes + 15) / 16 * 16;
    const auto memory = std::make_shared<Aligned>(stride * kConstants);
    const HostBuffers buffers = host_buffers(c.bytes);
    work->status = m.status;
    const Stopwatch watch;
    for (size_t k = 0; k < kConstants && work->status == GFK_STATUS_SUCCESS; k++)
        work->status = library.gfk_region_prepare(m.handle, constants[k],
                                                  memory->data() + k * stride, stride, nullptr);
    const double us = watch.us() / kConstants;
    work->facts = multiplier_facts(m, c.kernel, [us] { return us; });
    work->facts.add("threads", 1);
    work->call = [=, &library, &m](long number) {
        const size_t k = (size_t)number % kConstants;
        const Stopwatch each;
        gfk_check(library.gfk_region_multiply_prepared(
                      m.handle, constants[k], buffers.src, buffers.dst, c.bytes, GFK_SET,
                      memory->data() + k * stride, stride, nullptr),
                  c.kernel->id);
        return each.us();
    };
    work->compare = [=, call = work->call](bool after) -> std::string {
        if (after)
            return "";
        std::memset(buffers.dst, 0xa5, c.bytes);
        call(0);
        const auto *expected = reference_product(c.kernel->w, constants[0], c.bytes);
        return std::memcmp(buffers.dst, expected, c.bytes) == 0 ? ""
                                                                : "differs from the host reference";
    };
    return work;
}

} // namespace

void region_cpu_rows(const std::vector<size_t> &sizes, const Options &options, Rows *rows) {
    std::map<std::string, double> us_per_byte;
    for (size_t bytes : options.sizes.empty() ? sizes : options.sizes)
        for (const gfk_kernel_info *k :
             kernels([](const gfk_kernel_info *k) { return !on_device(k) && !is_giant(k); })) {
            double &rate = us_per_byte[k->id];
            if (rate == 0 && !options.list && !options.quick()) {
                const RegionCase probe = {k, 64 * kKiB, GFK_SET, false};
                const auto work = make_region(linked_library(), probe, options.seed);
                gfk_check(work->start(), k->id);
                work->pass(0);
                rate = work->pass(0) / (double)probe.bytes;
            }
            if (rate * (double)bytes > 1e6 * kLongestPass)
                continue;
            const RegionCase c = {k, bytes, GFK_SET, false};
            Row row = region_row(c);
            row.passes = 0;
            row.make = made_by(make_region, c, options.seed);
            rows->push_back(row);
        }
}

void add_region_cpu_rows(const Options &options, Rows *rows) {
    if (!options.is("region:sizes"))
        return;
    region_cpu_rows(options.quick() ? std::vector<size_t>{kMiB} : default_sizes(), options, rows);
    // The library's fastest way to multiply on all cores: a product of one by one.
    for (unsigned w :
         options.quick() ? std::vector<unsigned>{8, 16, 32} : std::vector<unsigned>()) {
        const gfk_field field = field_of(w);
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        gfk_product_info info;
        desc.device = GFK_CPU;
        gfk_check(gfk_product_query(&field, 1, 1, &desc, &info), "gfk_product_query");
        add_cpu_product(rows, info.engine, nullptr, {w, 1, 1}, options.size_or(64 * kMiB),
                        cpu_cores(), options.seed);
    }
}
