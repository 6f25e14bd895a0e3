/* SPDX-License-Identifier: BSD-3-Clause */
#include "reader.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../gfk/files.h"
#include "../gfk/report.h"
#include "md5_many.h"
#include "par2.h"

unsigned reader_threads(unsigned threads) {
    cpu_set_t set;
    if (threads != 0)
        return threads;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* ---- loops ---------------------------------------------------------------------------------- */

typedef struct loop {
    pthread_mutex_t mutex;
    size_t next, count;
    int code;
    int (*work)(void *context, size_t i);
    void *context;
} loop;

static void *loop_thread(void *context) {
    loop *const l = context;
    pthread_mutex_lock(&l->mutex);
    while (l->code == 0 && l->next < l->count) {
        const size_t i = l->next++;
        pthread_mutex_unlock(&l->mutex);
        const int code = l->work(l->context, i);
        pthread_mutex_lock(&l->mutex);
        if (l->code == 0)
            l->code = code;
    }
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

/* Runs a function in the calling thread and in up to count - 1 further ones. */
static void run_threads(size_t count, void *(*function)(void *), void *context) {
    pthread_t *const threads = count > 1 ? calloc(count - 1, sizeof *threads) : NULL;
    size_t started = 0;
    while (threads != NULL && started < count - 1 &&
           pthread_create(&threads[started], NULL, function, context) == 0)
        started++;
    function(context);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

int parallel_for(unsigned threads, size_t count, int (*work)(void *context, size_t i),
                 void *context) {
    loop l = {PTHREAD_MUTEX_INITIALIZER, 0, count, 0, work, context};
    const size_t most = reader_threads(threads);
    run_threads(count < most ? count : most, loop_thread, &l);
    pthread_mutex_destroy(&l.mutex);
    return l.code;
}

/* ---- chunks and streams --------------------------------------------------------------------- */

/* Columns that are in one buffer. Without pieces, a column is a slice. */
typedef struct chunk {
    size_t first, count; /* columns */
    place_buffer *buffer;
    unsigned uses; /* reader and hashes that still need the buffer */
    bool read;
} chunk;

/* Chunks whose files' MD5 need one chunk after the other: a large file, or one chunk of several
 * small files. */
typedef struct stream {
    size_t first, count; /* chunks */
    size_t read, hashed; /* chunks that a thread has begun to read; chunks whose MD5 is done */
    bool hashing;        /* a thread computes the MD5 */
    uint64_t columns;
    md5_stream md5, slice; /* slice: of the pieces of a slice, which may be in several chunks */
} stream;

typedef struct reader {
    const reader_job *job;
    place *p;
    uint64_t offset, width;
    size_t pieces;  /* columns of a slice, more than 1 only if nothing but hashes is needed */
    size_t columns; /* of all slices */
    size_t most;    /* columns of a buffer */
    chunk *chunks;
    size_t chunk_count;
    stream *streams; /* the longest first */
    size_t stream_count;
    size_t *active; /* streams that are begun and not done */
    size_t active_count, most_active;

    pthread_mutex_t mutex; /* guards all below and the streams and chunks */
    pthread_cond_t changed;
    size_t begun;   /* streams */
    size_t left;    /* chunks that are not done */
    bool taking;    /* a thread waits for a buffer */
    size_t started; /* threads */
    bool first;     /* a thread does job->first */
    atomic_bool ended;
    bool stopped; /* the place has failed */
    int code;
} reader;

static size_t file_of(const reader *r, size_t column) {
    return r->job->slices[column / r->pieces].file;
}

/* Begins a stream, or goes on with the last one, which has one chunk. */
static void add_chunk(reader *r, size_t first, size_t count, bool new_stream) {
    r->chunks[r->chunk_count] = (chunk){.first = first, .count = count};
    if (new_stream)
        r->streams[r->stream_count++] = (stream){.first = r->chunk_count};
    stream *const s = &r->streams[r->stream_count - 1];
    s->count++;
    s->columns += count;
    r->chunk_count++;
}

static int longest_first(const void *a, const void *b) {
    const stream *x = a, *y = b;
    if (x->columns != y->columns)
        return x->columns > y->columns ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Without hashes each chunk is a stream. With hashes small files share a chunk. */
static void cut(reader *r) {
    const bool hashes = r->job->hashes != NULL;
    size_t open = 0; /* columns of the last chunk if it may grow */
    for (size_t at = 0, end = 0; at < r->columns; at = end) {
        end = at + 1;
        while (end < r->columns && (!hashes || file_of(r, end) == file_of(r, at)))
            end++;
        if (hashes && end - at <= r->most / 2 && open != 0 && open + (end - at) <= r->most) {
            r->chunks[r->chunk_count - 1].count += end - at;
            r->streams[r->stream_count - 1].columns += end - at;
            open += end - at;
            continue;
        }
        open = hashes && end - at <= r->most / 2 ? end - at : 0;
        for (size_t first = at; first < end; first += r->most)
            add_chunk(r, first, end - first < r->most ? end - first : r->most,
                      !hashes || first == at);
    }
    qsort(r->streams, r->stream_count, sizeof *r->streams, longest_first);
}

/* ---- reading -------------------------------------------------------------------------------- */

enum { MOST_READS = 256 }; /* columns of one system call */

/* Reads columns of one file that follow each other in the file. */
static int read_run(const reader *r, int fd, uint32_t file, struct iovec *buffers, size_t count,
                    uint64_t offset) {
    uint64_t wanted = 0;
    for (size_t i = 0; i < count; i++)
        wanted += buffers[i].iov_len;
    const ssize_t got = read_buffers(fd, buffers, count, offset);
    const char *const path = r->job->path(r->job->context, file);
    if (got < 0)
        return par2_code(fail_for(errno, "read", path));
    return (uint64_t)got == wanted ? 0 : fail(PAR2_IO, "%s became shorter while it was read", path);
}

/* The bytes of a column: where they begin in the file, and how many there are. */
static uint64_t column_bytes(const reader *r, size_t column, uint64_t *offset) {
    const reader_slice *const s = &r->job->slices[column / r->pieces];
    const uint64_t skipped = r->offset + column % r->pieces * r->width;
    const uint64_t left = s->bytes > skipped ? s->bytes - skipped : 0;
    *offset = s->offset + skipped;
    return left < r->width ? left : r->width;
}

/* Reads the columns from *i on that belong to one file. */
static int read_file(const reader *r, const chunk *c, size_t *i) {
    struct iovec buffers[MOST_READS];
    const uint32_t file = (uint32_t)file_of(r, c->first + *i);
    const int fd = r->job->open(r->job->context, file);
    if (fd < 0 && errno == ESTALE)
        return fail(PAR2_IO, "%s changed while it was read", r->job->path(r->job->context, file));
    if (fd < 0)
        return par2_code(fail_for(errno, "open", r->job->path(r->job->context, file)));
    size_t count = 0;
    uint64_t begin = 0, end = 0;
    int code = 0;
    for (; *i < c->count && file_of(r, c->first + *i) == file && code == 0; ++*i) {
        uint64_t offset = 0;
        const uint64_t bytes = column_bytes(r, c->first + *i, &offset);
        uint8_t *const to = c->buffer->memory + *i * c->buffer->stride;
        memset(to + bytes, 0, (size_t)(r->width - bytes));
        if (count != 0 && (offset != end || count == MOST_READS)) {
            code = read_run(r, fd, file, buffers, count, begin);
            count = 0;
        }
        if (count == 0)
            begin = offset;
        buffers[count++] = (struct iovec){to, (size_t)bytes};
        end = offset + bytes;
    }
    if (code == 0 && count != 0)
        code = read_run(r, fd, file, buffers, count, begin);
    close(fd);
    return code;
}

static int read_chunk(const reader *r, const chunk *c) {
    int code = 0;
    for (size_t i = 0; i < c->count; i++)
        c->buffer->points[i] = r->job->slices[(c->first + i) / r->pieces].point;
    for (size_t i = 0; i < c->count && code == 0 && r->job->open != NULL;)
        code = read_file(r, c, &i);
    return code;
}

/* ---- hashing -------------------------------------------------------------------------------- */

static set_checksum *checksum_of(const reader *r, size_t slice) {
    const reader_slice *const s = &r->job->slices[slice];
    return &r->job->hashes[s->file].checksums[s->offset / r->job->slice_bytes];
}

static void hash_slices(const reader *r, const chunk *c) {
    uint8_t digests[MD5_MANY][MD5_BYTES];
    for (size_t first = 0; first < c->count; first += MD5_MANY) {
        const size_t left = c->count - first, count = left < MD5_MANY ? left : MD5_MANY;
        const uint8_t *const memory = c->buffer->memory + first * c->buffer->stride;
        md5_many(memory, c->buffer->stride, count, (size_t)r->width, digests);
        for (size_t i = 0; i < count; i++) {
            set_checksum *const to = checksum_of(r, c->first + first + i);
            memcpy(to->md5, digests[i], MD5_BYTES);
            to->crc = crc_add(0, memory + i * c->buffer->stride, (size_t)r->width);
        }
    }
}

/* The MD5 of the files in a chunk, and with pieces the hashes of their slices. */
static void hash_files(const reader *r, stream *s, const chunk *c) {
    for (size_t i = 0; i < c->count; i++) {
        const size_t column = c->first + i, piece = column % r->pieces;
        const size_t file = file_of(r, column);
        const uint8_t *const memory = c->buffer->memory + i * c->buffer->stride;
        uint64_t offset = 0;
        const uint64_t bytes = column_bytes(r, column, &offset);
        if (column == 0 || file_of(r, column - 1) != file)
            md5_begin(&s->md5);
        md5_add(&s->md5, memory, (size_t)bytes);
        if (column + 1 == r->columns || file_of(r, column + 1) != file)
            md5_end(&s->md5, r->job->hashes[file].md5);
        if (r->pieces == 1)
            continue;
        set_checksum *const to = checksum_of(r, column / r->pieces);
        const uint64_t past = r->job->slice_bytes - piece * r->width;
        const size_t whole = (size_t)(past < r->width ? past : r->width);
        if (piece == 0)
            md5_begin(&s->slice);
        md5_add(&s->slice, memory, whole);
        to->crc = crc_add(piece == 0 ? 0 : to->crc, memory, whole);
        if (piece + 1 == r->pieces)
            md5_end(&s->slice, to->md5);
    }
}

/* ---- threads -------------------------------------------------------------------------------- */

/* One use of the chunk's buffer ends. With the mutex, which is released meanwhile. */
static void end_use(reader *r, chunk *c) {
    if (--c->uses != 0)
        return;
    place_buffer *const buffer = c->buffer;
    const bool whole = r->code == 0 && !r->stopped && r->pieces == 1;
    c->buffer = NULL;
    pthread_mutex_unlock(&r->mutex);
    place_give(r->p, buffer, whole ? c->count : 0);
    pthread_mutex_lock(&r->mutex);
    if (!r->job->silent)
        progress_add((uint64_t)c->count * r->width);
    r->left--;
    pthread_cond_broadcast(&r->changed);
}

/* Begins streams and leaves out those that are done. */
static void update_active(reader *r) {
    size_t kept = 0;
    for (size_t i = 0; i < r->active_count; i++) {
        const stream *const s = &r->streams[r->active[i]];
        if (s->read < s->count || (r->job->hashes != NULL && s->hashed < s->count))
            r->active[kept++] = r->active[i];
    }
    while (kept < r->most_active && r->begun < r->stream_count)
        r->active[kept++] = r->begun++;
    r->active_count = kept;
}

/* Has `a` more chunks to hash than `b`? The longest rest goes first, so that all streams end together. */
static bool longer(const stream *a, const stream *b) {
    return b == NULL || a->count - a->hashed > b->count - b->hashed;
}

/* A stream whose next chunk has been read and can be hashed. */
static stream *find_hash(reader *r) {
    stream *best = NULL;
    for (size_t i = 0; i < r->active_count && r->job->hashes != NULL; i++) {
        stream *const s = &r->streams[r->active[i]];
        if (!s->hashing && s->hashed < s->count && r->chunks[s->first + s->hashed].read &&
            longer(s, best))
            best = s;
    }
    return best;
}

/* The stream with the fewest chunks ahead of its MD5 that can be read on. */
static stream *find_read(reader *r) {
    enum { MOST_AHEAD = 4 };
    stream *best = NULL;
    for (size_t i = 0; i < r->active_count; i++) {
        stream *const s = &r->streams[r->active[i]];
        const size_t ahead = s->read - s->hashed,
                     fewest = best == NULL ? 0 : best->read - best->hashed;
        if (s->read < s->count && ahead < MOST_AHEAD &&
            (best == NULL || ahead < fewest || (ahead == fewest && longer(s, best))))
            best = s;
    }
    return best;
}

static void hash_next(reader *r, stream *s) {
    chunk *const c = &r->chunks[s->first + s->hashed];
    s->hashing = true;
    pthread_mutex_unlock(&r->mutex);
    hash_files(r, s, c);
    pthread_mutex_lock(&r->mutex);
    s->hashing = false;
    s->hashed++;
    end_use(r, c);
    pthread_cond_broadcast(&r->changed);
}

static void read_next(reader *r, stream *s, place_buffer *buffer) {
    const bool hashes = r->job->hashes != NULL;
    chunk *const c = &r->chunks[s->first + s->read++];
    c->buffer = buffer;
    c->uses = hashes ? 2 : 1;
    pthread_mutex_unlock(&r->mutex);
    const int code = read_chunk(r, c);
    pthread_mutex_lock(&r->mutex);
    if (code != 0 && r->code == 0)
        r->code = code;
    c->read = true;
    if (!hashes)
        s->hashed++;
    pthread_cond_broadcast(&r->changed);
    if (hashes && r->pieces == 1 && code == 0) {
        pthread_mutex_unlock(&r->mutex);
        hash_slices(r, c);
        pthread_mutex_lock(&r->mutex);
    }
    end_use(r, c);
}

/* Takes a buffer. One thread at a time waits for one, so that the others can hash. With the mutex,
 * which is released meanwhile. *none: there is no buffer now. */
static place_buffer *take_buffer(reader *r, bool *none) {
    const bool wait = !r->taking;
    r->taking = r->taking || wait;
    pthread_mutex_unlock(&r->mutex);
    place_buffer *const buffer = place_take(r->p, wait);
    pthread_mutex_lock(&r->mutex);
    if (wait) {
        r->taking = false;
        r->stopped = r->stopped || buffer == NULL;
        pthread_cond_broadcast(&r->changed);
    }
    *none = buffer == NULL;
    return buffer;
}

/* What a thread does ahead of reading. One in eight waits until the GPU is open: opening takes twice the time where all
 * processors are busy. With the mutex, which is released meanwhile. */
static void begin_thread(reader *r) {
    const size_t number = r->started++;
    pthread_mutex_unlock(&r->mutex);
    if (number == 0)
        place_prepare(r->p);
    pthread_mutex_lock(&r->mutex);
    const bool first = !r->first && r->job->first != NULL;
    r->first = true;
    pthread_mutex_unlock(&r->mutex);
    if (first)
        r->job->first(r->job->context, &r->ended);
    else if (number != 0 && number <= 1 + reader_threads(r->job->threads) / 8)
        place_await(r->p);
    pthread_mutex_lock(&r->mutex);
}

static void *reader_thread(void *context) {
    reader *const r = context;
    pthread_mutex_lock(&r->mutex);
    begin_thread(r);
    while (r->code == 0 && !r->stopped && r->left != 0) {
        update_active(r);
        stream *s = find_hash(r);
        if (s != NULL) {
            hash_next(r, s);
            continue;
        }
        bool none = true;
        if (find_read(r) != NULL) {
            place_buffer *const buffer = take_buffer(r, &none);
            s = find_read(r); /* another thread may have taken the chunk meanwhile */
            if (buffer != NULL && s != NULL && r->code == 0) {
                read_next(r, s, buffer);
            } else if (buffer != NULL) {
                pthread_mutex_unlock(&r->mutex);
                place_give(r->p, buffer, 0);
                pthread_mutex_lock(&r->mutex);
            }
        }
        if (none && r->code == 0 && !r->stopped && r->left != 0 && find_hash(r) == NULL)
            pthread_cond_wait(&r->changed, &r->mutex);
    }
    r->ended = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->mutex);
    return NULL;
}

/* Gives the buffers back that an error has left. */
static void give_back(reader *r) {
    for (size_t i = 0; i < r->chunk_count; i++)
        if (r->chunks[i].buffer != NULL)
            place_give(r->p, r->chunks[i].buffer, 0);
}

int reader_run(const reader_job *job, place *p, const place_layout *layout, uint64_t offset,
               uint64_t width) {
    reader r = {.job = job,
                .p = p,
                .offset = offset,
                .width = width,
                .most = layout->columns,
                .mutex = PTHREAD_MUTEX_INITIALIZER,
                .changed = PTHREAD_COND_INITIALIZER};
    const size_t threads = reader_threads(job->threads);
    r.pieces = job->hashes == NULL ? 1 : (size_t)((job->slice_bytes + width - 1) / width);
    r.columns = job->slice_count * r.pieces;
    r.most_active = 2 * threads; /* more than threads: no file is left for the end */
    const size_t most = r.columns / r.most + job->file_count + 1;
    r.chunks = calloc(most, sizeof *r.chunks);
    r.streams = calloc(most, sizeof *r.streams);
    r.active = calloc(r.most_active, sizeof *r.active);
    int code = r.chunks == NULL || r.streams == NULL || r.active == NULL ? par2_no_memory() : 0;
    for (size_t i = 0; i < job->file_count && job->hashes != NULL; i++)
        md5_of("", 0, job->hashes[i].md5); /* of files without slices */
    if (code == 0) {
        cut(&r);
        r.left = r.chunk_count;
        run_threads(threads, reader_thread, &r);
        give_back(&r);
        code = r.code;
    }
    free(r.chunks);
    free(r.streams);
    free(r.active);
    pthread_mutex_destroy(&r.mutex);
    pthread_cond_destroy(&r.changed);
    return code;
}
