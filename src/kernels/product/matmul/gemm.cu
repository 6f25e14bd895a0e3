/* SPDX-License-Identifier: BSD-3-Clause */
/* The product of bits of a matmul, on warpgroup MMAs; compiled for 9.0a alone.
 *
 * A block computes 128 rows of bits for 256 symbols: two warpgroups of 64 rows, whose counts stay
 * in registers for all inputs, and a warp that copies batches of both operands to a ring in shared
 * memory. The rows of the matrix operand are made in registers, one batch ahead of the products. */
#include "tile.cuh"

#ifdef GFK_HAVE_WGMMA

#include "kernels/common/copy_async.cuh"
#include "kernels/product/bmma/wgmma.cuh"

namespace gfk {
namespace matmul {
namespace {

constexpr int warpgroups = 2, threads = 128 * (warpgroups + 1);
constexpr unsigned most_shared = 227 * 1024;

/* Shared memory: the ring of stages, a batch each, its barriers, planes of 8 rows of bits by 256
 * symbols, and the table that takes sums back to symbols. */
template <int W>
struct Ring {
    using T = Tile<W>;
    static constexpr unsigned matrix_at = T::steps * T::data_bytes; /* in a stage */
    static constexpr unsigned stage_bytes = T::steps * (T::data_bytes + T::matrix_bytes);
    static constexpr unsigned plane_bytes = warpgroups * 8 * T::symbols;
    static constexpr unsigned table_bytes = T::symbol_bytes * 256 * T::symbol_bytes;
    static constexpr unsigned stages =
        (most_shared - plane_bytes - table_bytes) / (stage_bytes + bulk::RingBarriers::stage_bytes);
    static constexpr unsigned barriers_at = stages * stage_bytes;
    static constexpr unsigned planes_at = barriers_at + stages * bulk::RingBarriers::stage_bytes;
    static constexpr unsigned table_at = planes_at + plane_bytes;
    static constexpr unsigned bytes = table_at + table_bytes;
};

/* A tile of the job. Neighbouring blocks share tiles of symbols: eight tiles of symbols stand side
 * by side. */
struct Place {
    unsigned outputs, symbols;

    __device__ Place(const GemmJob &job, unsigned tile) {
        constexpr unsigned side = 8;
        const unsigned first = tile / (side * job.output_tiles) * side;
        const unsigned left = job.symbol_tiles - first, width = left < side ? left : side;
        const unsigned rest = tile % (side * job.output_tiles);
        outputs = rest / width;
        symbols = first + rest % width;
    }
};

template <int W>
__device__ void copy_batches(const GemmJob &job, uint32_t shared, bulk::RingBarriers barriers) {
    using T = Tile<W>;
    using R = Ring<W>;
    bulk::RingPosition position;
    const unsigned tiles = job.output_tiles * job.symbol_tiles;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const Place place(job, tile);
        constexpr unsigned data = T::steps * T::data_bytes, matrix = T::steps * T::matrix_bytes;
        const uint8_t *from_data = job.data + (size_t)place.symbols * job.batches * data;
        const uint8_t *from_matrix = job.matrix + (size_t)place.outputs * job.batches * matrix;
        for (unsigned batch = 0; batch < job.batches; batch++, position.next(R::stages)) {
            const uint32_t filled = barriers.filled(position.stage);
            const uint32_t to = shared + position.stage * R::stage_bytes;
            bulk::wait(barriers.released(position.stage), position.parity ^ 1);
            bulk::arrive_with(filled, R::stage_bytes);
            bulk::copy(to, from_data + (size_t)batch * data, data, filled);
            bulk::copy(to + R::matrix_at, from_matrix + (size_t)batch * matrix, matrix, filled);
        }
    }
}

/* A lane's rows of bits of the matrix operand, for a step: rows g and g + 8 of the warp's sixteen,
 * g = lane / 4, of columns 32 q on, and of columns 128 + 32 q on. `bit`: the row of its element. */
template <int W>
__device__ void load_rows(uint32_t at, unsigned bit, uint32_t (&a)[4]) {
    uint32_t x[4];
    load_shared(at, x);
    if constexpr (W == 8) { /* row g + 8 is of the next output */
        uint32_t y[4];
        load_shared(at + 64, y);
        for (int h = 0; h < 2; h++) {
            a[2 * h] = prmt(x[2 * h] >> bit, x[2 * h + 1] >> bit, 0x6420);
            a[2 * h + 1] = prmt(y[2 * h] >> bit, y[2 * h + 1] >> bit, 0x6420);
        }
    } else {
        for (int i = 0; i < 4; i++) {
            const uint32_t low = x[i / 2 * 2], high = x[i / 2 * 2 + 1];
            const unsigned row = bit + i % 2 * 8;
            a[i] = W == 16 ? prmt(low >> row, high >> row, 0x5410) : funnel(low, high, row);
        }
    }
}

/* Writes the parities of a warp's counts as two planes of 8 rows by 256 symbols: byte s of a plane
 * has a bit of each row, of symbol s. c[4 * i + 2 * h + e] is of row g + 8 h and symbol
 * 8 * i + 2 * q + e. */
__device__ inline void write_planes(const uint32_t (&c)[128], unsigned lane, uint8_t *planes) {
    const unsigned g = lane / 4, q = lane % 4;
#pragma unroll
    for (int n = 0; n < 4; n++) {
        uint32_t bits = 0; /* bit i: symbol 8 * i + 2 * q + e */
#pragma unroll
        for (int i = 31; i >= 0; i--)
            bits = bits * 2 + (c[4 * i + n] & 1);
        ((uint32_t *)(planes + n / 2 * 256))[8 * (2 * q + n % 2) + g] = bits;
    }
    __syncwarp();
    /* The lane takes symbols s = 8 * i + lane % 8 of eight i: byte lane / 8 of eight rows' words. */
    uint32_t rows[2][2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const uint4 *p = (const uint4 *)(planes + h * 256) + 2 * (lane % 8);
        const unsigned byte = lane / 8, select = byte | (byte + 4) << 4;
        const uint4 x = p[0], y = p[1];
        uint32_t low = prmt(prmt(x.x, x.y, select), prmt(x.z, x.w, select), 0x5410);
        uint32_t high = prmt(prmt(y.x, y.y, select), prmt(y.z, y.w, select), 0x5410);
        /* Transposes 8 x 8 bits: swaps across the diagonal in squares of 1, 2, 4 bits. */
        for (uint32_t *z : {&low, &high}) {
            uint32_t swap = (*z ^ *z >> 7) & 0x00aa00aa;
            *z ^= swap ^ swap << 7;
            swap = (*z ^ *z >> 14) & 0x0000cccc;
            *z ^= swap ^ swap << 14;
        }
        rows[h][0] = (low & 0x0f0f0f0f) | (high & 0x0f0f0f0f) << 4;
        rows[h][1] = (low >> 4 & 0x0f0f0f0f) | (high & 0xf0f0f0f0);
    }
    __syncwarp();
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int i = 0; i < 8; i++)
            planes[h * 256 + 8 * (8 * (lane / 8) + i) + lane % 8] =
                (uint8_t)(rows[h][i / 4] >> 8 * (i % 4));
}

/* Stores a warpgroup's outputs from its planes. A thread stores 16 bytes of one output. */
template <int W>
__device__ void store_outputs(const GemmJob &job, const Place &place, const uint8_t *planes,
                              const uint8_t *table, unsigned warpgroup, unsigned thread) {
    using T = Tile<W>;
    constexpr unsigned symbols = 16 / T::symbol_bytes, each = T::symbols / symbols;
    const unsigned output = thread / each, symbol = thread % each * symbols;
    uint32_t y[4] = {};
#pragma unroll
    for (unsigned i = 0; i < symbols; i++)
#pragma unroll
        for (unsigned byte = 0; byte < T::symbol_bytes; byte++) {
            const unsigned at =
                256 * byte + planes[(output * T::symbol_bytes + byte) * 256 + symbol + i];
            const uint32_t z = W == 8    ? table[at]
                               : W == 16 ? ((const uint16_t *)table)[at]
                                         : ((const uint32_t *)table)[at];
            y[i * W / 32] ^= z << i * W % 32;
        }
    const unsigned row = place.outputs * T::outputs + warpgroup * (T::outputs / 2) + output;
    const uint64_t at =
        job.first_byte + ((uint64_t)place.symbols * T::symbols + symbol) * T::symbol_bytes;
    if (row >= job.rows || at >= job.bytes)
        return;
    uint8_t *p = job.c.at(row) + at;
    const unsigned left = job.bytes - at < 16 ? (unsigned)(job.bytes - at) : 16;
    if (left == 16 && (uintptr_t)p % 16 == 0)
        store_vector<true>(p, y, job.accumulate);
    else
        for (unsigned i = 0; 4 * i < left; i++)
            store_bytes(p + 4 * i, left - 4 * i < 4 ? left - 4 * i : 4, y[i], job.accumulate);
}

template <int W>
__global__ __launch_bounds__(threads, 1) void multiply_bits(const __grid_constant__ GemmJob job) {
    using T = Tile<W>;
    using R = Ring<W>;
    extern __shared__ __align__(128) uint8_t memory[];
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(memory);
    const bulk::RingBarriers barriers = {shared + R::barriers_at};
    uint8_t *const table = memory + R::table_at;
    /* A symbol is the sum of x^b's share for every coordinate b that is set: the polynomial with
     * its leading term, divided by x^(b + 1). */
    const uint64_t polynomial = (uint64_t)1 << W | job.polynomial;
    for (unsigned i = threadIdx.x; i < T::symbol_bytes * 256; i += threads) {
        uint32_t y = 0;
        for (int bit = 0; bit < 8; bit++)
            if (i >> bit & 1)
                y ^= (uint32_t)(polynomial >> (i / 256 * 8 + bit + 1));
        if (W == 8)
            table[i] = (uint8_t)y;
        else if (W == 16)
            ((uint16_t *)table)[i] = (uint16_t)y;
        else
            ((uint32_t *)table)[i] = y;
    }
    if (threadIdx.x == 0) {
        barriers.init(R::stages, 4 * warpgroups);
        bulk::publish_barriers();
    }
    __syncthreads();
    const unsigned warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
    if (warpgroup == warpgroups) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x % 128 == 0)
            copy_batches<W>(job, shared, barriers);
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");

    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const unsigned row = 16 * warp + lane / 4; /* of the warpgroup's 64, and row + 8 */
    const unsigned bit = row % W;
    const uint32_t mine =
        shared + R::matrix_at + (warpgroup * (T::outputs / 2) + row / W) * 64 + lane % 4 * 16;
    /* Core matrices of 8 symbols by 16 bytes: 128 bytes from half to half, 256 from eight symbols
     * to the next eight. */
    const uint64_t data = (uint64_t)((shared & 0x3ffff) >> 4) | (uint64_t)(128 >> 4) << 16 |
                          (uint64_t)(256 >> 4) << 32;
    uint8_t *const planes = memory + R::planes_at + warpgroup * 8 * T::symbols;
    const auto sync_warpgroup = [&] {
        asm volatile("bar.sync %0, 128;" : : "r"(warpgroup + 1) : "memory");
    };

    bulk::RingPosition position;
    uint32_t a[T::steps][4] = {}, next[T::steps][4];
    const auto load_batch = [&] {
        bulk::wait(barriers.filled(position.stage), position.parity);
#pragma unroll
        for (int step = 0; step < T::steps; step++) {
            load_rows<W>(mine + position.stage * R::stage_bytes + step * T::matrix_bytes, bit,
                         next[step]);
            wgmma::expect(next[step]);
        }
    };
    const unsigned tiles = job.output_tiles * job.symbol_tiles;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        uint32_t c[128] = {};
        wgmma::expect(c);
        load_batch();
        for (unsigned batch = 0; batch < job.batches; batch++) {
            const uint64_t columns = data + position.stage * (R::stage_bytes / 16);
            const uint32_t released = barriers.released(position.stage);
            /* The products read registers a until they have ended, which ptxas does not know: the
             * sum with zero times the old value keeps other values out of these registers. */
#pragma unroll
            for (int step = 0; step < T::steps; step++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    asm volatile("lop3.b32 %0, %1, %0, %2, 0x78;"
                                 : "+r"(a[step][i])
                                 : "r"(next[step][i]), "r"(job.zero));
            wgmma::arrive();
#pragma unroll
            for (int step = 0; step < T::steps; step++)
                wgmma::multiply_add(c, a[step][0], a[step][1], a[step][2], a[step][3],
                                    columns + step * (T::data_bytes / 16));
            wgmma::commit();
            position.next(R::stages);
            if (batch + 1 < job.batches)
                load_batch();
            wgmma::wait<0>();
            wgmma::expect(c);
            __syncwarp();
            if (lane == 0)
                bulk::arrive(released);
        }
        const Place place(job, tile);
        sync_warpgroup(); /* the planes have been read */
        write_planes(c, lane, planes + 2 * warp * 256);
        sync_warpgroup();
        store_outputs<W>(job, place, planes, table, warpgroup, threadIdx.x % 128);
    }
}

template <int W>
gfk_status start(const GemmJob &job, int processors, gfk_stream_t stream) {
    const gfk_status status = allow_shared(multiply_bits<W>, Ring<W>::bytes);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    const uint64_t tiles = (uint64_t)job.output_tiles * job.symbol_tiles;
    return launch(multiply_bits<W>, tiles < (uint64_t)processors ? tiles : (uint64_t)processors,
                  threads, Ring<W>::bytes, stream, job);
}

} // namespace

gfk_status gemm(unsigned w, const GemmJob &job, int processors, gfk_stream_t stream) {
    return w == 8    ? start<8>(job, processors, stream)
           : w == 16 ? start<16>(job, processors, stream)
                     : start<32>(job, processors, stream);
}

} // namespace matmul
} // namespace gfk

#else

gfk_status gfk::matmul::gemm(unsigned, const GemmJob &, int, gfk_stream_t) {
    return GFK_STATUS_NOT_SUPPORTED;
}

#endif
