/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for forged shards, whose checksums fit their wrong contents: the hash of the file
 * tells which subset of the shards is honest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "restore.h"

typedef struct search {
    const shard_set *set;
    coder *coder;
    const restore_options *options;
    uint64_t stripe;        /* a stripe whose blocks do not fit together */
    size_t *there;          /* indices of the shards that can be read */
    size_t count;           /* their number */
    size_t *out, out_count; /* positions in `there` of the shards that are left out, ascending */
    bool *forged;           /* a flag for each shard of the set: left out */
    uint64_t tried, spent;  /* subsets; bytes restored */
    bool limit;             /* the bytes of the search are spent */
} search;

/* Restores one stripe or the whole file without the shards that are left out. *fits: the stripe
 * has no contradiction, or the file has the right hash. */
static int restore_without(search *s, const uint64_t *stripe, bool *fits) {
    const shard_header *header = &s->set->header;
    const uint64_t bytes = stripe != NULL ? stripe_file_bytes(header, *stripe) : header->file_bytes;
    *fits = false;
    s->limit = s->spent >= s->options->search;
    if (s->limit)
        return 0;
    s->spent += bytes < LEAST_TRIAL_BYTES ? LEAST_TRIAL_BYTES : bytes;
    restore_options options = *s->options;
    restore_result result;
    options.thorough = options.trial = true;
    options.what = NULL;
    options.keep_going = false;
    options.forged = s->forged;
    options.stripe = stripe;
    const int code = restore_run(s->set, s->coder, &options, NULL, NULL, &result);
    *fits = stripe != NULL ? result.lost_stripes == 0 : result.hash_matches;
    restore_result_free(&result);
    progress_set(s->spent);
    return code;
}

/* With more than k shards left, one stripe usually shows that the subset is wrong. */
static int try_subset(search *s, bool *found) {
    memset(s->forged, 0, s->set->count * sizeof *s->forged);
    for (size_t i = 0; i < s->out_count; i++)
        s->forged[s->there[s->out[i]]] = true;
    int code = 0;
    *found = true;
    if (s->count - s->out_count > s->set->header.k)
        code = restore_without(s, &s->stripe, found);
    if (code == 0 && *found)
        code = restore_without(s, NULL, found);
    s->tried += !s->limit;
    return code;
}

/* Goes to the next choice of as many shards, in lexicographic order. */
static bool next_choice(search *s) {
    size_t i = s->out_count;
    while (i > 0 && s->out[i - 1] == s->count - s->out_count + i - 1)
        i--;
    if (i == 0)
        return false;
    s->out[i - 1]++;
    for (; i < s->out_count; i++)
        s->out[i] = s->out[i - 1] + 1;
    return true;
}

static int run(search *s, bool *found) {
    int code = 0;
    const size_t most = s->count - s->set->header.k;
    for (s->out_count = 1; s->out_count <= most; s->out_count++) {
        for (size_t i = 0; i < s->out_count; i++)
            s->out[i] = i;
        do {
            code = try_subset(s, found);
            if (code != 0 || *found || s->limit)
                return code;
        } while (next_choice(s));
    }
    return code;
}

/* Says what is searched and until when, because the search may take minutes. The line of progress
 * ends at the limit, or where the last subset would be tried. */
static void begin_progress(const search *s) {
    const shard_header *header = &s->set->header;
    const double stripe = (double)stripe_file_bytes(header, s->stripe);
    const double file = (double)header->file_bytes;
    double subsets = 0, bytes = 0, choices = 1; /* choices: subsets that leave out `out` shards */
    for (size_t out = 1; out + header->k <= s->count; out++) {
        const double trial = out + header->k < s->count ? stripe : file;
        choices *= (double)(s->count - out + 1) / (double)out;
        subsets += choices;
        bytes += choices * (trial < LEAST_TRIAL_BYTES ? LEAST_TRIAL_BYTES : trial);
    }
    const double most = (double)s->options->search;
    char what[256];
    warn("%s: the blocks contradict each other; the search for forged shards tries up to %.15g "
         "subset%s of the shards, until %.0f MB are restored",
         s->options->what, subsets, subsets == 1 ? "" : "s", most / 1e6);
    snprintf(what, sizeof what, "%s: search", s->options->what);
    progress_begin(what, bytes < most ? (uint64_t)bytes : s->options->search);
}

static void add_outcome(const search *s, restore_result *result) {
    const size_t length = strlen(result->reason);
    snprintf(result->reason + length, REASON_BYTES - length,
             s->limit
                 ? "; the search for forged shards tried %llu subset%s of the shards, a larger "
                   "--search tries more"
                 : "; the search for forged shards tried all %llu subset%s of the shards",
             (unsigned long long)s->tried, plural(s->tried));
}

int restore_find_forged(const shard_set *set, coder *c, restore_options *options,
                        restore_result *result) {
    if (!result->contradiction || options->search == 0)
        return 0;
    search s = {.set = set,
                .coder = c,
                .options = options,
                .stripe = result->contradictory_stripe,
                .there = calloc(set->count, sizeof *s.there),
                .out = calloc(set->count, sizeof *s.out),
                .forged = calloc(set->count, sizeof *s.forged)};
    bool found = false;
    int code = 0;
    if (s.there == NULL || s.out == NULL || s.forged == NULL)
        code = fail(TOOL_INTERNAL, "out of memory");
    for (size_t i = 0; i < set->count && code == 0; i++)
        if (set->shards[i] != NULL)
            s.there[s.count++] = i;
    if (code == 0 && s.count > set->header.k) {
        begin_progress(&s);
        code = run(&s, &found);
        progress_end();
    }
    if (code == 0 && !found)
        add_outcome(&s, result);
    if (code == 0 && found) {
        warn("%zu shard%s forged, found after %llu subset%s", s.out_count,
             s.out_count == 1 ? " is" : "s are", (unsigned long long)s.tried, plural(s.tried));
        options->forged = s.forged;
        s.forged = NULL;
    }
    free(s.there);
    free(s.out);
    free(s.forged);
    return code;
}

int restore_examine(const shard_set *set, coder *c, restore_options *options,
                    restore_result *result) {
    options->thorough = true;
    int code = restore_run(set, c, options, NULL, NULL, result);
    if (code == 0 && !result->hash_matches)
        code = restore_find_forged(set, c, options, result);
    if (code == 0 && options->forged != NULL) {
        restore_result_free(result);
        code = restore_run(set, c, options, NULL, NULL, result);
    }
    return code;
}
