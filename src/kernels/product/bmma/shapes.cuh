/* SPDX-License-Identifier: BSD-3-Clause */
/* What tells the compiled kernels of a mainloop apart. A row of shapes.def is one of these policies
 * with its numbers; the row's token is the type of the kernel's first template argument, so
 * that the token is in the kernel's symbol. */
#pragma once

#include "fragment_ring.h"
#include "fragment_wgmma_w8.h"
#include <gfk/product.h>

namespace gfk {
namespace bmma {

enum class Fragment { mma_sync, wgmma };
/* ring: products; multiples: batches. */
enum class Mainloop { registers, small, streamed, ring, multiples };

/* How many tiles a warp takes, and when the next tile's data are loaded. */
enum class Schedule {
    one_tile,           /* blocks that come and go overlap loads with computing */
    persistent,         /* many, each loaded when the tile before is done */
    persistent_prefetch /* many, each loaded while the tile before is computed */
};

/* The most inputs whose counts the packing bears. */
template <class T, Pack P>
constexpr size_t packed_inputs() {
    return P == Pack::permute || T::counts_fit_bytes ? T::inputs : 255 / T::w;
}

/* When outputs are loaded that are added to or compared. */
enum class Reads {
    never, /* the kernel only sets outputs */
    late,  /* as they are written, if the run reads them */
    ahead  /* before the tile is computed; the kernel always reads outputs */
};

/* The matrix operand of all outputs in registers. Panels: of outputs. Blocks: per multiprocessor,
 * which the registers must allow. */
template <class Layout_, int Panels, int Threads, int Blocks, Schedule Schedule_, Pack P,
          Reads R = Reads::late>
struct Registers {
    using T = Layout_;
    static_assert(Schedule_ != Schedule::persistent, "");
    static_assert(R != Reads::ahead || T::w != 32, "a lane has four bytes of an output's vector");
    static constexpr bool reads = R != Reads::never, reads_ahead = R == Reads::ahead;
    static constexpr Fragment fragment = Fragment::mma_sync;
    static constexpr Mainloop mainloop = Mainloop::registers;
    static constexpr int tiles = 1, panels = Panels, threads = Threads, blocks = Blocks;
    static constexpr Schedule schedule = Schedule_;
    static constexpr Pack pack = P;
    static constexpr size_t inputs = packed_inputs<T, P>(), outputs = Panels * T::outputs;
};

/* The same for short regions. A warp computes one panel; Split warps share a tile. */
template <class Layout_, int Split, int Threads, int Blocks, Pack P>
struct Small : Registers<Layout_, 1, Threads, Blocks, Schedule::one_tile, P> {
    using T = Layout_;
    static constexpr Mainloop mainloop = Mainloop::small;
    static constexpr int split = Split;
    static constexpr unsigned lane_bytes = 4 * T::lane_words;
    static constexpr unsigned tile_bytes = T::vectors * lane_bytes;
    static constexpr size_t outputs = Split * T::outputs;
};

/* Any number of outputs. The matrix operand of one panel after the other comes through L1, or from
 * shared memory, which holds Table panels: then all inputs are in one pass, and a launch computes
 * so many panels. Tiles: that a warp takes at a time, for each matrix operand that it loads. */
template <class Layout_, int Tiles, int Threads, int Blocks, Schedule Schedule_, bool Aligned,
          int Table = 0>
struct Streamed {
    using T = Layout_;
    static_assert(!T::three, "a lane without an output would write another panel's");
    static_assert(Schedule_ != Schedule::persistent_prefetch, "");
    static constexpr bool reads = true;
    static constexpr Fragment fragment = Fragment::mma_sync;
    static constexpr Mainloop mainloop = Mainloop::streamed;
    static constexpr int tiles = Tiles, threads = Threads, blocks = Blocks, table = Table;
    static constexpr Schedule schedule = Schedule_;
    static constexpr bool aligned = Aligned;
    /* Output words at a time: enough chains that their MMAs need not wait for each other. */
    static constexpr int abreast = T::words > 1 && T::mmas > 1 ? 2 : 1;
    static constexpr size_t inputs = Table ? T::inputs : 0, outputs = 0;
    /* Bytes of shared memory for the matrix operand. */
    static constexpr size_t table_bytes = (size_t)Table * T::panel_registers * 128;
};

/* w = 8, warpgroup MMAs. Reads: outputs are read, to be added to or compared. */
template <int Steps, int Words, int Warpgroups, bool Reads = false>
struct WgmmaW8 {
    using T = WgmmaLayoutW8<Steps, Words>;
    static constexpr Fragment fragment = Fragment::wgmma;
    static constexpr Mainloop mainloop = Mainloop::streamed;
    static constexpr bool reads = Reads;
    static constexpr int warpgroups = Warpgroups, threads = 128 * Warpgroups;
    static constexpr size_t inputs = T::inputs, outputs = 0;
};

/* Warpgroup MMAs and a warp that fills a ring of stages. Outputs: of a launch, at most. Reads: as
 * of WgmmaW8. Blocks: per multiprocessor; several are for short regions. */
template <class Layout_, int Warpgroups, int Outputs, bool Reads = true, int Blocks = 1>
struct Ring {
    using T = Layout_;
    static constexpr Fragment fragment = Fragment::wgmma;
    static constexpr Mainloop mainloop = Mainloop::ring;
    static constexpr bool reads = Reads, checks = false;
    static_assert(!T::three || Outputs == 3, "the fourth lane would store another panel's output");
    static constexpr bool loops = Outputs > T::outputs;          /* a loop costs up to 5 % */
    static constexpr bool halves = loops && !Reads && T::joined; /* fragment_ring.h, HalfPanel */
    static constexpr int warps = 4 * Warpgroups, threads = 32 * (warps + 4), blocks = Blocks;
    /* Of a thread: at first, then of the warpgroup that copies, and of the others. */
    static constexpr int first_registers = 512 / Blocks / (Warpgroups + 1) / 8 * 8,
                         producer_registers = 24,
                         registers = (first_registers * (Warpgroups + 1) - producer_registers) /
                                     Warpgroups / 8 * 8;
    static constexpr bool early = Blocks > 1; /* launched early; lanes load the first tile */
    /* All products of a lane write the same registers (multiply_panel). Not for pieces, two lanes or three
     * outputs, nor where packing takes more instructions: there it gains nothing; and not where registers are
     * few. Light kernels are as the others. */
    static constexpr bool over = !early && T::lane_words == 4 && !T::three && T::lanes == 4 &&
                                 first_registers >= 72 && T::spacing <= 9;
    static_assert(!halves || over, "");
    /* Stages: at most, of tiles of one piece. An odd number was up to 10 % slower, but three instead of
     * two for panels of four warpgroups up to 5 % faster (results/notes). */
    static constexpr uint32_t stages = 6;
    static constexpr bool three_stages = !loops && Warpgroups == 4;
    /* Of a tile, at most. A piece of two words is small for a stage: eight cost less than four. */
    static constexpr int pieces = T::lane_words == 2 ? 512 / T::warp_bytes : 1;
    static_assert(!loops || (pieces == 1 && !T::three && !early), "");
    /* The second turn of a piece is counted while the first one is packed: 48 registers of counts, for
     * which six warpgroups have room. */
    static constexpr bool counts_ahead = T::three;
    /* What a stage has of an input. The lanes of a load are in different banks. */
    static constexpr unsigned tile_bytes = pieces * warps * T::warp_bytes,
                              tile_gap = 128 / T::lanes;
    static constexpr size_t inputs = T::inputs, outputs = Outputs;
};

/* A kernel for matrices whose columns have few ones: T::LightLayout. */
template <class K>
struct Light : K {
    using T = typename K::T::LightLayout;
};

/* The same for checks alone: a stage has the outputs too. */
template <class Layout_, int Warpgroups>
struct RingCheck : Ring<Layout_, Warpgroups, Layout_::outputs> {
    static constexpr bool checks = true;
    /* The kernel only reads, and more stages were up to 4 % slower. */
    static constexpr uint32_t stages = 2;
    static constexpr size_t inputs = Layout_::inputs - Layout_::outputs;
};

/* The tokens. */
#define GFK_ENGINE_KERNEL(engine, kernel, min_inputs, max_inputs, min_outputs, max_outputs,        \
                          labels, cc_min, cc_max, ...)                                             \
    struct engine##_##kernel : __VA_ARGS__ {                                                       \
        static_assert(max_inputs <= __VA_ARGS__::inputs && max_outputs <= __VA_ARGS__::outputs &&  \
                          __VA_ARGS__::reads == !((labels) & GFK_ENGINE_KERNEL_SETS),              \
                      "the kernel does not take so much");                                         \
    };
#include "shapes.def"
#undef GFK_ENGINE_KERNEL

} // namespace bmma
} // namespace gfk
