/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "report.h"

enum { /* options without a letter */
       OPTION_POLYNOMIAL = 256,
       OPTION_MATRIX,
       OPTION_BLOCK_SIZE,
       OPTION_BACKEND,
       OPTION_DEVICE,
       OPTION_MEMORY,
       OPTION_JSON,
       OPTION_HELP
};

static const struct row {
    const char *name;
    int key;              /* a letter, or an OPTION_ value */
    const char *argument; /* name of the option's argument; NULL: none */
    unsigned commands;    /* commands that have the option */
    const char *help;
} rows[] = {
    {"data", 'k', "K", COMMAND_ENCODE | COMMAND_SPEED, "data shards (10)"},
    {"parity", 'm', "M", COMMAND_ENCODE | COMMAND_SPEED, "parity shards: so many may be lost (4)"},
    {"width", 'w', "W", COMMAND_ENCODE | COMMAND_SPEED, "bits of a symbol: 8, 16 or 32 (8)"},
    {"polynomial", OPTION_POLYNOMIAL, "P", COMMAND_ENCODE,
     "of the field, with its leading term (0x11d, 0x1100b, 0x100400007)"},
    {"matrix", OPTION_MATRIX, "NAME", COMMAND_ENCODE,
     "cauchy, vandermonde, reed_sol_van, cauchy_good, gen_rs or gen_cauchy1 (cauchy)"},
    {"block-size", OPTION_BLOCK_SIZE, "SIZE", COMMAND_ENCODE,
     "bytes under one checksum, a multiple of 64 (1M; less for many shards)"},
    {"output", 'o', "BASE", COMMAND_ENCODE, "name the shards BASE.gfk.000, ... (FILE)"},
    {"output", 'o', "FILE", COMMAND_DECODE, "the file to write; - is standard output (its name)"},
    {"force", 'f', NULL, COMMAND_ENCODE | COMMAND_DECODE | COMMAND_REPAIR,
     "replace files that hold something else"},
    {"backend", OPTION_BACKEND, "NAME", COMMAND_FILES & ~COMMAND_INFO,
     "what computes: auto, cuda or host (auto)"},
    {"device", OPTION_DEVICE, "N", (COMMAND_FILES & ~COMMAND_INFO) | COMMAND_CALIBRATE,
     "the GPU to use"},
    {"memory", OPTION_MEMORY, "SIZE", COMMAND_FILES & ~COMMAND_INFO,
     "bytes for data on its way (256M)"},
    {"json", OPTION_JSON, NULL, COMMAND_FILES | COMMAND_METHODS | COMMAND_SPEED,
     "one line of JSON instead of text"},
    {"quiet", 'q', NULL, COMMAND_FILES | COMMAND_CALIBRATE, "nothing but errors"},
    {"help", OPTION_HELP, NULL, COMMAND_FILES | COMMAND_METHODS | COMMAND_SPEED | COMMAND_SMALL,
     "this text"},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void print_help(unsigned command, const command_help *help) {
    printf("usage: gfk %s\n\n%s\n\noptions:\n", help->usage, help->text);
    for (size_t i = 0; i < ROWS; i++) {
        char left[64];
        const struct row *r = &rows[i];
        if ((r->commands & command) == 0)
            continue;
        snprintf(left, sizeof left, "%c%c%s--%s%s%s", r->key < 256 ? '-' : ' ',
                 r->key < 256 ? r->key : ' ', r->key < 256 ? ", " : "  ", r->name,
                 r->argument == NULL ? "" : " ", r->argument == NULL ? "" : r->argument);
        printf("  %-24s %s\n", left, r->help);
    }
}

bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    char *end = NULL;
    if (!isdigit((unsigned char)text[0]))
        return false;
    const bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    errno = 0;
    const unsigned long long number = strtoull(text, &end, hexadecimal ? 16 : 10);
    if (errno != 0 || *end != '\0' || number < least || number > most)
        return false;
    *value = number;
    return true;
}

bool parse_size(const char *text, uint64_t *value) {
    static const char letters[] = "KMG";
    char digits[32];
    const size_t length = strlen(text);
    unsigned shift = 0;
    const char *letter = length == 0 ? NULL : strchr(letters, text[length - 1]);
    if (letter != NULL)
        shift = 10 * (unsigned)(letter - letters + 1);
    const size_t count = length - (letter != NULL);
    if (count >= sizeof digits)
        return false;
    memcpy(digits, text, count);
    digits[count] = '\0';
    if (!parse_number(digits, 0, UINT64_MAX >> shift, value))
        return false;
    *value <<= shift;
    return true;
}

static bool parse_matrix(const char *text, gfk_rs_matrix *matrix) {
    for (int i = GFK_RS_CAUCHY; i < GFK_RS_CUSTOM; i++)
        if (strcmp(text, gfk_rs_matrix_name((gfk_rs_matrix)i)) == 0) {
            *matrix = (gfk_rs_matrix)i;
            return true;
        }
    return false;
}

static bool parse_backend(const char *text, coder_backend *backend) {
    static const char *const names[] = {"auto", "cuda", "host"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *backend = (coder_backend)i;
            return true;
        }
    return false;
}

/* Stores the value of an option. False if the argument is invalid. */
static bool take(tool_options *o, int key, const char *argument) {
    uint64_t number = 0;
    bool valid = true;
    switch (key) {
    case 'k':
        valid = parse_number(argument, 1, MAX_SHARDS, &number);
        o->k = (uint32_t)number;
        break;
    case 'm':
        valid = parse_number(argument, 1, MAX_SHARDS, &number);
        o->m = (uint32_t)number;
        break;
    case 'w':
        valid =
            parse_number(argument, 8, 32, &number) && (number == 8 || number == 16 || number == 32);
        o->w = (uint32_t)number;
        break;
    case OPTION_POLYNOMIAL:
        valid = parse_number(argument, 1, UINT64_C(0x1ffffffff), &o->polynomial);
        break;
    case OPTION_MATRIX:
        valid = parse_matrix(argument, &o->matrix);
        break;
    case OPTION_BLOCK_SIZE:
        valid = parse_size(argument, &o->block_bytes) && o->block_bytes >= BLOCK_UNIT &&
                o->block_bytes <= MAX_BLOCK_BYTES && o->block_bytes % BLOCK_UNIT == 0;
        break;
    case 'o':
        o->output = argument;
        valid = *argument != '\0';
        break;
    case 'f':
        o->force = true;
        break;
    case OPTION_BACKEND:
        valid = parse_backend(argument, &o->coder.backend);
        break;
    case OPTION_DEVICE:
        valid = parse_number(argument, 0, 1023, &number);
        o->coder.device = (int)number;
        break;
    case OPTION_MEMORY:
        valid = parse_size(argument, &o->coder.memory) && o->coder.memory != 0;
        break;
    case OPTION_JSON:
        report_as_json = true;
        break;
    default:
        report_quiet = true;
        break;
    }
    return valid;
}

int options_parse(tool_options *options, unsigned command, const command_help *help, int argc,
                  char **argv) {
    struct option longs[ROWS + 1] = {0};
    char shorts[2 * ROWS + 2] = ":";
    size_t count = 0, letters = 1;
    if (command == COMMAND_SMALL) /* "-" and "-1" among the arguments are not options */
        shorts[0] = '+', shorts[letters++] = ':';
    for (size_t i = 0; i < ROWS; i++) {
        if ((rows[i].commands & command) == 0)
            continue;
        const int argument = rows[i].argument == NULL ? no_argument : required_argument;
        longs[count++] = (struct option){rows[i].name, argument, NULL, rows[i].key};
        if (rows[i].key < 256) {
            shorts[letters++] = (char)rows[i].key;
            if (argument == required_argument)
                shorts[letters++] = ':';
        }
    }
    *options = (tool_options){.k = 10,
                              .m = 4,
                              .w = 8,
                              .matrix = GFK_RS_CAUCHY,
                              .coder = {BACKEND_AUTO, -1, UINT64_C(256) << 20}};
    opterr = 0;
    optind = 1;
    for (int key; (key = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (key == OPTION_HELP) {
            print_help(command, help);
            return 0;
        }
        if (key == ':')
            return fail(TOOL_USAGE, "%s needs an argument", argv[optind - 1]);
        if (key == '?')
            return fail(TOOL_USAGE, "unknown option %s; usage: gfk %s", argv[optind - 1],
                        help->usage);
        if (!take(options, key, optarg))
            return fail(TOOL_USAGE, "%s is not a value that this option takes: %s", optarg,
                        argv[optind - 1] == optarg ? argv[optind - 2] : argv[optind - 1]);
    }
    options->arguments = argv + optind;
    options->count = (size_t)(argc - optind);
    return OPTIONS_GO_ON;
}
