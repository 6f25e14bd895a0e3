/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of all GPU examples. The examples stop at the first error and skip without a GPU. */
#ifndef GPU_H
#define GPU_H

#include <cuda_runtime_api.h>
#include <gfk/gfk.h>
#include <stdio.h>
#include <stdlib.h>

static inline void check(gfk_status status) {
    if (status != GFK_STATUS_SUCCESS) {
        fprintf(stderr, "%s\n", gfk_status_description(status));
        exit(1);
    }
}

static inline void check_cuda(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(1);
    }
}

/* A multiplier with the fastest kernel of this width on the current GPU. */
static inline gfk_multiplier_t gpu_multiplier(unsigned w) {
    gfk_field field;
    gfk_multiplier_t multiplier;
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.implementation = GFK_IMPLEMENTATION_OPT;
    check(gfk_field_init(&field, w, 0));
    gfk_status status = gfk_multiplier_create(&multiplier, &field, &desc);
    if (status == GFK_STATUS_NO_DEVICE) {
        printf("skipped: %s\n", gfk_status_description(status));
        exit(0);
    }
    check(status);
    return multiplier;
}

#endif
