/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating on the CPU. The threads of a pool take tiles. The encoder computes the syndromes of a
 * tile. A guess of the damaged regions explains most positions of a tile at once; the remaining
 * positions are decoded one by one. */
#include <string.h>

#include "host.h"
#include "host/base/sizes.h"
#include "host/base/symbol.h"
#include "rows.h"

enum {
    /* bytes of a tile in all regions and rows together: half of an L2 cache */
    TILE_BYTES = 256 << 10,
    /* bytes of the syndromes and of one more set of rows: half of a large L2 cache */
    ROWS_BYTES = 512 << 10,
    LEAST_LENGTH =
        8 << 10, /* bytes of a tile in a region, if the rows fit: one block of the host engine */
    MOST_LENGTH = 16 << 10,
    MOST_GUESSES = 2, /* guesses for one tile */
    MOST_SKIPPED = 64 /* tiles without a guess after guesses that explained few positions */
};

/* Returns the length of a tile in a region of `bytes` bytes. Rows are read several times, and the
 * data is read once; so with many data regions the rows decide the length. */
static size_t tile_length(const gfk_locate_code *c, size_t bytes) {
    const size_t all = TILE_BYTES / ((size_t)c->k + 3 * (size_t)c->m) / 256 * 256;
    const size_t rows = ROWS_BYTES / (2 * (size_t)c->m) / 256 * 256;
    const size_t fits = all > rows ? all : rows < LEAST_LENGTH ? rows : LEAST_LENGTH;
    const size_t length = fits < 256 ? 256 : fits > MOST_LENGTH ? MOST_LENGTH : fits;
    return bytes < length ? gfk_round_up(bytes, 256) : length;
}

static void *take(uintptr_t *at, size_t bytes) {
    void *p = (void *)*at;
    *at += gfk_round_up(bytes, 64);
    return p;
}

/* Divides the memory of a worker. Returns the end of the memory. */
static uintptr_t divide(const gfk_rs_locator *locator, size_t length, worker **made, uintptr_t at) {
    const gfk_locate_code *c = &locator->code;
    const size_t most = gfk_most_guessed(c), m = c->m;
    worker w = {.guessed = false};
    *made = take(&at, sizeof w);
    w.in = take(&at, c->k * sizeof *w.in);
    w.syndromes = take(&at, m * pitch(length));
    w.values = take(&at, m * pitch(length));
    w.wrong = take(&at, length);
    w.rest = take(&at, length);
    w.zeros = take(&at, length);
    if (locator->roots != NULL) {
        const size_t searched = roots_length(c, length);
        w.roots = take(&at, (c->k + m) * pitch(searched));
        w.found = take(&at, searched);
    }
    w.pivots = take(&at, most * sizeof *w.pivots);
    w.counts = take(&at, (c->k + m) * sizeof *w.counts);
    w.verdict = take(&at, sizeof *w.verdict);
    w.state = (gfk_locate_state){take(&at, gfk_locate_words(c) * sizeof(uint32_t)), 1};
    w.guess.regions = take(&at, c->t * sizeof(uint32_t));
    w.guess.rows = take(&at, m * sizeof(uint32_t));
    w.guess.map = take(&at, m * most * sizeof(uint32_t));
    w.map_memory = take(&at, gfk_product_with_matrix_bytes(locator->encoder, m, most));
    if (((uintptr_t)*made & ~(uintptr_t)255) == 0) /* the caller only asks for the size */
        return at;
    memset(w.zeros, 0, length);
    memset(w.counts, 0, (c->k + m) * sizeof *w.counts);
    memset(w.verdict, 0, sizeof *w.verdict);
    w.verdict->first_corrupt = UINT64_MAX;
    **made = w;
    return at;
}

static size_t worker_bytes(const gfk_rs_locator *locator, size_t length) {
    worker *none;
    return gfk_round_up(divide(locator, length, &none, 0), 256);
}

static size_t workers_of(const gfk_rs_locator *locator, size_t bytes, size_t length) {
    const size_t tiles = bytes == 0 ? 0 : gfk_divide_up(bytes, length);
    return tiles < locator->threads ? tiles : locator->threads;
}

size_t gfk_locate_host_workspace(const gfk_rs_locator *locator, size_t bytes) {
    const size_t length = tile_length(&locator->code, bytes);
    return workers_of(locator, bytes, length) * worker_bytes(locator, length);
}

/* ---- a tile --------------------------------------------------------------------------------- */

/* Computes the syndromes and w->wrong. Returns false if no position is wrong. */
static bool find_syndromes(const tile *t) {
    const gfk_locate_code *c = &t->share->locator->code;
    worker *w = t->w;
    for (size_t i = 0; i < c->k; i++)
        w->in[i] = region_of(t, i);
    const gfk_regions in = {.pointers = (void **)w->in};
    compute_rows(t->share->locator->encoder, &in, w->syndromes, pitch(t->share->length), t->bytes);
    bool differs = false;
    for (size_t j = 0; j < c->m && !differs; j++)
        differs = memcmp(row_of(t, w->syndromes, j), region_of(t, c->k + j), t->bytes) != 0;
    if (!differs)
        return false;
    memset(w->wrong, 0, t->bytes);
    for (size_t j = 0; j < c->m; j++) {
        unsigned char *row = row_of(t, w->syndromes, j);
        add(row, region_of(t, c->k + j), t->bytes);
        merge(w->wrong, row, t->bytes);
    }
    return true;
}

/* Makes a guess from the first position that w->wrong has. */
static bool make_guess(const tile *t) {
    const gfk_locate_code *c = &t->share->locator->code;
    worker *w = t->w;
    gfk_locate_guess *g = &w->guess;
    size_t first = 0;
    while (gfk_symbol_get(w->wrong, first, c->field.w) == 0)
        first++;
    load_words(c, t, w->syndromes, first, w->state.words);
    const uint32_t errors = gfk_locate_errors(c, w->state);
    w->guessed = errors != 0 && errors <= gfk_most_guessed(c);
    if (!w->guessed)
        return false;
    g->count = g->down = errors;
    g->right = 1;
    /* the guess lists data regions after the parity regions; each parity region is in one check
     * only */
    w->guessed_data = 0;
    for (uint32_t e = 0; e < errors; e++) {
        const uint32_t region = *gfk_error_region(c, w->state, e);
        if (region < c->k)
            g->regions[errors - ++w->guessed_data] = region;
        else
            g->regions[e - w->guessed_data] = region;
    }
    for (uint32_t x = 0; x < c->m; x++)
        gfk_guess_fill_row(c, g, x);
    for (uint32_t p = 0; p < errors; p++) {
        const uint32_t pivot = c->m - errors + p;
        gfk_guess_pivot(c, g, p);
        for (uint32_t x = 0; x < c->m; x++)
            if (x != pivot)
                gfk_guess_exchange(c, g, p, x);
        gfk_guess_exchange(c, g, p, pivot);
    }
    const size_t data = w->guessed_data;
    for (size_t x = 0; x < c->m; x++) /* the column of a parity region is 0 except in its own row */
        memmove(g->map + x * data, g->map + x * errors + errors - data, data * sizeof *g->map);
    if (data != 0)
        w->map =
            gfk_product_with_matrix(t->share->locator->encoder, c->m, data, g->map, w->map_memory);
    return true;
}

/* Computes w->values and w->rest. Returns the number of positions that the guess does not
 * explain. */
static size_t try_guess(const tile *t) {
    const gfk_locate_code *c = &t->share->locator->code;
    worker *w = t->w;
    const gfk_locate_guess *g = &w->guess;
    const size_t checks = c->m - g->count;
    for (size_t p = 0; p < w->guessed_data; p++)
        w->pivots[p] = row_of(t, w->syndromes, g->rows[c->m - w->guessed_data + p]);
    const gfk_regions pivots = {.pointers = (void **)w->pivots};
    if (w->guessed_data != 0)
        compute_rows(w->map, &pivots, w->values, pitch(t->share->length), t->bytes);
    else
        memset(w->values, 0, c->m * pitch(t->share->length));
    memset(w->rest, 0, t->bytes);
    for (size_t x = 0; x < checks; x++)
        merge_difference(w->rest, row_of(t, w->values, x), row_of(t, w->syndromes, g->rows[x]),
                         t->bytes);
    for (size_t x = checks; x < c->m - w->guessed_data; x++) /* the errors of parity regions */
        add(row_of(t, w->values, x), row_of(t, w->syndromes, g->rows[x]), t->bytes);
    return gfk_is_zero(w->rest, t->bytes) ? 0
                                          : count_symbols(w->rest, w->zeros, t->bytes, c->field.w);
}

/* Counts and repairs the positions that the guess explains. Afterwards w->wrong has the other wrong
 * positions. */
static void accept_guess(const tile *t) {
    const gfk_locate_code *c = &t->share->locator->code;
    worker *w = t->w;
    for (size_t e = 0; e < w->guess.count; e++) {
        unsigned char *values = row_of(t, w->values, c->m - w->guess.count + e);
        const size_t count = count_symbols(values, w->rest, t->bytes, c->field.w);
        w->counts[w->guess.regions[e]] += count;
        if (!t->share->call->repair || count == 0)
            continue;
        clear_symbols(values, w->rest, false, t->bytes, c->field.w);
        add(region_of(t, w->guess.regions[e]), values, t->bytes);
    }
    unsigned char *explained = w->wrong;
    w->wrong = w->rest;
    w->rest = explained;
}

/* Tries guesses: the last tile's guess first, then new ones, each from a position that is still
 * wrong. Returns the number of positions that no guess explains. */
static size_t guess_tile(const tile *t, size_t corrupt) {
    const gfk_locate_code *c = &t->share->locator->code;
    worker *w = t->w;
    if (w->skip != 0) {
        w->skip--;
        return corrupt;
    }
    size_t left = corrupt;
    for (unsigned i = w->guessed ? 0 : 1; i <= MOST_GUESSES && left > FEW; i++) {
        if (left < corrupt) /* a guess does not know about positions that another guess explained */
            for (size_t j = 0; j < c->m; j++)
                clear_symbols(row_of(t, w->syndromes, j), w->wrong, true, t->bytes, c->field.w);
        if (i != 0 && !make_guess(t))
            break;
        left = try_guess(t);
        accept_guess(t);
    }
    const size_t more = 2 * w->skipped + 1;
    w->skipped = left <= corrupt / 2 ? 0 : more < MOST_SKIPPED ? more : MOST_SKIPPED;
    w->skip = w->skipped;
    return left;
}

static void locate_tile(const tile *t) {
    const unsigned width = t->share->locator->code.field.w;
    worker *w = t->w;
    if (!find_syndromes(t))
        return;
    const size_t corrupt = count_symbols(w->wrong, w->zeros, t->bytes, width);
    w->verdict->corrupt += corrupt;
    if (t->offset < w->verdict->first_corrupt) {
        size_t first = 0;
        while (gfk_symbol_get(w->wrong, first, width) == 0)
            first++;
        w->verdict->first_corrupt = t->offset + first * (width / 8);
    }
    const size_t left = corrupt > FEW ? guess_tile(t, corrupt) : corrupt;
    if (left != 0)
        gfk_locate_positions(t, left);
}

/* ---- the call ------------------------------------------------------------------------------- */

static worker *worker_of(const share *s, size_t i) {
    return (worker *)(s->memory + i * s->worker_bytes);
}

static void work(size_t i, void *context) {
    share *s = context;
    const gfk_locate_call *call = s->call;
    worker *w;
    divide(s->locator, s->length, &w, (uintptr_t)worker_of(s, i));
    for (size_t n; (n = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed)) <
                   gfk_divide_up(call->bytes, s->length);) {
        const size_t offset = n * s->length, left = call->bytes - offset;
        const tile t = {s, w, offset, left < s->length ? left : s->length};
        locate_tile(&t);
    }
}

void gfk_locate_on_host(const gfk_locate_call *call) {
    const gfk_rs_locator *locator = call->locator;
    const size_t regions = (size_t)locator->code.k + locator->code.m;
    const size_t length = tile_length(&locator->code, call->bytes);
    share s = {.call = call,
               .locator = locator,
               .length = length,
               .memory = call->workspace,
               .worker_bytes = worker_bytes(locator, length)};
    gfk_rs_verdict sum = {.first_corrupt = UINT64_MAX};
    memset(call->counts, 0, regions * sizeof *call->counts);
    const size_t workers = workers_of(locator, call->bytes, length);
    if (workers != 0)
        gfk_pool_run(locator->pool, workers, workers, work, &s);
    for (size_t n = 0; n < workers; n++) {
        const worker *w = worker_of(&s, n);
        sum.corrupt += w->verdict->corrupt;
        sum.unexplained += w->verdict->unexplained;
        if (w->verdict->first_corrupt < sum.first_corrupt)
            sum.first_corrupt = w->verdict->first_corrupt;
        for (size_t i = 0; i < regions; i++)
            call->counts[i] += w->counts[i];
    }
    sum.located = sum.corrupt - sum.unexplained;
    *call->verdict = sum;
}
