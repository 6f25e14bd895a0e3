// SPDX-License-Identifier: BSD-3-Clause
// Random source regions and reference products in host memory.
#pragma once

#include <cstddef>
#include <cstdint>

struct HostBuffers {
    const unsigned char *src; // random
    unsigned char *dst;
};
// At least `bytes` of each, aligned to 4096; the same memory in every call, grown when needed.
HostBuffers host_buffers(size_t bytes);

// c * src by the host reference of the width; made once and kept.
const unsigned char *host_expected(unsigned w, uint32_t c, size_t bytes);

// The cores that this process may use: its affinity, and the quota of its control group.
unsigned usable_cores();
