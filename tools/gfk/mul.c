/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk mul and gfk div: compute one product or quotient by any method. */
#include <stdio.h>

#include "method.h"
#include "options.h"
#include "report.h"

static const command_help mul_help = {
    "mul A B W [METHOD]",
    "Prints A * B in GF(2^W). W is 8, 16 or 32; with an h behind it numbers are hexadecimal.\n"
    "METHOD is in GF-Complete's notation: -m LOG -, -m SPLIT 8 4 -, -p 11b - and the like."};
static const command_help div_help = {
    "div A B W [METHOD]",
    "Prints A / B in GF(2^W). W is 8, 16 or 32; with an h behind it numbers are hexadecimal.\n"
    "METHOD is in GF-Complete's notation: -m LOG -, -m SPLIT 8 4 -, -p 11b - and the like."};

/* Computes a * b by the method's kernel, as a region of one symbol. */
static int multiply(method *m, uint32_t a, uint32_t b, uint32_t *product) {
    uint8_t symbol[4];
    int code = method_open(m);
    method_set(m, symbol, 0, b);
    if (code == 0)
        code = method_multiply(m, a, symbol, symbol, m->field.w / 8, GFK_SET);
    method_close(m);
    if (code == 0)
        *product = method_get(m, symbol, 0);
    return code;
}

static int compute(int argc, char **argv, const command_help *help, bool divide) {
    tool_options o;
    int code = options_parse(&o, COMMAND_SMALL, help, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    if (o.count < 3)
        return fail(TOOL_USAGE, "usage: gfk %s", help->usage);
    method m;
    uint32_t a = 0, b = 0, result = 0;
    code = method_parse(&m, o.arguments[2], o.arguments + 3, o.count - 3);
    if (code != 0)
        return code;
    for (int i = 0; i < 2; i++)
        if (!method_parse_element(&m, o.arguments[i], i == 0 ? &a : &b))
            return fail(TOOL_USAGE, "%s is not an element of GF(2^%u)", o.arguments[i], m.field.w);
    if (divide && gfk_field_inverse(&m.field, b, &b) != GFK_STATUS_SUCCESS)
        return fail(TOOL_USAGE, "%s", status_text(GFK_STATUS_DIVISION_BY_ZERO));
    code = multiply(&m, a, b, &result);
    if (code == 0)
        printf(m.hexadecimal ? "%x\n" : "%u\n", result);
    return code;
}

int command_mul(int argc, char **argv) {
    return compute(argc, argv, &mul_help, false);
}

int command_div(int argc, char **argv) {
    return compute(argc, argv, &div_help, true);
}
