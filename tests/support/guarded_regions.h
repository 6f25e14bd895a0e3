// SPDX-License-Identifier: BSD-3-Clause
// The inputs and outputs of a call, on the host or on the current device: in one buffer with guard
// bytes around every region, or with nothing around them that may be touched.
#pragma once

#include "row_fixture.h"

// Where the regions begin: all at one phase modulo 16, each at its own, or equally spaced.
struct Layout {
    enum Kind { PHASE, PHASES, SPACED } kind;
    size_t phase = 0; // of all, or of the first
    size_t extra = 0; // SPACED: added to a distance that is a multiple of 16
    std::string text() const;
};

// A comparison is always one of the whole buffer.
class GuardedRegions {
  public:
    GuardedRegions(bool host, size_t ins, size_t outs, size_t bytes, const Layout &layout,
                   Random &random);

    // By pointers, or by base and stride if the regions are equally spaced.
    const gfk_regions *in() const { return &in_; }
    const gfk_regions *out() const { return &out_; }
    size_t ins() const { return ins_; }
    size_t count() const { return offsets_.size(); }
    size_t bytes() const { return bytes_; } // of a region
    size_t size() const { return memory_.size(); }
    uint8_t *at(size_t region) const { return memory_.data() + offsets_[region]; }
    const std::vector<void *> &pointers() const { return pointers_; }
    // The region in a copy of the buffer.
    uint8_t *in_copy(Bytes &copy, size_t region) const { return copy.data() + offsets_[region]; }
    Bytes from_copy(const Bytes &copy, size_t region) const;

    void write(const Bytes &content, bool wait = true) {
        memory_.write(0, content.data(), content.size(), wait);
    }
    Bytes read() { return memory_.read(); }
    Memory &memory() { return memory_; }
    // Does the buffer hold these bytes? If not, the text says who made it and what differs.
    testing::AssertionResult is(const Bytes &expected, const std::string &who);
    // The same for a copy of the buffer.
    testing::AssertionResult same(const Bytes &expected, const uint8_t *got,
                                  const std::string &who) const;

  private:
    size_t ins_, bytes_;
    Layout layout_;
    std::vector<size_t> offsets_; // of inputs, then outputs
    Memory memory_;
    std::vector<void *> pointers_;
    gfk_regions in_, out_;
};

// Memory with nothing around it that may be touched: on the host at the beginning or the end of
// pages of its own between two that no access may reach; on a device at a phase of an allocation of
// its own, which ends where the region does, for compute-sanitizer to watch.
class LoneRegion {
  public:
    LoneRegion(bool host, const Bytes &content, size_t phase, bool at_end);
    uint8_t *data() const { return data_; }
    void write(const Bytes &content);
    Bytes read() const;

  private:
    size_t bytes_;
    uint8_t *data_;
    std::shared_ptr<void> pages_;    // on the host
    std::unique_ptr<Memory> memory_; // on a device
};

// The inputs and outputs of a call as lone regions.
class LoneRegions {
  public:
    // Region i at phase(i); every second one ends where its pages end, from `first` on.
    LoneRegions(bool host, size_t ins, const std::vector<Bytes> &contents,
                const std::function<size_t(size_t)> &phase, size_t first = 0);
    const gfk_regions *in() const { return &in_; }
    const gfk_regions *out() const { return &out_; }
    LoneRegion &operator[](size_t i) { return regions_[i]; }

  private:
    std::vector<LoneRegion> regions_;
    std::vector<void *> pointers_;
    gfk_regions in_, out_;
};
