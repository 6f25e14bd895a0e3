/* SPDX-License-Identifier: BSD-3-Clause */
/* BMMA, w = 32: the kernels for its shapes. */
#include "bmma_engine.cuh"

namespace {

using namespace gfk::bmma;

template <int Slots, int Groups, int Blocks>
constexpr Row row() {
    return narrow_row<Narrow<Layout<32, 4, Slots>, Groups, 128, Blocks, 2,
                             Slots == 1 ? Pack::fma : Pack::permute>>();
}

const Engine<13, 4> engine = {
    {
        row<1, 2, 8>(),
        row<1, 3, 7>(),
        row<1, 4, 7>(),
        row<2, 2, 6>(),
        row<2, 3, 6>(),
        row<2, 4, 5>(),
        row<3, 2, 5>(),
        row<3, 3, 4>(),
        row<3, 4, 4>(),
        row<4, 2, 5>(),
        row<4, 3, 4>(),
        row<4, 4, 4>(),
        /* up to 32 inputs: the matrix operand in shared memory */
        table_row<Wide<Layout<32, 4, 8>, 2, 128, 4, 1, true, 4>>(),
    },
    {
        wide_row<Layout<32, 4, 2>, 2, 128, 5, 2>(),
        wide_row<Layout<32, 4, 3>, 2, 128, 5, 2>(),
        wide_row<Layout<32, 4, 4>, 2, 128, 4, 2>(),
        wide_row<Layout<32, 4, 8>, 2, 128, 4, 1>(),
    },
};

} // namespace

extern "C" gfk_status gfk_bmma_w32_accepts(const gfk_field *, size_t rows, size_t cols,
                                           uint64_t *table_bytes, const char **reason) {
    return engine.accepts(rows, cols, table_bytes, reason);
}
extern "C" gfk_status gfk_bmma_w32_create(gfk_product_t product, const gfk_product_desc *) {
    return engine.create(product);
}
extern "C" void gfk_bmma_w32_destroy(gfk_product_t) {}
extern "C" gfk_status gfk_bmma_w32_run(const gfk_product_call *call) {
    return engine.run(call);
}
