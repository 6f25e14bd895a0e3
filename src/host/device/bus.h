/* SPDX-License-Identifier: BSD-3-Clause */
/* What the pipeline needs of devices and of the way to them. cuda.c has it; none.c stands in for it
 * in a build without CUDA, and the tests have a third one, which is slow, forgetful and breaks down
 * on request. */
#ifndef GFK_HOST_PIPELINE_BUS_H
#define GFK_HOST_PIPELINE_BUS_H

#include <stdbool.h>
#include <stddef.h>

#include <gfk/types.h>

#include "host/product/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gfk_bus_memory {
    GFK_BUS_PAGEABLE,
    GFK_BUS_PINNED, /* the devices reach it, to its last byte */
    GFK_BUS_DEVICE  /* the CPU does not reach it */
} gfk_bus_memory;

/* ---- devices -----------------------------------------------------------------------------------
 */

/* The device that a number means: -1 is the current one. NOT_SUPPORTED, NO_DEVICE. */
gfk_status gfk_bus_resolve(int requested, int *device);
gfk_status gfk_bus_name(int device, char *name, size_t bytes);
/* Makes a device the calling thread's current one, and goes back to the one before. */
gfk_status gfk_bus_enter(int device, int *previous);
void gfk_bus_leave(int previous);

/* ---- memory ------------------------------------------------------------------------------------
 */

gfk_status gfk_bus_register(void *memory, size_t bytes);
gfk_status gfk_bus_unregister(void *memory);
gfk_bus_memory gfk_bus_memory_of(const void *memory, size_t bytes);
gfk_status gfk_bus_alloc(void **memory, size_t bytes); /* of the current device */
void gfk_bus_free(void *memory);

/* ---- work, on the current device ---------------------------------------------------------------
 */

/* A stream that waits for no other one, and an event for it. */
gfk_status gfk_bus_open(gfk_stream_t *stream, void **event);
void gfk_bus_close(gfk_stream_t stream, void *event);
/* `rows` rows of `bytes` bytes, equally spaced on both sides, from pinned memory or to it. */
gfk_status gfk_bus_send(void *device, size_t pitch, const void *host, size_t stride, size_t bytes,
                        size_t rows, gfk_stream_t stream);
gfk_status gfk_bus_fetch(void *host, size_t stride, const void *device, size_t pitch, size_t bytes,
                         size_t rows, gfk_stream_t stream);
gfk_status gfk_bus_clear(void *device, size_t bytes, gfk_stream_t stream);
gfk_status gfk_bus_record(void *event, gfk_stream_t stream);
gfk_status gfk_bus_wait(void *event);          /* for what was recorded last */
gfk_status gfk_bus_drain(gfk_stream_t stream); /* for everything */

/* A product of the current device, by the engine that is fastest without compiling. */
gfk_status gfk_bus_product(gfk_product_t *product, int device, const gfk_field *field, size_t rows,
                           size_t cols, const uint32_t *matrix);
/* The engine's run, the call being right. */
gfk_status gfk_bus_run(const gfk_product_call *call);

#ifdef __cplusplus
}
#endif
#endif
