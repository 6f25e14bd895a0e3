/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks on field values that other files need. */
#ifndef GFK_HOST_FIELD_H
#define GFK_HOST_FIELD_H

#include <stdbool.h>
#include <stddef.h>

#include <gfk/field.h>

/* Are the members in their ranges? */
bool gfk_field_seems_valid(const gfk_field *field);
/* Fields that need no proof when the library runs: tests/base/proof_test.cpp proves them. */
enum { GFK_KNOWN_FIELDS = 10 };
extern const gfk_field gfk_known_fields[GFK_KNOWN_FIELDS];

/* Is the field the one that gfk_field_init makes of its polynomial? The proof for a field that is
 * not in the list above takes about half a microsecond. A public function asks once and passes the
 * field to functions that do not ask. If such a function has a public twin, its name is the name of
 * the twin with the ending _proven. */
bool gfk_field_is_valid(const gfk_field *field);
bool gfk_field_contains(const gfk_field *field, uint32_t a);
bool gfk_field_contains_all(const gfk_field *field, const uint32_t *elements, size_t count);
/* Returns the polynomial that gfk_field_init uses for polynomial 0. */
uint64_t gfk_usual_polynomial(unsigned w);

#endif
