/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool report_as_json = false;
bool report_quiet = false;

/* A text that grows. If memory runs out, append drops bytes: a report must not stop the work. */
typedef struct text {
    char *bytes;
    size_t length, room;
} text;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards messages and standard error */
static text object, messages;
static bool first_member; /* the innermost bracket has no member yet */

static void append(text *t, const char *bytes, size_t count) {
    if (t->length + count + 1 > t->room) {
        const size_t room = 2 * (t->length + count + 1);
        char *grown = realloc(t->bytes, room);
        if (grown == NULL)
            return;
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

static atomic_bool muted;

void report_mute(bool on) {
    muted = on;
}

static void message(const char *kind, const char *format, va_list arguments) {
    char line[4096];
    if (muted)
        return;
    vsnprintf(line, sizeof line, format, arguments);
    pthread_mutex_lock(&mutex);
    if (report_as_json) {
        append_text(&messages, messages.length == 0 ? "" : ",");
        append_quoted(&messages, line);
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

void warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    message("warning: ", format, arguments);
    va_end(arguments);
}

void warn_once(const char *format, ...) {
    static text said;
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    strcat(line, "\n");
    const bool again = !report_as_json && said.bytes != NULL && strstr(said.bytes, line) != NULL;
    if (!again && !muted)
        append_text(&said, line);
    line[strlen(line) - 1] = '\0';
    if (!again)
        warn("%s", line);
}

void say(const char *format, ...) {
    if (report_as_json || report_quiet)
        return;
    char line[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
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
    object.length = messages.length = 0;
    first_member = true;
    open_bracket(NULL, "{");
    json_string("command", command);
}

void json_string(const char *key, const char *value) {
    if (begin_member(key))
        append_quoted(&object, value);
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
}

void json_open_object(void) {
    open_bracket(NULL, "{");
}

void json_close_object(void) {
    close_bracket("}");
}

void json_close_array(void) {
    close_bracket("]");
}

void json_end(FILE *out, int code) {
    if (!report_as_json)
        return;
    json_open_array("messages");
    append(&object, messages.bytes == NULL ? "" : messages.bytes, messages.length);
    json_close_array();
    json_number("exit", (uint64_t)code);
    close_bracket("}");
    fwrite(object.bytes, 1, object.length, out);
    fputc('\n', out);
    fflush(out);
    free(object.bytes);
    free(messages.bytes);
    object = messages = (text){0};
}

void json_end_early(const char *command, int code) {
    if (messages.length == 0)
        return;
    const text kept = messages;
    messages = (text){0};
    json_begin(command);
    messages = kept;
    json_end(stdout, code);
}
