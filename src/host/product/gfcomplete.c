/* SPDX-License-Identifier: BSD-3-Clause */
/* GF-Complete on all cores, one region multiply for each coefficient, in blocks that stay in a
 * core's cache. GF-Complete multiplies regions at one phase modulo 16 bytes; other regions go
 * through buffers on the stack. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "host/base/library.h"
#include "host/base/lru.h"
#include "host/base/poly.h"
#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/base/symbol.h"
#include "host/base/threads.h"

enum {
    ALIGNMENT = 16,
    BUFFER = 8192, /* bytes of a region that go through buffers at a time */
    /* bytes of a block in all regions together: a core's share of the caches */
    BLOCK_BYTES = 2 << 20,
    LEAST_PARTS = 64, /* the smallest number of parts of a region, so that all cores have work */
    LEAST_PAGES = 4,  /* the smallest number of pages in a part */
    PAGE = 4096,
    MOST_FIELDS = 4,  /* fields that are kept without a product */
    SPLIT_TABLE = 11, /* GF-Complete's number of the method */
    PROBE = 1024      /* bytes with which a field is checked */
};

/* GF-Complete's object, gf_t. A region multiply may write to *scratch. */
typedef struct gf {
    uint32_t (*multiply)(struct gf *, uint32_t, uint32_t);
    void (*divide)(void), (*inverse)(void);
    void (*multiply_region)(struct gf *, void *in, void *out, uint32_t c, int bytes, int add);
    void (*extract_word)(void);
    void *scratch;
} gf;

static const char *const names[] = {"gf_init_hard", "gf_free", "gf_scratch_size"};
typedef struct functions {
    int (*init)(gf *, int w, int method, int region, int divide, uint64_t polynomial, int arg1,
                int arg2, gf *base, void *scratch);
    int (*free)(gf *, int recursive);
    int (*scratch_size)(int w, int method, int region, int divide, int arg1, int arg2);
} functions;

/* ---- fields: made once, for all products ---------------------------------------------------- */

typedef struct slot {
    _Alignas(64) gf object;
    atomic_bool busy;
} slot;

typedef struct field {
    gfk_lru_node node;
    char *library;
    unsigned w;
    uint64_t polynomial;
    functions call;
    bool works; /* the library was loaded, takes the field and computes the right products */
    /* a region multiply does not write to the object, so one object serves all threads */
    bool shared;
    size_t count; /* the number of slots with an object */
    slot *slots;
} field;

typedef struct key {
    const char *library;
    const gfk_field *field;
} key;

static bool is_of(const gfk_lru_node *node, const void *wanted) {
    const field *f = (const field *)node;
    const key *k = wanted;
    return f->w == k->field->w && f->polynomial == k->field->polynomial &&
           strcmp(f->library, k->library) == 0;
}

static void destroy(gfk_lru_node *node) {
    field *f = (field *)node;
    for (size_t i = 0; i < f->count; i++)
        (void)f->call.free(&f->slots[i].object, 1);
    free(f->slots);
    free(f->library);
    free(f);
}

static gfk_lru fields = GFK_LRU_INIT(MOST_FIELDS, is_of, destroy);
static pthread_mutex_t initializing = PTHREAD_MUTEX_INITIALIZER; /* GF-Complete has globals */

/* For some fields GF-Complete reports success but leaves functions out. */
static bool add_object(field *f) {
    gf *object = &f->slots[f->count].object;
    pthread_mutex_lock(&initializing);
    const bool made = f->call.init(object, (int)f->w, SPLIT_TABLE, 0, 0, f->polynomial & UINT32_MAX,
                                   (int)f->w, 4, NULL, NULL) != 0;
    pthread_mutex_unlock(&initializing);
    f->count += made;
    return made && object->multiply != NULL && object->multiply_region != NULL;
}

/* Are the products of a few constants right? */
static bool multiplies(gf *object, unsigned w, uint64_t polynomial) {
    _Alignas(ALIGNMENT) unsigned char in[PROBE], out[PROBE];
    uint32_t x = 1;
    for (size_t i = 0; i < PROBE; i++) {
        in[i] = (unsigned char)(w == 8 ? i : x >> 24);
        x = x * 1664525 + 1013904223;
    }
    const uint32_t largest = UINT32_MAX >> (32 - w);
    const uint32_t constants[] = {1, 2, 3, largest, largest ^ 1, largest / 3, 1u << (w - 1)};
    for (size_t k = 0; k < sizeof constants / sizeof constants[0]; k++) {
        memcpy(out, in, PROBE);
        object->multiply_region(object, in, out, constants[k], PROBE, k % 2);
        for (size_t s = 0; s < PROBE / (w / 8); s++) {
            const uint32_t symbol = gfk_symbol_get(in, s, w);
            const uint32_t product = gfk_poly_multiply(symbol, constants[k], w, polynomial);
            if (gfk_symbol_get(out, s, w) != (product ^ (k % 2 ? symbol : 0)))
                return false;
        }
    }
    return true;
}

/* Makes the first object and checks it. If an object cannot be shared, also makes the other
 * threads' objects. */
static bool begin_field(field *f) {
    if (!gfk_library_load(f->library, names, sizeof names / sizeof names[0], &f->call) ||
        !add_object(f))
        return false;
    gf *first = &f->slots[0].object;
    const int size = f->call.scratch_size((int)f->w, SPLIT_TABLE, 0, 0, (int)f->w, 4);
    void *before = size > 0 ? malloc((size_t)size) : NULL;
    if (before != NULL)
        memcpy(before, first->scratch, (size_t)size);
    if (!multiplies(first, f->w, f->polynomial)) {
        free(before);
        return false;
    }
    f->shared = before != NULL && memcmp(before, first->scratch, (size_t)size) == 0;
    free(before);
    while (!f->shared && f->count < gfk_usable_cores())
        if (!add_object(f))
            return false;
    return true;
}

/* Returns the field, or NULL if there is no memory. The caller releases the field. */
static field *find_field(const key *wanted) {
    field *f = (field *)gfk_lru_find(&fields, wanted);
    if (f != NULL)
        return f;
    const size_t cores = gfk_usable_cores();
    f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->w = wanted->field->w;
    f->polynomial = wanted->field->polynomial;
    f->library = strdup(wanted->library);
    f->slots = aligned_alloc(_Alignof(slot), cores * sizeof *f->slots);
    if (f->library == NULL || f->slots == NULL) {
        destroy(&f->node);
        return NULL;
    }
    memset(f->slots, 0, cores * sizeof *f->slots);
    f->works = begin_field(f);
    field *there = (field *)gfk_lru_add(&fields, &f->node, wanted);
    if (there != f)
        destroy(&f->node);
    return there;
}

bool gfk_gfcomplete_is_at(const char *path) {
    functions call;
    return gfk_library_load(path, names, sizeof names / sizeof names[0], &call);
}

static const char *library_of(const gfk_product_desc *desc) {
#ifdef GFK_GFCOMPLETE_LIBRARY
    return desc->gfcomplete_library ? desc->gfcomplete_library : GFK_GFCOMPLETE_LIBRARY;
#else
    return desc->gfcomplete_library;
#endif
}

gfk_status gfk_gfcomplete_load(const gfk_product_desc *desc, const gfk_field *wanted,
                               const char **reason) {
    const key k = {library_of(desc), wanted};
    *reason = "the build found no GF-Complete, and the descriptor names none";
    if (k.library == NULL)
        return GFK_STATUS_NOT_SUPPORTED;
    field *f = find_field(&k);
    *reason = "there is no memory for a field of GF-Complete";
    if (f == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    const bool works = f->works;
    gfk_lru_release(&fields, &f->node);
    *reason = works ? NULL : "GF-Complete cannot be loaded, or does not take this field";
    return works ? GFK_STATUS_SUCCESS : GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_gfcomplete_create(gfk_product_t product, const gfk_product_desc *desc) {
    const key k = {library_of(desc), &product->info.field};
    product->state = find_field(&k);
    return product->state != NULL ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
}

void gfk_gfcomplete_destroy(gfk_product_t product) {
    if (product->state != NULL)
        gfk_lru_release(&fields, &((field *)product->state)->node);
}

/* Takes an object for the calling thread. A thread that holds an object does not wait for another
 * one. So if more threads than cores compute, a waiting thread waits for one block. */
static slot *take(field *f) {
    if (f->shared)
        return f->slots;
    for (;; sched_yield())
        for (size_t i = 0; i < f->count; i++)
            if (!atomic_load_explicit(&f->slots[i].busy, memory_order_relaxed) &&
                !atomic_exchange_explicit(&f->slots[i].busy, true, memory_order_acquire))
                return &f->slots[i];
}

static void give_back(const field *f, slot *s) {
    if (!f->shared)
        atomic_store_explicit(&s->busy, false, memory_order_release);
}

/* ---- a run ---------------------------------------------------------------------------------- */

static size_t phase_of(const unsigned char *address) {
    return (uintptr_t)address % ALIGNMENT;
}

/* Multiplies regions that begin at multiples of 16 bytes and have a multiple of 16 bytes. */
static void multiply_aligned(const gfk_product_call *call, gf *object, size_t offset,
                             size_t bytes) {
    const gfk_product_info *info = &call->product->info;
    for (size_t j = 0; j < info->rows; j++)
        for (size_t i = 0; i < info->cols; i++)
            object->multiply_region(object, gfk_region_address(call->in, i) + offset,
                                    gfk_region_address(call->out, j) + offset,
                                    call->product->matrix[j * info->cols + i], (int)bytes,
                                    call->accumulate || i != 0);
}

/* Compares an output with its expected bytes. */
static void compare(const gfk_product_call *call, const unsigned char *there,
                    const unsigned char *expected, size_t offset, size_t bytes) {
    if (memcmp(there, expected, bytes) == 0)
        return;
    for (size_t i = 0; i < bytes; i++)
        if (there[i] != expected[i])
            gfk_mark(call, offset + i);
}

/* Multiplies at most BUFFER bytes of regions at any addresses, or checks them. */
static void multiply_through_buffers(const gfk_product_call *call, gf *object, size_t offset,
                                     size_t bytes) {
    const gfk_product_info *info = &call->product->info;
    _Alignas(64) unsigned char copy[BUFFER], sum[BUFFER];
    const size_t padded = gfk_round_up(bytes, ALIGNMENT);
    memset(copy + bytes, 0, padded - bytes);
    for (size_t j = 0; j < info->rows; j++) {
        unsigned char *out = gfk_region_address(call->out, j) + offset;
        memset(sum, 0, padded);
        if (call->accumulate)
            memcpy(sum, out, bytes);
        for (size_t i = 0; i < info->cols; i++) {
            unsigned char *in = gfk_region_address(call->in, i) + offset;
            if (padded != bytes || phase_of(in) != 0)
                in = memcpy(copy, in, bytes);
            object->multiply_region(object, in, sum, call->product->matrix[j * info->cols + i],
                                    (int)padded, 1);
        }
        if (call->mismatch_map != NULL)
            compare(call, out, sum, offset, bytes);
        else
            memcpy(out, sum, bytes);
    }
}

/* Returns the bytes from `offset` on until all regions are at a multiple of 16 bytes. Returns
 * BUFFER if they never are, or if the call is a check. */
static size_t bytes_to_alignment(const gfk_product_call *call, size_t offset) {
    const gfk_product_info *info = &call->product->info;
    const size_t phase = phase_of(gfk_region_address(call->in, 0) + offset);
    bool alike = call->mismatch_map == NULL && phase % (info->field.w / 8) == 0;
    for (size_t i = 0; i < info->cols && alike; i++)
        alike = phase_of(gfk_region_address(call->in, i) + offset) == phase;
    for (size_t j = 0; j < info->rows && alike; j++)
        alike = phase_of(gfk_region_address(call->out, j) + offset) == phase;
    return alike ? (ALIGNMENT - phase) % ALIGNMENT : (size_t)BUFFER;
}

/* Returns the bytes of a region in a block, in whole pages. Long blocks are faster, but short
 * regions need several parts. */
static size_t block_length(const gfk_product_call *call) {
    const gfk_product_info *info = &call->product->info;
    const size_t cached = BLOCK_BYTES / (info->rows + info->cols), part = call->bytes / LEAST_PARTS;
    const size_t length = (cached < part ? cached : part) / PAGE * PAGE;
    return length < LEAST_PAGES * PAGE ? LEAST_PAGES * PAGE : length;
}

static void multiply_range(const gfk_product_call *call, size_t offset, size_t length) {
    const size_t block = block_length(call), end = offset + length;
    for (size_t bytes; offset < end; offset += bytes) {
        const size_t left = end - offset, skip = bytes_to_alignment(call, offset);
        slot *s = take(call->product->state);
        if (skip == 0 && (left > BUFFER || left % ALIGNMENT == 0)) {
            bytes = left < block ? left / ALIGNMENT * ALIGNMENT : block;
            multiply_aligned(call, &s->object, offset, bytes);
        } else {
            bytes = left <= BUFFER ? left : skip; /* one call computes the tail too */
            multiply_through_buffers(call, &s->object, offset, bytes);
        }
        give_back(call->product->state, s);
    }
}

gfk_status gfk_gfcomplete_run(const gfk_product_call *call) {
    gfk_share_tiles(call, block_length(call), multiply_range);
    return GFK_STATUS_SUCCESS;
}
