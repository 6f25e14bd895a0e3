/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tool says: exit codes, messages, and the JSON object of a run. */
#ifndef GFK_TOOL_REPORT_H
#define GFK_TOOL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* docs/tool.md and gfk(1) list these. */
enum exit_code {
    TOOL_OK = 0,
    TOOL_DAMAGED = 1, /* verify: damaged, but everything can be repaired; unit: a test failed */
    TOOL_USAGE = 2,   /* the command line */
    TOOL_UNRECOVERABLE = 3, /* too little is intact */
    TOOL_IO = 4,            /* files that cannot be read or written */
    TOOL_EXISTS = 5,        /* would replace what is there */
    TOOL_BACKEND = 6,       /* the backend asked for is not there */
    TOOL_INTERNAL = 7       /* out of memory, or a defect */
};

/* Set once, before any thread starts. */
extern bool report_as_json;
extern bool report_quiet;

/* fail: an error, for a person on standard error, or for the JSON object. Returns `code`. Any
 * thread. */
int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* warn: the same for what does not stop the work. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* say: a line of the result on standard output; nothing with --json or --quiet. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* disarm: makes a "?" of every control character. Names of files, and those in the headers of
 * shards, may hold what a terminal takes for orders, or look like lines of the tool. */
void disarm(char *line);

/* ---- the JSON object, one per file; calls without --json do nothing ------------------------- */

void json_begin(const char *command);
void json_string(const char *key, const char *value);
void json_number(const char *key, uint64_t value);
void json_seconds(const char *key, double value);
void json_bool(const char *key, bool value);
/* Arrays of objects: open the array, then each object, close what was opened. */
void json_open_array(const char *key);
void json_open_object(void);
void json_close_object(void);
void json_close_array(void);
/* Adds messages and the exit code, and writes the object as one line. */
void json_end(FILE *out, int code);
/* Writes the object of a command that ended before it began one, if there is something to say. */
void json_end_early(const char *command, int code);

#endif
