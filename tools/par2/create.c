/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk par2 create. The order of the work: the files and the shape of the set (create_plan), the
 * volumes under temporary names, passes of reading, products and writing, in the last one also the
 * packets that describe the set, and at last the volumes' names. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../gfk/files.h"
#include "../gfk/report.h"
#include "md5_many.h"
#include "packet.h"
#include "par2.h"
#include "place.h"
#include "plan.h"
#include "reader.h"
#include "set.h"

enum { RECOVERY_HEADER_BYTES = PACKET_HEADER_BYTES + PACKET_RECOVERY_BYTES };

static const char creator[] = "Created by gfk par2"; /* with its zero a multiple of 4 bytes */

typedef struct creation {
    const par2_options *options;
    const create_plan *plan;
    place *p;
    place_layout layout;
    temp_file *temps; /* one for each volume */
    file_place *places;
    uint8_t **maps;    /* volumes in memory, or NULL */
    size_t opened;     /* volumes that have a place */
    bool reserved;     /* their blocks */
    int reserve_error; /* of the system, for reserve_volume */
    size_t reserve_volume;
    uint8_t *critical; /* the packets that describe the set, without that of the creator */
    size_t critical_bytes;
    reader_slice *slices;
    reader_hashes *hashes;
    set_checksum *checksums;
    md5_stream *streams; /* of the recovery packets */
    pthread_t hasher;    /* where the files are not hashed by the passes */
    bool hashing;
    int hash_code;
    size_t pass;
    uint64_t width;                            /* of the pass */
    bool unread;                               /* a file could not be read */
    double reading, products, writing, naming; /* seconds */
} creation;

/* ---- where the packets are ------------------------------------------------------------------ */

static size_t critical_bytes(const create_plan *plan) {
    size_t bytes = PACKET_HEADER_BYTES + 12 + plan->file_count * MD5_BYTES;
    for (size_t i = 0; i < plan->file_count; i++) {
        bytes +=
            PACKET_HEADER_BYTES + 3 * MD5_BYTES + 8 + (strlen(plan->files[i].name) + 3) / 4 * 4;
        bytes += PACKET_HEADER_BYTES + MD5_BYTES + plan->files[i].slices * (MD5_BYTES + 4);
    }
    return bytes;
}

/* The packets that describe the set are as many times in a volume as the number of its recovery
 * slices has bits, and once more, as the specification recommends. */
static size_t copies_of(const plan_volume *v) {
    size_t copies = 1;
    while (v->count >> copies != 0)
        copies++;
    return copies;
}

/* Each copy is ahead of a group of slices; the groups have about the same size. */
static size_t group_begin(const plan_volume *v, size_t group) {
    return v->count * group / copies_of(v);
}

static uint64_t packet_bytes(const creation *c) {
    return RECOVERY_HEADER_BYTES + c->plan->slice_bytes;
}

static uint64_t critical_offset(const creation *c, const plan_volume *v, size_t group) {
    return group * c->critical_bytes + group_begin(v, group) * packet_bytes(c);
}

/* The offset of the packet of a slice, by the slice's number in the volume. */
static uint64_t recovery_offset(const creation *c, const plan_volume *v, size_t slice) {
    size_t group = 0;
    while (group + 1 < copies_of(v) && group_begin(v, group + 1) <= slice)
        group++;
    return (group + 1) * c->critical_bytes + slice * packet_bytes(c);
}

static uint64_t volume_bytes(const creation *c, const plan_volume *v) {
    return copies_of(v) * c->critical_bytes + v->count * packet_bytes(c) + PACKET_HEADER_BYTES +
           sizeof creator;
}

/* ---- volumes -------------------------------------------------------------------------------- */

static int check_absent(const file_place *to) {
    struct stat status;
    const int error = place_look(to, &status);
    if (error == ENOENT)
        return 0;
    return error == 0 || error == ELOOP
               ? fail(PAR2_IO, "%s exists; create replaces no file", to->path)
               : par2_code(fail_for(error, "create", to->path));
}

/* Removes what killed runs have left of volumes of a set with this name. */
static void remove_remains(folder *in, const char *index) {
    folder_entries list;
    const size_t base = strlen(index) - strlen("par2"); /* with the point */
    const int error = folder_read(in, &list);
    for (size_t i = 0; i < list.count && error == 0; i++) {
        const char *const name = list.entries[i].name;
        const size_t length = temp_name_length(name);
        if (length >= base && memcmp(name + 1, index, base) == 0)
            temp_remove(in, name);
    }
    folder_entries_free(&list);
}

static int open_volumes(creation *c) {
    const create_plan *const plan = c->plan;
    const size_t count = plan->volume_count;
    folder *in = NULL;
    const int error = folder_of(&in, plan->volumes[0].path);
    if (error != 0)
        return par2_code(fail_for(error, "create", plan->volumes[0].path));
    c->temps = calloc(count, sizeof *c->temps);
    c->places = calloc(count, sizeof *c->places);
    c->maps = calloc(count, sizeof *c->maps);
    if (c->temps == NULL || c->places == NULL || c->maps == NULL)
        return par2_no_memory();
    int code = allow_open_files(count) < count ? par2_code(fail_for_open_files()) : 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        c->places[i] = (file_place){in, plan->volumes[i].path};
        code = check_absent(&c->places[i]);
    }
    if (code == 0)
        remove_remains(in, path_name(plan->volumes[0].path));
    while (c->opened < count && code == 0) {
        const size_t i = c->opened++;
        c->temps[i] = (temp_file)TEMP_FILE_NONE;
        code = par2_code(temp_create(&c->temps[i], &c->places[i]));
    }
    return code;
}

/* Does the disk have room for all volumes? Where the system does not know, writing will tell. */
static int check_room(const creation *c) {
    struct statvfs disk;
    uint64_t bytes = 0;
    for (size_t i = 0; i < c->opened; i++)
        bytes += volume_bytes(c, &c->plan->volumes[i]);
    return fstatvfs(c->temps[0].fd, &disk) != 0 || disk.f_blocks == 0 ||
                   bytes / disk.f_frsize <= disk.f_bavail
               ? 0
               : par2_code(fail_for(ENOSPC, "write", c->places[0].path));
}

/* A volume on tmpfs that has its memory is mapped if it is not small: by system calls one thread at a
 * time writes to a file, which is slower than several threads are. A disk is slower than one thread.
 * The map is of a descriptor without the lock of a temporary file: the system may keep a map for a moment after the
 * process was killed, and the next run removes only files that nobody locks. */
static void map_volume(creation *c, size_t i, uint64_t bytes) {
    enum { SMALL = 32 << 10 };
    const temp_file *const temp = &c->temps[i];
    struct statfs system;
    if (bytes <= SMALL || fstatfs(temp->fd, &system) != 0 || system.f_type != TMPFS_MAGIC)
        return;
    const int fd = folder_open_file(temp->in, temp->name, O_RDWR | O_NOFOLLOW, 0);
    struct stat ours, named; /* somebody may have put another file there */
    void *map = MAP_FAILED;
    if (fd >= 0 && fstat(temp->fd, &ours) == 0 && fstat(fd, &named) == 0 &&
        ours.st_dev == named.st_dev && ours.st_ino == named.st_ino)
        map = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    c->maps[i] = map == MAP_FAILED ? NULL : map;
    if (fd >= 0)
        close(fd);
}

/* Gets the pages of the maps as long as there is time: writing finds them then. */
static void touch_maps(creation *c, const atomic_bool *ended) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = c->opened; i-- != 0;) {
        const uint64_t bytes = c->maps[i] == NULL ? 0 : volume_bytes(c, &c->plan->volumes[i]);
        for (uint64_t at = 0; at < bytes && !*ended; at += page)
            *(volatile uint8_t *)(c->maps[i] + at) = 0;
    }
}

/* Gives the volumes their blocks on the disk, the largest volume first, while the files are read: then writing
 * takes less time, and a full disk is known before. */
static void reserve(void *context, const atomic_bool *ended) {
    creation *const c = context;
    if (c->reserved)
        return;
    c->reserved = true;
    for (size_t i = c->opened; i-- != 0 && c->reserve_error == 0;) {
        const uint64_t bytes = volume_bytes(c, &c->plan->volumes[i]);
        if (fallocate(c->temps[i].fd, 0, 0, (off_t)bytes) == 0) {
            map_volume(c, i, bytes);
        } else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) {
            c->reserve_error = errno;
            c->reserve_volume = i;
        }
    }
    touch_maps(c, ended);
}

static int check_reserved(const creation *c) {
    return c->reserve_error == 0
               ? 0
               : par2_code(fail_for(c->reserve_error, "write", c->places[c->reserve_volume].path));
}

static int write_at(const creation *c, size_t volume, const void *memory, size_t bytes,
                    uint64_t offset) {
    struct iovec buffer = {(void *)memory, bytes};
    if (c->maps[volume] != NULL) {
        memcpy(c->maps[volume] + offset, memory, bytes);
        return 0;
    }
    return write_buffers(c->temps[volume].fd, &buffer, 1, offset)
               ? 0
               : par2_code(fail_for(errno, "write", c->places[volume].path));
}

/* ---- the packets that describe the set ------------------------------------------------------ */

/* Completes a packet and returns the address of the next one. */
static uint8_t *end_packet(const create_plan *plan, uint8_t *at, packet_type type,
                           size_t body_bytes) {
    packet_complete(at, type, plan->set_id, body_bytes);
    return at + PACKET_HEADER_BYTES + body_bytes;
}

static uint8_t *put_file(const create_plan *plan, const plan_file *f, const reader_hashes *h,
                         uint8_t *at) {
    const size_t length = strlen(f->name);
    uint8_t *body = at + PACKET_HEADER_BYTES;
    memcpy(body, f->id, MD5_BYTES);
    memcpy(body + MD5_BYTES, h->md5, MD5_BYTES);
    memcpy(body + 2 * MD5_BYTES, f->md5_head, MD5_BYTES);
    put_64(body + 3 * MD5_BYTES, f->bytes);
    memcpy(body + 3 * MD5_BYTES + 8, f->name, length);
    at = end_packet(plan, at, PACKET_FILE, 3 * MD5_BYTES + 8 + (length + 3) / 4 * 4);
    body = at + PACKET_HEADER_BYTES;
    memcpy(body, f->id, MD5_BYTES);
    body += MD5_BYTES;
    for (size_t s = 0; s < f->slices; s++, body += MD5_BYTES + 4) {
        memcpy(body, h->checksums[s].md5, MD5_BYTES);
        put_32(body + MD5_BYTES, h->checksums[s].crc);
    }
    return end_packet(plan, at, PACKET_CHECKSUMS, MD5_BYTES + f->slices * (MD5_BYTES + 4));
}

/* Makes the packets, after all files have been hashed. */
static int make_critical(creation *c) {
    const create_plan *const plan = c->plan;
    if (c->critical == NULL) /* else a GPU has failed */
        c->critical = calloc(1, c->critical_bytes);
    if (c->critical == NULL)
        return par2_no_memory();
    memcpy(c->critical + PACKET_HEADER_BYTES, plan->main, plan->main_bytes);
    uint8_t *at = end_packet(plan, c->critical, PACKET_MAIN, plan->main_bytes);
    for (size_t i = 0; i < plan->file_count; i++)
        at = put_file(plan, &plan->files[i], &c->hashes[i], at);
    return 0;
}

/* Writes the packets that describe the set into a volume. */
static int describe_volume(void *context, size_t i) {
    creation *const c = context;
    const plan_volume *const v = &c->plan->volumes[i];
    uint8_t last[PACKET_HEADER_BYTES + sizeof creator];
    int code = 0;
    for (size_t group = 0; group < copies_of(v) && code == 0; group++)
        code = write_at(c, i, c->critical, c->critical_bytes, critical_offset(c, v, group));
    memcpy(last + PACKET_HEADER_BYTES, creator, sizeof creator);
    packet_complete(last, PACKET_CREATOR, c->plan->set_id, sizeof creator);
    return code == 0 ? write_at(c, i, last, sizeof last, volume_bytes(c, v) - sizeof last) : code;
}

/* Waits for the thread that hashes the files, if there is one. */
static int end_hashing(creation *c) {
    if (c->hashing)
        pthread_join(c->hasher, NULL);
    c->hashing = false;
    return c->hash_code;
}

/* Writes all but the recovery slices, after all files have been read and hashed. */
static int describe(creation *c) {
    int code = end_hashing(c);
    if (code == 0)
        code = check_reserved(c);
    if (code == 0)
        code = make_critical(c);
    return code == 0 ? parallel_for(c->options->coder.threads, c->opened, describe_volume, c)
                     : code;
}

/* Brings a volume to the disk. */
static int sync_volume(void *context, size_t i) {
    creation *const c = context;
    return par2_code(temp_sync(&c->temps[i], &c->places[i], c->plan->mode));
}

/* Gives all volumes their names, the index last: where it is, all are. */
static int name_volumes(creation *c) {
    folder_locks lock = {0};
    int code = par2_code(folders_lock(&lock, &c->places[0].in, 1, true));
    for (size_t i = 0; i < c->opened && code == 0; i++)
        code = check_absent(&c->places[i]);
    if (code == 0)
        code = par2_code(temp_commit(c->temps + 1, c->opened - 1, c->places + 1, &lock));
    if (code == 0)
        code = par2_code(temp_commit(c->temps, 1, c->places, &lock));
    folders_unlock(&lock);
    return code;
}

/* ---- recovery slices ------------------------------------------------------------------------ */

static size_t volume_of(const create_plan *plan, size_t row) {
    size_t low = 1, high = plan->volume_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (plan->volumes[middle].first <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Begins the MD5 of a row's packet, whose prefix is ahead of the recovery slice. */
static void begin_hash(const creation *c, size_t row) {
    uint8_t prefix[PACKET_PREFIX_BYTES + PACKET_RECOVERY_BYTES];
    packet_prefix(prefix, PACKET_RECOVERY, c->plan->set_id);
    put_32(prefix + PACKET_PREFIX_BYTES, c->plan->first + (uint32_t)row);
    md5_begin(&c->streams[row]);
    md5_add(&c->streams[row], prefix, sizeof prefix);
}

/* Where the packet of a row is. */
typedef struct packet_place {
    size_t volume;
    uint64_t offset;
} packet_place;

static packet_place packet_of(const creation *c, size_t row) {
    const size_t volume = volume_of(c->plan, row);
    const plan_volume *const v = &c->plan->volumes[volume];
    return (packet_place){volume, recovery_offset(c, v, row - v->first)};
}

/* Completes the packet of a row. */
static int write_header(const creation *c, size_t row, packet_place to) {
    uint8_t header[RECOVERY_HEADER_BYTES], hash[MD5_BYTES];
    md5_end(&c->streams[row], hash);
    packet_header(header, PACKET_RECOVERY, c->plan->set_id,
                  PACKET_RECOVERY_BYTES + c->plan->slice_bytes, hash);
    put_32(header + PACKET_HEADER_BYTES, c->plan->first + (uint32_t)row);
    return write_at(c, to.volume, header, sizeof header, to.offset);
}

/* Hashes and writes the stripes of at most MD5_MANY rows, by parts that stay in a core's cache in between; with the
 * last stripe the packets are complete. */
static int write_stripes(const creation *c, size_t first, size_t count, const uint8_t *stripes,
                         size_t stride) {
    enum { PART_BYTES = 64 << 10 };
    const uint64_t offset = RECOVERY_HEADER_BYTES + c->pass * c->layout.width;
    packet_place to[MD5_MANY];
    int code = 0;
    for (size_t i = 0; i < count; i++) {
        to[i] = packet_of(c, first + i);
        if (c->pass == 0)
            begin_hash(c, first + i);
    }
    for (uint64_t at = 0; at < c->width && code == 0; at += PART_BYTES) {
        const size_t bytes = (size_t)(c->width - at < PART_BYTES ? c->width - at : PART_BYTES);
        md5_add_many(&c->streams[first], stripes + at, stride, count, bytes);
        for (size_t i = 0; i < count && code == 0; i++)
            code = write_at(c, to[i].volume, stripes + i * stride + at, bytes,
                            to[i].offset + offset + at);
    }
    for (size_t i = 0; i < count && code == 0 && c->pass + 1 == c->layout.passes; i++)
        code = write_header(c, first + i, to[i]);
    return code;
}

/* Rows that a thread takes at once, at most a buffer's columns, so that all threads have the same work. */
static size_t part_rows(const creation *c) {
    const size_t threads = reader_threads(c->options->coder.threads), rows = c->plan->recovery;
    const size_t turns = (rows + threads * c->layout.columns - 1) / (threads * c->layout.columns);
    return (rows + threads * turns - 1) / (threads * turns);
}

static size_t part_count(const creation *c) {
    return (c->plan->recovery + part_rows(c) - 1) / part_rows(c);
}

/* Hashes and writes the rows that one buffer takes. The last volume has about half of the slices, and
 * systems let one thread at a time write to a file: parts of the two halves alternate. */
static int write_rows(void *context, size_t turn) {
    const creation *const c = context;
    const size_t half = (part_count(c) + 1) / 2;
    const size_t part = turn / 2 + (turn % 2 == 0 ? 0 : half);
    const size_t rows = part_rows(c), first = part * rows, left = c->plan->recovery - first;
    const size_t count = left < rows ? left : rows;
    place_buffer *const b = place_take(c->p, true);
    int code = b == NULL ? place_finish(c->p) : place_read(c->p, b, first, count);
    for (size_t i = 0; i < count && code == 0; i += MD5_MANY)
        code = write_stripes(c, first + i, count - i < MD5_MANY ? count - i : MD5_MANY,
                             b->memory + i * b->stride, b->stride);
    if (b != NULL)
        place_give(c->p, b, 0);
    return code;
}

/* ---- passes --------------------------------------------------------------------------------- */

static int open_file(void *context, uint32_t file) {
    return plan_open(((const creation *)context)->plan, file);
}

static const char *path_of(void *context, uint32_t file) {
    return ((const creation *)context)->plan->files[file].name;
}

/* Lists the slices of all files, which are numbered in this order. */
static int list_slices(creation *c) {
    const create_plan *const plan = c->plan;
    uint32_t *const constants = calloc(plan->slices, sizeof *constants);
    c->slices = calloc(plan->slices, sizeof *c->slices);
    c->hashes = calloc(plan->file_count, sizeof *c->hashes);
    c->checksums = calloc(plan->slices, sizeof *c->checksums);
    c->streams = calloc(plan->recovery + 1, sizeof *c->streams);
    if (constants == NULL || c->slices == NULL || c->hashes == NULL || c->checksums == NULL ||
        c->streams == NULL) {
        free(constants);
        return par2_no_memory();
    }
    place_constants(constants, plan->slices);
    size_t slice = 0;
    for (size_t i = 0; i < plan->file_count; i++) {
        const plan_file *const f = &plan->files[i];
        c->hashes[i].checksums = c->checksums + slice;
        for (size_t s = 0; s < f->slices; s++, slice++) {
            const uint64_t offset = s * plan->slice_bytes, left = f->bytes - offset;
            c->slices[slice] = (reader_slice){(uint32_t)i, constants[slice], offset,
                                              left < plan->slice_bytes ? left : plan->slice_bytes};
        }
    }
    free(constants);
    return 0;
}

static reader_job job_of(creation *c, bool hashes) {
    return (reader_job){.open = open_file,
                        .path = path_of,
                        .context = c,
                        .file_count = c->plan->file_count,
                        .slices = c->slices,
                        .slice_count = c->plan->slices,
                        .slice_bytes = c->plan->slice_bytes,
                        .threads = c->options->coder.threads,
                        .hashes = hashes ? c->hashes : NULL,
                        .first = reserve};
}

/* Reads and hashes all files, without products; next to products with a part of the memory. */
static int hash_files(creation *c) {
    enum { LEAST_MEMORY = 4 << 20 };
    const uint64_t memory = c->options->coder.memory / (c->p == NULL ? 1 : 8);
    place *p = NULL;
    place_layout layout;
    int code =
        place_open_idle(&p, &c->options->coder, memory < LEAST_MEMORY ? LEAST_MEMORY : memory);
    if (code == 0)
        code = place_shape(p, NULL, 0, c->plan->slices, c->plan->slice_bytes, &layout);
    if (code == 0) {
        reader_job job = job_of(c, true);
        job.silent = c->p != NULL;
        job.first = c->p == NULL ? reserve : NULL;
        code = reader_run(&job, p, &layout, 0, layout.width);
        if (code == 0)
            code = place_finish(p);
    }
    place_close(p);
    return code;
}

static void *hash_thread(void *context) {
    creation *const c = context;
    c->hash_code = hash_files(c);
    return NULL;
}

/* One pass: reading, products, and the stripes of the recovery slices. */
static int run_pass(creation *c) {
    const create_plan *const plan = c->plan;
    const uint64_t offset = c->pass * c->layout.width, left = plan->slice_bytes - offset;
    const double begin = seconds_now();
    const reader_job job = job_of(c, c->layout.passes == 1);
    c->width = left < c->layout.width ? left : c->layout.width;
    int code = place_begin(c->p, c->width);
    if (code == 0) {
        code = reader_run(&job, c->p, &c->layout, offset, c->width);
        c->unread = code != 0;
    }
    const double read = seconds_now();
    const int finished = place_finish(c->p);
    if (code == 0)
        code = finished;
    const double computed = seconds_now();
    if (code == 0)
        code = c->pass + 1 == c->layout.passes ? describe(c) : check_reserved(c);
    if (code == 0)
        code = parallel_for(c->layout.row_threads, part_count(c), write_rows, c);
    c->reading += read - begin;
    c->products += computed - read;
    c->writing += seconds_now() - computed;
    return code;
}

/* Waits until all rows are complete: the last one is complete last. */
static int wait_for_rows(creation *c) {
    place_buffer *const b = place_take(c->p, true);
    const int code = b == NULL ? place_finish(c->p) : place_read(c->p, b, c->plan->recovery - 1, 1);
    if (b != NULL)
        place_give(c->p, b, 0);
    return code;
}

/* Two passes, of which the first one fills the buffers and the second one does not read: the time of the
 * products alone, of the contents that they have. */
static int run_products(creation *c) {
    int code = 0;
    for (int reads = 1; reads >= 0 && code == 0; reads--) {
        reader_job job = job_of(c, false);
        if (!reads)
            job.open = NULL;
        const double begin = seconds_now();
        code = place_begin(c->p, c->layout.width);
        if (code == 0) {
            code = reader_run(&job, c->p, &c->layout, 0, c->layout.width);
            c->unread = code != 0;
        }
        const int finished = place_finish(c->p);
        code = code == 0 ? finished : code;
        if (code == 0)
            code = wait_for_rows(c);
        c->products = seconds_now() - begin;
    }
    c->products *= (double)c->plan->slice_bytes / (double)c->layout.width;
    return code;
}

/* Where a stripe is less than a slice, one thread reads and hashes whole files in the meantime. */
static int run_passes(creation *c) {
    int code = 0;
    c->hash_code = 0;
    if (c->layout.passes > 1) {
        c->hashing = pthread_create(&c->hasher, NULL, hash_thread, c) == 0;
        code = c->hashing ? 0 : par2_no_memory();
    }
    for (c->pass = 0; c->pass < c->layout.passes && code == 0; c->pass++)
        code = run_pass(c);
    (void)end_hashing(c); /* after an error; else describe has done so */
    return code;
}

static int compute_at(creation *c, const coder_options *where, const uint32_t *exponents,
                      bool later) {
    const create_plan *const plan = c->plan;
    place_close(c->p);
    progress_begin("create", plan->bytes);
    int code = place_open(&c->p, where, (double)plan->bytes * (double)plan->recovery, later);
    if (code == 0)
        code = place_shape(c->p, exponents, plan->recovery, plan->slices, plan->slice_bytes,
                           &c->layout);
    if (code != 0)
        return code;
    if (later && c->layout.passes > 1) /* the files are not hashed twice for want of a GPU */
        return compute_at(c, where, exponents, false);
    return c->options->products_only ? run_products(c) : run_passes(c);
}

static int compute(creation *c) {
    const create_plan *const plan = c->plan;
    if (plan->recovery == 0 || c->options->hash_only) {
        const double begin = seconds_now();
        progress_begin("create", plan->bytes);
        const int code = hash_files(c);
        c->reading = seconds_now() - begin;
        return code == 0 ? describe(c) : code;
    }
    uint32_t *const exponents = calloc(plan->recovery, sizeof *exponents);
    if (exponents == NULL)
        return par2_no_memory();
    for (size_t i = 0; i < plan->recovery; i++)
        exponents[i] = plan->first + (uint32_t)i;
    coder_options where = c->options->coder;
    int code = compute_at(c, &where, exponents, true);
    if (code != 0 && !c->unread && place_unopened(c->p))
        code = compute_at(c, &where, exponents, false);
    if (code != 0 && !c->unread && place_can_retry(c->p)) {
        warn("the CPU computes everything again");
        where.backend = BACKEND_HOST;
        code = compute_at(c, &where, exponents, false);
    }
    free(exponents);
    return code;
}

/* ---- the command ---------------------------------------------------------------------------- */

static int make_set(creation *c) {
    const create_plan *const plan = c->plan;
    c->critical_bytes = critical_bytes(plan);
    int code = list_slices(c);
    const bool writes = !c->options->hash_only && !c->options->products_only;
    if (code == 0 && writes)
        code = open_volumes(c);
    if (code == 0 && writes)
        code = check_room(c);
    if (code == 0)
        code = compute(c);
    progress_end();
    if (code != 0 || !writes)
        return code;
    const double begin = seconds_now();
    code = parallel_for(c->options->coder.threads, c->opened, sync_volume, c);
    if (code == 0)
        code = name_volumes(c);
    c->naming = seconds_now() - begin;
    return code;
}

static void print_times(creation *c, double whole) {
    const par2_options *const options = c->options;
    place_times times = {0};
    if (c->p != NULL)
        place_get_times(c->p, &times);
    par2_time(options, "start", times.start);
    par2_time(options, "reading", c->reading);
    par2_time(options, "products", c->products);
    par2_time(options, "writing", c->writing);
    par2_time(options, "naming", c->naming);
    par2_time(options, "whole", whole);
    par2_count(options, "slices", c->plan->slices);
    par2_count(options, "recovery", c->plan->recovery);
    par2_count(options, "passes", c->layout.passes);
    par2_count(options, "multiply_adds", (uint64_t)times.multiply_adds);
}

int par2_create(const par2_options *options) {
    const double begin = seconds_now();
    create_plan plan;
    creation c = {.options = options, .plan = &plan};
    signals_begin();
    int code = plan_make(&plan, options);
    if (code == 0) {
        say("%zu file%s, %zu slice%s of %llu bytes, %zu recovery slice%s", plan.file_count,
            plural(plan.file_count), plan.slices, plural(plan.slices),
            (unsigned long long)plan.slice_bytes, plan.recovery, plural(plan.recovery));
        code = make_set(&c);
    }
    if (code == 0 && c.opened != 0)
        say("wrote %s and %zu volume%s%s%s", plan.volumes[0].path, plan.volume_count - 1,
            plural(plan.volume_count - 1), c.p == NULL ? "" : ", computed on the ",
            c.p == NULL ? "" : place_name(c.p));
    if (code == 0)
        print_times(&c, seconds_now() - begin);
    for (size_t i = 0; i < c.opened; i++)
        temp_discard(&c.temps[i]);
    place_leave(c.p);
    free(c.temps);
    free(c.places);
    free(c.maps);
    free(c.critical);
    free(c.slices);
    free(c.hashes);
    free(c.checksums);
    free(c.streams);
    plan_free(&plan);
    return code;
}
