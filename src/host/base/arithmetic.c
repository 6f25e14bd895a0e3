/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "arithmetic.h"
#include "poly.h"

size_t gfk_arithmetic_entries(const gfk_field *field) {
    return field->w == 32 ? 0 : 3 * ((size_t)1 << field->w) - 2;
}

gfk_status gfk_arithmetic_create(gfk_arithmetic *arithmetic, const gfk_field *field) {
    const unsigned w = field->w;
    *arithmetic = (gfk_arithmetic){.polynomial = (uint32_t)field->polynomial, .w = w};
    if (w == 32)
        return GFK_STATUS_SUCCESS;
    const uint32_t order = (UINT32_C(1) << w) - 1;
    uint16_t *log = malloc(gfk_arithmetic_entries(field) * sizeof *log);
    if (log == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    uint16_t *antilog = log + order + 1;
    uint32_t power = 1;
    log[0] = 0;
    for (uint32_t i = 0; i < order; i++) {
        antilog[i] = antilog[order + i] = (uint16_t)power;
        log[power] = (uint16_t)i;
        power = gfk_poly_multiply(power, field->generator, w, field->polynomial);
    }
    arithmetic->log = log;
    arithmetic->antilog = antilog;
    return GFK_STATUS_SUCCESS;
}

void gfk_arithmetic_destroy(gfk_arithmetic *arithmetic) {
    free((void *)arithmetic->log);
    *arithmetic = (gfk_arithmetic){0};
}

/* Returns the map a -> a^(2^degree) from its images of x^0, x^1, ..., which are the powers of
 * x^(2^degree). */
static void make_conjugate(gfk_nibbles *t, const gfk_field *field, unsigned degree) {
    const unsigned w = field->w;
    gfk_nibbles times;
    uint32_t image[32] = {1}, x = 2;
    for (unsigned i = 0; i < degree; i++)
        x = gfk_poly_product(x, x, w, field->polynomial);
    gfk_nibbles_expand(&times, w, field->polynomial, x);
    for (unsigned i = 1; i < w; i++)
        image[i] = gfk_nibbles_times(&times, w, image[i - 1]);
    gfk_nibbles_fill(t, w, image);
}

void gfk_inverter_init(gfk_inverter *t, const gfk_field *field) {
    const unsigned w = field->w;
    if (w == 32)
        make_conjugate(&t->conjugate_16, field, 16);
    if (w > 8)
        make_conjugate(&t->conjugate_8, field, 8);
    /* All elements of GF(2^8) except 0 are powers of a generator. The first 8 powers are a
     * basis. */
    const uint64_t order = UINT64_MAX >> (64 - w);
    uint32_t power[256] = {1}, basis[8], number[32] = {0};
    gfk_nibbles times;
    gfk_nibbles_expand(&times, w, field->polynomial,
                       gfk_poly_pow(field->generator, order / 255, w, field->polynomial));
    for (unsigned i = 1; i < 256; i++)
        power[i] = gfk_nibbles_times(&times, w, power[i - 1]);
    /* Elimination: each element of the basis gets a bit that is 0 in the others, so that these bits
     * tell the elements of GF(2^8) apart. */
    memcpy(basis, power, sizeof basis);
    for (unsigned i = 0; i < 8; i++) {
        const unsigned bit = (unsigned)__builtin_ctz(basis[i]);
        for (unsigned other = 0; other < 8; other++)
            if (other != i && basis[other] >> bit & 1)
                basis[other] ^= basis[i];
        number[bit] = UINT32_C(1) << (w == 8 ? bit : i); /* w = 8: an element is its own number */
    }
    gfk_nibbles_fill(&t->number, w, number);
    t->inverses[0] = 0;
    for (unsigned i = 0; i < 255; i++)
        t->inverses[gfk_nibbles_times(&t->number, w, power[i])] = power[255 - i];
}
