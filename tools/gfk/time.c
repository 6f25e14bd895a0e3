/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk time: times a method on one CPU core. gfk_bench makes accurate measurements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "method.h"
#include "options.h"
#include "report.h"

static const command_help help = {
    "time W TESTS SEED SIZE ITERATIONS [METHOD]",
    "Times a method on the CPU. TESTS are letters: A all; S single operations: M multiplications,\n"
    "D divisions, I inverses, which are the field's and have no method; R regions of SIZE bytes: "
    "G\n"
    "by random constants, 0, 1, 2 by these. SEED -1 is the time. METHOD is in GF-Complete's\n"
    "notation: -m LOG -."};

typedef struct timing {
    method method;
    uint8_t *a, *b; /* regions of SIZE bytes each */
    size_t bytes;
    uint64_t iterations, random;
} timing;

static void print(const char *what, double seconds, double amount, const char *unit,
                  const char *rate) {
    const double millions = amount / 1048576.0;
    say("%s%13.6f s   %-6s%9.3f %17.3f %s", what, seconds, unit, millions,
        seconds > 0 ? millions / seconds : 0, rate);
}

typedef gfk_status operation(const timing *t, size_t i, uint32_t *result);

static gfk_status product(const timing *t, size_t i, uint32_t *result) {
    return gfk_field_multiply(&t->method.field, method_get(&t->method, t->a, i),
                              method_get(&t->method, t->b, i), result);
}

/* Replaces zero, which has no inverse, by one. */
static uint32_t divisor(const timing *t, size_t i) {
    const uint32_t value = method_get(&t->method, t->b, i);
    return value != 0 ? value : 1;
}

static gfk_status quotient(const timing *t, size_t i, uint32_t *result) {
    return gfk_field_divide(&t->method.field, method_get(&t->method, t->a, i), divisor(t, i),
                            result);
}

static gfk_status inverse(const timing *t, size_t i, uint32_t *result) {
    return gfk_field_inverse(&t->method.field, divisor(t, i), result);
}

static int time_single(timing *t, const char *what, operation *run) {
    const size_t count = t->bytes / (t->method.field.w / 8);
    const double start = seconds_now();
    for (uint64_t n = 0; n < t->iterations; n++) {
        for (size_t i = 0; i < count; i++) {
            uint32_t result = 0;
            const gfk_status status = run(t, i, &result);
            if (status != GFK_STATUS_SUCCESS)
                return fail(TOOL_INTERNAL, "%s", status_text(status));
        }
    }
    print(what, seconds_now() - start, (double)count * (double)t->iterations,
          "Mops:", "Mega-ops/s");
    return 0;
}

/* Multiplies a region by the constant c or, if `random`, by random constants. */
static int time_region(timing *t, const char *what, uint32_t c, bool random) {
    for (int mode = GFK_SET; mode <= GFK_XOR; mode++) {
        char line[64];
        double seconds = 0;
        for (uint64_t n = 0; n < t->iterations; n++) {
            const uint32_t mask = UINT32_MAX >> (32 - t->method.field.w);
            const uint32_t constant = random ? (uint32_t)random_next(&t->random) & mask : c;
            const double start = seconds_now();
            const int code =
                method_multiply(&t->method, constant, t->a, t->b, t->bytes, (gfk_accumulate)mode);
            seconds += seconds_now() - start;
            if (code != 0)
                return code;
        }
        snprintf(line, sizeof line, "%14s: XOR: %d ", what, mode);
        print(line, seconds, (double)t->bytes * (double)t->iterations, "MB:", "MB/s");
    }
    return 0;
}

static int run_tests(timing *t, const char *letters) {
    static const struct {
        const char *letters, *what;
        operation *run; /* NULL: a region */
        uint32_t c;
        bool random;
    } tests[] = {
        {"ASM", "      Multiply:        ", product, 0, false},
        {"ASD", "        Divide:        ", quotient, 0, false},
        {"ASI", "       Inverse:        ", inverse, 0, false},
        {"ARG", "Region-Random", NULL, 0, true},
        {"AR0", "Region-By-Zero", NULL, 0, false},
        {"AR1", "Region-By-One", NULL, 1, false},
        {"AR2", "Region-By-Two", NULL, 2, false},
    };
    int code = 0;
    say("Seed: %llu", (unsigned long long)t->random);
    for (size_t i = 0; i < t->bytes; i++) {
        t->a[i] = (uint8_t)random_next(&t->random);
        t->b[i] = (uint8_t)random_next(&t->random);
    }
    for (size_t i = 0; i < sizeof tests / sizeof tests[0] && code == 0; i++)
        if (strpbrk(letters, tests[i].letters) != NULL)
            code = tests[i].run != NULL
                       ? time_single(t, tests[i].what, tests[i].run)
                       : time_region(t, tests[i].what, tests[i].c, tests[i].random);
    return code;
}

static int time_method(timing *t, const char *letters) {
    void *a = NULL, *b = NULL;
    int code = method_open(&t->method);
    if (code == 0 &&
        (posix_memalign(&a, 64, t->bytes) != 0 || posix_memalign(&b, 64, t->bytes) != 0))
        code = fail(TOOL_INTERNAL, "out of memory");
    t->a = a;
    t->b = b;
    if (code == 0)
        code = run_tests(t, letters);
    free(a);
    free(b);
    method_close(&t->method);
    return code;
}

int command_time(int argc, char **argv) {
    tool_options o;
    int code = options_parse(&o, COMMAND_SMALL, &help, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    timing t = {0};
    if (o.count < 5)
        return fail(TOOL_USAGE, "usage: gfk %s", help.usage);
    const char *letters = o.arguments[1];
    uint64_t bytes = 0;
    code = method_parse_tests(letters, "ASRMDIG012", "A, S, R, M, D, I, G, 0, 1 and 2",
                              o.arguments[2], &t.random);
    if (code == 0)
        code = method_parse(&t.method, o.arguments[0], o.arguments + 5, o.count - 5);
    if (code != 0)
        return code;
    if (!parse_number(o.arguments[3], 1, UINT64_C(1) << 40, &bytes) ||
        bytes % (t.method.field.w / 8) != 0)
        return fail(TOOL_USAGE, "%s is not a size in bytes of whole symbols", o.arguments[3]);
    if (!parse_number(o.arguments[4], 1, UINT32_MAX, &t.iterations))
        return fail(TOOL_USAGE, "%s is not a number of iterations", o.arguments[4]);
    t.bytes = (size_t)bytes;
    return time_method(&t, letters);
}
