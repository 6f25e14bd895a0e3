// SPDX-License-Identifier: BSD-3-Clause
#include "device.h"

#include <cstdlib>

#include "arguments.h"
#include "status.h"
#ifdef GFK_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace gfk {
#ifdef GFK_HAVE_CUDA
static void check_cuda(cudaError_t error) {
    if (error == cudaSuccess)
        return;
    (void)cudaGetLastError();
    nb::gil_scoped_acquire acquire;
    const bool no_device =
        error == cudaErrorInvalidDevice || error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
    raise(no_device ? GFK_STATUS_NO_DEVICE : GFK_STATUS_CUDA, "CUDA: %s", cudaGetErrorString(error));
}

DeviceGuard::DeviceGuard(int device) {
    int former = 0;
    if (device == GFK_CPU)
        return;
    check_cuda(cudaGetDevice(&former));
    if (former == device)
        return;
    check_cuda(cudaSetDevice(device));
    former_ = former;
}

DeviceGuard::~DeviceGuard() {
    if (former_ != GFK_CPU)
        (void)cudaSetDevice(former_);
}

int device_of(const void *memory) {
    cudaPointerAttributes attributes = {};
    check_cuda(cudaPointerGetAttributes(&attributes, memory));
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged ? attributes.device
                                                                                               : GFK_CPU;
}

void wait_for(gfk_stream_t stream) {
    check_cuda(cudaStreamSynchronize(stream));
}

static int current_device() {
    int device = 0;
    check_cuda(cudaGetDevice(&device));
    return device;
}

void finish(int device) noexcept {
    int former = 0;
    if (device == GFK_CPU)
        return;
    nb::gil_scoped_release release;
    if (cudaGetDevice(&former) == cudaSuccess && cudaSetDevice(device) == cudaSuccess) {
        (void)cudaDeviceSynchronize();
        (void)cudaSetDevice(former);
    }
    (void)cudaGetLastError();
}
#else
DeviceGuard::DeviceGuard(int device) {
    if (device == GFK_CPU)
        return;
    nb::gil_scoped_acquire acquire;
    raise(GFK_STATUS_NOT_SUPPORTED, "this build of gfk has no CUDA, and takes arrays in the CPU's memory only; to "
                                    "compile the kernels: pip install . -C cmake.define.GFK_CUDA=ON");
}

DeviceGuard::~DeviceGuard() = default;

int device_of(const void *) {
    raise(GFK_STATUS_NOT_SUPPORTED, "this build of gfk has no CUDA");
}

void wait_for(gfk_stream_t) {}

static int current_device() {
    return 0; // whose use raises
}

void finish(int) noexcept {}
#endif

int Device::number(const char *name) const {
    const bool is_named = nb::hasattr(object, "type") && nb::hasattr(object, "index"); // torch.device
    if (!PyUnicode_Check(object.ptr()) && !is_named)
        raise_type("%s: a string is needed, \"cpu\", \"cuda\" or \"cuda:0\", not %s", name,
                   type_name_of(object).c_str());
    const std::string text = nb::str(object).c_str();
    if (text == "cpu")
        return GFK_CPU;
    if (text == "cuda")
        return current_device();
    const std::string digits = text.rfind("cuda:", 0) == 0 ? text.substr(5) : "";
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
        raise(GFK_STATUS_INVALID_ARGUMENT,
              "%s: \"%.80s\" is no device; \"cpu\", \"cuda\" (the current CUDA device) and \"cuda:0\", \"cuda:1\", ... "
              "are",
              name, text.c_str());
    return std::atoi(digits.c_str());
}

std::string name_of_device(int device) {
    return device == GFK_CPU ? "cpu" : "cuda:" + std::to_string(device);
}
} // namespace gfk
