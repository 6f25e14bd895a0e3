/* SPDX-License-Identifier: BSD-3-Clause */
/* A text that grows. Running out of memory is remembered, so that only the end asks. */
#ifndef GFK_XOR_TEXT_H
#define GFK_XOR_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gfk_text {
    char *data; /* ends in a zero, which length does not count; NULL while empty */
    size_t length, capacity;
    bool failed;
} gfk_text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void gfk_text_add(gfk_text *text, const char *format, ...);
void gfk_text_free(gfk_text *text);

#endif
