/* SPDX-License-Identifier: BSD-3-Clause */
/* What the place needs of a GPU besides gfk.h: memory, copies, and the order of work. device_cuda.c
 * implements this header with the CUDA runtime, device_none.c replaces it in a build without CUDA,
 * and the tests have a simulated device. Calls work on the calling thread's current device; they
 * return SUCCESS, NO_DEVICE, OUT_OF_MEMORY or CUDA. */
#ifndef GFK_PAR2_DEVICE_H
#define GFK_PAR2_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/status.h>
#include <gfk/types.h>

/* device_begin: makes a device current, starts it, and tells its name and its free memory. */
gfk_status device_begin(int device, char *name, size_t room, uint64_t *free_bytes);
gfk_status device_use(int device); /* makes a device current in another thread */

gfk_status device_alloc(void **memory, uint64_t bytes);
void device_free(void *memory); /* NULL is allowed */

gfk_status device_stream_open(gfk_stream_t *stream);
void device_stream_close(gfk_stream_t stream);
gfk_status device_event_open(void **event);
void device_event_close(void *event);

/* In the order of the stream. `host` is pinned. */
gfk_status device_zero(void *memory, size_t bytes, gfk_stream_t stream);
gfk_status device_send(void *memory, const void *host, size_t bytes, gfk_stream_t stream);
gfk_status device_fetch(void *host, const void *memory, size_t bytes, gfk_stream_t stream);
gfk_status device_record(void *event, gfk_stream_t stream);
gfk_status device_follow(gfk_stream_t stream, void *event); /* later work waits for the event */

gfk_status device_wait(void *event); /* waits for the last record; none: returns at once */
bool device_passed(void *event);     /* has all work ahead of the last record been done? */

#endif
