/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoders and recoders. Both write rows of factors to the workspace, and multiply by the
 * factors. */
#include "code.h"
#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/device/device.h"
#include "host/product/engine.h"
#include "host/product/matmul.h"

/* Makes a product for each generation of a range: `cols` inputs, range->count outputs. */
typedef struct products {
    gfk_matmul_call call;
    gfk_matrix factors;
    size_t generations, space;
} products;

/* head_bytes: the length of the vectors that the same factors multiply, or 0. */
static gfk_status plan_products(products *p, gfk_rlnc_t code, const gfk_rlnc_range *range,
                                size_t cols, size_t head_bytes) {
    p->generations = range->generations;
    p->factors = (gfk_matrix)GFK_MATRIX_DENSE_INIT(NULL, range->count, cols, 0);
    p->call = (gfk_matmul_call){.field = &code->field,
                                .a = &p->factors,
                                .bytes = code->bytes,
                                .head.bytes = head_bytes,
                                .machine = code->machine,
                                .kernel = code->kernel};
    return gfk_matmul_plan_batch(&p->call, range->generations, code->threads, &p->space);
}

static gfk_status run_products(products *p, gfk_rlnc_t code, const gfk_rlnc_vectors_job *factors,
                               const gfk_regions *in, const gfk_regions *out, uint8_t *workspace,
                               gfk_stream_t stream) {
    RETURN_IF_ERROR(gfk_rlnc_run_job(code, factors, stream));
    p->factors.elements = factors->vectors;
    p->factors.stride = factors->pitch / (code->field.w / 8);
    p->call.b = code->bytes != 0 ? in : &gfk_no_regions;
    p->call.c = code->bytes != 0 ? out : &gfk_no_regions;
    p->call.workspace = workspace;
    p->call.stream = stream;
    return gfk_matmul_run_batch(&p->call, p->generations, code->pool, code->threads);
}

/* Rows of factors in the workspace begin at multiples of 16 bytes. */
static size_t pitch_of(gfk_rlnc_t code, size_t cols) {
    return gfk_round_up(cols * (code->field.w / 8), 16);
}

/* Returns the bytes of a range's factors, which the workspace of the products follows. */
static size_t factors_space(gfk_rlnc_t code, size_t packets, size_t cols) {
    return gfk_round_up(packets * pitch_of(code, cols), 256);
}

/* ---- encode ---------------------------------------------------------------------------------- */

gfk_status gfk_rlnc_encode_workspace(gfk_rlnc_t code, const gfk_rlnc_range *range,
                                     size_t *workspace_bytes) {
    size_t packets;
    products p;
    if (code == NULL || workspace_bytes == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_rlnc_check_range(range, &packets));
    *workspace_bytes = 0;
    if (packets == 0 || code->bytes == 0)
        return GFK_STATUS_SUCCESS;
    RETURN_IF_ERROR(plan_products(&p, code, range, code->n, 0));
    *workspace_bytes = factors_space(code, packets, code->n) + p.space;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_rlnc_encode(gfk_rlnc_t code, const gfk_rlnc_range *range, const gfk_regions *sources,
                           const gfk_regions *payloads, void *vectors, size_t stride,
                           void *workspace, size_t workspace_bytes, gfk_stream_t stream) {
    size_t packets, space;
    products p;
    RETURN_IF_ERROR(gfk_rlnc_encode_workspace(code, range, &space));
    RETURN_IF_ERROR(gfk_device_check_stream(code->place, stream));
    RETURN_IF_ERROR(gfk_rlnc_check_range(range, &packets));
    if (packets == 0)
        return GFK_STATUS_SUCCESS;
    const gfk_operand operands[] = {
        gfk_operand_regions(sources, range->generations * code->n, code->bytes, GFK_READ),
        gfk_operand_regions(payloads, packets, code->bytes, GFK_WRITE),
        gfk_operand_workspace(workspace, workspace_bytes, space, 256),
        gfk_rlnc_rows(code, vectors, packets, stride, GFK_WRITE),
    };
    RETURN_IF_ERROR(gfk_rlnc_check_memory(code, operands, vectors != NULL ? 4 : 3));
    if (code->bytes == 0)
        return vectors != NULL ? gfk_rlnc_vectors(code, range, vectors, stride, stream)
                               : GFK_STATUS_SUCCESS;
    RETURN_IF_ERROR(plan_products(&p, code, range, code->n, 0));
    const size_t symbol = code->field.w / 8;
    const gfk_rlnc_vectors_job job = {.rule = code->rule,
                                      .range = *range,
                                      .count = packets,
                                      .vectors = vectors != NULL ? vectors : workspace,
                                      .pitch = vectors != NULL ? stride * symbol
                                                               : pitch_of(code, code->n)};
    return run_products(&p, code, &job, sources, payloads,
                        (uint8_t *)workspace + factors_space(code, packets, code->n), stream);
}

/* ---- recode ---------------------------------------------------------------------------------- */

gfk_rlnc_rule gfk_rlnc_recoding_rule(gfk_rlnc_t code, uint64_t seed, size_t received) {
    return (gfk_rlnc_rule){.seed = seed,
                           .kind = GFK_RLNC_PHILOX,
                           .w = code->field.w,
                           .n = (uint32_t)received,
                           .density = 256};
}

static gfk_status plan_recode(products *p, gfk_rlnc_t code, const gfk_rlnc_range *range,
                              size_t received, size_t *packets, size_t *space) {
    RETURN_IF_ERROR(gfk_rlnc_check_range(range, packets));
    if (received == 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (received > GFK_RLNC_MOST_SOURCES)
        return GFK_STATUS_INVALID_SIZE;
    *space = 0;
    if (*packets == 0)
        return GFK_STATUS_SUCCESS;
    RETURN_IF_ERROR(plan_products(p, code, range, received, code->n * (code->field.w / 8)));
    *space = factors_space(code, *packets, received) + p->space;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_rlnc_recode_workspace(gfk_rlnc_t code, const gfk_rlnc_range *range, size_t received,
                                     size_t *workspace_bytes) {
    size_t packets;
    products p;
    return code == NULL || workspace_bytes == NULL
               ? GFK_STATUS_INVALID_ARGUMENT
               : plan_recode(&p, code, range, received, &packets, workspace_bytes);
}

gfk_status gfk_rlnc_recode(gfk_rlnc_t code, const gfk_rlnc_range *range, uint64_t seed,
                           size_t received, const void *vectors, size_t stride,
                           const gfk_regions *payloads, void *new_vectors, size_t new_stride,
                           const gfk_regions *new_payloads, void *workspace, size_t workspace_bytes,
                           gfk_stream_t stream) {
    size_t packets, space;
    products p;
    if (code == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(plan_recode(&p, code, range, received, &packets, &space));
    RETURN_IF_ERROR(gfk_device_check_stream(code->place, stream));
    if (packets == 0)
        return GFK_STATUS_SUCCESS;
    const size_t all_received = range->generations * received;
    const gfk_operand operands[] = {
        gfk_operand_regions(payloads, all_received, code->bytes, GFK_READ),
        gfk_operand_regions(new_payloads, packets, code->bytes, GFK_WRITE),
        gfk_operand_workspace(workspace, workspace_bytes, space, 256),
        gfk_rlnc_rows(code, vectors, all_received, stride, GFK_READ),
        gfk_rlnc_rows(code, new_vectors, packets, new_stride, GFK_WRITE),
    };
    RETURN_IF_ERROR(gfk_rlnc_check_memory(code, operands, sizeof operands / sizeof operands[0]));
    const size_t symbol = code->field.w / 8;
    const gfk_rlnc_vectors_job factors = {.rule = gfk_rlnc_recoding_rule(code, seed, received),
                                          .range = *range,
                                          .count = packets,
                                          .vectors = workspace,
                                          .pitch = pitch_of(code, received)};
    p.call.head.b = vectors;
    p.call.head.b_stride = stride * symbol;
    p.call.head.c = new_vectors;
    p.call.head.c_stride = new_stride * symbol;
    return run_products(&p, code, &factors, payloads, new_payloads,
                        (uint8_t *)workspace + factors_space(code, packets, received), stream);
}
