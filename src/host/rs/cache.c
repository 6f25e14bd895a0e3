/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk_rs_decode, gfk_rs_update and gfk_rs_apply_delta: calls that find their decoder or updater in
 * the cache, or make it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "host/base/lru.h"
#include "host/device/device.h"

enum { MOST = 64, FEW = 256 /* of a key that needs no allocation */ };

/* The key of an updater is its index. The key of a decoder is the number of lost regions, the lost
 * regions and the wanted regions, both in ascending order. */
typedef struct entry_key {
    bool decoder;
    const size_t *numbers;
    size_t count;
} entry_key;

typedef struct entry {
    gfk_lru_node node;        /* its users are calls */
    entry_key key;            /* numbers are owned */
    gfk_rs_decoder_t decoder; /* one of the two */
    gfk_rs_updater_t updater;
} entry;

struct gfk_rs_cache {
    pthread_mutex_t mutex;
    gfk_lru entries;
};

static void destroy_entry(entry *e) {
    gfk_rs_decoder_destroy(e->decoder);
    gfk_rs_updater_destroy(e->updater);
    free((void *)(uintptr_t)e->key.numbers);
    free(e);
}

static void destroy_entries(gfk_lru_node *list) {
    while (list != NULL) {
        entry *e = (entry *)list;
        list = list->next;
        destroy_entry(e);
    }
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
    destroy_entries(gfk_lru_trim(&cache->entries, 0));
    pthread_mutex_destroy(&cache->mutex);
    free(cache);
}

/* ---- finding -------------------------------------------------------------------------------- */

static bool has_key(const gfk_lru_node *node, const void *key) {
    const entry_key *own = &((const entry *)node)->key, *wanted = key;
    return own->decoder == wanted->decoder && own->count == wanted->count &&
           memcmp(own->numbers, wanted->numbers, own->count * sizeof *own->numbers) == 0;
}

/* The entry of this key, with one more user. The mutex is held. */
static entry *find(gfk_rs_cache *cache, const entry_key *key) {
    gfk_lru_node *node = gfk_lru_find(&cache->entries, has_key, key);
    if (node != NULL)
        node->users++;
    return (entry *)node;
}

/* Releases the mutex and destroys the entries for which the cache is too small, when the device has
 * finished with them. */
static void unlock_and_trim(gfk_rs_t code) {
    gfk_lru_node *surplus = gfk_lru_trim(&code->cache->entries, MOST);
    pthread_mutex_unlock(&code->cache->mutex);
    if (surplus != NULL && code->info.device >= 0)
        gfk_device_synchronize(code->info.device);
    destroy_entries(surplus);
}

static void leave(gfk_rs_t code, entry *e) {
    pthread_mutex_lock(&code->cache->mutex);
    e->node.users--;
    unlock_and_trim(code);
}

static gfk_status make(gfk_rs_t code, const entry_key *key, entry **out) {
    const size_t *numbers = key->numbers, lost = key->decoder ? numbers[0] : 0;
    entry *e = calloc(1, sizeof *e);
    size_t *copy = malloc(key->count * sizeof *copy);
    gfk_status status = GFK_STATUS_OUT_OF_MEMORY;
    if (e != NULL && copy != NULL)
        status = key->decoder
                     ? gfk_rs_decoder_create(&e->decoder, code, numbers + 1, lost,
                                             numbers + 1 + lost, key->count - 1 - lost, NULL)
                     : gfk_rs_updater_create(&e->updater, code, numbers[0], NULL);
    if (status != GFK_STATUS_SUCCESS) {
        free(copy);
        free(e);
        return status;
    }
    memcpy(copy, numbers, key->count * sizeof *copy);
    e->key = (entry_key){key->decoder, copy, key->count};
    e->node.users = 1;
    *out = e;
    return GFK_STATUS_SUCCESS;
}

/* Finds the entry of a key or makes it. If another thread has made the entry meanwhile, takes that
 * entry. */
static gfk_status enter(gfk_rs_t code, const entry_key *key, entry **out) {
    gfk_rs_cache *cache = code->cache;
    entry *made;
    pthread_mutex_lock(&cache->mutex);
    *out = find(cache, key);
    pthread_mutex_unlock(&cache->mutex);
    if (*out != NULL)
        return GFK_STATUS_SUCCESS;
    const gfk_status status = make(code, key, &made);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    pthread_mutex_lock(&cache->mutex);
    *out = find(cache, key);
    if (*out == NULL) {
        gfk_lru_add(&cache->entries, &made->node);
        *out = made;
    }
    unlock_and_trim(code);
    if (*out != made)
        destroy_entry(made); /* it has not run */
    return GFK_STATUS_SUCCESS;
}

/* ---- the calls ------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

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
    if (lost_count > code->info.m) /* gives the status; there is no key */
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
    gfk_status status = enter(code, &(entry_key){true, key, length}, &e);
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
    return enter(code, &(entry_key){false, &index, 1}, e);
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
