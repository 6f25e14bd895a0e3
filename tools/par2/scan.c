/* SPDX-License-Identifier: BSD-3-Clause */
#include "scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../gfk/files.h"
#include "../gfk/report.h"
#include "md5_many.h"
#include "par2.h"
#include "reader.h"
#include "slide.h"

enum {
    PIECE_BYTES = 256 << 10, /* bytes that are read at once, unless md5_many hashes slices */
    GROUP_BYTES = 32 << 20,  /* of the slices that md5_many hashes, at most */
    LEAST_GROUP = 4,         /* slices that are worth md5_many */
    TASK_BYTES = 4 << 20     /* bytes of the slices of one task, at least */
};

/* Slices of a source that are hashed where a file of the set has them. */
typedef struct job {
    uint32_t source;
    size_t file;         /* the number of the file */
    bool whole;          /* one hash, of the whole file: see is_whole */
    size_t first, count; /* hashes in scanner.hashes */
    atomic_bool wrong;   /* the last slice that was read is not the file's */
} job;

typedef struct slice_hash {
    uint8_t md5[MD5_BYTES];
    bool valid;   /* at least one byte was there, and could be read */
    bool matches; /* the hash is that of a slice of the set, or of the whole file */
} slice_hash;

/* A part of a job. */
typedef struct task {
    size_t job, first, count;
} task;

/* Buffers for tasks: as many as there are threads, each for a group of slices. */
typedef struct buffers {
    pthread_mutex_t mutex;
    uint8_t **free;
    size_t count, room;
    size_t slices; /* of a group; 0: slices are hashed one by one */
    size_t stride; /* from one slice of a group to the next */
    size_t bytes;
} buffers;

typedef struct scanner {
    scan *s;
    buffers buffers;
    const par2_set *set;
    const scan_options *options;
    void *known;      /* the sources by device and inode, a tree of tsearch */
    uint32_t *by_md5; /* the numbers of the slices that have checksums, by MD5 */
    size_t by_md5_count;
    size_t *file_of; /* the numbers of the slices' files */
    job *jobs;
    size_t job_count;
    slice_hash *hashes;
    size_t hash_count;
    task *tasks;
    size_t task_count;
    size_t *wanted; /* files that are not intact, by length and MD5 of the head */
    size_t wanted_count;
} scanner;

/* ---- files ---------------------------------------------------------------------------------- */

/* The folders of tools/gfk are for one thread at a time. */
static pthread_mutex_t folder_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t report_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Opens a regular file: a pipe is not waited for, and a link not followed. EINVAL: a folder, a device
 * or another such thing. */
static int open_regular(folder *in, const char *name, struct stat *status) {
    pthread_mutex_lock(&folder_mutex);
    int fd = folder_open_file(in, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    pthread_mutex_unlock(&folder_mutex);
    const int error = fd < 0 || fstat(fd, status) != 0 ? errno
                      : S_ISREG(status->st_mode)       ? 0
                                                       : EINVAL;
    if (fd >= 0 && error != 0) {
        close(fd);
        fd = -1;
    }
    errno = error;
    return fd;
}

int scan_open(const scan_source *source) {
    struct stat status;
    int fd = open_regular(source->in, path_name(source->path), &status);
    if (fd >= 0 && (status.st_dev != source->device || status.st_ino != source->inode)) {
        close(fd);
        fd = -1;
        errno = ESTALE;
    }
    return fd;
}

void scan_complain(scan_source *source, int error) {
    pthread_mutex_lock(&report_mutex);
    const bool first = source->complaint == 0;
    source->complaint = error == 0 ? EIO : (uint32_t)error;
    pthread_mutex_unlock(&report_mutex);
    if (first && error != 0)
        warn("cannot read %s: %s", source->path, strerror(error));
    else if (first)
        warn("%s became shorter while gfk read it", source->path);
}

void scan_progress(uint64_t bytes) {
    pthread_mutex_lock(&report_mutex);
    progress_add(bytes);
    pthread_mutex_unlock(&report_mutex);
}

static int by_identity(const void *a, const void *b) {
    const scan_source *const x = a, *const y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

static void free_source(scan_source *source) {
    if (source != NULL)
        free(source->path);
    free(source);
}

/* Adds the file with a name in a folder, unless it is there already. Returns 0 and *number; an error
 * of the system if it cannot be opened. Takes the path, which is NULL if there is no memory. */
static int add_source(scanner *r, folder *in, char *path, uint32_t *number) {
    struct stat status;
    scan_source *const made = calloc(1, sizeof *made);
    const int fd = path == NULL || made == NULL ? -1 : open_regular(in, path_name(path), &status);
    int error = path == NULL || made == NULL ? ENOMEM : fd < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    scan *const s = r->s;
    if (error == 0 && !array_grow(&s->sources, s->source_count, sizeof *s->sources))
        error = ENOMEM;
    if (made == NULL) {
        free(path);
        return error;
    }
    made->path = path;
    if (error == 0) {
        made->in = in;
        made->device = status.st_dev;
        made->inode = status.st_ino;
        made->bytes = (uint64_t)status.st_size;
        made->number = (uint32_t)s->source_count;
        scan_source **const node = tsearch(made, &r->known, by_identity);
        if (node != NULL && *node == made) {
            *number = made->number;
            s->sources[s->source_count++] = made;
            return 0;
        }
        error = node == NULL ? ENOMEM : 0;
        *number = node == NULL ? SCAN_NOWHERE : (*node)->number;
    }
    free_source(made);
    return error;
}

/* Opens the folder of a file of the set. *name is the name in the folder. */
static int enter_folder(folder **in, folder *base, const char *names, const char **name) {
    *name = path_name(names);
    if (*name == names) {
        *in = base;
        return 0;
    }
    char *const above = path_folder(names);
    const int error = above == NULL ? ENOMEM : folder_enter(in, base, above);
    free(above);
    return error;
}

static int look_at_target(scanner *r, size_t file) {
    scan_target *const t = &r->s->targets[file];
    const char *const names = r->set->files[file].name, *name;
    folder *in;
    *t = (scan_target){.state = SCAN_MISSING, .source = SCAN_NOWHERE};
    if (names == NULL)
        return 0;
    int error = enter_folder(&in, r->options->base, names, &name);
    if (error == 0)
        error = add_source(r, in, path_join(folder_path(in), name), &t->source);
    if (error == ENOMEM)
        return par2_no_memory();
    t->obstacle = error != 0 && error != ENOENT;
    if (error == 0)
        t->state = SCAN_DAMAGED; /* until it has been read */
    else if (t->obstacle)
        warn("cannot read %s: %s", names,
             error == ELOOP    ? "it is a link, which gfk does not follow"
             : error == EINVAL ? "it is not a regular file"
                               : strerror(error));
    return 0;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* A file that is one slice or less is known by its own MD5: the zeros that fill the slice need not be
 * hashed. So is a file without checksums of its slices. */
static bool is_whole(const par2_set *set, const set_file *f) {
    return f->checksums == NULL || f->slices == 0 || f->bytes <= set->slice_bytes;
}

/* Hashes bytes [offset, offset + bytes) of a file, as far as the file has them, and zeros up to
 * `padded` bytes. *there is the number of bytes that are there; 0: nothing has been hashed. Returns 0
 * or the system's error. */
static int hash_range(int fd, uint64_t offset, uint64_t bytes, uint64_t padded, uint8_t *piece,
                      uint8_t md5[MD5_BYTES], uint64_t *there) {
    md5_stream stream;
    md5_begin(&stream);
    *there = 0;
    while (*there < bytes) {
        const uint64_t left = bytes - *there;
        struct iovec buffer = {piece, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES};
        const size_t wanted = buffer.iov_len;
        const ssize_t got = read_buffers(fd, &buffer, 1, offset + *there);
        if (got < 0)
            return errno;
        md5_add(&stream, piece, (size_t)got);
        *there += (uint64_t)got;
        if ((size_t)got < wanted)
            break;
    }
    /* A shorter file may have lost zeros, but a forged set could ask for very many. */
    if (*there < bytes && padded - *there > SCAN_MOST_ZEROS)
        *there = 0;
    if (*there == 0)
        return 0;
    md5_add_zeros(&stream, padded - *there);
    md5_end(&stream, md5);
    return 0;
}

/* Hashes slice `slice` of a file, or the whole file. */
static int hash_slice(const par2_set *set, const set_file *f, bool whole, size_t slice, int fd,
                      uint8_t *piece, uint8_t md5[MD5_BYTES], uint64_t *there) {
    if (whole)
        return hash_range(fd, 0, f->bytes, f->bytes, piece, md5, there);
    return hash_range(fd, slice * set->slice_bytes, scan_slice_bytes(set, f, slice),
                      set->slice_bytes, piece, md5, there);
}

/* A forged set may have a file of no bytes with the MD5 of some. */
static bool can_exist(const set_file *f) {
    uint8_t md5[MD5_BYTES];
    md5_of("", 0, md5);
    return f->bytes != 0 || memcmp(md5, f->md5, MD5_BYTES) == 0;
}

static const uint8_t *md5_of_slice(const set_file *f, bool whole, size_t slice) {
    return whole ? f->md5 : f->checksums[slice].md5;
}

/* The buffers of all threads take half of the memory at most. */
static bool buffers_make(buffers *b, uint64_t slice_bytes, unsigned threads, uint64_t memory) {
    enum { LINE = 64, NEAR = 512 };
    const size_t count = reader_threads(threads);
    const uint64_t share = memory / 2 / count, most = share < GROUP_BYTES ? share : GROUP_BYTES;
    *b = (buffers){.mutex = PTHREAD_MUTEX_INITIALIZER, .room = count, .bytes = PIECE_BYTES};
    b->free = calloc(count, sizeof *b->free);
    if (slice_bytes <= most) {
        /* Slices that are multiples of NEAR apart would share few lines of a cache. */
        const size_t stride = ((size_t)slice_bytes + LINE - 1) / LINE * LINE;
        b->stride = stride % NEAR == 0 ? stride + LINE : stride;
        b->slices = (size_t)most / b->stride;
        b->slices = b->slices > MD5_MANY ? MD5_MANY : b->slices < LEAST_GROUP ? 0 : b->slices;
        b->bytes = b->slices * b->stride > PIECE_BYTES ? b->slices * b->stride : PIECE_BYTES;
    }
    return b->free != NULL;
}

static uint8_t *buffers_take(buffers *b) {
    pthread_mutex_lock(&b->mutex);
    uint8_t *const kept = b->count == 0 ? NULL : b->free[--b->count];
    pthread_mutex_unlock(&b->mutex);
    return kept == NULL ? malloc(b->bytes) : kept;
}

static void buffers_give(buffers *b, uint8_t *buffer) {
    pthread_mutex_lock(&b->mutex);
    if (b->count < b->room) {
        b->free[b->count++] = buffer;
        buffer = NULL;
    }
    pthread_mutex_unlock(&b->mutex);
    free(buffer);
}

static void buffers_free(buffers *b) {
    for (size_t i = 0; i < b->count; i++)
        free(b->free[i]);
    free(b->free);
}

/* Hashes slices of a file together, as many as there are in a group, of `count` ones from `first` on.
 * Returns the number of slices, which is 0 if the slices are to be hashed one by one: short ones, and
 * those that cannot be read. */
static size_t hash_group(const par2_set *set, const set_file *f, size_t first, size_t count, int fd,
                         const buffers *b, uint8_t *memory, uint8_t (*md5)[MD5_BYTES]) {
    struct iovec to[MD5_MANY];
    const size_t slice = (size_t)set->slice_bytes, whole = (size_t)(f->bytes / set->slice_bytes);
    size_t n = count < b->slices ? count : b->slices;
    n = first + n <= whole ? n : first < whole ? whole - first : 0;
    if (n < LEAST_GROUP)
        return 0;
    for (size_t i = 0; i < n; i++)
        to[i] = (struct iovec){memory + i * b->stride, slice};
    const ssize_t got = read_buffers(fd, to, n, first * set->slice_bytes);
    n = got < 0 ? 0 : (size_t)got / slice;
    if (n != 0)
        md5_many(memory, b->stride, n, slice, md5);
    return n;
}

/* Adds a job; hashes of a file without bytes are none. */
static int add_job(scanner *r, uint32_t source, size_t file, bool whole) {
    const set_file *const f = &r->set->files[file];
    if (!array_grow(&r->jobs, r->job_count, sizeof *r->jobs))
        return par2_no_memory();
    const size_t count = f->bytes == 0 ? 0 : whole ? 1 : f->slices;
    r->jobs[r->job_count++] = (job){source, file, whole, r->hash_count, count, false};
    r->hash_count += count;
    return 0;
}

/* Tells whether a slice has its CRC32. Behind a wrong slice more are often wrong, and the CRC32 takes
 * a tenth of the time of the MD5. */
static int has_crc(const par2_set *set, const set_file *f, size_t slice, int fd, uint8_t *piece,
                   bool *has, uint64_t *there) {
    const uint64_t bytes = scan_slice_bytes(set, f, slice);
    uint32_t crc = 0;
    uint64_t done = 0;
    for (ssize_t got = 1; done < bytes && got != 0; done += (uint64_t)got) {
        const uint64_t left = bytes - done;
        struct iovec buffer = {piece, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES};
        got = read_buffers(fd, &buffer, 1, slice * set->slice_bytes + done);
        if (got < 0)
            return errno;
        crc = crc_add(crc, piece, (size_t)got);
    }
    *there = done;
    crc = crc_add_zeros(crc, set->slice_bytes - done);
    *has = crc == f->checksums[slice].crc;
    return 0;
}

/* Hashes slices of a job from k on. Returns the number of slices. */
static size_t hash_some(scanner *r, job *j, size_t k, size_t count, int fd, uint8_t *memory) {
    const set_file *const f = &r->set->files[j->file];
    slice_hash *const h = &r->hashes[j->first + k];
    uint8_t md5[MD5_MANY][MD5_BYTES];
    uint64_t there = 0;
    int error = 0;
    bool hash = true;
    const bool wrong = atomic_load(&j->wrong) && !j->whole;
    const size_t n =
        wrong || j->whole ? 0 : hash_group(r->set, f, k, count, fd, &r->buffers, memory, md5);
    for (size_t i = 0; i < n; i++) {
        memcpy(h[i].md5, md5[i], MD5_BYTES);
        h[i].valid = true;
        there += r->set->slice_bytes;
    }
    if (wrong)
        error = has_crc(r->set, f, k, fd, memory, &hash, &there);
    if (n == 0 && error == 0 && hash) {
        error = hash_slice(r->set, f, j->whole, k, fd, memory, h->md5, &there);
        h->valid = error == 0 && there != 0;
    }
    if (error != 0)
        scan_complain(r->s->sources[j->source], error);
    scan_progress(there);
    const size_t last = n == 0 ? 0 : n - 1;
    atomic_store(&j->wrong,
                 !h[last].valid ||
                     memcmp(h[last].md5, md5_of_slice(f, j->whole, k + last), MD5_BYTES) != 0);
    return last + 1;
}

static int run_task(void *context, size_t i) {
    scanner *const r = context;
    const task *const t = &r->tasks[i];
    job *const j = &r->jobs[t->job];
    scan_source *const source = r->s->sources[j->source];
    uint8_t *const memory = buffers_take(&r->buffers);
    if (memory == NULL)
        return par2_no_memory();
    const int fd = scan_open(source);
    if (fd < 0)
        scan_complain(source, errno);
    for (size_t done = 0; done < t->count && fd >= 0;)
        done += hash_some(r, j, t->first + done, t->count - done, fd, memory);
    if (fd >= 0)
        close(fd);
    buffers_give(&r->buffers, memory);
    return 0;
}

/* Makes and runs the tasks of the jobs from `first` on. */
static int run_jobs(scanner *r, size_t first) {
    const size_t old = first == r->job_count ? r->hash_count : r->jobs[first].first;
    const uint64_t slice = r->set->slice_bytes;
    size_t slices = slice < TASK_BYTES ? (size_t)(TASK_BYTES / slice) : 1;
    slices = slices > r->buffers.slices ? slices : r->buffers.slices;
    slice_hash *const grown = realloc(r->hashes, (r->hash_count + 1) * sizeof *grown);
    size_t room = 1;
    for (size_t i = first; i < r->job_count; i++)
        room += (r->jobs[i].count + slices - 1) / slices;
    free(r->tasks);
    r->tasks = calloc(room, sizeof *r->tasks);
    r->task_count = 0;
    if (grown != NULL)
        r->hashes = grown;
    if (grown == NULL || r->tasks == NULL)
        return par2_no_memory();
    memset(r->hashes + old, 0, (r->hash_count - old) * sizeof *r->hashes);
    for (size_t i = first; i < r->job_count; i++)
        for (size_t at = 0; at < r->jobs[i].count; at += slices) {
            const size_t left = r->jobs[i].count - at;
            r->tasks[r->task_count++] = (task){i, at, left < slices ? left : slices};
        }
    return parallel_for(r->options->threads, r->task_count, run_task, r);
}

/* ---- slices --------------------------------------------------------------------------------- */

static int by_slice_md5(const void *a, const void *b, void *context) {
    const scanner *const r = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const set_file *const f = &r->set->files[r->file_of[x]], *const g =
                                                                 &r->set->files[r->file_of[y]];
    const int order =
        memcmp(f->checksums[x - f->first].md5, g->checksums[y - g->first].md5, MD5_BYTES);
    return order != 0 ? order : (x > y) - (x < y);
}

static int make_index(scanner *r) {
    const par2_set *const set = r->set;
    r->file_of = calloc(set->slices + 1, sizeof *r->file_of);
    r->by_md5 = calloc(set->slices + 1, sizeof *r->by_md5);
    if (r->file_of == NULL || r->by_md5 == NULL)
        return par2_no_memory();
    for (size_t i = 0; i < set->file_count; i++)
        for (size_t k = 0; k < set->files[i].slices; k++) {
            const size_t slice = set->files[i].first + k;
            r->file_of[slice] = i;
            if (set->files[i].checksums != NULL)
                r->by_md5[r->by_md5_count++] = (uint32_t)slice;
        }
    qsort_r(r->by_md5, r->by_md5_count, sizeof *r->by_md5, by_slice_md5, r);
    return 0;
}

static const uint8_t *md5_at(const scanner *r, size_t i) {
    const set_file *const f = &r->set->files[r->file_of[r->by_md5[i]]];
    return f->checksums[r->by_md5[i] - f->first].md5;
}

static void find_slice(scanner *r, size_t slice, const scan_slice *where) {
    if (r->s->slices[slice].source == SCAN_NOWHERE)
        r->s->slices[slice] = *where;
}

/* Finds all slices with an MD5. True if there are some. They are found together, so that many equal
 * slices are not looked at for each of them. */
static bool find_slices(scanner *r, const uint8_t md5[MD5_BYTES], const scan_slice *where) {
    size_t low = 0, high = r->by_md5_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (memcmp(md5_at(r, middle), md5, MD5_BYTES) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == r->by_md5_count || memcmp(md5_at(r, low), md5, MD5_BYTES) != 0)
        return false;
    if (r->s->slices[r->by_md5[low]].source == SCAN_NOWHERE)
        for (; low < r->by_md5_count && memcmp(md5_at(r, low), md5, MD5_BYTES) == 0; low++)
            find_slice(r, r->by_md5[low], where);
    return true;
}

/* Where slice `slice` of a file is, if the file is at the begin of a source. */
static scan_slice where_of(const scanner *r, const set_file *f, size_t slice, uint32_t source) {
    const uint64_t offset = slice * r->set->slice_bytes, all = r->s->sources[source]->bytes;
    const uint64_t most = scan_slice_bytes(r->set, f, slice);
    const uint64_t there = offset < all ? all - offset : 0;
    return (scan_slice){offset, there < most ? there : most, source};
}

/* Finds all slices of a file whose MD5 is that of a job. */
static void find_file(scanner *r, const set_file *f, uint32_t source) {
    for (size_t k = 0; k < f->slices; k++) {
        const scan_slice where = where_of(r, f, k, source);
        if (f->checksums != NULL)
            find_slices(r, f->checksums[k].md5, &where);
        find_slice(r, f->first + k, &where);
    }
}

/* Finds the slices that a job has read. True if the job has read the whole file `file`, which has the
 * shape of the job's. */
static bool judge(scanner *r, const job *j, size_t file) {
    const set_file *const f = &r->set->files[file];
    bool all = r->s->sources[j->source]->bytes == f->bytes && can_exist(f);
    for (size_t k = 0; k < j->count; k++) {
        slice_hash *const h = &r->hashes[j->first + k];
        const bool right = h->valid && memcmp(h->md5, md5_of_slice(f, j->whole, k), MD5_BYTES) == 0;
        all = all && right;
        if (!h->valid)
            continue;
        const scan_slice where = where_of(r, f, k, j->source);
        if (j->whole && right)
            find_file(r, f, j->source);
        const bool found = !j->whole && find_slices(r, h->md5, &where);
        h->matches = h->matches || right || found;
        if (right && !j->whole)
            find_slice(r, f->first + k, &where);
    }
    return all;
}

/* ---- the files with the right names --------------------------------------------------------- */

static int read_targets(scanner *r) {
    scan *const s = r->s;
    uint64_t bytes = 0;
    int code = 0;
    for (size_t i = 0; i < r->set->file_count && code == 0; i++)
        code = look_at_target(r, i);
    for (size_t i = 0; i < r->set->file_count && code == 0; i++)
        if (s->targets[i].source != SCAN_NOWHERE) {
            const uint64_t there = s->sources[s->targets[i].source]->bytes;
            bytes += there < r->set->files[i].bytes ? there : r->set->files[i].bytes;
            code = add_job(r, s->targets[i].source, i, is_whole(r->set, &r->set->files[i]));
        }
    progress_begin("read", bytes);
    if (code == 0)
        code = run_jobs(r, 0);
    progress_end();
    for (size_t i = 0; i < r->job_count && code == 0; i++)
        if (judge(r, &r->jobs[i], r->jobs[i].file)) {
            s->targets[r->jobs[i].file].state = SCAN_INTACT;
            s->sources[r->jobs[i].source]->taken = true;
        }
    return code;
}

/* ---- files with other names ----------------------------------------------------------------- */

static int by_head(const set_file *f, const set_file *g) {
    return f->bytes != g->bytes ? (f->bytes < g->bytes ? -1 : 1)
                                : memcmp(f->md5_head, g->md5_head, MD5_BYTES);
}

static int by_head_of(const void *a, const void *b, void *context) {
    const scanner *const r = context;
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const int order = by_head(&r->set->files[x], &r->set->files[y]);
    return order != 0 ? order : (x > y) - (x < y);
}

/* The first wanted file that is not less than the key. */
static size_t find_wanted(const scanner *r, const set_file *key) {
    size_t low = 0, high = r->wanted_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_head(&r->set->files[r->wanted[middle]], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool length_is_wanted(const scanner *r, uint64_t bytes) {
    const set_file key = {.bytes = bytes};
    const size_t at = find_wanted(r, &key);
    return at < r->wanted_count && r->set->files[r->wanted[at]].bytes == bytes;
}

/* Adds jobs for a source that may be a wanted file: it has the length and the head of one. */
static int add_candidate(scanner *r, uint32_t number) {
    scan_source *const source = r->s->sources[number];
    set_file key = {.bytes = source->bytes};
    uint64_t there = 0;
    if (source->taken || !length_is_wanted(r, source->bytes))
        return 0;
    uint8_t *const piece = malloc(PIECE_BYTES);
    if (piece == NULL)
        return par2_no_memory();
    const uint64_t head = key.bytes < MD5_HEAD_BYTES ? key.bytes : MD5_HEAD_BYTES;
    const int fd = scan_open(source);
    const int error = fd < 0 ? errno : hash_range(fd, 0, head, head, piece, key.md5_head, &there);
    if (error != 0)
        scan_complain(source, error);
    if (fd >= 0)
        close(fd);
    free(piece);
    int code = 0;
    bool done[2] = {false, false};
    for (size_t at = find_wanted(r, &key); at < r->wanted_count && error == 0 && code == 0; at++) {
        const set_file *const f = &r->set->files[r->wanted[at]];
        const bool whole = is_whole(r->set, f);
        if (by_head(f, &key) != 0)
            break;
        if (!done[whole])
            code = add_job(r, number, r->wanted[at], whole);
        done[whole] = true;
    }
    return code;
}

/* Gives the file of a job to the wanted files with its contents. A file is renamed only if the name of
 * the wanted file is free; otherwise it is read, and stays. */
static void judge_candidate(scanner *r, const job *j) {
    scan_source *const source = r->s->sources[j->source];
    const set_file *const shape = &r->set->files[j->file];
    for (size_t at = find_wanted(r, shape); at < r->wanted_count; at++) {
        const size_t file = r->wanted[at];
        const set_file *const f = &r->set->files[file];
        scan_target *const t = &r->s->targets[file];
        if (by_head(f, shape) != 0)
            break;
        if (is_whole(r->set, f) != j->whole || !judge(r, j, file))
            continue;
        if (t->state == SCAN_MISSING && !t->obstacle && !source->taken) {
            t->state = SCAN_RENAMED;
            t->source = j->source;
            source->taken = true;
        }
    }
}

/* Adds the files of a folder that have the length of a wanted file. The temporary files of a killed run
 * are left out: repair removes them. */
static int add_folder(scanner *r, folder *in) {
    folder_entries list = {0};
    const int error = folder_read(in, &list);
    int code = error == ENOMEM ? par2_no_memory() : 0;
    for (size_t i = 0; i < list.count && error == 0 && code == 0; i++) {
        struct stat status;
        uint32_t number;
        const char *const name = list.entries[i].name;
        const bool wanted =
            folder_entry_type(in, &list.entries[i]) == DT_REG && temp_name_length(name) == 0;
        const int fd = wanted ? folder_fd(in) : -1;
        if (fd >= 0 && fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode) && length_is_wanted(r, (uint64_t)status.st_size) &&
            add_source(r, in, path_join(folder_path(in), name), &number) == ENOMEM)
            code = par2_no_memory();
    }
    folder_entries_free(&list);
    return code;
}

static int by_address(const void *a, const void *b) {
    folder *const x = *(folder *const *)a, *const y = *(folder *const *)b;
    return ((uintptr_t)x > (uintptr_t)y) - ((uintptr_t)x < (uintptr_t)y);
}

/* Adds the files next to the wanted ones. */
static int add_folders(scanner *r) {
    folder **const in = calloc(r->wanted_count + 1, sizeof *in);
    size_t count = 0;
    if (in == NULL)
        return par2_no_memory();
    in[count++] = r->options->base;
    for (size_t i = 0; i < r->wanted_count; i++) {
        const char *name;
        if (enter_folder(&in[count], r->options->base, r->set->files[r->wanted[i]].name, &name) ==
            0)
            count++;
    }
    qsort(in, count, sizeof *in, by_address);
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        if (i == 0 || in[i] != in[i - 1])
            code = add_folder(r, in[i]);
    free(in);
    return code;
}

static int add_extra(scanner *r) {
    int code = 0;
    for (size_t i = 0; i < r->options->extra_count && code == 0; i++) {
        const char *const path = r->options->extra[i];
        folder *in;
        uint32_t number = SCAN_NOWHERE;
        int error = folder_of(&in, path);
        if (error == 0)
            error = add_source(r, in, strdup(path), &number);
        if (error == ENOMEM)
            code = par2_no_memory();
        else if (error != 0)
            warn("cannot read %s: %s", path,
                 error == ELOOP    ? "it is a link, which gfk does not follow"
                 : error == EINVAL ? "it is not a regular file"
                                   : strerror(error));
        else
            r->s->sources[number]->named = true;
    }
    return code;
}

static int read_candidates(scanner *r) {
    scan *const s = r->s;
    const size_t first = r->job_count;
    uint64_t bytes = 0;
    int code = add_extra(r);
    for (size_t i = 0; i < r->set->file_count; i++)
        if (s->targets[i].state != SCAN_INTACT && r->set->files[i].name != NULL &&
            r->set->files[i].bytes != 0)
            r->wanted[r->wanted_count++] = i;
    qsort_r(r->wanted, r->wanted_count, sizeof *r->wanted, by_head_of, r);
    if (code == 0 && r->wanted_count != 0)
        code = add_folders(r);
    for (uint32_t i = 0; i < s->source_count && code == 0; i++)
        code = add_candidate(r, i);
    for (size_t i = first; i < r->job_count; i++)
        bytes += s->sources[r->jobs[i].source]->bytes;
    progress_begin("read files with other names", bytes);
    if (code == 0)
        code = run_jobs(r, first);
    progress_end();
    for (size_t i = first; i < r->job_count && code == 0; i++)
        judge_candidate(r, &r->jobs[i]);
    return code;
}

/* ---- slices at any offset ------------------------------------------------------------------- */

typedef struct part_list {
    slide_part *parts;
    size_t count;
} part_list;

static int add_part(part_list *list, uint32_t source, uint64_t begin, uint64_t end) {
    if (list->count != 0 && list->parts[list->count - 1].source == source &&
        list->parts[list->count - 1].end == begin) {
        list->parts[list->count - 1].end = end;
        return 0;
    }
    if (!array_grow(&list->parts, list->count, sizeof *list->parts))
        return par2_no_memory();
    list->parts[list->count++] = (slide_part){source, begin, end};
    return 0;
}

/* The parts of a damaged file where no slice was found. */
static int add_damage(const scanner *r, part_list *list, const job *j) {
    const set_file *const f = &r->set->files[j->file];
    const uint64_t all = r->s->sources[j->source]->bytes;
    int code = 0;
    for (size_t k = 0; k < j->count && code == 0; k++) {
        const uint64_t begin = j->whole ? 0 : k * r->set->slice_bytes;
        const uint64_t bytes = j->whole ? f->bytes : scan_slice_bytes(r->set, f, k);
        const uint64_t end = begin + bytes < all ? begin + bytes : all;
        if (!r->hashes[j->first + k].matches && begin < end)
            code = add_part(list, j->source, begin, end);
    }
    return code == 0 && f->bytes < all ? add_part(list, j->source, f->bytes, all) : code;
}

static int slide_all(scanner *r) {
    scan *const s = r->s;
    part_list list = {0};
    uint64_t bytes = 0;
    int code = 0;
    bool *const added = calloc(s->source_count + 1, sizeof *added);
    if (added == NULL)
        return par2_no_memory();
    for (size_t i = 0; i < r->job_count && code == 0; i++) {
        const job *const j = &r->jobs[i];
        if (s->targets[j->file].source == j->source && s->targets[j->file].state == SCAN_DAMAGED &&
            !added[j->source]) {
            added[j->source] = true;
            code = add_damage(r, &list, j);
        }
    }
    for (uint32_t i = 0; i < s->source_count && code == 0; i++)
        if (s->sources[i]->named && !s->sources[i]->taken && !added[i] && s->sources[i]->bytes != 0)
            code = add_part(&list, i, 0, s->sources[i]->bytes);
    for (size_t i = 0; i < list.count; i++)
        bytes += list.parts[i].end - list.parts[i].begin;
    progress_begin("search", bytes);
    if (code == 0)
        code = slide_run(s, list.parts, list.count, r->options->threads);
    progress_end();
    free(list.parts);
    free(added);
    return code;
}

/* ---- all ------------------------------------------------------------------------------------ */

static int by_file_name(const void *a, const void *b) {
    const set_file *const f = *(const set_file *const *)a, *const g = *(const set_file *const *)b;
    return strcmp(f->name, g->name);
}

/* A set that has one name for two files cannot be right: one would replace the other. */
static int check_names(const par2_set *set) {
    const set_file **const files = calloc(set->file_count + 1, sizeof *files);
    size_t count = 0;
    if (files == NULL)
        return par2_no_memory();
    for (size_t i = 0; i < set->file_count; i++)
        if (set->files[i].name != NULL)
            files[count++] = &set->files[i];
    qsort(files, count, sizeof *files, by_file_name);
    int code = 0;
    for (size_t i = 1; i < count && code == 0; i++)
        if (strcmp(files[i - 1]->name, files[i]->name) == 0)
            code = fail(PAR2_NOT_ENOUGH_DATA, "the set has two files with the name %s",
                        files[i]->name);
    free(files);
    return code;
}

static bool all_is_intact(const scan *s) {
    for (size_t i = 0; i < s->set->file_count; i++)
        if (s->targets[i].state != SCAN_INTACT)
            return false;
    return true;
}

static void count_found(scan *s) {
    for (size_t i = 0; i < s->set->file_count; i++) {
        const set_file *const f = &s->set->files[i];
        for (size_t k = 0; k < f->slices; k++)
            s->targets[i].found += s->slices[f->first + k].source != SCAN_NOWHERE;
        s->found += s->targets[i].found;
    }
}

static bool some_are_missing(const scan *s) {
    for (size_t i = 0; i < s->set->slices; i++)
        if (s->slices[i].source == SCAN_NOWHERE)
            return true;
    return false;
}

static int allocate(scanner *r) {
    scan *const s = r->s;
    s->targets = calloc(r->set->file_count + 1, sizeof *s->targets);
    s->slices = calloc(r->set->slices + 1, sizeof *s->slices);
    r->wanted = calloc(r->set->file_count + 1, sizeof *r->wanted);
    if (s->targets == NULL || s->slices == NULL || r->wanted == NULL)
        return par2_no_memory();
    for (size_t i = 0; i < r->set->slices; i++)
        s->slices[i].source = SCAN_NOWHERE;
    return 0;
}

int scan_run(scan *made, const par2_set *set, const scan_options *options) {
    *made = (scan){.set = set};
    scanner r = {.s = made, .set = set, .options = options};
    int code = check_names(set);
    if (code == 0 && !buffers_make(&r.buffers, set->slice_bytes, options->threads, options->memory))
        code = par2_no_memory();
    if (code == 0)
        code = allocate(&r);
    if (code == 0)
        code = make_index(&r);
    if (code == 0)
        code = read_targets(&r);
    if (code == 0 && !all_is_intact(made))
        code = read_candidates(&r);
    if (code == 0 && some_are_missing(made))
        code = slide_all(&r);
    if (code == 0)
        count_found(made);
    while (r.known != NULL)
        tdelete(*(scan_source **)r.known, &r.known, by_identity);
    buffers_free(&r.buffers);
    free(r.by_md5);
    free(r.file_of);
    free(r.jobs);
    free(r.hashes);
    free(r.tasks);
    free(r.wanted);
    return code;
}

void scan_free(scan *s) {
    for (size_t i = 0; i < s->source_count; i++)
        free_source(s->sources[i]);
    free(s->sources);
    free(s->targets);
    free(s->slices);
    *s = (scan){0};
}

/* ---- a file by its descriptor --------------------------------------------------------------- */

typedef struct check {
    const par2_set *set;
    const set_file *file;
    bool whole;
    int fd;
    const char *path;
    buffers buffers;
    size_t slices; /* of a task */
    atomic_bool wrong;
} check;

static int check_slices(void *context, size_t i) {
    check *const c = context;
    const size_t first = i * c->slices, all = c->whole ? 1 : c->file->slices;
    const size_t count = all - first < c->slices ? all - first : c->slices;
    uint8_t *const memory = buffers_take(&c->buffers);
    int error = 0;
    if (memory == NULL)
        return par2_no_memory();
    for (size_t done = 0; done < count && error == 0 && !atomic_load(&c->wrong);) {
        uint8_t md5[MD5_MANY][MD5_BYTES];
        uint64_t there = 1;
        size_t n = c->whole ? 0
                            : hash_group(c->set, c->file, first + done, count - done, c->fd,
                                         &c->buffers, memory, md5);
        if (n == 0) {
            error =
                hash_slice(c->set, c->file, c->whole, first + done, c->fd, memory, md5[0], &there);
            n = 1;
        }
        for (size_t k = 0; k < n && error == 0; k++)
            if (there == 0 ||
                memcmp(md5[k], md5_of_slice(c->file, c->whole, first + done + k), MD5_BYTES) != 0)
                atomic_store(&c->wrong, true);
        done += n;
    }
    buffers_give(&c->buffers, memory);
    return error == 0 ? 0 : par2_code(fail_for(error, "read", c->path));
}

int scan_check(const par2_set *set, size_t file, int fd, const char *path, unsigned threads,
               uint64_t memory, bool *intact) {
    struct stat status;
    const set_file *const f = &set->files[file];
    check c = {.set = set, .file = f, .whole = is_whole(set, f), .fd = fd, .path = path};
    if (fstat(fd, &status) != 0)
        return par2_code(fail_for(errno, "read", path));
    if (!buffers_make(&c.buffers, set->slice_bytes, threads, memory))
        return par2_no_memory();
    c.slices = c.buffers.slices == 0 ? 1 : c.buffers.slices;
    const size_t count = f->bytes == 0 ? 0 : c.whole ? 1 : (f->slices + c.slices - 1) / c.slices;
    const int code = parallel_for(threads, count, check_slices, &c);
    buffers_free(&c.buffers);
    *intact = !atomic_load(&c.wrong) && (uint64_t)status.st_size == f->bytes && can_exist(f);
    return code;
}
