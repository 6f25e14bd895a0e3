/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <stdio.h>

#include <cuda_runtime_api.h>

static gfk_status status_of(cudaError_t error) {
    if (error == cudaSuccess)
        return GFK_STATUS_SUCCESS;
    (void)cudaGetLastError(); /* clears it */
    return error == cudaErrorMemoryAllocation ? GFK_STATUS_OUT_OF_MEMORY
           : error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
                   error == cudaErrorInvalidDevice
               ? GFK_STATUS_NO_DEVICE
               : GFK_STATUS_CUDA;
}

gfk_status device_begin(int device, char *name, size_t room, uint64_t *free_bytes) {
    struct cudaDeviceProp properties;
    size_t available = 0, total = 0;
    cudaError_t error = cudaSetDevice(device);
    if (error == cudaSuccess)
        error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess)
        error = cudaMemGetInfo(&available, &total);
    if (error == cudaSuccess)
        snprintf(name, room, "%s", properties.name);
    *free_bytes = available;
    return status_of(error);
}

gfk_status device_use(int device) {
    return status_of(cudaSetDevice(device));
}

gfk_status device_alloc(void **memory, uint64_t bytes) {
    return status_of(cudaMalloc(memory, (size_t)bytes));
}

void device_free(void *memory) {
    (void)status_of(cudaFree(memory));
}

gfk_status device_stream_open(gfk_stream_t *stream) {
    return status_of(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
}

void device_stream_close(gfk_stream_t stream) {
    if (stream != NULL)
        (void)status_of(cudaStreamDestroy(stream));
}

gfk_status device_event_open(void **event) {
    cudaEvent_t made = NULL;
    const gfk_status status =
        status_of(cudaEventCreateWithFlags(&made, cudaEventDisableTiming | cudaEventBlockingSync));
    *event = made;
    return status;
}

void device_event_close(void *event) {
    if (event != NULL)
        (void)status_of(cudaEventDestroy(event));
}

gfk_status device_zero(void *memory, size_t bytes, gfk_stream_t stream) {
    return status_of(cudaMemsetAsync(memory, 0, bytes, stream));
}

gfk_status device_send(void *memory, const void *host, size_t bytes, gfk_stream_t stream) {
    return status_of(cudaMemcpyAsync(memory, host, bytes, cudaMemcpyHostToDevice, stream));
}

gfk_status device_fetch(void *host, const void *memory, size_t bytes, gfk_stream_t stream) {
    return status_of(cudaMemcpyAsync(host, memory, bytes, cudaMemcpyDeviceToHost, stream));
}

gfk_status device_record(void *event, gfk_stream_t stream) {
    return status_of(cudaEventRecord(event, stream));
}

gfk_status device_follow(gfk_stream_t stream, void *event) {
    return status_of(cudaStreamWaitEvent(stream, event, 0));
}

gfk_status device_wait(void *event) {
    return status_of(cudaEventSynchronize(event));
}

bool device_passed(void *event) {
    return status_of(cudaEventQuery(event)) == GFK_STATUS_SUCCESS;
}
