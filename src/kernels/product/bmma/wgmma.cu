/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels on warpgroup MMAs. Compiled for 9.0a alone, or, where the library is not for 9.0,
 * without any of them. */
#include "kernel.cuh"

#ifdef GFK_HAVE_WGMMA

#include "mainloop_ring.cuh"
#include "mainloop_wgmma_w8.cuh"

namespace gfk {
namespace bmma {

/* Sets a job's regions and matrix for some outputs after the others, and calls `start` with the job
 * and the number of outputs. Every launch reads the inputs. Launches have nearly the same number of
 * units, at most `most_units`; a unit is `unit` outputs, a multiple of a panel's. */
template <class T, class Job, class Start>
gfk_status launch_all(const Run &run, Job &job, size_t unit, size_t most_units, Start start) {
    const gfk_product_info &info = run.call->product->info;
    const size_t units = gfk_divide_up(info.rows, unit);
    const size_t most_rows = gfk_divide_up(units, gfk_divide_up(units, most_units)) * unit;
    make_extent(job, run.call, run.vectors);
    gfk_status status = GFK_STATUS_SUCCESS;
    for (size_t first = 0; first < info.rows && status == GFK_STATUS_SUCCESS; first += most_rows) {
        const size_t rows = info.rows - first < most_rows ? info.rows - first : most_rows;
        fill_regions<T>(job, run, 0, info.cols, first, rows);
        job.matrix = run.matrix + first / T::outputs * panel_words<T>();
        status = start(rows);
    }
    return status;
}

template <class K>
gfk_status run_wgmma_w8(const Run &run) {
    using T = typename K::T;
    ManyJob job;
    job.pass_words = 0;
    return launch_all<T>(
        run, job, T::instruction_outputs, TileStage<K>::most_instructions(), [&](size_t rows) {
            return launch(
                wgmma_w8<K>, blocks_of<K>(job, T::tile_bytes, run.call->product->processors),
                K::threads, TileStage<K>::shared_bytes(gfk_divide_up(rows, T::instruction_outputs)),
                run.call->stream, job);
        });
}

/* Shared memory holds the matrix operand and as many stages as fit. */
template <class K>
gfk_status run_ring(const Run &run) {
    using T = typename K::T;
    constexpr uint32_t barriers = bulk::RingBarriers::stage_bytes,
                       stride = K::tile_bytes + K::tile_gap;
    constexpr size_t most_panels = K::launch_outputs / T::outputs;
    static_assert((most_shared - most_panels * T::panel_bytes - barriers) /
                          (T::inputs * stride + barriers) >=
                      2,
                  "");
    RingJob job = {};
    return launch_all<T>(run, job, T::outputs, most_panels, [&](size_t) {
        Stages ring = {};
        ring.table_bytes = job.panels * T::panel_bytes;
        /* Lanes read as many inputs as the layout has, whatever they find. */
        const uint32_t inputs = (uint32_t)gfk_divide_up(job.cols, T::lanes) * T::lanes;
        const uint32_t behind = (T::inputs - inputs) * stride;
        ring.stage_bytes = inputs * stride;
        const uint32_t other = ring.table_bytes + barriers + behind; /* the table has a barrier */
        const uint32_t fit = (most_shared - other) / (ring.stage_bytes + barriers);
        ring.stages = fit >= K::stages ? K::stages : fit / 2 * 2;
        for (Factors &by : ring.factors)
            by = factors<T::spacing>();
        return launch(wgmma_ring<K>,
                      blocks_of<K>(job, K::tile_bytes, run.call->product->processors), K::threads,
                      other + ring.stages * (ring.stage_bytes + barriers), run.call->stream, ring,
                      job);
    });
}

template <class K>
constexpr Kernel wgmma_w8_kernel(const Kernel *light) {
    using T = typename K::T;
    return {T::inputs <= 40,
            matrix_words<T>,
            build_matrix<T>,
            [] { return allow_shared(wgmma_w8<K>, most_shared); },
            run_wgmma_w8<K>,
            light,
            255};
}
template <class K>
constexpr Kernel light_wgmma_w8 = wgmma_w8_kernel<Light<K>>(nullptr);

template <class K>
constexpr Kernel ring_kernel(const Kernel *light) {
    using T = typename K::T;
    return {T::inputs <= 40, matrix_words<T>,
            build_matrix<T>, [] { return allow_shared(wgmma_ring<K>, most_shared); },
            run_ring<K>,     light,
            T::most_count};
}
template <class K>
constexpr Kernel light_ring = ring_kernel<Light<K>>(nullptr);

template <class K>
constexpr Kernel kernel_of() {
    using T = typename K::T;
    if constexpr (!K::ring)
        return wgmma_w8_kernel<K>(T::inputs <= 64 ? &light_wgmma_w8<K> : nullptr);
    else if constexpr (T::gains_if_light)
        return ring_kernel<K>(&light_ring<K>);
    else
        return ring_kernel<K>(nullptr);
}

#define WGMMA_ROW(owner, kernel) GFK_KERNEL_SYMBOL(owner, kernel, &symbol_for<owner##_##kernel>)

} // namespace bmma
} // namespace gfk

#else
#define WGMMA_ROW(owner, kernel) GFK_KERNEL_SYMBOL(owner, kernel, NULL)
#endif

#define CUDA_ROW(owner, kernel)
namespace gfk {
namespace bmma {
#include "shapes.def"
} // namespace bmma
} // namespace gfk
