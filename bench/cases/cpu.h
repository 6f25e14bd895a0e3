// SPDX-License-Identifier: BSD-3-Clause
// What rows on the CPU and calls on host memory share: regions, other libraries, the reference.
#pragma once

#include "cases.h"
#include "coders.h"
#include "core/host.h"

const coder *coder_of(const std::string &library); // the first; null if it was not found
gfk_regions list_of(const Regions &regions);
// Pins this memory, or none, unless it is pinned already.
void pin(const std::vector<void *> &memory, size_t bytes);
Object<gfk_product_t> product_of(const Library &library, const std::string &engine,
                                 const Shape &shape, const std::vector<uint32_t> &matrix);
// The elements of a matrix as gfk_matrix takes them.
std::vector<unsigned char> packed(const std::vector<uint32_t> &matrix, unsigned w);

// The first and the last bytes of outputs, as they must be.
class Ends {
  public:
    explicit Ends(size_t bytes); // of a region
    void take(const Regions &regions);
    void compute(const Shape &shape, const std::vector<uint32_t> &matrix, const Regions &in);
    bool match(const Regions &out) const;

  private:
    size_t bytes_, length_;
    std::vector<std::vector<unsigned char>> expected_; // the first of each region, then the last
};

// ---- what bounds calls on host memory; only with CUDA ----------------------------------------
// Regions of one call.
struct Mix {
    Regions in, out;
    size_t bytes; // of each
};
int bus_devices();
// Seconds to send all inputs to the devices and to fetch as many bytes as the outputs have, all at
// once, in copies as long as the pipeline's. The regions are pinned. The outputs are overwritten.
double transfer_seconds(const Mix &mix, int devices);
// The same by cudaMemcpy, one after the other, from and to pageable memory.
double plain_copy_seconds(const Mix &mix);
