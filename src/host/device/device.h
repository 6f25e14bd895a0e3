/* SPDX-License-Identifier: BSD-3-Clause */
/* The device layer: all calls of CUDA by the host side. device_cuda.c implements this header with
 * the CUDA runtime. device_none.c replaces it in a build without CUDA. The tests have a simulated
 * device with latency and injected faults. */
#ifndef GFK_HOST_DEVICE_H
#define GFK_HOST_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/status.h>
#include <gfk/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the status for a cudaError_t. Clears the runtime's last error, so that the caller's own
 * cudaGetLastError does not report the failure a second time. */
gfk_status gfk_device_status(int error);

/* ---- devices -------------------------------------------------------------------------------- */

/* May a row of the list of kernels or of engines serve a descriptor with this number? `named`: the
 * descriptor names the row, or rows of its side only. */
static inline bool gfk_device_allows(int requested, bool on_host, bool named) {
    return requested >= GFK_CURRENT_DEVICE &&
           (on_host ? named || requested == GFK_CPU : requested != GFK_CPU);
}
/* Returns the reason why a row of the lists of kernels and engines has no functions. Only files
 * that know the build use the function: in a build with CUDA, only the rows with the newest
 * instruction have no functions. */
#ifdef GFK_HAVE_CUDA
#define GFK_NOT_BUILT "built without CLMAD: needs nvcc 13.3"
#else
#define GFK_NOT_BUILT "this build of the library has no CUDA kernels"
#endif

/* Sets *device to the device that the number means; the number is not GFK_CPU. On an error *reason
 * is the reason. Returns SUCCESS, NO_DEVICE or CUDA. */
gfk_status gfk_device_resolve(int requested, int *device, const char **reason);
/* Does the device have a compute capability from cc_min to cc_max (0: no bound), code in this
 * library, and `shared_bytes` of shared memory per block? On an error *reason is the reason. */
gfk_status gfk_device_check(unsigned cc_min, unsigned cc_max, size_t shared_bytes, int device,
                            const char **reason);
gfk_status gfk_device_name(int device, char *name, size_t bytes);
gfk_status gfk_device_processors(int device, int *processors);
gfk_status gfk_device_capability(int device, int *cc); /* 10 * major + minor */
/* Returns how many operations in float the device does in the time of one operation in double. */
gfk_status gfk_device_double_ratio(int device, int *ratio);
/* Is the FP64 unit, which executes the carry-less multiply-add, a large one? The ratio is 2 on data
 * center devices. It is 32 or 64 on other devices, where the instruction has not been measured. */
static inline bool gfk_device_prefers_clmad(int device) {
    int ratio;
    return gfk_device_double_ratio(device, &ratio) == GFK_STATUS_SUCCESS && ratio <= 4;
}

/* Returns SUCCESS if the device is the calling thread's current device, else WRONG_DEVICE. */
gfk_status gfk_device_require_current(int device);
/* May a call on an object at this place, GFK_CPU or a device, use the stream? */
static inline gfk_status gfk_device_check_stream(int place, gfk_stream_t stream) {
    return place != GFK_CPU ? gfk_device_require_current(place)
           : stream == NULL ? GFK_STATUS_SUCCESS
                            : GFK_STATUS_STREAM_ON_HOST;
}
/* Makes the device current and sets *previous to the device before. After an error the device
 * before is current. */
gfk_status gfk_device_enter(int device, int *previous);
/* Makes the device before current again. Returns `status`, or, if `status` is SUCCESS, the status
 * of this change. */
gfk_status gfk_device_leave(int previous, gfk_status status);
/* Waits for all work of a device. */
void gfk_device_synchronize(int device);

/* ---- memory --------------------------------------------------------------------------------- */

gfk_status gfk_device_alloc(void **memory, uint64_t bytes); /* allocates on the current device */
void gfk_device_free(int device, void *memory);             /* NULL is allowed */
/* returns when the copy is complete */
gfk_status gfk_device_upload(void *memory, const void *host, size_t bytes);

typedef enum gfk_memory_kind {
    GFK_MEMORY_PAGEABLE,
    GFK_MEMORY_PINNED, /* devices access all its bytes */
    GFK_MEMORY_DEVICE  /* the CPU does not access it */
} gfk_memory_kind;
gfk_memory_kind gfk_device_memory_kind(const void *memory, size_t bytes);
/* May an object at this place, GFK_CPU or a device, access the memory? Returns true if there are no
 * bytes. */
bool gfk_device_reaches(int place, const void *memory, size_t bytes);
gfk_status gfk_device_register(void *memory, size_t bytes);
gfk_status gfk_device_unregister(void *memory);

/* ---- streams, on the current device --------------------------------------------------------- */

/* Makes a stream that waits for no other stream, and an event for it. */
gfk_status gfk_device_open(gfk_stream_t *stream, void **event);
void gfk_device_close(gfk_stream_t stream, void *event);
gfk_status gfk_device_zero(void *memory, size_t bytes, gfk_stream_t stream);
/* Copies `rows` rows of `bytes` bytes from pinned memory to the device, and back. Rows are `stride`
 * bytes apart in pinned memory and `pitch` bytes on the device. */
gfk_status gfk_device_send(void *device, size_t pitch, const void *host, size_t stride,
                           size_t bytes, size_t rows, gfk_stream_t stream);
gfk_status gfk_device_fetch(void *host, size_t stride, const void *device, size_t pitch,
                            size_t bytes, size_t rows, gfk_stream_t stream);
gfk_status gfk_device_record(void *event, gfk_stream_t stream);
gfk_status gfk_device_wait(void *event);          /* waits for the event's last record */
gfk_status gfk_device_drain(gfk_stream_t stream); /* waits for all work of the stream */

#ifdef __cplusplus
}
#endif
#endif
