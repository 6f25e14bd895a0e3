/* SPDX-License-Identifier: BSD-3-Clause */
/* The conveniences gfk_rs_decode, gfk_rs_update and gfk_rs_apply_delta. An entry counts the calls
 * that are inside it; only one without any gives way to another, and only when the device has
 * finished what it was given. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "host/device/device.h"

enum { MOST = 64, FEW = 256 /* of a key that needs no allocation */ };

typedef struct entry {
    size_t *key; /* the index of an updater; or the number of lost regions, these, and the wanted
                    ones, both ascending */
    size_t length;
    gfk_rs_decoder_t decoder; /* one of the two */
    gfk_rs_updater_t updater;
    unsigned users;
    uint64_t last_use;
    bool listed; /* in the cache; else its only user destroys it */
} entry;

struct gfk_rs_cache {
    pthread_mutex_t mutex;
    entry *entries[MOST];
    uint64_t uses;
};

static void destroy_entry(entry *e) {
    if (e == NULL)
        return;
    gfk_rs_decoder_destroy(e->decoder);
    gfk_rs_updater_destroy(e->updater);
    free(e->key);
    free(e);
}

/* After what the device still does with it. */
static void retire(gfk_rs_t code, entry *e) {
    if (code->info.device >= 0)
        gfk_device_synchronize(code->info.device);
    destroy_entry(e);
}

gfk_rs_cache *gfk_rs_cache_create(void) {
    gfk_rs_cache *cache = calloc(1, sizeof *cache);
    if (cache != NULL && pthread_mutex_init(&cache->mutex, NULL) != 0) {
        free(cache);
        cache = NULL;
    }
    return cache;
}

void gfk_rs_cache_destroy(gfk_rs_cache *cache) {
    if (cache == NULL)
        return;
    for (size_t i = 0; i < MOST; i++)
        destroy_entry(cache->entries[i]);
    pthread_mutex_destroy(&cache->mutex);
    free(cache);
}

/* ---- finding -----------------------------------------------------------------------------------
 */

static int compare(const void *a, const void *b) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* Takes a use of the entry with this key; the mutex is held. */
static entry *find(gfk_rs_cache *cache, bool decoder, const size_t *key, size_t length) {
    for (size_t i = 0; i < MOST; i++) {
        entry *e = cache->entries[i];
        if (e == NULL || e->length != length || (e->decoder != NULL) != decoder ||
            memcmp(e->key, key, length * sizeof *key) != 0)
            continue;
        e->users++;
        e->last_use = ++cache->uses;
        return e;
    }
    return NULL;
}

/* A place for another entry; *evicted receives what must leave it. NULL: all are in use. */
static entry **make_room(gfk_rs_cache *cache, entry **evicted) {
    entry **oldest = NULL;
    *evicted = NULL;
    for (size_t i = 0; i < MOST; i++) {
        entry **place = &cache->entries[i];
        if (*place == NULL)
            return place;
        if ((*place)->users == 0 && (oldest == NULL || (*place)->last_use < (*oldest)->last_use))
            oldest = place;
    }
    if (oldest != NULL)
        *evicted = *oldest;
    return oldest;
}

/* The new entry goes into the cache, unless another thread was first, whose entry is taken then. */
static entry *add(gfk_rs_t code, entry *made) {
    gfk_rs_cache *cache = code->cache;
    entry *evicted = NULL;
    pthread_mutex_lock(&cache->mutex);
    entry *e = find(cache, made->decoder != NULL, made->key, made->length);
    if (e == NULL) {
        entry **place = make_room(cache, &evicted);
        e = made;
        e->users = 1;
        e->last_use = ++cache->uses;
        e->listed = place != NULL;
        if (place != NULL)
            *place = made;
    }
    pthread_mutex_unlock(&cache->mutex);
    if (evicted != NULL)
        retire(code, evicted);
    if (e != made)
        destroy_entry(made); /* it has not run */
    return e;
}

static void leave(gfk_rs_t code, entry *e) {
    if (!e->listed) {
        retire(code, e);
        return;
    }
    pthread_mutex_lock(&code->cache->mutex);
    e->users--;
    pthread_mutex_unlock(&code->cache->mutex);
}

/* Makes the entry of a key that is not there. */
static gfk_status make(gfk_rs_t code, bool decoder, const size_t *key, size_t length, entry **out) {
    entry *made = calloc(1, sizeof *made);
    gfk_status status = GFK_STATUS_OUT_OF_MEMORY;
    if (made != NULL && (made->key = malloc(length * sizeof *key)) != NULL)
        status = decoder ? gfk_rs_decoder_create(&made->decoder, code, key + 1, key[0],
                                                 key + 1 + key[0], length - 1 - key[0], NULL)
                         : gfk_rs_updater_create(&made->updater, code, key[0], NULL);
    if (status != GFK_STATUS_SUCCESS) {
        destroy_entry(made);
        return status;
    }
    memcpy(made->key, key, length * sizeof *key);
    made->length = length;
    *out = add(code, made);
    return GFK_STATUS_SUCCESS;
}

static gfk_status enter(gfk_rs_t code, bool decoder, const size_t *key, size_t length,
                        entry **out) {
    pthread_mutex_lock(&code->cache->mutex);
    *out = find(code->cache, decoder, key, length);
    pthread_mutex_unlock(&code->cache->mutex);
    return *out ? GFK_STATUS_SUCCESS : make(code, decoder, key, length, out);
}

/* ---- the conveniences --------------------------------------------------------------------------
 */

static void sort(size_t *to, const size_t *from, size_t count) {
    if (count == 0)
        return;
    memcpy(to, from, count * sizeof *to);
    qsort(to, count, sizeof *to, compare);
}

gfk_status gfk_rs_decode(gfk_rs_t code, const size_t *lost, size_t lost_count, const size_t *wanted,
                         size_t wanted_count, const gfk_regions *data, const gfk_regions *parity,
                         size_t bytes, gfk_stream_t stream) {
    if (code == NULL || (lost == NULL && lost_count != 0) || (wanted == NULL && wanted_count != 0))
        return GFK_STATUS_INVALID_ARGUMENT;
    if (wanted == NULL) {
        wanted = lost;
        wanted_count = lost_count;
    }
    if (lost_count > code->info.m) /* no key for it; what is wrong? */
        return gfk_rs_decode_matrix(code, lost, lost_count, wanted, wanted_count, NULL, NULL, NULL);
    if (wanted_count > lost_count)
        return GFK_STATUS_INVALID_ARGUMENT;
    size_t few[FEW], *key = few;
    const size_t length = 1 + lost_count + wanted_count;
    if (length > FEW && (key = malloc(length * sizeof *key)) == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    key[0] = lost_count;
    sort(key + 1, lost, lost_count);
    sort(key + 1 + lost_count, wanted, wanted_count);
    entry *e;
    gfk_status status = enter(code, true, key, length, &e);
    if (status == GFK_STATUS_SUCCESS) {
        status = gfk_rs_decoder_run(e->decoder, data, parity, bytes, stream);
        leave(code, e);
    }
    if (key != few)
        free(key);
    return status;
}

static gfk_status enter_updater(gfk_rs_t code, size_t index, entry **e) {
    if (code == NULL || index >= code->info.k)
        return GFK_STATUS_INVALID_ARGUMENT;
    return enter(code, false, &index, 1, e);
}

gfk_status gfk_rs_update(gfk_rs_t code, size_t index, const void *before, const void *after,
                         const gfk_regions *parity, size_t bytes, gfk_stream_t stream) {
    entry *e;
    gfk_status status = enter_updater(code, index, &e);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    status = gfk_rs_updater_run(e->updater, before, after, parity, bytes, stream);
    leave(code, e);
    return status;
}

gfk_status gfk_rs_apply_delta(gfk_rs_t code, size_t index, const void *delta,
                              const gfk_regions *parity, size_t bytes, gfk_stream_t stream) {
    entry *e;
    gfk_status status = enter_updater(code, index, &e);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    status = gfk_rs_updater_apply(e->updater, delta, parity, bytes, stream);
    leave(code, e);
    return status;
}
