/* SPDX-License-Identifier: BSD-3-Clause */
/* BMMA, w = 8: the kernels for its shapes. */
#include "bmma_engine.cuh"

namespace {

using namespace gfk::bmma;

template <int Lanes, int Slots, int Groups, int Blocks, int Ahead, Pack P>
constexpr Row row() {
    return narrow_row<Narrow<Layout<8, Lanes, Slots>, Groups, 128, Blocks, Ahead, P>>();
}
/* Up to 4 * Slots inputs, 4 * Table outputs. */
template <int Slots, int Table, int Threads, int Blocks, int Ahead>
constexpr Row table() {
    return table_row<Wide<Layout<8, 4, Slots>, 1, Threads, Blocks, Ahead, true, Table>>();
}
template <int Slots, int Blocks, int Ahead>
constexpr Row three() {
    return narrow_row<Narrow<Layout<8, 4, Slots, true>, 1, 128, Blocks, Ahead, Pack::fma>>();
}

const Engine<28, 4> engine = {
    {
        row<1, 4, 1, 8, 2, Pack::fma>(),
        row<1, 4, 2, 8, 2, Pack::fma>(),
        row<1, 4, 3, 7, 2, Pack::fma>(),
        row<1, 4, 4, 6, 2, Pack::fma>(),
        /* up to 8 inputs */
        row<1, 6, 1, 6, 1, Pack::fma>(),
        row<1, 6, 2, 5, 1, Pack::fma>(),
        row<1, 6, 3, 5, 1, Pack::fma>(),
        row<2, 3, 2, 6, 2, Pack::fma>(),
        row<1, 8, 1, 5, 1, Pack::fma>(),
        row<1, 8, 2, 5, 1, Pack::fma>(),
        row<1, 8, 3, 3, in_registers, Pack::fma>(),
        row<2, 4, 2, 6, 2, Pack::fma>(),
        /* up to 16 */
        row<2, 6, 1, 5, 2, Pack::fma>(),
        three<3, 8, 3>(),
        row<2, 5, 2, 4, in_registers, Pack::fma>(),
        row<4, 3, 1, 8, 3, Pack::fma>(),
        three<4, 8, 3>(),
        row<4, 4, 1, 8, 3, Pack::fma>(),
        /* up to 31 */
        three<5, 7, 2>(),
        row<4, 5, 1, 7, 2, Pack::fma>(),
        three<6, 6, 2>(),
        row<4, 6, 1, 6, 2, Pack::fma>(),
        three<8, 5, 1>(),
        row<4, 8, 1, 4, 2, Pack::fma>(),
        /* more outputs */
        table<4, 8, 128, 6, 2>(),
        table<8, 8, 128, 5, 2>(),
        table<16, 8, 128, 4, 1>(),
        table<32, 32, 256, 1, 0>(),
    },
    {
        wide_row<Layout<8, 4, 4>, 1, 128, 6, 2>(),
        wide_row<Layout<8, 4, 8>, 1, 128, 5, 2>(),
        wide_row<Layout<8, 4, 16>, 1, 128, 4, 1>(),
        wide_row<Layout<8, 4, 32>, 1, 128, 2, 0>(),
    },
};

} // namespace

extern "C" gfk_status gfk_bmma_w8_accepts(const gfk_field *, size_t rows, size_t cols,
                                          uint64_t *table_bytes, const char **reason) {
    return engine.accepts(rows, cols, table_bytes, reason);
}
extern "C" gfk_status gfk_bmma_w8_create(gfk_product_t product, const gfk_product_desc *) {
    return engine.create(product);
}
extern "C" void gfk_bmma_w8_destroy(gfk_product_t) {}
extern "C" gfk_status gfk_bmma_w8_run(const gfk_product_call *call) {
    return engine.run(call);
}
