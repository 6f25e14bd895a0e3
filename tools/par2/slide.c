/* SPDX-License-Identifier: BSD-3-Clause */
#include "slide.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../gfk/files.h"
#include "par2.h"
#include "reader.h"

enum {
    VIEW_BYTES = 256 << 10,      /* of each of a worker's three buffers */
    LEAST_CHUNK = 4 << 20,       /* bytes of a chunk, the work of one task, */
    CHUNK_SLICES = 8,            /* and slices: a chunk begins at any byte of a slice */
    LEAST_FILTER_BITS = 12,      /* log2 of the bits of the filter, */
    MOST_FILTER_BITS = 22,       /* which fits the second cache, */
    FILTER_BITS_OF_A_GROUP = 128 /* and lets one of so many windows pass for each group */
};
/* A forged set could make every window pass the CRC32. A chunk ends where the MD5s that were computed
 * in vain take this multiple of its bytes. */
static const uint64_t most_vain = 16;

/* Slices with the same contents. */
typedef struct group {
    uint32_t state; /* of the window, see hash.h */
    uint8_t md5[MD5_BYTES];
    size_t first, count; /* in `order` */
    atomic_bool found;
} group;

typedef struct chunk {
    uint32_t source;
    uint64_t begin, end;
} chunk;

typedef struct slide {
    scan *s;
    uint64_t slice_bytes;
    crc_window window;
    size_t *order; /* the slices that are looked for, by state, MD5 and number */
    group *groups; /* by state and MD5 */
    size_t group_count;
    atomic_size_t missing; /* groups that are not found yet */
    unsigned filter_bits;
    uint64_t *filter; /* a bit for the upper bits of each state */
    chunk *chunks;
    size_t chunk_count;
} slide;

/* ---- groups --------------------------------------------------------------------------------- */

static const set_checksum *checksum_of(const par2_set *set, size_t slice, size_t *file) {
    while (slice >= set->files[*file].first + set->files[*file].slices)
        ++*file;
    const set_file *const f = &set->files[*file];
    return f->checksums == NULL ? NULL : &f->checksums[slice - f->first];
}

/* A slice with its checksum, while the groups are made. */
typedef struct sorted_slice {
    const set_checksum *checksum;
    size_t slice;
} sorted_slice;

static int same_content(const set_checksum *a, const set_checksum *b) {
    return a->crc != b->crc ? (a->crc < b->crc ? -1 : 1) : memcmp(a->md5, b->md5, MD5_BYTES);
}

static int by_content(const void *a, const void *b) {
    const sorted_slice *const x = a, *const y = b;
    const int order = same_content(x->checksum, y->checksum);
    return order != 0 ? order : (x->slice > y->slice) - (x->slice < y->slice);
}

static int by_state(const void *a, const void *b) {
    const group *const x = a, *const y = b;
    return x->state != y->state ? (x->state < y->state ? -1 : 1)
                                : memcmp(x->md5, y->md5, MD5_BYTES);
}

static void add_groups(slide *w, const sorted_slice *sorted, size_t count) {
    for (size_t i = 0; i < count; i++) {
        w->order[i] = sorted[i].slice;
        if (i == 0 || same_content(sorted[i - 1].checksum, sorted[i].checksum) != 0) {
            group *const g = &w->groups[w->group_count++];
            g->state = crc_window_state(&w->window, sorted[i].checksum->crc);
            memcpy(g->md5, sorted[i].checksum->md5, MD5_BYTES);
            g->first = i;
            g->count = 0;
            atomic_init(&g->found, false);
        }
        w->groups[w->group_count - 1].count++;
    }
    qsort(w->groups, w->group_count, sizeof *w->groups, by_state);
    atomic_init(&w->missing, w->group_count);
}

static bool make_filter(slide *w) {
    w->filter_bits = LEAST_FILTER_BITS;
    while (w->filter_bits < MOST_FILTER_BITS &&
           (size_t)1 << w->filter_bits < FILTER_BITS_OF_A_GROUP * w->group_count)
        w->filter_bits++;
    w->filter = calloc((size_t)1 << (w->filter_bits - 6), sizeof *w->filter);
    for (size_t i = 0; w->filter != NULL && i < w->group_count; i++) {
        const uint32_t bit = w->groups[i].state >> (32 - w->filter_bits);
        w->filter[bit / 64] |= (uint64_t)1 << bit % 64;
    }
    return w->filter != NULL;
}

static int make_groups(slide *w) {
    const par2_set *const set = w->s->set;
    sorted_slice *const sorted = calloc(set->slices + 1, sizeof *sorted);
    w->order = calloc(set->slices + 1, sizeof *w->order);
    w->groups = calloc(set->slices + 1, sizeof *w->groups);
    int code = sorted == NULL || w->order == NULL || w->groups == NULL ? par2_no_memory() : 0;
    size_t count = 0, file = 0;
    for (size_t i = 0; i < set->slices && code == 0; i++) {
        const set_checksum *const c = checksum_of(set, i, &file);
        if (c != NULL && w->s->slices[i].source == SCAN_NOWHERE)
            sorted[count++] = (sorted_slice){c, i};
    }
    if (code == 0) {
        qsort(sorted, count, sizeof *sorted, by_content);
        crc_window_begin(&w->window, set->slice_bytes);
        add_groups(w, sorted, count);
        code = make_filter(w) ? 0 : par2_no_memory();
    }
    free(sorted);
    return code;
}

/* The first group with the state, or NULL. */
static group *find_state(const slide *w, uint32_t state) {
    size_t low = 0, high = w->group_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (w->groups[middle].state < state)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->group_count && w->groups[low].state == state ? &w->groups[low] : NULL;
}

static group *find_content(const slide *w, uint32_t state, const uint8_t md5[MD5_BYTES]) {
    group key = {.state = state};
    memcpy(key.md5, md5, MD5_BYTES);
    return bsearch(&key, w->groups, w->group_count, sizeof key, by_state);
}

/* ---- a chunk -------------------------------------------------------------------------------- */

/* The bytes of a file from some offset on. */
typedef struct view {
    uint8_t *bytes;
    uint64_t at;
    size_t count;
} view;

typedef struct slider {
    slide *w;
    uint32_t number; /* of the source */
    scan_source *source;
    int fd;
    view leaving, entering; /* the first byte of the window, and the byte after its last */
    uint8_t *hashing;
    uint64_t vain; /* bytes of MD5s that were no slice's */
} slider;

/* Reads at an offset; zeros follow the file's end. False after an error: what was found stays. */
static bool read_at(slider *r, uint8_t *to, uint64_t offset, size_t bytes) {
    const uint64_t there = offset < r->source->bytes ? r->source->bytes - offset : 0;
    const size_t wanted = bytes < there ? bytes : (size_t)there;
    struct iovec buffer = {to, wanted};
    const ssize_t got = wanted == 0 ? 0 : read_buffers(r->fd, &buffer, 1, offset);
    if (got != (ssize_t)wanted) {
        scan_complain(r->source, got < 0 ? errno : 0);
        return false;
    }
    memset(to + wanted, 0, bytes - wanted);
    return true;
}

/* The byte at an offset, and *count bytes from there on; NULL after an error. */
static const uint8_t *view_at(slider *r, view *v, uint64_t offset, size_t *count) {
    if (offset < v->at || offset >= v->at + v->count) {
        v->count = 0;
        if (!read_at(r, v->bytes, offset, VIEW_BYTES))
            return NULL;
        v->at = offset;
        v->count = VIEW_BYTES;
    }
    *count = v->count - (size_t)(offset - v->at);
    return v->bytes + (offset - v->at);
}

/* Computes the state of a window that has `most` bytes of the source and then zeros, or with `md5` the
 * MD5. */
static bool hash_range(slider *r, uint64_t offset, uint64_t most, uint32_t *state, uint8_t *md5) {
    const uint64_t bytes = r->w->slice_bytes;
    const uint64_t there = offset < r->source->bytes ? r->source->bytes - offset : 0;
    const uint64_t read = most < there ? most : there;
    if (md5 != NULL && bytes - read > SCAN_MOST_ZEROS)
        return false;
    md5_stream stream;
    uint32_t crc = 0;
    md5_begin(&stream);
    for (uint64_t done = 0; done < read;) {
        const size_t part = read - done < VIEW_BYTES ? (size_t)(read - done) : VIEW_BYTES;
        if (!read_at(r, r->hashing, offset + done, part))
            return false;
        if (md5 != NULL)
            md5_add(&stream, r->hashing, part);
        else
            crc = crc_add(crc, r->hashing, part);
        done += part;
    }
    if (md5 != NULL) {
        md5_add_zeros(&stream, bytes - read);
        md5_end(&stream, md5);
    } else {
        *state = crc_window_state(&r->w->window, crc_add_zeros(crc, bytes - read));
    }
    return true;
}

static void take(slider *r, group *g, uint64_t offset, uint64_t most) {
    slide *const w = r->w;
    if (atomic_exchange(&g->found, true))
        return;
    const uint64_t there = r->source->bytes - offset;
    for (size_t i = g->first; i < g->first + g->count; i++)
        w->s->slices[w->order[i]] = (scan_slice){offset, there < most ? there : most, r->number};
    atomic_fetch_sub(&w->missing, 1);
}

/* Looks for a file's last slice behind the slice before it, which the group has at the offset: what
 * follows the last slice in the source need not be the zeros that fill the slice. */
static bool take_last(slider *r, const group *before, uint64_t offset) {
    const slide *const w = r->w;
    const size_t slice = w->order[before->first] + 1;
    size_t low = 0, high = w->s->set->protected;
    while (high - low > 1) { /* the file of the slice: files without slices come before it */
        const size_t middle = low + (high - low) / 2;
        if (w->s->set->files[middle].first <= slice)
            low = middle;
        else
            high = middle;
    }
    const set_file *const f = &w->s->set->files[low];
    const uint64_t rest = f->bytes % w->slice_bytes;
    if (slice == f->first || slice + 1 != f->first + f->slices || rest == 0 || f->checksums == NULL)
        return true;
    const set_checksum *const c = &f->checksums[slice - f->first];
    group *const last = find_content(w, crc_window_state(&w->window, c->crc), c->md5);
    uint8_t md5[MD5_BYTES];
    if (last == NULL || atomic_load(&last->found) || offset + w->slice_bytes >= r->source->bytes)
        return true;
    if (!hash_range(r, offset + w->slice_bytes, rest, NULL, md5))
        return false;
    if (memcmp(md5, c->md5, MD5_BYTES) == 0)
        take(r, last, offset + w->slice_bytes, rest);
    return true;
}

static bool hash_window(slider *r, uint64_t offset, uint32_t *state, uint8_t *md5) {
    return hash_range(r, offset, r->w->slice_bytes, state, md5);
}

/* Moves the window up to `end`, or until the filter lets a state pass. *state is that of the window
 * at *offset. */
static bool move(slider *r, uint64_t *offset, uint64_t end, uint32_t *state) {
    const slide *const w = r->w;
    const uint64_t *const filter = w->filter;
    const unsigned shift = 32 - w->filter_bits;
    while (*offset < end) {
        size_t out_count, in_count;
        const uint8_t *const out = view_at(r, &r->leaving, *offset, &out_count);
        const uint8_t *const in =
            out == NULL ? NULL : view_at(r, &r->entering, *offset + w->slice_bytes, &in_count);
        if (in == NULL)
            return false;
        size_t count = out_count < in_count ? out_count : in_count, i = 0;
        count = count < end - *offset ? count : (size_t)(end - *offset);
        uint32_t s = *state;
        for (; i < count; i++) {
            const uint32_t bit = s >> shift;
            if (filter[bit / 64] >> bit % 64 & 1)
                break;
            s = crc_window_move(&w->window, s, out[i], in[i]);
        }
        *state = s;
        *offset += i;
        if (i < count)
            return true;
    }
    return true;
}

/* Looks for slices that begin in the chunk. */
static void search_chunk(slider *r, const chunk *c) {
    slide *const w = r->w;
    uint64_t offset = c->begin;
    uint32_t state;
    if (!hash_window(r, offset, &state, NULL))
        return;
    while (atomic_load(&w->missing) != 0 && move(r, &offset, c->end, &state) && offset < c->end) {
        uint8_t md5[MD5_BYTES];
        group *g = find_state(w, state);
        if (g != NULL) {
            if (!hash_window(r, offset, NULL, md5))
                return;
            g = find_content(w, state, md5);
            if (g == NULL && (r->vain += w->slice_bytes) / most_vain > c->end - c->begin)
                return;
        }
        if (g != NULL) {
            take(r, g, offset, w->slice_bytes);
            if (!take_last(r, g, offset))
                return;
            offset += w->slice_bytes;
            if (offset >= c->end || !hash_window(r, offset, &state, NULL))
                return;
        } else {
            size_t count;
            const uint8_t *const out = view_at(r, &r->leaving, offset, &count);
            const uint8_t *const in =
                out == NULL ? NULL : view_at(r, &r->entering, offset + w->slice_bytes, &count);
            if (in == NULL)
                return;
            state = crc_window_move(&w->window, state, *out, *in);
            offset++;
        }
    }
}

static int search(void *context, size_t i) {
    slide *const w = context;
    const chunk *const c = &w->chunks[i];
    scan_source *const source = w->s->sources[c->source];
    if (atomic_load(&w->missing) == 0)
        return 0;
    uint8_t *const memory = malloc((size_t)3 * VIEW_BYTES);
    if (memory == NULL)
        return par2_no_memory();
    slider r = {.w = w, .number = c->source, .source = source, .fd = scan_open(source)};
    r.leaving.bytes = memory;
    r.entering.bytes = memory + VIEW_BYTES;
    r.hashing = memory + (size_t)2 * VIEW_BYTES;
    if (r.fd < 0)
        scan_complain(source, errno);
    else
        search_chunk(&r, c);
    if (r.fd >= 0)
        close(r.fd);
    free(memory);
    scan_progress(c->end - c->begin);
    return 0;
}

/* ---- all ------------------------------------------------------------------------------------ */

static int make_chunks(slide *w, const slide_part *parts, size_t count) {
    const uint64_t slices =
        w->slice_bytes < UINT64_MAX / CHUNK_SLICES ? w->slice_bytes * CHUNK_SLICES : UINT64_MAX;
    const uint64_t most = slices < LEAST_CHUNK ? LEAST_CHUNK : slices;
    size_t room = 0;
    for (size_t i = 0; i < count; i++)
        room += (size_t)((parts[i].end - parts[i].begin) / most) + 1;
    w->chunks = calloc(room + 1, sizeof *w->chunks);
    if (w->chunks == NULL)
        return par2_no_memory();
    for (size_t i = 0; i < count; i++)
        for (uint64_t at = parts[i].begin; at < parts[i].end;) {
            const uint64_t left = parts[i].end - at, bytes = left < most ? left : most;
            w->chunks[w->chunk_count++] = (chunk){parts[i].source, at, at + bytes};
            at += bytes;
        }
    return 0;
}

int slide_run(scan *s, const slide_part *parts, size_t count, unsigned threads) {
    slide w = {.s = s, .slice_bytes = s->set->slice_bytes};
    int code = make_groups(&w);
    if (code == 0)
        code = make_chunks(&w, parts, count);
    if (code == 0 && w.group_count != 0)
        code = parallel_for(threads, w.chunk_count, search, &w);
    free(w.order);
    free(w.groups);
    free(w.filter);
    free(w.chunks);
    return code;
}
