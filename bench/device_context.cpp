// SPDX-License-Identifier: BSD-3-Clause
// What the record says about the GPU.
#include "device_rows.h"

#include "gpu.h"
#include "nvml.h"
#include "roofline.h"

static std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string device_missing() {
    std::string reason;
    return gpu_present(&reason) ? "" : reason;
}

void describe_device(Context *context) {
    int driver = 0, runtime = 0;
    cudaDeviceProp properties;
    GPU_CHECK(cudaDriverGetVersion(&driver));
    GPU_CHECK(cudaRuntimeGetVersion(&runtime));
    GPU_CHECK(cudaGetDeviceProperties(&properties, gpu().device));
    context->push_back({"gpu", gpu().name});
    context->push_back({"gpu_compute_capability",
                        std::to_string(properties.major) + "." + std::to_string(properties.minor)});
    context->push_back({"gpu_multiprocessors", std::to_string(properties.multiProcessorCount)});
    context->push_back({"gpu_memory_bytes", std::to_string(gpu().memory_bytes)});
    context->push_back({"gpu_l2_bytes", std::to_string(gpu().l2_bytes)});
    context->push_back({"cuda_of_driver", version_text(driver)});
    context->push_back({"cuda_runtime", version_text(runtime)});
    nvml_describe(context);
    const std::string reason = void_reason();
    if (!reason.empty())
        context->push_back({"void", reason});
}
