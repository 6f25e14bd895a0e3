/* SPDX-License-Identifier: BSD-3-Clause */
/* Shamir's secret sharing of a long secret. Every byte is the value at 0 of a polynomial of its own, of
 * degree THRESHOLD - 1 with random coefficients. Share x has the values at x, so THRESHOLD shares give
 * the secret, and fewer give nothing. Both ways are sums of constants times regions. */
#include <gfk/gfk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARES = 5, THRESHOLD = 3, BYTES = 1 << 20 };
static unsigned char coefficients[THRESHOLD][BYTES];          /* the first one is the secret */
static unsigned char shares[SHARES + 1][BYTES], found[BYTES]; /* share x is shares[x]; x is not 0 */

static void check(gfk_status status) {
    if (status == GFK_STATUS_SUCCESS)
        return;
    fprintf(stderr, "%s\n", gfk_status_description(status));
    exit(1);
}

/* What share x is multiplied by: the polynomial that is 1 at x and 0 at the others, at 0. */
static uint32_t weight(const gfk_field *field, const uint32_t *known, uint32_t x) {
    uint32_t product = 1, factor;
    for (int i = 0; i < THRESHOLD; i++)
        if (known[i] != x) {
            check(gfk_field_inverse(field, known[i] ^ x, &factor));
            check(gfk_field_multiply(field, factor, known[i], &factor));
            check(gfk_field_multiply(field, product, factor, &product));
        }
    return product;
}

int main(void) {
    gfk_field field;
    gfk_multiplier_t multiplier;
    gfk_multiplier_info info;
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.device = GFK_CPU;
    check(gfk_field_init(&field, 8, 0));
    check(gfk_multiplier_create(&multiplier, &field, &desc));
    check(gfk_multiplier_get_info(multiplier, &info));
    const size_t needed = (size_t)info.workspace_bytes;
    void *workspace = aligned_alloc(16, needed + 16 - needed % 16);
    FILE *random = fopen("/dev/urandom", "rb");
    if (workspace == NULL || random == NULL ||
        fread(coefficients, BYTES, THRESHOLD, random) != THRESHOLD)
        return 1;
    fclose(random);

    for (uint32_t x = 1; x <= SHARES; x++) /* Horner's rule; each multiplication is in place */
        for (int i = THRESHOLD - 1; i >= 0; i--) {
            check(gfk_region_multiply(multiplier, x, shares[x], shares[x], BYTES, GFK_SET,
                                      workspace, needed, NULL));
            check(gfk_region_multiply(multiplier, 1, coefficients[i], shares[x], BYTES, GFK_XOR,
                                      workspace, needed, NULL));
        }

    int sets = 0, wrong = 0; /* every set of three shares */
    for (uint32_t a = 1; a <= SHARES; a++)
        for (uint32_t b = a + 1; b <= SHARES; b++)
            for (uint32_t c = b + 1; c <= SHARES; c++, sets++) {
                const uint32_t known[THRESHOLD] = {a, b, c};
                memset(found, 0, BYTES);
                for (int i = 0; i < THRESHOLD; i++)
                    check(gfk_region_multiply(multiplier, weight(&field, known, known[i]),
                                              shares[known[i]], found, BYTES, GFK_XOR, workspace,
                                              needed, NULL));
                wrong += memcmp(found, coefficients[0], BYTES) != 0;
            }
    printf("%d of %d sets of %d shares give the secret\n", sets - wrong, sets, THRESHOLD);
    gfk_multiplier_destroy(multiplier);
    free(workspace);
    return sets != 10 || wrong != 0;
}
