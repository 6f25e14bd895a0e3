// SPDX-License-Identifier: BSD-3-Clause
// The little that the tests need of the CUDA runtime. In a build without CUDA count() is 0 and
// everything else throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gfk/types.h>

// Every function throws std::runtime_error when CUDA reports an error, which fails the test.
namespace device {

int count();
int compute_capability(int device); // 10 * major + minor
int current();
void select(int device);
size_t free_bytes();

void *allocate(size_t bytes); // nullptr when the memory is not there
void release(void *memory);
void *allocate_pinned(size_t bytes); // host memory that copies run at full speed with
void release_pinned(void *memory);

// Complete for every stream on return; without `wait` only in order on the default stream.
void upload(void *to, const void *from, size_t bytes, bool wait = true);
void download(void *to, const void *from, size_t bytes); // after all work on the default stream
void copy(void *to, const void *from, size_t bytes, gfk_stream_t stream = nullptr);
void fill(void *memory, int value, size_t bytes, gfk_stream_t stream = nullptr);

gfk_stream_t create_stream(); // does not wait for the default stream
void destroy_stream(gfk_stream_t stream);
void synchronize(gfk_stream_t stream);
void order(gfk_stream_t first, gfk_stream_t then); // `then` waits for what is in `first` now

bool error_pending(); // did somebody leave an error in the runtime? Clears it.

// A captured stream: everything between begin and end becomes one launchable graph.
class Graph {
  public:
    explicit Graph(gfk_stream_t stream);
    ~Graph();
    Graph(const Graph &) = delete;
    Graph &operator=(const Graph &) = delete;
    void end();
    void launch(gfk_stream_t stream);
    // The symbols of its kernels, after end().
    const std::vector<std::string> &kernels() const { return kernels_; }

  private:
    gfk_stream_t stream_;
    std::vector<std::string> kernels_;
    void *executable_ = nullptr;
};

// Kernels, in device_check.cu.
void fill_random(void *memory, size_t bytes, uint64_t seed);         // not periodic
size_t first_difference(const void *a, const void *b, size_t bytes); // `bytes` if there is none
// sum = sum over i of coefficients[i] * region i, bit by bit. The coefficients are in host memory; the
// regions lie `stride` bytes apart; addresses and sizes are multiples of 4.
void combine(unsigned w, uint64_t polynomial, const uint32_t *coefficients, size_t count,
             const void *regions, size_t stride, size_t bytes, void *sum);
// The products of w = 16 by all 65,536 symbols, in order, from those by the symbols' 16 bits.
void expand_products(const void *bits, void *products, unsigned constants);

} // namespace device
