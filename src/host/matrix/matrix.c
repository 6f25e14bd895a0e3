/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of gfk/matrix.h: all checks, and what the workspace holds. */
#include "eliminate.h"
#include "host/base/field.h"
#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/device/device.h"
#include "host/product/engine.h"
#include "host/product/matmul.h"

enum { MOST_ROWS = 1 << 30 };

static const gfk_matmul_desc default_desc = GFK_MATMUL_DESC_INIT;

static bool desc_is_valid(const gfk_matmul_desc *desc) {
    return desc->size == sizeof *desc && desc->device >= GFK_CURRENT_DEVICE;
}

/* ---- the workspace -------------------------------------------------------------------------- */

/* Takes `count` times `bytes` bytes of a workspace, whose size so far is *used. */
static uint8_t *take(uint8_t *workspace, size_t *used, size_t count, size_t bytes) {
    uint8_t *const at = workspace == NULL ? NULL : workspace + *used;
    *used += (count * bytes + 255) / 256 * 256;
    return at;
}

/* What a call needs: an elimination and, to solve, a product with the inverse. */
typedef struct call {
    gfk_elimination e;
    gfk_matrix a, inverse; /* inverse.elements: NULL, or in the workspace */
    size_t bytes;          /* of the whole workspace */
} call;

/* Fills the call but for the device; only sizes if workspace is NULL. Bounds of rows and columns
 * have been checked, so no size here overflows. */
static gfk_status lay_out(call *c, const gfk_field *field, const gfk_matmul_desc *desc,
                          bool is_rank, bool solves, size_t bytes, uint8_t *workspace) {
    const size_t rows = c->a.rows, cols = c->a.cols, w = field->w, symbol = w / 8;
    const bool on_cpu = desc->device == GFK_CPU;
    const size_t panel = GFK_PANEL_BITS / w;
    gfk_elimination *const e = &c->e;
    e->field = field;
    e->a = &c->a;
    e->desc = desc;
    e->jordan = !is_rank;
    e->symbol = symbol;
    e->panel = panel;
    e->group = on_cpu ? (rows + panel - 1) / panel * panel : 8 * panel;
    e->most_columns = panel + GFK_PANEL_SPARE_BITS / w;
    e->pitch = (cols * symbol + 255) / 256 * 256;
    const size_t group = rows < e->group ? rows : e->group;
    size_t multiply = 0, product = 0;
    RETURN_IF_ERROR(
        gfk_matmul_workspace(field, rows, panel, cols * symbol, desc, &e->workspace_bytes));
    if (!on_cpu)
        RETURN_IF_ERROR(gfk_matmul_workspace(field, rows, group, cols * symbol, desc, &multiply));
    if (solves && bytes != 0)
        RETURN_IF_ERROR(gfk_matmul_workspace(field, rows, rows, bytes, desc, &product));
    e->workspace_bytes = multiply > e->workspace_bytes ? multiply : e->workspace_bytes;
    e->workspace_bytes = product > e->workspace_bytes ? product : e->workspace_bytes;
    size_t used = 0;
    e->matrix = take(workspace, &used, rows, e->pitch);
    if (solves)
        c->inverse = (gfk_matrix)GFK_MATRIX_DENSE_INIT(take(workspace, &used, rows, e->pitch), rows,
                                                       cols, e->pitch / symbol);
    e->factors = take(workspace, &used, rows, on_cpu ? panel * symbol : e->group * symbol);
    e->transform = take(workspace, &used, panel, panel * symbol);
    e->inverses = take(workspace, &used, on_cpu ? 0 : w == 8 ? 256 : w == 16 ? 131072 : 0, 1);
    e->pivots = (uint32_t *)take(workspace, &used, rows, sizeof *e->pivots);
    e->used = take(workspace, &used, cols, 1);
    e->columns = (uint32_t *)take(workspace, &used, e->most_columns, sizeof *e->columns);
    e->state = (gfk_elimination_state *)take(workspace, &used, 1, sizeof *e->state);
    e->rows = take(workspace, &used, on_cpu ? 2 * panel : 0, e->pitch);
    e->workspace = take(workspace, &used, e->workspace_bytes, 1);
    c->bytes = used;
    return GFK_STATUS_SUCCESS;
}

/* The arguments that decide the size of the workspace. */
static gfk_status check_sizes(const gfk_field *field, size_t rows, size_t cols,
                              const gfk_matmul_desc *desc) {
    if (field == NULL || !gfk_field_is_valid(field) || rows == 0 || cols == 0 ||
        !desc_is_valid(desc))
        return GFK_STATUS_INVALID_ARGUMENT;
    const bool fits = rows <= MOST_ROWS && cols <= MOST_ROWS && rows <= SIZE_MAX / 16 / cols;
    return fits ? GFK_STATUS_SUCCESS : GFK_STATUS_INVALID_SIZE;
}

static gfk_status workspace_of(const gfk_field *field, size_t rows, size_t cols, bool is_rank,
                               bool solves, size_t bytes, const gfk_matmul_desc *desc,
                               size_t *workspace_bytes) {
    if (desc == NULL)
        desc = &default_desc;
    if (workspace_bytes == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(check_sizes(field, rows, cols, desc));
    call c = {.a = GFK_MATRIX_DENSE_INIT(NULL, rows, cols, cols)};
    RETURN_IF_ERROR(lay_out(&c, field, desc, is_rank, solves, bytes, NULL));
    *workspace_bytes = c.bytes;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_matrix_invert_workspace(const gfk_field *field, size_t n,
                                       const gfk_matmul_desc *desc, size_t *workspace_bytes) {
    return workspace_of(field, n, n, false, false, 0, desc, workspace_bytes);
}

gfk_status gfk_matrix_solve_workspace(const gfk_field *field, size_t n, size_t bytes,
                                      const gfk_matmul_desc *desc, size_t *workspace_bytes) {
    return workspace_of(field, n, n, false, true, bytes, desc, workspace_bytes);
}

gfk_status gfk_matrix_rank_workspace(const gfk_field *field, size_t rows, size_t cols,
                                     const gfk_matmul_desc *desc, size_t *workspace_bytes) {
    return workspace_of(field, rows, cols, true, false, 0, desc, workspace_bytes);
}

/* ---- checks --------------------------------------------------------------------------------- */

typedef struct span {
    const void *start;
    size_t length;
} span;

/* The elements from the first to the last one; INVALID_SIZE if they leave the address space. */
static gfk_status span_of(const void *elements, size_t rows, size_t cols, size_t stride,
                          size_t symbol, span *s) {
    if (elements == NULL || (uintptr_t)elements % symbol != 0 || stride < cols)
        return GFK_STATUS_INVALID_ARGUMENT;
    const size_t room = (UINTPTR_MAX - (uintptr_t)elements) / symbol;
    if (cols > room || rows - 1 > (room - cols) / stride)
        return GFK_STATUS_INVALID_SIZE;
    *s = (span){elements, ((rows - 1) * stride + cols) * symbol};
    return GFK_STATUS_SUCCESS;
}

static bool overlap(span a, span b) {
    return (uintptr_t)a.start < (uintptr_t)b.start + b.length &&
           (uintptr_t)b.start < (uintptr_t)a.start + a.length;
}

/* What the calls have in common. */
typedef struct request {
    const gfk_field *field;
    const gfk_matrix *a;
    gfk_matrix_record *record;
    uint32_t *pivots;
    const gfk_matmul_desc *desc;
    void *workspace;
    size_t workspace_bytes;
    gfk_stream_t stream;
    bool is_rank;
    void *inverse; /* of gfk_matrix_invert */
    size_t stride;
    const gfk_regions *b, *x; /* of gfk_matrix_solve */
    size_t bytes;
} request;

enum { MATRIX, RECORD, PIVOTS, WORKSPACE, INVERSE, SPANS };

static gfk_status check_spans(const request *r, const call *c, int place) {
    const size_t rows = c->a.rows, symbol = c->e.symbol;
    span s[SPANS] = {[RECORD] = {r->record, sizeof *r->record},
                     [PIVOTS] = {r->pivots, r->pivots ? rows * sizeof *r->pivots : 0},
                     [WORKSPACE] = {r->workspace, c->bytes}};
    RETURN_IF_ERROR(span_of(c->a.elements, rows, c->a.cols, c->a.stride, symbol, &s[MATRIX]));
    if (r->inverse != NULL)
        RETURN_IF_ERROR(span_of(r->inverse, rows, rows, r->stride, symbol, &s[INVERSE]));
    if (r->workspace == NULL || r->workspace_bytes < c->bytes)
        return GFK_STATUS_WORKSPACE_TOO_SMALL;
    if ((uintptr_t)r->workspace % 256 != 0 || (uintptr_t)r->record % sizeof r->record->rank != 0 ||
        (uintptr_t)r->pivots % sizeof *r->pivots != 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    for (int i = 0; i < SPANS; i++)
        if (gfk_wraps(s[i].start, s[i].length))
            return GFK_STATUS_INVALID_SIZE;
    const bool in_place = r->inverse == c->a.elements && r->stride == c->a.stride;
    const gfk_regions *const b = r->bytes != 0 ? r->b : NULL, *const x = r->x;
    if (b != NULL) {
        RETURN_IF_ERROR(gfk_regions_check(b, rows, r->bytes));
        RETURN_IF_ERROR(gfk_regions_check(x, rows, r->bytes));
        if (gfk_outputs_overlap(b, rows, x, rows, r->bytes))
            return GFK_STATUS_OVERLAP;
    }
    for (int i = 0; i < SPANS; i++) {
        for (int j = 0; j < i; j++)
            if (overlap(s[i], s[j]) && !(in_place && i == INVERSE && j == MATRIX))
                return GFK_STATUS_OVERLAP;
        if (b != NULL &&
            (gfk_regions_touch(x, rows, r->bytes, s[i].start, s[i].length) ||
             (i != MATRIX && gfk_regions_touch(b, rows, r->bytes, s[i].start, s[i].length))))
            return GFK_STATUS_OVERLAP;
        if (r->desc->check_pointers && !gfk_device_reaches(place, s[i].start, s[i].length))
            return GFK_STATUS_WRONG_DEVICE;
    }
    return r->desc->check_pointers && b != NULL &&
                   !(gfk_regions_reach(place, b, rows, r->bytes) &&
                     gfk_regions_reach(place, x, rows, r->bytes))
               ? GFK_STATUS_WRONG_DEVICE
               : GFK_STATUS_SUCCESS;
}

/* Sets *place to GFK_CPU or the device, whose multiprocessors it counts. */
static gfk_status check_place(const gfk_matmul_desc *desc, gfk_stream_t stream, int *place,
                              int *processors) {
    const char *reason;
    *place = GFK_CPU;
    *processors = 0;
    if (desc->device == GFK_CPU)
        return stream == NULL ? GFK_STATUS_SUCCESS : GFK_STATUS_STREAM_ON_HOST;
    RETURN_IF_ERROR(gfk_device_resolve(desc->device, place, &reason));
    RETURN_IF_ERROR(gfk_device_require_current(*place));
    RETURN_IF_ERROR(gfk_device_check(90, 90, 0, *place, &reason));
    return gfk_device_processors(*place, processors);
}

/* x = inverse * b where the record says SUCCESS. */
static gfk_status multiply(const request *r, const call *c) {
    if (c->e.processors == 0) {
        if (r->record->status != GFK_STATUS_SUCCESS)
            return GFK_STATUS_SUCCESS;
        return gfk_matmul(r->field, &c->inverse, r->b, r->x, r->bytes, GFK_SET, r->desc,
                          c->e.workspace, c->e.workspace_bytes, NULL);
    }
    gfk_matmul_call product = {.field = r->field,
                               .a = &c->inverse,
                               .b = r->b,
                               .c = r->x,
                               .bytes = r->bytes,
                               .workspace = c->e.workspace,
                               .processors = c->e.processors,
                               .stream = r->stream,
                               .condition = &r->record->status};
    RETURN_IF_ERROR(
        gfk_matmul_make_plan(r->field, c->inverse.rows, c->inverse.cols, r->bytes, &product.plan));
    return gfk_matmul_run(&product);
}

static gfk_status eliminate(request *r) {
    if (r->desc == NULL)
        r->desc = &default_desc;
    if (r->a == NULL || r->record == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    const bool solves = r->b != NULL;
    call c = {.a = *r->a, .e.stream = r->stream};
    RETURN_IF_ERROR(check_sizes(r->field, c.a.rows, c.a.cols, r->desc));
    if (!r->is_rank && c.a.rows != c.a.cols)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(lay_out(&c, r->field, r->desc, r->is_rank, solves, r->bytes, r->workspace));
    if (c.a.kind != GFK_MATRIX_DENSE)
        return (unsigned)c.a.kind > GFK_MATRIX_RANDOM ? GFK_STATUS_INVALID_ARGUMENT
                                                      : GFK_STATUS_NOT_SUPPORTED;
    int place;
    RETURN_IF_ERROR(check_place(r->desc, r->stream, &place, &c.e.processors));
    RETURN_IF_ERROR(check_spans(r, &c, place));
    const gfk_elimination_steps *const steps =
        place == GFK_CPU ? &gfk_eliminate_on_cpu : &gfk_eliminate_on_device;
    gfk_arithmetic arithmetic = {0};
    if (place == GFK_CPU)
        RETURN_IF_ERROR(gfk_arithmetic_create(&arithmetic, r->field));
    c.e.arithmetic = &arithmetic;
    gfk_status status = gfk_eliminate(&c.e, steps);
    gfk_arithmetic_destroy(&arithmetic);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(steps->finish(&c.e, solves ? (void *)c.inverse.elements : r->inverse,
                                  solves ? c.inverse.stride : r->stride, r->record, r->pivots));
    return solves && r->bytes != 0 ? multiply(r, &c) : GFK_STATUS_SUCCESS;
}

/* ---- calls ---------------------------------------------------------------------------------- */

gfk_status gfk_matrix_invert(const gfk_field *field, const gfk_matrix *a, void *inverse,
                             size_t stride, gfk_matrix_record *record, uint32_t *pivots,
                             const gfk_matmul_desc *desc, void *workspace, size_t workspace_bytes,
                             gfk_stream_t stream) {
    if (inverse == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    request r = {.field = field,
                 .a = a,
                 .record = record,
                 .pivots = pivots,
                 .desc = desc,
                 .workspace = workspace,
                 .workspace_bytes = workspace_bytes,
                 .stream = stream,
                 .inverse = inverse,
                 .stride = stride};
    return eliminate(&r);
}

gfk_status gfk_matrix_solve(const gfk_field *field, const gfk_matrix *a, const gfk_regions *b,
                            const gfk_regions *x, size_t bytes, gfk_matrix_record *record,
                            uint32_t *pivots, const gfk_matmul_desc *desc, void *workspace,
                            size_t workspace_bytes, gfk_stream_t stream) {
    if (b == NULL || x == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    request r = {.field = field,
                 .a = a,
                 .record = record,
                 .pivots = pivots,
                 .desc = desc,
                 .workspace = workspace,
                 .workspace_bytes = workspace_bytes,
                 .stream = stream,
                 .b = b,
                 .x = x,
                 .bytes = bytes};
    return eliminate(&r);
}

gfk_status gfk_matrix_rank(const gfk_field *field, const gfk_matrix *a, gfk_matrix_record *record,
                           uint32_t *pivots, const gfk_matmul_desc *desc, void *workspace,
                           size_t workspace_bytes, gfk_stream_t stream) {
    request r = {.field = field,
                 .a = a,
                 .record = record,
                 .pivots = pivots,
                 .desc = desc,
                 .workspace = workspace,
                 .workspace_bytes = workspace_bytes,
                 .stream = stream,
                 .is_rank = true};
    return eliminate(&r);
}

gfk_status gfk_matrix_wait(const gfk_matrix_record *record, const gfk_matmul_desc *desc,
                           gfk_stream_t stream, gfk_matrix_record *copy) {
    if (desc == NULL)
        desc = &default_desc;
    if (record == NULL || copy == NULL || !desc_is_valid(desc))
        return GFK_STATUS_INVALID_ARGUMENT;
    int place, processors;
    gfk_matrix_record result;
    RETURN_IF_ERROR(check_place(desc, stream, &place, &processors));
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
