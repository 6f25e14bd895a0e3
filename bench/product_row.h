// SPDX-License-Identifier: BSD-3-Clause
// A row of products ready to be launched: its buffers, and the product or the multiplier.
#pragma once

#include <gfk/gfk.h>

#include "product_buffers.h"
#include "product_plan.h"

class DeviceProduct {
  public:
    DeviceProduct(const ProductRow &row, uint64_t seed);
    ~DeviceProduct();
    DeviceProduct(const DeviceProduct &) = delete;
    DeviceProduct &operator=(const DeviceProduct &) = delete;
    // Creates the product and runs it once, so that its code is loaded.
    gfk_status start();
    void launch(long j, cudaStream_t stream) const;
    std::string verify() const;             // "" or what is wrong; every set
    std::string verify_left_behind() const; // what the replays left, where that can be known
    const ProductBuffers &buffers() const { return buffers_; }
    std::string chosen() const; // the engine, or for the plain way the kernel
    double create_us() const { return create_us_; }

  private:
    gfk_status create();
    void multiply_all(long j, cudaStream_t stream) const;

    ProductRow row_;
    ProductBuffers buffers_;
    std::vector<uint32_t> matrix_;
    ProductReference reference_;
    gfk_product_t product_ = nullptr;
    gfk_product_info info_ = {};
    const gfk_kernel_info *kernel_ = nullptr; // of the plain way
    double create_us_ = 0;
};
