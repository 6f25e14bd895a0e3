/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk_rs_decode, gfk_rs_update and gfk_rs_apply_delta: calls that find their decoder or updater in
 * the cache, or make it. */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "host/device/device.h"

enum { MOST = 64, FEW = 64 /* numbers of a key that needs no allocation */ };

/* The key of an updater is UPDATER and its index. The key of a decoder is the number of lost
 * regions, the lost regions and the wanted regions, both in ascending order. */
#define UPDATER SIZE_MAX /* a number above the number of lost regions of any decoder */

typedef struct entry_key {
    const size_t *numbers;
    size_t count;
} entry_key;

typedef struct entry {
    gfk_lru_node node;        /* the users of the node are calls */
    int device;               /* the device of the code */
    gfk_rs_decoder_t decoder; /* an entry has a decoder or an updater */
    gfk_rs_updater_t updater;
    size_t count, numbers[]; /* the key */
} entry;

static bool has_key(const gfk_lru_node *node, const void *key) {
    const entry *e = (const entry *)node;
    const entry_key *wanted = key;
    return e->count == wanted->count &&
           memcmp(e->numbers, wanted->numbers, e->count * sizeof *e->numbers) == 0;
}

static void destroy_entry(entry *e) {
    gfk_rs_decoder_destroy(e->decoder);
    gfk_rs_updater_destroy(e->updater);
    free(e);
}

/* Destroys an entry when the device has finished with it. */
static void finish_entry(gfk_lru_node *node) {
    const int device = ((entry *)node)->device;
    if (device >= 0)
        gfk_device_synchronize(device);
    destroy_entry((entry *)node);
}

void gfk_rs_cache_init(gfk_rs_t code) {
    code->cache = (gfk_lru)GFK_LRU_INIT(MOST, has_key, finish_entry);
}

void gfk_rs_cache_clear(gfk_rs_t code) {
    gfk_lru_clear(&code->cache);
}

static gfk_status make_entry(gfk_rs_t code, const entry_key *key, entry **out) {
    const size_t *numbers = key->numbers, lost = numbers[0];
    entry *e = calloc(1, sizeof *e + key->count * sizeof *numbers);
    if (e == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    e->device = code->info.device;
    e->count = key->count;
    memcpy(e->numbers, numbers, key->count * sizeof *numbers);
    const gfk_status status =
        lost == UPDATER ? gfk_rs_updater_create(&e->updater, code, numbers[1], NULL)
                        : gfk_rs_decoder_create(&e->decoder, code, numbers + 1, lost,
                                                numbers + 1 + lost, key->count - 1 - lost, NULL);
    if (status == GFK_STATUS_SUCCESS)
        *out = e;
    else
        free(e);
    return status;
}

/* Finds the entry of a key or makes it. The entry gets one more user. */
static gfk_status enter(gfk_rs_t code, const entry_key *key, entry **out) {
    entry *made;
    *out = (entry *)gfk_lru_find(&code->cache, key);
    if (*out != NULL)
        return GFK_STATUS_SUCCESS;
    RETURN_IF_ERROR(make_entry(code, key, &made));
    *out = (entry *)gfk_lru_add(&code->cache, &made->node, key);
    if (*out != made)
        destroy_entry(made); /* it has not run: there is no need to wait for the device */
    return GFK_STATUS_SUCCESS;
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
    gfk_rs_rebuild none;
    if (lost_count > code->info.m) /* an error, and too long for a key */
        return gfk_rs_rebuild_create(&none, code, lost, lost_count, wanted, wanted_count);
    if (wanted_count > lost_count)
        return GFK_STATUS_INVALID_ARGUMENT;
    size_t few[FEW], *key = few;
    const size_t length = 1 + lost_count + wanted_count;
    if (length > FEW && (key = malloc(length * sizeof *key)) == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    key[0] = lost_count;
    for (size_t i = 0; i < lost_count; i++)
        key[1 + i] = lost[i];
    for (size_t i = 0; i < wanted_count; i++)
        key[1 + lost_count + i] = wanted[i];
    gfk_rs_sort(key + 1, lost_count);
    gfk_rs_sort(key + 1 + lost_count, wanted_count);
    entry *e;
    gfk_status status = enter(code, &(entry_key){key, length}, &e);
    if (status == GFK_STATUS_SUCCESS) {
        status = gfk_rs_decoder_run(e->decoder, data, parity, bytes, stream);
        gfk_lru_release(&code->cache, &e->node);
    }
    if (key != few)
        free(key);
    return status;
}

static gfk_status enter_updater(gfk_rs_t code, size_t index, entry **e) {
    if (code == NULL || index >= code->info.k)
        return GFK_STATUS_INVALID_ARGUMENT;
    return enter(code, &(entry_key){(size_t[]){UPDATER, index}, 2}, e);
}

gfk_status gfk_rs_update(gfk_rs_t code, size_t index, const void *before, const void *after,
                         const gfk_regions *parity, size_t bytes, gfk_stream_t stream) {
    entry *e;
    RETURN_IF_ERROR(enter_updater(code, index, &e));
    const gfk_status status = gfk_rs_updater_run(e->updater, before, after, parity, bytes, stream);
    gfk_lru_release(&code->cache, &e->node);
    return status;
}

gfk_status gfk_rs_apply_delta(gfk_rs_t code, size_t index, const void *delta,
                              const gfk_regions *parity, size_t bytes, gfk_stream_t stream) {
    entry *e;
    RETURN_IF_ERROR(enter_updater(code, index, &e));
    const gfk_status status = gfk_rs_updater_apply(e->updater, delta, parity, bytes, stream);
    gfk_lru_release(&code->cache, &e->node);
    return status;
}
