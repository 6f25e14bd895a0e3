/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of gfk/matrix.h: all checks, and the layout of the workspace. */
#include "eliminate.h"
#include "host/base/field.h"
#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/device/device.h"
#include "host/product/engine.h"
#include "host/product/matmul.h"

enum { MOST_ROWS = 1 << 30 };

/* The arguments of all calls. A member that is no argument of a call is zero. */
typedef struct request {
    enum { INVERT, SOLVE, RANK } what;
    const gfk_field *field;
    const gfk_matrix *a;
    gfk_matrix_record *record;
    uint32_t *pivots;
    const gfk_matmul_desc *desc;
    void *workspace;
    size_t workspace_bytes;
    gfk_stream_t stream;
    void *inverse; /* for INVERT */
    size_t stride;
    const gfk_regions *b, *x; /* for SOLVE */
    size_t bytes;
} request;

/* ---- the workspace -------------------------------------------------------------------------- */

/* The work of a call: an elimination and, to solve, a product with the inverse. */
typedef struct call {
    gfk_elimination e;
    gfk_matrix a, inverse; /* inverse.elements: NULL, or an address in the workspace */
    size_t bytes;          /* bytes of the whole workspace */
} call;

/* Checks the arguments that decide the size of the workspace, and fills the call except for the
 * device. If the workspace is NULL, only computes sizes. */
static gfk_status lay_out_workspace(call *c, request *r) {
    r->desc = gfk_matmul_desc_of(r->desc);
    if (!gfk_field_is_valid(r->field) || r->a->rows == 0 || r->a->cols == 0 || r->desc == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (r->a->rows > MOST_ROWS || r->a->cols > MOST_ROWS || r->a->rows > SIZE_MAX / 16 / r->a->cols)
        return GFK_STATUS_INVALID_SIZE;
    *c = (call){.a = *r->a, .e.stream = r->stream};
    const gfk_field *const field = r->field;
    const gfk_matmul_desc *const desc = r->desc;
    uint8_t *const workspace = r->workspace;
    const size_t rows = c->a.rows, cols = c->a.cols, w = field->w, symbol = w / 8;
    const bool on_cpu = desc->device == GFK_CPU;
    const size_t panel = GFK_PANEL_BITS / w;
    gfk_elimination *const e = &c->e;
    e->field = field;
    RETURN_IF_ERROR(gfk_matmul_find_kernel(desc->kernel, desc->device, field, &e->kernel));
    e->a = &c->a;
    e->desc = desc;
    e->jordan = r->what != RANK;
    e->symbol = symbol;
    e->panel = panel;
    e->group = on_cpu ? (rows + panel - 1) / panel * panel : 8 * panel;
    e->most_columns = panel + GFK_PANEL_SPARE_BITS / w;
    e->pitch = (cols * symbol + 255) / 256 * 256;
    const size_t group = rows < e->group ? rows : e->group;
    size_t multiply = 0, product = 0;
    RETURN_IF_ERROR(gfk_matmul_workspace_proven(field, rows, panel, cols * symbol, true, desc,
                                                &e->workspace_bytes));
    if (!on_cpu)
        RETURN_IF_ERROR(
            gfk_matmul_workspace_proven(field, rows, group, cols * symbol, true, desc, &multiply));
    if (r->bytes != 0)
        RETURN_IF_ERROR(
            gfk_matmul_workspace_proven(field, rows, rows, r->bytes, false, desc, &product));
    e->workspace_bytes = multiply > e->workspace_bytes ? multiply : e->workspace_bytes;
    e->workspace_bytes = product > e->workspace_bytes ? product : e->workspace_bytes;
    size_t used = 0;
    e->matrix = gfk_take(workspace, &used, rows, e->pitch);
    if (r->what == SOLVE)
        c->inverse = (gfk_matrix)GFK_MATRIX_DENSE_INIT(gfk_take(workspace, &used, rows, e->pitch),
                                                       rows, cols, e->pitch / symbol);
    e->factors = gfk_take(workspace, &used, rows, on_cpu ? panel * symbol : e->group * symbol);
    e->transform = gfk_take(workspace, &used, panel, panel * symbol);
    e->pivots = (uint32_t *)gfk_take(workspace, &used, rows, sizeof *e->pivots);
    e->used = gfk_take(workspace, &used, cols, 1);
    e->rank = (uint32_t *)gfk_take(workspace, &used, 1, sizeof *e->rank);
    e->rows = gfk_take(workspace, &used, on_cpu ? 2 * panel : 0, e->pitch);
    e->workspace = gfk_take(workspace, &used, e->workspace_bytes, 1);
    c->bytes = used;
    return GFK_STATUS_SUCCESS;
}

static gfk_status workspace_of(request r, size_t rows, size_t cols, size_t *workspace_bytes) {
    call c;
    r.a = &(gfk_matrix)GFK_MATRIX_DENSE_INIT(NULL, rows, cols, cols);
    if (workspace_bytes == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(lay_out_workspace(&c, &r));
    *workspace_bytes = c.bytes;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_matrix_invert_workspace(const gfk_field *field, size_t n,
                                       const gfk_matmul_desc *desc, size_t *workspace_bytes) {
    return workspace_of((request){INVERT, field, .desc = desc}, n, n, workspace_bytes);
}

gfk_status gfk_matrix_solve_workspace(const gfk_field *field, size_t n, size_t bytes,
                                      const gfk_matmul_desc *desc, size_t *workspace_bytes) {
    return workspace_of((request){SOLVE, field, .desc = desc, .bytes = bytes}, n, n,
                        workspace_bytes);
}

gfk_status gfk_matrix_rank_workspace(const gfk_field *field, size_t rows, size_t cols,
                                     const gfk_matmul_desc *desc, size_t *workspace_bytes) {
    return workspace_of((request){RANK, field, .desc = desc}, rows, cols, workspace_bytes);
}

/* ---- checks --------------------------------------------------------------------------------- */

static gfk_status check_memory(const request *r, const call *c, int place) {
    const size_t n = c->a.rows, symbol = c->e.symbol;
    const bool in_place = r->inverse == c->a.elements && r->stride == c->a.stride;
    const gfk_operand none = gfk_operand_range(NULL, 0, 1, GFK_READ);
    const gfk_operand operands[] = {
        gfk_operand_rows(c->a.elements, n, c->a.cols, c->a.stride, symbol, GFK_READ),
        r->what == INVERT && !in_place
            ? gfk_operand_rows(r->inverse, n, n, r->stride, symbol, GFK_WRITE)
            : none,
        gfk_operand_regions(r->b, n, r->bytes, GFK_READ),
        gfk_operand_regions(r->x, n, r->bytes, GFK_WRITE),
        gfk_operand_range(r->record, sizeof *r->record, sizeof r->record->rank, GFK_WRITE),
        gfk_operand_optional(r->pivots, n * sizeof *r->pivots, sizeof *r->pivots, GFK_WRITE),
        gfk_operand_workspace(r->workspace, r->workspace_bytes, c->bytes, 256),
    };
    return gfk_operands_check(place, r->desc->check_pointers, operands,
                              sizeof operands / sizeof operands[0]);
}

/* Computes x = inverse * b if the record says SUCCESS. */
static gfk_status multiply_by_inverse(const request *r, const call *c) {
    if (c->e.machine.processors == 0) {
        if (r->record->status != GFK_STATUS_SUCCESS)
            return GFK_STATUS_SUCCESS;
        return gfk_matmul_proven(r->field, &c->inverse, r->b, r->x, r->bytes, GFK_SET, r->desc,
                                 c->e.workspace, c->e.workspace_bytes, NULL);
    }
    return gfk_eliminate_multiply(&c->e, &c->inverse, r->b, r->x, r->bytes, GFK_SET, false,
                                  &r->record->status);
}

static gfk_status run_request(request r) {
    call c;
    if (r.a == NULL || (r.what == SOLVE && (r.b == NULL || r.x == NULL)) ||
        (r.what != RANK && r.a->rows != r.a->cols))
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(lay_out_workspace(&c, &r));
    if (c.a.kind != GFK_MATRIX_DENSE)
        return (unsigned)c.a.kind > GFK_MATRIX_RANDOM ? GFK_STATUS_INVALID_ARGUMENT
                                                      : GFK_STATUS_NOT_SUPPORTED;
    int place;
    RETURN_IF_ERROR(gfk_matmul_find_place(r.desc, r.stream, &place, &c.e.machine));
    RETURN_IF_ERROR(gfk_matmul_check_kernel(c.e.kernel, &c.e.machine));
    RETURN_IF_ERROR(check_memory(&r, &c, place));
    const gfk_elimination_steps *steps = &gfk_eliminate_on_device;
    gfk_arithmetic arithmetic = {0};
    if (place == GFK_CPU) {
        steps = &gfk_eliminate_on_cpu;
        RETURN_IF_ERROR(gfk_arithmetic_create(&arithmetic, r.field));
    } else {
        gfk_inverter_init(&c.e.inverter, r.field);
    }
    c.e.arithmetic = &arithmetic;
    gfk_status status = gfk_eliminate(&c.e, steps);
    gfk_arithmetic_destroy(&arithmetic);
    RETURN_IF_ERROR(status);
    if (r.what == SOLVE) {
        r.inverse = (void *)c.inverse.elements;
        r.stride = c.inverse.stride;
    }
    RETURN_IF_ERROR(steps->finish(&c.e, r.inverse, r.stride, r.record, r.pivots));
    return r.bytes != 0 ? multiply_by_inverse(&r, &c) : GFK_STATUS_SUCCESS;
}

/* ---- calls ---------------------------------------------------------------------------------- */

gfk_status gfk_matrix_invert(const gfk_field *field, const gfk_matrix *a, void *inverse,
                             size_t stride, gfk_matrix_record *record, uint32_t *pivots,
                             const gfk_matmul_desc *desc, void *workspace, size_t workspace_bytes,
                             gfk_stream_t stream) {
    return run_request((request){INVERT, field, a, record, pivots, desc, workspace, workspace_bytes,
                                 stream, .inverse = inverse, .stride = stride});
}

gfk_status gfk_matrix_solve(const gfk_field *field, const gfk_matrix *a, const gfk_regions *b,
                            const gfk_regions *x, size_t bytes, gfk_matrix_record *record,
                            uint32_t *pivots, const gfk_matmul_desc *desc, void *workspace,
                            size_t workspace_bytes, gfk_stream_t stream) {
    return run_request((request){SOLVE, field, a, record, pivots, desc, workspace, workspace_bytes,
                                 stream, .b = b, .x = x, .bytes = bytes});
}

gfk_status gfk_matrix_rank(const gfk_field *field, const gfk_matrix *a, gfk_matrix_record *record,
                           uint32_t *pivots, const gfk_matmul_desc *desc, void *workspace,
                           size_t workspace_bytes, gfk_stream_t stream) {
    return run_request((request){RANK, field, a, record, pivots, desc, workspace, workspace_bytes,
                                 .stream = stream});
}

gfk_status gfk_matrix_wait(const gfk_matrix_record *record, const gfk_matmul_desc *desc,
                           gfk_stream_t stream, gfk_matrix_record *copy) {
    desc = gfk_matmul_desc_of(desc);
    if (record == NULL || copy == NULL || desc == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    int place;
    gfk_matmul_machine machine;
    gfk_matrix_record result;
    RETURN_IF_ERROR(gfk_matmul_find_place(desc, stream, &place, &machine));
    if (place == GFK_CPU) {
        result = *record;
    } else {
        RETURN_IF_ERROR(gfk_device_fetch(&result, sizeof result, record, sizeof result,
                                         sizeof result, 1, stream));
        RETURN_IF_ERROR(gfk_device_drain(stream));
    }
    if (result.status != GFK_STATUS_SUCCESS && result.status != GFK_STATUS_SINGULAR)
        return GFK_STATUS_INVALID_ARGUMENT;
    *copy = result;
    return (gfk_status)result.status;
}
