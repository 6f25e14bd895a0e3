// SPDX-License-Identifier: BSD-3-Clause
// NVML by dlopen: there is no link dependency, and without it the clocks come from CUDA.
#include <dlfcn.h>

#include "device.h"

namespace {

// The part of nvml.h that is used here; it is a stable ABI.
using Handle = struct nvmlDevice_st *;
constexpr int kSm = 1, kMemory = 2, kCore = 0;

struct Nvml {
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    Handle device = nullptr;

    Nvml() {
        char bus[32] = "";
        if (library == nullptr)
            return;
        GPU_CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, gpu().device));
        if (!call("nvmlInit_v2") || !call("nvmlDeviceGetHandleByPciBusId_v2", bus, &device))
            device = nullptr;
    }
    // False: there is no such function, or it failed.
    template <class... Arguments>
    bool call(const char *name, Arguments... arguments) const {
        void *function = dlsym(library, name);
        return function && reinterpret_cast<int (*)(Arguments...)>(function)(arguments...) == 0;
    }
};

const Nvml &nvml() {
    static const Nvml instance;
    return instance;
}

// With a unit, or "unknown".
template <class... What>
std::string read(const char *unit, const char *name, What... what) {
    unsigned value = 0;
    return nvml().call(name, nvml().device, what..., &value) ? std::to_string(value) + unit
                                                             : "unknown";
}

} // namespace

Fields nvml_facts() {
    if (nvml().device == nullptr)
        return {"gpu_clock_max", std::to_string((int)gpu().nominal_mhz) + " MHz (no NVML)"};
    char version[96] = "unknown";
    unsigned milliwatts = 0;
    nvml().call("nvmlSystemGetDriverVersion", (char *)version, (unsigned)sizeof version);
    const bool power = nvml().call("nvmlDeviceGetPowerUsage", nvml().device, &milliwatts);
    return Fields("gpu_driver", version, "gpu_clock_max",
                  read(" MHz", "nvmlDeviceGetMaxClockInfo", kSm), "gpu_clock_at_start",
                  read(" MHz", "nvmlDeviceGetClockInfo", kSm), "gpu_memory_clock",
                  read(" MHz", "nvmlDeviceGetClockInfo", kMemory), "gpu_temperature_at_start",
                  read(" C", "nvmlDeviceGetTemperature", kCore), "gpu_power_at_start",
                  when(power, std::to_string(milliwatts / 1000) + " W"));
}

void PowerMeter::sample(double seconds) {
    const Nvml &n = nvml();
    unsigned mhz = 0, milliwatts = 0;
    unsigned long long millijoules = 0;
    if (n.device == nullptr || !n.call("nvmlDeviceGetClockInfo", n.device, kSm, &mhz) ||
        !n.call("nvmlDeviceGetPowerUsage", n.device, &milliwatts))
        return;
    samples_++;
    mhz_ += mhz;
    milliwatts_ += milliwatts;
    if (n.call("nvmlDeviceGetTotalEnergyConsumption", n.device, &millijoules) &&
        (energy_.empty() || energy_.back().second != (double)millijoules))
        energy_.push_back({seconds, (double)millijoules});
}

double PowerMeter::sm_mhz() const {
    return samples_ > 0 ? mhz_ / samples_ : 0;
}

// The first value of the counter was there before its first sample; the second one is fresh.
double PowerMeter::watts() const {
    if (energy_.size() < 4)
        return samples_ > 0 ? 1e-3 * milliwatts_ / samples_ : 0;
    const auto &[t0, e0] = energy_[1];
    const auto &[t1, e1] = energy_.back();
    return 1e-3 * (e1 - e0) / (t1 - t0);
}
