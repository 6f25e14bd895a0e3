/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a calibration: lines of text, whole numbers, the last line a checksum of the others.
 * It is written beside its place and renamed, so that a reader finds the old one or the new one. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline.h"

#define TITLE "gfk-calibration 1"
enum { MOST_BYTES = 8192, CHECKSUM_LINE = 26 }; /* "checksum " and 16 digits, and its newline */

static uint64_t checksum(const char *text, size_t length) { /* FNV-1a */
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return hash;
}

/* ---- what is in it, once for both ways ------------------------------------------------------ */

/* A way through the text: `read` or write line after line. */
typedef struct pen {
    bool read, failed;
    char *at, *end; /* what is left of the text, or of the room for it */
} pen;

static void write_text(pen *p, const char *text) {
    const size_t length = strlen(text), room = (size_t)(p->end - p->at);
    p->failed |= length > room;
    if (p->failed)
        return;
    memcpy(p->at, text, length);
    p->at += length;
}

static void read_text(pen *p, const char *text) {
    const size_t length = strlen(text), left = (size_t)(p->end - p->at);
    p->failed |= length > left || memcmp(p->at, text, length) != 0;
    if (!p->failed)
        p->at += length;
}

static void fixed(pen *p, const char *text) {
    if (p->read)
        read_text(p, text);
    else
        write_text(p, text);
}

/* A name to the end of the line. */
static void name(pen *p, const char *key, char *value, size_t room) {
    fixed(p, key);
    fixed(p, " ");
    if (!p->read) {
        write_text(p, value);
    } else if (!p->failed) {
        size_t length = 0;
        while (p->at + length < p->end && p->at[length] != '\n' && p->at[length] != 0)
            length++;
        p->failed |= length == 0 || length >= room;
        if (!p->failed) {
            memset(value, 0, room);
            memcpy(value, p->at, length);
            p->at += length;
        }
    }
    fixed(p, "\n");
}

static void whole(pen *p, uint64_t *value) {
    char digits[24];
    if (!p->read) {
        (void)snprintf(digits, sizeof digits, " %" PRIu64, *value);
        write_text(p, digits);
        return;
    }
    read_text(p, " ");
    uint64_t sum = 0;
    size_t count = 0;
    for (; !p->failed && p->at < p->end && *p->at >= '0' && *p->at <= '9' && count < 19; count++)
        sum = 10 * sum + (uint64_t)(*p->at++ - '0');
    p->failed |= count == 0;
    if (!p->failed)
        *value = sum;
}

/* Numbers that count units of 1 / scale. */
static void numbers(pen *p, const char *key, double *values, size_t count, double scale) {
    fixed(p, key);
    for (size_t i = 0; i < count && !p->failed; i++) {
        uint64_t n = p->read ? 0 : (uint64_t)(values[i] * scale + 0.5);
        whole(p, &n);
        values[i] = p->read && !p->failed ? (double)n / scale : values[i];
    }
    fixed(p, "\n");
}

static void count(pen *p, const char *key, uint64_t *value) {
    fixed(p, key);
    whole(p, value);
    fixed(p, "\n");
}

static void all_lines(pen *p, gfk_calibration *c) {
    static const char *const rows[4] = {"cpu w8", "cpu w8-other", "cpu w16", "cpu w32"};
    uint64_t threads = c->threads, devices = c->device_count;
    fixed(p, TITLE "\n");
    name(p, "host", c->host, sizeof c->host);
    name(p, "processor", c->processor, sizeof c->processor);
    count(p, "threads", &threads);
    count(p, "devices", &devices);
    p->failed |= threads > UINT32_MAX || devices > GFK_MOST_DEVICES;
    if (p->failed)
        return;
    c->threads = (unsigned)threads;
    c->device_count = (size_t)devices;
    for (size_t i = 0; i < c->device_count; i++)
        name(p, "device", c->devices[i], sizeof c->devices[i]);
    for (size_t i = 0; i < 4; i++)
        numbers(p, rows[i], c->cpu[i], 5, 1);
    numbers(p, "cpu-call", &c->cpu_call, 1, 1e9);
    if (c->device_count == 0)
        return;
    numbers(p, "bus pageable", c->bus[GFK_PAGEABLE], 3, 1);
    numbers(p, "bus pinned", c->bus[GFK_PINNED], 3, 1);
    numbers(p, "kernel", c->kernel, 4, 1);
    numbers(p, "gpu-call", &c->gpu_call, 1, 1e9);
    numbers(p, "both", c->both, 2, 1e6);
}

/* ---- reading -------------------------------------------------------------------------------- */

gfk_status gfk_calibration_parse(gfk_calibration *calibration, char *text, size_t length) {
    char line[CHECKSUM_LINE + 1];
    if (length < CHECKSUM_LINE)
        return GFK_STATUS_CORRUPT;
    const size_t body = length - CHECKSUM_LINE;
    (void)snprintf(line, sizeof line, "checksum %016" PRIx64 "\n", checksum(text, body));
    if (memcmp(text + body, line, CHECKSUM_LINE) != 0)
        return GFK_STATUS_CORRUPT;
    gfk_calibration c = {.threads = 0};
    pen p = {.read = true, .at = text, .end = text + body};
    all_lines(&p, &c);
    if (p.failed || p.at != p.end || !gfk_calibration_is_valid(&c))
        return GFK_STATUS_CORRUPT;
    *calibration = c;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_calibration_load(gfk_calibration *calibration, const char *file) {
    if (calibration == NULL || file == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    FILE *stream = fopen(file, "rb");
    if (stream == NULL)
        return GFK_STATUS_IO;
    char text[MOST_BYTES + 1];
    const size_t length = fread(text, 1, sizeof text, stream);
    const bool failed = ferror(stream) != 0;
    (void)fclose(stream);
    if (failed)
        return GFK_STATUS_IO;
    return length > MOST_BYTES ? GFK_STATUS_CORRUPT
                               : gfk_calibration_parse(calibration, text, length);
}

/* ---- writing -------------------------------------------------------------------------------- */

static bool write_all(int fd, const char *text, size_t length) {
    while (length > 0) {
        const ssize_t n = write(fd, text, length);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            text += n;
            length -= (size_t)n;
        }
    }
    return true;
}

/* Best effort: the file is complete either way, only maybe still the old one after a crash. */
static void sync_folder(char *path) {
    const int fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

static gfk_status replace(const char *file, const char *text, size_t length) {
    const size_t room = strlen(file) + sizeof ".XXXXXX";
    char *temporary = malloc(room);
    if (temporary == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    (void)snprintf(temporary, room, "%s.XXXXXX", file);
    const int fd = mkstemp(temporary);
    bool written =
        fd >= 0 && write_all(fd, text, length) && fchmod(fd, 0644) == 0 && fsync(fd) == 0;
    if (fd >= 0)
        written &= close(fd) == 0;
    written = written && rename(temporary, file) == 0;
    if (fd >= 0 && !written)
        (void)unlink(temporary);
    if (written)
        sync_folder(temporary);
    free(temporary);
    return written ? GFK_STATUS_SUCCESS : GFK_STATUS_IO;
}

/* A name that would not come back as it was written. */
static bool bad_name(const char *text, size_t room) {
    const char *end = memchr(text, 0, room);
    return end == NULL || end == text || memchr(text, '\n', (size_t)(end - text)) != NULL;
}

gfk_status gfk_calibration_save(const gfk_calibration *calibration, const char *file) {
    if (calibration == NULL || file == NULL || !gfk_calibration_is_valid(calibration) ||
        bad_name(calibration->host, sizeof calibration->host) ||
        bad_name(calibration->processor, sizeof calibration->processor))
        return GFK_STATUS_INVALID_ARGUMENT;
    for (size_t i = 0; i < calibration->device_count; i++)
        if (bad_name(calibration->devices[i], sizeof calibration->devices[i]))
            return GFK_STATUS_INVALID_ARGUMENT;
    char text[MOST_BYTES + 1];
    gfk_calibration c = *calibration;
    pen p = {.read = false, .at = text, .end = text + MOST_BYTES - CHECKSUM_LINE};
    all_lines(&p, &c);
    if (p.failed)
        return GFK_STATUS_INTERNAL;
    const size_t body = (size_t)(p.at - text);
    (void)snprintf(p.at, CHECKSUM_LINE + 1, "checksum %016" PRIx64 "\n", checksum(text, body));
    return replace(file, text, body + CHECKSUM_LINE);
}
