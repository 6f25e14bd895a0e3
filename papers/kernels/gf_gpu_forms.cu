/* SPDX-License-Identifier: BSD-3-Clause */
/* The optimized forms of the GF GPU report, except those of LOG (log_steps.cu): one symbol per thread,
 * and in most a block's tables in shared memory. */
#include "kernels/region/shift/shift_op.cuh"

namespace {

/* SHIFT: the first thread of a block lists the set bits of c in shared memory, and all threads shift
 * by the list. In the report the best constants gained and the worst lost. */
template <int W>
struct ShiftSetBits : gfk::ShiftSymbol<W> {
    using gfk::ShiftSymbol<W>::ShiftSymbol;
    static constexpr int threads = 512;
    struct Shared {
        int count, bits[W];
    };

    __device__ void fill(Shared &list) const {
        if (threadIdx.x != 0)
            return;
        int count = 0;
        for (int i = 0; i < W; i++)
            if (this->c >> i & 1)
                list.bits[count++] = i;
        list.count = count;
    }
    __device__ uint32_t operator()(const Shared &list, uint32_t x) const {
        typename gfk::ShiftSymbol<W>::Product product = 0;
        for (int k = 0; k < list.count; k++)
            product ^= (decltype(product))x << list.bits[k];
        return this->reduced(product);
    }
};

/* BYTWO_p by the report's two ways to avoid the branch on the product's top bit.
 *
 * Sign false: a multiplication of the polynomial by the top bit. In the report w=8 and w=16 got
 * slower, w=32 did not change.
 * Sign true: a mask, which is the product's sign, shifted through all its bits. In the report w=16
 * was as fast as with the branch, w=8 and w=32 did not change. */
template <int W, bool Sign>
struct BytwoMask : gfk::SymbolOp {
    static constexpr int w = W;
    using Signed = std::make_signed_t<gfk::Symbol<W>>;
    uint32_t c, polynomial; /* the polynomial without its leading term */

    explicit BytwoMask(const gfk_call *call)
        : c(call->c), polynomial(gfk::lower_polynomial(call)) {}
    __device__ uint32_t operator()(uint32_t x) const {
        gfk::Symbol<W> product = 0;
        for (int i = W - 1; i >= 0; i--) {
            if constexpr (Sign)
                product =
                    (gfk::Symbol<W>)(product << 1 ^ (polynomial & ((Signed)product >> (W - 1))));
            else
                product = (gfk::Symbol<W>)(product << 1 ^ polynomial * (product >> (W - 1)));
            if (c >> i & 1)
                product ^= (gfk::Symbol<W>)x;
        }
        return product;
    }
};

/* GROUP 4 4: sixteen threads of each block of 512 copy the two tables of 16 entries to shared
 * memory. */
template <int W>
struct GroupShared : gfk::SymbolOp {
    static constexpr int w = W, threads = 512;
    using Product = std::conditional_t<W == 32, uint64_t, uint32_t>;
    struct Shared {
        uint32_t multiples[16], reductions[16];
    };
    const uint32_t *multiples, *reductions;

    explicit GroupShared(const gfk_call *call)
        : multiples((const uint32_t *)call->workspace),
          reductions((const uint32_t *)call->multiplier->tables) {}
    __device__ void fill(Shared &t) const {
        const unsigned i = threadIdx.x;
        if (i < 16) {
            t.multiples[i] = multiples[i];
            t.reductions[i] = reductions[i];
        }
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const {
        Product product = 0;
        for (int i = W - 4; i >= 0; i -= 4)
            product = product << 4 ^ t.multiples[x >> i & 15];
        for (int i = W - 8; i >= 0; i -= 4) {
            const Product high = product >> (W + i);
            product ^= high << (W + i) ^ (Product)t.reductions[high] << i;
        }
        return (uint32_t)product;
    }
};

/* SPLIT W 4: the block copies the tables to shared memory, and the lookups are one chain of XORs. In
 * the report w=32 was nearly twice as fast and w=8 slower. */
template <int W>
struct SplitShared : gfk::SymbolOp {
    static constexpr int w = W, threads = 512;
    struct Shared {
        gfk::Symbol<W> part[W / 4][16];
    };
    const gfk::Symbol<W> *tables;

    explicit SplitShared(const gfk_call *call) : tables((const gfk::Symbol<W> *)call->workspace) {}
    __device__ void fill(Shared &t) const {
        const unsigned i = threadIdx.x;
        if (i < W / 4 * 16)
            t.part[i / 16][i % 16] = tables[i];
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const {
        uint32_t product = 0;
#pragma unroll
        for (int part = 0; part < W / 4; part++)
            product ^= t.part[part][x >> (4 * part) & 15];
        return product;
    }
};

/* TABLE: each block copies the row of c from the field's table to shared memory. */
struct TableShared : gfk::SymbolOp {
    static constexpr int w = 8, threads = 512;
    struct Shared {
        uint8_t row[256];
    };
    const uint8_t *row; /* all products with c */

    explicit TableShared(const gfk_call *call)
        : row((const uint8_t *)call->multiplier->tables + 256 * call->c) {}
    __device__ void fill(Shared &t) const {
        if (threadIdx.x < 256)
            t.row[threadIdx.x] = row[threadIdx.x];
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const { return t.row[x]; }
};

} // namespace

#define FORMS(W)                                                                                   \
    GFK_REGION_ROW(shift_w##W##_opt_setbits, launch_naive<ShiftSetBits<W>>)                        \
    GFK_REGION_ROW(bytwo_p_w##W##_naive_mulmask, launch_naive<BytwoMask<W, false>>)                \
    GFK_REGION_ROW(bytwo_p_w##W##_naive_signmask, launch_naive<BytwoMask<W, true>>)                \
    GFK_REGION_ROW(group_w##W##_opt_shared, launch_naive<GroupShared<W>>)                          \
    GFK_REGION_ROW(split_w##W##_opt_shared, launch_naive<SplitShared<W>>)
FORMS(8)
FORMS(16)
FORMS(32)
GFK_REGION_ROW(table_w8_opt_shared, launch_naive<TableShared>)
