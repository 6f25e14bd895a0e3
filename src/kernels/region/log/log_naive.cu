/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, one symbol per thread: the naive rows, and the tables of w=32, which are built on the
 * device. */
#include "host/base/poly.h"
#include "kernels/region/walk_symbols.cuh"
#include "log_tables.cuh"

namespace {

/* Logarithm, addition and antilogarithm from global memory. */
template <int W>
struct Log : gfk::SymbolOp, gfk::LogTables<W> {
    using gfk::LogTables<W>::LogTables;
    static constexpr int w = W;

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
        a = gfk_poly_double(a, 32, polynomial);
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

} // namespace

extern "C" gfk_status gfk_create_log_device(gfk_multiplier_t multiplier) {
    const gfk_field *field = &multiplier->info.field;
    uint32_t *log = (uint32_t *)multiplier->tables;
    const uint64_t entries = UINT64_C(1) << 32;
    gfk_status status = gfk::launch(fill_log, entries / RUN / 256, 256, 0, nullptr, log,
                                    log + entries, field->generator, (uint32_t)field->polynomial);
    return status == GFK_STATUS_SUCCESS ? gfk::status_of(cudaDeviceSynchronize()) : status;
}

GFK_REGION_ROW(log_w8_naive, launch_naive<Log<8>>)
GFK_REGION_ROW(log_w16_naive, launch_naive<Log<16>>)
GFK_REGION_ROW(log_w32_naive, launch_naive<Log<32>>)
