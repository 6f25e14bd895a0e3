/* SPDX-License-Identifier: BSD-3-Clause */
/* SHIFT, naive: the textbook's loops, one symbol per thread. */
#include "shift_op.cuh"

extern "C" gfk_status gfk_shift_w8_naive(const gfk_call *call) {
    return gfk::launch_shift_symbols<8>(call);
}
extern "C" gfk_status gfk_shift_w16_naive(const gfk_call *call) {
    return gfk::launch_shift_symbols<16>(call);
}
extern "C" gfk_status gfk_shift_w32_naive(const gfk_call *call) {
    return gfk::launch_shift_symbols<32>(call);
}
