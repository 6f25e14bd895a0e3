/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer: set_open on a volume. The input is a slice size, a number of files and a list of packets,
 * whose ids and MD5s are made right here, so that the contents of packets are looked at. A set that is
 * accepted keeps what set.h promises. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../tools/gfk/report.h"
#include "../../tools/par2/par2.h"
#include "../../tools/par2/reader.h"
#include "../../tools/par2/set.h"

enum { BEGIN = 9, RECORD = 4, MOST_FILES = 8, MAIN_BYTES = 12 + MOST_FILES * MD5_BYTES };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the tool says and does elsewhere. */
int fail(int code, const char *format, ...) {
    (void)format;
    return code;
}
int fail_for(int error, const char *what, const char *path) {
    (void)error, (void)what, (void)path;
    return TOOL_IO;
}
void warn(const char *format, ...) {
    (void)format;
}
void warn_once(const char *format, ...) {
    (void)format;
}
int no_memory(void) {
    return TOOL_INTERNAL;
}
double seconds_now(void) {
    return 0;
}
void progress_clear(void) {}
int par2_code(int tool_code) {
    return tool_code == 0 ? 0 : PAR2_IO;
}
int par2_no_memory(void) {
    return PAR2_MEMORY;
}
int parallel_for(unsigned threads, size_t count, int (*work)(void *context, size_t i),
                 void *context) {
    (void)threads;
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        code = work(context, i);
    return code;
}

typedef struct volume {
    uint8_t *bytes;
    size_t count;
    uint8_t set_id[MD5_BYTES];
} volume;

/* Adds a packet whose body is an id and then `body`; some have another length in their header. */
static void add(volume *v, packet_type type, const uint8_t *id, const uint8_t *body, size_t bytes,
                uint8_t lie) {
    uint8_t *const header = v->bytes + v->count;
    const size_t of_id = id == NULL ? 0 : MD5_BYTES;
    memcpy(header + PACKET_HEADER_BYTES + of_id, body, bytes);
    if (id != NULL)
        memcpy(header + PACKET_HEADER_BYTES, id, MD5_BYTES);
    packet_complete(header, type, v->set_id, of_id + bytes);
    header[8 + lie % 8] ^= lie < 128 ? 0 : lie;
    v->count += PACKET_HEADER_BYTES + of_id + bytes;
}

static void build(volume *v, const uint8_t *data, size_t size) {
    uint8_t ids[MOST_FILES][MD5_BYTES] = {{0}}, body[MAIN_BYTES] = {0};
    for (int pass = 0; pass < 2; pass++) {
        size_t files = 0;
        for (size_t at = BEGIN, bytes; at + RECORD <= size; at += RECORD + bytes) {
            const uint8_t *const from = data + at + RECORD, lie = data[at + 1];
            bytes = data[at + 2] | (size_t)data[at + 3] << 8;
            bytes = bytes < size - at - RECORD ? bytes : size - at - RECORD;
            const packet_type type = (packet_type)(1 + data[at] % (PACKET_TYPES - 1));
            uint8_t *id = NULL;
            if (type == PACKET_FILE)
                id = ids[files++ % MOST_FILES];
            else if (type == PACKET_CHECKSUMS)
                id = ids[lie % MOST_FILES];
            if (pass == 1)
                add(v, type, id, from, bytes, lie);
            else if (type == PACKET_FILE && bytes > MD5_BYTES)
                md5_of(from + MD5_BYTES, bytes - MD5_BYTES, id);
        }
        memcpy(body, data, BEGIN);
        memcpy(body + 12, ids, sizeof ids);
        md5_of(body, sizeof body, v->set_id);
        if (pass == 0)
            add(v, PACKET_MAIN, NULL, body, sizeof body, 0);
    }
}

static void check(const par2_set *set) {
    size_t slices = 0, sum = 0;
    for (size_t i = 0; i < set->file_count; i++) {
        const set_file *const f = &set->files[i];
        if ((f->first != slices && f->slices != 0) ||
            (f->name != NULL && !set_name_is_safe(f->name, strlen(f->name))))
            abort();
        slices += f->slices;
        for (size_t k = 0; k < f->slices && f->checksums != NULL; k++)
            sum += f->checksums[k].crc; /* all of them can be read */
    }
    for (size_t i = 1; i < set->recovery_count; i++)
        if (set->recovery[i - 1].exponent >= set->recovery[i].exponent)
            abort();
    if (slices != set->slices || slices > PAR2_MOST_SLICES || set->slice_bytes % 4 != 0 ||
        set->slice_bytes == 0 || set->protected > set->file_count || sum == SIZE_MAX)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char path[64];
    char in[] = "/dev/shm/gfk_fuzz_XXXXXX";
    if (size < BEGIN)
        return 0;
    if (path[0] == 0)
        (void)snprintf(path, sizeof path, "%s/set.par2", mkdtemp(in) == NULL ? "." : in);
    volume v = {.bytes = malloc(64 * size + 4096)};
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    build(&v, data, size);
    if (fd < 0 || write(fd, v.bytes, v.count) != (ssize_t)v.count)
        abort();
    close(fd);
    par2_set set;
    if (set_open(&set, path, NULL, 0, 1) == 0)
        check(&set);
    set_close(&set);
    free(v.bytes);
    return 0;
}
