/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of one place, so that a program can be compiled for both: the CPU's, or with ON_GPU that of the
 * current CUDA device. The programs stop at the first error. */
#ifndef PLACE_H
#define PLACE_H

#include <gfk/gfk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef ON_GPU
#include <cuda_runtime_api.h>
#endif

static inline void check(gfk_status status) {
    if (status == GFK_STATUS_SUCCESS)
        return;
    const bool is_skipped = status == GFK_STATUS_NO_DEVICE || status == GFK_STATUS_NOT_SUPPORTED;
    fprintf(stderr, "%s\n", gfk_status_description(status));
    exit(is_skipped ? 77 : 1); /* 77: skipped, to CTest and automake */
}

#ifdef ON_GPU
enum { PLACE = GFK_CURRENT_DEVICE };

static inline void check_cuda(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(1);
    }
}
static inline void *place_alloc(size_t bytes) {
    void *memory;
    check_cuda(cudaMalloc(&memory, bytes));
    return memory;
}
static inline void place_free(void *memory) {
    check_cuda(cudaFree(memory));
}
/* Between any two places; what was written on the default stream before is there. */
static inline void place_copy(void *to, const void *from, size_t bytes) {
    check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}
#else
enum { PLACE = GFK_CPU };

static inline void *place_alloc(size_t bytes) {
    void *memory = aligned_alloc(256, (bytes / 256 + 1) * 256);
    if (memory == NULL)
        exit(1);
    return memory;
}
static inline void place_free(void *memory) {
    free(memory);
}
static inline void place_copy(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
}
#endif
#endif
