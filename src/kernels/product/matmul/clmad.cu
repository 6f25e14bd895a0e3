/* SPDX-License-Identifier: BSD-3-Clause */
/* A matmul on the carry-less multiply-add, part by part: the matrix operand, then the product,
 * which reads the inputs where they are. Where outputs may overlap inputs, those are copied to the
 * workspace first. */
#include "clmad.cuh"
#include "generate.cuh"

namespace gfk {
namespace matmul {
namespace {

/* Copies the bytes of the inputs that belong to tiles [tile, tile + tiles). */
gfk_status copy_inputs(const gfk_matmul_call *call, size_t tile, size_t tiles, Regions &b) {
    const size_t begin = tile * GFK_MATMUL_CLMAD_BYTES, room = tiles * GFK_MATMUL_CLMAD_BYTES;
    const size_t left = call->bytes - begin, bytes = left < room ? left : room;
    b.spaced = {call->workspace - begin, room};
    return status_of(cudaMemcpy2DAsync(
        call->workspace, room, gfk_region_address(call->b, 0) + begin, call->b->stride, bytes,
        call->a->cols, cudaMemcpyDeviceToDevice, call->stream));
}

/* The most inputs of a launch, whose kernel counts the bytes of a row of the matrix in 32 bits. A
 * multiple of Regions::most. */
constexpr size_t most_inputs = (size_t)1 << 24;

/* The products of one part of the matrix operand, whose rows begin with row `row` of the matrix. */
template <int W>
gfk_status multiply(const gfk_matmul_call *call, ClmadJob &job, size_t row, size_t rows) {
    using T = ClmadTile<W>;
    const gfk_matmul_plan &plan = call->plan;
    const size_t cols = call->a->cols;
    /* Pointers travel in a launch's parameters, which hold Regions::most of them. */
    const size_t most_rows = call->c->pointers ? Regions::most / T::outputs * T::outputs : rows;
    const size_t most_cols = call->b->pointers ? Regions::most : most_inputs;
    const uint8_t *const matrix = job.matrix;
    for (size_t first = 0; first < rows; first += most_rows) {
        const uint8_t *const of_rows = matrix + first * job.pitch;
        job.rows = (uint32_t)(rows - first < most_rows ? rows - first : most_rows);
        job.output_tiles = (uint32_t)gfk_divide_up(job.rows, T::outputs);
        job.output_mask = call->output_mask ? call->output_mask + row + first : NULL;
        set_regions(job.c, call->c, call->head.c, call->head.c_stride, row + first,
                    plan.products * job.rows);
        for (size_t col = 0; col < cols; col += most_cols) {
            job.matrix = of_rows + col / most_inputs * most_inputs * T::symbol_bytes;
            job.first_input = (uint32_t)(col % most_inputs);
            job.cols = (uint32_t)(cols - col < most_cols ? cols - col : most_cols);
            job.accumulate = call->accumulate || col != 0;
            if (!call->in_place)
                set_regions(job.b, call->b, call->head.b, call->head.b_stride, col,
                            (plan.products - 1) * cols + job.cols);
            const gfk_status status =
                launch(multiply_symbols<T>, (uint64_t)job.output_tiles * job.symbol_tiles,
                       T::threads, 0, call->stream, job);
            if (status != GFK_STATUS_SUCCESS)
                return status;
        }
    }
    job.matrix = matrix;
    return GFK_STATUS_SUCCESS;
}

template <int W>
gfk_status run(const gfk_matmul_call *call) {
    using T = ClmadTile<W>;
    const gfk_matmul_plan &plan = call->plan;
    uint8_t *const matrix = call->workspace + plan.data_space;
    ClmadJob job;
    job.matrix = matrix;
    job.pitch = plan.k_blocks * 32;
    job.next_inputs = call->a->cols;
    job.barrett = gfk_barrett_of(W, call->field->polynomial);
    job.skip_if = call->skip_if;
    gfk_status status = send_points(call);
    size_t tiles;
    for (size_t s = 0; s < plan.products * plan.symbol_tiles && status == GFK_STATUS_SUCCESS;
         s += tiles) {
        const size_t left = plan.products * plan.symbol_tiles - s;
        tiles = left < plan.symbol_tiles_at_once ? left : plan.symbol_tiles_at_once;
        job.symbols = symbols_of<T>(call, s, tiles);
        job.symbol_tiles = (uint32_t)tiles;
        if (call->in_place)
            status = copy_inputs(call, s, tiles, job.b);
        const size_t at_once = plan.output_tiles_at_once * T::outputs;
        for (size_t row = 0; row < call->a->rows && status == GFK_STATUS_SUCCESS; row += at_once) {
            const size_t rows = call->a->rows - row < at_once ? call->a->rows - row : at_once;
            status = write_rows<T>(call, row, rows, plan.k_blocks, (uint32_t *)matrix);
            if (status == GFK_STATUS_SUCCESS)
                status = multiply<W>(call, job, row, rows);
        }
    }
    return status;
}

template <int W>
constexpr Run *function_of = run<W>;

} // namespace

#define WGMMA_ROW(...)
#define CLMAD_ROW(owner, kernel, w) GFK_KERNEL_SYMBOL(owner, kernel, &function_of<w>)
#define GFK_KERNEL(owner, kernel, w, BUILD, ...) BUILD##_ROW(owner, kernel, w)
#include "shapes.def"

} // namespace matmul
} // namespace gfk
