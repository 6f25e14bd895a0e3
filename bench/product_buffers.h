// SPDX-License-Identifier: BSD-3-Clause
// Device memory of products: k inputs and m outputs, as many sets of them as the cache cannot hold.
#pragma once

#include <gfk/gfk.h>

#include "gpu.h"
#include "product_plan.h"

// Regions of one set are `stride` apart, a little more than their length: regions that begin at the
// same place of large powers of two would meet in the same parts of the memory. All sets live in
// the same few allocations, so only one ProductBuffers is in use at a time.
class ProductBuffers {
  public:
    ProductBuffers(const Shape &shape, size_t region_bytes);
    long sets() const { return sets_; }
    size_t stride() const { return stride_; }
    size_t bytes() const { return bytes_; }                    // of a region
    size_t output_bytes() const { return stride_ * shape_.m; } // of a set, gaps included
    char *in(long j, size_t i = 0) const;                      // input i for launch j
    char *out(long j, size_t i = 0) const;
    char *expected(size_t i = 0) const; // room for the outputs of one more set
    void poison_outputs() const;        // random bytes, in the gaps too
    void poison_expected(long j) const; // the same ones as out(j) had
    void make_cold() const;             // before a replay: what rotation alone does not evict
    static size_t memory_needed(const Shape &shape, size_t region_bytes);

  private:
    Shape shape_;
    size_t bytes_, stride_;
    long sets_;
};

// What the outputs must be: products by the plain way, k x m region multiplies of the width's SPLIT
// reference row, on the device. Elements that are 0 are left out.
class ProductReference {
  public:
    // tag: equal tags promise equal matrices for equal shapes.
    ProductReference(const Shape &shape, std::vector<uint32_t> matrix, gfk_accumulate mode,
                     const std::string &tag);
    // Compares every byte of the outputs of the sets below n, and of the gaps between them, with
    // what they must be. The outputs were poisoned before the launch that made them.
    std::string check(const ProductBuffers &buffers, long n) const;

  private:
    void expect(const ProductBuffers &buffers, long j) const;

    Shape shape_;
    std::vector<uint32_t> matrix_;
    gfk_accumulate mode_;
    std::string tag_;
};
