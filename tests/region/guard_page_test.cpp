// SPDX-License-Identifier: BSD-3-Clause
// A product by a constant accesses nothing outside its regions and its workspace.
#include <algorithm>

#include "support/guarded_regions.h"

namespace {

std::vector<size_t> lengths_in_fences(Row row) {
    const size_t z = row->w / 8;
    std::vector<size_t> list;
    const size_t step = !options.reduced ? 1 : on_host(row) ? 7 : 21;
    for (size_t symbols = 1; symbols <= 64; symbols += step)
        list.push_back(symbols * z);
    if (!on_host(row)) // enough for full tiles; the host rows have none
        list.push_back(std::min(1060 * row->tile_bytes, size_t(9) << 20) + 5 * z);
    if (!on_host(row) && options.reduced) { // compute-sanitizer takes its time
        list.push_back(4096 + z);
        return list;
    }
    for (size_t bytes : {128 + z, 256 - z, 512 + 3 * z, 1024 - z, 4096 - z, size_t(4096), 4096 + z})
        list.push_back(bytes);
    return list;
}

class GuardPage : public RowTest {};

TEST_P(GuardPage, IsNeverTouched) {
    const bool host = on_host(row());
    Multiplier m = make_multiplier(field(), row());
    const size_t workspace_bytes = info_of(m.get()).workspace_bytes;
    const LoneRegion workspace(host, Bytes(workspace_bytes), 0, true);
    Random random;
    const auto run = [&](size_t n, const LoneRegion &src, const Bytes &in, const LoneRegion &dst,
                         const Bytes &acc, gfk_accumulate mode) {
        const uint32_t c = random.symbol(w()) | 2;
        ASSERT_OK(gfk_region_multiply(m.get(), c, src.data(), dst.data(), n, mode, workspace.data(),
                                      workspace_bytes, nullptr));
        const Bytes product = product_of(field(), c, in);
        ASSERT_TRUE(
            same(row(), c, mode == GFK_XOR ? xor_of(product, acc) : product, dst.read(), mode));
        count_checked();
    };
    // Both ends of fences; on a device the ends of allocations, at several phases.
    for (size_t n : lengths_in_fences(row()))
        for (size_t from : host ? Indices{0, 1} : Indices{0, 1, 15})
            for (size_t to : host ? Indices{0, 1} : Indices{0, 1, 3}) {
                if (!host && n > 4096 * row()->w && from + to != 0 && from + to != 4)
                    continue; // long ones aligned and with both shifted
                const Bytes in = random.bytes(n), acc = random.bytes(n);
                const LoneRegion src(host, in, from, from != 0);
                std::vector<gfk_accumulate> modes = {GFK_SET, GFK_XOR};
                if (!host) // one of them: allocating takes long
                    modes = {random.below(2) == 0 ? GFK_SET : GFK_XOR};
                for (gfk_accumulate mode : modes) {
                    const LoneRegion dst(host, acc, to, to != 0);
                    ASSERT_NO_FATAL_FAILURE(run(n, src, in, dst, acc, mode));
                }
            }
}

PER_ROW(GuardPage, rows());

} // namespace
