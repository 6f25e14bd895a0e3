// SPDX-License-Identifier: BSD-3-Clause
// Compiled probes: kernels of the bench that repeat published variants, or show what binds one.
#pragma once

#include "core/device.h"

// Output j = sum over i of matrix[j][i] * input i, w = 8.
struct EncodeArguments {
    const uint8_t *in;
    uint8_t *out;
    size_t in_stride, out_stride, bytes; // from region to region; of a region
    unsigned k, m;
    const uint8_t *matrix, *tables; // m x k elements; what the probe's fill makes
    cudaTextureObject_t texture;    // of the tables
    unsigned depth;                 // tiled: inputs whose tile is in shared memory
    uint8_t constant_matrix[128];   // of probes that read the matrix from constant memory
};

struct EncodeProbe {
    std::string id;
    const char *method, *place;       // of the multiplication; of its tables, or ""
    unsigned bytes;                   // of a region that a thread takes
    size_t table_bytes, shared_bytes; // of the tables; of them in shared memory
    bool tiled, wrong;                // wrong: leaves something out, to show what binds
    void (*fill)(uint8_t *tables);
    const void *kernel;
};
const std::vector<EncodeProbe> &encode_probes();

// Which outputs a block of threads takes together, all of the same bytes or of neighbouring ones.
enum class Cut {
    Naive,      // one, and 256 threads
    Persistent, // one; a block stays, and its tables with it
    Coarse,     // 32, and each thread a whole region
    Outputs,    // all (up to eight), 128 threads for each; ten inputs at a time in shared memory
    Square,     // 16 by 16 threads and inputs
    Min,        // all inputs in shared memory, and as many threads as the occupancy asks for: one
    One,        // output; as many outputs as threads for each
    Max         // as many outputs as there are
};
constexpr const char *kCuts[] = {"naive",  "persistent", "coarse", "outputs",
                                 "square", "min",        "one",    "max"};
struct Geometry {
    dim3 grid, block;
    unsigned depth = 0;
    size_t shared = 0;
};
Geometry geometry_of(const EncodeProbe &probe, Cut cut, size_t bytes, unsigned k, unsigned m);
void run_encode(const EncodeProbe &probe, const Geometry &geometry, EncodeArguments arguments,
                cudaStream_t stream);
void put_in_constant_memory(const uint8_t *tables, size_t bytes, cudaStream_t stream);

// Bytes become their logarithms, 255 for zero. bytes: a multiple of 16.
void take_logarithms(const void *from, void *to, size_t bytes, const uint8_t *logarithms,
                     cudaStream_t stream);

// Multiplications in registers: every thread multiplies `rounds` random words by a constant and adds
// up the products, in `words` words.
struct RateProbe {
    std::string id;
    unsigned words;        // that a multiplication takes, and that a thread writes
    bool sliced, identity; // sliced: word b has bit b of 32 bytes; identity: nothing is multiplied
    size_t table_bytes;
    void (*fill)(uint8_t *tables);
    void (*run)(const uint8_t *tables, unsigned c, unsigned rounds, uint32_t *out, unsigned blocks,
                cudaStream_t stream);
};
constexpr unsigned kRateThreads = 256, kRateConstant = 0xff;
const std::vector<RateProbe> &rate_probes();
