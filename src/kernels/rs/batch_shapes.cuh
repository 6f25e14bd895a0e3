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

/* No tensor cores: any number of inputs, any device. */
struct Multiples {
    static constexpr Mainloop mainloop = Mainloop::multiples;
    static constexpr int threads = task_threads;
    static constexpr unsigned vectors = 32;
    static constexpr size_t inputs = 0, outputs = 0;
};

/* The tokens. */
#define GFK_BATCH_KERNEL(widths, kernel, w, min_inputs, max_inputs, min_outputs, max_outputs,      \
                         cc_min, cc_max, ...)                                                      \
    struct widths##_##kernel : __VA_ARGS__ {                                                       \
        static_assert(max_inputs <= __VA_ARGS__::inputs && max_outputs <= __VA_ARGS__::outputs,    \
                      "the kernel does not take so much");                                         \
    };
#include "batch_shapes.def"
#undef GFK_BATCH_KERNEL

} // namespace batch
} // namespace gfk
