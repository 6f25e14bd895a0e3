/* SPDX-License-Identifier: BSD-3-Clause */
/* The policies: the template arguments of the mainloops. A row of shapes.def is a policy with its
 * numbers. The row's id is the name of a type, which is the kernel's first template argument, so
 * that the id is in the kernel's symbol. */
#pragma once

#include "fragment_ring.h"
#include "fragment_wgmma_w8.h"
#include "kernels/list.h"

namespace gfk {
namespace bmma {

/* A kernel with instructions of a warp, for any number of inputs and outputs. Tiles: those that a
 * warp takes for each matrix operand that it loads. Blocks: those per multiprocessor, which the
 * registers must allow. */
template <class Layout_, int Tiles, int Threads, int Blocks, bool Aligned>
struct Streamed {
    using T = Layout_;
    static constexpr bool reads = true, aligned = Aligned;
    static constexpr int tiles = Tiles, threads = Threads, blocks = Blocks;
    /* Output words at a time: enough chains that their MMAs need not wait for each other. */
    static constexpr int abreast = T::words > 1 && T::steps > 2 ? 2 : 1;
    static constexpr size_t inputs = 0;
};

/* A kernel with instructions of a warpgroup, for w = 8 and up to 256 inputs. Reads: the kernel
 * reads outputs, to add to them or to compare them. */
template <int Steps, int Words, int Warpgroups, bool Reads = false>
struct WgmmaW8 {
    using T = WgmmaLayoutW8<Steps, Words>;
    static constexpr bool ring = false, reads = Reads;
    static constexpr int warpgroups = Warpgroups, threads = 128 * Warpgroups;
    static constexpr size_t inputs = T::inputs;
};

/* A kernel with instructions of a warpgroup and a producer warp that fills a ring of stages, for up
 * to 40 inputs. A launch has at most 16 outputs. Reads has the meaning that it has in WgmmaW8. */
template <class Layout_, int Warpgroups, bool Reads>
struct Ring {
    using T = Layout_;
    static constexpr bool ring = true, reads = Reads;
    static constexpr int warps = 4 * Warpgroups, threads = 32 * (warps + 4);
    /* Registers per thread: at launch; then, after setmaxnreg, of the producer warpgroup and of the
     * consumer warpgroups. */
    static constexpr int first_registers = 512 / (Warpgroups + 1) / 8 * 8, producer_registers = 24,
                         registers = (first_registers * (Warpgroups + 1) - producer_registers) /
                                     Warpgroups / 8 * 8;
    /* All MMAs of a lane accumulate into the same registers (multiply_panel). Off for wide spacing,
     * where packing takes more instructions and this gains nothing. Light kernels are like the
     * others. */
    static constexpr bool reuse_accumulators = T::spacing <= 9;
    /* Stages, at most. An odd number was up to 10 % slower (results/notes). */
    static constexpr uint32_t stages = 6;
    static constexpr uint32_t launch_outputs = 16;
    /* The bytes of an input in a stage, and the gap before the next input, which puts the lanes of
     * a load into different banks. */
    static constexpr unsigned tile_bytes = warps * T::warp_bytes, tile_gap = 128 / T::lanes;
    static constexpr size_t inputs = T::inputs;
};

/* A kernel for matrices whose columns have few ones: T::LightLayout. */
template <class K>
struct Light : K {
    using T = typename K::T::LightLayout;
};

/* The types of the rows. */
#define GFK_KERNEL(owner, kernel, w, BUILD, fields, ...)                                           \
    struct owner##_##kernel : __VA_ARGS__ {                                                        \
        static constexpr gfk_compiled_kernel_info info =                                           \
            GFK_KERNEL_INFO(owner, kernel, w, fields);                                             \
        static_assert(info.inputs.max <= inputs && info.outputs.max == 0 &&                        \
                          reads == !(info.labels & GFK_KERNEL_SETS),                               \
                      "the kernel does not take so much");                                         \
    };
#include "shapes.def"
#undef GFK_KERNEL

} // namespace bmma
} // namespace gfk
