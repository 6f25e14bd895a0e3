/* SPDX-License-Identifier: BSD-3-Clause */
/* The BMMA engine of w = 32: which kernel takes which shape, as measured (docs/engines/bmma.md).
 *
 * The table of the warpgroups' kernel comes behind the others, which still take what it does not:
 * regions at different phases, short ones, and devices other than 9.0. */
#include "bmma_engine.cuh"
#include "bmma_wgmma.h"

namespace {

using namespace gfk::bmma;

template <int Slots, int Groups, int Blocks>
constexpr Row row() {
    return narrow_row<Narrow<Layout<32, 4, Slots>, Groups, 128, Blocks, Trips::prefetch,
                             Slots == 1 ? Pack::fma : Pack::permute>>();
}
/* The matrix operand in shared memory: up to 4 * Slots inputs, 8 outputs. */
template <int Slots, int Units, int Blocks, Trips T>
constexpr Row table() {
    return table_row<Wide<Layout<32, 4, Slots>, Units, 128, Blocks, T, true, 8>>();
}
/* Short regions: cells of two words, a pair of outputs for every warp. */
template <int Slots, int Blocks>
constexpr Row brief() {
    return one_brief_row<
        Brief<Layout<32, 4, Slots, false, 2>, 1, 2, 1, 128, Blocks, Pack::permute>>();
}

const Engine<10, 4, 2> engine = {
    {
        row<1, 2, 6>(),
        row<1, 3, 5>(),
        row<1, 4, 5>(),
        row<2, 2, 5>(),
        row<2, 3, 4>(),
        row<2, 4, 4>(),
        table<3, 2, 8, Trips::once>(),
        table<4, 2, 5, Trips::once>(),
        table<6, 2, 4, Trips::loop>(),
        table<8, 2, 4, Trips::loop>(),
    },
    {
        {brief<2, 12>(), 128, 1, 1},
        {brief<3, 10>(), 128, 1, 1},
        {brief<4, 8>(), 128, 1, 1},
        /* not so short */
        {narrow_row<Narrow<Layout<32, 4, 3>, 4, 64, 8, Trips::prefetch, Pack::permute>>(), 512, 9,
         1},
    },
    {
        wide_row<Layout<32, 4, 4>, 2, 128, 6, Trips::once>(),
        wide_row<Layout<32, 4, 8>, 2, 128, 4, Trips::once>(),
    },
    check_wide<Layout<32, 4, 8>>,
    0,
    0,
};

} // namespace

extern "C" gfk_status gfk_bmma_w32_accepts(gfk_product_info *info, const char **reason) {
    return accepts(engine, wgmma_w32, info->rows, info->cols, &info->table_bytes, reason);
}
extern "C" gfk_status gfk_bmma_w32_create(gfk_product_t p, const gfk_product_desc *) {
    return create(engine, wgmma_w32, p);
}
extern "C" void gfk_bmma_w32_destroy(gfk_product_t) {}
extern "C" gfk_status gfk_bmma_w32_run(const gfk_product_call *call) {
    return run(engine, wgmma_w32, call);
}
