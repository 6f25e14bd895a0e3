/* SPDX-License-Identifier: BSD-3-Clause */
/* GF-Complete behind plain functions. It ends the process on invalid input, so it is only ever
 * given whole multiples of 16 bytes in buffers aligned to 16, far below INT_MAX. */
#include <gf_complete.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

enum { CHUNK = 1 << 16 };

struct oracle {
    _Alignas(16) unsigned char in[CHUNK];
    _Alignas(16) unsigned char out[CHUNK];
    gf_t gf;
};

static oracle *create(unsigned w, uint64_t polynomial, int method) {
    oracle *o = aligned_alloc(16, (sizeof *o + 15) / 16 * 16);
    if (o == NULL)
        return NULL;
    /* GF-Complete keeps the leading term for w = 8 and 16 and must not be given it for w = 32. */
    int ready = polynomial == 0
                    ? gf_init_easy(&o->gf, (int)w)
                    : gf_init_hard(&o->gf, (int)w, method, GF_REGION_DEFAULT, GF_DIVIDE_EUCLID,
                                   polynomial & 0xffffffff, 0, 0, NULL, NULL);
    if (!ready) {
        free(o);
        return NULL;
    }
    return o;
}

/* The default methods want primitive polynomials; BYTWO_p works with every irreducible one. */
oracle *oracle_create(unsigned w, uint64_t polynomial) {
    return create(w, polynomial, GF_MULT_BYTWO_p);
}

oracle *oracle_create_carry_free(unsigned w, uint64_t polynomial, int *refused) {
    oracle *o = create(w, polynomial, GF_MULT_CARRY_FREE);
    *refused = o == NULL;
    return o != NULL ? o : create(w, polynomial, GF_MULT_SHIFT);
}

void oracle_destroy(oracle *o) {
    if (o == NULL)
        return;
    gf_free(&o->gf, 1);
    free(o);
}

uint32_t oracle_multiply(oracle *o, uint32_t a, uint32_t b) {
    return o->gf.multiply.w32(&o->gf, a, b);
}

uint32_t oracle_divide(oracle *o, uint32_t a, uint32_t b) {
    return o->gf.divide.w32(&o->gf, a, b);
}

void oracle_multiply_region(oracle *o, uint32_t c, const void *src, void *dst, size_t bytes) {
    const unsigned char *from = src;
    unsigned char *to = dst;
    while (bytes != 0) {
        const size_t part = bytes < CHUNK ? bytes : CHUNK;
        const size_t padded = (part + 15) / 16 * 16;
        memset(o->in, 0, padded);
        memcpy(o->in, from, part);
        o->gf.multiply_region.w32(&o->gf, o->in, o->out, c, (int)padded, 0);
        memcpy(to, o->out, part);
        from += part;
        to += part;
        bytes -= part;
    }
}
