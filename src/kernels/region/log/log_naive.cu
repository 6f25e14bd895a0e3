/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, one symbol per thread: the naive rows, the tables of w=32, which are built on the device,
 * and published steps for w=8: the ladder of the GPU-RSCode slides from the modulo to extended
 * tables (naive), the placements of the extended tables from the same slides (opt: const, serial,
 * parallel), and the GF GPU report's tables in shared memory (opt: shared, doubled). */
#include <stdlib.h>

#include "kernels/region/walk_symbols.cuh"
#include "log_tables.cuh"

namespace {

template <int W>
struct LogOp : gfk::SymbolOp, gfk::LogTables<W> {
    using gfk::LogTables<W>::LogTables;
    static constexpr int w = W;
};

/* Logarithm, addition and antilogarithm from global memory. */
template <int W>
struct Log : LogOp<W> {
    using LogOp<W>::LogOp;
    __device__ uint32_t operator()(uint32_t x) const {
        return x == 0 ? 0 : this->rotated(this->log[this->c], this->log[x]);
    }
};

/* ---- the tables of w = 32 ------------------------------------------------------------------- */

constexpr int RUN = 256; /* antilogarithms that one thread computes, one after the other */

__device__ uint32_t multiply(uint32_t a, uint32_t b, uint32_t polynomial) {
    uint32_t product = 0;
    for (; b != 0; b >>= 1) {
        if (b & 1)
            product ^= a;
        a = a << 1 ^ (a >> 31 ? polynomial : 0);
    }
    return product;
}

/* The tables of src/host/region/tables.c for w=32: thread t computes generator^i for i from t * RUN
 * on. */
__global__ void fill_log(uint32_t *log, uint32_t *antilog, uint32_t generator,
                         uint32_t polynomial) {
    const uint32_t order = 0xffffffffu;
    const uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) * RUN;
    uint32_t power = 1, square = generator;
    for (uint32_t e = first; e != 0; e >>= 1) {
        if (e & 1)
            power = multiply(power, square, polynomial);
        square = multiply(square, square, polynomial);
    }
    for (uint32_t k = 0; k < RUN; k++) {
        const uint32_t i = first + k;
        antilog[i] = power; /* i = order gives 1 */
        if (i != order)
            log[power] = i;
        else
            log[0] = order;
        power = multiply(power, generator, polynomial);
    }
}

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
struct LogStep : LogOp<8> {
    using LogOp::LogOp;
    __device__ uint32_t operator()(uint32_t x) const { return product<S>(log, antilog, x, c); }
};

/* The last step's tables, as gfk_create_log_zero lays them out: log[0] is 510, and the
 * antilogarithms are there twice and are 0 from 509 on, so that neither a zero factor nor the sum
 * of two logarithms needs a branch. */
struct ExtendedTables {
    uint16_t log[256];
    uint8_t antilog[1024];

    __device__ uint32_t product(uint32_t a, uint32_t b) const { return antilog[log[a] + log[b]]; }
};

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
 * parameters are constant memory as well, so here a call passes the multiplier's host copy by
 * value. */
struct LogConst : gfk::SymbolOp {
    static constexpr int w = 8;
    ExtendedTables tables;
    uint32_t c;

    explicit LogConst(const gfk_call *call)
        : tables(*(const ExtendedTables *)call->multiplier->host_tables), c(call->c) {}
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
struct LogShared : LogOp<8> {
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
struct LogDoubled : LogOp<8> {
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

extern "C" gfk_status gfk_create_log_device(gfk_multiplier_t multiplier) {
    const gfk_field *field = &multiplier->info.field;
    uint32_t *log = (uint32_t *)multiplier->tables;
    const uint64_t entries = UINT64_C(1) << 32;
    gfk_status status = gfk::launch(fill_log, entries / RUN / 256, 256, 0, nullptr, log,
                                    log + entries, field->generator, (uint32_t)field->polynomial);
    return status == GFK_STATUS_SUCCESS ? gfk::status_of(cudaDeviceSynchronize()) : status;
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

GFK_REGION_ROW(log_w8_naive, launch_naive<Log<8>>)
GFK_REGION_ROW(log_w16_naive, launch_naive<Log<16>>)
GFK_REGION_ROW(log_w32_naive, launch_naive<Log<32>>)

GFK_REGION_ROW(log_w8_naive_mod, launch_naive<LogStep<Sum::modulo>>)
GFK_REGION_ROW(log_w8_naive_fold, launch_naive<LogStep<Sum::folded>>)
GFK_REGION_ROW(log_w8_naive_double, launch_naive<LogStep<Sum::plain>>)
GFK_REGION_ROW(log_w8_naive_zero, launch_naive<LogZero>)

GFK_REGION_ROW(log_w8_opt_const, launch_naive<LogConst>)
GFK_REGION_ROW(log_w8_opt_parallel, launch_naive<LogParallel>)
GFK_REGION_ROW(log_w8_opt_serial, launch_naive<LogSerial>)
GFK_REGION_ROW(log_w8_opt_shared, launch_naive<LogShared>)
GFK_REGION_ROW(log_w8_opt_doubled, launch_naive<LogDoubled>)
