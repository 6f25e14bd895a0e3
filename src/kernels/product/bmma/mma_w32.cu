/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of bmma_w32 on mma.sync. */
#include "mma.cuh"

const gfk::bmma::Kernel gfk::bmma::mma_w32[] = {
#define GFK_ENGINE_KERNEL(engine, kernel, ...) row_of<Fragment::mma_sync, engine##_##kernel, 32>(),
#include "shapes.def"
};
