// SPDX-License-Identifier: BSD-3-Clause
// Regions with nothing around them that may be touched.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "row_fixture.h"

// Host memory between two pages that may not be touched.
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

// A region: on the host at the beginning or the end of a fence; on a device at a phase of an
// allocation of its own, which ends where the region does, for compute-sanitizer to watch.
class LoneRegion {
  public:
    LoneRegion(bool host, const Bytes &content, size_t phase, bool at_end)
        : bytes_(content.size()) {
        if (host) {
            fence_ = std::make_unique<Fence>(bytes_);
            data_ = fence_->place(bytes_, at_end);
            write(content);
            return;
        }
        Bytes all(phase); // initialized too
        all.insert(all.end(), content.begin(), content.end());
        memory_ = std::make_unique<Memory>(false, all.size());
        memory_->write(0, all.data(), all.size(), false);
        data_ = memory_->data() + phase;
    }
    uint8_t *data() const { return data_; }
    void write(const Bytes &content) {
        if (fence_)
            std::copy(content.begin(), content.end(), data_);
        else
            memory_->write(memory_->size() - bytes_, content.data(), bytes_, false);
    }
    Bytes read() const {
        return fence_ ? Bytes(data_, data_ + bytes_)
                      : memory_->read(memory_->size() - bytes_, bytes_);
    }

  private:
    size_t bytes_;
    std::unique_ptr<Fence> fence_;
    std::unique_ptr<Memory> memory_;
    uint8_t *data_;
};
