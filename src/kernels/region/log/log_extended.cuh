/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of the published ladder's last step, as gfk_create_log_zero lays them out: log[0] is
 * 510, and the antilogarithms go round twice and are 0 from 509 on, so that neither a zero factor
 * nor the sum of two logarithms needs a branch. The ablations that differ in nothing but where the
 * tables are share it. */
#pragma once

#include <stdint.h>

namespace gfk {

struct LogExtended {
    uint16_t log[256];
    uint8_t antilog[1024];

    __device__ uint32_t product(uint32_t a, uint32_t b) const { return antilog[log[a] + log[b]]; }
};

} // namespace gfk
