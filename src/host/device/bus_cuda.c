/* SPDX-License-Identifier: BSD-3-Clause */
/* bus.h with the CUDA runtime. */
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "bus.h"
#include "device.h"

/* Below this many bytes a row's copy costs more to order than to do, so that a rectangle is ordered
 * instead; above it the copy engines are at full speed row by row. */
enum { SMALL_ROW = 256 << 10, MOST_PITCH = 0x7fffffff };

/* Takes a failed call's error out of the runtime, where the caller's own cudaGetLastError would
 * find it. */
static gfk_status forget(cudaError_t error) {
    if (error == cudaSuccess)
        return GFK_STATUS_SUCCESS;
    (void)cudaGetLastError();
    return error == cudaErrorMemoryAllocation ? GFK_STATUS_OUT_OF_MEMORY : GFK_STATUS_CUDA;
}

gfk_status gfk_bus_resolve(int requested, int *device) {
    const char *reason;
    return gfk_device_resolve(requested, device, &reason);
}

gfk_status gfk_bus_name(int device, char *name, size_t bytes) {
    struct cudaDeviceProp properties;
    const gfk_status status = forget(cudaGetDeviceProperties(&properties, device));
    if (status == GFK_STATUS_SUCCESS)
        (void)snprintf(name, bytes, "%s", properties.name);
    return status;
}

gfk_status gfk_bus_enter(int device, int *previous) {
    gfk_status status = forget(cudaGetDevice(previous));
    if (status != GFK_STATUS_SUCCESS)
        return status;
    status = forget(cudaSetDevice(device));
    if (status != GFK_STATUS_SUCCESS) /* it may be current although its context cannot be made */
        gfk_bus_leave(*previous);
    return status;
}

void gfk_bus_leave(int previous) {
    (void)forget(cudaSetDevice(previous));
}

/* ---- memory ------------------------------------------------------------------------------------
 */

gfk_status gfk_bus_register(void *memory, size_t bytes) {
    const cudaError_t error = cudaHostRegister(memory, bytes, cudaHostRegisterPortable);
    const gfk_status status = forget(error);
    switch (error) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
        return GFK_STATUS_NO_DEVICE;
    case cudaErrorHostMemoryAlreadyRegistered:
        return GFK_STATUS_INVALID_ARGUMENT;
    case cudaErrorInvalidValue:
    case cudaErrorNotSupported:
        return GFK_STATUS_NOT_SUPPORTED;
    default:
        return status;
    }
}

gfk_status gfk_bus_unregister(void *memory) {
    const cudaError_t error = cudaHostUnregister(memory);
    const gfk_status status = forget(error);
    switch (error) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
        return GFK_STATUS_NO_DEVICE;
    case cudaErrorHostMemoryNotRegistered:
    case cudaErrorInvalidValue:
        return GFK_STATUS_INVALID_ARGUMENT;
    default:
        return status;
    }
}

/* The kind of one address, and the address by which devices know it. */
static gfk_bus_memory kind_of(const void *memory, const void **seen) {
    struct cudaPointerAttributes attributes;
    if (forget(cudaPointerGetAttributes(&attributes, memory)) != GFK_STATUS_SUCCESS)
        return GFK_BUS_PAGEABLE;
    *seen = attributes.devicePointer;
    if (attributes.type == cudaMemoryTypeDevice)
        return GFK_BUS_DEVICE;
    return attributes.type == cudaMemoryTypeHost && attributes.devicePointer != NULL
               ? GFK_BUS_PINNED
               : GFK_BUS_PAGEABLE;
}

gfk_bus_memory gfk_bus_memory_of(const void *memory, size_t bytes) {
    const void *begin = NULL, *end = NULL;
    const gfk_bus_memory first = kind_of(memory, &begin);
    const gfk_bus_memory last = kind_of((const char *)memory + bytes - 1, &end);
    if (first == GFK_BUS_DEVICE || last == GFK_BUS_DEVICE)
        return GFK_BUS_DEVICE;
    return first == GFK_BUS_PINNED && last == GFK_BUS_PINNED &&
                   (uintptr_t)end - (uintptr_t)begin == bytes - 1
               ? GFK_BUS_PINNED
               : GFK_BUS_PAGEABLE;
}

gfk_status gfk_bus_alloc(void **memory, size_t bytes) {
    return forget(cudaMalloc(memory, bytes));
}

void gfk_bus_free(void *memory) {
    (void)forget(cudaFree(memory));
}

/* ---- work --------------------------------------------------------------------------------------
 */

gfk_status gfk_bus_open(gfk_stream_t *stream, void **event) {
    gfk_stream_t made = NULL;
    cudaEvent_t mark = NULL;
    gfk_status status = forget(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
    if (status != GFK_STATUS_SUCCESS)
        return status;
    /* The thread that waits for an event leaves its core to those that copy and compute. */
    status =
        forget(cudaEventCreateWithFlags(&mark, cudaEventDisableTiming | cudaEventBlockingSync));
    if (status != GFK_STATUS_SUCCESS) {
        (void)forget(cudaStreamDestroy(made));
        return status;
    }
    *stream = made;
    *event = mark;
    return GFK_STATUS_SUCCESS;
}

void gfk_bus_close(gfk_stream_t stream, void *event) {
    (void)forget(cudaEventDestroy((cudaEvent_t)event));
    (void)forget(cudaStreamDestroy(stream));
}

static gfk_status copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes,
                       size_t rows, enum cudaMemcpyKind kind, gfk_stream_t stream) {
    if (rows > 1 && bytes <= SMALL_ROW && to_pitch <= MOST_PITCH && from_pitch <= MOST_PITCH)
        return forget(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, rows, kind, stream));
    for (size_t i = 0; i < rows; i++) {
        const gfk_status status = forget(cudaMemcpyAsync(
            (char *)to + i * to_pitch, (const char *)from + i * from_pitch, bytes, kind, stream));
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_bus_send(void *device, size_t pitch, const void *host, size_t stride, size_t bytes,
                        size_t rows, gfk_stream_t stream) {
    return copy(device, pitch, host, stride, bytes, rows, cudaMemcpyHostToDevice, stream);
}

gfk_status gfk_bus_fetch(void *host, size_t stride, const void *device, size_t pitch, size_t bytes,
                         size_t rows, gfk_stream_t stream) {
    return copy(host, stride, device, pitch, bytes, rows, cudaMemcpyDeviceToHost, stream);
}

gfk_status gfk_bus_clear(void *device, size_t bytes, gfk_stream_t stream) {
    return forget(cudaMemsetAsync(device, 0, bytes, stream));
}

gfk_status gfk_bus_record(void *event, gfk_stream_t stream) {
    return forget(cudaEventRecord((cudaEvent_t)event, stream));
}

gfk_status gfk_bus_wait(void *event) {
    return forget(cudaEventSynchronize((cudaEvent_t)event));
}

gfk_status gfk_bus_drain(gfk_stream_t stream) {
    return forget(cudaStreamSynchronize(stream));
}

gfk_status gfk_bus_product(gfk_product_t *product, int device, const gfk_field *field, size_t rows,
                           size_t cols, const uint32_t *matrix) {
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    desc.device = device;
    return gfk_product_create(product, field, rows, cols, matrix, &desc);
}

gfk_status gfk_bus_run(const gfk_product_call *call) {
    return call->product->engine->run(call);
}
