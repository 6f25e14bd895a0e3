/* SPDX-License-Identifier: BSD-3-Clause */
/* SHIFT, one symbol per thread: the naive rows. */
#include "shift_op.cuh"

GFK_REGION_ROW(shift_w8_naive, launch_naive<gfk::ShiftSymbol<8>>)
GFK_REGION_ROW(shift_w16_naive, launch_naive<gfk::ShiftSymbol<16>>)
GFK_REGION_ROW(shift_w32_naive, launch_naive<gfk::ShiftSymbol<32>>)
