/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses the installed library on the host: 2 * 0x80 = 0x1d in the default field of w = 8. */
#include <gfk/gfk.h>
#include <stdio.h>

int main(void) {
    gfk_field field;
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    gfk_multiplier_t multiplier;
    unsigned char region[5] = {0x80, 0x01, 0x00, 0x40, 0xff};
    desc.method = GFK_METHOD_SHIFT;
    desc.implementation = GFK_IMPLEMENTATION_HOST;
    if (gfk_field_init(&field, 8, 0) || gfk_multiplier_create(&multiplier, &field, &desc) ||
        gfk_region_multiply(multiplier, 2, region, region, sizeof region, GFK_SET, NULL, 0, NULL))
        return 1;
    gfk_multiplier_destroy(multiplier);
    /* 2 * region[0] + 1 * region[1] = 2 * 0x1d + 0x02 */
    const uint32_t matrix[2] = {2, 1};
    gfk_product_desc on_host = GFK_PRODUCT_DESC_INIT;
    gfk_product_t product;
    unsigned char sum = 0;
    const gfk_regions in = {NULL, region, 1}, out = {NULL, &sum, 1};
    on_host.family = GFK_ENGINE_HOST;
    if (gfk_product_create(&product, &field, 1, 2, matrix, &on_host) ||
        gfk_product_run(product, &in, &out, 1, GFK_SET, NULL))
        return 1;
    gfk_product_destroy(product);
    printf("gfk %d: %02x\n", gfk_version(), region[0]);
    return sum != 0x38 || region[0] != 0x1d || region[1] != 0x02 || region[2] != 0 ||
           region[3] != 0x80;
}
