/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of bmma_w8 on mma.sync. */
#include "mma.cuh"

const gfk::bmma::Kernel gfk::bmma::mma_w8[] = {
#define GFK_ENGINE_KERNEL(engine, kernel, ...) row_of<Fragment::mma_sync, engine##_##kernel, 8>(),
#include "shapes.def"
};
