/* SPDX-License-Identifier: BSD-3-Clause */
#include "cauchy.h"

#include <stdlib.h>

#include "poly.h"

gfk_status gfk_cauchy_matrix(const gfk_field *field, size_t k, size_t m, uint32_t *matrix) {
    const uint64_t elements = UINT64_C(1) << field->w;
    if (k > elements || m > elements - k)
        return GFK_STATUS_INVALID_SIZE;
    size_t size = 1; /* every (k + j) ^ i is below this power of two */
    while (size < k + m)
        size *= 2;
    /* A large matrix needs each inverse many times. Without memory the inverses are computed every
     * time. */
    uint32_t *inverses = size / m < k ? malloc(size * sizeof *inverses) : NULL;
    for (size_t x = 1; inverses != NULL && x < size; x++)
        inverses[x] = gfk_poly_inverse((uint32_t)x, field->polynomial);
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < k; i++) {
            const uint32_t x = (uint32_t)((k + j) ^ i);
            matrix[j * k + i] = inverses ? inverses[x] : gfk_poly_inverse(x, field->polynomial);
        }
    free(inverses);
    return GFK_STATUS_SUCCESS;
}
