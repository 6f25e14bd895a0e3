/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine bmma_w8 knows of the kernels on warpgroup MMAs (compute capability 9.0). */
#pragma once

#include "cells.cuh"

namespace gfk {
namespace bmma {

/* Of the shape's table, in 32-bit words; 0: no such kernel takes it, or none was built. */
size_t wgmma_words(size_t rows, size_t cols);
/* Of a shape that has one: is it the fastest for regions of this length? */
bool wgmma_pays(const gfk_product *product, const Cells &cells);
/* Uploads the table of a product on such a device to `table`, in device memory, 16-byte aligned. */
gfk_status wgmma_create(gfk_product_t product, uint32_t *table);
/* Aligned cells only. */
gfk_status wgmma_run(const gfk_product_call *call, const Cells &cells, const uint32_t *table,
                     const uint32_t *coefficients);

} // namespace bmma
} // namespace gfk
