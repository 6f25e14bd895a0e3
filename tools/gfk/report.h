/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of the tool: exit codes, messages, the progress line, and the JSON object of a run. */
#ifndef GFK_TOOL_REPORT_H
#define GFK_TOOL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/status.h>

/* docs/tool.md and gfk(1) list the exit codes. */
enum exit_code {
    TOOL_OK = 0,
    TOOL_DAMAGED = 1,       /* verify: repair can mend all damage */
    TOOL_USAGE = 2,         /* the command line is invalid */
    TOOL_UNRECOVERABLE = 3, /* the file or a shard cannot be restored */
    TOOL_IO = 4,            /* a file cannot be read or written */
    TOOL_EXISTS = 5,        /* the output would replace an existing file */
    TOOL_BACKEND = 6,       /* the requested backend is not available */
    TOOL_INTERNAL = 7       /* out of memory, or a defect */
};

/* options_parse sets the flags before any thread starts. */
extern bool report_as_json;
extern bool report_quiet;
extern bool report_on_stderr; /* standard output carries a file, and no report */

/* fail: reports an error on standard error or, with --json, in the JSON object. Returns `code`.
 * Any thread may call fail and warn. */
int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The message about memory. Returns TOOL_INTERNAL. */
int no_memory(void);
/* "cannot WHAT PATH: the system's reason", TOOL_IO; TOOL_INTERNAL if the system had no memory. */
int fail_for(int error, const char *what, const char *path);
/* warn: reports a problem that does not stop the work, in the same places. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* warn_once: warns, but without --json never twice in the same words: each object of JSON has all
 * of its messages. */
void warn_once(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* end_output: writes what standard output holds. Returns `code`; `io`, after a message on standard error, if the
 * output could not be written and code is 0. */
int end_output(int code, int io);
/* say: prints a line of the result on standard output; prints nothing with --json or --quiet. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The description of a status inside a message: no capital letter and no full stop. The text is
 * valid until the next call of the thread. */
const char *status_text(gfk_status status);
/* The end of a noun behind a count: "s", or nothing after 1. */
const char *plural(uint64_t count);

/* Writes a path as a word of a command that a message suggests: a POSIX shell takes the word for this
 * path, and gfk does not take it for an option. False if the word does not fit. */
bool shell_word(const char *path, char *word, size_t room);

/* ---- the progress line: the share done, the speed and the remaining time -------------------- */

/* Begins a line for `total` bytes; 0: the total is unknown. The line is shown only if standard
 * error is a terminal and neither --quiet nor --json was given. */
void progress_begin(const char *what, uint64_t total);
/* Adds `bytes` to the bytes done. One thread at a time may call progress_add. */
void progress_add(uint64_t bytes);
/* Erases the line before other output; a later progress_add draws the line again. */
void progress_clear(void);
void progress_end(void);

/* Seconds on the monotonic clock. */
double seconds_now(void);

/* ---- the JSON object, one per file; calls without --json do nothing ------------------------- */

void json_begin(const char *command);
/* A string that is not UTF-8 gets U+FFFD for each wrong byte, and a second member, KEY_bytes, with
 * the bytes in base64. Without a key: an element of an array of strings. */
void json_string(const char *key, const char *value);
void json_number(const char *key, uint64_t value);
void json_seconds(const char *key, double value);
void json_bool(const char *key, bool value);
/* An array of strings or of objects: open the array, open and close each object,
 * close the array. */
void json_open_array(const char *key);
void json_open_object(void);
void json_close_object(void);
void json_close_array(void);
/* Adds the messages and the exit code, and writes the object as one line. Returns the exit code:
 * TOOL_INTERNAL if there was no memory for the object, TOOL_IO if 0 could not be written. */
int json_end(int code);
/* Writes the object of a command that ended before json_begin, if there are messages. */
int json_end_early(const char *command, int code);

#endif
