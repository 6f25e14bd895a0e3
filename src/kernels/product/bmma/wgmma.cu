/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels on warpgroup MMAs. Compiled for 9.0a alone, or, where the library is not for 9.0,
 * without any of them. */
#include "kernel.cuh"

#ifdef GFK_HAVE_WGMMA

#include "mainloop_ring.cuh"
#include "mainloop_wgmma_w8.cuh"

namespace gfk {
namespace bmma {

/* Sets a job's regions and matrix for some outputs after the others, and calls `start` with the
 * job and the number of outputs. Every launch reads the inputs. Launches have nearly the same number
 * of units, at most `most_units`; a unit is `unit` outputs, a multiple of a panel's. */
template <class T, class Job, class Start>
gfk_status launch_all(const Run &run, Job &job, size_t unit, size_t most_units, Start start) {
    const gfk_product_info &info = run.call->product->info;
    const size_t units = divide_up(info.rows, unit);
    const size_t most_rows = divide_up(units, divide_up(units, most_units)) * unit;
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
                K::threads, TileStage<K>::shared_bytes(divide_up(rows, T::instruction_outputs)),
                run.call->stream, job);
        });
}

/* Whole panels of a ring kernel; one or two more outputs are a half panel. */
template <class K>
size_t whole_panels(size_t rows) {
    return (rows + (K::halves ? 1 : K::T::outputs - 1)) / K::T::outputs;
}

template <class K>
void build_ring(uint32_t *table, uint64_t polynomial, size_t rows, size_t cols,
                const uint32_t *matrix) {
    using T = typename K::T;
    const size_t panels = whole_panels<K>(rows), whole = panels * T::outputs;
    build_matrix<T>(table, polynomial, whole < rows ? whole : rows, cols, matrix);
    if constexpr (K::halves)
        if (whole < rows)
            build_matrix<HalfPanel<T>>(table + panels * panel_words<T>(), polynomial, rows - whole,
                                       cols, matrix + whole * cols);
}

/* Bytes of shared memory that a block of a ring kernel may have; each block takes 1 KiB besides. */
template <class K>
constexpr unsigned ring_shared = (most_shared + 1024) / K::blocks - 1024;

/* The bytes of a tile, where a region is for so many blocks. Large tiles cost the least; but in the last
 * round some blocks have none, and nothing is computed before the first tile has arrived. */
template <class K>
uint32_t tile_bytes_of(uint64_t bytes, uint64_t blocks) {
    constexpr uint32_t piece = K::tile_bytes / K::pieces;
    const uint64_t all = divide_up(bytes, piece * blocks); /* of a block */
    uint64_t pieces = 1, least = UINT64_MAX;
    for (uint64_t n = 1; n <= K::pieces; n++) {
        /* In quarters of a piece's time, of which a round costs one besides. */
        const uint64_t time = 4 * n + divide_up(all, n) * (4 * n + 1);
        if (time <= least) {
            least = time;
            pieces = n;
        }
    }
    return (uint32_t)pieces * piece;
}

/* Tiles of a block from which on it is worth while to keep blocks near each other. Runs that read
 * outputs are up to 3 % slower with it (results/notes). */
constexpr uint32_t least_paced = 32;

/* Shared memory holds the matrix operand and as many stages as fit. */
template <class K>
gfk_status run_ring(const Run &run) {
    using T = typename K::T;
    constexpr uint32_t barriers = bulk::RingBarriers::stage_bytes;
    constexpr size_t most_panels = divide_up(K::outputs, T::outputs);
    static_assert((ring_shared<K> - most_panels * T::panel_bytes - barriers) /
                          (T::inputs * (K::tile_bytes + K::tile_gap) + barriers) >=
                      2,
                  "");
    RingJob job = {};
    return launch_all<T>(run, job, T::outputs, most_panels, [&](size_t rows) {
        Stages ring = {};
        ring.whole = (uint32_t)whole_panels<K>(rows);
        ring.regions = job.cols;
        if (K::checks)
            for (size_t j = 0; j < rows; j++)
                job.in[ring.regions++] = job.out[j];
        ring.table_bytes = job.panels * T::panel_bytes;
        /* Lanes read as many inputs as the layout has, whatever they find. */
        const uint32_t inputs = (uint32_t)divide_up(ring.regions, T::lanes) * T::lanes;
        const uint64_t blocks = (uint64_t)run.call->product->processors * K::blocks;
        ring.tile_bytes = tile_bytes_of<K>(16 * job.count, blocks);
        const uint32_t stride = ring.tile_bytes + K::tile_gap,
                       behind = (T::inputs - inputs) * stride;
        ring.stage_bytes = inputs * stride;
        const uint32_t other = ring.table_bytes + barriers + behind; /* the table has a barrier */
        const uint32_t fit = (ring_shared<K> - other) / (ring.stage_bytes + barriers);
        /* Short tiles need more stages, so that as many bytes are on their way. */
        const uint32_t enough = K::pieces == 1 ? 0 : (112 << 10) / ring.stage_bytes / 2 * 2;
        const uint32_t most = enough < K::stages ? K::stages : enough;
        ring.stages = fit >= most ? most : fit == 3 && K::three_stages ? 3 : fit / 2 * 2;
        ring.tiles = (uint32_t)divide_up(16 * job.count, ring.tile_bytes * blocks);
        ring.paced = !K::early && ring.tiles >= least_paced && !reads_outputs(run.call);
        ring.pace = run.pace;
        for (Factors &by : ring.factors)
            by = factors<T::spacing>();
        return launch<K::early>(wgmma_ring<K>, blocks_of<K>(job, ring.tile_bytes, blocks),
                                K::threads, other + ring.stages * (ring.stage_bytes + barriers),
                                run.call->stream, ring, job);
    });
}

/* The matrix operand of a check: the coefficients, and the identity for the outputs. */
template <class T>
size_t check_words(size_t rows, size_t cols) {
    return matrix_words<T>(rows, cols + rows);
}
template <class T>
void build_check(uint32_t *table, uint64_t polynomial, size_t rows, size_t cols,
                 const uint32_t *matrix) {
    uint32_t both[T::outputs * T::inputs] = {};
    for (size_t j = 0; j < rows; j++) {
        memcpy(both + j * (cols + rows), matrix + j * cols, 4 * cols);
        both[j * (cols + rows) + cols + j] = 1;
    }
    build_matrix<T>(table, polynomial, rows, cols + rows, both);
}

/* Left to itself, a device may give more of it to L1 than several blocks leave. */
template <class K>
gfk_status prepare_ring() {
    const gfk_status status = allow_shared(wgmma_ring<K>, ring_shared<K>);
    if (K::blocks == 1 || status != GFK_STATUS_SUCCESS)
        return status;
    return status_of(cudaFuncSetAttribute(wgmma_ring<K>,
                                          cudaFuncAttributePreferredSharedMemoryCarveout,
                                          cudaSharedmemCarveoutMaxShared));
}

template <class K>
constexpr Kernel wgmma_w8_kernel(const Kernel *light) {
    using T = typename K::T;
    return {most_shared,
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
    return {ring_shared<K>, matrix_words<T>, build_ring<K>, prepare_ring<K>,
            run_ring<K>,    light,           T::most_ones};
}
template <class K>
constexpr Kernel light_kernel = ring_kernel<Light<K>>(nullptr);

template <class K>
constexpr Kernel kernel_of() {
    using T = typename K::T;
    if constexpr (K::mainloop != Mainloop::ring)
        return wgmma_w8_kernel<K>(T::inputs <= 64 ? &light_wgmma_w8<K> : nullptr);
    else if constexpr (K::checks)
        return {most_shared, check_words<T>, build_check<T>, prepare_ring<K>, run_ring<K>, nullptr};
    else if constexpr (T::gains_if_light)
        return ring_kernel<K>(&light_kernel<K>);
    else
        return ring_kernel<K>(nullptr);
}

} // namespace bmma
} // namespace gfk

const gfk::bmma::Kernel gfk::bmma::wgmma_kernels[] = {
#define GFK_ENGINE_KERNEL(engine, kernel, ...) row_of<Fragment::wgmma, engine##_##kernel>(),
#include "shapes.def"
};

#else

const gfk::bmma::Kernel gfk::bmma::wgmma_kernels[] = {
#define GFK_ENGINE_KERNEL(...) {},
#include "shapes.def"
};

#endif
