/* SPDX-License-Identifier: BSD-3-Clause */
/* The little that the engine needs of CUDA: loading code and launching it. */
#ifndef GFK_XOR_LIBRARY_H
#define GFK_XOR_LIBRARY_H

#include "host/product/xor/ptx.h"

#include <gfk/types.h>

/* Loads machine code, or PTX that ends in a zero, which the driver then compiles now. SUCCESS,
 * OUT_OF_MEMORY, or NOT_SUPPORTED: the driver does not take it. */
gfk_status gfk_xor_library_load(const void *image, void **library, const void **function);
void gfk_xor_library_unload(void *library);

/* One launch. `regions` is the kernel's first parameter. */
gfk_status gfk_xor_launch(const void *function, unsigned threads, const uint64_t *regions,
                          const gfk_xor_shape *shape, gfk_stream_t stream);

#endif
