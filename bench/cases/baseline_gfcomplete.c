/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that touches GF-Complete's headers. */
#include "baseline_coders.h"

#include <gf_complete.h>
#include <stdlib.h>
#include <string.h>

/* In the library, but in none of its installed headers. */
extern int gf_cpu_supports_intel_pclmul, gf_cpu_supports_intel_sse4, gf_cpu_supports_intel_ssse3,
    gf_cpu_supports_intel_sse2, gf_cpu_supports_arm_neon;

typedef struct made {
    gf_t field;
    uint32_t c;
} made;

static void *create(const coder *self, int k, int m, const uint32_t *matrix) {
    const int *a = self->arguments;
    made *p = k == 1 && m == 1 ? malloc(sizeof *p) : NULL;
    if (p && !gf_init_hard(&p->field, (int)self->w, a[0], a[1], GF_DIVIDE_DEFAULT, 0, a[2], a[3],
                           NULL, NULL)) {
        free(p);
        p = NULL;
    }
    if (p)
        p->c = matrix[0];
    return p;
}

static void destroy(void *made_before) {
    made *p = made_before;
    gf_free(&p->field, 1);
    free(p);
}

static void encode(void *made_before, unsigned char **in, unsigned char **out, size_t bytes) {
    made *p = made_before;
    p->field.multiply_region.w32(&p->field, in[0], out[0], p->c, (int)bytes, 0);
}

static const char *simd(void) {
    static char text[64];
    gf_t field; /* creating one makes the library look at the CPU */
    if (!gf_init_easy(&field, 8))
        return "unknown";
    gf_free(&field, 1);
    text[0] = 0;
    if (gf_cpu_supports_intel_sse2)
        strcat(text, " SSE2");
    if (gf_cpu_supports_intel_ssse3)
        strcat(text, " SSSE3");
    if (gf_cpu_supports_intel_sse4)
        strcat(text, " SSE4");
    if (gf_cpu_supports_intel_pclmul)
        strcat(text, " PCLMUL");
    if (gf_cpu_supports_arm_neon)
        strcat(text, " NEON");
    return text[0] ? text + 1 : "none";
}

#define PLAIN GF_REGION_DEFAULT
#define ROW(name, row_method, width, multiplication, region, arg1, arg2)                           \
    {                                                                                              \
        .library = "gf-complete", .variant = name, .method = row_method, .w = width,               \
        .threads = OBJECT_PER_THREAD, .simd = simd, .create = create, .destroy = destroy,          \
        .encode = encode, .arguments = {                                                           \
            GF_MULT_##multiplication,                                                              \
            region,                                                                                \
            arg1,                                                                                  \
            arg2                                                                                   \
        }                                                                                          \
    }
#define BOTH(name, method, w, multiplication, arg1, arg2)                                          \
    ROW(name "_simd", method, w, multiplication, GF_REGION_SIMD, arg1, arg2),                      \
        ROW(name "_nosimd", method, w, multiplication, GF_REGION_NOSIMD, arg1, arg2)
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

static const coder coders[] = {
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
};

size_t gf_complete_count(void) {
    return sizeof coders / sizeof coders[0];
}

const coder *gf_complete_at(size_t index) {
    return &coders[index];
}
