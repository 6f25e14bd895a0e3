/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "host/base/cauchy.h"
#include "prebuilt.h"

static bool is_default(const gfk_field *field, size_t rows, size_t cols, const uint32_t *matrix) {
    const size_t bytes = rows * cols * sizeof *matrix;
    uint32_t *expected = malloc(bytes);
    const bool same = expected != NULL &&
                      gfk_cauchy_matrix(field, cols, rows, expected) == GFK_STATUS_SUCCESS &&
                      memcmp(expected, matrix, bytes) == 0;
    free(expected);
    return same;
}

/* Machine code runs on its own compute capability and on later ones with the same major number. */
static bool runs_on(unsigned code, unsigned device) {
    return code / 10 == device / 10 && code <= device;
}

const unsigned char *gfk_jit_prebuilt_find(const gfk_field *field, size_t rows, size_t cols,
                                           const uint32_t *matrix, unsigned cc) {
    if (field->w != 8 || field->polynomial != GFK_POLYNOMIAL_W8)
        return NULL;
    for (size_t i = 0; i < gfk_jit_prebuilt_count; i++) {
        const gfk_jit_prebuilt *c = &gfk_jit_prebuilt_list[i];
        if (c->rows == rows && c->cols == cols && runs_on(c->cc, cc))
            return is_default(field, rows, cols, matrix) ? c->code : NULL;
    }
    return NULL;
}
