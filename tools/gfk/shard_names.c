/* SPDX-License-Identifier: BSD-3-Clause */
#include "shard_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

static const char infix[] = ".gfk.";
enum { INFIX_LENGTH = sizeof infix - 1, LEAST_DIGITS = 3, MOST_DIGITS = 5 };

char *shard_path(const char *base, uint32_t index) {
    const size_t room = strlen(base) + INFIX_LENGTH + 16;
    char *path = malloc(room);
    if (path != NULL)
        snprintf(path, room, "%s%s%0*u", base, infix, LEAST_DIGITS, index);
    return path;
}

bool shard_name_parse(const char *name, size_t length, size_t *base_length, uint32_t *index) {
    size_t digits = 0;
    uint32_t value = 0;
    while (digits < length && digits <= MOST_DIGITS && name[length - 1 - digits] >= '0' &&
           name[length - 1 - digits] <= '9')
        digits++;
    if (digits < LEAST_DIGITS || digits > MOST_DIGITS || length <= digits + INFIX_LENGTH ||
        memcmp(name + length - digits - INFIX_LENGTH, infix, INFIX_LENGTH) != 0)
        return false;
    for (size_t i = length - digits; i < length; i++)
        value = 10 * value + (uint32_t)(name[i] - '0');
    if (value >= MAX_SHARDS || (digits > LEAST_DIGITS && name[length - digits] == '0'))
        return false;
    *base_length = length - digits - INFIX_LENGTH;
    *index = value;
    return true;
}

bool shard_name_of(const char *name, size_t length, const char *base, uint32_t *index) {
    size_t base_length = 0;
    return shard_name_parse(name, length, &base_length, index) && strlen(base) == base_length &&
           memcmp(name, base, base_length) == 0;
}
