/* SPDX-License-Identifier: BSD-3-Clause */
/* GF-Complete's method strings, in the form that its tools take on the command line. */
#include <string.h>

#include <gfk/multiplier.h>

typedef struct word {
    const char *start;
    size_t length;
} word;

static word next_word(const char **cursor) {
    word w;
    w.start = *cursor + strspn(*cursor, " \t");
    w.length = strcspn(w.start, " \t");
    *cursor = w.start + w.length;
    return w;
}

static int equals(word w, const char *text) {
    return strlen(text) == w.length && memcmp(w.start, text, w.length) == 0;
}

/* Returns a decimal number from 1 to 99, or 0 for any other text. Parameters have no other
 * values. */
static unsigned number(word w) {
    unsigned value = 0;
    if (w.length == 0 || w.length > 2)
        return 0;
    for (size_t i = 0; i < w.length; i++) {
        if (w.start[i] < '0' || w.start[i] > '9')
            return 0;
        value = 10 * value + (unsigned)(w.start[i] - '0');
    }
    return value;
}

static const struct {
    const char *name;
    gfk_method method;
    int numbers;
} methods[] = {
    {"DEFAULT", GFK_METHOD_AUTO, 0},
    {"SHIFT", GFK_METHOD_SHIFT, 0},
    {"GROUP", GFK_METHOD_GROUP, 2},
    {"BYTWO_p", GFK_METHOD_BYTWO_P, 0},
    {"BYTWO_b", GFK_METHOD_BYTWO_B, 0},
    {"TABLE", GFK_METHOD_TABLE, 0},
    {"LOG", GFK_METHOD_LOG, 0},
    {"SPLIT", GFK_METHOD_SPLIT, 2},
    {"CARRY_FREE", GFK_METHOD_CARRY_FREE, 0},
};

/* GF-Complete knows these methods. This library does not offer them. */
static int foreign(word w) {
    static const char *const words[] = {
        "CARRY_FREE_GK", "LOG_ZERO", "LOG_ZERO_EXT", "COMPOSITE", "SIMD", "NOSIMD", "SSE",
        "NOSSE",         "ALTMAP",   "CAUCHY",       "DOUBLE",    "QUAD", "LAZY",   "MATRIX",
        "EUCLID",        "-r",       "-d",           "-p",        "-x"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (equals(w, words[i]))
            return 1;
    return 0;
}

gfk_status gfk_multiplier_desc_parse(gfk_multiplier_desc *desc, const char *text) {
    if (desc == NULL || text == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    word w = next_word(&text);
    if (equals(w, "-m"))
        w = next_word(&text);
    if (foreign(w))
        return GFK_STATUS_NOT_SUPPORTED;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (!equals(w, methods[i].name))
            continue;
        unsigned arg[2] = {0, 0};
        w = next_word(&text);
        for (int n = 0; n < methods[i].numbers && number(w) != 0; n++) {
            arg[n] = number(w);
            w = next_word(&text);
        }
        if ((arg[0] != 0) != (arg[1] != 0)) /* a method has both numbers or none */
            return GFK_STATUS_UNKNOWN_METHOD;
        for (int dashes = 0; dashes < 2 && equals(w, "-"); dashes++)
            w = next_word(&text);
        if (foreign(w))
            return GFK_STATUS_NOT_SUPPORTED;
        if (w.length != 0)
            return GFK_STATUS_UNKNOWN_METHOD;
        desc->method = methods[i].method;
        desc->arg1 = arg[0];
        desc->arg2 = arg[1];
        return GFK_STATUS_SUCCESS;
    }
    return GFK_STATUS_UNKNOWN_METHOD;
}
