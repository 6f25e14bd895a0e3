/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating on the CPU: the positions that no guess explains. They are decoded one by one or, if
 * there are many, by a search of all roots together. */
#include <string.h>

#include "host.h"
#include "rows.h"

enum { MANY = 16 }; /* if at least one position in 16 is wrong, positions are decoded together */

/* All functions on positions are compiled for each width. `code` is a local copy, so the compiler
 * knows that writing the state does not change the code. */
#define FOR_POSITIONS static inline __attribute__((always_inline))

FOR_POSITIONS gfk_locate_code code_of(const tile *t, unsigned width) {
    gfk_locate_code c = t->share->locator->code;
    c.field.w = width;
    return c;
}

FOR_POSITIONS void repair(unsigned char *region, size_t i, unsigned width, uint32_t value) {
    gfk_symbol_set(region, i, width, gfk_symbol_get(region, i, width) ^ value);
}

/* Decodes all positions that w->wrong marks, one after the other. w->values has the S_r, if there
 * is a product for them. */
FOR_POSITIONS void decode_positions(const tile *t, unsigned width) {
    const gfk_locate_code c = code_of(t, width);
    const bool summed = t->share->locator->sums != NULL, repairs = t->share->call->repair;
    worker *w = t->w;
    for (size_t i = 0; i < t->bytes / (width / 8); i++) {
        if (gfk_symbol_get(w->wrong, i, width) == 0)
            continue;
        load_words(&c, t, summed ? w->values : w->syndromes, i,
                   w->state.words + (summed ? c.m : 0));
        const uint32_t errors =
            summed ? gfk_locate_by_sums(&c, w->state, repairs) : gfk_locate_errors(&c, w->state);
        w->verdict->unexplained += errors == 0;
        for (uint32_t e = 0; e < errors; e++) {
            const uint32_t which = *gfk_error_region(&c, w->state, e);
            w->counts[which]++;
            if (repairs)
                repair(region_of(t, which), i, width, *gfk_error_value(&c, w->state, e));
        }
    }
}

/* Finds the recurrence of each position that w->wrong marks. w->rest gets the byte of the position.
 * In w->values the recurrence, and the words that the error values need, replace the S_r. */
FOR_POSITIONS void find_recurrences(const tile *t, unsigned width) {
    const gfk_locate_code c = code_of(t, width);
    const bool repairs = t->share->call->repair;
    worker *w = t->w;
    for (size_t i = 0; i < t->bytes / (width / 8); i++) {
        w->rest[i] = 0;
        if (gfk_symbol_get(w->wrong, i, width) == 0)
            continue;
        load_words(&c, t, w->values, i, w->state.words + c.m);
        w->rest[i] = (unsigned char)gfk_locate_recurrence(&c, w->state, repairs, ZERO_ROOT);
        w->verdict->unexplained += w->rest[i] == 0;
        for (size_t j = 0; j < (repairs ? 2 * c.t : c.t); j++)
            gfk_symbol_set(row_of(t, w->values, j), i, width, w->state.words[j]);
    }
}

/* points[i]^t */
static uint32_t power_of(const gfk_locate_code *c, uint32_t i) {
    return c->powers[c->t * c->powers_pitch + i];
}

/* Repairs the symbols of a region, from symbol `first` of the tile on, where the region's row of
 * roots has `power` and w->found is 0. */
FOR_POSITIONS void repair_matches(const tile *t, unsigned width, uint32_t region,
                                  const unsigned char *roots, size_t first, size_t symbols) {
    const gfk_locate_code c = code_of(t, width);
    worker *w = t->w;
    for (size_t i = 0; i < symbols; i++)
        if (w->found[i] == 0 && gfk_symbol_get(roots, i, width) == power_of(&c, region)) {
            load_words(&c, t, w->values, first + i, w->state.words);
            repair(region_of(t, region), first + i, width,
                   gfk_locate_value(&c, w->state, w->rest[first + i] & LENGTH, region));
        }
}

/* found becomes 0 where it is the length of a recurrence */
static void compare_lengths(unsigned char *restrict found, const unsigned char *restrict of,
                            size_t symbols) {
    for (size_t s = 0; s < symbols; s++) {
        const unsigned char length = of[s] & LENGTH;
        found[s] = (length == 0) | (found[s] != length);
    }
}

/* Decodes the positions of a part of the tile, whose recurrences are known. */
FOR_POSITIONS void use_roots(const tile *t, unsigned width, size_t offset, size_t bytes) {
    const gfk_locate_code *c = &t->share->locator->code;
    const size_t first = offset / (width / 8), symbols = bytes / (width / 8);
    const size_t length = pitch(roots_length(c, t->share->length));
    worker *w = t->w;
    const unsigned char *of = w->rest + first;
    const gfk_regions in = {.base = w->values + offset, .stride = pitch(t->share->length)};
    compute_rows(t->share->locator->roots, &in, w->roots, length, bytes);
    memset(w->found, 0, symbols);
    for (uint32_t i = 0; i < c->k + c->m; i++) {
        unsigned char *row = w->roots + i * length;
        for (size_t s = 0; c->points[i] == 0 && s < symbols; s++)
            gfk_symbol_set(row, s, width, (of[s] & ZERO_ROOT) == 0);
        count_equal(w->found, row, power_of(c, i), symbols, width);
    }
    compare_lengths(w->found, of, symbols);
    w->verdict->unexplained += count_symbols(of, w->zeros, symbols, 8);
    w->verdict->unexplained -= count_symbols(of, w->found, symbols, 8);
    for (uint32_t i = 0; i < c->k + c->m; i++) {
        const unsigned char *row = w->roots + i * length;
        const size_t count = count_matches(row, power_of(c, i), w->found, symbols, width);
        w->counts[i] += count;
        if (t->share->call->repair && count != 0)
            repair_matches(t, width, i, row, first, symbols);
    }
}

/* Decodes all positions that w->wrong marks. If there are many, their roots are searched
 * together. */
FOR_POSITIONS void decode_width(const tile *t, unsigned width, size_t left) {
    const gfk_rs_locator *locator = t->share->locator;
    worker *w = t->w;
    const gfk_regions in = {.base = w->syndromes, .stride = pitch(t->share->length)};
    if (locator->sums != NULL)
        compute_rows(locator->sums, &in, w->values, pitch(t->share->length), t->bytes);
    if (locator->roots == NULL || left <= FEW || left < t->bytes / (width / 8) / MANY) {
        decode_positions(t, width);
        return;
    }
    if (width == 8) {
        gfk_locate_planes(&locator->code, w->values, pitch(t->share->length), w->wrong, w->rest,
                          t->bytes, t->share->call->repair);
        w->verdict->unexplained += count_symbols(w->wrong, w->rest, t->bytes, 8);
    } else {
        find_recurrences(t, width);
    }
    const size_t length = roots_length(&locator->code, t->share->length);
    for (size_t at = 0; at < t->bytes; at += length)
        use_roots(t, width, at, t->bytes - at < length ? t->bytes - at : length);
}

void gfk_locate_positions(const tile *t, size_t left) {
    const unsigned width = t->share->locator->code.field.w;
    if (width == 8)
        decode_width(t, 8, left);
    else if (width == 16)
        decode_width(t, 16, left);
    else
        decode_width(t, 32, left);
}
