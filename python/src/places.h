// SPDX-License-Identifier: BSD-3-Clause
// An object of the library at each place where it is asked for: made at the first call with arrays there.
#pragma once
#include <mutex>
#include <utility>

#include "array.h"

namespace gfk {
// The method `prepare`: makes an object at a place.
template <class T>
void prepare(T &object, const Device &device) {
    object.at(device.number());
}

// Nothing falls from one place to the other: what options name runs on one side only.
[[noreturn]] inline void raise_wrong_place(int device) {
    raise(GFK_STATUS_WRONG_DEVICE, "the options name what runs on %s, and not in %s memory",
          device == GFK_CPU ? "GPUs" : "the CPU", device == GFK_CPU ? "the CPU's" : "a GPU's");
}

// A descriptor that names what runs on the CPU means the CPU at any place: is the new object where the arrays
// are? Else destroys it and returns WRONG_DEVICE.
template <class Handle, class Info>
gfk_status check_place(Handle made, int device, gfk_status (*get_info)(Handle, Info *), void (*destroy)(Handle)) {
    Info info;
    gfk_status status = get_info(made, &info);
    if (status == GFK_STATUS_SUCCESS && info.device != device)
        status = GFK_STATUS_WRONG_DEVICE;
    if (status != GFK_STATUS_SUCCESS)
        destroy(made);
    return status;
}

// The deleter of an object of the library.
template <auto destroy>
struct Destroy {
    template <class Handle>
    void operator()(Handle handle) const {
        destroy(handle);
    }
};

template <class Handle, void (*destroy)(Handle)>
class Places {
  public:
    Places() = default; // a mutex forbids copies
    ~Places() {
        for (const auto &[device, handle] : handles_) {
            finish(device);
            destroy(handle);
        }
    }

    // The object at a place. `create(Handle *)` returns a status and runs without the GIL, with the device
    // as the current one. Others wait for it.
    template <class Create>
    Handle at(int device, Create &&create) {
        Handle made = {};
        gfk_status status = GFK_STATUS_SUCCESS;
        {
            const Unlocked unlocked;
            const std::lock_guard<std::mutex> lock(mutex_);
            for (const auto &[place, handle] : handles_)
                if (place == device)
                    return handle;
            const DeviceGuard guard(device);
            status = create(&made);
            if (status == GFK_STATUS_SUCCESS)
                handles_.emplace_back(device, made);
        }
        if (status == GFK_STATUS_WRONG_DEVICE)
            raise_wrong_place(device);
        check(status);
        return made;
    }

    // The same for options that may name what runs on one side only.
    template <class Create, class Info>
    Handle at(int device, bool is_for_devices, gfk_status (*get_info)(Handle, Info *), Create &&create) {
        if (device == GFK_CPU && is_for_devices)
            raise_wrong_place(device);
        return at(device, [&](Handle *made) {
            const gfk_status status = create(made);
            return status == GFK_STATUS_SUCCESS ? check_place(*made, device, get_info, destroy) : status;
        });
    }

    // Keeps an object that was made elsewhere, at a place that has none.
    void keep(int device, Handle handle) {
        const std::lock_guard<std::mutex> lock(mutex_);
        handles_.emplace_back(device, handle);
    }

  private:
    std::mutex mutex_;
    std::vector<std::pair<int, Handle>> handles_;
};
} // namespace gfk
