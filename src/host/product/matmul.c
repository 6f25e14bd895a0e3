/* SPDX-License-Identifier: BSD-3-Clause */
/* The matmul call: all checks, and the division of the work. */
#include "matmul.h"

#include <string.h>

#include "engine.h"
#include "host/base/field.h"
#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/device/device.h"

static size_t fit(size_t budget, size_t bytes, size_t most) {
    const size_t count = bytes < budget ? budget / bytes : 1;
    return count < most ? count : most;
}

/* Returns the bytes for `bytes` bytes of each of `count` parts, of which those are there at once
 * that fit into GFK_MATMUL_PART_BYTES, or one. The result grows with both numbers: what `fit`
 * leaves free counts too, so that a smaller call needs no more. */
static size_t space_of(size_t bytes, size_t count) {
    const size_t most = bytes < GFK_MATMUL_PART_BYTES ? GFK_MATMUL_PART_BYTES : bytes;
    return count <= most / bytes ? count * bytes : most;
}

enum { MOST_THREADS = 4096, MOST_SYMBOL_TILES = 1 << 23 };

/* Does the machine run this kernel? True for a machine without processors: only sizes are asked. */
static bool runs(const gfk_matmul_machine *machine, size_t kernel) {
    return machine->processors == 0 || machine->kernels >> kernel & 1;
}

static const gfk_kernel_row *all_kernels(size_t *count) {
    return gfk_rows_of("matmul", count);
}

gfk_status gfk_matmul_check_kernel(const gfk_kernel_row *kernel,
                                   const gfk_matmul_machine *machine) {
    size_t count;
    return kernel == NULL || runs(machine, (size_t)(kernel - all_kernels(&count)))
               ? GFK_STATUS_SUCCESS
               : GFK_STATUS_NOT_SUPPORTED;
}

const gfk_kernel_row *gfk_matmul_smallest_kernel(unsigned w, const gfk_matmul_machine *machine) {
    size_t i = 0, count;
    const gfk_kernel_row *const kernels = all_kernels(&count);
    while (i + 1 < count && !(kernels[i].info.w == w && runs(machine, i)))
        i++;
    return &kernels[i];
}

const gfk_matmul_desc *gfk_matmul_desc_of(const gfk_matmul_desc *desc) {
    static const gfk_matmul_desc default_desc = GFK_MATMUL_DESC_INIT;
    if (desc == NULL)
        return &default_desc;
    return desc->size == sizeof *desc && desc->device >= GFK_CURRENT_DEVICE ? desc : NULL;
}

gfk_status gfk_matmul_find_kernel(const char *id, int device, const gfk_field *field,
                                  const gfk_kernel_row **kernel) {
    *kernel = NULL;
    if (id == NULL)
        return GFK_STATUS_SUCCESS;
    const gfk_kernel_row *const row = gfk_row_find(id);
    if (row == NULL || strncmp(id, "matmul_w", 8) != 0)
        return GFK_STATUS_UNKNOWN_METHOD;
    *kernel = row;
    return row->info.w == field->w && device != GFK_CPU ? GFK_STATUS_SUCCESS
                                                        : GFK_STATUS_INVALID_ARGUMENT;
}

/* Each level makes three products of halves out of four. */
static size_t parts_of(const gfk_kernel_row *kernel) {
    size_t parts = 1;
    for (unsigned level = 0; level < kernel->matmul.levels; level++)
        parts *= 3;
    return parts;
}

/* Returns a number of tiles of outputs, `most` or somewhat less, for which the smallest share of
 * the multiprocessors is idle in the last wave. */
static size_t fill_waves(size_t most, size_t symbol_tiles, size_t processors) {
    size_t best = most;
    for (size_t n = most; n > most / 2 && n + processors > most; n--) {
        const size_t idle = (processors - n * symbol_tiles % processors) % processors;
        const size_t least = (processors - best * symbol_tiles % processors) % processors;
        if (idle * best < least * n)
            best = n;
    }
    return best;
}

/* Is the matrix large enough for the kernel's levels? Returns false if its outputs fill at most
 * half a tile, or its inputs at most half a K-block. */
static bool is_worth(const gfk_kernel_row *kernel, size_t rows, size_t cols) {
    const unsigned levels = kernel->matmul.levels, h = kernel->info.w >> levels;
    return levels == 0 || (rows > GFK_MATMUL_TILE_BITS(levels) / h / 2 &&
                           cols > GFK_MATMUL_K_BLOCK_BITS(levels) / h / 2);
}

static void divide(gfk_matmul_plan *plan, const gfk_matmul_call *call,
                   const gfk_kernel_row *kernel) {
    const bool clmad = kernel->build == GFK_BUILD_CLMAD;
    const unsigned levels = kernel->matmul.levels, h = kernel->info.w >> levels;
    const size_t rows = call->a->rows, cols = call->a->cols, symbol = kernel->info.w / 8;
    const size_t tile_bits = GFK_MATMUL_TILE_BITS(levels);
    const size_t outputs = clmad ? GFK_MATMUL_CLMAD_OUTPUTS : tile_bits / h;
    const size_t tile_bytes =
        clmad ? GFK_MATMUL_CLMAD_BYTES : GFK_MATMUL_TILE_SYMBOLS * symbol; /* bytes of a region */
    const size_t k_block_bits = clmad ? 256 : GFK_MATMUL_K_BLOCK_BITS(levels);
    plan->kernel = kernel;
    plan->k_blocks = parts_of(kernel) * gfk_divide_up(cols * h, k_block_bits);
    plan->symbol_tiles =
        gfk_divide_up(call->bytes, tile_bytes) + gfk_divide_up(call->head.bytes, tile_bytes);
    plan->output_tiles = gfk_divide_up(rows, outputs);
    plan->matrix_bytes =
        clmad ? outputs * 32 : (levels == 0 ? 2 * outputs : tile_bits) * k_block_bits / 8;
    const size_t data =
        clmad ? cols * tile_bytes : plan->k_blocks * k_block_bits / 8 * GFK_MATMUL_TILE_SYMBOLS;
    const size_t matrix = plan->k_blocks * plan->matrix_bytes;
    /* CLMAD reads the inputs in the caller's regions: only the number of blocks limits a launch. */
    const bool copies = !clmad || call->in_place;
    plan->symbol_tiles_at_once = copies ? fit(GFK_MATMUL_PART_BYTES, data, plan->symbol_tiles)
                                        : fit(MOST_SYMBOL_TILES, 1, plan->symbol_tiles);
    plan->output_tiles_at_once = levels == 0
                                     ? fit(GFK_MATMUL_PANEL_OUTPUTS, outputs, plan->output_tiles)
                                     : fit(GFK_MATMUL_PART_BYTES, matrix, plan->output_tiles);
    plan->data_space = copies ? space_of(data, plan->symbol_tiles) : 0;
    plan->matrix_space =
        levels == 0 ? plan->output_tiles_at_once * matrix : space_of(matrix, plan->output_tiles);
    if (levels > 0 && plan->output_tiles_at_once < plan->output_tiles)
        plan->output_tiles_at_once =
            fill_waves(plan->output_tiles_at_once, plan->symbol_tiles_at_once,
                       call->machine.processors > 0 ? (size_t)call->machine.processors : 1);
}

/* Returns the estimated microseconds of `products` products on these multiprocessors, if each is
 * as fast as one of an H200. */
static double time_of(const gfk_matmul_plan *plan, size_t products, size_t processors) {
    const gfk_matmul_numbers *const n = &plan->kernel->matmul;
    const double symbols = (double)plan->symbol_tiles, outputs = (double)plan->output_tiles;
    const double tiles = symbols * outputs * (double)products, mib = 1 << 20;
    const double waves =
        tiles < 1e6 ? (double)gfk_divide_up((size_t)tiles, processors) : tiles / (double)processors;
    const double k_blocks = (double)plan->k_blocks;
    const double matrix = outputs * k_blocks * (double)plan->matrix_bytes;
    const double times = symbols / (double)plan->symbol_tiles_at_once * (double)products;
    return n->call + waves * (n->k_block * k_blocks + n->end * (double)parts_of(plan->kernel)) +
           times * (n->data * (double)plan->data_space + n->matrix * matrix) / mib;
}

/* Returns an upper bound of the bytes of a tile's operands for each column and each byte of an
 * element. */
enum { MOST_SPACE = 1 << 16 };

static gfk_status check_size(const gfk_matmul_call *call) {
    const gfk_field *field = call->field;
    const size_t rows = call->a->rows, cols = call->a->cols;
    if (rows == 0 || cols == 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    const size_t symbol = field->w / 8;
    return call->bytes % symbol != 0 || cols > SIZE_MAX / MOST_SPACE / symbol ||
                   rows > SIZE_MAX / cols / symbol || rows > SIZE_MAX / 16
               ? GFK_STATUS_INVALID_SIZE
               : GFK_STATUS_SUCCESS;
}

/* Makes the plan of each of `products` products of one shape. */
static gfk_status make_plan(gfk_matmul_call *call, size_t products) {
    RETURN_IF_ERROR(check_size(call));
    const size_t rows = call->a->rows, cols = call->a->cols;
    const size_t processors = call->machine.processors > 0 ? (size_t)call->machine.processors : 1;
    gfk_matmul_plan plan = {.products = 1}, best = plan;
    double least = 0;
    size_t data = 0, matrix = 0; /* maxima over all kernels: a smaller call needs no more */
    size_t count;
    const gfk_kernel_row *const kernels = all_kernels(&count);
    for (size_t i = 0; i < count; i++) {
        const gfk_kernel_row *const kernel = &kernels[i];
        if (call->kernel != NULL
                ? kernel != call->kernel
                : kernel->info.w != call->field->w || !is_worth(kernel, rows, cols))
            continue;
        divide(&plan, call, kernel);
        const double time = time_of(&plan, products, processors);
        data = plan.data_space > data ? plan.data_space : data;
        matrix = plan.matrix_space > matrix ? plan.matrix_space : matrix;
        if (runs(&call->machine, i) && (best.kernel == NULL || time < least)) {
            least = time;
            best = plan;
        }
    }
    if (best.kernel == NULL)
        return GFK_STATUS_NOT_SUPPORTED;
    best.data_space = data;
    best.matrix_space = matrix;
    best.space = data + matrix + gfk_round_up((rows + cols) * sizeof(uint32_t), 256);
    call->plan = best;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_matmul_make_plan(gfk_matmul_call *call) {
    return make_plan(call, 1);
}

size_t gfk_matmul_threads(unsigned threads) {
    return threads != 0 ? fit(threads, 1, MOST_THREADS) : gfk_usable_cores();
}

/* Returns the workspace of a call, and makes the plan if the call is on a device. */
static gfk_status plan_space(const gfk_matmul_desc *desc, gfk_matmul_call *call, size_t *space) {
    if (desc->device == GFK_CPU) {
        RETURN_IF_ERROR(check_size(call));
        *space =
            gfk_matmul_cpu_space(call->a->rows, call->bytes, 1, gfk_matmul_threads(desc->threads));
        return GFK_STATUS_SUCCESS;
    }
    RETURN_IF_ERROR(gfk_matmul_make_plan(call));
    *space = call->plan.space;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_matmul_workspace_proven(const gfk_field *field, size_t rows, size_t cols,
                                       size_t bytes, bool in_place, const gfk_matmul_desc *desc,
                                       size_t *workspace_bytes) {
    const gfk_matrix a = {.rows = rows, .cols = cols};
    gfk_matmul_call call = {.field = field, .a = &a, .bytes = bytes, .in_place = in_place};
    desc = gfk_matmul_desc_of(desc);
    if (workspace_bytes == NULL || desc == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(check_size(&call));
    RETURN_IF_ERROR(gfk_matmul_find_kernel(desc->kernel, desc->device, field, &call.kernel));
    return plan_space(desc, &call, workspace_bytes);
}

gfk_status gfk_matmul_workspace(const gfk_field *field, size_t rows, size_t cols, size_t bytes,
                                const gfk_matmul_desc *desc, size_t *workspace_bytes) {
    return gfk_field_is_valid(field)
               ? gfk_matmul_workspace_proven(field, rows, cols, bytes, false, desc, workspace_bytes)
               : GFK_STATUS_INVALID_ARGUMENT;
}

gfk_status gfk_matmul_kernel_id(const gfk_field *field, size_t rows, size_t cols, size_t bytes,
                                const gfk_matmul_desc *desc, const char **id) {
    const gfk_matrix a = {.rows = rows, .cols = cols};
    gfk_matmul_call call = {.field = field, .a = &a, .bytes = bytes};
    int place;
    desc = gfk_matmul_desc_of(desc);
    if (id == NULL || desc == NULL || !gfk_field_is_valid(field))
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(check_size(&call));
    RETURN_IF_ERROR(gfk_matmul_find_kernel(desc->kernel, desc->device, field, &call.kernel));
    RETURN_IF_ERROR(gfk_matmul_find_place(desc, NULL, &place, &call.machine));
    if (place != GFK_CPU)
        RETURN_IF_ERROR(gfk_matmul_make_plan(&call));
    *id = place != GFK_CPU ? call.plan.kernel->info.id : NULL;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_matmul_check(gfk_matmul_call *call, gfk_generator *generator,
                            gfk_operand operands[GFK_MATMUL_OPERANDS]) {
    const gfk_matrix *a = call->a;
    RETURN_IF_ERROR(check_size(call));
    operands[0] = gfk_operand_regions(call->b, a->cols, call->bytes, GFK_READ);
    operands[1] = gfk_operand_regions(call->c, a->rows, call->bytes, GFK_WRITE);
    operands[3] = gfk_operand_range(NULL, 0, 1, GFK_READ);
    if (a->kind == GFK_MATRIX_DENSE) {
        operands[2] = gfk_operand_rows(a->elements, a->rows, a->cols, a->stride, call->field->w / 8,
                                       GFK_READ);
        return GFK_STATUS_SUCCESS;
    }
    RETURN_IF_ERROR(gfk_generator_init(generator, call->field, a));
    call->generator = generator;
    const gfk_matrix *m = &generator->matrix;
    const size_t point = sizeof *m->row_points;
    operands[2] = gfk_operand_optional(m->row_points, m->rows * point, 1, GFK_HOST);
    operands[3] = gfk_operand_optional(m->col_points, m->cols * point, 1, GFK_HOST);
    return GFK_STATUS_SUCCESS;
}

/* Returns the lines of the list that the device runs, as bits. */
static gfk_status find_kernels(int device, uint32_t *kernels, const char **reason) {
    int cc;
    *kernels = 0;
    RETURN_IF_ERROR(gfk_device_check(0, 0, 0, device, reason));
    RETURN_IF_ERROR(gfk_device_capability(device, &cc));
    size_t count;
    const gfk_kernel_row *const all = all_kernels(&count);
    for (size_t i = 0; i < count; i++) {
        if (gfk_within(all[i].info.cc, (size_t)cc) && gfk_row_is_built(&all[i]))
            *kernels |= (uint32_t)1 << i;
    }
    *reason = *kernels != 0 ? NULL
              : cc < 80
                  ? "a matmul needs compute capability 8.0"
                  : "this build has matmuls for compute capability 9.0 alone: needs nvcc 13.3";
    return *kernels != 0 ? GFK_STATUS_SUCCESS : GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_matmul_check_device(int device, const char **reason) {
    uint32_t kernels;
    return find_kernels(device, &kernels, reason);
}

gfk_status gfk_matmul_resolve(int device, int *place, gfk_matmul_machine *machine) {
    const char *reason;
    *place = GFK_CPU;
    *machine = (gfk_matmul_machine){0};
    if (device == GFK_CPU)
        return GFK_STATUS_SUCCESS;
    RETURN_IF_ERROR(gfk_device_resolve(device, place, &reason));
    RETURN_IF_ERROR(find_kernels(*place, &machine->kernels, &reason));
    return gfk_device_processors(*place, &machine->processors);
}

gfk_status gfk_matmul_find_place(const gfk_matmul_desc *desc, gfk_stream_t stream, int *place,
                                 gfk_matmul_machine *machine) {
    RETURN_IF_ERROR(gfk_matmul_resolve(desc->device, place, machine));
    return gfk_device_check_stream(*place, stream);
}

gfk_status gfk_matmul_proven(const gfk_field *field, const gfk_matrix *a, const gfk_regions *b,
                             const gfk_regions *c, size_t bytes, gfk_accumulate mode,
                             const gfk_matmul_desc *desc, void *workspace, size_t workspace_bytes,
                             gfk_stream_t stream) {
    desc = gfk_matmul_desc_of(desc);
    if (a == NULL || b == NULL || c == NULL || (mode != GFK_SET && mode != GFK_XOR) || desc == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    gfk_matmul_call call = {.field = field,
                            .a = a,
                            .b = b,
                            .c = c,
                            .bytes = bytes,
                            .accumulate = mode == GFK_XOR,
                            .workspace = workspace,
                            .stream = stream};
    size_t space = 0;
    int device;
    gfk_generator generator;
    gfk_operand operands[GFK_MATMUL_OPERANDS + 1];
    RETURN_IF_ERROR(gfk_matmul_check(&call, &generator, operands));
    RETURN_IF_ERROR(gfk_matmul_find_kernel(desc->kernel, desc->device, field, &call.kernel));
    RETURN_IF_ERROR(gfk_matmul_find_place(desc, stream, &device, &call.machine));
    if (bytes != 0)
        RETURN_IF_ERROR(plan_space(desc, &call, &space));
    operands[GFK_MATMUL_OPERANDS] = gfk_operand_workspace(workspace, workspace_bytes, space, 256);
    RETURN_IF_ERROR(
        gfk_operands_check(device, desc->check_pointers, operands, GFK_MATMUL_OPERANDS + 1));
    if (bytes == 0)
        return GFK_STATUS_SUCCESS;
    if (device != GFK_CPU)
        return gfk_matmul_run(&call);
    const size_t threads = gfk_matmul_threads(desc->threads);
    gfk_pool *pool = threads > 1 ? gfk_pool_acquire() : NULL;
    gfk_matmul_cpu_run(&call, 1, pool, threads);
    gfk_pool_release(pool);
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_matmul(const gfk_field *field, const gfk_matrix *a, const gfk_regions *b,
                      const gfk_regions *c, size_t bytes, gfk_accumulate mode,
                      const gfk_matmul_desc *desc, void *workspace, size_t workspace_bytes,
                      gfk_stream_t stream) {
    return gfk_field_is_valid(field) ? gfk_matmul_proven(field, a, b, c, bytes, mode, desc,
                                                         workspace, workspace_bytes, stream)
                                     : GFK_STATUS_INVALID_ARGUMENT;
}

/* ---- several products ----------------------------------------------------------------------- */

gfk_status gfk_matmul_plan_batch(gfk_matmul_call *call, size_t products, size_t threads,
                                 size_t *space) {
    gfk_matmul_plan *const plan = &call->plan;
    if (call->machine.processors == 0) {
        RETURN_IF_ERROR(check_size(call));
        const size_t head =
            gfk_matmul_cpu_space(call->a->rows, call->head.bytes, products, threads);
        *space = gfk_matmul_cpu_space(call->a->rows, call->bytes, products, threads);
        *space = head > *space ? head : *space;
        return GFK_STATUS_SUCCESS;
    }
    RETURN_IF_ERROR(make_plan(call, products));
    if (plan->symbol_tiles_at_once == plan->symbol_tiles &&
        plan->output_tiles_at_once == plan->output_tiles) {
        const size_t data = plan->data_space, matrix = plan->matrix_space;
        plan->products = fit((size_t)1 << 30, data > matrix ? data : matrix, products);
        plan->symbol_tiles_at_once *= plan->products;
        plan->data_space *= plan->products;
        plan->matrix_space *= plan->products;
        plan->space += (plan->products - 1) * (data + matrix);
    }
    *space = plan->space;
    return GFK_STATUS_SUCCESS;
}

void gfk_matmul_set_part(gfk_matmul_part *p, const gfk_matmul_call *batch, size_t first,
                         size_t count) {
    const gfk_matrix *const a = batch->a;
    p->call = *batch;
    p->a = *a;
    p->a.elements =
        (const uint8_t *)a->elements + first * a->rows * a->stride * (batch->field->w / 8);
    p->b = gfk_regions_from(batch->b, first * a->cols);
    p->c = gfk_regions_from(batch->c, first * a->rows);
    p->call.a = &p->a;
    p->call.b = &p->b;
    p->call.c = &p->c;
    if (batch->head.bytes != 0) {
        p->call.head.b += first * a->cols * batch->head.b_stride;
        p->call.head.c += first * a->rows * batch->head.c_stride;
    }
    p->call.plan.products = count;
    if (batch->output_mask != NULL)
        p->call.output_mask += first * a->rows;
}

gfk_status gfk_matmul_run_batch(const gfk_matmul_call *call, size_t products, gfk_pool *pool,
                                size_t threads) {
    if (call->machine.processors == 0) {
        const gfk_matmul_head *const head = &call->head;
        const gfk_regions b = gfk_inputs_spaced(head->b, head->b_stride);
        const gfk_regions c = {NULL, head->c, head->c_stride};
        gfk_matmul_call of_head = *call;
        of_head.b = &b;
        of_head.c = &c;
        of_head.bytes = head->bytes;
        if (head->bytes != 0)
            gfk_matmul_cpu_run(&of_head, products, pool, threads);
        if (call->bytes != 0)
            gfk_matmul_cpu_run(call, products, pool, threads);
        return GFK_STATUS_SUCCESS;
    }
    size_t at_once = call->plan.products;
    if (call->b->pointers != NULL)
        at_once = fit(GFK_MATMUL_MOST_POINTERS, call->a->cols, at_once);
    if (call->c->pointers != NULL)
        at_once = fit(GFK_MATMUL_MOST_POINTERS, call->a->rows, at_once);
    for (size_t first = 0; first < products; first += at_once) {
        gfk_matmul_part p;
        gfk_matmul_set_part(&p, call, first,
                            products - first < at_once ? products - first : at_once);
        RETURN_IF_ERROR(gfk_matmul_run(&p.call));
    }
    return GFK_STATUS_SUCCESS;
}
