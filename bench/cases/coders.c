/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that touches the headers of ISA-L, Jerasure and GF-Complete. */
#include "coders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(HAVE_ISAL) || defined(HAVE_JERASURE)
typedef struct made {
    int k, m;
    int data[]; /* ISA-L: 32 bytes per element; Jerasure: the elements */
} made;

static made *allocate(int k, int m, size_t bytes_each) {
    made *p = malloc(sizeof *p + (size_t)k * (size_t)m * bytes_each);
    if (p != NULL) {
        p->k = k;
        p->m = m;
    }
    return p;
}
#endif

#ifdef HAVE_ISAL
#include <isa-l.h>

static void *isal_create(const coder *self, int k, int m, const uint32_t *matrix) {
    (void)self;
    const size_t elements = (size_t)k * (size_t)m;
    made *p = allocate(k, m, 32);
    unsigned char *bytes = malloc(elements);
    if (p != NULL && bytes != NULL) {
        for (size_t i = 0; i < elements; i++)
            bytes[i] = (unsigned char)matrix[i];
        ec_init_tables(k, m, bytes, (unsigned char *)p->data);
    } else {
        free(p);
        p = NULL;
    }
    free(bytes);
    return p;
}

static void isal_encode(void *object, unsigned char **in, unsigned char **out, size_t bytes) {
    made *p = object;
    ec_encode_data((int)bytes, p->k, p->m, (unsigned char *)p->data, in, out);
}

static const char *isal_version(void) {
    static char text[32];
    (void)snprintf(text, sizeof text, "%d.%d.%d", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION,
                   ISAL_PATCH_VERSION);
    return text;
}

/* The library does not tell which of its versions it takes; these are its own conditions. */
static const char *isal_simd(void) {
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

static const coder_library isal = {"isa-l",     SHARED_OBJECT, isal_version, isal_simd,
                                   isal_create, free,          isal_encode};
#endif

#ifdef HAVE_JERASURE
#include <jerasure.h>

static void *jerasure_create(const coder *self, int k, int m, const uint32_t *matrix) {
    (void)self;
    made *p = allocate(k, m, sizeof p->data[0]);
    for (size_t i = 0; p != NULL && i < (size_t)k * (size_t)m; i++)
        p->data[i] = (int)matrix[i];
    return p;
}

/* GF-Complete computes underneath. */
static void jerasure_encode(void *object, unsigned char **in, unsigned char **out, size_t bytes) {
    made *p = object;
    jerasure_matrix_encode(p->k, p->m, 8, p->data, (char **)in, (char **)out, (int)bytes);
}

static const char *jerasure_version(void) {
    return JERASURE_FILE;
}

static const char *jerasure_simd(void) {
    return "as GF-Complete";
}

/* The first call makes one field for the whole process: one thread. */
static const coder_library jerasure = {"jerasure",      ONE_THREAD, jerasure_version, jerasure_simd,
                                       jerasure_create, free,       jerasure_encode};
#endif

#ifdef HAVE_GF_COMPLETE
#include <gf_complete.h>

/* In the library, but in none of its installed headers. */
extern int gf_cpu_supports_intel_pclmul, gf_cpu_supports_intel_sse4, gf_cpu_supports_intel_ssse3,
    gf_cpu_supports_intel_sse2, gf_cpu_supports_arm_neon;

/* A product, by region multiplies. Those of a 1 x 1 matrix, by a method, take all bytes at once, the others
 * blocks of the length that is fastest on two cores with 2 MiB of L2 together: docs/engines/gfcomplete.md. */
enum { PRODUCT_BLOCK = 512 << 10 };

typedef struct product {
    gf_t field;
    int k, m;
    size_t block;
    uint32_t matrix[];
} product;

static void *gf_create(const coder *self, int k, int m, const uint32_t *matrix) {
    const int *a = self->arguments;
    const size_t bytes = (size_t)k * (size_t)m * sizeof *matrix;
    product *p = malloc(sizeof *p + bytes);
    if (p == NULL || !gf_init_hard(&p->field, (int)self->w, a[0], a[1], GF_DIVIDE_DEFAULT, 0, a[2],
                                   a[3], NULL, NULL)) {
        free(p);
        return NULL;
    }
    p->k = k;
    p->m = m;
    p->block = self->variant ? SIZE_MAX : PRODUCT_BLOCK;
    memcpy(p->matrix, matrix, bytes);
    return p;
}

static void gf_destroy(void *object) {
    gf_free(&((product *)object)->field, 1);
    free(object);
}

static void gf_encode(void *object, unsigned char **in, unsigned char **out, size_t bytes) {
    product *p = object;
    for (size_t at = 0, length; at < bytes; at += length) {
        length = bytes - at < p->block ? bytes - at : p->block;
        for (int j = 0; j < p->m; j++)
            for (int i = 0; i < p->k; i++)
                p->field.multiply_region.w32(&p->field, in[i] + at, out[j] + at,
                                             p->matrix[j * p->k + i], (int)length, i != 0);
    }
}

static const char *gf_simd(void) {
    static char text[64];
    gf_t field; /* creating one makes the library look at the CPU */
    if (!gf_init_easy(&field, 8))
        return "unknown";
    gf_free(&field, 1);
    (void)snprintf(
        text, sizeof text, "%s%s%s%s%s", gf_cpu_supports_intel_sse2 ? " SSE2" : "",
        gf_cpu_supports_intel_ssse3 ? " SSSE3" : "", gf_cpu_supports_intel_sse4 ? " SSE4" : "",
        gf_cpu_supports_intel_pclmul ? " PCLMUL" : "", gf_cpu_supports_arm_neon ? " NEON" : "");
    return text[0] ? text + 1 : "none";
}

static const coder_library gf_complete = {"gf-complete", OBJECT_PER_THREAD, NULL,     gf_simd,
                                          gf_create,     gf_destroy,        gf_encode};

#define PLAIN GF_REGION_DEFAULT
#define ROW(name, method, w, multiply, region, arg1, arg2)                                         \
    {                                                                                              \
        &gf_complete, w, name, method, {                                                           \
            GF_MULT_##multiply, region, arg1, arg2                                                 \
        }                                                                                          \
    }
#define BOTH(name, method, w, multiply, arg1, arg2)                                                \
    ROW(name "_simd", method, w, multiply, GF_REGION_SIMD, arg1, arg2),                            \
        ROW(name "_nosimd", method, w, multiply, GF_REGION_NOSIMD, arg1, arg2)
/* What may exist at every width; what does not is refused by gf_init_hard. */
#define COMMON(w)                                                                                  \
    ROW("shift", "SHIFT", w, SHIFT, PLAIN, 0, 0),                                                  \
        ROW("carry_free", "CARRY_FREE", w, CARRY_FREE, PLAIN, 0, 0),                               \
        ROW("group_4_4", "GROUP", w, GROUP, PLAIN, 4, 4),                                          \
        ROW("group_4_8", "GROUP", w, GROUP, PLAIN, 4, 8),                                          \
        BOTH("bytwo_p", "BYTWO_p", w, BYTWO_p, 0, 0),                                              \
        BOTH("bytwo_b", "BYTWO_b", w, BYTWO_b, 0, 0),                                              \
        ROW("table", "TABLE", w, TABLE, PLAIN, 0, 0),                                              \
        ROW("log", "LOG", w, LOG_TABLE, PLAIN, 0, 0),                                              \
        BOTH("split_" #w "_4", "SPLIT", w, SPLIT_TABLE, w, 4)
#endif

const coder coders[] = {
#ifdef HAVE_ISAL
    {&isal, 8, NULL, NULL, {0}},
#endif
#ifdef HAVE_JERASURE
    {&jerasure, 8, NULL, NULL, {0}},
#endif
#ifdef HAVE_GF_COMPLETE
    {&gf_complete, 8, NULL, NULL, {0}}, /* products, by the default method */
    {&gf_complete, 16, NULL, NULL, {0}},
    {&gf_complete, 32, NULL, NULL, {0}},
    COMMON(8),
    ROW("table_double", "TABLE", 8, TABLE, GF_REGION_DOUBLE_TABLE, 0, 0),
    ROW("log_zero", "LOG", 8, LOG_ZERO, PLAIN, 0, 0),
    ROW("log_zero_ext", "LOG", 8, LOG_ZERO_EXT, PLAIN, 0, 0),
    COMMON(16),
    ROW("log_zero", "LOG", 16, LOG_ZERO, PLAIN, 0, 0),
    ROW("split_16_8", "SPLIT", 16, SPLIT_TABLE, PLAIN, 16, 8),
    ROW("split_8_8", "SPLIT", 16, SPLIT_TABLE, PLAIN, 8, 8),
    COMMON(32),
    ROW("split_32_8", "SPLIT", 32, SPLIT_TABLE, PLAIN, 32, 8),
    ROW("split_32_16", "SPLIT", 32, SPLIT_TABLE, PLAIN, 32, 16),
    ROW("split_8_8", "SPLIT", 32, SPLIT_TABLE, PLAIN, 8, 8),
#endif
    {NULL, 0, NULL, NULL, {0}}};
