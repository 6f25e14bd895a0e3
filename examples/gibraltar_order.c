/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers in the order of Gibraltar's gib_recover: K intact buffers in any order, then those to rebuild, all in one
 * range of memory. ids[i] is the index of buffer i in the code: 0 to K - 1 for data, K to K + M - 1 for parity. No
 * buffer moves, because a decoder takes addresses. Parity is rebuilt in the same call as data. */
#include "place.h"

enum { K = 10, M = 4, BYTES = 100000, REBUILT = 3 };

static void recover(gfk_rs_t code, unsigned char *buffers, const size_t *ids, size_t rebuilt) {
    void *regions[K + M] = {NULL}; /* by index; NULL: neither read nor rebuilt */
    bool is_intact[K + M] = {false};
    size_t lost[M], lost_count = 0;
    for (size_t i = 0; i < K + rebuilt; i++) {
        regions[ids[i]] = buffers + i * BYTES;
        is_intact[ids[i]] = i < K;
    }
    for (size_t i = 0; i < K + M; i++)
        if (!is_intact[i])
            lost[lost_count++] = i;
    const gfk_regions data = {.pointers = regions}, parity = {.pointers = regions + K};
    check(gfk_rs_decode(code, lost, lost_count, ids + K, rebuilt, &data, &parity, BYTES, NULL));
}

int main(void) {
    static unsigned char expected[(K + M) * BYTES], found[REBUILT * BYTES];
    for (size_t i = 0; i < K * BYTES; i++)
        expected[i] = (unsigned char)(i * 2654435761u >> 24);
    gfk_field field;
    gfk_rs_t code;
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.device = PLACE;
    check(gfk_field_init(&field, 8, 0));
    check(gfk_rs_create(&code, &field, K, M, &desc));

    unsigned char *const all = place_alloc(sizeof expected);
    unsigned char *const buffers = place_alloc(sizeof expected);
    place_copy(all, expected, sizeof expected);
    const gfk_regions data = {.base = all, .stride = BYTES};
    const gfk_regions parity = {.base = all + K * BYTES, .stride = BYTES};
    check(gfk_rs_encode(code, &data, &parity, BYTES, NULL));
    place_copy(expected, all, sizeof expected);

    /* Data regions 3 and 8 and parity regions 10 and 13 are lost, and 13 is not wanted back. */
    const size_t ids[K + REBUILT] = {12, 0, 5, 1, 11, 9, 2, 7, 4, 6, 8, 10, 3};
    for (size_t i = 0; i < K; i++)
        place_copy(buffers + i * BYTES, expected + ids[i] * BYTES, BYTES);
    for (size_t i = 0; i < REBUILT; i++)
        place_copy(buffers + (K + i) * BYTES, expected + ids[0] * BYTES, BYTES); /* anything else */
    recover(code, buffers, ids, REBUILT);

    place_copy(found, buffers + K * BYTES, sizeof found);
    bool same = true;
    for (size_t i = 0; i < REBUILT; i++)
        same &= memcmp(found + i * BYTES, expected + ids[K + i] * BYTES, BYTES) == 0;
    printf("the regions 8, 10 and 3 are %s\n", same ? "back" : "wrong");
    gfk_rs_destroy(code);
    place_free(buffers);
    place_free(all);
    return !same;
}
