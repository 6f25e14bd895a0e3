/* SPDX-License-Identifier: BSD-3-Clause */
/* Other libraries behind plain functions: they share no code with this library. */
#ifndef GFK_TESTS_ORACLE_H
#define GFK_TESTS_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- GF-Complete: products -------------------------------------------------------------------- */

/* One field of GF-Complete. Its fields rewrite their own tables during a multiplication, so an
 * oracle belongs to one thread. */
typedef struct oracle oracle;

/* w is 8, 16 or 32; polynomial is irreducible, with its leading term; 0 is GF-Complete's default.
 * NULL if GF-Complete refuses. */
oracle *oracle_create(unsigned w, uint64_t polynomial);
/* The same by CARRY_FREE. *refused: CARRY_FREE refuses the polynomial, and the oracle is SHIFT. The
 * polynomial is not 0. */
oracle *oracle_create_carry_free(unsigned w, uint64_t polynomial, int *refused);
void oracle_destroy(oracle *o);
/* Operands are below 2^w, divisors are not 0. */
uint32_t oracle_multiply(oracle *o, uint32_t a, uint32_t b);
uint32_t oracle_divide(oracle *o, uint32_t a, uint32_t b);
/* dst = c * src, whole symbols, any alignment, any length. */
void oracle_multiply_region(oracle *o, uint32_t c, const void *src, void *dst, size_t bytes);

/* ---- ISA-L: gen_cauchy1 (cauchy != 0) and gen_rs, w = 8 --------------------------------------- */

/* m * k elements, row by row. */
void oracle_isal_matrix(int cauchy, int k, int m, uint32_t *matrix);
/* k + m regions, as many flags in `lost`. 0: no memory, or a matrix without inverse. */
int oracle_isal_encode(int cauchy, int k, int m, unsigned char **regions, size_t bytes);
int oracle_isal_decode(int cauchy, int k, int m, const char *lost, unsigned char **regions,
                       size_t bytes);

/* ---- Jerasure: cauchy_good (good != 0) and reed_sol_van, default polynomials ------------------ */

/* m * k elements, row by row. 0: refused, here and below. */
int oracle_jerasure_matrix(int good, int k, int m, int w, uint32_t *matrix);
/* k data and m parity regions of a multiple of 16 bytes. lost: indices, data before parity from 0
 * to k + m - 1, ended by -1. */
int oracle_jerasure_encode(int good, int k, int m, int w, char **data, char **parity, size_t bytes);
int oracle_jerasure_decode(int good, int k, int m, int w, int *lost, char **data, char **parity,
                           size_t bytes);

#ifdef __cplusplus
}

#include <memory>
#include <stdexcept>

struct OracleDeleter {
    void operator()(oracle *o) const { oracle_destroy(o); }
};
using Oracle = std::unique_ptr<oracle, OracleDeleter>;

inline Oracle make_oracle(unsigned w, uint64_t polynomial = 0) {
    Oracle o(oracle_create(w, polynomial));
    if (o == nullptr)
        throw std::runtime_error("GF-Complete refuses the field");
    return o;
}
#endif
#endif
