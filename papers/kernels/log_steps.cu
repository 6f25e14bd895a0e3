/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG w=8, one symbol per thread: the ladder of the GPU-RSCode slides from the modulo to extended
 * tables (naive), the placements of the extended tables from the same slides (opt: const, serial,
 * parallel), and the GF GPU report's tables in shared memory (opt: shared, doubled). */
#include "host/device/device.h"
#include "kernels/region/log/log_tables.cuh"
#include "kernels/region/walk_symbols.cuh"

namespace {

struct LogOp : gfk::SymbolOp, gfk::LogTables<8> {
    using gfk::LogTables<8>::LogTables;
    static constexpr int w = 8;
};

/* ---- the slides' ladder --------------------------------------------------------------------- */

/* From the sum of two logarithms to an index of the antilogarithms. */
enum class Sum {
    modulo, /* the first step, gf256_mul as the slides print it: the sum modulo 255, by % */
    folded, /* the second step: 256 is 1 modulo 255, so the carry of the sum is added to its lower
             * bits. A sum of exactly 255 stays 255; antilog[255] is 1 like antilog[0] */
    plain   /* the third step: the antilogarithms are there twice, and the sum needs no reduction */
};

/* Both factors are compared with zero, then looked up. */
template <Sum S, class L, class A>
__device__ inline uint32_t product(const L &log, const A &antilog, uint32_t x, uint32_t c) {
    if (x == 0 || c == 0)
        return 0;
    const int sum = log[x] + log[c];
    return antilog[S == Sum::modulo   ? sum % 255
                   : S == Sum::folded ? (sum & 255) + (sum >> 8)
                                      : sum];
}

template <Sum S>
struct LogStep : LogOp {
    using LogOp::LogOp;
    __device__ uint32_t operator()(uint32_t x) const { return product<S>(log, antilog, x, c); }
};

/* The last step's tables: log[0] is 510, and the antilogarithms are there twice and are 0 from 509
 * on, so that neither a zero factor nor the sum of two logarithms needs a branch. */
struct ExtendedTables {
    uint16_t log[256];
    uint8_t antilog[1024];

    __device__ uint32_t product(uint32_t a, uint32_t b) const { return antilog[log[a] + log[b]]; }
};

/* The powers of the field's generator go to power[i], for i below 255, and i to log[power]. */
template <class Entry>
void fill_powers(gfk_multiplier_t multiplier, Entry *log, uint8_t *power) {
    const gfk_field *field = &multiplier->info.field;
    uint32_t x = 1;
    for (unsigned i = 0; i < 255; i++) {
        power[i] = (uint8_t)x;
        log[x] = (Entry)i;
        x = gfk_poly_multiply(x, field->generator, 8, field->polynomial);
    }
}

ExtendedTables extended_tables(gfk_multiplier_t multiplier) {
    ExtendedTables t = {};
    fill_powers(multiplier, t.log, t.antilog);
    t.log[0] = 510;
    for (unsigned i = 255; i < 509; i++)
        t.antilog[i] = t.antilog[i - 255];
    return t;
}

gfk_status create_extended(gfk_multiplier_t multiplier) {
    const ExtendedTables t = extended_tables(multiplier);
    return gfk_device_upload(multiplier->tables, &t, sizeof t);
}

struct LogZero : gfk::SymbolOp {
    static constexpr int w = 8;
    const ExtendedTables *tables;
    uint32_t c;

    explicit LogZero(const gfk_call *call)
        : tables((const ExtendedTables *)call->multiplier->tables), c(call->c) {}
    __device__ uint32_t operator()(uint32_t x) const { return tables->product(x, c); }
};

/* ---- the slides' placements of the extended tables ------------------------------------------ */

/* "Two tables in constant memory". The slides' tables were compiled in, for one polynomial; kernel
 * parameters are constant memory as well, so here a call makes them and passes them by value. */
struct LogConst : gfk::SymbolOp {
    static constexpr int w = 8;
    ExtendedTables tables;
    uint32_t c;

    explicit LogConst(const gfk_call *call)
        : tables(extended_tables(call->multiplier)), c(call->c) {}
    __device__ uint32_t operator()(uint32_t x) const { return tables.product(x, c); }
};

/* "Two tables in off-chip memory, loaded into shared memory in parallel": each block copies both
 * tables with all its threads. */
struct LogParallel : LogZero {
    using LogZero::LogZero;
    using Shared = ExtendedTables;

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
struct LogSerial : gfk::SymbolOp {
    static constexpr int w = 8;
    using Shared = ExtendedTables;
    uint32_t c, generator, polynomial; /* the polynomial with its leading term */

    explicit LogSerial(const gfk_call *call)
        : c(call->c), generator(call->multiplier->info.field.generator),
          polynomial((uint32_t)call->multiplier->info.field.polynomial) {}

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

/* ---- the report's tables in shared memory --------------------------------------------------- */

/* Both tables, with the modulo left in: what LogDoubled is to be compared with. */
struct LogShared : LogOp {
    using LogOp::LogOp;
    static constexpr int threads = 512;
    struct Shared {
        uint8_t log[256], antilog[256];
    };

    __device__ void fill(Shared &t) const {
        const unsigned i = threadIdx.x;
        if (i < 256) {
            t.log[i] = log[i];
            t.antilog[i] = antilog[i];
        }
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const {
        return product<Sum::modulo>(t.log, t.antilog, x, c);
    }
};

/* Without the modulo: the block copies the antilogarithms twice, and its threads diverge while they
 * copy, which the report blames for a slower kernel. */
struct LogDoubled : LogOp {
    using LogOp::LogOp;
    static constexpr int threads = 512;
    struct Shared {
        uint8_t log[256], antilog[512]; /* sums above 508 do not occur */
    };

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
        return product<Sum::plain>(t.log, t.antilog, x, c);
    }
};

} // namespace

/* 256 logarithms, then 512 antilogarithms, so that the sum of two logarithms needs no reduction. */
extern "C" gfk_status gfk_create_log_w8_naive_double(gfk_multiplier_t multiplier) {
    uint8_t tables[768] = {}, *power = tables + 256;
    fill_powers(multiplier, tables, power);
    tables[0] = 255;
    for (unsigned i = 255; i < 510; i++)
        power[i] = power[i - 255];
    return gfk_device_upload(multiplier->tables, tables, sizeof tables);
}
extern "C" gfk_status gfk_create_log_w8_naive_zero(gfk_multiplier_t multiplier) {
    return create_extended(multiplier);
}
extern "C" gfk_status gfk_create_log_w8_opt_parallel(gfk_multiplier_t multiplier) {
    return create_extended(multiplier);
}

GFK_REGION_ROW(log_w8_naive_mod, launch_naive<LogStep<Sum::modulo>>)
GFK_REGION_ROW(log_w8_naive_fold, launch_naive<LogStep<Sum::folded>>)
GFK_REGION_ROW(log_w8_naive_double, launch_naive<LogStep<Sum::plain>>)
GFK_REGION_ROW(log_w8_naive_zero, launch_naive<LogZero>)

GFK_REGION_ROW(log_w8_opt_const, launch_naive<LogConst>)
GFK_REGION_ROW(log_w8_opt_parallel, launch_naive<LogParallel>)
GFK_REGION_ROW(log_w8_opt_serial, launch_naive<LogSerial>)
GFK_REGION_ROW(log_w8_opt_shared, launch_naive<LogShared>)
GFK_REGION_ROW(log_w8_opt_doubled, launch_naive<LogDoubled>)
