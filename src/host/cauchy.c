/* SPDX-License-Identifier: BSD-3-Clause */
#include "cauchy.h"

gfk_status gfk_cauchy_matrix(const gfk_field *field, size_t k, size_t m, uint32_t *matrix) {
    const uint64_t elements = UINT64_C(1) << field->w;
    if (k > elements || m > elements - k)
        return GFK_STATUS_INVALID_SIZE;
    gfk_status status = GFK_STATUS_SUCCESS;
    for (size_t j = 0; j < m && status == GFK_STATUS_SUCCESS; j++)
        for (size_t i = 0; i < k && status == GFK_STATUS_SUCCESS; i++)
            status = gfk_field_inverse(field, (uint32_t)((k + j) ^ i), &matrix[j * k + i]);
    return status;
}
