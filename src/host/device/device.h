/* SPDX-License-Identifier: BSD-3-Clause */
/* The little that the host side needs of CUDA. device_cuda.c has it; device_none.c stands in for it
 * in a build without CUDA and answers NOT_SUPPORTED. */
#ifndef GFK_HOST_DEVICE_H
#define GFK_HOST_DEVICE_H

#include "host/region/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The device that a descriptor's number means: -1 is the current one. */
gfk_status gfk_device_resolve(int requested, int *device, const char **reason);
/* Can this device run the row? */
gfk_status gfk_device_check(const gfk_kernel_info *info, int device, const char **reason);
/* Has this device a compute capability from cc_min to cc_max (0: no bound), code in this library,
 * and so much shared memory per block? */
gfk_status gfk_device_check_range(unsigned cc_min, unsigned cc_max, size_t shared_bytes, int device,
                                  const char **reason);
gfk_status gfk_device_current(int *device);
gfk_status gfk_device_select(int device);
gfk_status gfk_device_processors(int device, int *processors);
gfk_status gfk_device_capability(int device, int *cc); /* 10 * major + minor */
gfk_status gfk_device_alloc(void **memory, uint64_t bytes);
/* Zeroes, in the stream's order. */
gfk_status gfk_device_zero(void *memory, size_t bytes, gfk_stream_t stream);
void gfk_device_synchronize(int device);
gfk_status gfk_device_upload(void *memory, const void *host, size_t bytes);
void gfk_device_free(int device, void *memory);
/* The regions of c = 0 and c = 1. */
gfk_status gfk_device_clear(const gfk_call *call);
gfk_run_fn gfk_device_copy;

#ifdef __cplusplus
}
#endif
#endif
