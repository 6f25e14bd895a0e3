/* SPDX-License-Identifier: BSD-3-Clause */
/* Codes of network coding: create and destroy, and the checks that calls share. */
#include "code.h"

#include <stdlib.h>

#include "host/base/field.h"
#include "host/base/status.h"
#include "host/device/device.h"
#include "host/product/matmul.h"

static const gfk_rlnc_desc defaults = GFK_RLNC_DESC_INIT;

static gfk_status check_desc(const gfk_field *field, size_t n, size_t bytes,
                             const gfk_rlnc_desc *desc) {
    if (!gfk_field_is_valid(field) || n == 0 || desc->size != sizeof *desc ||
        desc->device < GFK_CURRENT_DEVICE || (unsigned)desc->kind > GFK_RLNC_RFC8681 ||
        desc->density > (desc->kind == GFK_RLNC_PHILOX ? 256 : 16))
        return GFK_STATUS_INVALID_ARGUMENT;
    if (n > GFK_RLNC_MOST_SOURCES || bytes % (field->w / 8) != 0 ||
        (desc->kind == GFK_RLNC_RFC8681 && n > 65535))
        return GFK_STATUS_INVALID_SIZE;
    return desc->kind == GFK_RLNC_RFC8681 && field->polynomial != GFK_POLYNOMIAL_W8
               ? GFK_STATUS_NOT_SUPPORTED
               : GFK_STATUS_SUCCESS;
}

static gfk_status find_place(gfk_rlnc_t code, const gfk_rlnc_desc *desc) {
    RETURN_IF_ERROR(
        gfk_matmul_find_kernel(desc->kernel, desc->device, &code->field, &code->kernel));
    RETURN_IF_ERROR(gfk_matmul_resolve(desc->device, &code->place, &code->machine));
    RETURN_IF_ERROR(gfk_matmul_check_kernel(code->kernel, &code->machine));
    code->threads = code->place == GFK_CPU ? gfk_matmul_threads(desc->threads) : 0;
    if (code->threads <= 1)
        return GFK_STATUS_SUCCESS;
    code->pool = gfk_pool_acquire();
    return code->pool != NULL ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
}

gfk_status gfk_rlnc_create(gfk_rlnc_t *code, const gfk_field *field, size_t n, size_t bytes,
                           const gfk_rlnc_desc *desc) {
    if (code == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (desc == NULL)
        desc = &defaults;
    RETURN_IF_ERROR(check_desc(field, n, bytes, desc));
    gfk_rlnc_t made = calloc(1, sizeof *made);
    if (made == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    made->field = *field;
    made->n = n;
    made->bytes = bytes;
    made->desc = *desc;
    if (desc->density == 0)
        made->desc.density = desc->kind == GFK_RLNC_PHILOX ? 256 : 16;
    made->rule = (gfk_rlnc_rule){.seed = desc->seed,
                                 .kind = desc->kind,
                                 .w = field->w,
                                 .n = (uint32_t)n,
                                 .density = made->desc.density,
                                 .units = desc->systematic ? (uint32_t)n : 0};
    const gfk_status status = find_place(made, desc);
    if (status == GFK_STATUS_SUCCESS)
        *code = made;
    else
        free(made); /* nothing else has been made */
    return status;
}

void gfk_rlnc_destroy(gfk_rlnc_t code) {
    if (code == NULL)
        return;
    gfk_pool_release(code->pool);
    free(code);
}

gfk_status gfk_rlnc_check_range(const gfk_rlnc_range *range, size_t *packets) {
    if (range == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (range->count > (UINT64_C(1) << 32) - range->first ||
        (range->generations != 0 && range->generations - 1 > UINT64_MAX - range->generation) ||
        (range->count != 0 && range->generations > GFK_RLNC_MOST_PACKETS / range->count))
        return GFK_STATUS_INVALID_SIZE;
    *packets = range->generations * range->count;
    return GFK_STATUS_SUCCESS;
}

gfk_operand gfk_rlnc_rows(gfk_rlnc_t code, const void *vectors, size_t rows, size_t stride,
                          unsigned flags) {
    return gfk_operand_rows(vectors, rows, code->n, stride, code->field.w / 8, flags);
}

gfk_status gfk_rlnc_check_memory(gfk_rlnc_t code, const gfk_operand *operands, size_t count) {
    return gfk_operands_check(code->place, code->desc.check_pointers, operands, count);
}

struct gfk_rlnc gfk_rlnc_of_vectors_on_cpu(gfk_rlnc_t code, gfk_pool *pool, size_t threads) {
    struct gfk_rlnc made = {.field = code->field,
                            .n = code->n,
                            .desc = code->desc,
                            .rule = code->rule,
                            .place = GFK_CPU,
                            .pool = pool,
                            .threads = threads};
    made.desc.check_pointers = false;
    return made;
}
