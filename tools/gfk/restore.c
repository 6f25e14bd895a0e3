/* SPDX-License-Identifier: BSD-3-Clause */
#include "restore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "files.h"
#include "reader.h"
#include "report.h"

typedef struct restore {
    const shard_set *set;
    coder *coder;
    const restore_options *options;
    restore_sink *sink;
    void *context;
    restore_result *result;
    uint64_t next;         /* next stripe to read */
    stripe_finder finder;  /* where the shards have contents */
    uint64_t coded;        /* next stripe to restore */
    XXH3_state_t *hash;    /* hash of the bytes restored so far */
    size_t *lost, *wanted; /* lists of block indices for one call of the coder */
    uint64_t *counts;      /* one count for each shard */
    uint64_t contradictions,
        contradictory; /* stripes whose intact blocks do not fit together: their
                                               number, and the first one */
    bool *suspected;   /* shards in which the code locates wrong symbols of these stripes */
    bool unlocated;    /* in one of these stripes the code does not tell which blocks are wrong */
    void **aside;      /* copies of the blocks of one stripe; NULL until they are needed */
} restore;

/* ---- reading -------------------------------------------------------------------------------- */

/* Reads shards, data shards first, until every stripe of the batch has k intact blocks. A thorough
 * pass reads all shards. */
static void read_batch(const restore *r, batch *b) {
    const size_t stripes = batch_stripes(b);
    for (size_t index = 0; index < b->n; index++) {
        bool enough = !r->options->thorough && index >= b->k;
        for (size_t s = 0; s < stripes && enough; s++)
            enough = count_states(b, s, BLOCK_ELSEWHERE) >= b->k;
        if (enough)
            return;
        read_blocks(r->set, b, index, 0, stripes);
    }
}

/* ---- which shards are needed ---------------------------------------------------------------- */

/* A list of shard indices as text; "..." ends a list that is too long. */
typedef struct shard_list {
    char text[512];
    size_t length, count;
} shard_list;

static void list_add(shard_list *list, size_t index) {
    char item[32];
    const int length = snprintf(item, sizeof item, "%s%03zu", list->count == 0 ? "" : ", ", index);
    list->count++;
    if (list->length + (size_t)length + 5 < sizeof list->text) {
        memcpy(list->text + list->length, item, (size_t)length + 1);
        list->length += (size_t)length;
    } else if (list->length != 0 && list->text[list->length - 1] != '.') {
        memcpy(list->text + list->length, "...", 4);
        list->length += 3;
    }
}

bool restore_is_possible(const shard_set *set) {
    return shard_set_present(set) >= set->header.k || stripe_count(&set->header) == 0;
}

int restore_fail_for_shards(const shard_set *set) {
    shard_list missing = {"", 0, 0};
    for (size_t i = 0; i < set->count; i++)
        if (set->shards[i] == NULL)
            list_add(&missing, i);
    const size_t present = set->count - missing.count, needed = set->header.k - present;
    return fail(TOOL_UNRECOVERABLE,
                "%zu shard%s of %s can be read, %u %s needed: at least %zu of shard%s %s", present,
                plural(present), path_name(set->base), set->header.k,
                set->header.k == 1 ? "is" : "are", needed, plural(missing.count), missing.text);
}

/* Describes the first stripe that cannot be restored. */
static void give_reason(const restore *r, const batch *b, size_t stripe) {
    char *reason = r->result->reason;
    shard_list missing = {"", 0, 0}, damaged = {"", 0, 0};
    for (size_t i = 0; i < b->n; i++)
        if (batch_states(b, stripe)[i] < BLOCK_ELSEWHERE)
            list_add(r->set->shards[i] == NULL ? &missing : &damaged, i);
    const size_t good = b->n - missing.count - damaged.count;
    const int length = snprintf(reason, REASON_BYTES, "stripe %llu of %s cannot be restored: ",
                                (unsigned long long)(b->first + stripe), path_name(r->set->base));
    if (length < 0 || length >= REASON_BYTES)
        return;
    const size_t needed = b->k - good;
    snprintf(reason + length, REASON_BYTES - (size_t)length,
             "%zu %s intact, %zu %s needed. Damaged there: %s %s; missing or unreadable: %s %s; "
             "%s of %zu of them %s needed",
             good, good == 1 ? "block is" : "blocks are", b->k, b->k == 1 ? "is" : "are",
             damaged.count == 1 ? "shard" : "shards", damaged.count == 0 ? "none" : damaged.text,
             missing.count == 1 ? "shard" : "shards", missing.count == 0 ? "none" : missing.text,
             needed == 1 ? "an intact copy" : "intact copies", needed, needed == 1 ? "is" : "are");
}

/* ---- one stripe ----------------------------------------------------------------------------- */

/* Rebuilds `count` stripes from the blocks whose state is `least` or better. The stripes have such
 * blocks in the same shards. */
static int rebuild(restore *r, batch *b, size_t stripe, size_t count, block_state least,
                   bool parity_too) {
    size_t lost = 0, wanted = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (batch_states(b, stripe)[i] >= least)
            continue;
        r->lost[lost++] = i;
        if (i < b->k || parity_too)
            r->wanted[wanted++] = i;
    }
    return coder_decode(r->coder, b->stripes + stripe, count, r->lost, lost, r->wanted, wanted);
}

/* Reads the blocks of a stripe again, because an attempt to restore the stripe changed blocks. */
static void read_again(restore *r, batch *b, size_t stripe) {
    for (size_t i = 0; i < b->n; i++)
        read_blocks(r->set, b, i, stripe, 1);
}

/* Locates and corrects wrong symbols by the code. */
static int correct(restore *r, batch *b, size_t stripe, bool *done) {
    read_again(r, b, stripe);
    const int code = coder_correct(r->coder, b->stripes + stripe, done, r->counts);
    for (size_t i = 0; i < b->n && code == 0 && *done; i++) {
        block_state *state = &batch_states(b, stripe)[i];
        if (r->counts[i] == 0 || *state < BLOCK_ELSEWHERE)
            continue;
        *state = BLOCK_DAMAGED; /* the checksum matched wrong content */
        r->result->corrected[i]++;
    }
    return code;
}

/* Restores a stripe with fewer than k intact blocks. A block with a damaged header may be correct,
 * and the code can locate wrong symbols; the hash of the file checks the result. */
static int bring_back(restore *r, batch *b, size_t stripe, bool *done) {
    const size_t usable = count_states(b, stripe, BLOCK_UNKNOWN);
    int code = 0;
    *done = false;
    if (count_states(b, stripe, BLOCK_DAMAGED) < b->k) /* zeros instead of blocks fit each other */
        return 0;
    if (usable > b->k) { /* the code can check the result against the extra block */
        code = rebuild(r, b, stripe, 1, BLOCK_UNKNOWN, true);
        if (code == 0)
            code = coder_verify(r->coder, b->stripes + stripe, done);
    }
    if (code == 0 && !*done)
        code = correct(r, b, stripe, done);
    if (code == 0 && !*done && usable == b->k) {
        read_again(r, b, stripe);
        code = rebuild(r, b, stripe, 1, BLOCK_UNKNOWN, true);
        *done = code == 0;
    }
    return code;
}

/* ---- stripes whose intact blocks do not fit together ---------------------------------------- */

static int set_aside(restore *r, const batch *b, size_t stripe, size_t first) {
    if (r->aside == NULL) {
        r->aside = calloc(b->n, sizeof(void *));
        for (size_t i = 0; i < b->n && r->aside != NULL; i++)
            if (posix_memalign(&r->aside[i], BLOCK_UNIT, b->block_bytes) != 0)
                return no_memory();
    }
    if (r->aside == NULL)
        return no_memory();
    for (size_t i = first; i < b->n; i++)
        memcpy(r->aside[i], batch_block(b, stripe, i), b->stripes[stripe].bytes);
    return 0;
}

/* Finds out, for the message, in which shards the code locates wrong symbols. A block that was
 * rebuilt from wrong blocks is no evidence and counts as wrong. More wrong blocks than the code
 * locates always could be any blocks: then nobody is suspected. */
static int suspect(restore *r, const batch *b, size_t stripe) {
    const size_t bytes = b->stripes[stripe].bytes;
    const block_state *states = batch_states(b, stripe);
    bool located = false;
    size_t wrong = 0;
    int code = set_aside(r, b, stripe, 0);
    for (size_t i = 0; i < b->n && code == 0; i++)
        if (states[i] < BLOCK_ELSEWHERE)
            memset(r->aside[i], 0, bytes);
    if (code == 0)
        code = coder_correct(r->coder, &(coder_stripe){r->aside, bytes}, &located, r->counts);
    for (size_t i = 0; i < b->n && code == 0 && located; i++)
        wrong += r->counts[i] != 0 || states[i] < BLOCK_ELSEWHERE;
    r->unlocated = !located || wrong > coder_locatable(r->coder);
    for (size_t i = 0; i < b->n && code == 0 && !r->unlocated; i++)
        r->suspected[i] |= r->counts[i] != 0 && states[i] >= BLOCK_ELSEWHERE;
    return code;
}

/* The padding of a rebuilt block is not zero if a block that it was rebuilt from is wrong. */
static bool clear_padding(const restore *r, const batch *b, size_t stripe) {
    bool cleared = false;
    const bool last = b->first + stripe + 1 == stripe_count(&r->set->header);
    for (size_t i = 0; i < b->k && last; i++) {
        uint8_t *block = batch_block(b, stripe, i);
        const size_t used = block_file_bytes(&r->set->header, b->first + stripe, i);
        const size_t padding = b->stripes[stripe].bytes - used;
        cleared = cleared || !is_zero(block + used, padding);
        memset(block + used, 0, padding);
    }
    return cleared;
}

/* Makes the parity of the data. A parity block that differs is taken as wrong; at the end the
 * file's hash tells whether the data are right. */
static int trust_data(restore *r, batch *b, size_t stripe) {
    const size_t bytes = b->stripes[stripe].bytes;
    int code = 0;
    if (r->contradictions++ == 0)
        r->contradictory = b->first + stripe;
    if (!r->unlocated)
        code = suspect(r, b, stripe);
    if (code == 0)
        code = set_aside(r, b, stripe, b->k);
    if (code == 0)
        code = coder_encode(r->coder, b->stripes + stripe, 1);
    for (size_t i = b->k; i < b->n && code == 0; i++) {
        block_state *state = &batch_states(b, stripe)[i];
        if (*state < BLOCK_ELSEWHERE || memcmp(r->aside[i], batch_block(b, stripe, i), bytes) == 0)
            continue;
        *state = BLOCK_DAMAGED;
        r->result->corrected[i]++;
    }
    return code;
}

/* Checks by the code a stripe that has k or more blocks with correct checksums. */
static int check(restore *r, batch *b, size_t stripe) {
    bool matches = false;
    const bool cleared = clear_padding(r, b, stripe);
    const int code = coder_verify(r->coder, b->stripes + stripe, &matches);
    return code == 0 && (cleared || !matches) ? trust_data(r, b, stripe) : code;
}

/* Adds the paths of the shards that are not suspected, as words of a shell. */
static void add_choice(const restore *r, char *text, size_t room) {
    size_t length = strlen(text);
    for (size_t i = 0; i < r->set->count; i++) {
        if (r->set->shards[i] == NULL || r->suspected[i])
            continue;
        if (room - length <= sizeof "  ..." ||
            !shell_word(r->set->shards[i]->path, text + length + 1,
                        room - length - sizeof "  ...")) {
            strcpy(text + length, " ...");
            return;
        }
        text[length] = ' ';
        length += strlen(text + length);
    }
}

/* Says how the user can choose. Shards are named only if the code locates what is wrong, and enough
 * others are left. */
static void explain_disagreement(const restore *r) {
    const shard_set *set = r->set;
    const uint32_t k = set->header.k;
    shard_list all = {"", 0, 0}, wrong = {"", 0, 0};
    for (size_t i = 0; i < set->count; i++) {
        if (set->shards[i] != NULL)
            list_add(&all, i);
        if (r->suspected[i] && !r->unlocated)
            list_add(&wrong, i);
    }
    const bool choice = wrong.count != 0 && all.count >= k + wrong.count;
    char *reason = r->result->reason;
    snprintf(
        reason, REASON_BYTES,
        "the shards of %s disagree: in %llu stripe%s, first in stripe %llu, the blocks fit "
        "their checksums but not each other, and the data are not the file that was encoded. "
        "The shards are %s; %s%s. Name %u or more shards that you trust, and decode reads "
        "only these, and writes what they give if this has the hash of the file%s",
        path_name(set->base), (unsigned long long)r->contradictions, plural(r->contradictions),
        (unsigned long long)r->contradictory, all.text,
        choice ? "by the code, wrong may be " : "the code does not tell which of them are wrong",
        choice ? wrong.text : "", k, choice ? ", such as: gfk decode" : ": gfk decode SHARD...");
    if (choice)
        add_choice(r, reason, REASON_BYTES);
}

/* ---- the steps ------------------------------------------------------------------------------ */

/* Adds bytes of the file to those that are missing. */
static int miss(restore *r, uint64_t offset, uint64_t bytes) {
    restore_result *result = r->result;
    byte_range *last =
        result->missing_count == 0 ? NULL : &result->missing[result->missing_count - 1];
    if (bytes == 0)
        return 0;
    if (last != NULL && last->offset + last->bytes == offset) {
        last->bytes += bytes;
        return 0;
    }
    if ((result->missing_count & (result->missing_count - 1)) == 0) { /* 0, 1, 2, 4, ...: full */
        const size_t room = result->missing_count == 0 ? 1 : 2 * result->missing_count;
        byte_range *grown = realloc(result->missing, room * sizeof *grown);
        if (grown == NULL)
            return no_memory();
        result->missing = grown;
    }
    result->missing[result->missing_count++] = (byte_range){offset, bytes};
    return 0;
}

/* Keeps the intact data blocks of a stripe that is lost, and fills the others with zeros. */
static int keep_intact(restore *r, batch *b, size_t stripe) {
    const shard_header *header = &r->set->header;
    const uint64_t number = b->first + stripe, start = number * header->k * header->block_bytes;
    const size_t bytes = b->stripes[stripe].bytes;
    int code = 0;
    for (size_t i = 0; i < b->k && code == 0; i++) {
        if (batch_states(b, stripe)[i] >= BLOCK_ELSEWHERE)
            continue;
        memset(batch_block(b, stripe, i), 0, bytes);
        code = miss(r, start + i * bytes, block_file_bytes(header, number, i));
    }
    return code;
}

/* Counts the stripes that were not read, before `end`, as lost. */
static int skip(restore *r, uint64_t end) {
    restore_result *result = r->result;
    const shard_header *header = &r->set->header;
    const uint64_t count = end - r->coded, stripe_bytes = header->k * header->block_bytes;
    if (count == 0)
        return 0;
    if (r->options->partial) {
        const uint64_t first = r->coded * stripe_bytes, left = header->file_bytes - first;
        const int code = miss(r, first, count < left / stripe_bytes ? count * stripe_bytes : left);
        if (code != 0)
            return code;
    }
    if (result->lost_stripes == 0)
        snprintf(
            result->reason, REASON_BYTES,
            "%s: %llu of %llu stripe%s, from stripe %llu on, cannot be restored: fewer than %u "
            "shard%s contents there",
            path_name(r->set->base), (unsigned long long)count,
            (unsigned long long)stripe_count(&r->set->header),
            plural(stripe_count(&r->set->header)), (unsigned long long)r->coded, r->set->header.k,
            r->set->header.k == 1 ? " has" : "s have");
    result->lost_stripes += count;
    result->damaged_stripes += count;
    for (size_t i = 0; i < r->set->count; i++)
        result->bad_blocks[i] += r->set->shards[i] == NULL ? 0 : count;
    r->coded = end;
    return r->options->keep_going ? 0 : TOOL_UNRECOVERABLE;
}

static int read_step(batch *b, void *context) {
    restore *r = context;
    const shard_header *header = &r->set->header;
    const uint64_t stripes = stripe_count(header);
    size_t bytes = 0, count = 0;
    r->next = finder_next(&r->finder, r->next, r->options->partial ? 1 : r->set->header.k);
    if (r->next == stripes)
        return BATCH_END;
    for (; count < b->capacity && r->next + count < stripes; count++)
        bytes += stripe_file_bytes(header, r->next + count);
    batch_assign(b, r->next, bytes);
    r->next += count;
    read_batch(r, b);
    return 0;
}

/* The number of stripes, from `stripe` on, whose intact blocks are in the same shards. */
static size_t alike(const batch *b, size_t stripe, size_t stripes) {
    size_t count = 1;
    for (; stripe + count < stripes; count++)
        for (size_t i = 0; i < b->n; i++)
            if ((batch_states(b, stripe)[i] >= BLOCK_ELSEWHERE) !=
                (batch_states(b, stripe + count)[i] >= BLOCK_ELSEWHERE))
                return count;
    return count;
}

static void count_damage(restore *r, const batch *b, size_t stripe) {
    bool damaged = false;
    for (size_t i = 0; i < b->n; i++) {
        const block_state state = batch_states(b, stripe)[i];
        if (r->set->shards[i] != NULL && state != BLOCK_GOOD && state != BLOCK_UNREAD) {
            r->result->bad_blocks[i]++;
            damaged = true;
        }
    }
    r->result->damaged_stripes += damaged;
}

static int code_step(batch *b, void *context) {
    restore *r = context;
    const size_t stripes = batch_stripes(b);
    const bool thorough = r->options->thorough;
    const int skipped = skip(r, b->first);
    if (skipped != 0)
        return skipped;
    r->coded += stripes;
    for (size_t stripe = 0, count; stripe < stripes; stripe += count) {
        count = alike(b, stripe, stripes);
        const bool enough = count_states(b, stripe, BLOCK_ELSEWHERE) >= b->k;
        int code = enough ? rebuild(r, b, stripe, count, BLOCK_ELSEWHERE, thorough) : 0;
        for (size_t s = stripe; s < stripe + count && code == 0; s++) {
            bool done = true;
            if (!enough && r->options->partial) {
                done = false;
                code = keep_intact(r, b, s);
            } else if (!enough)
                code = bring_back(r, b, s, &done);
            else if (thorough)
                code = check(r, b, s);
            count_damage(r, b, s);
            r->result->guessed_stripes += done && !enough;
            if (code == 0 && !done) {
                if (r->result->lost_stripes++ == 0)
                    give_reason(r, b, s);
                code = r->options->keep_going ? 0 : TOOL_UNRECOVERABLE;
            }
        }
        if (code != 0)
            return code;
    }
    return 0;
}

static int write_step(batch *b, void *context) {
    restore *r = context;
    XXH3_128bits_update(r->hash, b->memory, b->bytes);
    const int code = r->sink == NULL ? 0 : r->sink(b, r->context);
    progress_add(b->bytes);
    return code;
}

/* ---- the pass ------------------------------------------------------------------------------- */

static int restore_stripes(restore *r) {
    const shard_header *header = &r->set->header;
    const restore_options *o = r->options;
    int code = 0;
    const uint64_t stripes = stripe_count(header);
    if (stripes != 0)
        r->next = finder_next(&r->finder, 0, r->options->partial ? 1 : r->set->header.k);
    if (r->next < stripes)
        code = batch_run(r->coder, header, header->file_bytes, o->memory, o->what,
                         (batch_step *const[]){read_step, code_step, write_step}, r);
    if (code == 0)
        code = skip(r, stripes);
    if (code != 0 && (code != TOOL_UNRECOVERABLE || r->result->lost_stripes == 0))
        return code;
    const XXH128_hash_t hash = XXH3_128bits_digest(r->hash);
    const bool whole =
        r->result->lost_stripes == 0 || (o->partial && r->result->missing_count == 0);
    r->result->hash_matches =
        whole && hash.low64 == header->hash_low && hash.high64 == header->hash_high;
    if (r->result->hash_matches)
        return 0;
    for (size_t i = 0; i < r->set->count; i++) { /* without the hash, no shard is to blame */
        r->result->bad_blocks[i] -= r->result->corrected[i];
        r->result->corrected[i] = 0;
    }
    r->result->disagree = r->result->lost_stripes == 0 && r->contradictions != 0;
    if (r->result->disagree)
        explain_disagreement(r);
    else if (r->result->lost_stripes == 0)
        snprintf(r->result->reason, REASON_BYTES,
                 "what these shards of %s make is not the file that was encoded",
                 path_name(r->set->base));
    return 0;
}

int restore_run(const shard_set *set, coder *c, const restore_options *options, restore_sink *sink,
                void *context, restore_result *result) {
    *result = (restore_result){.bad_blocks = calloc(set->count, sizeof(uint64_t)),
                               .corrected = calloc(set->count, sizeof(uint64_t))};
    restore r = {.set = set,
                 .coder = c,
                 .options = options,
                 .sink = sink,
                 .context = context,
                 .result = result,
                 .hash = XXH3_createState(),
                 .lost = calloc(set->count, sizeof(size_t)),
                 .wanted = calloc(set->count, sizeof(size_t)),
                 .counts = calloc(set->count, sizeof(uint64_t)),
                 .suspected = calloc(set->count, sizeof(bool))};
    int code;
    if (result->bad_blocks == NULL || result->corrected == NULL || r.hash == NULL ||
        r.lost == NULL || r.wanted == NULL || r.counts == NULL || r.suspected == NULL) {
        code = no_memory();
    } else {
        XXH3_128bits_reset(r.hash);
        code = finder_open(&r.finder, set);
        if (code == 0)
            code = restore_stripes(&r);
    }
    XXH3_freeState(r.hash);
    free(r.lost);
    free(r.wanted);
    free(r.counts);
    free(r.suspected);
    finder_close(&r.finder);
    for (size_t i = 0; i < set->count && r.aside != NULL; i++)
        free(r.aside[i]);
    free(r.aside);
    return code;
}

void restore_result_free(restore_result *result) {
    free(result->bad_blocks);
    free(result->corrected);
    free(result->missing);
    *result = (restore_result){0};
}

int restore_open_coder(coder **c, const shard_set *set, const coder_options *options,
                       bool partial) {
    gfk_field field;
    const shard_header *h = &set->header;
    if (!restore_is_possible(set) && !partial)
        return restore_fail_for_shards(set);
    if (stripe_count(h) == 0 || !restore_is_possible(set)) /* nothing to compute */
        return 0;
    int code = coder_check_memory(h->k, h->m, options->memory);
    if (code != 0)
        return code;
    const gfk_status status = gfk_field_init(&field, h->w, h->polynomial);
    if (status != GFK_STATUS_SUCCESS)
        return fail(TOOL_UNRECOVERABLE, "the shards name a field that is none: %s",
                    status_text(status));
    code = coder_open(c, options, &field, (gfk_rs_matrix)h->matrix, h->k, h->m);
    return code == TOOL_USAGE ? TOOL_UNRECOVERABLE : code; /* the shards hold wrong values */
}
