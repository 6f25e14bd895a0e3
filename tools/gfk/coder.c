/* SPDX-License-Identifier: BSD-3-Clause */
#include "coder.h"

#include <stdlib.h>

#include "report.h"

struct coder {
    gfk_rs_t code;
    gfk_rs_info info;
    void *workspace; /* of gfk_rs_locate */
    size_t workspace_bytes;
};

static int failed(gfk_status status) {
    return fail(TOOL_INTERNAL, "%s", gfk_status_description(status));
}

/* The engine on the CPU: a descriptor that leaves it open would take a GPU where there is one. */
static gfk_engine_family host_family(const gfk_field *field, size_t k, size_t m) {
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    gfk_product_info info;
    desc.family = GFK_ENGINE_ISAL;
    return gfk_product_query(field, m, k, &desc, &info) == GFK_STATUS_SUCCESS ? GFK_ENGINE_ISAL
                                                                              : GFK_ENGINE_HOST;
}

int coder_open(coder **made, const coder_options *options, const gfk_field *field,
               gfk_rs_matrix matrix, size_t k, size_t m) {
    if (options->backend == BACKEND_CUDA)
        return fail(TOOL_BACKEND, "the cuda backend is not available in this version");
    if (options->backend == BACKEND_AUTO && options->device >= 0)
        warn("device %d is not used: this version computes on the CPU", options->device);
    coder *c = calloc(1, sizeof *c);
    if (c == NULL)
        return fail(TOOL_INTERNAL, "out of memory");
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.matrix = matrix;
    desc.product.family = host_family(field, k, m);
    gfk_status status = gfk_rs_create(&c->code, field, k, m, &desc);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_rs_get_info(c->code, &c->info);
    if (status != GFK_STATUS_SUCCESS) {
        coder_close(c);
        return fail(status == GFK_STATUS_OUT_OF_MEMORY ? TOOL_INTERNAL : TOOL_USAGE,
                    "no code with k = %zu, m = %zu, w = %u and the matrix %s: %s", k, m, field->w,
                    gfk_rs_matrix_name(matrix), gfk_status_description(status));
    }
    *made = c;
    return 0;
}

void coder_close(coder *c) {
    if (c == NULL)
        return;
    gfk_rs_destroy(c->code);
    free(c->workspace);
    free(c);
}

const char *coder_engine(const coder *c) {
    return c->info.product.engine->id;
}

static gfk_regions data_of(const coder_stripe *stripe) {
    return (gfk_regions){stripe->blocks, NULL, 0};
}

static gfk_regions parity_of(const coder *c, const coder_stripe *stripe) {
    return (gfk_regions){stripe->blocks + c->info.k, NULL, 0};
}

int coder_encode(coder *c, const coder_stripe *stripes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const gfk_regions data = data_of(&stripes[i]), parity = parity_of(c, &stripes[i]);
        const gfk_status status = gfk_rs_encode(c->code, &data, &parity, stripes[i].bytes, NULL);
        if (status != GFK_STATUS_SUCCESS)
            return failed(status);
    }
    return 0;
}

int coder_decode(coder *c, const coder_stripe *stripes, size_t count, const size_t *lost,
                 size_t lost_count, const size_t *wanted, size_t wanted_count) {
    if (wanted_count == 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const gfk_regions data = data_of(&stripes[i]), parity = parity_of(c, &stripes[i]);
        const gfk_status status = gfk_rs_decode(c->code, lost, lost_count, wanted, wanted_count,
                                                &data, &parity, stripes[i].bytes, NULL);
        if (status != GFK_STATUS_SUCCESS)
            return failed(status);
    }
    return 0;
}

int coder_verify(coder *c, const coder_stripe *stripe, bool *matches) {
    const gfk_regions data = data_of(stripe), parity = parity_of(c, stripe);
    uint32_t differs = 0;
    const gfk_status status = gfk_rs_verify(c->code, &data, &parity, stripe->bytes, &differs, NULL);
    *matches = differs == 0;
    return status == GFK_STATUS_SUCCESS ? 0 : failed(status);
}

static gfk_status make_workspace(coder *c, size_t bytes) {
    size_t needed = 0;
    const gfk_status status = gfk_rs_locate_workspace(c->code, bytes, &needed);
    if (status != GFK_STATUS_SUCCESS || needed <= c->workspace_bytes)
        return status;
    free(c->workspace);
    c->workspace = NULL;
    c->workspace_bytes = 0;
    if (posix_memalign(&c->workspace, 256, needed) != 0)
        return GFK_STATUS_OUT_OF_MEMORY;
    c->workspace_bytes = needed;
    return GFK_STATUS_SUCCESS;
}

int coder_correct(coder *c, const coder_stripe *stripe, bool *corrected, uint64_t *counts) {
    *corrected = false;
    if (c->info.locatable == 0)
        return 0;
    const gfk_regions data = data_of(stripe), parity = parity_of(c, stripe);
    gfk_rs_verdict verdict;
    gfk_status status = make_workspace(c, stripe->bytes);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_rs_locate(c->code, &data, &parity, stripe->bytes, GFK_RS_REPAIR, &verdict,
                               counts, c->workspace, c->workspace_bytes, NULL);
    if (status != GFK_STATUS_SUCCESS)
        return failed(status);
    *corrected = verdict.unexplained == 0;
    return 0;
}
