/* SPDX-License-Identifier: BSD-3-Clause */
/* The call of a batch of inversions: all checks. */
#include "batch.h"

#include "host/base/field.h"
#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/device/device.h"

static const gfk_matmul_desc default_desc = GFK_MATMUL_DESC_INIT;

/* reciprocals[g^i] = g^(255 - i), w = 8 */
static void set_reciprocals(const gfk_field *field, uint8_t reciprocals[256]) {
    uint8_t powers[256];
    unsigned x = 1;
    for (int i = 0; i < 256; i++) {
        powers[i] = (uint8_t)x;
        unsigned product = 0, multiple = x;
        for (unsigned g = field->generator; g != 0; g >>= 1) {
            product ^= multiple & -(g & 1);
            multiple = multiple << 1 ^ ((unsigned)field->polynomial & -(multiple >> 7));
        }
        x = product;
    }
    reciprocals[0] = 0;
    for (int i = 0; i < 255; i++)
        reciprocals[powers[i]] = powers[255 - i];
}

typedef struct span {
    const void *start;
    size_t length;
} span;

static bool overlap(span a, span b) {
    return (uintptr_t)a.start < (uintptr_t)b.start + b.length &&
           (uintptr_t)b.start < (uintptr_t)a.start + a.length;
}

/* `count` matrices of n * n elements, without the gap behind the last one. */
static gfk_status set_span(const void *elements, size_t n, size_t count, size_t step, size_t symbol,
                           span *s) {
    if (elements == NULL || (uintptr_t)elements % symbol != 0 || step < n * n)
        return GFK_STATUS_INVALID_ARGUMENT;
    const size_t room = (UINTPTR_MAX - (uintptr_t)elements) / symbol;
    if (n * n > room || count - 1 > (room - n * n) / step)
        return GFK_STATUS_INVALID_SIZE;
    *s = (span){elements, ((count - 1) * step + n * n) * symbol};
    return GFK_STATUS_SUCCESS;
}

/* The matrices, and what the call writes. */
static gfk_status check_memory(const gfk_matrix_batch *b, size_t symbol, size_t a_step,
                               size_t inverse_step, bool check_pointers, int device) {
    span s[4] = {[2] = {b->records, b->count * sizeof *b->records},
                 [3] = {b->pivots, b->pivots ? (size_t)b->count * b->n * sizeof *b->pivots : 0}};
    RETURN_IF_ERROR(set_span(b->a, b->n, b->count, a_step, symbol, &s[0]));
    RETURN_IF_ERROR(set_span(b->inverses, b->n, b->count, inverse_step, symbol, &s[1]));
    if (b->records == NULL || (uintptr_t)b->records % sizeof(uint32_t) != 0 ||
        (uintptr_t)b->pivots % sizeof(uint32_t) != 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    const bool in_place = b->a == b->inverses && a_step == inverse_step;
    for (int i = 0; i < 4; i++) {
        if (gfk_wraps(s[i].start, s[i].length))
            return GFK_STATUS_INVALID_SIZE;
        for (int j = 0; j < i; j++)
            if (overlap(s[i], s[j]) && !(in_place && i == 1 && j == 0))
                return GFK_STATUS_OVERLAP;
        if (check_pointers && !gfk_device_reaches(device, s[i].start, s[i].length))
            return GFK_STATUS_WRONG_DEVICE;
    }
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_matrix_invert_batch(const gfk_field *field, size_t n, size_t count, const void *a,
                                   size_t a_step, void *inverses, size_t inverse_step,
                                   gfk_matrix_record *records, uint32_t *pivots,
                                   const gfk_matmul_desc *desc, gfk_stream_t stream) {
    if (desc == NULL)
        desc = &default_desc;
    if (field == NULL || !gfk_field_is_valid(field) || n == 0 || desc->size != sizeof *desc ||
        desc->device < GFK_CURRENT_DEVICE)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (desc->device == GFK_CPU || n > (field->w == 32 ? 128 : 256))
        return GFK_STATUS_NOT_SUPPORTED;
    if (count > GFK_MATRIX_BATCH_MOST)
        return GFK_STATUS_INVALID_SIZE;
    int device;
    const char *reason;
    RETURN_IF_ERROR(gfk_device_resolve(desc->device, &device, &reason));
    RETURN_IF_ERROR(gfk_device_require_current(device));
    RETURN_IF_ERROR(gfk_device_check(80, 0, 0, device, &reason));
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
                              .stream = stream};
    RETURN_IF_ERROR(
        check_memory(&batch, symbol, a_step, inverse_step, desc->check_pointers, device));
    if (field->w == 8)
        set_reciprocals(field, batch.reciprocals);
    if (field->w != 32)
        batch.polynomial &= (1u << field->w) - 1;
    return gfk_matrix_batch_run(&batch);
}
