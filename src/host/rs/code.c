/* SPDX-License-Identifier: BSD-3-Clause */
/* Codes: the matrix of a descriptor, its properties, and the product that encodes and verifies. */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "host/base/field.h"
#include "host/device/device.h"

static const gfk_rs_desc defaults = GFK_RS_DESC_INIT;

gfk_status gfk_rs_check_shape(const gfk_field *field, size_t k, size_t m) {
    if (k == 0 || m == 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    const uint64_t elements = UINT64_C(1) << field->w;
    return k > elements || m > elements - k || k > SIZE_MAX / sizeof(uint32_t) / m
               ? GFK_STATUS_INVALID_SIZE
               : GFK_STATUS_SUCCESS;
}

static gfk_status check_desc(const gfk_field *field, size_t k, size_t m, const gfk_rs_desc *desc) {
    if (!gfk_field_is_valid(field) || desc->size != sizeof *desc ||
        (unsigned)desc->matrix > GFK_RS_CUSTOM || (desc->flags & ~GFK_RS_UNCHECKED) != 0 ||
        (desc->custom != NULL) != (desc->matrix == GFK_RS_CUSTOM))
        return GFK_STATUS_INVALID_ARGUMENT;
    return gfk_rs_check_shape(field, k, m);
}

static gfk_status fill_matrix(gfk_rs_t code, const gfk_rs_desc *desc) {
    const gfk_rs_info *info = &code->info;
    const size_t elements = info->k * info->m;
    if (desc->matrix != GFK_RS_CUSTOM)
        return gfk_rs_fill_matrix_proven(&info->field, desc->matrix, info->k, info->m,
                                         code->matrix);
    if (!gfk_field_contains_all(&info->field, desc->custom, elements))
        return GFK_STATUS_INVALID_CONSTANT;
    memcpy(code->matrix, desc->custom, elements * sizeof *code->matrix);
    return GFK_STATUS_SUCCESS;
}

/* Is the matrix MDS, and does the descriptor allow the answer? */
static gfk_status check_mds(gfk_rs_t code, const gfk_rs_desc *desc) {
    gfk_rs_info *info = &code->info;
    info->mds = GFK_RS_MDS_YES; /* all matrices are MDS by construction, except for these two */
    if (desc->matrix != GFK_RS_CUSTOM && desc->matrix != GFK_RS_GEN_RS)
        return GFK_STATUS_SUCCESS;
    const gfk_status status =
        gfk_rs_check_mds(&info->field, info->k, info->m, code->matrix, &info->mds);
    if (status != GFK_STATUS_SUCCESS || info->mds == GFK_RS_MDS_YES ||
        (desc->flags & GFK_RS_UNCHECKED) != 0)
        return status;
    return info->mds == GFK_RS_MDS_NO ? GFK_STATUS_SINGULAR : GFK_STATUS_NOT_SUPPORTED;
}

static gfk_status copy_text(const char **copy, const char *text) {
    *copy = text != NULL ? strdup(text) : NULL;
    return *copy == NULL && text != NULL ? GFK_STATUS_OUT_OF_MEMORY : GFK_STATUS_SUCCESS;
}

/* Keeps the descriptor from which the other products of the code are made. */
static gfk_status keep_desc(gfk_rs_t code, const gfk_product_desc *desc) {
    code->product = *desc;
    code->product.isal_library = code->product.gfcomplete_library = NULL;
    RETURN_IF_ERROR(copy_text(&code->product.engine, desc->engine));
    RETURN_IF_ERROR(copy_text(&code->product.isal_library, desc->isal_library));
    return copy_text(&code->product.gfcomplete_library, desc->gfcomplete_library);
}

static gfk_status create_locator(gfk_rs_t code) {
    if (code->info.device < 0)
        return gfk_rs_locator_create(code);
    int previous;
    RETURN_IF_ERROR(gfk_device_enter(code->info.device, &previous));
    return gfk_device_leave(previous, gfk_rs_locator_create(code));
}

static gfk_status build(gfk_rs_t code, const gfk_rs_desc *desc) {
    gfk_rs_info *info = &code->info;
    code->matrix = malloc(info->k * info->m * sizeof *code->matrix);
    if (code->matrix == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    RETURN_IF_ERROR(fill_matrix(code, desc));
    RETURN_IF_ERROR(check_mds(code, desc));
    RETURN_IF_ERROR(gfk_arithmetic_create(&code->arithmetic, &info->field));
    RETURN_IF_ERROR(gfk_rs_points_create(code));
    RETURN_IF_ERROR(gfk_product_create_proven(&code->encoder, &info->field, info->m, info->k,
                                              code->matrix, &desc->product));
    RETURN_IF_ERROR(gfk_product_get_info(code->encoder, &info->product));
    info->device = info->product.device;
    RETURN_IF_ERROR(keep_desc(code, &desc->product));
    RETURN_IF_ERROR(gfk_rs_delta_create(code));
    return create_locator(code);
}

gfk_status gfk_rs_create(gfk_rs_t *code, const gfk_field *field, size_t k, size_t m,
                         const gfk_rs_desc *desc) {
    if (code == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (desc == NULL)
        desc = &defaults;
    RETURN_IF_ERROR(check_desc(field, k, m, desc));
    gfk_rs_t made = calloc(1, sizeof *made);
    if (made == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    made->info.field = *field;
    made->info.k = k;
    made->info.m = m;
    made->info.matrix = desc->matrix;
    gfk_rs_cache_init(made);
    const gfk_status status = build(made, desc);
    if (status == GFK_STATUS_SUCCESS)
        *code = made;
    else
        gfk_rs_destroy(made);
    return status;
}

gfk_status gfk_rs_product_desc(gfk_rs_t code, const gfk_product_desc *desc, gfk_product_desc *out) {
    if (desc != NULL && desc->size != sizeof *desc)
        return GFK_STATUS_INVALID_ARGUMENT;
    *out = desc ? *desc : code->product;
    const int device = code->info.device;
    if (desc != NULL && desc->device != GFK_CURRENT_DEVICE && desc->device != device)
        return GFK_STATUS_INVALID_ARGUMENT;
    /* The code's other products work at the code's place. For a code on the CPU, create refuses a
     * descriptor that names a device. A descriptor that names the CPU would run there for any
     * device. */
    const gfk_compiled_kernel_info *kernel;
    const gfk_engine_info *named = gfk_engine_named(out->engine, &kernel);
    if (device != GFK_CPU && gfk_engine_family_on_cpu(named ? named->family : out->family))
        return GFK_STATUS_INVALID_ARGUMENT;
    out->device = device;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_rs_check_memory(gfk_rs_t code, const gfk_operand *operands, size_t count) {
    return gfk_operands_check(code->info.device, code->product.check_pointers, operands, count);
}

gfk_status gfk_rs_get_info(gfk_rs_t code, gfk_rs_info *info) {
    if (code == NULL || info == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    *info = code->info;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_rs_get_matrix(gfk_rs_t code, uint32_t *matrix) {
    if (code == NULL || matrix == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    memcpy(matrix, code->matrix, code->info.k * code->info.m * sizeof *matrix);
    return GFK_STATUS_SUCCESS;
}

void gfk_rs_destroy(gfk_rs_t code) {
    if (code == NULL)
        return;
    gfk_rs_cache_clear(code);
    gfk_rs_locator_destroy(code->locator);
    gfk_product_destroy(code->encoder);
    gfk_product_destroy(code->sum_of_two);
    gfk_product_destroy(code->sum_into);
    gfk_rs_points_destroy(&code->points);
    gfk_arithmetic_destroy(&code->arithmetic);
    free((void *)code->product.engine);
    free((void *)code->product.isal_library);
    free((void *)code->product.gfcomplete_library);
    free(code->matrix);
    free(code);
}

gfk_status gfk_rs_encode(gfk_rs_t code, const gfk_regions *data, const gfk_regions *parity,
                         size_t bytes, gfk_stream_t stream) {
    if (code == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    return gfk_product_run(code->encoder, data, parity, bytes, GFK_SET, stream);
}

/* ---- verification: the encoder compares instead of writing ---------------------------------- */

/* On a device one launch must take all data, because there is no memory for sums. Every engine
 * takes this number of addresses, or equally spaced regions, in one launch. */
enum { ONE_LAUNCH = 1024, ONE_LAUNCH_SPACED = 2048 };

gfk_status gfk_rs_verify(gfk_rs_t code, const gfk_regions *data, const gfk_regions *parity,
                         size_t bytes, uint32_t *differs, gfk_stream_t stream) {
    if (code == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_product_check_arguments(code->encoder, data, parity, bytes, stream));
    const gfk_operand operands[] = {
        gfk_operand_regions(data, code->info.k, bytes, GFK_READ),
        gfk_operand_regions(parity, code->info.m, bytes, GFK_READ),
        gfk_operand_range(differs, sizeof *differs, sizeof *differs, GFK_WRITE),
    };
    RETURN_IF_ERROR(gfk_rs_check_memory(code, operands, 3));
    if (code->info.device >= 0 && code->info.k > (data->pointers ? ONE_LAUNCH : ONE_LAUNCH_SPACED))
        return GFK_STATUS_NOT_SUPPORTED;
    if (code->info.device < 0)
        *differs = 0;
    else
        RETURN_IF_ERROR(gfk_device_zero(differs, sizeof *differs, stream));
    const gfk_product_call call = {.product = code->encoder,
                                   .in = data,
                                   .out = parity,
                                   .bytes = bytes,
                                   .stream = stream,
                                   .mismatch_map = differs,
                                   .shift = GFK_WHOLE_REGION};
    return bytes != 0 ? gfk_product_compute(&call) : GFK_STATUS_SUCCESS;
}
