// SPDX-License-Identifier: BSD-3-Clause
// Calls whose operands have more than 4 GiB, where 32-bit arithmetic would wrap. For a random row vector r,
// (r A) B = r (A B) is compared in every byte, by arithmetic that shares nothing with the library's kernels; a wrong
// byte escapes with a probability of 2^-w.
#pragma once

#include <algorithm>
#include <cstring>
#include <mutex>
#include <sys/mman.h>

#include "places.h"
#include "row_fixture.h"

constexpr size_t GIB = 1024 * MIB;

// Regions at equal distances, in one block of memory.
struct Spaced {
    size_t count, bytes, stride;
    Memory memory;
    Spaced(bool host, size_t n, size_t length, size_t distance)
        : count(n), bytes(length), stride(distance), memory(host, (n - 1) * distance + length) {
        if (host && is_sparse()) // takes pages for the regions alone
            (void)madvise(reinterpret_cast<void *>(
                              ::round_up(reinterpret_cast<uintptr_t>(memory.data()), 4096)),
                          memory.size() / 4096 * 4096, MADV_NOHUGEPAGE);
    }
    bool is_sparse() const { return stride > 4 * bytes; }
    gfk_regions regions() const { return {nullptr, memory.data(), stride}; }
};

inline void fill(bool host, uint8_t *memory, size_t bytes, uint64_t seed) {
    if (host)
        fill_in_parallel(memory, bytes);
    else
        device::fill_random(memory, bytes, seed);
}

inline void fill(bool host, const Spaced &s, uint64_t seed) {
    if (!host)
        return device::fill_random(s.memory.data(), s.memory.size(), seed);
    if (s.bytes >= 64 * MIB) {
        for (size_t i = 0; i < s.count; i++)
            fill_in_parallel(s.memory.data() + i * s.stride, s.bytes);
        return;
    }
    parallel(s.count, [&](size_t i) {
        Random(seed << 32 | i).fill(s.memory.data() + i * s.stride, s.bytes);
    });
}

// sum over i of c[i] * region i.
inline void combine(bool host, const gfk_field &field, const std::vector<uint32_t> &c,
                    const uint8_t *regions, size_t stride, size_t bytes, Memory &sum) {
    if (!host)
        return device::combine(field.w, field.polynomial, c.data(), c.size(), regions, stride,
                               bytes, sum.data());
    std::memset(sum.data(), 0, bytes);
    if (bytes >= 64 * MIB)
        return parallel((bytes + MIB - 1) / MIB, [&](size_t part) {
            const size_t at = part * MIB, n = std::min(MIB, bytes - at);
            for (size_t i = 0; i < c.size(); i++)
                Times(field, c[i]).add(regions + i * stride + at, sum.data() + at, n);
        });
    std::mutex lock; // short regions: groups of them
    const size_t groups = std::min<size_t>(c.size(), 64);
    parallel(groups, [&](size_t group) {
        Bytes part(bytes);
        for (size_t i = group; i < c.size(); i += groups)
            Times(field, c[i]).add(regions + i * stride, part.data(), bytes);
        const std::lock_guard<std::mutex> guard(lock);
        for (size_t at = 0; at < bytes; at++)
            sum.data()[at] ^= part[at];
    });
}

inline bool equal(bool host, const Memory &a, const void *b, size_t bytes) {
    return host ? std::memcmp(a.data(), b, bytes) == 0
                : device::first_difference(a.data(), b, bytes) == bytes;
}

inline std::vector<uint32_t> random_vector(unsigned w, size_t n, Random &random) {
    std::vector<uint32_t> v(n);
    for (uint32_t &x : v)
        x = random.symbol(w);
    return v;
}

inline std::vector<uint32_t> unpack(const Bytes &row, size_t n, unsigned w) {
    std::vector<uint32_t> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = get_symbol(row.data(), i, w);
    return v;
}

class HugeTest : public PlaceTest {
  protected:
    // Skips a test that needs so many bytes.
    bool has_memory(size_t bytes) {
        if (!host())
            return device::free_bytes() >= bytes + GIB;
        room_ = std::make_unique<HostMemory>(bytes + GIB);
        return room_->is_there();
    }
    gfk_matmul_desc desc() const {
        gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
        desc.device = host() ? GFK_CPU : GFK_CURRENT_DEVICE;
        desc.kernel = named_matmul;
        return desc;
    }
    void finish() {
        if (!host())
            device::synchronize(nullptr);
    }

  private:
    std::unique_ptr<HostMemory> room_;
};

#define NEED_MEMORY(bytes)                                                                         \
    do {                                                                                           \
        if (has_memory(bytes))                                                                     \
            break;                                                                                 \
        if (host())                                                                                \
            GTEST_SKIP() << "the machine has too little free memory";                              \
        SKIP_WITHOUT_GPU("the device has too little free memory");                                 \
    } while (false)
