/* SPDX-License-Identifier: BSD-3-Clause */
/* TABLE, optimized. w=8: the row of c in shared memory. w=16: the whole row of 65,536 products in
 * shared memory where a block can have 128 KiB; for short regions, and in a variant, it is read
 * from the workspace through the caches. The block expands a row in shared memory from
 * c's basis. w=32: gathers from the row in the workspace, eight in flight per thread. */
#include "kernels/common/basis.cuh"
#include "kernels/region/walk_tiles.cuh"

namespace {

struct Table8 : gfk::OneTileOp {
    static constexpr int w = 8, threads = 64, vectors = 3, blocks = 12;
    using Params = gfk::Basis;
    struct Shared {
        uint8_t row[256];
    };
    const Shared &t;

    __device__ static void fill(const Params &basis, Shared &t) {
        for (unsigned x = threadIdx.x; x < 256; x += threads)
            t.row[x] = (uint8_t)gfk::combine<8>(basis.v, 0, x);
    }
    __device__ Table8(const Params &, Shared &shared) : t(shared) {}

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        gfk::map_symbols<8>(x, [&](uint32_t symbol) { return t.row[symbol]; });
    }
};

struct Table16 {
    static constexpr int w = 16, threads = 1024, vectors = 2, blocks = 1;
    static constexpr bool persistent = true;
    static constexpr size_t fill_from = 384 << 10;
    using Params = gfk::Basis;
    struct Shared {
        uint32_t row[32768]; /* two products each */
    };
    const uint16_t *row;

    /* Thread t makes words t, t + 1024, ...: bits 0 of the index is the half of the word, bits 1 to
     * 10 are the thread, bits 11 to 15 the step. */
    __device__ static void fill(const Params &basis, Shared &t) {
        const uint32_t even = gfk::combine<10>(basis.v, 1, threadIdx.x);
        const uint32_t word = even | (even ^ basis.v[0]) << 16;
        for (unsigned step = 0; step < 32; step++)
            t.row[1024 * step + threadIdx.x] =
                word ^ gfk::replicate<16>(gfk::combine<5>(basis.v, 11, step));
    }
    __device__ Table16(const Params &, Shared &shared)
        : row(reinterpret_cast<const uint16_t *>(shared.row)) {}

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        gfk::map_symbols<16>(x, [&](uint32_t symbol) { return row[symbol]; });
    }
};

/* Rows in global memory, written by prepare. */
template <int W>
struct TableGlobal : gfk::OneTileOp {
    static constexpr int w = W, threads = 256, vectors = 2, blocks = 1;
    struct Params {
        const gfk::Symbol<W> *row;
        explicit Params(const gfk_call *call) : row((const gfk::Symbol<W> *)call->workspace) {}
    };
    const gfk::Symbol<W> *row;

    __device__ TableGlobal(const Params &params, Shared &) : row(params.row) {}

    template <int N>
    __device__ void apply(uint32_t (&x)[N]) {
        gfk::map_symbols<W>(x, [&](uint32_t symbol) { return __ldg(row + symbol); });
    }
};

} // namespace

extern "C" gfk_status gfk_create_table_w16_opt(gfk_multiplier_t) {
    return gfk::allow_shared<Table16>();
}
extern "C" gfk_status gfk_prepare_table_w16_opt(const gfk_call *call) {
    const bool unread = call->bytes >= Table16::fill_from;
    return unread ? GFK_STATUS_SUCCESS : gfk_prepare_device(call);
}
GFK_REGION_ROW(table_w8_opt, launch_opt<Table8>)
GFK_REGION_ROW(table_w16_opt, launch_opt<Table16, TableGlobal<16>, gfk::gather_threads>)
GFK_REGION_ROW(table_w16_opt_l2, launch_opt<TableGlobal<16>, TableGlobal<16>, gfk::gather_threads>)
GFK_REGION_ROW(table_w32_opt, launch_opt<TableGlobal<32>>)
