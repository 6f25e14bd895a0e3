/* SPDX-License-Identifier: BSD-3-Clause */
/* A GF-Complete program migrated to this library: a multiplier for the method string of the command
 * line, single products and quotients, a region multiply-add. A comment at each step names the
 * replaced call; docs/migrating-from-gf-complete.md lists all calls. */
#include <gfk/gfk.h>
#include <stdio.h>
#include <stdlib.h>

enum { SYMBOLS = 1000 };

static void check(gfk_status status) {
    if (status != GFK_STATUS_SUCCESS) {
        fprintf(stderr, "%s\n", gfk_status_description(status));
        exit(1);
    }
}

int main(int argc, char **argv) {
    const char *method = argc > 1 ? argv[1] : "SPLIT 16 4 - -";
    gfk_field field;
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    gfk_multiplier_t multiplier;
    gfk_multiplier_info info;

    /* create_gf_from_argv(&gf, 16, argc, argv, 1) */
    check(gfk_field_init(&field, 16, 0));
    check(gfk_multiplier_desc_parse(&desc, method));
    desc.device = GFK_CPU; /* or GFK_CURRENT_DEVICE, for GPU memory */
    check(gfk_multiplier_create(&multiplier, &field, &desc));
    check(gfk_multiplier_get_info(multiplier, &info));
    printf("\"%s\" is %s\n", method, info.kernel->id);

    /* gf.multiply.w32(&gf, a, b), gf.divide.w32(&gf, a, b), gf.inverse.w32(&gf, a) */
    uint32_t product, quotient, inverse;
    check(gfk_field_multiply(&field, 0x1234, 0xabcd, &product));
    check(gfk_field_divide(&field, product, 0xabcd, &quotient));
    check(gfk_field_inverse(&field, 0x1234, &inverse));
    printf("1234 * abcd = %04x, and back: %04x; 1 / 1234 = %04x\n", product, quotient, inverse);

    /* a region; any alignment is allowed */
    uint16_t src[SYMBOLS], dst[SYMBOLS];
    for (int i = 0; i < SYMBOLS; i++) {
        src[i] = (uint16_t)(i * 40503);
        dst[i] = (uint16_t)(i * 30011);
    }

    /* gf.multiply_region.w32(&gf, src, dst, c, sizeof src, 1): the last argument is "add" */
    void *workspace = malloc(info.workspace_bytes + 1); /* inside gf_t in GF-Complete */
    if (workspace == NULL)
        return 1;
    check(gfk_region_multiply(multiplier, 0x1234, src, dst, sizeof src, GFK_XOR, workspace,
                              info.workspace_bytes, NULL));

    int wrong = quotient != 0x1234;
    for (int i = 0; i < SYMBOLS; i++) {
        uint32_t expected;
        check(gfk_field_multiply(&field, 0x1234, src[i], &expected));
        wrong += dst[i] != (uint16_t)(expected ^ (uint16_t)(i * 30011));
    }
    printf("%d symbols, %d wrong\n", SYMBOLS, wrong);

    /* gf_free(&gf, 1) */
    gfk_multiplier_destroy(multiplier);
    free(workspace);
    return wrong != 0;
}
