/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: one table of options, from which parsing and --help are made. */
#ifndef GFK_TOOL_OPTIONS_H
#define GFK_TOOL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coder.h"

/* The commands, as a set of bits. */
enum {
    COMMAND_ENCODE = 1,
    COMMAND_DECODE = 2,
    COMMAND_VERIFY = 4,
    COMMAND_REPAIR = 8,
    COMMAND_INFO = 16,
    COMMAND_METHODS = 32,
    COMMAND_CALIBRATE = 64,
    COMMAND_ADVISE = 128,
    COMMAND_SMALL = 256, /* mul, div, unit, time: nothing but --help */
    COMMAND_FILES = 31,
    COMMAND_SPEED = COMMAND_CALIBRATE | COMMAND_ADVISE
};

typedef struct tool_options {
    uint32_t k, m, w;
    uint64_t polynomial; /* 0: the default */
    gfk_rs_matrix matrix;
    uint64_t block_bytes; /* 0: by the code */
    const char *output;   /* NULL: none given */
    bool force;
    coder_options coder;
    char **arguments; /* what is not an option */
    size_t count;
} tool_options;

/* How a command is called and what it does, for --help. */
typedef struct command_help {
    const char *usage; /* without "gfk" */
    const char *text;
} command_help;

enum { OPTIONS_GO_ON = -1 };

/* Parses what follows the command's name, argv[0]. Returns OPTIONS_GO_ON, or the exit code after
 * --help (0) or after a message. */
int options_parse(tool_options *options, unsigned command, const command_help *help, int argc,
                  char **argv);

/* A number in any base that strtoull knows, from least to most. */
bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *value);
/* A number of bytes: digits, and K, M or G for powers of 1024. */
bool parse_size(const char *text, uint64_t *value);

#endif
