/* SPDX-License-Identifier: BSD-3-Clause */
/* The product of bits of a matmul, on warpgroup MMAs; compiled for 9.0a alone.
 *
 * A block computes a tile of outputs for 256 symbols: consumer warpgroups of 64 rows, whose
 * accumulators stay in registers for all inputs, and a producer warp that copies K-blocks of both
 * operands to a ring in shared memory. Rows are in registers before their products begin: without
 * levels those of a K-block, made during the products of the K-block before. With levels three
 * warpgroups have 160 registers for each thread and one step's rows ahead; two of them compute
 * while the third one waits. Traffic of L2 and of shared memory is the limit, so more rows for the
 * same data are worth it. */
#include "tile.cuh"

#ifdef GFK_HAVE_WGMMA

#include "kernels/common/copy_async.cuh"
#include "kernels/product/bmma/wgmma.cuh"

namespace gfk {
namespace matmul {
namespace {

/* Shared memory: the ring of stages, a K-block each, its barriers, and planes of 8 rows of bits by
 * 256 symbols. */
template <class T>
struct Ring {
    static constexpr unsigned matrix_at = T::steps * T::data_bytes; /* in a stage */
    static constexpr unsigned stage_bytes = T::steps * (T::data_bytes + T::matrix_bytes);
    static constexpr unsigned plane_bytes = T::warpgroups * 8 * T::symbols;
    static constexpr unsigned sums_bytes = T::pieces * 16 * 128 * T::warpgroups;
    static constexpr unsigned stages =
        (most_shared - plane_bytes - sums_bytes) / (stage_bytes + bulk::RingBarriers::stage_bytes);
    static constexpr unsigned barriers_at = stages * stage_bytes;
    static constexpr unsigned planes_at = barriers_at + stages * bulk::RingBarriers::stage_bytes;
    static constexpr unsigned sums_at = planes_at + plane_bytes;
    static constexpr unsigned bytes = sums_at + sums_bytes;
};

template <class T>
__device__ void copy_batches(const GemmJob &job, uint32_t shared, bulk::RingBarriers barriers) {
    using R = Ring<T>;
    bulk::RingPosition position;
    const unsigned tiles = job.output_tiles * job.symbol_tiles, k_blocks = T::parts * job.k_blocks;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const TilePlace place(tile, job.output_tiles, job.symbol_tiles);
        constexpr unsigned data = T::steps * T::data_bytes, matrix = T::steps * T::matrix_bytes;
        const uint8_t *from_data = job.data + (size_t)place.symbols * k_blocks * data;
        const unsigned product = place.symbols / job.symbols.tiles_each;
        const uint8_t *from_matrix =
            job.matrix + ((size_t)product * job.output_tiles + place.outputs) * k_blocks * matrix;
        for (unsigned k_block = 0; k_block < k_blocks; k_block++, position.next(R::stages)) {
            const uint32_t filled = barriers.filled(position.stage);
            const uint32_t to = shared + position.stage * R::stage_bytes;
            bulk::wait(barriers.released(position.stage), position.parity ^ 1);
            bulk::arrive_with(filled, R::stage_bytes);
            bulk::copy(to, from_data + (size_t)k_block * data, data, filled);
            bulk::copy(to + R::matrix_at, from_matrix + (size_t)k_block * matrix, matrix, filled);
        }
    }
}

/* A lane's rows of bits of the matrix operand, for a step: rows g and g + 8 of the warp's sixteen,
 * g = lane / 4, of columns 32 q on, and of columns 128 + 32 q on. `bit`: the coordinate of row g.
 * Rows count down to coordinate 0. */
template <class T>
__device__ void load_rows(uint32_t at, unsigned bit, uint32_t (&a)[4]) {
    if constexpr (T::pieces > 1) { /* the rows themselves */
        uint32_t x[2], y[2];
        load_shared(at, x);
        load_shared(at + 8 * 32, y);
        a[0] = x[0], a[1] = y[0], a[2] = x[1], a[3] = y[1];
        return;
    }
    uint32_t x[4];
    load_shared(at, x);
    if constexpr (T::h == 8) { /* row g + 8 is of the next output */
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
            a[i] = T::h == 16 ? prmt(low >> b, high >> b, 0x5410) : funnel(low, high, b);
        }
    }
}

/* Returns a word whose bit i is the parity of count n + 4 i. */
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

/* A warp's parities become two planes of 8 rows: byte s of plane h has bit g of row g + 8 h of
 * symbol s. Bit i of a lane's word 2 * h + e is of row g + 8 h and symbol 32 * (2 q + e) + i. Lane
 * L gets 16 bytes of plane L / 16 from symbol 16 * (L % 16) on. `words`: 128 words of the warp. */
__device__ inline void transpose(const uint32_t (&p)[4], unsigned lane, uint32_t *words,
                                 uint32_t (&y)[4]) {
    const unsigned g = lane / 4, q = lane % 4;
#pragma unroll
    for (int n = 0; n < 4; n++)
        words[n / 2 * 64 + 8 * (2 * q + n % 2) + g] = p[n];
    __syncwarp();
    const uint4 *rows = (const uint4 *)words + lane / 2 * 2; /* eight rows of 32 symbols */
    uint32_t low[4], high[4], v[4], even[4], odd[4];
    unpack(rows[0], low);
    unpack(rows[1], high);
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

/* Joins sixteen symbols from their bytes: byte b is x[b]. */
__device__ inline void join_symbols(const uint32_t (&x)[1][4], uint32_t (&z)[1][4]) {
#pragma unroll
    for (int i = 0; i < 4; i++)
        z[0][i] = x[0][i];
}
__device__ inline void join_symbols(const uint32_t (&x)[2][4], uint32_t (&z)[2][4]) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        z[i / 2][i % 2 * 2] = prmt(x[0][i], x[1][i], 0x5140);
        z[i / 2][i % 2 * 2 + 1] = prmt(x[0][i], x[1][i], 0x7362);
    }
}
__device__ inline void join_symbols(const uint32_t (&x)[4][4], uint32_t (&z)[4][4]) {
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const uint32_t low = prmt(x[0][i], x[1][i], k ? 0x7362 : 0x5140);
            const uint32_t high = prmt(x[2][i], x[3][i], k ? 0x7362 : 0x5140);
            z[i][2 * k] = prmt(low, high, 0x5410);
            z[i][2 * k + 1] = prmt(low, high, 0x7632);
        }
}

/* Joins four words of symbols from the planes of their bytes: plane i begins at byte 256 * i. */
__device__ inline void join_planes(const uint8_t *planes, std::integral_constant<int, 16>,
                                   uint32_t (&y)[4]) {
    const uint2 low = *(const uint2 *)planes, high = *(const uint2 *)(planes + 256);
    y[0] = prmt(low.x, high.x, 0x5140);
    y[1] = prmt(low.x, high.x, 0x7362);
    y[2] = prmt(low.y, high.y, 0x5140);
    y[3] = prmt(low.y, high.y, 0x7362);
}
__device__ inline void join_planes(const uint8_t *planes, std::integral_constant<int, 32>,
                                   uint32_t (&y)[4]) {
    uint32_t x[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        x[i] = *(const uint32_t *)(planes + 256 * i);
#pragma unroll
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

/* Pieces of H bits become bytes: y[k] has byte for byte piece k of 8 / H outputs, the first piece
 * is the top of a result. Output i is then in y[i], y[i + 8 / H], ..., the top byte first. */
template <int H, int N>
__device__ inline void join_pieces(uint32_t (&y)[N][4]) {
    if constexpr (H < 8) {
        constexpr uint32_t low = 0xffffffff / (1u << H | 1);
        uint32_t even[N / 2][4], odd[N / 2][4];
#pragma unroll
        for (int k = 0; k < N / 2; k++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const uint32_t top = y[2 * k][i], rest = y[2 * k + 1][i];
                even[k][i] = (rest & low) | (top & low) << H;
                odd[k][i] = (rest >> H & low) | (top & ~low);
            }
        join_pieces<2 * H>(even);
        join_pieces<2 * H>(odd);
#pragma unroll
        for (int k = 0; k < N / 2; k++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                y[2 * k][i] = even[k][i];
                y[2 * k + 1][i] = odd[k][i];
            }
    }
}

/* Stores a warpgroup's outputs, whose parities are p. */
template <class T, class Sync>
__device__ void store_outputs(const GemmJob &job, const TilePlace &place, const uint4 *sums,
                              uint8_t *planes, unsigned warpgroup, const Sync &sync_warpgroup) {
    constexpr int W = T::w;
    const unsigned thread = threadIdx.x % 128, lane = thread % 32;
    const unsigned first_row =
        place.outputs * T::outputs + warpgroup * (T::outputs / T::warpgroups);
    const Symbols::Span to = job.symbols.of_tile(place.symbols, T::region_bytes);
    uint32_t *words = (uint32_t *)(planes + thread / 32 * 512);
    /* The rows of this thread, and, long before it is needed, whether they are stored. */
    constexpr unsigned outputs = T::h <= 8 ? 8 / T::h : 1;
    const unsigned row =
        first_row + (T::h <= 8 ? thread / 16 * outputs : thread / (T::region_bytes / 16));
    bool stored[outputs];
#pragma unroll
    for (unsigned i = 0; i < outputs; i++)
        stored[i] = is_stored(job, to, row + i);
    const auto store = [&](unsigned row, unsigned at, bool is_stored, uint32_t(&y)[4]) {
        leave_dual_basis<W>(y, job.polynomial);
        if (is_stored)
            store_symbols(job, to, row, at, y);
    };
    uint32_t y[T::pieces][4];
#pragma unroll
    for (int k = 0; k < T::pieces; k++) {
        uint32_t p[4];
        unpack(sums[k * 128 * T::warpgroups], p);
        transpose(p, lane, words, y[k]);
    }
    if constexpr (T::h <= 8) {
        join_pieces<T::h>(y);
#pragma unroll
        for (unsigned i = 0; i < outputs; i++) {
            const unsigned at = lane % 16 * 16 * T::symbol_bytes;
            uint32_t x[T::symbol_bytes][4], z[T::symbol_bytes][4];
#pragma unroll
            for (int k = 0; k < T::symbol_bytes; k++)
#pragma unroll
                for (int n = 0; n < 4; n++)
                    x[T::symbol_bytes - 1 - k][n] = y[outputs * k + i][n];
            join_symbols(x, z);
#pragma unroll
            for (int k = 0; k < T::symbol_bytes; k++)
                store(row + i, at + 16 * k, stored[i], z[k]);
        }
    } else {
        constexpr unsigned each = T::region_bytes / 16; /* threads of an output */
        const unsigned output = thread / each;
        *(uint4 *)(planes + 16 * thread) = make_uint4(y[0][0], y[0][1], y[0][2], y[0][3]);
        sync_warpgroup();
        join_planes(planes + output * T::symbol_bytes * 256 + thread % each * 16 / T::symbol_bytes,
                    std::integral_constant<int, W>(), y[0]);
        sync_warpgroup();
        store(row, thread % each * 16, stored[0], y[0]);
    }
}

/* Adds the parities of part `part` to the sums of its pieces: at each level, part 0 belongs to the
 * first half, part 2 to the second one, part 1 to both. */
template <class T>
__device__ void add_part(unsigned part, const uint32_t (&x)[4], uint4 *sums) {
    unsigned first = 0, both = 0, k = 0;
    for (unsigned bit = 1; bit < T::pieces; bit *= 2, part /= 3) {
        first |= part % 3 == 2 ? bit : 0;
        both |= part % 3 == 1 ? bit : 0;
    }
    do {
        uint4 &sum = sums[(first | k) * 128 * T::warpgroups];
        sum = make_uint4(sum.x ^ x[0], sum.y ^ x[1], sum.z ^ x[2], sum.w ^ x[3]);
        k = (k - both) & both;
    } while (k != 0);
}

/* C += A B, or C = A B if `add` is 0. With 160 registers for each thread there is no room for the
 * instruction with 256 columns. */
template <class T>
__device__ void multiply(uint32_t (&c)[128], const uint32_t (&a)[4], uint64_t b, uint32_t add) {
    if constexpr (T::warpgroups == 2) {
        wgmma::multiply_add(c, a[0], a[1], a[2], a[3], b, add);
    } else {
        wgmma::multiply_add_half<0>(c, a, b, add);
        wgmma::multiply_add_half<1>(c, a, b, add);
    }
}

template <int W, int LEVELS>
__global__ __launch_bounds__(128 * (Tile<W, LEVELS>::warpgroups + 1),
                             1) void multiply_bits(const __grid_constant__ GemmJob job) {
    using T = Tile<W, LEVELS>;
    using R = Ring<T>;
    if (job.skip_if != nullptr && *job.skip_if != 0)
        return;
    extern __shared__ __align__(128) uint8_t memory[];
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(memory);
    const bulk::RingBarriers barriers = {shared + R::barriers_at};
    if (threadIdx.x == 0) {
        barriers.init(R::stages, 128 * T::warpgroups);
        bulk::publish_barriers();
    }
    __syncthreads();
    const unsigned warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
    if (warpgroup == T::warpgroups) {
        wgmma::give_registers<T::warpgroups == 2 ? 40 : 32>();
        if (threadIdx.x % 128 == 0)
            copy_batches<T>(job, shared, barriers);
        return;
    }
    wgmma::take_registers<T::warpgroups == 2 ? 232 : 160>();

    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const unsigned row = 16 * warp + lane / 4; /* of the warpgroup's 64, and row + 8 */
    const unsigned bit = T::h - 1 - row % T::h;
    constexpr unsigned per_row = T::matrix_bytes / T::bits;
    const uint32_t mine = shared + R::matrix_at +
                          (T::pieces > 1 ? (64 * warpgroup + row) * per_row + lane % 4 * 8
                                         : (64 * warpgroup + row) / T::h * 64 + lane % 4 * 16);
    /* Core matrices of 8 symbols by 16 bytes: 128 bytes from half to half, 256 from eight symbols
     * to the next eight. */
    const uint64_t data = (uint64_t)((shared & 0x3ffff) >> 4) | (uint64_t)(128 >> 4) << 16 |
                          (uint64_t)(256 >> 4) << 32;
    uint8_t *const planes = memory + R::planes_at + warpgroup * 8 * T::symbols;
    const auto sync_warpgroup = [&] { wgmma::sync_warpgroup(warpgroup); };

    bulk::RingPosition position;
    constexpr int ahead = LEVELS == 0 ? T::steps : 1; /* steps whose rows are in registers */
    uint32_t a[ahead][4] = {}, next[ahead][4];
    uint4 *const sums = (uint4 *)(memory + R::sums_at) + threadIdx.x;
    const auto load = [&](int first) {
#pragma unroll
        for (int n = 0; n < ahead; n++) {
            load_rows<T>(mine + position.stage * R::stage_bytes + (first + n) * T::matrix_bytes,
                         bit, next[n]);
            wgmma::expect(next[n]);
        }
    };
    const unsigned tiles = job.output_tiles * job.symbol_tiles;
    uint32_t c[128] = {};
    wgmma::expect(c);
    bulk::wait(barriers.filled(0), 0);
    load(0);
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const bool last_tile = tiles - tile <= gridDim.x;
        if (LEVELS > 0) {
#pragma unroll
            for (int i = 0; i < 128; i++) /* no register holds a count when outputs are stored */
                c[i] = 0;
            wgmma::expect(c);
#pragma unroll
            for (int k = 0; k < T::pieces; k++)
                sums[k * 128 * T::warpgroups] = make_uint4(0, 0, 0, 0);
        }
        for (unsigned part = 0; part < T::parts; part++) {
            for (unsigned k_block = 0; k_block < job.k_blocks; k_block++) {
                const uint64_t columns = data + position.stage * (R::stage_bytes / 16);
                const uint32_t released = barriers.released(position.stage);
#pragma unroll
                for (int step = 0; step < T::steps; step += ahead) {
                    /* The products read registers a until they have ended, which ptxas does not
                     * know: the sum with zero times the old value keeps other values out of these
                     * registers. */
#pragma unroll
                    for (int i = 0; i < 4 * ahead; i++)
                        asm volatile("lop3.b32 %0, %1, %0, %2, 0x78;"
                                     : "+r"(a[i / 4][i % 4])
                                     : "r"(next[i / 4][i % 4]), "r"(job.zero));
                    wgmma::arrive();
#pragma unroll
                    for (int n = 0; n < ahead; n++)
                        multiply<T>(c, a[n], columns + (step + n) * (T::data_bytes / 16),
                                    k_block + step + n);
                    wgmma::commit();
                    if (step + ahead < T::steps) {
                        load(step + ahead);
                    } else {
                        position.next(R::stages);
                        if (!last_tile || k_block + 1 < job.k_blocks || part + 1 < T::parts) {
                            bulk::wait(barriers.filled(position.stage), position.parity);
                            load(0);
                        }
                    }
                    wgmma::wait<0>();
                    wgmma::expect(c);
                }
                bulk::arrive(released); /* every thread: racecheck sees no barrier of a warp here */
            }
            uint32_t x[4];
#pragma unroll
            for (int n = 0; n < 4; n++)
                x[n] = parities(c, n);
            if constexpr (LEVELS == 0)
                sums[0] = make_uint4(x[0], x[1], x[2], x[3]);
            else
                add_part<T>(part, x, sums);
        }
        store_outputs<T>(job, TilePlace(tile, job.output_tiles, job.symbol_tiles), sums, planes,
                         warpgroup, sync_warpgroup);
    }
}

template <int W, int LEVELS>
gfk_status start(const GemmJob &job, int processors, gfk_stream_t stream) {
    constexpr unsigned shared = Ring<Tile<W, LEVELS>>::bytes;
    const gfk_status status = allow_shared(multiply_bits<W, LEVELS>, shared);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    const uint64_t tiles = (uint64_t)job.output_tiles * job.symbol_tiles;
    return launch(multiply_bits<W, LEVELS>,
                  tiles < (uint64_t)processors ? tiles : (uint64_t)processors,
                  128 * (Tile<W, LEVELS>::warpgroups + 1), shared, stream, job);
}

} // namespace
} // namespace matmul
} // namespace gfk

#endif

template <int W, int LEVELS>
gfk_status gfk::matmul::gemm(const GemmJob &job, int processors, gfk_stream_t stream) {
#ifdef GFK_HAVE_WGMMA
    return start<W, LEVELS>(job, processors, stream);
#else
    (void)job, (void)processors, (void)stream;
    return GFK_STATUS_NOT_SUPPORTED;
#endif
}

#ifdef GFK_HAVE_WGMMA
#define WGMMA_SYMBOL(w, levels) (&function_of<w, levels>)
#else
#define WGMMA_SYMBOL(w, levels) NULL
#endif
#define WGMMA_ROW(owner, kernel, w, levels)                                                        \
    template gfk_status gemm<w, levels>(const GemmJob &, int, gfk_stream_t);                       \
    GFK_KERNEL_SYMBOL(owner, kernel, WGMMA_SYMBOL(w, levels))
#define CLMAD_ROW(...)
#define GFK_KERNEL(owner, kernel, w, BUILD, fields, ...)                                           \
    BUILD##_ROW(owner, kernel, w, (gfk_matmul_numbers{__VA_ARGS__}.levels))
namespace gfk {
namespace matmul {
template <int W, int LEVELS>
constexpr Run *function_of = run_wgmma<W, LEVELS>;
#include "shapes.def"
} // namespace matmul
} // namespace gfk
