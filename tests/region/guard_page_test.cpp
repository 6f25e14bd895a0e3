// SPDX-License-Identifier: BSD-3-Clause
// No access outside the regions: on the host a stray one hits a page that may not be touched; on
// the GPU each region is an allocation of its own, for compute-sanitizer to watch.
#include <algorithm>
#include <cstring>

#include "support/fence.h"
#include "support/row_fixture.h"

namespace {

std::vector<size_t> lengths(Row row) {
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

class GuardPage : public RowTest {
  protected:
    void on_the_host();
    void on_the_device();
};

void GuardPage::on_the_host() {
    Multiplier m = make_multiplier(field(), row());
    const size_t workspace_bytes = info_of(m.get()).workspace_bytes;
    Fence source(8192), destination(8192), tables(std::max<size_t>(workspace_bytes, 1));
    void *workspace = tables.place(workspace_bytes, true);
    Random random;
    for (size_t n : lengths(row()))
        for (int ends = 0; ends < 4; ends++)
            for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
                const uint32_t c = random.symbol(w()) | 2;
                const Bytes in = random.bytes(n), acc = random.bytes(n);
                uint8_t *src = source.place(n, (ends & 1) != 0);
                uint8_t *dst = destination.place(n, (ends & 2) != 0);
                Bytes expected = product_of(field(), c, in);
                if (mode == GFK_XOR)
                    expected = xor_of(expected, acc);
                std::memcpy(src, in.data(), n);
                std::memcpy(dst, acc.data(), n);
                ASSERT_OK(gfk_region_multiply(m.get(), c, src, dst, n, mode, workspace,
                                              workspace_bytes, nullptr));
                ASSERT_TRUE(same(row(), c, expected, Bytes(dst, dst + n), mode));
                count_checked();
            }
}

void GuardPage::on_the_device() {
    Runner runner(field(), row());
    Random random;
    for (size_t n : lengths(row()))
        for (size_t from : {size_t(0), size_t(1), size_t(15)})
            for (size_t to : {size_t(0), size_t(1), size_t(3)}) { // the regions end the allocations
                if (n > 4096 * row()->w && from + to != 0 && from + to != 4)
                    continue; // long ones aligned and with both shifted
                const uint32_t c = random.symbol(w()) | 2;
                const Bytes in = random.bytes(from + n), acc = random.bytes(to + n);
                Memory src(row(), in), dst(row(), acc);
                const gfk_accumulate mode = random.below(2) == 0 ? GFK_SET : GFK_XOR;
                runner.run(c, src.data() + from, dst.data() + to, n, mode);
                Bytes expected = product_of(field(), c, Bytes(in.begin() + from, in.end()));
                if (mode == GFK_XOR)
                    expected = xor_of(expected, Bytes(acc.begin() + to, acc.end()));
                ASSERT_TRUE(same(row(), c, expected, dst.read(to, n), mode));
                count_checked();
            }
}

TEST_P(GuardPage, IsNeverTouched) {
    on_host(row()) ? on_the_host() : on_the_device();
}

PER_ROW(GuardPage, rows());

} // namespace
