/* SPDX-License-Identifier: BSD-3-Clause */
/* The batch kernels of w = 16 on tensor cores. */
#include "batch_kernel.cuh"

const gfk::batch::Row gfk::batch::batch_w16[] = {
#define GFK_BATCH_KERNEL(widths, kernel, ...) row_of<16, widths##_##kernel>(#widths "/" #kernel),
#include "batch_shapes.def"
};
