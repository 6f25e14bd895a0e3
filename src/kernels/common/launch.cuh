/* SPDX-License-Identifier: BSD-3-Clause */
/* Launching a kernel so that its own error, and no other, comes back as a status. */
#pragma once

#include <cuda_runtime.h>

#include "host/device/device.h"

namespace gfk {

inline gfk_status status_of(cudaError_t error) {
    return gfk_device_status(error);
}

template <class... P, class... A>
gfk_status launch(void (*kernel)(P...), uint64_t blocks, unsigned threads, size_t shared,
                  gfk_stream_t stream, A... arguments) {
    if (blocks > 0x7fffffff)
        return GFK_STATUS_INTERNAL;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    return status_of(cudaLaunchKernelEx(&config, kernel, P(arguments)...));
}

/* Lets a kernel's blocks have so many bytes of dynamic shared memory, on the present device. The
 * limit belongs to the kernel, not to a launch: calls for one kernel must all give the same number,
 * the most that a launch of it takes, because threads launch at the same time. */
template <class... P>
gfk_status allow_shared(void (*kernel)(P...), size_t bytes) {
    return status_of(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
}

} // namespace gfk
