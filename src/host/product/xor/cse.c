/* SPDX-License-Identifier: BSD-3-Clause */
/* The greedy search for common subexpressions. The cost of a sum is counted in XORs of up to three
 * operands (LOP3): a sum of n operands with slack s costs ceil((n - s) / 2). So three operands that
 * occur together in f sums save f - 1 XORs, and two operands save one XOR in every sum whose n - s
 * is odd.
 *
 * For each pair (a, b) the search keeps an upper bound on the number of sums that share a, b and
 * the best third operand c > b. A bound only falls, until a new term raises it by at most the worth
 * of that term. So the threshold below never rises, and a bound is computed exactly only when it
 * reaches the threshold. */
#include <stdlib.h>
#include <string.h>

#include "cse.h"

/* Terms that a search may add. More of them save less than the search costs. */
enum { MOST_NEW_TERMS = 768 };

bool gfk_jit_sums_init(gfk_jit_sums *s, size_t inputs, size_t sums) {
    *s = (gfk_jit_sums){.inputs = inputs, .sums = sums, .terms = inputs};
    s->words = (sums + 63) / 64;
    s->capacity = inputs + MOST_NEW_TERMS;
    s->column = calloc(s->capacity * s->words + 1, sizeof *s->column);
    s->term = calloc(s->capacity, sizeof *s->term);
    s->slack = calloc(sums + 1, sizeof *s->slack);
    if (s->column != NULL && s->term != NULL && s->slack != NULL)
        return true;
    gfk_jit_sums_free(s);
    return false;
}

void gfk_jit_sums_free(gfk_jit_sums *s) {
    free(s->column);
    free(s->term);
    free(s->slack);
    *s = (gfk_jit_sums){0};
}

typedef struct search {
    gfk_jit_sums *s;
    uint64_t *odd;    /* [words]: sums in which n - slack is odd and positive */
    uint16_t *count;  /* [sums]: n */
    uint16_t *pair;   /* [capacity][capacity]: sums with both, a < b */
    uint16_t *triple; /* the same: the bound on the best third, c > b */
} search;

static uint64_t *column(const search *q, size_t t) {
    return q->s->column + t * q->s->words;
}

/* The sums that have the terms of all three columns; c NULL: of the first two. */
static unsigned common(const search *q, const uint64_t *a, const uint64_t *b, const uint64_t *c) {
    unsigned n = 0;
    for (size_t i = 0; i < q->s->words; i++)
        n += (unsigned)__builtin_popcountll(a[i] & b[i] & (c ? c[i] : UINT64_MAX));
    return n;
}

static size_t at(const search *q, size_t a, size_t b) {
    return a < b ? a * q->s->capacity + b : b * q->s->capacity + a;
}

static void mark(search *q, size_t sum) {
    const unsigned n = q->count[sum], slack = q->s->slack[sum];
    const uint64_t bit = UINT64_C(1) << (sum % 64);
    q->odd[sum / 64] &= ~bit;
    if (n > slack && (n - slack) % 2 == 1)
        q->odd[sum / 64] |= bit;
}

/* Counts the sums that share a, b and the best third operand, which becomes *third. */
static unsigned best_third(const search *q, size_t a, size_t b, size_t *third) {
    unsigned best = 0;
    for (size_t c = b + 1; c < q->s->terms; c++) {
        if (q->pair[at(q, a, c)] <= best || q->pair[at(q, b, c)] <= best)
            continue;
        const unsigned n = common(q, column(q, a), column(q, b), column(q, c));
        if (n > best) {
            best = n;
            *third = c;
        }
    }
    return best;
}

static void refresh_pairs(search *q, size_t t) {
    for (size_t u = 0; u < q->s->terms; u++)
        if (u != t)
            q->pair[at(q, t, u)] = (uint16_t)common(q, column(q, t), column(q, u), NULL);
}

/* Replaces the operands by a new term in all sums of the bit set `where`. */
static void replace(search *q, const uint64_t *where, const size_t *operand, unsigned count) {
    gfk_jit_sums *s = q->s;
    const size_t d = s->terms++;
    s->term[d].count = count;
    for (unsigned i = 0; i < count; i++)
        s->term[d].operand[i] = (uint32_t)operand[i];
    for (size_t w = 0; w < s->words; w++) {
        column(q, d)[w] = where[w];
        for (unsigned i = 0; i < count; i++)
            column(q, operand[i])[w] &= ~where[w];
    }
    for (size_t sum = 0; sum < s->sums; sum++) {
        if (where[sum / 64] >> (sum % 64) & 1) {
            q->count[sum] = (uint16_t)(q->count[sum] - (count - 1));
            mark(q, sum);
        }
    }
    for (unsigned i = 0; i < count; i++)
        refresh_pairs(q, operand[i]);
    refresh_pairs(q, d);
    for (size_t a = 0; a < d; a++) {
        if (q->pair[at(q, a, d)] < 2)
            continue;
        for (size_t b = a + 1; b < d; b++) {
            uint16_t *bound = &q->triple[at(q, a, b)];
            if (q->pair[at(q, b, d)] > *bound && q->pair[at(q, a, d)] > *bound) {
                const unsigned n = common(q, column(q, a), column(q, b), column(q, d));
                *bound = (uint16_t)(n > *bound ? n : *bound);
            }
        }
    }
}

/* Replaces one triple that at least `threshold` sums share; false: there is none. */
static bool take_triple(search *q, unsigned threshold, uint64_t *where) {
    const size_t terms = q->s->terms;
    for (size_t a = 0; a < terms; a++) {
        for (size_t b = a + 1; b < terms; b++) {
            uint16_t *bound = &q->triple[at(q, a, b)];
            if (*bound < threshold)
                continue;
            size_t c = 0;
            *bound = q->pair[at(q, a, b)] < threshold ? q->pair[at(q, a, b)]
                                                      : (uint16_t)best_third(q, a, b, &c);
            if (*bound < threshold || c == 0)
                continue;
            for (size_t w = 0; w < q->s->words; w++)
                where[w] = column(q, a)[w] & column(q, b)[w] & column(q, c)[w];
            replace(q, where, (const size_t[]){a, b, c}, 3);
            return true;
        }
    }
    return false;
}

/* The same for a pair, counted only in sums where the pair saves an XOR. */
static bool take_pair(search *q, unsigned threshold, uint64_t *where) {
    const size_t terms = q->s->terms;
    for (size_t a = 0; a < terms; a++) {
        for (size_t b = a + 1; b < terms; b++) {
            if (q->pair[at(q, a, b)] < threshold ||
                common(q, column(q, a), column(q, b), q->odd) < threshold)
                continue;
            for (size_t w = 0; w < q->s->words; w++)
                where[w] = column(q, a)[w] & column(q, b)[w] & q->odd[w];
            replace(q, where, (const size_t[]){a, b}, 2);
            return true;
        }
    }
    return false;
}

static unsigned begin(search *q) {
    gfk_jit_sums *s = q->s;
    for (size_t sum = 0; sum < s->sums; sum++) {
        for (size_t t = 0; t < s->inputs; t++)
            q->count[sum] = (uint16_t)(q->count[sum] + gfk_jit_sums_has(s, sum, t));
        mark(q, sum);
    }
    unsigned best = 0;
    for (size_t a = 0; a < s->inputs; a++) {
        for (size_t b = a + 1; b < s->inputs; b++) {
            const unsigned n = common(q, column(q, a), column(q, b), NULL);
            q->pair[at(q, a, b)] = q->triple[at(q, a, b)] = (uint16_t)n;
            best = n > best ? n : best;
        }
    }
    return best;
}

bool gfk_jit_sums_share(gfk_jit_sums *s) {
    const size_t square = s->capacity * s->capacity;
    search q = {.s = s};
    q.odd = calloc(s->words + 1, sizeof *q.odd);
    q.count = calloc(s->sums + 1, sizeof *q.count);
    q.pair = calloc(square, sizeof *q.pair);
    q.triple = calloc(square, sizeof *q.triple);
    uint64_t *where = calloc(s->words + 1, sizeof *where);
    const bool ok = q.odd && q.count && q.pair && q.triple && where;
    if (ok)
        for (unsigned threshold = begin(&q); threshold >= 2; threshold--)
            while (s->terms < s->capacity &&
                   (take_triple(&q, threshold, where) || take_pair(&q, threshold, where)))
                continue;
    free(q.odd);
    free(q.count);
    free(q.pair);
    free(q.triple);
    free(where);
    return ok;
}
