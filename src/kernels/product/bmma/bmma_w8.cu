/* SPDX-License-Identifier: BSD-3-Clause */
/* The BMMA engine of w = 8: which kernel takes which shape, as measured (docs/engines/bmma.md).
 *
 * The tables of the warpgroups' kernel come behind the others, which still take what it does not:
 * regions at different phases, and devices other than 9.0. */
#include "bmma_engine.cuh"
#include "bmma_wgmma.h"

namespace {

using namespace gfk::bmma;

template <int Lanes, int Slots, int Groups, int Threads, int Blocks, Trips T, Pack P = Pack::fma>
constexpr Row row() {
    return narrow_row<Narrow<Layout<8, Lanes, Slots>, Groups, Threads, Blocks, T, P>>();
}
/* Three outputs. */
template <int Slots, int Threads, int Blocks, Trips T, Pack P>
constexpr Row three() {
    return narrow_row<Narrow<Layout<8, 4, Slots, true>, 1, Threads, Blocks, T, P>>();
}
/* Short regions. Words: of a cell. */
template <int Slots, int Words, int Units, int Blocks, Pack P = Pack::fma>
constexpr Row brief() {
    return one_brief_row<Brief<Layout<8, 4, Slots, false, Words>, 1, 1, Units, 128, Blocks, P>>();
}
/* Up to 4 * Slots inputs, 4 * Table outputs. */
template <int Slots, int Table, int Threads, int Blocks, Trips T>
constexpr Row table() {
    return table_row<Wide<Layout<8, 4, Slots>, 1, Threads, Blocks, T, true, Table>>();
}

const Engine<23, 7, 4> engine = {
    {
        row<1, 4, 1, 128, 10, Trips::once>(),
        row<1, 4, 2, 128, 10, Trips::once>(),
        row<1, 4, 3, 128, 8, Trips::once>(),
        row<1, 4, 4, 128, 6, Trips::once>(),
        /* up to 8 inputs */
        row<1, 6, 1, 128, 8, Trips::once>(),
        row<1, 6, 2, 128, 8, Trips::once>(),
        row<1, 6, 3, 128, 7, Trips::once>(),
        row<1, 8, 1, 128, 8, Trips::once>(),
        row<1, 8, 2, 128, 7, Trips::once>(),
        row<1, 8, 3, 128, 7, Trips::once>(),
        row<2, 4, 2, 512, 1, Trips::prefetch>(),
        /* up to 16 */
        three<3, 1024, 1, Trips::prefetch, Pack::permute>(),
        row<2, 5, 2, 512, 1, Trips::prefetch>(),
        row<2, 6, 2, 512, 1, Trips::prefetch>(),
        three<4, 128, 10, Trips::once, Pack::fma>(),
        row<4, 4, 1, 128, 9, Trips::once, Pack::permute>(),
        /* up to 32 */
        three<5, 128, 8, Trips::once, Pack::permute>(),
        row<4, 6, 1, 128, 7, Trips::once>(),
        row<4, 8, 1, 128, 6, Trips::once, Pack::permute>(),
        /* more outputs */
        table<4, 8, 128, 6, Trips::once>(),
        table<8, 8, 128, 7, Trips::once>(),
        table<16, 8, 128, 4, Trips::once>(),
        table<32, 32, 256, 1, Trips::loop>(),
    },
    {
        {brief<2, 2, 1, 12>(), 192, 1, 1},
        {brief<3, 2, 1, 12>(), 192, 1, 1},
        {brief<4, 2, 1, 12>(), 192, 1, 1},
        {brief<6, 2, 1, 10>(), 192, 1, 1},
        {brief<8, 2, 1, 10, Pack::permute>(), 192, 1, 1},
        /* not so short */
        {brief<2, 4, 2, 9>(), 512, 1, 3},
        {brief<3, 4, 1, 12, Pack::permute>(), 512, 9, 1},
    },
    {
        wide_row<Layout<8, 4, 4>, 1, 128, 6, Trips::once>(),
        wide_row<Layout<8, 4, 8>, 1, 128, 6, Trips::once>(),
        wide_row<Layout<8, 4, 16>, 1, 128, 4, Trips::once>(),
        wide_row<Layout<8, 4, 32>, 1, 128, 2, Trips::once>(),
    },
    check_wide<Layout<8, 4, 32>>,
    0,
    0,
};

} // namespace

extern "C" gfk_status gfk_bmma_w8_accepts(gfk_product_info *info, const char **reason) {
    return accepts(engine, wgmma_w8, info->rows, info->cols, &info->table_bytes, reason);
}
extern "C" gfk_status gfk_bmma_w8_create(gfk_product_t p, const gfk_product_desc *) {
    return create(engine, wgmma_w8, p);
}
extern "C" void gfk_bmma_w8_destroy(gfk_product_t) {}
extern "C" gfk_status gfk_bmma_w8_run(const gfk_product_call *call) {
    return run(engine, wgmma_w8, call);
}
