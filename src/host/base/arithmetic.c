/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

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
