/* SPDX-License-Identifier: BSD-3-Clause */
/* Other libraries on the CPU, as rows beside ours: ISA-L, Jerasure and every method of GF-Complete, each
 * if the library was found when this was built. Their headers are not C++. */
#ifndef CODERS_H
#define CODERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum coder_threads {
    ONE_THREAD,       /* one field for the whole process */
    SHARED_OBJECT,    /* any number of threads may use one object at once */
    OBJECT_PER_THREAD /* objects are written to while they multiply */
};

struct coder;
typedef struct coder_library {
    const char *name; /* for rows: "isa-l" */
    enum coder_threads threads;
    const char *(*version)(void); /* NULL: the library does not know its own; NULL from it: the CPU
                                     cannot run it */
    const char *(*simd)(void);    /* the instruction sets that the library uses here */
    /* From a matrix of m rows and k columns; GF-Complete's variants: k = m = 1. NULL: not offered. */
    void *(*create)(const struct coder *self, int k, int m, const uint32_t *matrix);
    void (*destroy)(void *made);
    /* bytes: a multiple of 64, below 2 GiB */
    void (*encode)(void *made, unsigned char **in, unsigned char **out, size_t bytes);
} coder_library;

typedef struct coder {
    const coder_library *library;
    unsigned w;
    const char *variant; /* of GF-Complete's methods, for ids: "split_8_4_simd"; else NULL */
    const char *method;  /* this project's name of the method, or GF-Complete's own; else NULL */
    int arguments[4];    /* GF-Complete's multiplication, region options, arg1, arg2 */
} coder;

/* Behind the last one is one without a library. */
extern const coder coders[];
extern const coder gfni_coder; /* our own, for rows beside which no library uses GFNI */

#ifdef __cplusplus
}
#endif
#endif
