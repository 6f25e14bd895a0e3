/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, ablations for w=8, one symbol per thread: the ladder of the GPU-RSCode slides from the
 * modulo to extended tables (naive), the placements of the extended tables from the same slides
 * (opt: const, serial, parallel), and the GF GPU report's tables in shared memory (opt: shared,
 * doubled). */
#include <stdlib.h>

#include "kernels/region/walk_symbols.cuh"

namespace {

/* Logarithms and antilogarithms, one after the other. */
struct PlainTables {
    static constexpr int w = 8;
    const uint8_t *log, *antilog;
    uint32_t c;

    explicit PlainTables(const gfk_call *call)
        : log((const uint8_t *)call->multiplier->tables), antilog(log + 256), c(call->c) {}
};

/* ---- the ladder ----------------------------------------------------------------------------- */

/* The first step, gf256_mul as the slides print it: both factors are compared with zero, and the
 * sum of the logarithms is taken modulo 255 by the operator. */
struct LogMod : PlainTables {
    using PlainTables::PlainTables;
    __device__ uint32_t operator()(uint32_t x) const {
        if (x == 0 || c == 0)
            return 0;
        return antilog[(log[x] + log[c]) % 255];
    }
};

/* The second step: 256 is 1 modulo 255, so the carry of the sum is added to its lower bits. A sum
 * of exactly 255 stays 255; antilog[255] is 1 like antilog[0]. */
struct LogFold : PlainTables {
    using PlainTables::PlainTables;
    __device__ uint32_t operator()(uint32_t x) const {
        if (x == 0 || c == 0)
            return 0;
        const uint32_t sum = (uint32_t)log[x] + log[c];
        return antilog[(sum & 255) + (sum >> 8)];
    }
};

/* The third step: the antilogarithms are there twice, so that the sum of two logarithms needs no
 * reduction. Zero still takes a branch. */
struct LogDouble : PlainTables {
    using PlainTables::PlainTables;
    __device__ uint32_t operator()(uint32_t x) const {
        if (x == 0 || c == 0)
            return 0;
        return antilog[log[x] + log[c]];
    }
};

/* The last step's tables, as gfk_create_log_zero lays them out: log[0] is 510, and the
 * antilogarithms are there twice and are 0 from 509 on, so that neither a zero factor nor the sum
 * of two logarithms needs a branch. */
struct ExtendedTables {
    uint16_t log[256];
    uint8_t antilog[1024];

    static const ExtendedTables *of(const gfk_call *call) {
        return (const ExtendedTables *)call->multiplier->tables;
    }
    __device__ uint32_t product(uint32_t a, uint32_t b) const { return antilog[log[a] + log[b]]; }
};

struct LogZero {
    static constexpr int w = 8;
    const ExtendedTables *tables;
    uint32_t c;

    __device__ uint32_t operator()(uint32_t x) const { return tables->product(x, c); }
};

/* ---- placements of the extended tables ------------------------------------------------------ */

/* "Two tables in constant memory". The slides' tables were compiled in, for one polynomial; kernel
 * parameters are constant memory as well, so here a call passes the multiplier's host copy by
 * value. */
struct LogConst {
    static constexpr int w = 8, threads = 256;
    struct Shared {};
    ExtendedTables tables;
    uint32_t c;

    __device__ uint32_t operator()(const Shared &, uint32_t x) const {
        return tables.product(x, c);
    }
};

/* "Two tables in off-chip memory, loaded into shared memory in parallel": each block copies both
 * tables with all its threads. */
struct LogParallel {
    static constexpr int w = 8, threads = 256;
    using Shared = ExtendedTables;
    const ExtendedTables *tables;
    uint32_t c;

    __device__ void fill(Shared &t) const {
        t.log[threadIdx.x] = tables->log[threadIdx.x];
        for (unsigned i = threadIdx.x; i < 1024; i += threads)
            t.antilog[i] = tables->antilog[i];
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const { return t.product(x, c); }
};

/* "Two tables in shared memory, initialized serially at run time": the first thread of each block
 * computes both tables from the polynomial, power after power of the generator, while the other 255
 * wait. */
struct LogSerial {
    static constexpr int w = 8, threads = 256;
    using Shared = ExtendedTables;
    uint32_t c, generator, polynomial; /* the polynomial with its leading term */

    /* power * generator; one doubling where the generator is 2. */
    __device__ uint32_t next(uint32_t power) const {
        uint32_t product = 0;
        for (uint32_t bits = generator; bits != 0; bits >>= 1) {
            if (bits & 1)
                product ^= power;
            power <<= 1;
            if (power >> 8)
                power ^= polynomial;
        }
        return product;
    }

    __device__ void fill(Shared &t) const {
        if (threadIdx.x != 0)
            return;
        uint32_t power = 1;
        for (int i = 0; i < 255; i++) {
            t.log[power] = (uint16_t)i;
            t.antilog[i] = t.antilog[i + 255] = (uint8_t)power;
            power = next(power);
        }
        t.log[0] = 510;
        for (int i = 509; i < 1024; i++)
            t.antilog[i] = 0;
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const { return t.product(x, c); }
};

/* ---- the GF GPU report's tables in shared memory -------------------------------------------- */

/* Both tables, with the modulo left in: what LogDoubled is to be compared with. */
struct LogShared : PlainTables {
    static constexpr int threads = 512;
    struct Shared {
        uint8_t log[256], antilog[256];
    };
    using PlainTables::PlainTables;

    __device__ void fill(Shared &t) const {
        const unsigned i = threadIdx.x;
        if (i < 256) {
            t.log[i] = log[i];
            t.antilog[i] = antilog[i];
        }
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const {
        if (x == 0 || c == 0)
            return 0;
        return t.antilog[(t.log[x] + t.log[c]) % 255];
    }
};

/* Without the modulo: the block copies the antilogarithms twice, and its threads diverge while they
 * copy, which the report blames for a slower kernel. */
struct LogDoubled : PlainTables {
    static constexpr int threads = 512;
    struct Shared {
        uint8_t log[256], antilog[512]; /* sums above 508 do not occur */
    };
    using PlainTables::PlainTables;

    __device__ void fill(Shared &t) const {
        const unsigned i = threadIdx.x;
        if (i < 256)
            t.log[i] = log[i];
        if (i < 255)
            t.antilog[i] = antilog[i];
        else if (i < 510)
            t.antilog[i] = antilog[i - 255];
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const {
        if (x == 0 || c == 0)
            return 0;
        return t.antilog[t.log[x] + t.log[c]];
    }
};

} // namespace

extern "C" gfk_status gfk_log_w8_naive_mod(const gfk_call *call) {
    return gfk::launch_naive(call, LogMod(call));
}
extern "C" gfk_status gfk_log_w8_naive_fold(const gfk_call *call) {
    return gfk::launch_naive(call, LogFold(call));
}
extern "C" gfk_status gfk_log_w8_naive_double(const gfk_call *call) {
    return gfk::launch_naive(call, LogDouble(call));
}
extern "C" gfk_status gfk_log_w8_naive_zero(const gfk_call *call) {
    return gfk::launch_naive(call, LogZero{ExtendedTables::of(call), call->c});
}

extern "C" gfk_status gfk_create_log_w8_opt_const(gfk_multiplier_t multiplier) {
    gfk_status status = gfk_create_log_zero(multiplier);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    multiplier->host_tables = malloc(sizeof(ExtendedTables));
    if (multiplier->host_tables == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    return gfk::status_of(cudaMemcpy(multiplier->host_tables, multiplier->tables,
                                     sizeof(ExtendedTables), cudaMemcpyDeviceToHost));
}
extern "C" gfk_status gfk_log_w8_opt_const(const gfk_call *call) {
    const ExtendedTables *tables = (const ExtendedTables *)call->multiplier->host_tables;
    return gfk::launch_shared(call, LogConst{*tables, call->c});
}
extern "C" gfk_status gfk_log_w8_opt_parallel(const gfk_call *call) {
    return gfk::launch_shared(call, LogParallel{ExtendedTables::of(call), call->c});
}
extern "C" gfk_status gfk_log_w8_opt_serial(const gfk_call *call) {
    const gfk_field *field = &call->multiplier->info.field;
    return gfk::launch_shared(call,
                              LogSerial{call->c, field->generator, (uint32_t)field->polynomial});
}

extern "C" gfk_status gfk_log_w8_opt_shared(const gfk_call *call) {
    return gfk::launch_shared(call, LogShared(call));
}
extern "C" gfk_status gfk_log_w8_opt_doubled(const gfk_call *call) {
    return gfk::launch_shared(call, LogDoubled(call));
}
