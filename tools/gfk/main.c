/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk: writes Reed-Solomon shards of files, and restores files from shards. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <gfk/gfk.h>

#include "coder.h"
#include "ending.h"
#include "files.h"
#include "folder.h"
#include "options.h"
#include "report.h"

static command_fn show_help;

static const tool_command commands[] = {
    {"encode", COMMAND_ENCODE, command_encode,
     "write k + m shards of a file; any k of them restore the file"},
    {"decode", COMMAND_DECODE, command_decode, "restore a file from its shards"},
    {"verify", COMMAND_VERIFY, command_verify,
     "check shards, and whether the file can be restored"},
    {"repair", COMMAND_REPAIR, command_repair, "restore missing and damaged shards"},
    {"scrub", COMMAND_SCRUB, command_scrub, "check all shards in a tree of folders"},
    {"info", COMMAND_INFO, command_info, "describe the file of the shards, and list the shards"},
    {"par2", COMMAND_PAR2, command_par2,
     "create, verify and repair recovery files in the PAR2 format"},
    {"calibrate", COMMAND_CALIBRATE, command_calibrate,
     "measure CPU, bus and GPU, and save the rates"},
    {"advise", COMMAND_ADVISE, command_advise, "tell which path encodes fastest"},
    {"methods", COMMAND_METHODS, command_methods,
     "list kernels and engines, with the reason if one cannot run"},
    {"help", COMMAND_HELP, show_help, "describe a command"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

const tool_command *command_at(size_t i) {
    return i < COMMANDS ? &commands[i] : NULL;
}

const tool_command *command_find(const char *name) {
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int no_command(const char *name) {
    return fail(TOOL_USAGE, "there is no %s %s; gfk help lists the %ss",
                name[0] == '-' ? "option" : "command", name, name[0] == '-' ? "option" : "command");
}

static void print_help(FILE *out) {
    fprintf(out, "usage: gfk COMMAND [OPTION...] [ARGUMENT...]\n\ncommands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].text);
    fprintf(out, "\noptions:\n"
                 "  -h, --help     list the commands; gfk COMMAND --help describes a command\n"
                 "  -V, --version  print the version\n");
}

static int show_help(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--options") == 0) {
        print_options();
        return TOOL_OK;
    }
    if (argc > 2)
        return fail(TOOL_USAGE, "one command; usage: gfk help [COMMAND]");
    const tool_command *command = argc < 2 ? NULL : command_find(argv[1]);
    if (argc < 2 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0 ||
        (command != NULL && command->bit == COMMAND_HELP)) {
        print_help(stdout);
        return TOOL_OK;
    }
    char help[] = "--help", *arguments[] = {argv[1], help, NULL};
    return command != NULL ? command->run(2, arguments) : no_command(argv[1]);
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

#ifdef __GLIBC__
static ssize_t write_stream(void *fd, const char *bytes, size_t count) {
    return write_all(*(const int *)fd, bytes, count) ? (ssize_t)count : 0;
}

/* A stream of the C library loses what a descriptor with O_NONBLOCK does not take at once. */
static void wait_in_stream(FILE **stream, const int *fd, int buffering) {
    const cookie_io_functions_t functions = {.write = write_stream};
    FILE *const waiting = fopencookie((void *)fd, "w", functions);
    if (waiting == NULL)
        return;
    setvbuf(waiting, NULL, buffering, BUFSIZ);
    *stream = waiting;
}

static void wait_in_streams(void) {
    static const int out = STDOUT_FILENO, error = STDERR_FILENO;
    wait_in_stream(&stdout, &out, isatty(out) ? _IOLBF : _IOFBF);
    wait_in_stream(&stderr, &error, _IONBF);
}
#else
static void wait_in_streams(void) {}
#endif

int main(int argc, char **argv) {
    if (!hold_standard_streams())
        return TOOL_IO;
    wait_in_streams();
    if (argc < 2) {
        print_help(stderr);
        return TOOL_USAGE;
    }
    if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
        print_help(stdout);
        return TOOL_OK;
    }
    if (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0) {
        const int v = gfk_version();
        printf("gfk %d.%d.%d\n", v / 10000, v / 100 % 100, v % 100);
        return TOOL_OK;
    }
    const tool_command *command = command_find(argv[1]);
    if (command == NULL)
        return no_command(argv[1]);
    const int result = command->run(argc - 1, argv + 1);
    folders_close();
    coders_end();
    const int code = end_output(json_end_early(argv[1], result), TOOL_IO);
    end_begin();
    return code;
}
