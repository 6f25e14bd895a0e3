/* SPDX-License-Identifier: BSD-3-Clause */
/* BMMA, w = 16: the kernels for its shapes. */
#include "bmma_engine.cuh"

namespace {

using namespace gfk::bmma;

template <int Slots, int Blocks, Trips T, Pack P>
constexpr Row row() {
    return narrow_row<Narrow<Layout<16, 4, Slots>, 1, 128, Blocks, T, P>>();
}
/* Short regions. */
template <int Slots, int Threads, int Blocks, Pack P>
constexpr Row brief() {
    return one_brief_row<Brief<Layout<16, 4, Slots, false, 2>, 1, 1, 1, Threads, Blocks, P>>();
}

const Engine<4, 4, 3> engine = {
    {
        row<2, 6, Trips::loop, Pack::fma>(),
        row<4, 10, Trips::once, Pack::permute>(), /* 256 bits, a count too large for a byte */
        row<6, 5, Trips::once, Pack::permute>(),
        row<8, 4, Trips::once, Pack::permute>(),
    },
    {
        {brief<2, 64, 18, Pack::fma>(), 192, 1, 1},
        {brief<3, 64, 18, Pack::fma>(), 192, 1, 1},
        {brief<4, 64, 20, Pack::permute>(), 192, 1, 1},
        /* not so short */
        {narrow_row<Narrow<Layout<16, 4, 4>, 1, 64, 16, Trips::once, Pack::permute>>(), 512, 1, 1},
    },
    {
        wide_row<Layout<16, 4, 4>, 2, 128, 5, Trips::once>(),
        wide_row<Layout<16, 4, 8>, 1, 128, 4, Trips::once>(),
        wide_row<Layout<16, 4, 16>, 1, 128, 3, Trips::once>(),
    },
    check_wide<Layout<16, 4, 16>>,
    0,
    0,
};

} // namespace

extern "C" gfk_status gfk_bmma_w16_accepts(gfk_product_info *info, const char **reason) {
    return engine.accepts(info->rows, info->cols, &info->table_bytes, reason);
}
extern "C" gfk_status gfk_bmma_w16_create(gfk_product_t product, const gfk_product_desc *) {
    return engine.create(product);
}
extern "C" void gfk_bmma_w16_destroy(gfk_product_t) {}
extern "C" gfk_status gfk_bmma_w16_run(const gfk_product_call *call) {
    return engine.run(call);
}
