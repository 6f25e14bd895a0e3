/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h with the CUDA runtime, which is linked statically and loads the driver when there is
 * one. */
#include <cuda_runtime_api.h>

#include "device.h"

/* In copy.cu: is there code for the current device in this library? */
bool gfk_device_has_code(void);

static gfk_status status_of(cudaError_t error) {
    switch (error) {
    case cudaSuccess:
        return GFK_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation:
        return GFK_STATUS_OUT_OF_MEMORY;
    default:
        return GFK_STATUS_CUDA;
    }
}

/* Takes a failed call's error out of the runtime, where the caller's own cudaGetLastError would
 * find it. */
static gfk_status forget(cudaError_t error) {
    if (error != cudaSuccess)
        (void)cudaGetLastError();
    return status_of(error);
}

gfk_status gfk_device_resolve(int requested, int *device, const char **reason) {
    int count = 0;
    if (forget(cudaGetDeviceCount(&count)) != GFK_STATUS_SUCCESS || count == 0) {
        *reason = "there is no CUDA driver or no CUDA device";
        return GFK_STATUS_NO_DEVICE;
    }
    if (requested < -1 || requested >= count) {
        *reason = "there is no CUDA device of this number";
        return GFK_STATUS_NO_DEVICE;
    }
    *device = requested;
    const gfk_status status = requested == -1 ? forget(cudaGetDevice(device)) : GFK_STATUS_SUCCESS;
    if (status != GFK_STATUS_SUCCESS)
        *reason = "the CUDA device does not answer";
    return status;
}

gfk_status gfk_device_capability(int device, int *cc) {
    int major = 0, minor = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device))
        return forget(cudaErrorUnknown);
    *cc = 10 * major + minor;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_device_check_range(unsigned cc_min, unsigned cc_max, size_t shared_bytes, int device,
                                  const char **reason) {
    int capability = 0, shared = 0, previous = 0;
    if (gfk_device_capability(device, &capability) != GFK_STATUS_SUCCESS ||
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ||
        cudaGetDevice(&previous) || cudaSetDevice(device)) {
        *reason = "the CUDA device does not answer";
        return forget(cudaErrorUnknown);
    }
    bool has_code = gfk_device_has_code();
    (void)cudaSetDevice(previous);
    unsigned cc = (unsigned)capability;
    *reason = NULL;
    if (!has_code)
        *reason = "this build of the library has no code for the device's compute capability";
    else if ((cc_min && cc < cc_min) || (cc_max && cc > cc_max))
        *reason = "the device's compute capability is outside the kernel's range";
    else if (shared_bytes > (size_t)shared)
        *reason = "the kernel needs more shared memory per block than the device has";
    return *reason ? GFK_STATUS_NOT_SUPPORTED : GFK_STATUS_SUCCESS;
}

gfk_status gfk_device_check(const gfk_kernel_info *info, int device, const char **reason) {
    return gfk_device_check_range(info->cc_min, info->cc_max, info->shared_bytes, device, reason);
}

gfk_status gfk_device_current(int *device) {
    return forget(cudaGetDevice(device));
}

gfk_status gfk_device_select(int device) {
    return forget(cudaSetDevice(device));
}

gfk_status gfk_device_processors(int device, int *processors) {
    return forget(cudaDeviceGetAttribute(processors, cudaDevAttrMultiProcessorCount, device));
}

gfk_status gfk_device_alloc(void **memory, uint64_t bytes) {
    return forget(cudaMalloc(memory, bytes));
}

gfk_status gfk_device_zero(void *memory, size_t bytes, gfk_stream_t stream) {
    return forget(cudaMemsetAsync(memory, 0, bytes, stream));
}

void gfk_device_synchronize(int device) {
    int previous = 0;
    if (cudaGetDevice(&previous) == cudaSuccess && cudaSetDevice(device) == cudaSuccess) {
        (void)forget(cudaDeviceSynchronize());
        (void)cudaSetDevice(previous);
    }
}

gfk_status gfk_device_upload(void *memory, const void *host, size_t bytes) {
    gfk_status status = forget(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice));
    /* From pageable memory cudaMemcpy may return before the last bytes have arrived, which a stream
     * that does not wait for the default stream would notice. */
    return status == GFK_STATUS_SUCCESS ? forget(cudaStreamSynchronize(NULL)) : status;
}

void gfk_device_free(int device, void *memory) {
    int previous = 0;
    if (cudaGetDevice(&previous) == cudaSuccess && cudaSetDevice(device) == cudaSuccess) {
        (void)forget(cudaFree(memory));
        (void)cudaSetDevice(previous);
    }
}

gfk_status gfk_device_clear(const gfk_call *call) {
    return forget(cudaMemsetAsync(call->dst, 0, call->bytes, call->stream));
}
