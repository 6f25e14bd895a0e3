/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line. One table of options serves the parser, --help and completions. */
#ifndef GFK_TOOL_OPTIONS_H
#define GFK_TOOL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coder.h"

/* The commands as bits of a set. */
enum {
    COMMAND_ENCODE = 1,
    COMMAND_DECODE = 2,
    COMMAND_VERIFY = 4,
    COMMAND_REPAIR = 8,
    COMMAND_INFO = 16,
    COMMAND_METHODS = 32,
    COMMAND_CALIBRATE = 64,
    COMMAND_ADVISE = 128,
    COMMAND_SCRUB = 256,
    COMMAND_HELP = 512,
    COMMAND_PAR2 = 1024
};

/* Folders of an option. */
enum { MOST_FOLDERS = 1024 };
typedef struct folder_list {
    const char *paths[MOST_FOLDERS];
    size_t count;
} folder_list;

typedef struct tool_options {
    uint32_t k, m, w;
    uint64_t polynomial; /* 0: the default */
    gfk_rs_matrix matrix;
    uint64_t block_bytes;     /* 0: the default for k and m */
    const char *output;       /* NULL: none given */
    struct folder *output_in; /* the folder of the output, opened before the tool looks at anything;
                                 NULL: none, or it cannot be opened */
    folder_list to, in;
    bool force, repair, partial, json, quiet;
    bool whole; /* decode writes complete files only, although --partial was given */
    coder_options coder;
    char **arguments; /* arguments that are not options */
    size_t count;     /* number of arguments */
} tool_options;

/* One option. An option that differs between commands has a row for each. */
typedef struct option_row {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* name of the option's argument, or its values: "a|b"; NULL: none */
    unsigned commands;    /* commands that have the option */
    bool (*parse)(const char *text, void *member); /* NULL: prints the help */
    size_t member;                                 /* of tool_options */
    const char *help;
} option_row;

/* The options in the order of --help; NULL behind the last one. */
const option_row *option_at(size_t i);

/* The texts of a command for --help. */
typedef struct command_help {
    const char *usage; /* usage line without "gfk" */
    const char *text;  /* description of the command */
} command_help;

enum { OPTIONS_GO_ON = -1 };

/* Parses the arguments after argv[0], the command's name. Returns OPTIONS_GO_ON, or the exit code
 * after --help (0) or after a message. */
int options_parse(tool_options *options, unsigned command, const command_help *help, int argc,
                  char **argv);

/* The commands. argv[0] is the command's name. Each function returns an exit code. */
typedef int command_fn(int argc, char **argv);
command_fn command_encode, command_decode, command_verify, command_repair, command_info,
    command_scrub, command_calibrate, command_advise, command_methods, command_par2;

typedef struct tool_command {
    const char *name;
    unsigned bit; /* one of the commands above */
    command_fn *run;
    const char *text; /* description in one line */
} tool_command;

/* The commands in the order of the help; NULL behind the last one. */
const tool_command *command_at(size_t i);
const tool_command *command_find(const char *name); /* NULL: there is none */

/* gfk help --options: prints the table of options of all commands, for completions and the man page. */
void print_options(void);

/* Parses a number from least to most: decimal, or hexadecimal after 0x. */
bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *value);
/* Parses a number of bytes; K, M or G at the end multiplies by a power of 1024. */
bool parse_size(const char *text, uint64_t *value);

#endif
