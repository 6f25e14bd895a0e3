/* SPDX-License-Identifier: BSD-3-Clause */
#include "method.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "options.h"
#include "report.h"

static bool parse_base(const char *text, int base, uint64_t most, uint64_t *value) {
    char *end = NULL;
    if (!isxdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    *value = strtoull(text, &end, base);
    return errno == 0 && *end == '\0' && *value <= most;
}

static bool parse_width(method *m, const char *text, unsigned *w) {
    char digits[8];
    size_t length = strlen(text);
    m->hexadecimal = length > 1 && text[length - 1] == 'h';
    length -= m->hexadecimal;
    if (length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    uint64_t value = 0;
    if (!parse_number(digits, 8, 32, &value) || (value != 8 && value != 16 && value != 32))
        return false;
    *w = (unsigned)value;
    return true;
}

/* Joins the words into one text for gfk_multiplier_desc_parse. "-p POLYNOMIAL" belongs to the
 * field, not to the method, and goes to *polynomial. */
static bool join(char *text, size_t room, char *const *words, size_t count, unsigned w,
                 uint64_t *polynomial) {
    text[0] = '\0';
    for (size_t i = 0, length = 0; i < count; i++) {
        if (strcmp(words[i], "-p") == 0) {
            if (++i == count || !parse_base(words[i], 16, UINT64_C(0x1ffffffff), polynomial))
                return false;
            *polynomial |= UINT64_C(1) << w; /* GF-Complete omits the leading term */
            continue;
        }
        if (length + strlen(words[i]) + 2 > room)
            return false;
        length += (size_t)snprintf(text + length, room - length, "%s%s", length == 0 ? "" : " ",
                                   words[i]);
    }
    return true;
}

int method_parse(method *result, const char *width, char *const *words, size_t count) {
    method m = {.desc = GFK_MULTIPLIER_DESC_INIT};
    unsigned w = 0;
    uint64_t polynomial = 0;
    char text[256];
    if (!parse_width(&m, width, &w))
        return fail(TOOL_USAGE, "%s is not a width: 8, 16 and 32 are, with an h for hexadecimal",
                    width);
    if (!join(text, sizeof text, words, count, w, &polynomial))
        return fail(TOOL_USAGE, "-p takes a polynomial in hexadecimal");
    gfk_status status = gfk_field_init(&m.field, w, polynomial);
    if (status != GFK_STATUS_SUCCESS)
        return fail(TOOL_USAGE, "no field with w = %u and the polynomial 0x%llx: %s", w,
                    (unsigned long long)polynomial, status_text(status));
    if (text[0] != '\0' && strcmp(text, "-") != 0 && strcmp(text, "- -") != 0)
        status = gfk_multiplier_desc_parse(&m.desc, text);
    if (status == GFK_STATUS_NOT_SUPPORTED)
        return fail(TOOL_USAGE, "%s: GF-Complete has this, gfk does not; see gfk methods", text);
    if (status != GFK_STATUS_SUCCESS)
        return fail(TOOL_USAGE, "%s: no such method; see gfk methods", text);
    m.desc.implementation = GFK_IMPLEMENTATION_HOST;
    gfk_multiplier_info info;
    if (gfk_multiplier_query(&m.field, &m.desc, &info) != GFK_STATUS_SUCCESS)
        return fail(TOOL_USAGE, "%s: not with these parameters for w = %u; see gfk methods", text,
                    w);
    *result = m;
    return 0;
}

static int failed(gfk_status status) {
    return fail(status == GFK_STATUS_TABLE_LIMIT ? TOOL_USAGE : TOOL_INTERNAL, "%s",
                status_text(status));
}

int method_open(method *m) {
    gfk_status status = gfk_multiplier_create(&m->multiplier, &m->field, &m->desc);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_multiplier_get_info(m->multiplier, &m->info);
    if (status != GFK_STATUS_SUCCESS)
        return failed(status);
    return posix_memalign(&m->workspace, 64, (size_t)m->info.workspace_bytes + 1) == 0
               ? 0
               : fail(TOOL_INTERNAL, "out of memory");
}

void method_close(method *m) {
    free(m->workspace);
    gfk_multiplier_destroy(m->multiplier);
}

int method_multiply(const method *m, uint32_t c, const void *src, void *dst, size_t bytes,
                    gfk_accumulate mode) {
    const gfk_status status = gfk_region_multiply(m->multiplier, c, src, dst, bytes, mode,
                                                  m->workspace, m->info.workspace_bytes, NULL);
    return status == GFK_STATUS_SUCCESS ? 0 : failed(status);
}

uint32_t method_get(const method *m, const uint8_t *region, size_t i) {
    const size_t bytes = m->field.w / 8;
    uint32_t symbol = 0;
    for (size_t j = 0; j < bytes; j++)
        symbol |= (uint32_t)region[i * bytes + j] << 8 * j;
    return symbol;
}

void method_set(const method *m, uint8_t *region, size_t i, uint32_t symbol) {
    const size_t bytes = m->field.w / 8;
    for (size_t j = 0; j < bytes; j++)
        region[i * bytes + j] = (uint8_t)(symbol >> 8 * j);
}

bool method_parse_element(const method *m, const char *text, uint32_t *element) {
    uint64_t value = 0;
    const uint64_t most = UINT32_MAX >> (32 - m->field.w);
    if (!parse_base(text, m->hexadecimal ? 16 : 10, most, &value))
        return false;
    *element = (uint32_t)value;
    return true;
}

int method_parse_tests(const char *tests, const char *valid, const char *letters, const char *seed,
                       uint64_t *number) {
    if (*tests == '\0' || tests[strspn(tests, valid)] != '\0')
        return fail(TOOL_USAGE, "%s: tests are the letters %s", tests, letters);
    if (strcmp(seed, "-1") == 0)
        *number = (uint64_t)time(NULL);
    else if (!parse_number(seed, 0, UINT64_MAX, number))
        return fail(TOOL_USAGE, "%s is not a seed", seed);
    return 0;
}

uint64_t random_next(uint64_t *state) { /* SplitMix64 */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
