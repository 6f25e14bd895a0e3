/* SPDX-License-Identifier: BSD-3-Clause */
/* Launching a kernel so that its own error, and no other, comes back as a status. */
#pragma once

#include <cuda_runtime.h>

#include "host/base/sizes.h"
#include "host/device/device.h"
#include "limits.cuh"

namespace gfk {

inline gfk_status status_of(cudaError_t error) {
    return gfk_device_status(error);
}

/* A type that is not deduced from an argument. */
template <class T>
struct Same {
    using type = T;
};

/* The parameters of a kernel have up to 32 KiB. This function takes their addresses and copies
 * nothing. */
template <class... P>
cudaError_t launch_parameters(const cudaLaunchConfig_t &config, void (*kernel)(P...),
                              const typename Same<P>::type &...parameters) {
    void *addresses[sizeof...(P) + 1] = {(void *)&parameters...};
    return cudaLaunchKernelExC(&config, (const void *)kernel, addresses);
}

/* early: the kernel, for compute capability 9.0 and newer, may start before the earlier work on the
 * stream has ended, and calls begin_early. */
template <class... P, class... A>
gfk_status launch_maybe_early(bool early, void (*kernel)(P...), uint64_t blocks, dim3 threads,
                              size_t shared, gfk_stream_t stream, const A &...arguments) {
    if (blocks > most_blocks)
        return GFK_STATUS_INTERNAL;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = early;
    return status_of(launch_parameters(config, kernel, arguments...));
}

template <bool Early = false, class... P, class... A>
gfk_status launch(void (*kernel)(P...), uint64_t blocks, dim3 threads, size_t shared,
                  gfk_stream_t stream, const A &...arguments) {
    return launch_maybe_early(Early, kernel, blocks, threads, shared, stream, arguments...);
}

/* Every thread of a kernel that is launched early calls this before it touches global memory: the
 * call waits for the earlier work on the stream. Only then may the next kernel start early, too,
 * which waits for this kernel alone. Before the call a thread may read memory that no work on a
 * stream writes, and prefetch other memory into the L2 cache. */
__device__ inline void begin_early() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" : : : "memory");
    asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
#endif
}

/* Lets a kernel's blocks have `bytes` bytes of dynamic shared memory, on the present device;
 * NOT_SUPPORTED if the device has less. The limit belongs to the kernel, not to a launch: calls for
 * one kernel must all give the same number, the most that a launch of it takes, because threads
 * launch at the same time. */
template <class... P>
gfk_status allow_shared(void (*kernel)(P...), size_t bytes) {
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    const gfk_status status = status_of(error);
    return error == cudaErrorInvalidValue ? GFK_STATUS_NOT_SUPPORTED : status;
}

} // namespace gfk
