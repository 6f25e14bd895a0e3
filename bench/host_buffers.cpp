// SPDX-License-Identifier: BSD-3-Clause
// Host memory for CPU rows.
#include "host_buffers.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "multipliers.h"

namespace {

constexpr size_t kAlignment = 4096, kChunk = size_t{1} << 20;

void fill(unsigned char *p, size_t bytes, uint64_t seed) {
    std::mt19937_64 random(seed);
    uint64_t *words = (uint64_t *)p;
    for (size_t i = 0; i < bytes / 8; i++)
        words[i] = random();
}

unsigned char *allocate(size_t bytes) {
    void *p = std::aligned_alloc(kAlignment, bytes);
    gfk_check(p ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY, "host buffers");
    return (unsigned char *)p;
}

} // namespace

HostBuffers host_buffers(size_t bytes) {
    static unsigned char *src = nullptr, *dst = nullptr;
    static size_t have = 0;
    if (bytes > have) {
        std::free(src);
        std::free(dst);
        have = (bytes + kChunk - 1) / kChunk * kChunk;
        src = allocate(have);
        dst = allocate(have);
        // All cores, so that the first touch spreads the pages and does not take minutes.
        const unsigned n = usable_cores();
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < n; t++)
            threads.emplace_back([=] {
                for (size_t chunk = t; chunk < have / kChunk; chunk += n) {
                    fill(src + chunk * kChunk, kChunk, 1 + chunk);
                    fill(dst + chunk * kChunk, kChunk, ~chunk);
                }
            });
        for (std::thread &thread : threads)
            thread.join();
    }
    return {src, dst};
}

const unsigned char *host_expected(unsigned w, uint32_t c, size_t bytes) {
    static std::map<std::tuple<unsigned, uint32_t, size_t>, std::vector<unsigned char>> known;
    std::vector<unsigned char> &expected = known[{w, c, bytes}];
    if (expected.empty()) {
        const Multiplier &m = multiplier_of(reference_of(w, false));
        std::vector<unsigned char> workspace(m.workspace_bytes + 16);
        unsigned char *aligned = workspace.data() + 15 - ((uintptr_t)workspace.data() + 15) % 16;
        expected.resize(bytes);
        gfk_check(gfk_region_multiply(m.handle, c, host_buffers(bytes).src, expected.data(), bytes,
                                      GFK_SET, aligned, m.workspace_bytes, nullptr),
                  "the host reference");
    }
    return expected.data();
}

unsigned usable_cores() {
    cpu_set_t mask;
    const unsigned cores = sched_getaffinity(0, sizeof mask, &mask) == 0
                               ? (unsigned)CPU_COUNT(&mask)
                               : std::max(1u, std::thread::hardware_concurrency());
    double quota = 0, period = 0;
    std::ifstream v2("/sys/fs/cgroup/cpu.max"); // "max 100000" where there is no quota
    if (!(v2 >> quota >> period)) {
        std::ifstream q("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
            p("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
        if (!(q >> quota && p >> period))
            return cores;
    }
    if (quota <= 0 || period <= 0)
        return cores;
    return std::min(cores, std::max(1u, (unsigned)std::ceil(quota / period)));
}
