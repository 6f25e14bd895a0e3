/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a calibration: lines of text with whole numbers. The last line is a checksum of the
 * other lines. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/base/hash.h"
#include "pipeline.h"

enum { MOST_BYTES = 8192 };

/* The lines of rates, in order. A number in the file is a multiple of 1 / scale. */
static const struct rates {
    const char *key;
    size_t offset; /* in gfk_calibration */
    unsigned count;
    double scale;
    bool of_device;
} all_rates[] = {
#define RATES(key, member, count, scale, of_device)                                                \
    {key, offsetof(gfk_calibration, member), count, scale, of_device}
    RATES("cpu w8", cpu[0], 5, 1, false),       RATES("cpu w8-other", cpu[1], 5, 1, false),
    RATES("cpu w16", cpu[2], 5, 1, false),      RATES("cpu w32", cpu[3], 5, 1, false),
    RATES("cpu-call", cpu_call, 1, 1e9, false), RATES("bus pageable", bus[0], 3, 1, true),
    RATES("bus pinned", bus[1], 3, 1, true),    RATES("kernel", kernel, 4, 1, true),
    RATES("gpu-call", gpu_call, 1, 1e9, true),  RATES("both", both, 2, 1e6, true),
};
enum { LINES = sizeof all_rates / sizeof all_rates[0] };

static double *values_of(const gfk_calibration *c, const struct rates *rates) {
    return (double *)(uintptr_t)((const char *)c + rates->offset);
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Writes the whole text and returns its length. The buffer always has room, because names and
 * numbers are bounded. */
static size_t write_text(const gfk_calibration *c, char text[MOST_BYTES]) {
    char *at = text + sprintf(text, "gfk-calibration 1\nhost %s\nprocessor %s\nthreads %u\n",
                              c->host, c->processor, c->threads);
    at += sprintf(at, "devices %zu\n", c->device_count);
    for (size_t i = 0; i < c->device_count; i++)
        at += sprintf(at, "device %s\n", c->devices[i]);
    for (const struct rates *r = all_rates; r < all_rates + LINES; r++) {
        if (r->of_device && c->device_count == 0)
            continue;
        at += sprintf(at, "%s", r->key);
        for (unsigned i = 0; i < r->count; i++)
            at += sprintf(at, " %" PRIu64, (uint64_t)(values_of(c, r)[i] * r->scale + 0.5));
        at += sprintf(at, "\n");
    }
    at += sprintf(at, "checksum %016" PRIx64 "\n",
                  gfk_hash(GFK_HASH_BEGIN, text, (size_t)(at - text)));
    return (size_t)(at - text);
}

static bool write_all(int fd, const char *text, size_t length) {
    for (size_t done = 0; done < length;) {
        const ssize_t n = write(fd, text + done, length - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Makes the renaming durable, if possible. If the renaming is not durable, a crash may bring the
 * old file back. */
static void sync_folder(char *file) {
    const int fd = open(dirname(file), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

/* The text is written under a temporary name first, so that readers, also after a crash, find
 * either the old file or the new one. */
static gfk_status replace_file(const char *file, const char *text, size_t length) {
    static const char suffix[] = ".tmp";
    const size_t room = strlen(file) + sizeof "-XXXXXX" + sizeof suffix;
    char *temporary = malloc(room);
    if (temporary == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    (void)snprintf(temporary, room, "%s-XXXXXX%s", file, suffix);
    const int fd = mkostemps(temporary, sizeof suffix - 1, O_CLOEXEC);
    bool ok = fd >= 0 && fchmod(fd, 0644) == 0 && write_all(fd, text, length) && fsync(fd) == 0;
    if (fd >= 0) {
        ok = close(fd) == 0 && ok && rename(temporary, file) == 0;
        if (ok)
            sync_folder(temporary);
        else
            (void)unlink(temporary);
    }
    free(temporary);
    return ok ? GFK_STATUS_SUCCESS : GFK_STATUS_IO;
}

/* Is the name one line that is not empty? */
static bool is_name(const char *text, size_t room) {
    const size_t length = strnlen(text, room);
    return length != 0 && length < room && memchr(text, '\n', length) == NULL;
}

static bool can_be_written(const gfk_calibration *c) {
    bool ok = gfk_calibration_is_valid(c) && is_name(c->host, sizeof c->host) &&
              is_name(c->processor, sizeof c->processor);
    for (size_t i = 0; ok && i < c->device_count; i++)
        ok = is_name(c->devices[i], sizeof c->devices[i]);
    return ok;
}

gfk_status gfk_calibration_save(const gfk_calibration *calibration, const char *file) {
    char text[MOST_BYTES];
    if (calibration == NULL || file == NULL || !can_be_written(calibration))
        return GFK_STATUS_INVALID_ARGUMENT;
    return replace_file(file, text, write_text(calibration, text));
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Moves to the values that follow the key, or to the end of the text if the next key is a different
 * one. */
static const char *find_values(const char *at, const char *key) {
    const size_t length = strlen(key);
    return strncmp(at, key, length) == 0 ? at + length : "";
}

static const char *read_name(const char *at, const char *key, char *name, size_t room) {
    at = find_values(at, key);
    const size_t length = strcspn(at, "\n");
    if (length >= room)
        return "";
    memcpy(name, at, length);
    return at + length + (at[length] != 0);
}

static const char *read_number(const char *at, const char *key, uint64_t *number) {
    char *end;
    *number = strtoull(find_values(at, key), &end, 10);
    return end;
}

/* Reads a text that has the form of calibration files. Numbers and names that the text lacks become
 * zeros. */
static void read_text(gfk_calibration *c, const char *at) {
    uint64_t number;
    at = find_values(at, "gfk-calibration 1\n");
    at = read_name(at, "host ", c->host, sizeof c->host);
    at = read_name(at, "processor ", c->processor, sizeof c->processor);
    at = read_number(at, "threads ", &number);
    c->threads = (unsigned)number;
    at = read_number(at, "\ndevices ", &number);
    c->device_count = number <= GFK_MOST_DEVICES ? (size_t)number : 0;
    at = find_values(at, "\n");
    for (size_t i = 0; i < c->device_count; i++)
        at = read_name(at, "device ", c->devices[i], sizeof c->devices[i]);
    for (const struct rates *r = all_rates; r < all_rates + LINES; r++) {
        at = find_values(at, r->key);
        for (unsigned i = 0; i < r->count; i++) {
            at = read_number(at, " ", &number);
            values_of(c, r)[i] = (double)number / r->scale;
        }
        at = find_values(at, "\n");
    }
}

/* Accepts a text if the calibration read from the text is valid, and if writing that calibration
 * gives the same text, including the checksum. */
gfk_status gfk_calibration_parse(gfk_calibration *calibration, const char *text, size_t length) {
    char copy[MOST_BYTES + 1];
    gfk_calibration c = {.threads = 0};
    if (length > MOST_BYTES)
        return GFK_STATUS_CORRUPT;
    memcpy(copy, text, length);
    copy[length] = 0;
    read_text(&c, copy);
    if (!can_be_written(&c) || write_text(&c, copy) != length || memcmp(text, copy, length) != 0)
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
    return failed ? GFK_STATUS_IO : gfk_calibration_parse(calibration, text, length);
}
