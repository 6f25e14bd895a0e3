/* SPDX-License-Identifier: BSD-3-Clause */
/* Erasure-coding libraries on the CPU, as rows beside ours: ISA-L and Jerasure, each if it was
 * found when this was built. w = 8, polynomial 0x11d. */
#ifndef BASELINE_CODERS_H
#define BASELINE_CODERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coder {
    const char *name; /* for rows: "isa-l" */
    int threads;      /* any number of threads may encode at once */
    const char *(*version)(void);
    const char *(*simd)(void); /* the instruction sets that it uses here */
    /* From a matrix of m rows and k columns; NULL: out of memory. */
    void *(*create)(int k, int m, const uint32_t *matrix);
    void (*destroy)(void *made);
    /* bytes: a multiple of 64, below 2 GiB */
    void (*encode)(void *made, unsigned char **in, unsigned char **out, size_t bytes);
} coder;

extern const coder isal_coder, jerasure_coder;

#ifdef __cplusplus
}
#endif
#endif
