/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA-L's ec_encode_data. */
#include "baseline_coders.h"

#include <isa-l.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct made {
    int k, m;
    unsigned char tables[]; /* 32 bytes per element */
} made;

static void *create(const coder *self, int k, int m, const uint32_t *matrix) {
    (void)self;
    const size_t elements = (size_t)k * (size_t)m;
    made *p = malloc(sizeof *p + 32 * elements);
    unsigned char *bytes = malloc(elements);
    if (p != NULL && bytes != NULL) {
        for (size_t i = 0; i < elements; i++)
            bytes[i] = (unsigned char)matrix[i];
        p->k = k;
        p->m = m;
        ec_init_tables(k, m, bytes, p->tables);
    } else {
        free(p);
        p = NULL;
    }
    free(bytes);
    return p;
}

static void encode(void *tables, unsigned char **in, unsigned char **out, size_t bytes) {
    made *p = tables;
    ec_encode_data((int)bytes, p->k, p->m, p->tables, in, out);
}

static const char *version(void) {
    static char text[32];
    (void)snprintf(text, sizeof text, "%d.%d.%d", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION,
                   ISAL_PATCH_VERSION);
    return text;
}

/* The library does not tell which of its versions it takes; these are its own conditions. */
static const char *simd(void) {
    const int gfni = ISAL_MAKE_VERSION(2, 31, 0) <= ISAL_VERSION;
#if defined(__x86_64__)
    if (gfni && __builtin_cpu_supports("gfni"))
        return "GFNI";
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return gfni ? "AVX512" : "AVX512 (this version has no GFNI)";
    if (__builtin_cpu_supports("avx2"))
        return gfni ? "AVX2" : "AVX2 (this version has no GFNI)";
    return "AVX or SSE";
#else
    (void)gfni;
    return "unknown";
#endif
}

const coder isal_coder = {.library = "isa-l",
                          .w = 8,
                          .threads = SHARED_OBJECT,
                          .version = version,
                          .simd = simd,
                          .create = create,
                          .destroy = free,
                          .encode = encode};
