// SPDX-License-Identifier: BSD-3-Clause
// An object of the library at each place where it is asked for: made at the first call with arrays there.
#pragma once
#include <gfk/types.h>

#include <mutex>
#include <utility>
#include <vector>

#include "array.h"
#include "status.h"

namespace gfk {
template <class Handle, void (*destroy)(Handle)>
class Places {
  public:
    Places() = default;
    Places(const Places &) = delete;
    Places &operator=(const Places &) = delete;
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
        check(status);
        return made;
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
