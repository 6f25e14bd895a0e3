// SPDX-License-Identifier: BSD-3-Clause
// What rows on the CPU and calls on host memory share: regions, other libraries, the reference.
#pragma once

#include "cases.h"
#include "coders.h"
#include "core/host.h"

const coder *coder_of(const std::string &library); // the first; null if it was not found
template <class Use>
void for_coders(bool gf_complete, Use use) {
    for (const coder *c = coders; c->library != nullptr; c++)
        if ((c->variant != nullptr) == gf_complete)
            use(c);
}

// A product by another library, on threads that share the bytes of each region.
class CoderTeam {
  public:
    CoderTeam(const coder *other, const Shape &shape, const std::vector<uint32_t> &matrix,
              unsigned threads);
    ~CoderTeam();
    CoderTeam(const CoderTeam &) = delete;
    CoderTeam &operator=(const CoderTeam &) = delete;
    bool made() const { return made_; } // else the library cannot
    double create_us() const { return create_us_; }
    // Microseconds. Each thread's part is a multiple of `unit`.
    double encode(const Regions &in, const Regions &out, size_t bytes, size_t unit);

  private:
    const coder_library *library_;
    std::vector<void *> objects_;
    Team team_;
    bool made_ = true;
    double create_us_ = 0;
};

// A product of an engine, or of another library. sweep: a row of many shapes, on caches, in short passes.
void add_cpu_product(Rows *rows, const gfk_engine_info *engine, const coder *other,
                     const Shape &shape, size_t data, unsigned threads, uint64_t seed,
                     bool sweep = false);
// Of the other libraries with buffers of 1 MiB, unless --sizes says another size, on all cores. A decoder
// is an encoder with another matrix, so these rows stand for both.
void coder_sweep_rows(const std::vector<Shape> &shapes, const Options &options, Rows *rows);
// data: over all threads; 0: what caches do not hold. constant: 0 for a random one.
void gf_complete_rows(size_t data, uint32_t constant, const Options &options, Rows *rows);
void region_cpu_rows(const std::vector<size_t> &sizes, const Options &options, Rows *rows);
gfk_regions list_of(const Regions &regions);
// Pins this memory, or none, unless it is pinned already.
void pin(const std::vector<void *> &memory, size_t bytes);
// The elements of a matrix as gfk_matrix takes them.
std::vector<unsigned char> packed(const std::vector<uint32_t> &matrix, unsigned w);
// A symbol of a sum of regions, by one row of such elements.
uint32_t expected_symbol(const gfk_field &field, const unsigned char *row, const Regions &in,
                         size_t at);
uint32_t symbol_at(const unsigned char *region, unsigned w, size_t at);

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
