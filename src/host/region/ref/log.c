/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG: antilog((log x + log c) mod (2^w - 1)). */
#include "walk.h"

static inline uint32_t log_antilog(const gfk_call *call, unsigned w, uint32_t x) {
    const uint64_t order = (UINT64_C(1) << w) - 1;
    const unsigned char *log = call->multiplier->tables;
    const unsigned char *antilog = log + (order + 1) * w / 8;
    if (x == 0)
        return 0;
    uint64_t sum = (uint64_t)gfk_symbol_get(log, x, w) + gfk_symbol_get(log, call->c, w);
    return gfk_symbol_get(antilog, sum % order, w);
}

gfk_status gfk_log_host(const gfk_call *call) {
    return gfk_walk(call, log_antilog);
}
