// SPDX-License-Identifier: BSD-3-Clause
// Devices as arguments, and the only place of the package that calls the CUDA runtime.
#pragma once
#include <gfk/types.h>
#include <nanobind/nanobind.h>

#include <string>

#include "arguments.h"

namespace gfk {
// An argument that is a device: "cpu", "cuda:0", or "cuda", the current one; also a torch.device.
struct Device : Argument {
    static constexpr auto python = nb::detail::const_name("str");
    // GFK_CPU, or the number of a CUDA device. Raises TypeError or InvalidArgument; `name` is the argument's.
    int number(const char *name = "device") const;
};

// "cpu", "cuda:0", ...
std::string name_of_device(int device);

// Makes a device the calling thread's current one, and puts the former one back. GFK_CPU: does nothing.
class DeviceGuard {
  public:
    explicit DeviceGuard(int device);
    ~DeviceGuard();
    DeviceGuard(const DeviceGuard &) = delete;
    DeviceGuard &operator=(const DeviceGuard &) = delete;

  private:
    int former_ = GFK_CPU; // GFK_CPU: there is nothing to put back
};

// The device of memory; GFK_CPU for the CPU's.
int device_of(const void *memory);

// Waits for the work of a stream of the current device.
void wait_for(gfk_stream_t stream);

// Waits for all work of a device, before an object there is destroyed: no call of the object may be pending
// then. Needs the GIL, which others may take meanwhile. Raises nothing. GFK_CPU: does nothing.
void finish(int device) noexcept;
} // namespace gfk
