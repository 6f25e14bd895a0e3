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

/* Shared memory: the ring of stages, a batch each, its barriers, and planes of 8 rows of bits by
 * 256 symbols. */
template <int W>
struct Ring {
    using T = Tile<W>;
    static constexpr unsigned matrix_at = T::steps * T::data_bytes; /* in a stage */
    static constexpr unsigned stage_bytes = T::steps * (T::data_bytes + T::matrix_bytes);
    static constexpr unsigned plane_bytes = warpgroups * 8 * T::symbols;
    static constexpr unsigned stages =
        (most_shared - plane_bytes) / (stage_bytes + bulk::RingBarriers::stage_bytes);
    static constexpr unsigned barriers_at = stages * stage_bytes;
    static constexpr unsigned planes_at = barriers_at + stages * bulk::RingBarriers::stage_bytes;
    static constexpr unsigned bytes = planes_at + plane_bytes;
};

/* A tile of the job. Neighbouring blocks share tiles of symbols: eight tiles of symbols stand side
 * by side. */
struct Place {
    unsigned outputs, symbols, product;

    __device__ Place(const GemmJob &job, unsigned tile) {
        constexpr unsigned side = 8;
        const unsigned first = tile / (side * job.output_tiles) * side;
        const unsigned left = job.symbol_tiles - first, width = left < side ? left : side;
        const unsigned rest = tile % (side * job.output_tiles);
        outputs = rest / width;
        symbols = first + rest % width;
        product = symbols / job.tiles_each;
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
        const uint8_t *from_matrix =
            job.matrix +
            ((size_t)place.product * job.output_tiles + place.outputs) * job.batches * matrix;
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
 * g = lane / 4, of columns 32 q on, and of columns 128 + 32 q on. `bit`: the coordinate of row g. Rows count down to
 * coordinate 0. */
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
            const unsigned b = bit - i % 2 * 8;
            a[i] = W == 16 ? prmt(low >> b, high >> b, 0x5410) : funnel(low, high, b);
        }
    }
}

/* Bit i: the parity of count n + 4 i. */
__device__ inline uint32_t parities(const uint32_t (&c)[128], int n) {
    uint32_t bits = 0;
#pragma unroll
    for (int i = 7; i >= 0; i--) {
        const uint32_t low = prmt(c[n + 4 * i], c[n + 4 * (8 + i)], 0x0040);
        const uint32_t high = prmt(c[n + 4 * (16 + i)], c[n + 4 * (24 + i)], 0x0040);
        bits = bits * 2 + (prmt(low, high, 0x5410) & 0x01010101);
    }
    return bits;
}

/* Exchanges the bits of x at `mask` << shift with the bits of y at `mask`. */
__device__ inline void swap_bits(uint32_t &x, uint32_t &y, int shift, uint32_t mask) {
    const uint32_t swap = (x >> shift ^ y) & mask;
    y ^= swap;
    x ^= swap << shift;
}

/* A warp's counts become two planes of 8 rows: byte s of plane h has bit g of row g + 8 h of symbol
 * s. Count 4 * i + 2 * h + e of a lane is of row g + 8 h and symbol 32 * (2 q + e) + i. Lane L gets
 * 16 bytes of plane L / 16 from symbol 16 * (L % 16) on. `words`: 128 words of the warp. */
__device__ inline void transpose(const uint32_t (&c)[128], unsigned lane, uint32_t *words,
                                 uint32_t (&y)[4]) {
    const unsigned g = lane / 4, q = lane % 4;
#pragma unroll
    for (int n = 0; n < 4; n++)
        words[n / 2 * 64 + 8 * (2 * q + n % 2) + g] = parities(c, n);
    __syncwarp();
    const uint4 *p = (const uint4 *)words + lane / 2 * 2; /* eight rows of 32 symbols */
    uint32_t low[4], high[4], v[4], even[4], odd[4];
    unpack(p[0], low);
    unpack(p[1], high);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 4; i++) /* rows i and i + 4 of 16 symbols */
        v[i] = prmt(low[i], high[i], lane % 2 ? 0x7632 : 0x5410);
    swap_bits(v[0], v[1], 1, 0x55555555);
    swap_bits(v[2], v[3], 1, 0x55555555);
    swap_bits(v[0], v[2], 2, 0x33333333);
    swap_bits(v[1], v[3], 2, 0x33333333);
#pragma unroll
    for (int i = 0; i < 4; i++) { /* nibbles of symbols 4 j + i: bytes of an even and an odd j */
        const uint32_t e = v[i] & 0x0f0f0f0f, o = v[i] >> 4 & 0x0f0f0f0f;
        even[i] = e | e >> 12;
        odd[i] = o | o >> 12;
    }
    const uint32_t e01 = prmt(even[0], even[1], 0x5140), e23 = prmt(even[2], even[3], 0x5140);
    const uint32_t o01 = prmt(odd[0], odd[1], 0x5140), o23 = prmt(odd[2], odd[3], 0x5140);
    y[0] = prmt(e01, e23, 0x5410);
    y[1] = prmt(o01, o23, 0x5410);
    y[2] = prmt(e01, e23, 0x7632);
    y[3] = prmt(o01, o23, 0x7632);
}

/* Four words of symbols from the planes of their bytes: plane i is 256 * i bytes behind. */
__device__ inline void join_bytes(const uint8_t *planes, uint16_t, uint32_t (&y)[4]) {
    const uint2 low = *(const uint2 *)planes, high = *(const uint2 *)(planes + 256);
    y[0] = prmt(low.x, high.x, 0x5140);
    y[1] = prmt(low.x, high.x, 0x7362);
    y[2] = prmt(low.y, high.y, 0x5140);
    y[3] = prmt(low.y, high.y, 0x7362);
}
__device__ inline void join_bytes(const uint8_t *planes, uint32_t, uint32_t (&y)[4]) {
    uint32_t x[4];
    for (int i = 0; i < 4; i++)
        x[i] = *(const uint32_t *)(planes + 256 * i);
    for (int i = 0; i < 2; i++) {
        const uint32_t low = prmt(x[0], x[1], i ? 0x7362 : 0x5140);
        const uint32_t high = prmt(x[2], x[3], i ? 0x7362 : 0x5140);
        y[2 * i] = prmt(low, high, 0x5410);
        y[2 * i + 1] = prmt(low, high, 0x7632);
    }
}

/* From coordinates, the first one at the top, to symbols: the upper half of the product with the
 * polynomial. */
template <int W>
__device__ inline void leave_dual_basis(uint32_t (&y)[4], uint32_t polynomial) {
    const uint32_t x[4] = {y[0], y[1], y[2], y[3]};
    for (uint32_t left = polynomial & ~1u; left != 0; left &= left - 1) {
        const unsigned power = __ffs(left) - 1;
        const uint32_t mask = replicate<W>((1u << power) - 1);
#pragma unroll
        for (int i = 0; i < 4; i++)
            y[i] ^= x[i] >> (W - power) & mask;
    }
}

/* Stores a warpgroup's outputs. A thread stores 16 bytes of one output. */
template <int W, class Sync>
__device__ void store_outputs(const GemmJob &job, const Place &place, const uint32_t (&c)[128],
                              uint8_t *planes, unsigned warpgroup, const Sync &sync_warpgroup) {
    using T = Tile<W>;
    constexpr unsigned each = T::region_bytes / 16; /* threads of an output */
    const unsigned thread = threadIdx.x % 128, output = thread / each;
    uint32_t y[4];
    transpose(c, thread % 32, (uint32_t *)(planes + thread / 32 * 512), y);
    if constexpr (W != 8) {
        using Symbol = std::conditional_t<W == 16, uint16_t, uint32_t>;
        *(uint4 *)(planes + 16 * thread) = make_uint4(y[0], y[1], y[2], y[3]);
        sync_warpgroup();
        join_bytes(planes + output * T::symbol_bytes * 256 + thread % each * 16 / T::symbol_bytes,
                   Symbol(), y);
        sync_warpgroup();
    }
    leave_dual_basis<W>(y, job.polynomial);
    const unsigned row = place.outputs * T::outputs + warpgroup * (T::outputs / 2) + output;
    const unsigned symbols = place.symbols - place.product * job.tiles_each;
    const uint64_t at = job.first_byte + (uint64_t)symbols * T::region_bytes + thread % each * 16;
    const size_t region = (size_t)place.product * job.rows + row;
    if (row >= job.rows || at >= job.bytes || (job.wanted != nullptr && job.wanted[region] == 0))
        return;
    uint8_t *p = job.c.at(region) + at;
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
    if (job.condition != nullptr && *job.condition != 0)
        return;
    extern __shared__ __align__(128) uint8_t memory[];
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(memory);
    const bulk::RingBarriers barriers = {shared + R::barriers_at};
    if (threadIdx.x == 0) {
        barriers.init(R::stages, 128 * warpgroups);
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
    const unsigned bit = W - 1 - row % W;
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
    uint32_t c[128] = {};
    wgmma::expect(c);
    load_batch();
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const bool last_tile = tiles - tile <= gridDim.x;
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
                                    columns + step * (T::data_bytes / 16), batch + step);
            wgmma::commit();
            position.next(R::stages);
            if (!last_tile || batch + 1 < job.batches)
                load_batch();
            wgmma::wait<0>();
            wgmma::expect(c);
            bulk::arrive(released); /* every thread: racecheck does not see a warp's barrier here */
        }
        store_outputs<W>(job, Place(job, tile), c, planes, warpgroup, sync_warpgroup);
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
