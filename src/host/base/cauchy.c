/* SPDX-License-Identifier: BSD-3-Clause */
#include "cauchy.h"

#include <stdlib.h>

/* The inverses of 1 to size - 1. A large matrix needs each many times. NULL: no memory. */
static uint32_t *inverses_below(const gfk_field *field, size_t size) {
    uint32_t *inverses = malloc(size * sizeof *inverses);
    gfk_status status = inverses == NULL ? GFK_STATUS_OUT_OF_MEMORY : GFK_STATUS_SUCCESS;
    for (size_t x = 1; x < size && status == GFK_STATUS_SUCCESS; x++)
        status = gfk_field_inverse(field, (uint32_t)x, &inverses[x]);
    if (status == GFK_STATUS_SUCCESS)
        return inverses;
    free(inverses);
    return NULL;
}

gfk_status gfk_cauchy_matrix(const gfk_field *field, size_t k, size_t m, uint32_t *matrix) {
    const uint64_t elements = UINT64_C(1) << field->w;
    if (k > elements || m > elements - k)
        return GFK_STATUS_INVALID_SIZE;
    size_t size = 1; /* every (k + j) ^ i is below */
    while (size < k + m)
        size *= 2;
    uint32_t *inverses = size / m < k ? inverses_below(field, size) : NULL;
    gfk_status status = GFK_STATUS_SUCCESS;
    for (size_t j = 0; j < m && status == GFK_STATUS_SUCCESS; j++)
        for (size_t i = 0; i < k && status == GFK_STATUS_SUCCESS; i++) {
            const uint32_t x = (uint32_t)((k + j) ^ i);
            if (inverses != NULL)
                matrix[j * k + i] = inverses[x];
            else
                status = gfk_field_inverse(field, x, &matrix[j * k + i]);
        }
    free(inverses);
    return status;
}
