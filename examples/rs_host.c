/* SPDX-License-Identifier: BSD-3-Clause */
/* A code over host memory, on whatever is the fastest. */
#include <gfk/gfk.h>
#include <gfk/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 10, M = 4, BYTES = 4 << 20 }; /* of each region */

static void check(const char *call, gfk_status status) {
    if (status == GFK_STATUS_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", call, gfk_status_description(status));
    exit(1);
}

int main(void) {
    gfk_field field;
    gfk_rs_t code;
    gfk_pipeline_t pipeline;
    gfk_pipeline_report report;
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.device = GFK_CPU; /* the code itself; the pipeline uses a GPU if there is one */
    check("gfk_field_init", gfk_field_init(&field, 8, 0));
    check("gfk_rs_create", gfk_rs_create(&code, &field, K, M, &desc));
    check("gfk_pipeline_create", gfk_pipeline_create(&pipeline, NULL));

    void *memory, *copy; /* ten regions of data, then four of parity */
    check("gfk_pinned_alloc", gfk_pinned_alloc(&memory, (size_t)(K + M) * BYTES));
    check("gfk_pinned_alloc", gfk_pinned_alloc(&copy, (size_t)K * BYTES));
    unsigned char *bytes = memory;
    for (size_t i = 0; i < (size_t)K * BYTES; i++)
        bytes[i] = (unsigned char)(i * 2654435761u >> 24);
    memcpy(copy, memory, (size_t)K * BYTES);
    const gfk_regions data = {.base = bytes, .stride = BYTES};
    const gfk_regions parity = {.base = bytes + K * BYTES, .stride = BYTES};
    check("gfk_rs_encode_host", gfk_rs_encode_host(pipeline, code, &data, &parity, BYTES, &report));
    printf("encoded by %s: %s\n", gfk_path_name(report.path), report.reason);

    const size_t lost[M] = {1, 3, 7, 12}; /* 12 is the third region of parity */
    for (int i = 0; i < M; i++)
        memset(bytes + lost[i] * BYTES, 0xee, BYTES);
    check("gfk_rs_decode_host",
          gfk_rs_decode_host(pipeline, code, lost, M, NULL, 0, &data, &parity, BYTES, &report));
    const int same = memcmp(copy, memory, (size_t)K * BYTES) == 0;
    printf("the data is %s\n", same ? "back" : "wrong");
    gfk_pipeline_destroy(pipeline);
    gfk_rs_destroy(code);
    gfk_pinned_free(copy);
    gfk_pinned_free(memory);
    return !same;
}
