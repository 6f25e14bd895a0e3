/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of bmma_w16 on mma.sync. */
#include "mma.cuh"

const gfk::bmma::Kernel gfk::bmma::mma_w16[] = {
#define GFK_ENGINE_KERNEL(engine, kernel, ...) row_of<Fragment::mma_sync, engine##_##kernel, 16>(),
#include "shapes.def"
};
