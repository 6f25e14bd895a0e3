/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of GF-Complete's small tools: W, and a method in its notation. */
#ifndef GFK_TOOL_METHOD_H
#define GFK_TOOL_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/gfk.h>

typedef struct method {
    gfk_field field;
    gfk_multiplier_desc desc; /* of a row on the CPU */
    bool named;               /* a method was given; else the default is meant */
    bool hexadecimal;         /* W ends in h: elements are read and written in base 16 */
} method;

/* width: "8", "16", "32", perhaps with an h behind. words: "-m LOG -p 11b -" and the like, or none.
 * Returns 0, or TOOL_USAGE after a message. */
int method_parse(method *result, const char *width, char *const *words, size_t count);

/* A multiplier for it, or an exit code after a message. */
int method_create(const method *m, gfk_multiplier_t *multiplier);

/* An element of the field. False: it is none. */
bool method_parse_element(const method *m, const char *text, uint32_t *element);

/* The seed that an argument gives; -1 is the time. */
bool method_parse_seed(const char *text, uint64_t *seed);

/* Numbers that depend on the state alone. */
uint64_t random_next(uint64_t *state);

#endif
