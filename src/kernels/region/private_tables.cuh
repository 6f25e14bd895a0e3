/* SPDX-License-Identifier: BSD-3-Clause */
/* Two tables of 256 words, private to each lane of a warp: 64 KiB of shared memory in which bank =
 * lane and row = index, so that no access has a bank conflict. A row has 32 words of the first
 * table, one per lane, then 32 of the second. The byte address of an entry is 256 * index + 4 *
 * lane, which one PRMT makes from a word that contains the index and a register that holds 4 *
 * lane. */
#pragma once

#include "walk_tiles.cuh"

namespace gfk {

struct PrivateTables {
    uint32_t row[256][2][32];
};

class PrivateLookup {
  public:
    __device__ explicit PrivateLookup(const PrivateTables &tables)
        : base(reinterpret_cast<const uint8_t *>(&tables)), lane(threadIdx.x % 32 * 4) {}

    /* The address of the first table's entry whose index is byte K of x. */
    template <int K>
    __device__ uint32_t address(uint32_t x) const {
        return prmt(x, lane, 0x5504 | K << 4); /* bytes: lane, index, 0, 0 */
    }
    __device__ uint32_t first(uint32_t address) const {
        return *reinterpret_cast<const uint32_t *>(base + address);
    }
    __device__ uint32_t second(uint32_t address) const {
        return *reinterpret_cast<const uint32_t *>(base + address + 128);
    }

  private:
    const uint8_t *base;
    uint32_t lane; /* in byte 0; byte 1 is zero */
};

/* Copies entry(table, i), table = 0 or 1, into every lane's tables, the first table's plus
 * `lane_offset`. All 512 threads of a block call it. */
template <class Entry>
__device__ inline void fill_private(PrivateTables &tables, Entry entry, uint32_t lane_offset = 0) {
    /* Thread t holds entry t % 256 of table t / 256; a warp shares its 32 entries by shuffles and
     * writes 32 lanes of each. */
    const unsigned t = threadIdx.x, table = t / 256, first = t % 256 / 32 * 32;
    const uint32_t mine = entry(table, t % 256), offset = table == 0 ? lane_offset : 0;
#pragma unroll
    for (int k = 0; k < 32; k++)
        tables.row[first + k][table][t % 32] = __shfl_sync(0xffffffff, mine, k) + offset;
}

} // namespace gfk
