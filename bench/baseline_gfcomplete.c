/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that touches GF-Complete's headers. */
#include "baseline_gfcomplete.h"

#include <gf_complete.h>
#include <stdlib.h>
#include <string.h>

/* In the library, but in none of its installed headers. */
extern int gf_cpu_supports_intel_pclmul, gf_cpu_supports_intel_sse4, gf_cpu_supports_intel_ssse3,
    gf_cpu_supports_intel_sse2, gf_cpu_supports_arm_neon;

#define PLAIN GF_REGION_DEFAULT
#define ROW(name, method, w, multiplication, region, arg1, arg2)                                   \
    {name, method, w, GF_MULT_##multiplication, region, arg1, arg2}
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

static const gfc_method methods[] = {
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

size_t gfc_count(void) {
    return sizeof methods / sizeof methods[0];
}

const gfc_method *gfc_at(size_t index) {
    return &methods[index];
}

void *gfc_create(const gfc_method *m) {
    gf_t *field = malloc(sizeof *field);
    if (field && !gf_init_hard(field, (int)m->w, m->multiplication, (int)m->region,
                               GF_DIVIDE_DEFAULT, 0, m->arg1, m->arg2, NULL, NULL)) {
        free(field);
        field = NULL;
    }
    return field;
}

void gfc_destroy(void *field) {
    if (field == NULL)
        return;
    gf_free(field, 1);
    free(field);
}

void gfc_multiply(void *field, uint32_t c, const void *src, void *dst, size_t bytes) {
    gf_t *gf = field;
    const size_t most = (size_t)1 << 30; /* the length is an int over there */
    for (size_t at = 0; at < bytes; at += most) {
        const size_t n = bytes - at < most ? bytes - at : most;
        gf->multiply_region.w32(gf, (char *)(uintptr_t)src + at, (char *)dst + at, c, (int)n, 0);
    }
}

const char *gfc_simd(void) {
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
