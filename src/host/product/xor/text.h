/* SPDX-License-Identifier: BSD-3-Clause */
/* A text that grows. It remembers a failed allocation, so that the caller checks only once. */
#ifndef GFK_JIT_TEXT_H
#define GFK_JIT_TEXT_H

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
