/* SPDX-License-Identifier: BSD-3-Clause */
/* What tells the compiled batch kernels apart. A row of batch_shapes.def is one of these policies
 * with its numbers; the row's token is the type of the kernel's first template argument,
 * so that the token is in the kernel's symbol. */
#pragma once

#include "host/rs/batch/batch.h"
#include "kernels/product/bmma/shapes.cuh"

namespace gfk {
namespace batch {

using bmma::Layout;
using bmma::Mainloop;
using bmma::Pack;
using bmma::Schedule;

constexpr unsigned task_threads = 128;

/* A warp does one task. Tiles: of a task. */
template <class Layout_, int Tiles, int Blocks, Pack P>
struct Tasks : bmma::Registers<Layout_, 1, task_threads, Blocks, Schedule::one_tile, P> {
    static_assert(Layout_::lanes == 4 && !Layout_::three, "");
    static constexpr int tiles = Tiles;
    static constexpr unsigned vectors = Tiles * Layout_::vectors;
    static constexpr size_t outputs = 0;
};

/* A warp does a run of neighbouring tasks. Panels: of all outputs. */
template <class Layout_, int Panels, int Threads, int Blocks, Pack P>
struct Runs : bmma::Registers<Layout_, Panels, Threads, Blocks, Schedule::persistent_prefetch, P> {
    static_assert(Layout_::w != 32 && !Layout_::three, "");
    static constexpr unsigned vectors = Layout_::vectors;
};

/* A block does tasks that a warp of its own copies to shared memory. Inputs: the most there are.
 * Warps: that compute. Stages: tasks in shared memory. */
template <class Layout_, int Panels, int Inputs, int Warps, int Stages, Pack P>
struct Ring {
    using T = Layout_;
    static_assert(T::w != 32 && !T::three && Inputs <= 30, "");
    static_assert(Inputs <= T::inputs && Inputs > T::inputs - T::lanes, "");
    static_assert(T::counts_fit_bytes || P == Pack::permute, "");
    static constexpr Mainloop mainloop = Mainloop::ring;
    static constexpr int panels = Panels, warps = Warps, stages = Stages;
    static constexpr int threads = 32 * (Warps + 1);
    static constexpr unsigned vectors = GFK_BATCH_STAGE,
                              tiles = vectors / T::vectors; /* of a task */
    static constexpr size_t inputs = Inputs, outputs = Panels * T::outputs;
    static constexpr Pack pack = P;
};

/* No tensor cores: any number of inputs, any device. */
struct Multiples {
    static constexpr Mainloop mainloop = Mainloop::multiples;
    static constexpr int threads = task_threads;
    static constexpr unsigned vectors = 32;
    static constexpr size_t inputs = 0, outputs = 0;
};

/* The tokens. */
#define GFK_BATCH_KERNEL(widths, kernel, w, min_inputs, max_inputs, min_outputs, max_outputs,      \
                         stripes, cc_min, cc_max, ...)                                             \
    struct widths##_##kernel : __VA_ARGS__ {                                                       \
        static_assert(max_inputs <= __VA_ARGS__::inputs && max_outputs <= __VA_ARGS__::outputs,    \
                      "the kernel does not take so much");                                         \
    };
#include "batch_shapes.def"
#undef GFK_BATCH_KERNEL

} // namespace batch
} // namespace gfk
