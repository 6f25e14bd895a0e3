/* SPDX-License-Identifier: BSD-3-Clause */
/* The call of a batch of inversions: all checks. */
#include "batch.h"

#include "host/base/field.h"
#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/device/device.h"
#include "host/product/matmul.h"

static gfk_status check_memory(const gfk_matrix_batch *b, size_t symbol, size_t a_step,
                               size_t inverse_step, bool check_pointers, int device) {
    const size_t each = (size_t)b->n * b->n; /* elements of a row of the matrix of all matrices */
    const size_t number = sizeof *b->pivots;
    const bool in_place = b->a == b->inverses && a_step == inverse_step;
    const gfk_operand operands[] = {
        gfk_operand_rows(b->a, b->count, each, a_step, symbol, GFK_READ),
        gfk_operand_range(b->records, b->count * sizeof *b->records, number, GFK_WRITE),
        gfk_operand_optional(b->pivots, (size_t)b->count * b->n * number, number, GFK_WRITE),
        gfk_operand_rows(b->inverses, b->count, each, inverse_step, symbol, GFK_WRITE),
    };
    return gfk_operands_check(device, check_pointers, operands, in_place ? 3 : 4);
}

gfk_status gfk_matrix_invert_batch(const gfk_field *field, size_t n, size_t count, const void *a,
                                   size_t a_step, void *inverses, size_t inverse_step,
                                   gfk_matrix_record *records, uint32_t *pivots,
                                   const gfk_matmul_desc *desc, gfk_stream_t stream) {
    desc = gfk_matmul_desc_of(desc);
    if (!gfk_field_is_valid(field) || n == 0 || desc == NULL || desc->kernel != NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    const gfk_kernel_row *const kernel = gfk_row_first("invert_batch", field->w, n, n);
    if (desc->device == GFK_CPU || kernel == NULL)
        return GFK_STATUS_NOT_SUPPORTED;
    if (count > GFK_MATRIX_BATCH_MOST)
        return GFK_STATUS_INVALID_SIZE;
    int device;
    const char *reason;
    RETURN_IF_ERROR(gfk_device_resolve(desc->device, &device, &reason));
    RETURN_IF_ERROR(gfk_device_require_current(device));
    RETURN_IF_ERROR(gfk_row_check_device(&kernel->info, device, &reason));
    if (count == 0)
        return GFK_STATUS_SUCCESS;
    const size_t symbol = field->w / 8;
    gfk_matrix_batch batch = {.a = a,
                              .inverses = inverses,
                              .a_step = a_step * symbol,
                              .inverse_step = inverse_step * symbol,
                              .records = records,
                              .pivots = pivots,
                              .n = (uint32_t)n,
                              .count = (uint32_t)count,
                              .polynomial = (uint32_t)field->polynomial,
                              .w = field->w,
                              .kernel = kernel,
                              .stream = stream};
    RETURN_IF_ERROR(
        check_memory(&batch, symbol, a_step, inverse_step, desc->check_pointers, device));
    gfk_inverter_init(&batch.inverter, field);
    if (field->w != 32)
        batch.polynomial &= (1u << field->w) - 1;
    return gfk_matrix_batch_run(&batch);
}
