/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

void gfk_text_add(gfk_text *text, const char *format, ...) {
    enum { LONGEST = 512 }; /* of one call */
    if (text->failed)
        return;
    if (text->capacity - text->length < LONGEST) {
        const size_t capacity = 2 * text->capacity + 4096;
        char *data = realloc(text->data, capacity);
        if (data == NULL) {
            text->failed = true;
            return;
        }
        text->data = data;
        text->capacity = capacity;
    }
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text->data + text->length, LONGEST, format, arguments);
    va_end(arguments);
    if (n < 0 || n >= LONGEST)
        text->failed = true;
    else
        text->length += (size_t)n;
}

void gfk_text_free(gfk_text *text) {
    free(text->data);
    *text = (gfk_text){0};
}
