// SPDX-License-Identifier: BSD-3-Clause
// Host memory between two pages that may not be touched.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>

class Fence {
  public:
    explicit Fence(size_t bytes) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
        bytes_ = (bytes + page_ - 1) / page_ * page_;
        map_ = static_cast<uint8_t *>(
            mmap(nullptr, bytes_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (map_ == MAP_FAILED || mprotect(map_ + page_, bytes_, PROT_READ | PROT_WRITE) != 0)
            throw std::bad_alloc();
    }
    ~Fence() { munmap(map_, bytes_ + 2 * page_); }
    Fence(const Fence &) = delete;
    Fence &operator=(const Fence &) = delete;

    uint8_t *begin() const { return map_ + page_; }
    // Where `bytes` bytes must start to lie at one of the two ends.
    uint8_t *place(size_t bytes, bool at_end) const {
        return begin() + (at_end ? bytes_ - bytes : 0);
    }

  private:
    size_t page_, bytes_;
    uint8_t *map_;
};
