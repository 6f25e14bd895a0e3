/* SPDX-License-Identifier: BSD-3-Clause */
/* GF-Complete's methods as a list, and one object per thread to run them: its headers are not C++,
 * and some of its methods write into the field while they multiply. */
#ifndef BASELINE_GFCOMPLETE_H
#define BASELINE_GFCOMPLETE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gfc_method {
    const char *name;   /* for ids: "split_8_4_simd" */
    const char *method; /* this project's name of the method, or GF-Complete's own */
    unsigned w;
    int multiplication, region, arg1, arg2; /* gf_init_hard's */
} gfc_method;

size_t gfc_count(void);
const gfc_method *gfc_at(size_t index);

void *gfc_create(const gfc_method *method); /* NULL: GF-Complete refuses it */
void gfc_destroy(void *field);
void gfc_multiply(void *field, uint32_t c, const void *src, void *dst, size_t bytes);

const char *gfc_simd(void); /* the instruction sets that GF-Complete found and uses */

#ifdef __cplusplus
}
#endif
#endif
