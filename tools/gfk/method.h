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
    bool hexadecimal;         /* W ends in h: elements are read and written in base 16 */
    /* Made by method_open. */
    gfk_multiplier_t multiplier;
    gfk_multiplier_info info;
    void *workspace;
} method;

/* width is "8", "16" or "32", with an optional h at the end. words holds a method, such
 * as "-m LOG -p 11b -", or nothing. Returns 0, or TOOL_USAGE after a message. */
int method_parse(method *result, const char *width, char *const *words, size_t count);

/* Creates the multiplier of the method and its workspace. Returns 0, or an exit code after a
 * message; the caller closes the method in either case. */
int method_open(method *m);
void method_close(method *m);
/* Multiplies a region by c. Returns 0, or an exit code after a message. */
int method_multiply(const method *m, uint32_t c, const void *src, void *dst, size_t bytes,
                    gfk_accumulate mode);

/* Symbol i of a region. */
uint32_t method_get(const method *m, const uint8_t *region, size_t i);
void method_set(const method *m, uint8_t *region, size_t i, uint32_t symbol);

/* Parses an element of the field. False if the text is not an element. */
bool method_parse_element(const method *m, const char *text, uint32_t *element);

/* Checks the letters of `tests` and parses a seed; -1 means the current time. Returns 0, or
 * TOOL_USAGE after a message, in which `letters` lists the valid letters. */
int method_parse_tests(const char *tests, const char *valid, const char *letters, const char *seed,
                       uint64_t *number);

/* Returns the next pseudo-random number. The sequence depends on the state alone. */
uint64_t random_next(uint64_t *state);

#endif
