/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of GF-Complete's small tools: a width W and a method in the tools' notation. */
#ifndef GFK_TOOL_METHOD_H
#define GFK_TOOL_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/gfk.h>

typedef struct method {
    gfk_field field;
    gfk_multiplier_desc desc; /* descriptor of a kernel on the CPU */
    bool named;               /* a method was given; otherwise the default is used */
    bool hexadecimal;         /* W ends in h: elements are read and written in base 16 */
} method;

/* width is "8", "16" or "32", with an optional h at the end. words holds a method, such
 * as "-m LOG -p 11b -", or nothing. Returns 0, or TOOL_USAGE after a message. */
int method_parse(method *result, const char *width, char *const *words, size_t count);

/* Creates a multiplier for the method. Returns 0, or an exit code after a message. */
int method_create(const method *m, gfk_multiplier_t *multiplier);

/* Parses an element of the field. False if the text is not an element. */
bool method_parse_element(const method *m, const char *text, uint32_t *element);

/* Parses a seed; -1 means the current time. */
bool method_parse_seed(const char *text, uint64_t *seed);

/* Returns the next pseudo-random number. The sequence depends on the state alone. */
uint64_t random_next(uint64_t *state);

#endif
