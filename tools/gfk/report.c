/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool report_as_json = false;
bool report_quiet = false;
bool report_on_stderr = false;

/* A text that grows. If memory runs out, the text is cut and says so. */
typedef struct text {
    char *bytes;
    size_t length, room;
    bool cut;
} text;

/* Strings of an array of JSON, and the same strings in base64. */
typedef struct strings {
    text plain, encoded;
    bool strange; /* one of them is not UTF-8 */
} strings;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards messages and standard error */
static text object;
static strings messages, array;
static const char *command_name, *array_key;
static bool first_member; /* the innermost bracket has no member yet */

static void append(text *t, const char *bytes, size_t count) {
    if (t->cut)
        return;
    if (t->length + count + 1 > t->room) {
        const size_t room = 2 * (t->length + count + 1);
        char *grown = realloc(t->bytes, room);
        if (grown == NULL) {
            t->cut = true;
            return;
        }
        t->bytes = grown;
        t->room = room;
    }
    memcpy(t->bytes + t->length, bytes, count);
    t->length += count;
    t->bytes[t->length] = '\0';
}

static void append_text(text *t, const char *bytes) {
    append(t, bytes, strlen(bytes));
}

/* The length of the UTF-8 sequence at s: 1 to 4 bytes, or 0 if the bytes are not UTF-8. */
static size_t utf8_length(const unsigned char *s) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* shorter forms are not valid */
    if (s[0] < 0x80)
        return 1;
    const size_t length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    uint32_t code = s[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    const bool valid = s[0] >= 0xc0 && s[0] < 0xf8 && code >= least[length] && code <= 0x10ffff;
    return valid && !surrogate ? length : 0;
}

/* Appends a JSON string. File names are bytes; a byte that is not UTF-8 becomes U+FFFD. */
static void append_quoted(text *t, const char *value) {
    append_text(t, "\"");
    for (const unsigned char *s = (const unsigned char *)value; *s != '\0';) {
        const size_t length = utf8_length(s);
        if (*s == '"' || *s == '\\') {
            append(t, (char[]){'\\', (char)*s}, 2);
        } else if (*s < 0x20) {
            char escaped[8];
            snprintf(escaped, sizeof escaped, "\\u%04x", *s);
            append_text(t, escaped);
        } else if (length == 0) {
            append_text(t, "\\ufffd");
        } else {
            append(t, (const char *)s, length);
        }
        s += length == 0 ? 1 : length;
    }
    append_text(t, "\"");
}

static bool is_utf8(const char *value) {
    const unsigned char *s = (const unsigned char *)value;
    size_t length = 1;
    for (; *s != '\0' && length != 0; s += length)
        length = utf8_length(s);
    return length != 0;
}

/* Appends a JSON string of the bytes in base64 (RFC 4648). */
static void append_base64(text *t, const char *value) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t length = strlen(value);
    const unsigned char *s = (const unsigned char *)value;
    append_text(t, "\"");
    for (size_t i = 0; i < length; i += 3) {
        const size_t left = length - i;
        const uint32_t bits = (uint32_t)s[i] << 16 | (left > 1 ? (uint32_t)s[i + 1] << 8 : 0) |
                              (left > 2 ? s[i + 2] : 0);
        append(t,
               (char[]){digits[bits >> 18], digits[bits >> 12 & 63],
                        left > 1 ? digits[bits >> 6 & 63] : '=',
                        left > 2 ? digits[bits & 63] : '='},
               4);
    }
    append_text(t, "\"");
}

static void add_string(strings *to, const char *value) {
    append_text(&to->plain, to->plain.length == 0 ? "" : ",");
    append_text(&to->encoded, to->encoded.length == 0 ? "" : ",");
    append_quoted(&to->plain, value);
    append_base64(&to->encoded, value);
    to->strange = to->strange || !is_utf8(value);
}

static void clear_strings(strings *of) {
    of->plain.length = of->encoded.length = 0;
    of->plain.cut = of->encoded.cut = of->strange = false;
}

/* Replaces every control character by "?". The names of files and the names in shard headers may
 * hold control sequences of terminals, or imitate lines of the tool. */
static void disarm(char *line) {
    for (unsigned char *s = (unsigned char *)line; *s != '\0';) {
        const size_t length = utf8_length(s), bytes = length == 0 ? 1 : length;
        const bool of_c1 = length == 0 ? *s < 0xa0 : *s == 0xc2 && s[1] < 0xa0;
        if (*s < 0x20 || *s == 0x7f || of_c1)
            memset(s, '?', bytes);
        s += bytes;
    }
}

/* ---- the progress line ---------------------------------------------------------------------- */

static struct {
    bool shown;
    char what[256];
    uint64_t total, done;
    double start, drawn;
} progress;
static atomic_bool visible; /* the terminal shows the line */

void progress_clear(void) {
    if (atomic_exchange(&visible, false))
        fputs("\r\033[K", stderr);
}

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void draw(double now) {
    enum { WIDTH = 30 };
    char bar[WIDTH + 1], left[32] = "";
    const double seconds = now - progress.start;
    const double rate = seconds > 0 ? (double)progress.done / seconds : 0;
    if (progress.total != 0) {
        const double share =
            progress.done < progress.total ? (double)progress.done / (double)progress.total : 1;
        const size_t full = (size_t)(share * WIDTH);
        memset(bar, '#', full);
        memset(bar + full, '.', WIDTH - full);
        bar[WIDTH] = '\0';
        if (rate > 0) {
            const double s = (1 - share) * (double)progress.total / rate + 0.5;
            const unsigned u = s < 1e9 ? (unsigned)s : 1000000000;
            snprintf(left, sizeof left, " %u:%02u:%02u left", u / 3600, u / 60 % 60, u % 60);
        }
        fprintf(stderr, "\r\033[K%s %s %3.0f %% %.1f MB/s%s", progress.what, bar, 100 * share,
                rate / 1e6, left);
    } else {
        fprintf(stderr, "\r\033[K%s %.1f MB, %.1f MB/s", progress.what, (double)progress.done / 1e6,
                rate / 1e6);
    }
    fflush(stderr);
    atomic_store(&visible, true);
    progress.drawn = now;
}

void progress_begin(const char *what, uint64_t total) {
    progress.shown = !report_quiet && !report_as_json && isatty(STDERR_FILENO);
    snprintf(progress.what, sizeof progress.what, "%s", what);
    disarm(progress.what);
    progress.total = total;
    progress.done = 0;
    progress.start = progress.drawn = seconds_now();
}

void progress_add(uint64_t bytes) {
    progress.done += bytes;
    if (!progress.shown)
        return;
    const double now = seconds_now();
    if (now - progress.drawn >= 0.1)
        draw(now);
}

void progress_end(void) {
    progress_clear();
    progress.shown = false;
}

/* ---- messages ------------------------------------------------------------------------------- */

enum { LINE_BYTES = 4096 };

static bool is_inside(char byte) { /* of a UTF-8 sequence */
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Writes a text. If the text is too long, "..." takes the place of its middle, where the path is: the
 * reason stands at the end. */
static void compose(char *line, size_t room, const char *format, va_list arguments) {
    va_list again;
    char *whole = NULL;
    va_copy(again, arguments);
    const int length = vsnprintf(line, room, format, arguments);
    if (length >= (int)room && vasprintf(&whole, format, again) == length) {
        size_t begin = room / 2, end = (size_t)length - room / 2 + sizeof "...";
        while (begin != 0 && is_inside(whole[begin]))
            begin--;
        while (is_inside(whole[end]))
            end++;
        snprintf(line, room, "%.*s...%s", (int)begin, whole, whole + end);
        free(whole);
    }
    va_end(again);
}

static void message(const char *kind, const char *format, va_list arguments) {
    char line[LINE_BYTES];
    compose(line, sizeof line, format, arguments);
    pthread_mutex_lock(&mutex);
    if (report_as_json) {
        add_string(&messages, line);
    } else {
        progress_clear();
        disarm(line);
        fprintf(stderr, "gfk: %s%s\n", kind, line);
    }
    pthread_mutex_unlock(&mutex);
}

int fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    message("", format, arguments);
    va_end(arguments);
    return code;
}

int no_memory(void) {
    return fail(TOOL_INTERNAL, "out of memory");
}

int fail_for(int error, const char *what, const char *path) {
    return error == ENOMEM ? no_memory()
                           : fail(TOOL_IO, "cannot %s %s: %s", what, path, strerror(error));
}

void warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    message("warning: ", format, arguments);
    va_end(arguments);
}

int end_output(int code, int io) {
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code != 0)
        return code;
    report_as_json = false; /* the message goes to standard error */
    return fail(io, "cannot write standard output");
}

static int by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

void warn_once(const char *format, ...) {
    static void *said; /* a tree of tsearch */
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    compose(line, sizeof line, format, arguments);
    va_end(arguments);
    if (!report_as_json && tfind(line, &said, by_text) != NULL)
        return;
    warn("%s", line);
    char *const copy = report_as_json ? NULL : strdup(line);
    if (copy != NULL && tsearch(copy, &said, by_text) == NULL)
        free(copy);
}

void say(const char *format, ...) {
    if (report_as_json || report_quiet)
        return;
    char line[2 * LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    compose(line, sizeof line, format, arguments);
    va_end(arguments);
    disarm(line);
    puts(line);
}

const char *status_text(gfk_status status) {
    static _Thread_local char line[128];
    snprintf(line, sizeof line, "%s", gfk_status_description(status));
    const size_t length = strlen(line);
    if (length != 0 && line[length - 1] == '.')
        line[length - 1] = '\0';
    line[0] = (char)tolower((unsigned char)line[0]);
    return line;
}

const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

bool shell_word(const char *path, char *word, size_t room) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+,:=@%";
    const char *const quote = path[0] == '\0' || path[strspn(path, plain)] != '\0' ? "'" : "";
    size_t length = (size_t)snprintf(word, room, "%s%s", quote, path[0] == '-' ? "./" : "");
    for (const char *s = path; *s != '\0' && length < room; s++)
        length += (size_t)snprintf(word + length, room - length, "%.*s", *s == '\'' ? 4 : 1,
                                   *s == '\'' ? "'\\''" : s);
    if (length < room)
        length += (size_t)snprintf(word + length, room - length, "%s", quote);
    return length < room;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static bool begin_member(const char *key) {
    if (!report_as_json)
        return false;
    append_text(&object, first_member ? "" : ",");
    first_member = false;
    if (key != NULL) {
        append_quoted(&object, key);
        append_text(&object, ":");
    }
    return true;
}

static void open_bracket(const char *key, const char *bracket) {
    if (!begin_member(key))
        return;
    append_text(&object, bracket);
    first_member = true;
}

static void close_bracket(const char *bracket) {
    if (!report_as_json)
        return;
    append_text(&object, bracket);
    first_member = false;
}

void json_begin(const char *command) {
    command_name = command;
    object.length = 0;
    object.cut = false;
    clear_strings(&messages);
    first_member = true;
    open_bracket(NULL, "{");
    json_string("command", command);
}

/* The member KEY_bytes follows a string, or an array of strings, that is not UTF-8. */
static bool begin_bytes(const char *key) {
    if (!begin_member(key))
        return false;
    object.length -= object.cut ? 0 : strlen("\":");
    append_text(&object, "_bytes\":");
    return true;
}

void json_string(const char *key, const char *value) {
    if (!report_as_json)
        return;
    if (key == NULL) {
        add_string(&array, value);
        return;
    }
    begin_member(key);
    append_quoted(&object, value);
    if (!is_utf8(value) && begin_bytes(key))
        append_base64(&object, value);
}

static void member(const char *key, const char *value) {
    if (begin_member(key))
        append_text(&object, value);
}

void json_number(const char *key, uint64_t value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    member(key, digits);
}

void json_seconds(const char *key, double value) {
    char digits[64];
    snprintf(digits, sizeof digits, "%.6f", value);
    member(key, digits);
}

void json_bool(const char *key, bool value) {
    member(key, value ? "true" : "false");
}

void json_open_array(const char *key) {
    open_bracket(key, "[");
    array_key = key;
    clear_strings(&array);
}

static void append_strings(const text *list) {
    append(&object, list->bytes == NULL ? "" : list->bytes, list->length);
    object.cut = object.cut || list->cut;
}

/* Ends an array of objects, or one of the strings. */
static void close_array(const char *key, const strings *list) {
    append_strings(&list->plain);
    close_bracket("]");
    if (!list->strange || !begin_bytes(key))
        return;
    append_text(&object, "[");
    append_strings(&list->encoded);
    append_text(&object, "]");
}

void json_open_object(void) {
    open_bracket(NULL, "{");
}

void json_close_object(void) {
    close_bracket("}");
}

void json_close_array(void) {
    if (!report_as_json)
        return;
    if (array_key != NULL)
        close_array(array_key, &array);
    else
        close_bracket("]");
    array_key = NULL;
}

static bool write_line(FILE *out, const char *bytes, size_t count) {
    return fwrite(bytes, 1, count, out) == count && fputc('\n', out) != EOF && fflush(out) == 0;
}

int json_end(int code) {
    if (!report_as_json)
        return code;
    char line[160];
    FILE *const out = report_on_stderr ? stderr : stdout;
    open_bracket("messages", "[");
    close_array("messages", &messages);
    json_number("exit", (uint64_t)code);
    close_bracket("}");
    bool written;
    if (object.cut) {
        code = TOOL_INTERNAL;
        const int length = snprintf(
            line, sizeof line, "{\"command\":\"%s\",\"messages\":[\"out of memory\"],\"exit\":%d}",
            command_name, code);
        written = write_line(out, line, (size_t)length);
    } else {
        written = write_line(out, object.bytes, object.length);
    }
    clear_strings(&messages);
    if (!written)
        fprintf(stderr, "gfk: cannot write the report: %s\n", strerror(errno));
    return written || code != 0 ? code : TOOL_IO;
}

int json_end_early(const char *command, int code) {
    if (!report_as_json || (messages.plain.length == 0 && !messages.plain.cut))
        return code;
    const strings kept = messages;
    messages = (strings){0};
    json_begin(command);
    messages = kept;
    return json_end(code);
}
