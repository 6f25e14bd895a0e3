/* SPDX-License-Identifier: BSD-3-Clause */
/* Does this library have code for the current device? The function asks with a kernel of its own,
 * which is compiled for the same architectures as all other kernels. */
#include <cuda_runtime.h>

namespace {
__global__ void probe() {}
} // namespace

extern "C" cudaError_t gfk_device_find_code(void) {
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, probe);
}
