/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk time: times a method on one CPU core. gfk_bench makes accurate measurements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "method.h"
#include "options.h"
#include "progress.h"
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
    gfk_multiplier_t multiplier;
    void *workspace;
    size_t workspace_bytes;
    uint8_t *a, *b; /* regions of SIZE bytes each */
    size_t bytes;
    uint64_t iterations, random;
} timing;

static bool asks(const char *letters, const char *any_of) {
    return strpbrk(letters, any_of) != NULL;
}

static void print(const char *what, double seconds, double amount, const char *unit,
                  const char *rate) {
    const double millions = amount / 1048576.0;
    say("%s%13.6f s   %-6s%9.3f %17.3f %s", what, seconds, unit, millions,
        seconds > 0 ? millions / seconds : 0, rate);
}

static uint32_t element(const timing *t, const uint8_t *from, size_t i) {
    const size_t bytes = t->method.field.w / 8;
    uint32_t value = 0;
    for (size_t j = 0; j < bytes; j++)
        value |= (uint32_t)from[i * bytes + j] << 8 * j;
    return value;
}

typedef gfk_status operation(const timing *t, size_t i, uint32_t *result);

static gfk_status product(const timing *t, size_t i, uint32_t *result) {
    return gfk_field_multiply(&t->method.field, element(t, t->a, i), element(t, t->b, i), result);
}

/* Replaces zero, which has no inverse, by one. */
static uint32_t divisor(const timing *t, size_t i) {
    const uint32_t value = element(t, t->b, i);
    return value != 0 ? value : 1;
}

static gfk_status quotient(const timing *t, size_t i, uint32_t *result) {
    return gfk_field_divide(&t->method.field, element(t, t->a, i), divisor(t, i), result);
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
                return fail(TOOL_INTERNAL, "%s", gfk_status_description(status));
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
            const gfk_status status =
                gfk_region_multiply(t->multiplier, constant, t->a, t->b, t->bytes,
                                    (gfk_accumulate)mode, t->workspace, t->workspace_bytes, NULL);
            seconds += seconds_now() - start;
            if (status != GFK_STATUS_SUCCESS)
                return fail(TOOL_INTERNAL, "%s", gfk_status_description(status));
        }
        snprintf(line, sizeof line, "%14s: XOR: %d ", what, mode);
        print(line, seconds, (double)t->bytes * (double)t->iterations, "MB:", "MB/s");
    }
    return 0;
}

static int run_tests(timing *t, const char *letters) {
    int code = 0;
    say("Seed: %llu", (unsigned long long)t->random);
    for (size_t i = 0; i < t->bytes; i++) {
        t->a[i] = (uint8_t)random_next(&t->random);
        t->b[i] = (uint8_t)random_next(&t->random);
    }
    if (code == 0 && asks(letters, "ASM"))
        code = time_single(t, "      Multiply:        ", product);
    if (code == 0 && asks(letters, "ASD"))
        code = time_single(t, "        Divide:        ", quotient);
    if (code == 0 && asks(letters, "ASI"))
        code = time_single(t, "       Inverse:        ", inverse);
    if (code == 0 && asks(letters, "ARG"))
        code = time_region(t, "Region-Random", 0, true);
    if (code == 0 && asks(letters, "AR0"))
        code = time_region(t, "Region-By-Zero", 0, false);
    if (code == 0 && asks(letters, "AR1"))
        code = time_region(t, "Region-By-One", 1, false);
    if (code == 0 && asks(letters, "AR2"))
        code = time_region(t, "Region-By-Two", 2, false);
    return code;
}

static int time_method(timing *t, const char *letters) {
    gfk_multiplier_info info;
    int code = method_create(&t->method, &t->multiplier);
    if (code != 0)
        return code;
    gfk_multiplier_get_info(t->multiplier, &info);
    t->workspace_bytes = (size_t)info.workspace_bytes;
    void *a = NULL, *b = NULL;
    if (posix_memalign(&a, 64, t->bytes) != 0 || posix_memalign(&b, 64, t->bytes) != 0 ||
        posix_memalign(&t->workspace, 64, t->workspace_bytes + 1) != 0) {
        code = fail(TOOL_INTERNAL, "out of memory");
    } else {
        t->a = a;
        t->b = b;
        code = run_tests(t, letters);
    }
    free(a);
    free(b);
    free(t->workspace);
    gfk_multiplier_destroy(t->multiplier);
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
    if (*letters == '\0' || letters[strspn(letters, "ASRMDIG012")] != '\0')
        return fail(TOOL_USAGE, "%s: tests are the letters A, S, R, M, D, I, G, 0, 1 and 2",
                    letters);
    if (!method_parse_seed(o.arguments[2], &t.random))
        return fail(TOOL_USAGE, "%s is not a seed", o.arguments[2]);
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
