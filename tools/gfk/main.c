/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk: makes Reed-Solomon shards of files, and offers the small tools of GF-Complete. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <gfk/gfk.h>

#include "options.h"
#include "report.h"

static const struct {
    const char *name;
    command_fn *run;
    const char *text;
} commands[] = {
    {"encode", command_encode, "make k + m shards of a file, any k of which bring it back"},
    {"decode", command_decode, "bring a file back from its shards"},
    {"verify", command_verify, "check shards, and whether the file can be brought back"},
    {"repair", command_repair, "make missing and damaged shards again"},
    {"scrub", command_scrub, "check all shards in a tree of folders"},
    {"info", command_info, "say what shards are of, and which are there"},
    {"calibrate", command_calibrate, "measure what CPU, bus and GPU do, and keep it"},
    {"advise", command_advise, "say what would encode fastest"},
    {"mul", command_mul, "multiply in GF(2^w), as gf_mult does"},
    {"div", command_div, "divide in GF(2^w), as gf_div does"},
    {"methods", command_methods, "list the methods, and why one is not there"},
    {"unit", command_unit, "test a method, as gf_unit does"},
    {"time", command_time, "time a method, as gf_time does"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out) {
    fprintf(out, "usage: gfk COMMAND [OPTION...] [ARGUMENT...]\n\ncommands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].text);
    fprintf(out, "\noptions:\n"
                 "  --help     this text; after a command, the command's\n"
                 "  --version  the version\n");
}

/* Opens /dev/null for each of standard input, output and error that is closed. Otherwise the next
 * opened file would get the free descriptor: a file to encode would be taken for standard input,
 * or messages would be written into a shard. The access mode turns every use of the descriptor
 * into an error. */
static bool hold_standard_streams(void) {
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

int main(int argc, char **argv) {
    if (!hold_standard_streams())
        return TOOL_IO;
    if (argc < 2) {
        print_help(stderr);
        return TOOL_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0) {
        print_help(stdout);
        return TOOL_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        const int v = gfk_version();
        printf("gfk %d.%d.%d\n", v / 10000, v / 100 % 100, v % 100);
        return TOOL_OK;
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        const int code = commands[i].run(argc - 1, argv + 1);
        json_end_early(argv[1], code);
        if ((fflush(stdout) != 0 || ferror(stdout)) && code == TOOL_OK)
            return fail(TOOL_IO, "cannot write standard output");
        return code;
    }
    return fail(TOOL_USAGE, "there is no command %s; gfk --help lists them", argv[1]);
}
