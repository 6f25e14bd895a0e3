/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host side of the kernels on warpgroup MMAs has in common: one persistent block for each
 * multiprocessor, which may have all of its shared memory. */
#pragma once

#include <stdlib.h>

#include "bmma_tables.h"
#include "bmma_wgmma.h"
#include "kernels/product/extent.cuh"

extern "C" {
#include "host/device/device.h"
}

namespace gfk {
namespace bmma {

constexpr unsigned most_shared = 227 * 1024; /* of a block */

template <class J, class... More>
gfk_status allow_shared(void (*kernel)(const J, More...)) {
    return status_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          (int)most_shared));
}

/* Of kernel K, whose block takes so many bytes of a region at a time. */
template <class K>
uint64_t persistent_blocks(const Extent &job, const gfk_product_call *call, uint64_t block_bytes) {
    const uint64_t units = divide_up(16 * job.count, block_bytes);
    const uint64_t cut = divide_up(partial_threads(job, K::T::w), K::threads);
    const uint64_t most = (uint64_t)call->product->processors;
    const uint64_t blocks = units < cut ? cut : units;
    return blocks < most ? blocks : most;
}

/* Builds a table of so many words, and uploads it. */
template <class F>
gfk_status upload_table(gfk_product_t p, uint32_t *table, size_t words, F build) {
    uint32_t *built = (uint32_t *)malloc(4 * words);
    if (built == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    build(built, p->info.field.polynomial, p->info.rows, p->info.cols, p->matrix);
    const gfk_status status = gfk_device_upload(table, built, 4 * words);
    free(built);
    return status;
}

} // namespace bmma
} // namespace gfk
