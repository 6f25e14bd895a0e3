/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk unit: tests a method against bitwise multiplication. */
#include <string.h>

#include "method.h"
#include "options.h"
#include "report.h"

static const command_help help = {
    "unit W TESTS SEED [METHOD]",
    "Tests a method on the CPU. TESTS are letters: A all, S single operations, R regions, V say\n"
    "what is done. SEED -1 is the time. METHOD is in GF-Complete's notation: -m LOG -.\n"
    "Exit code 1: the method is wrong."};

typedef struct unit {
    method method;
    uint64_t random;
} unit;

static uint32_t random_element(unit *u) {
    static const uint32_t special[] = {0, 1, 2, 0xffffffff};
    const uint64_t number = random_next(&u->random);
    const uint32_t element = (number & 15) < 4 ? special[number & 15] : (uint32_t)(number >> 32);
    return element & (UINT32_MAX >> (32 - u->method.field.w));
}

/* Compares products of the method with products of the field, and checks that a product divided by
 * one factor is the other factor. */
static int test_single(unit *u) {
    enum { PAIRS = 4096 };
    const gfk_field *field = &u->method.field;
    for (int n = 0; n < PAIRS; n++) {
        const uint32_t a = random_element(u), b = random_element(u);
        uint8_t symbol[4];
        uint32_t expected = 0, quotient = 0;
        gfk_field_multiply(field, a, b, &expected);
        method_set(&u->method, symbol, 0, b);
        const int code = method_multiply(&u->method, a, symbol, symbol, field->w / 8, GFK_SET);
        if (code != 0)
            return code;
        if (method_get(&u->method, symbol, 0) != expected)
            return fail(TOOL_DAMAGED, "%x * %x is %x, but the method says %x", a, b, expected,
                        method_get(&u->method, symbol, 0));
        if (b != 0 && (gfk_field_divide(field, expected, b, &quotient) != GFK_STATUS_SUCCESS ||
                       quotient != a))
            return fail(TOOL_DAMAGED, "%x / %x is %x, but comes out as %x", expected, b, a,
                        quotient);
    }
    return 0;
}

enum { REGION_BYTES = 600, GUARD_BYTES = 32, ROOM = REGION_BYTES + 2 * GUARD_BYTES };

static int test_region(unit *u) {
    const size_t symbol_bytes = u->method.field.w / 8;
    uint8_t src[ROOM], dst[ROOM], expected[ROOM];
    for (size_t i = 0; i < ROOM; i++) {
        src[i] = (uint8_t)random_next(&u->random);
        dst[i] = expected[i] = (uint8_t)random_next(&u->random);
    }
    const uint64_t number = random_next(&u->random);
    const size_t from = GUARD_BYTES - (number & 15), to = GUARD_BYTES - (number >> 4 & 15);
    const size_t bytes = (size_t)(number >> 8) % REGION_BYTES / symbol_bytes * symbol_bytes;
    const gfk_accumulate mode = (number >> 60 & 1) != 0 ? GFK_XOR : GFK_SET;
    const uint32_t c = random_element(u);
    for (size_t i = 0; i < bytes / symbol_bytes; i++) {
        uint32_t product = 0;
        gfk_field_multiply(&u->method.field, c, method_get(&u->method, src + from, i), &product);
        if (mode == GFK_XOR)
            product ^= method_get(&u->method, expected + to, i);
        method_set(&u->method, expected + to, i, product);
    }
    const int code = method_multiply(&u->method, c, src + from, dst + to, bytes, mode);
    if (code != 0)
        return code;
    for (size_t i = 0; i < ROOM; i++)
        if (dst[i] != expected[i])
            return fail(TOOL_DAMAGED, "%x times a region of %zu byte%s is wrong at byte %td", c,
                        bytes, plural(bytes), (ptrdiff_t)i - (ptrdiff_t)to);
    return 0;
}

static int test_regions(unit *u) {
    enum { REGIONS = 512 };
    int code = 0;
    for (int n = 0; n < REGIONS && code == 0; n++)
        code = test_region(u);
    return code;
}

static int test_method(unit *u, const char *letters) {
    const gfk_multiplier_info *info = &u->method.info;
    const bool all = strchr(letters, 'A') != NULL, verbose = strchr(letters, 'V') != NULL;
    const uint64_t bytes = info->table_bytes + info->workspace_bytes;
    say("%s: %llu byte%s of tables", info->kernel->id, (unsigned long long)bytes, plural(bytes));
    if (verbose)
        say("Seed: %llu", (unsigned long long)u->random);
    int code = 0;
    if (all || strchr(letters, 'S') != NULL) {
        if (verbose)
            say("Testing single multiplications/divisions.");
        code = test_single(u);
    }
    if (code == 0 && (all || strchr(letters, 'R') != NULL)) {
        if (verbose)
            say("Testing region multiplications");
        code = test_regions(u);
    }
    return code;
}

int command_unit(int argc, char **argv) {
    tool_options o;
    unit u = {0};
    int code = options_parse(&o, COMMAND_SMALL, &help, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    if (o.count < 3)
        return fail(TOOL_USAGE, "usage: gfk %s", help.usage);
    code = method_parse_tests(o.arguments[1], "ASRV", "A, S, R and V", o.arguments[2], &u.random);
    if (code == 0)
        code = method_parse(&u.method, o.arguments[0], o.arguments + 3, o.count - 3);
    if (code != 0)
        return code;
    code = method_open(&u.method);
    if (code == 0)
        code = test_method(&u, o.arguments[1]);
    method_close(&u.method);
    return code;
}
