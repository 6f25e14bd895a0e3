/* SPDX-License-Identifier: BSD-3-Clause */
/* The public field value and its scalar arithmetic. */
#include <stddef.h>

#include <gfk/field.h>

#include "field.h"
#include "poly.h"
#include "status.h"

bool gfk_field_seems_valid(const gfk_field *field) {
    return field != NULL && (field->w == 8 || field->w == 16 || field->w == 32) &&
           field->polynomial >> field->w == 1 && field->generator >= 2;
}

bool gfk_field_contains(const gfk_field *field, uint32_t a) {
    return (uint64_t)a >> field->w == 0;
}

bool gfk_field_contains_all(const gfk_field *field, const uint32_t *elements, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!gfk_field_contains(field, elements[i]))
            return false;
    return true;
}

uint64_t gfk_usual_polynomial(unsigned w) {
    return w == 8 ? GFK_POLYNOMIAL_W8 : w == 16 ? GFK_POLYNOMIAL_W16 : GFK_POLYNOMIAL_W32;
}

const gfk_field gfk_known_fields[GFK_KNOWN_FIELDS] = {
    {8, 2, GFK_POLYNOMIAL_W8},   /* GF-Complete, ISA-L, RAID 6, QR codes */
    {8, 3, 0x11b},               /* AES */
    {8, 2, 0x12d},               /* Data Matrix */
    {8, 2, 0x187},               /* CCSDS */
    {16, 2, GFK_POLYNOMIAL_W16}, /* GF-Complete, PAR2, RFC 5510 */
    {16, 2, 0x1002d},            /* the smallest primitive one */
    {32, 2, GFK_POLYNOMIAL_W32}, /* GF-Complete */
    {32, 3, 0x10000008d},        /* the smallest irreducible one */
    {32, 2, 0x1000000af},        /* the smallest primitive one */
    {32, 2, 0x104c11db7},        /* the CRC of Ethernet */
};

/* 0: the polynomial is reducible. */
static uint32_t generator_of(unsigned w, uint64_t polynomial) {
    for (size_t i = 0; i < GFK_KNOWN_FIELDS; i++)
        if (gfk_known_fields[i].polynomial == polynomial)
            return gfk_known_fields[i].generator;
    return gfk_poly_generator(w, polynomial);
}

gfk_status gfk_field_init(gfk_field *field, unsigned w, uint64_t polynomial) {
    if (field == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (w != 8 && w != 16 && w != 32)
        return GFK_STATUS_NOT_SUPPORTED;
    if (polynomial == 0)
        polynomial = gfk_usual_polynomial(w);
    if (polynomial >> w != 1)
        return GFK_STATUS_INVALID_ARGUMENT;
    const uint32_t generator = generator_of(w, polynomial);
    if (generator == 0)
        return GFK_STATUS_REDUCIBLE_POLYNOMIAL;
    *field = (gfk_field){w, generator, polynomial};
    return GFK_STATUS_SUCCESS;
}

bool gfk_field_is_valid(const gfk_field *field) {
    return gfk_field_seems_valid(field) &&
           generator_of(field->w, field->polynomial) == field->generator;
}

static gfk_status check_operands(const gfk_field *field, uint32_t a, uint32_t b,
                                 const uint32_t *out) {
    if (!gfk_field_seems_valid(field) || out == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (!gfk_field_contains(field, a) || !gfk_field_contains(field, b))
        return GFK_STATUS_INVALID_CONSTANT;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_field_multiply(const gfk_field *field, uint32_t a, uint32_t b, uint32_t *product) {
    RETURN_IF_ERROR(check_operands(field, a, b, product));
    *product = gfk_poly_multiply(a, b, field->w, field->polynomial);
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_field_inverse(const gfk_field *field, uint32_t a, uint32_t *inverse) {
    return gfk_field_divide(field, 1, a, inverse);
}

gfk_status gfk_field_divide(const gfk_field *field, uint32_t a, uint32_t b, uint32_t *quotient) {
    RETURN_IF_ERROR(check_operands(field, a, b, quotient));
    if (b == 0)
        return GFK_STATUS_DIVISION_BY_ZERO;
    const uint32_t inverse = gfk_poly_inverse(b, field->polynomial);
    if (inverse == 0) /* the polynomial is reducible, so gfk_field_init did not make the field */
        return GFK_STATUS_INVALID_ARGUMENT;
    *quotient = gfk_poly_multiply(inverse, a, field->w, field->polynomial); /* a is often 1 */
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_field_pow(const gfk_field *field, uint32_t a, uint64_t exponent, uint32_t *power) {
    RETURN_IF_ERROR(check_operands(field, a, 0, power));
    *power = gfk_poly_pow(a, exponent, field->w, field->polynomial);
    return GFK_STATUS_SUCCESS;
}
