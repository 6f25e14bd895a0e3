/* SPDX-License-Identifier: BSD-3-Clause */
/* Coding vectors on the CPU, and the calls that write them. */
#include "code.h"

#include <string.h>

#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/base/symbol.h"
#include "host/device/device.h"

/* Draws each block once: a vector whose blocks are all zero becomes a unit vector at the end. */
static void fill_vector(const gfk_rlnc_rule *rule, const gfk_rlnc_header *header, uint8_t *vector) {
    if (rule->kind == GFK_RLNC_RFC8681) {
        gfk_rlnc_rfc8681(rule, header->packet, vector);
        return;
    }
    const size_t length = (size_t)rule->n * (rule->w / 8);
    const uint32_t blocks = gfk_rlnc_blocks(rule);
    const bool is_unit = header->packet < rule->units;
    uint32_t any = 0;
    for (uint32_t block = 0; block < blocks && !is_unit; block++) {
        uint32_t words[4];
        gfk_rlnc_draw(rule, header->generation, header->packet, block, words);
        any |= words[0] | words[1] | words[2] | words[3];
        const size_t at = 16 * (size_t)block, left = length - at;
        memcpy(vector + at, words, left < sizeof words ? left : sizeof words);
    }
    if (any == 0) {
        memset(vector, 0, length);
        gfk_symbol_set(vector, header->packet % rule->n, rule->w, 1);
    }
}

enum { VECTORS_PER_STEP = 16 };

static void write_some(size_t step, void *context) {
    const gfk_rlnc_vectors_job *job = context;
    const size_t first = step * VECTORS_PER_STEP, left = job->count - first;
    for (size_t i = first; i < first + (left < VECTORS_PER_STEP ? left : VECTORS_PER_STEP); i++) {
        const gfk_rlnc_header header = gfk_rlnc_packet_at(job, i);
        fill_vector(&job->rule, &header, job->vectors + i * job->pitch);
    }
}

void gfk_rlnc_fill_vectors(const gfk_rlnc_vectors_job *job, gfk_pool *pool, size_t threads) {
    const size_t steps = gfk_divide_up(job->count, VECTORS_PER_STEP);
    gfk_rlnc_vectors_job copy = *job;
    if (pool != NULL)
        gfk_pool_run(pool, threads, steps, write_some, &copy);
    else
        for (size_t step = 0; step < steps; step++)
            write_some(step, &copy);
}

gfk_status gfk_rlnc_run_job(gfk_rlnc_t code, const gfk_rlnc_vectors_job *job, gfk_stream_t stream) {
    if (code->place != GFK_CPU)
        return gfk_rlnc_vectors_run(job, stream);
    gfk_rlnc_fill_vectors(job, code->pool, code->threads);
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_rlnc_vectors(gfk_rlnc_t code, const gfk_rlnc_range *range, void *vectors,
                            size_t stride, gfk_stream_t stream) {
    size_t count;
    if (code == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_rlnc_check_range(range, &count));
    RETURN_IF_ERROR(gfk_device_check_stream(code->place, stream));
    if (count == 0)
        return GFK_STATUS_SUCCESS;
    const gfk_operand rows = gfk_rlnc_rows(code, vectors, count, stride, GFK_WRITE);
    RETURN_IF_ERROR(gfk_rlnc_check_memory(code, &rows, 1));
    const gfk_rlnc_vectors_job job = {.rule = code->rule,
                                      .range = *range,
                                      .count = count,
                                      .vectors = vectors,
                                      .pitch = stride * (code->field.w / 8)};
    return gfk_rlnc_run_job(code, &job, stream);
}

gfk_status gfk_rlnc_write_vectors(gfk_rlnc_t code, const gfk_rlnc_header *headers, size_t count,
                                  void *vectors, size_t stride, gfk_stream_t stream) {
    const gfk_rlnc_vectors_job job = {.rule = code->rule,
                                      .headers = headers,
                                      .count = count,
                                      .vectors = vectors,
                                      .pitch = stride * (code->field.w / 8)};
    return count != 0 ? gfk_rlnc_run_job(code, &job, stream) : GFK_STATUS_SUCCESS;
}
