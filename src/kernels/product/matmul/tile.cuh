/* SPDX-License-Identifier: BSD-3-Clause */
/* The operands of a matmul in the workspace, and how products become products of bits.
 *
 * Let L(y) be the highest bit of y. The bits L(y), L(y x), L(y x^2), ... of a symbol y are its
 * coordinates in a basis that is dual to 1, x, x^2, .... In that basis bit b of the product
 * a * y is
 *     L(a y x^b) = sum over j of y_j L(a x^(b + j)),
 * so the w x w bits by which a multiplies are a Hankel matrix: 2 w - 1 bits, the sequence
 * s_t = L(a x^t), of which row b begins at s_b. A lane shifts rows out of the sequence in
 * registers. Sums stay in that basis until they are stored.
 *
 * A product with such a matrix is three products with Hankel matrices of half the size: with the
 * quarters T0, T1, T1, T2 and the halves y0, y1 of y, the first half is (T0 + T1) y0 + T1 (y0 +
 * y1), the second one (T1 + T2) y1 + T1 (y0 + y1). LEVELS such divisions make 3^LEVELS parts, the
 * three of the first division before those of the second, and 2^LEVELS pieces of h bits of each
 * element. The parts are independent products, whose results are added when an output is stored.
 *
 * A tile of outputs is 128 rows of bits, or 192 if there are levels. A step is 256 bits of inputs,
 * and half n of q = 0 to 3 has the inputs whose bits are 128 n + 32 q to 128 n + 32 q + 31. A batch
 * is some steps: the K-block of this product. The matrix operand is
 * [tile of outputs][part][step][output][q][half] with sequences of 2 w bits, 8 bytes for each half,
 * or [tile of outputs][part][step][row][q][half] with 4 bytes of the row itself. The data operand
 * holds pieces of symbols as core matrices of wgmma,
 * [tile of symbols][part][step][i][half][p], 16 bytes of 128 / h inputs of symbol 32 p + i. Missing
 * inputs and outputs are 0. */
#pragma once

#include "host/product/engine.h"
#include "host/product/matmul.h"
#include "kernels/common/launch.cuh"
#include "kernels/common/regions.cuh"
#include "kernels/common/symbol.cuh"

namespace gfk {
namespace matmul {

/* Returns the number of parts: each level of halving makes three of one. */
constexpr int parts_of(int levels) {
    return levels == 0 ? 1 : 3 * parts_of(levels - 1);
}

template <int W, int LEVELS>
struct Tile {
    static constexpr int w = W, symbol_bytes = W / 8;
    static constexpr int pieces = 1 << LEVELS, parts = parts_of(LEVELS);
    static constexpr int h = W / pieces; /* bits of a piece */
    static constexpr int bits = GFK_MATMUL_TILE_BITS(LEVELS), warpgroups = bits / 64;
    static constexpr int outputs = bits / h, symbols = GFK_MATMUL_TILE_SYMBOLS;
    static constexpr int steps = GFK_MATMUL_K_BLOCK_BITS(LEVELS) / 256; /* of a K-block */
    static constexpr int inputs = 256 / h;                              /* of a step */
    static constexpr int region_bytes = symbols * symbol_bytes;
    static constexpr unsigned data_bytes = 8192; /* of a step */
    static constexpr unsigned matrix_bytes = LEVELS == 0 ? outputs * 64 : bits * 32;
};

/* The tile of the kernels on the carry-less multiply-add (clmad.cuh). The four warps of a block
 * take one group of outputs each, for the same symbols. */
template <int W>
struct ClmadTile {
    static constexpr int w = W, symbol_bytes = W / 8, pieces = 1, parts = 1, h = W;
    static constexpr int threads = 128;
    static constexpr int warp_outputs = 8, outputs = GFK_MATMUL_CLMAD_OUTPUTS;
    static constexpr int region_bytes = GFK_MATMUL_CLMAD_BYTES;
    static constexpr int inputs = 256 / W; /* of a step */
    /* Blocks that a multiprocessor holds: of four, ptxas keeps registers in memory for 10.0. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ == 1000
    static constexpr int blocks = 3;
#else
    static constexpr int blocks = 4;
#endif
    static constexpr int stage = 8;                        /* inputs of a stage */
    static constexpr unsigned matrix_bytes = outputs * 32; /* of a step */
    static_assert(outputs == threads / 32 * warp_outputs && region_bytes == 32 * 16, "");
};

/* Regions of one launch, and those of the head. */
struct Regions {
    static constexpr size_t most = GFK_MATMUL_MOST_POINTERS;
    SpacedRegions spaced; /* base NULL: pointers */
    SpacedRegions head;
    uint8_t *pointers[most];

    __device__ uint8_t *at(size_t i, bool of_head) const {
        return of_head ? head.at(i) : spaced.base ? spaced.at(i) : pointers[i];
    }
};

/* The symbols of one launch: tiles of products, which have the same number of tiles each, those of
 * the head first. A launch of a part of one product begins with first_tile. */
struct Symbols {
    uint64_t bytes, head_bytes; /* of a region */
    uint64_t first_tile;
    uint32_t tiles_each, head_tiles;

    /* A tile: the bytes from `begin` on of the regions of a product. */
    struct Span {
        unsigned product;
        bool of_head;
        uint64_t begin, bytes; /* bytes: of the region */
    };
    __device__ Span of_tile(unsigned tile, unsigned region_bytes) const {
        const unsigned product = tile / tiles_each;
        const uint64_t at = first_tile + (tile - product * tiles_each);
        const bool of_head = at < head_tiles;
        return {product, of_head, (of_head ? at : at - head_tiles) * region_bytes,
                of_head ? head_bytes : bytes};
    }
};

template <class T>
Symbols symbols_of(const gfk_matmul_call *call, uint64_t first_tile, size_t tiles) {
    const size_t head = call->head.bytes;
    return {call->bytes, head, first_tile, (uint32_t)(tiles / call->plan.products),
            (uint32_t)gfk_divide_up(head, T::region_bytes)};
}

inline void set_regions(Regions &to, const gfk_regions *from, const uint8_t *head,
                        size_t head_stride, size_t first, size_t count) {
    to.spaced = {from->pointers ? NULL : gfk_region_address(from, first), from->stride};
    to.head = {(uint8_t *)head + first * head_stride, head_stride};
    if (from->pointers)
        list_regions(to.pointers, from, first, count);
}

/* A tile of a launch. Neighbouring blocks share tiles of symbols: eight tiles of symbols stand side
 * by side, one further for each tile of outputs, so that no block always gets the tile of a product
 * that takes the longest. */
struct TilePlace {
    unsigned outputs, symbols;

    __device__ TilePlace(unsigned tile, unsigned output_tiles, unsigned symbol_tiles) {
        constexpr unsigned side = 8;
        const unsigned first = tile / (side * output_tiles) * side;
        const unsigned left = symbol_tiles - first, width = left < side ? left : side;
        const unsigned rest = tile % (side * output_tiles);
        outputs = rest / width;
        symbols = first + (rest + outputs) % width;
    }
};

/* Is this output to be stored? */
template <class J>
__device__ bool is_stored(const J &job, const Symbols::Span &span, unsigned row) {
    return row < job.rows && (job.output_mask == nullptr ||
                              job.output_mask[(size_t)span.product * job.rows + row] != 0);
}

/* Stores 16 bytes of an output from byte `at` of its tile on. */
template <class J>
__device__ void store_symbols(const J &job, const Symbols::Span &span, unsigned row, unsigned at,
                              const uint32_t (&y)[4]) {
    const uint64_t begin = span.begin + at;
    if (begin >= span.bytes)
        return;
    uint8_t *p = job.c.at((size_t)span.product * job.rows + row, span.of_head) + begin;
    const unsigned left = span.bytes - begin < 16 ? (unsigned)(span.bytes - begin) : 16;
    if (left == 16 && (uintptr_t)p % 16 == 0)
        store_vector<true>(p, y, job.accumulate);
    else
#pragma unroll
        for (unsigned i = 0; 4 * i < left; i++)
            store_bytes(p + 4 * i, left - 4 * i < 4 ? left - 4 * i : 4, y[i], job.accumulate);
}

struct GemmJob {
    const uint8_t *matrix, *data; /* operands */
    Regions c;
    Symbols symbols;
    uint32_t rows, output_tiles, symbol_tiles;
    uint32_t k_blocks;   /* of a part */
    uint32_t polynomial; /* without its leading term */
    uint32_t accumulate;
    uint32_t zero;              /* 0; a parameter, so that the compiler does not know the value */
    const uint32_t *skip_if;    /* as of gfk_matmul_call */
    const uint8_t *output_mask; /* likewise, from the first region of c on */
};

/* gemm.cu, for each line of shapes.def with WGMMA. The job's regions and operands are those of one
 * part of a call. */
template <int W, int LEVELS>
gfk_status gemm(const GemmJob &job, int processors, gfk_stream_t stream);
/* The symbol of a row points to a Run. */
using Run = gfk_status(const gfk_matmul_call *call);
/* matmul.cu: runs a call with the kernel that `gemm` launches. */
template <int W, int LEVELS>
gfk_status run_wgmma(const gfk_matmul_call *call);

} // namespace matmul
} // namespace gfk
