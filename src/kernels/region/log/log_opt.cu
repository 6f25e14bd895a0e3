/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, optimized. The addition of log c is folded into a window of the antilogarithms that begins
 * at log c, so that a product is window[log x]; the entry of log 0, which is 2^w - 1, is 0.
 *
 * w=8: both tables private to each lane; an entry of the first is the address of the second's.
 * w=16: all logarithms and half of the window in shared memory where a block can have 192 KiB:
 * entry j is the antilogarithm of 2j + log c, and odd logarithms multiply it by the generator. The
 * multiplier stores all even powers in order, twice, so that each window is contiguous. A variant
 * reads both tables through the caches, as w=32 and short regions do. */
#include "kernels/region/private_tables.cuh"
#include "kernels/region/walk_tiles.cuh"
#include "log_tables.cuh"

namespace {

struct Log8 {
    static constexpr int w = 8, threads = 512, vectors = 2, blocks = 2;
    static constexpr bool persistent = true;
    static constexpr size_t fill_from = 8 << 20;
    using Params = gfk::LogTables<8>;
    using Shared = gfk::PrivateTables;
    const gfk::PrivateLookup t;

    __device__ static void fill(const Params &params, Shared &tables) {
        const uint32_t log_c = params.log[params.c];
        gfk::fill_private(
            tables,
            [&](unsigned table, unsigned v) {
                return table == 0 ? params.log[v] * 256u
                       : v < 255  ? gfk::replicate<8>(params.rotated(log_c, v))
                                  : 0;
            },
            threadIdx.x % 32 * 4);
    }
    __device__ Log8(const Params &, Shared &shared) : t(shared) {}

    template <int K>
    __device__ uint32_t product(uint32_t x) const {
        return t.second(t.first(t.address<K>(x))); /* in all four bytes */
    }

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const uint32_t low = gfk::prmt(product<0>(x[i]), product<1>(x[i]), 0x0040);
            const uint32_t high = gfk::prmt(product<2>(x[i]), product<3>(x[i]), 0x0040);
            x[i] = gfk::prmt(low, high, 0x5410);
        }
    }
};

/* w=8 for short regions: the plain tables, copied into shared memory. */
struct Log8Few : gfk::OneTileOp {
    static constexpr int w = 8, threads = 128, blocks = 8;
    using Params = gfk::LogTables<8>;
    struct Shared {
        uint32_t log[64], antilog[64];
    };
    const uint8_t *log, *antilog;
    const uint32_t log_c;

    __device__ static void fill(const Params &params, Shared &t) {
        if (threadIdx.x < 64)
            t.log[threadIdx.x] = ((const uint32_t *)params.log)[threadIdx.x];
        else if (threadIdx.x < 128)
            t.antilog[threadIdx.x - 64] = ((const uint32_t *)params.antilog)[threadIdx.x - 64];
    }
    __device__ Log8Few(const Params &params, Shared &shared)
        : log((const uint8_t *)shared.log), antilog((const uint8_t *)shared.antilog),
          log_c(params.log[params.c]) {}

    __device__ uint32_t product(uint32_t x) const {
        const uint32_t sum = log[x] + log_c;
        return x ? antilog[sum < 255 ? sum : sum - 255] : 0;
    }

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        gfk::map_symbols<8>(x, [&](uint32_t symbol) { return product(symbol); });
    }
};

struct Log16 {
    static constexpr int w = 16, threads = 1024, vectors = 2, blocks = 1;
    static constexpr bool persistent = true;
    static constexpr size_t fill_from = 768 << 10;
    struct Params {
        gfk::LogTables<16> tables;
        uint32_t polynomial, generator;

        explicit Params(const gfk_call *call)
            : tables(call), polynomial(gfk::replicate<16>(gfk::lower_polynomial(call))),
              generator(call->multiplier->info.field.generator) {}
        __device__ const uint16_t *even_powers() const { return tables.antilog + 65536; }
        /* The beginning of the window: half of log c, modulo 65535. */
        __device__ uint32_t begin() const {
            const uint32_t log_c = tables.log[tables.c];
            return (log_c + (log_c & 1) * 65535) / 2;
        }
    };
    /* The window is copied in 16 bytes at a time, so up to 7 entries come before it. */
    struct Shared {
        uint4 log[65536 / 8], window[32768 / 8 + 1];
    };
    const uint16_t *log, *window;
    const Params &p;

    __device__ static void fill(const Params &params, Shared &t) {
        const uint4 *log = (const uint4 *)params.tables.log;
        const uint4 *window = (const uint4 *)params.even_powers() + params.begin() / 8;
#pragma unroll
        for (unsigned i = 0; i < 8; i++)
            t.log[i * threads + threadIdx.x] = log[i * threads + threadIdx.x];
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
            t.window[i * threads + threadIdx.x] = window[i * threads + threadIdx.x];
        if (threadIdx.x == 0)
            t.window[4 * threads] = window[4 * threads];
    }
    __device__ Log16(const Params &params, Shared &shared)
        : log((const uint16_t *)shared.log),
          window((const uint16_t *)shared.window + params.begin() % 8), p(params) {}

    /* Every product times the generator of the logarithms, which is 2 for most polynomials. */
    template <int N>
    __device__ void next_power(uint32_t (&next)[N], const uint32_t (&y)[N]) const {
        uint32_t power[N];
#pragma unroll
        for (int i = 0; i < N; i++) {
            power[i] = gfk::double_xor<16>(y[i], p.polynomial, 0);
            next[i] = power[i];
        }
        if (p.generator == 2)
            return;
#pragma unroll
        for (int i = 0; i < N; i++)
            next[i] = p.generator & 1 ? y[i] : 0;
        for (uint32_t bits = p.generator >> 1; bits != 0; bits >>= 1) {
#pragma unroll
            for (int i = 0; i < N; i++) {
                if (bits & 1)
                    next[i] ^= power[i];
                power[i] = gfk::double_xor<16>(power[i], p.polynomial, 0);
            }
        }
    }

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        constexpr int step = N < 4 ? N : 4; /* at a time, to save registers */
#pragma unroll
        for (int first = 0; first < N; first += step) {
            uint32_t logs[step], y[step], next[step];
#pragma unroll
            for (int i = 0; i < step; i++) {
                const uint32_t a = x[first + i], even = log[a & 0xffff], odd = log[a >> 16];
                logs[i] = gfk::prmt(even, odd, 0x5410);
                y[i] = gfk::prmt(window[even >> 1], window[odd >> 1], 0x5410);
            }
            next_power(next, y);
#pragma unroll
            for (int i = 0; i < step; i++) {
                const uint32_t a = x[first + i];
                const uint32_t is_odd = (logs[i] & 0x00010001) * 0xffff;
                /* log 0 = 65535 is odd and shares its entry: zero symbols are masked out. */
                const uint32_t not_zero =
                    gfk::top_bit_mask<16>(((a & 0x7fff7fff) + 0x7fff7fff) | a);
                x[first + i] = ((next[i] & is_odd) | (y[i] & ~is_odd)) & not_zero;
            }
        }
    }
};

/* Both tables in global memory. */
template <int W>
struct LogGlobal : gfk::OneTileOp {
    static constexpr int w = W, threads = 256, vectors = 2, blocks = 1;
    using Params = gfk::LogTables<W>;
    const Params &t;
    const uint32_t log_c;

    __device__ LogGlobal(const Params &params, Shared &) : t(params), log_c(params.log[params.c]) {}

    __device__ uint32_t product(uint32_t x) const {
        const uint32_t log = __ldg(t.log + x);
        return x ? t.rotated(log_c, log) : 0;
    }

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        gfk::map_symbols<W>(x, [&](uint32_t symbol) { return product(symbol); });
    }
};

} // namespace

extern "C" gfk_status gfk_create_log_w8_opt(gfk_multiplier_t multiplier) {
    const gfk_status status = gfk_create_log(multiplier);
    return status == GFK_STATUS_SUCCESS ? gfk::allow_shared<Log8>() : status;
}
extern "C" gfk_status gfk_create_log_w16_opt(gfk_multiplier_t multiplier) {
    const gfk_status status = gfk_create_log_even(multiplier);
    return status == GFK_STATUS_SUCCESS ? gfk::allow_shared<Log16>() : status;
}
GFK_REGION_ROW(log_w8_opt, launch_opt<Log8, Log8Few>)
GFK_REGION_ROW(log_w16_opt, launch_opt<Log16, LogGlobal<16>, gfk::gather_threads>)
GFK_REGION_ROW(log_w16_opt_l2, launch_opt<LogGlobal<16>, LogGlobal<16>, gfk::gather_threads>)
GFK_REGION_ROW(log_w32_opt, launch_opt<LogGlobal<32>>)
