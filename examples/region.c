/* SPDX-License-Identifier: BSD-3-Clause */
/* A region multiply in the CPU's memory. */
#include <gfk/gfk.h>
#include <stdio.h>
#include <stdlib.h>

static void check(gfk_status status) {
    if (status != GFK_STATUS_SUCCESS) {
        fprintf(stderr, "%s\n", gfk_status_description(status));
        exit(1);
    }
}

int main(void) {
    gfk_field field;
    gfk_multiplier_t multiplier;
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.kernel = "table_w8_host"; /* or "table_w8_opt" and memory of the GPU */
    check(gfk_field_init(&field, 8, 0));
    check(gfk_multiplier_create(&multiplier, &field, &desc));
    const unsigned char src[4] = {0x00, 0x01, 0x02, 0x80};
    unsigned char dst[4];
    check(gfk_region_multiply(multiplier, 0x02, src, dst, sizeof src, GFK_SET, NULL, 0, NULL));
    printf("2 * {00 01 02 80} = {%02x %02x %02x %02x}\n", dst[0], dst[1], dst[2], dst[3]);
    gfk_multiplier_destroy(multiplier);
    return dst[3] == 0x1d ? 0 : 1; /* x^8 = x^4 + x^3 + x^2 + 1 */
}
