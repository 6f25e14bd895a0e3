// SPDX-License-Identifier: BSD-3-Clause
// Device memory of a row: k inputs and m outputs, as many sets of them as the cache cannot hold;
// and the check of every byte of the outputs.
#pragma once

#include "ceilings.h"
#include "device.h"

// How regions lie. Regions of products and codes are `stride` apart, a little more than their
// length: regions that begin at the same place of large powers of two would meet in the same parts
// of the memory.
struct Layout {
    size_t k, m, bytes; // of a region
    bool gaps = true, cold = true;

    size_t stride() const;
    size_t set_bytes() const { return stride() * (k + m); }
    long sets() const;
    size_t memory_needed() const { return set_bytes() * (size_t)sets() + stride() * m; }
};

// All sets live in the same few slots, so only one Buffers counts at a time.
class Buffers {
  public:
    explicit Buffers(const Layout &layout); // fills the inputs with random bytes
    const Layout &layout() const { return layout_; }
    long sets() const { return sets_; }
    size_t stride() const { return stride_; }
    size_t bytes() const { return layout_.bytes; }
    size_t output_bytes() const { return stride_ * layout_.m; } // of a set, gaps included
    char *in(long j, size_t i = 0) const;                       // input i for launch j
    char *out(long j, size_t i = 0) const;
    char *expected(size_t i = 0) const; // room for the outputs of one more set
    void poison_outputs() const;        // random bytes, in the gaps too
    void poison_expected(long j) const; // the same ones as out(j) had
    void make_cold() const;             // before a replay: what rotation alone does not evict

  private:
    Layout layout_;
    size_t stride_;
    long sets_;
};

// Work whose launch j multiplies the inputs by a matrix. Outputs are compared with k x m region
// multiplies of the width's SPLIT reference row. Elements that are 0 are left out.
class MatrixWork : public DeviceWork {
  public:
    MatrixWork(unsigned w, const Layout &layout, gfk_accumulate mode)
        : w_(w), mode_(mode), buffers_(layout) {}
    long sets() const override { return buffers_.sets(); }
    void make_cold() const override { buffers_.make_cold(); }
    std::string check(bool after) override;

  protected:
    virtual const uint32_t *matrix(long j) const = 0; // of launch j, m x k
    // Works with equal tags and equal shapes have equal matrices; "": the matrix differs by launch.
    virtual std::string tag() const { return ""; }
    virtual long checked() const { return sets(); } // launches before the timed ones
    gfk_regions inputs(long j) const { return {nullptr, buffers_.in(j), buffers_.stride()}; }
    gfk_regions outputs(long j) const { return {nullptr, buffers_.out(j), buffers_.stride()}; }

    unsigned w_;
    gfk_accumulate mode_;
    size_t in_offset_ = 0, out_offset_ = 0; // bytes from where a region begins
    size_t length_ = 0;                     // 0: the whole region
    Buffers buffers_;

  private:
    void expect(long j) const;
};

// The best of all plain kernels of this kind, measured when first asked for. Not while other
// Buffers are in use.
Ceiling &ceiling_of(PlainKind kind, const Layout &layout, gfk_accumulate mode);
// The row of a ceiling, which is registered before the rows that need it.
Row ceiling_row(const std::string &name, PlainKind kind, const Layout &layout, gfk_accumulate mode);

// An H200 whose plain kernels are slower than known is not in a state to be measured: the run is
// void. Returns "" or the sentence that says so.
std::string void_reason(bool of_products);
