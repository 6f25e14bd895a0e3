/* SPDX-License-Identifier: BSD-3-Clause */
/* A code in the CPU's memory. README.md shows what stands between the two marks. */
#include <gfk/gfk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 10, M = 4, BYTES = 1 << 20 }; /* of each region */
static unsigned char before[K * BYTES], memory[(K + M) * BYTES];

static void check(const char *call, gfk_status status) {
    if (status == GFK_STATUS_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", call, gfk_status_description(status));
    exit(1);
}

static void lose(const size_t *lost) {
    for (int i = 0; i < M; i++)
        memset(memory + lost[i] * BYTES, 0xee, BYTES);
}

int main(void) {
    for (size_t i = 0; i < sizeof before; i++)
        before[i] = (unsigned char)(i * 2654435761u >> 24);
    memcpy(memory, before, sizeof before); /* ten regions of data; four of parity follow */
    const gfk_regions data = {.base = memory, .stride = BYTES};
    const gfk_regions parity = {.base = memory + K * BYTES, .stride = BYTES};
    const size_t lost[M] = {1, 3, 7, 12}; /* 12 is the third region of parity */
    gfk_field field;
    gfk_rs_t code;
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.device = GFK_CPU; /* GFK_CURRENT_DEVICE: for regions in the memory of a GPU */

    /* begin */
    check("gfk_field_init", gfk_field_init(&field, 8, 0)); /* GF(2^8) */
    check("gfk_rs_create", gfk_rs_create(&code, &field, K, M, &desc));
    check("gfk_rs_encode", gfk_rs_encode(code, &data, &parity, BYTES, NULL));
    lose(lost); /* any four of the fourteen regions */
    check("gfk_rs_decode", gfk_rs_decode(code, lost, M, NULL, 0, &data, &parity, BYTES, NULL));
    /* end */

    gfk_rs_info info;
    check("gfk_rs_get_info", gfk_rs_get_info(code, &info));
    const int same = memcmp(before, memory, sizeof before) == 0;
    printf("engine %s: the data is %s\n", info.product.engine->id, same ? "back" : "wrong");
    gfk_rs_destroy(code);
    return !same;
}
