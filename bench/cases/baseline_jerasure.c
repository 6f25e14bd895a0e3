/* SPDX-License-Identifier: BSD-3-Clause */
/* Jerasure's jerasure_matrix_encode; GF-Complete computes underneath. */
#include "baseline_coders.h"

#include <stdio.h> /* jerasure.h wants it */
#include <stdlib.h>

#include <jerasure.h>

typedef struct made {
    int k, m;
    int matrix[];
} made;

static void *create(const coder *self, int k, int m, const uint32_t *matrix) {
    (void)self;
    const size_t elements = (size_t)k * (size_t)m;
    made *p = malloc(sizeof *p + elements * sizeof p->matrix[0]);
    if (p == NULL)
        return NULL;
    p->k = k;
    p->m = m;
    for (size_t i = 0; i < elements; i++)
        p->matrix[i] = (int)matrix[i];
    return p;
}

static void encode(void *tables, unsigned char **in, unsigned char **out, size_t bytes) {
    made *p = tables;
    jerasure_matrix_encode(p->k, p->m, 8, p->matrix, (char **)in, (char **)out, (int)bytes);
}

static const char *version(void) {
    return JERASURE_FILE;
}

static const char *simd(void) {
    return "as gf_complete_simd";
}

/* The first call makes one field for the whole process: one thread. */
const coder jerasure_coder = {.library = "jerasure",
                              .w = 8,
                              .threads = ONE_THREAD,
                              .version = version,
                              .simd = simd,
                              .create = create,
                              .destroy = free,
                              .encode = encode};
