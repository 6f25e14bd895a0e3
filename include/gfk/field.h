/* SPDX-License-Identifier: BSD-3-Clause */
/* The field GF(2^w) as a checked value, and scalar arithmetic in it on the host. */
#ifndef GFK_FIELD_H
#define GFK_FIELD_H

#include <stdint.h>

#include <gfk/export.h>
#include <gfk/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* GF(2^w) = GF(2)[x] / polynomial. An element is a w-bit integer whose bit i is the coefficient of
 * x^i. A plain value, which may be copied and owns nothing. Only gfk_field_init makes one. */
typedef struct gfk_field {
    unsigned w;          /* 8, 16 or 32 */
    uint32_t generator;  /* the smallest element whose powers give all non-zero elements */
    uint64_t polynomial; /* with its leading term: bit w is set */
} gfk_field;

/* GF-Complete's default polynomials, with their leading terms. */
#define GFK_POLYNOMIAL_W8 UINT64_C(0x11d)
#define GFK_POLYNOMIAL_W16 UINT64_C(0x1100b)
#define GFK_POLYNOMIAL_W32 UINT64_C(0x100400007)

/* gfk_field_init: makes *field the field of width w with this polynomial.
 *
 * w           8, 16 or 32
 * polynomial  of degree w, with its leading term (0x11d, not 0x1d); 0 means GF-Complete's default.
 *             Irreducibility is checked by Rabin's test (M. O. Rabin, "Probabilistic algorithms in
 *             finite fields", SIAM J. Comput. 9, 1980).
 *
 * Returns SUCCESS; INVALID_ARGUMENT (field is NULL); NOT_SUPPORTED (another w); INVALID_ARGUMENT
 * (the polynomial's degree is not w); REDUCIBLE_POLYNOMIAL. On an error *field is unchanged. Any
 * thread. Takes less than a microsecond; the library has a list of well-known polynomials, which
 * need no test. */
GFK_API gfk_status gfk_field_init(gfk_field *field, unsigned w, uint64_t polynomial);

/* Scalar arithmetic. Operands must be below 2^w: INVALID_CONSTANT otherwise. NULL pointers give
 * INVALID_ARGUMENT. So does a field that gfk_field_init did not make, if its members show it:
 * these functions do not repeat the irreducibility test. Addition and subtraction are XOR, written
 * a ^ b. Any thread. The functions use no tables: a multiplication or an inverse takes O(w) steps,
 * a power O(w) multiplications. */

/* gfk_field_multiply: *product = a * b. */
GFK_API gfk_status gfk_field_multiply(const gfk_field *field, uint32_t a, uint32_t b,
                                      uint32_t *product);

/* gfk_field_inverse: *inverse = 1 / a, by the extended Euclidean algorithm. DIVISION_BY_ZERO for
 * a = 0. */
GFK_API gfk_status gfk_field_inverse(const gfk_field *field, uint32_t a, uint32_t *inverse);

/* gfk_field_divide: *quotient = a / b. DIVISION_BY_ZERO for b = 0, also when a = 0. */
GFK_API gfk_status gfk_field_divide(const gfk_field *field, uint32_t a, uint32_t b,
                                    uint32_t *quotient);

/* gfk_field_pow: *power = a^exponent, with a^0 = 1 for every a. */
GFK_API gfk_status gfk_field_pow(const gfk_field *field, uint32_t a, uint64_t exponent,
                                 uint32_t *power);

#ifdef __cplusplus
}
#endif
#endif
