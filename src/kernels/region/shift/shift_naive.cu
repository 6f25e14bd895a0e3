/* SPDX-License-Identifier: BSD-3-Clause */
/* SHIFT, one symbol per thread: the naive rows, and a published step. */
#include "shift_op.cuh"

namespace {

/* The optimized form of the GF GPU report. The first thread of a block lists the set bits of c in
 * shared memory, and all threads shift by the list. In the report the best constants gained and the
 * worst lost. */
template <int W>
struct ShiftSetBits : gfk::ShiftSymbol<W> {
    using gfk::ShiftSymbol<W>::ShiftSymbol;
    static constexpr int threads = 512;
    struct Shared {
        int count, bits[W];
    };

    __device__ void fill(Shared &list) const {
        if (threadIdx.x != 0)
            return;
        int count = 0;
        for (int i = 0; i < W; i++)
            if (this->c >> i & 1)
                list.bits[count++] = i;
        list.count = count;
    }
    __device__ uint32_t operator()(const Shared &list, uint32_t x) const {
        typename gfk::ShiftSymbol<W>::Product product = 0;
        for (int k = 0; k < list.count; k++)
            product ^= (decltype(product))x << list.bits[k];
        return this->reduced(product);
    }
};

} // namespace

GFK_REGION_ROW(shift_w8_naive, launch_naive<gfk::ShiftSymbol<8>>)
GFK_REGION_ROW(shift_w16_naive, launch_naive<gfk::ShiftSymbol<16>>)
GFK_REGION_ROW(shift_w32_naive, launch_naive<gfk::ShiftSymbol<32>>)

GFK_REGION_ROW(shift_w8_opt_setbits, launch_naive<ShiftSetBits<8>>)
GFK_REGION_ROW(shift_w16_opt_setbits, launch_naive<ShiftSetBits<16>>)
GFK_REGION_ROW(shift_w32_opt_setbits, launch_naive<ShiftSetBits<32>>)
