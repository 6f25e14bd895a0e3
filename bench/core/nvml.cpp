// SPDX-License-Identifier: BSD-3-Clause
// NVML by dlopen: there is no link dependency, and without it the clocks come from CUDA.
#include "nvml.h"

#include <dlfcn.h>

#include "device.h"

namespace {

// The part of nvml.h that is used here; it is a stable ABI.
using Handle = struct nvmlDevice_st *;
enum { kSm = 1, kMemory = 2 };

struct Nvml {
    Handle device = nullptr;
    int (*clock)(Handle, int, unsigned *) = nullptr;
    int (*max_clock)(Handle, int, unsigned *) = nullptr;
    int (*power)(Handle, unsigned *) = nullptr;
    int (*energy)(Handle, unsigned long long *) = nullptr;
    int (*temperature)(Handle, int, unsigned *) = nullptr;
    int (*driver)(char *, unsigned) = nullptr;

    Nvml() {
        void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
        if (lib == nullptr)
            return;
        int (*init)() = nullptr;
        int (*by_bus)(const char *, Handle *) = nullptr;
        char bus[32] = "";
        find(lib, "nvmlInit_v2", &init);
        find(lib, "nvmlDeviceGetHandleByPciBusId_v2", &by_bus);
        find(lib, "nvmlDeviceGetClockInfo", &clock);
        find(lib, "nvmlDeviceGetMaxClockInfo", &max_clock);
        find(lib, "nvmlDeviceGetPowerUsage", &power);
        find(lib, "nvmlDeviceGetTotalEnergyConsumption", &energy);
        find(lib, "nvmlDeviceGetTemperature", &temperature);
        find(lib, "nvmlSystemGetDriverVersion", &driver);
        GPU_CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, gpu().device));
        if (!init || !by_bus || init() != 0 || by_bus(bus, &device) != 0)
            device = nullptr;
    }
    template <class F>
    static void find(void *lib, const char *name, F *f) {
        *f = reinterpret_cast<F>(dlsym(lib, name));
    }
};

const Nvml &nvml() {
    static const Nvml instance;
    return instance;
}

std::string read(int (*f)(Handle, int, unsigned *), int what, const char *unit) {
    unsigned value = 0;
    if (nvml().device == nullptr || f == nullptr || f(nvml().device, what, &value) != 0)
        return "unknown";
    return std::to_string(value) + unit;
}

} // namespace

void nvml_describe(Fields *context) {
    const Nvml &n = nvml();
    if (n.device == nullptr) {
        context->set("gpu_clock_max", std::to_string((int)gpu().nominal_mhz) + " MHz (no NVML)");
        return;
    }
    char version[96] = "unknown";
    unsigned milliwatts = 0;
    if (n.driver)
        n.driver(version, sizeof version);
    context->set("gpu_driver", version);
    context->set("gpu_clock_max", read(n.max_clock, kSm, " MHz"));
    context->set("gpu_clock_at_start", read(n.clock, kSm, " MHz"));
    context->set("gpu_memory_clock", read(n.clock, kMemory, " MHz"));
    context->set("gpu_temperature_at_start", read(n.temperature, 0, " C"));
    if (n.power && n.power(n.device, &milliwatts) == 0)
        context->set("gpu_power_at_start", std::to_string(milliwatts / 1000) + " W");
}

void PowerMeter::sample(double seconds) {
    const Nvml &n = nvml();
    unsigned mhz = 0, milliwatts = 0;
    unsigned long long millijoules = 0;
    if (n.device == nullptr || !n.clock || !n.power || n.clock(n.device, kSm, &mhz) != 0 ||
        n.power(n.device, &milliwatts) != 0)
        return;
    samples_++;
    mhz_ += mhz;
    milliwatts_ += milliwatts;
    if (n.energy && n.energy(n.device, &millijoules) == 0 &&
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
