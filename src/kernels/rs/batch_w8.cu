/* SPDX-License-Identifier: BSD-3-Clause */
/* The batch kernels of w = 8 on tensor cores. */
#include "batch_kernel.cuh"

const gfk::batch::Row gfk::batch::batch_w8[] = {
#define GFK_BATCH_KERNEL(widths, kernel, ...) row_of<8, widths##_##kernel>(#widths "/" #kernel),
#include "batch_shapes.def"
};
