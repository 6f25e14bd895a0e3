/* SPDX-License-Identifier: BSD-3-Clause */
/* Through the CUDA runtime alone: no link to the driver's library. */
#include <cuda_runtime_api.h>

#include "code.h"

static gfk_status status_of(cudaError_t error, gfk_status otherwise) {
    if (error == cudaSuccess)
        return GFK_STATUS_SUCCESS;
    (void)cudaGetLastError(); /* the caller learns it from the status, not a second time */
    return error == cudaErrorMemoryAllocation ? GFK_STATUS_OUT_OF_MEMORY : otherwise;
}

gfk_status gfk_xor_library_load(const void *image, void **library, const void **function) {
    cudaLibrary_t loaded = NULL;
    cudaKernel_t kernel = NULL;
    cudaError_t error = cudaLibraryLoadData(&loaded, image, NULL, NULL, 0, NULL, NULL, 0);
    if (error != cudaSuccess)
        return status_of(error, GFK_STATUS_NOT_SUPPORTED);
    error = cudaLibraryGetKernel(&kernel, loaded, GFK_XOR_KERNEL);
    if (error == cudaSuccess) {
        /* Code is put on the device when it is first asked for. That is to be now: here an error
         * can still be answered, and the first run may be in the capture of a graph. */
        struct cudaFuncAttributes attributes;
        error = cudaFuncGetAttributes(&attributes, (const void *)kernel);
    }
    if (error != cudaSuccess) {
        (void)cudaLibraryUnload(loaded);
        return status_of(error, GFK_STATUS_NOT_SUPPORTED);
    }
    *library = loaded;
    *function = (const void *)kernel;
    return GFK_STATUS_SUCCESS;
}

void gfk_xor_library_unload(void *library) {
    (void)status_of(cudaLibraryUnload((cudaLibrary_t)library), GFK_STATUS_CUDA);
}

gfk_status gfk_xor_launch(const void *function, unsigned threads, const uint64_t *regions,
                          const gfk_xor_shape *shape, gfk_stream_t stream) {
    const unsigned blocks = shape->blocks + (shape->edges != 0);
    const cudaLaunchConfig_t config = {
        .gridDim = {blocks, 1, 1}, .blockDim = {threads, 1, 1}, .stream = stream};
    void *arguments[] = {(void *)(uintptr_t)regions, (void *)(uintptr_t)shape};
    return status_of(cudaLaunchKernelExC(&config, function, arguments), GFK_STATUS_CUDA);
}
