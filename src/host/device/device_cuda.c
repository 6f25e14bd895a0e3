/* SPDX-License-Identifier: BSD-3-Clause */
/* The device layer with the CUDA runtime. The runtime is linked statically and loads the driver if
 * there is one, so the library has no link to the driver's library. */
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "device.h"
#include "host/base/status.h"

/* device_code.cu: returns an error if this library has no code for the current device. */
cudaError_t gfk_device_find_code(void);

/* A failed call leaves its error in the runtime, where the caller's own cudaGetLastError would
 * find it. */
static void forget(cudaError_t error) {
    if (error != cudaSuccess)
        (void)cudaGetLastError();
}

static gfk_status status_of(cudaError_t error) {
    forget(error);
    switch (error) {
    case cudaSuccess:
        return GFK_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation:
        return GFK_STATUS_OUT_OF_MEMORY;
    default:
        return GFK_STATUS_CUDA;
    }
}

gfk_status gfk_device_status(int error) {
    return status_of((cudaError_t)error);
}

/* ---- devices -------------------------------------------------------------------------------- */

/* The runtime returns the same error if there is no driver and if the driver is too old. */
static const char *why_no_device(cudaError_t error) {
    int driver = 0;
    forget(cudaDriverGetVersion(&driver));
    if (error != cudaErrorInsufficientDriver || driver == 0)
        return "there is no CUDA driver or no CUDA device";
    return CUDART_VERSION >= 13000
               ? "the driver is too old for this build of the library: it needs 580 or newer"
               : "the driver is too old for this build of the library: it needs 525 or newer";
}

gfk_status gfk_device_resolve(int requested, int *device, const char **reason) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (status_of(error) != GFK_STATUS_SUCCESS || count == 0) {
        *reason = why_no_device(error);
        return GFK_STATUS_NO_DEVICE;
    }
    *reason = "there is no CUDA device of this number";
    if (requested >= count)
        return GFK_STATUS_NO_DEVICE;
    *reason = "the CUDA device does not answer";
    *device = requested;
    if (requested == GFK_CURRENT_DEVICE)
        RETURN_IF_ERROR(status_of(cudaGetDevice(device)));
    *reason = NULL;
    return GFK_STATUS_SUCCESS;
}

static gfk_status attribute(int device, enum cudaDeviceAttr which, int *value) {
    return status_of(cudaDeviceGetAttribute(value, which, device));
}

gfk_status gfk_device_capability(int device, int *cc) {
    int major, minor;
    RETURN_IF_ERROR(attribute(device, cudaDevAttrComputeCapabilityMajor, &major));
    RETURN_IF_ERROR(attribute(device, cudaDevAttrComputeCapabilityMinor, &minor));
    *cc = 10 * major + minor;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_device_double_ratio(int device, int *ratio) {
    return attribute(device, cudaDevAttrSingleToDoublePrecisionPerfRatio, ratio);
}

gfk_status gfk_device_check(unsigned cc_min, unsigned cc_max, size_t shared_bytes, int device,
                            const char **reason) {
    int capability, shared, previous;
    *reason = "the CUDA device does not answer";
    RETURN_IF_ERROR(gfk_device_capability(device, &capability));
    RETURN_IF_ERROR(attribute(device, cudaDevAttrMaxSharedMemoryPerBlockOptin, &shared));
    RETURN_IF_ERROR(gfk_device_enter(device, &previous));
    const gfk_status code = status_of(gfk_device_find_code());
    (void)gfk_device_leave(previous, code);
    const unsigned cc = (unsigned)capability;
    *reason = NULL;
    if (code != GFK_STATUS_SUCCESS)
        *reason = "this build of the library has no code for the device's compute capability";
    else if ((cc_min && cc < cc_min) || (cc_max && cc > cc_max))
        *reason = "the device's compute capability is outside the kernel's range";
    else if (shared_bytes > (size_t)shared)
        *reason = "the kernel needs more shared memory per block than the device has";
    return *reason ? GFK_STATUS_NOT_SUPPORTED : GFK_STATUS_SUCCESS;
}

gfk_status gfk_device_name(int device, char *name, size_t bytes) {
    struct cudaDeviceProp properties;
    RETURN_IF_ERROR(status_of(cudaGetDeviceProperties(&properties, device)));
    (void)snprintf(name, bytes, "%s", properties.name);
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_device_processors(int device, int *processors) {
    return attribute(device, cudaDevAttrMultiProcessorCount, processors);
}

gfk_status gfk_device_require_current(int device) {
    int current;
    RETURN_IF_ERROR(status_of(cudaGetDevice(&current)));
    return current == device ? GFK_STATUS_SUCCESS : GFK_STATUS_WRONG_DEVICE;
}

gfk_status gfk_device_enter(int device, int *previous) {
    RETURN_IF_ERROR(status_of(cudaGetDevice(previous)));
    const gfk_status status = status_of(cudaSetDevice(device));
    /* The device may be current although its context cannot be made. */
    return status == GFK_STATUS_SUCCESS ? status : gfk_device_leave(*previous, status);
}

gfk_status gfk_device_leave(int previous, gfk_status status) {
    const gfk_status back = status_of(cudaSetDevice(previous));
    return status == GFK_STATUS_SUCCESS ? back : status;
}

void gfk_device_synchronize(int device) {
    int previous;
    if (gfk_device_enter(device, &previous) == GFK_STATUS_SUCCESS)
        (void)gfk_device_leave(previous, status_of(cudaDeviceSynchronize()));
}

/* ---- memory --------------------------------------------------------------------------------- */

gfk_status gfk_device_alloc(void **memory, uint64_t bytes) {
    return status_of(cudaMalloc(memory, bytes));
}

void gfk_device_free(int device, void *memory) {
    int previous;
    if (memory != NULL && gfk_device_enter(device, &previous) == GFK_STATUS_SUCCESS)
        (void)gfk_device_leave(previous, status_of(cudaFree(memory)));
}

gfk_status gfk_device_upload(void *memory, const void *host, size_t bytes) {
    RETURN_IF_ERROR(status_of(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice)));
    /* From pageable memory cudaMemcpy may return before the last bytes have arrived, which a stream
     * that does not wait for the default stream would notice. */
    return status_of(cudaStreamSynchronize(NULL));
}

/* Returns the kind of one address, and the address by which devices know it. */
static gfk_memory_kind kind_of(const void *memory, const void **seen) {
    struct cudaPointerAttributes attributes;
    if (status_of(cudaPointerGetAttributes(&attributes, memory)) != GFK_STATUS_SUCCESS)
        return GFK_MEMORY_PAGEABLE;
    *seen = attributes.devicePointer;
    if (attributes.type == cudaMemoryTypeDevice)
        return GFK_MEMORY_DEVICE;
    return attributes.type == cudaMemoryTypeHost && attributes.devicePointer != NULL
               ? GFK_MEMORY_PINNED
               : GFK_MEMORY_PAGEABLE;
}

gfk_memory_kind gfk_device_memory_kind(const void *memory, size_t bytes) {
    const void *begin = NULL, *end = NULL;
    const gfk_memory_kind first = kind_of(memory, &begin);
    const gfk_memory_kind last = kind_of((const char *)memory + bytes - 1, &end);
    if (first == GFK_MEMORY_DEVICE || last == GFK_MEMORY_DEVICE)
        return GFK_MEMORY_DEVICE;
    return first == GFK_MEMORY_PINNED && last == GFK_MEMORY_PINNED &&
                   (uintptr_t)end - (uintptr_t)begin == bytes - 1
               ? GFK_MEMORY_PINNED
               : GFK_MEMORY_PAGEABLE;
}

static bool reaches(int place, const void *memory) {
    struct cudaPointerAttributes attributes;
    if (status_of(cudaPointerGetAttributes(&attributes, memory)) != GFK_STATUS_SUCCESS)
        return place == GFK_CPU; /* CUDA does not know the memory, or there is no CUDA */
    switch (attributes.type) {
    case cudaMemoryTypeManaged:
        return true;
    case cudaMemoryTypeDevice:
        return attributes.device == place;
    default:
        return place == GFK_CPU || attributes.devicePointer == memory;
    }
}

bool gfk_device_reaches(int place, const void *memory, size_t bytes) {
    return bytes == 0 ||
           (reaches(place, memory) && reaches(place, (const unsigned char *)memory + bytes - 1));
}

/* Returns the status for an error of registering or unregistering memory. */
static gfk_status registration(cudaError_t error, cudaError_t wrong_memory) {
    const gfk_status status = status_of(error);
    if (error == wrong_memory)
        return GFK_STATUS_INVALID_ARGUMENT;
    return error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
                   error == cudaErrorInitializationError
               ? GFK_STATUS_NO_DEVICE
               : status;
}

gfk_status gfk_device_register(void *memory, size_t bytes) {
    const cudaError_t error = cudaHostRegister(memory, bytes, cudaHostRegisterPortable);
    const gfk_status status = registration(error, cudaErrorHostMemoryAlreadyRegistered);
    return error == cudaErrorInvalidValue || error == cudaErrorNotSupported
               ? GFK_STATUS_NOT_SUPPORTED
               : status;
}

gfk_status gfk_device_unregister(void *memory) {
    const cudaError_t error = cudaHostUnregister(memory);
    const gfk_status status = registration(error, cudaErrorHostMemoryNotRegistered);
    return error == cudaErrorInvalidValue ? GFK_STATUS_INVALID_ARGUMENT : status;
}

/* ---- streams -------------------------------------------------------------------------------- */

gfk_status gfk_device_open(gfk_stream_t *stream, void **event) {
    gfk_stream_t made = NULL;
    cudaEvent_t mark = NULL;
    RETURN_IF_ERROR(status_of(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking)));
    /* The thread that waits for an event leaves its core to those that copy and compute. */
    const gfk_status status =
        status_of(cudaEventCreateWithFlags(&mark, cudaEventDisableTiming | cudaEventBlockingSync));
    *stream = made;
    *event = mark;
    if (status != GFK_STATUS_SUCCESS)
        forget(cudaStreamDestroy(made));
    return status;
}

void gfk_device_close(gfk_stream_t stream, void *event) {
    forget(cudaEventDestroy((cudaEvent_t)event));
    forget(cudaStreamDestroy(stream));
}

gfk_status gfk_device_zero(void *memory, size_t bytes, gfk_stream_t stream) {
    return status_of(cudaMemsetAsync(memory, 0, bytes, stream));
}

/* If a row has less than SMALL_ROW bytes, ordering its copy takes longer than the copy, so the rows
 * are ordered together as a rectangle. If a row is longer, the copy engines are at full speed row
 * by row. */
static gfk_status copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t bytes, size_t rows, enum cudaMemcpyKind kind,
                            gfk_stream_t stream) {
    enum { SMALL_ROW = 256 << 10, MOST_PITCH = 0x7fffffff };
    if (to_pitch == bytes && from_pitch == bytes) {
        bytes *= rows;
        rows = 1;
    }
    if (rows > 1 && bytes <= SMALL_ROW && to_pitch <= MOST_PITCH && from_pitch <= MOST_PITCH)
        return status_of(
            cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, rows, kind, stream));
    for (size_t i = 0; i < rows; i++)
        RETURN_IF_ERROR(status_of(cudaMemcpyAsync(
            (char *)to + i * to_pitch, (const char *)from + i * from_pitch, bytes, kind, stream)));
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_device_send(void *device, size_t pitch, const void *host, size_t stride,
                           size_t bytes, size_t rows, gfk_stream_t stream) {
    return copy_rows(device, pitch, host, stride, bytes, rows, cudaMemcpyHostToDevice, stream);
}

gfk_status gfk_device_fetch(void *host, size_t stride, const void *device, size_t pitch,
                            size_t bytes, size_t rows, gfk_stream_t stream) {
    return copy_rows(host, stride, device, pitch, bytes, rows, cudaMemcpyDeviceToHost, stream);
}

gfk_status gfk_device_record(void *event, gfk_stream_t stream) {
    return status_of(cudaEventRecord((cudaEvent_t)event, stream));
}

gfk_status gfk_device_wait(void *event) {
    return status_of(cudaEventSynchronize((cudaEvent_t)event));
}

gfk_status gfk_device_drain(gfk_stream_t stream) {
    return status_of(cudaStreamSynchronize(stream));
}
