/* SPDX-License-Identifier: BSD-3-Clause */
/* A matmul on the CPU, by tables of the data: four bits of a coefficient choose one of 16 multiples
 * of an input. Tables of the data cost the same for every matrix, even if the regions are short,
 * and need neither a library nor instructions for one field (Newton-John tables: M. Albrecht, "The
 * M4RIE library for dense linear algebra over small fields with even characteristic", ISSAC 2012).
 *
 * If the CPU multiplies by 8 x 8 bits (GFNI) there are no tables at w = 8.
 *
 * A thread takes a product, a panel of rows and a part of the byte range. It adds up a tile of each
 * output in its workspace. Eight tables, in the L1 cache, serve 32 bits of each row: a word, which
 * has 4, 2 or 1 coefficients. A pass takes as many words of each row as the workspace has room
 * for. */
#include <stdatomic.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "engine.h"
#include "host/base/cpu_targets.h"
#include "host/base/sizes.h"
#include "host/base/symbol.h"
#include "host/base/threads.h"
#include "matmul.h"

enum {
    TILE = 128,       /* bytes of a region */
    MOST_ROWS = 1024, /* rows of a panel: their sums and their words stay in an L2 cache */
    /* rows of the smallest panel for more threads, because making tables takes time */
    LEAST_ROWS = 128,
    /* bytes of a region in the smallest part, because reading the matrix takes time */
    LEAST_PART = 2048,
    LEAST_SUMS = 16 << 10, /* bytes of sums for an idle thread, which takes time to wake up */
    PARTS_PER_THREAD = 4,  /* the smallest number, so that all threads are busy to the end */
    WORDS = 64 << 10,
    /* words of a row that are read at a time; also the room between columns of words, so that the
     * columns use different cache sets */
    LINE = 16,
    /* rows that are read at a time; generators make a row faster from the row above */
    ROWS_AT_ONCE = 16,
    DIGITS = 8,
    MULTIPLES = 16
};

typedef uint64_t vector __attribute__((vector_size(64)));
typedef struct tile {
    vector part[TILE / sizeof(vector)];
} tile;
enum { VECTORS = TILE / sizeof(vector) };

/* The workspace of a thread. */
typedef struct space {
    tile tables[DIGITS][MULTIPLES];
    tile inputs[4]; /* the inputs of a word; 0 after the last input */
    tile sums[MOST_ROWS];
    uint32_t words[WORDS]; /* the words of a pass, column by column */
} space;

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* ---- the arithmetic, compiled for several sets of instructions ------------------------------- */

/* Multiplies every symbol by x: shifts within words, and a mask for each symbol whose top bit is
 * set. */
GFK_FOR_TARGET void double_symbols(tile *x, unsigned w, uint64_t top, uint64_t polynomial) {
    for (unsigned p = 0; p < VECTORS; p++) {
        const vector v = x->part[p], high = v & top;
        const vector mask = (high << 1) - (high >> (w - 1));
        x->part[p] = ((v ^ high) << 1) ^ (mask & polynomial);
    }
}

GFK_FOR_TARGET void fill_tables(space *s, const gfk_field *field) {
    const unsigned w = field->w;
    const uint64_t ones = UINT64_MAX / (UINT64_MAX >> (64 - w)); /* the lowest bit of each symbol */
    const uint64_t polynomial = ones * (field->polynomial & (UINT64_MAX >> (64 - w)));
    tile x = {0};
    for (unsigned d = 0; d < DIGITS; d++) {
        tile *table = s->tables[d];
        if (d * 4 % w == 0)
            x = s->inputs[d * 4 / w];
        table[0] = (tile){0};
        for (unsigned bit = 0; bit < 4; bit++) {
            for (unsigned v = 0; v < 1u << bit; v++)
                for (unsigned p = 0; p < VECTORS; p++)
                    table[(1u << bit) + v].part[p] = table[v].part[p] ^ x.part[p];
            double_symbols(&x, w, ones << (w - 1), polynomial);
        }
    }
}

/* Adds to each sum the table entries that its word chooses. */
GFK_FOR_TARGET void add_words(space *s, const uint32_t *words, size_t rows) {
    for (size_t j = 0; j < rows; j++) {
        const uint32_t word = words[j];
        tile sum = s->sums[j];
#pragma GCC unroll 8
        for (unsigned d = 0; d < DIGITS; d++) {
            const tile *multiple = &s->tables[d][word >> 4 * d & (MULTIPLES - 1)];
#pragma GCC unroll 2
            for (unsigned p = 0; p < VECTORS; p++)
                sum.part[p] ^= multiple->part[p];
        }
        s->sums[j] = sum;
    }
}

/* The state that a call's threads share: multiplications by each element of w = 8 as 8 x 8 bits, if
 * the CPU has these instructions. */
typedef struct constants {
    const gfk_field *field;
    uint64_t bits[256];
} constants;

typedef void add_fn(space *s, const constants *c, const uint32_t *words, size_t rows);

/* Adds the products of the inputs in s->inputs. */
#define ADD_INPUTS(set, attribute)                                                                 \
    attribute static void add_##set(space *s, const constants *c, const uint32_t *words,           \
                                    size_t rows) {                                                 \
        fill_tables(s, c->field);                                                                  \
        add_words(s, words, rows);                                                                 \
    }
GFK_CPU_TARGETS(ADD_INPUTS)

#if defined(__x86_64__) && !defined(GFK_WITHOUT_GFNI)
/* Adds products at w = 8 for any polynomial, without tables of the data: with few rows the tables
 * would be used too rarely. */
__attribute__((target("avx512bw,gfni"))) static void add_gfni(space *s, const constants *c,
                                                              const uint32_t *words, size_t rows) {
    __m512i x[4][VECTORS];
    for (unsigned i = 0; i < 4; i++)
        for (unsigned p = 0; p < VECTORS; p++)
            x[i][p] = (__m512i)s->inputs[i].part[p];
    for (size_t j = 0; j < rows; j++) {
        const uint32_t word = words[j];
        tile sum = s->sums[j];
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++) {
            const __m512i bits = _mm512_set1_epi64((int64_t)c->bits[word >> 8 * i & 255]);
#pragma GCC unroll 2
            for (unsigned p = 0; p < VECTORS; p++)
                sum.part[p] ^= (vector)_mm512_gf2p8affine_epi64_epi8(x[i][p], bits, 0);
        }
        s->sums[j] = sum;
    }
}

/* Bit j of byte 7 - i says whether bit j of the operand counts for bit i of the product. */
static void fill_bits(constants *c) {
    c->bits[0] = 0;
    for (uint32_t element = 1; element < 256; element *= 2) {
        uint32_t x = element;
        c->bits[element] = 0;
        for (unsigned j = 0; j < 8; j++, x = x << 1 ^ (x >> 7) * (uint32_t)c->field->polynomial)
            for (unsigned i = 0; i < 8; i++)
                c->bits[element] |= (uint64_t)(x >> i & 1) << (8 * (7 - i) + j);
    }
    for (uint32_t element = 3; element < 256; element++)
        if ((element & (element - 1)) != 0)
            c->bits[element] = c->bits[element & (element - 1)] ^ c->bits[element & (0 - element)];
}
#endif

static add_fn *choose_target(constants *c) {
    (void)c;
#if defined(__x86_64__) && !defined(GFK_WITHOUT_GFNI)
    if (c->field->w == 8 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("gfni")) {
        fill_bits(c);
        return add_gfni;
    }
#endif
    return GFK_ON_THIS_CPU(add);
}

/* ---- a panel and a part of the byte range ---------------------------------------------------- */

typedef struct run {
    const gfk_matmul_call *call;
    constants constants;
    add_fn *add;
    size_t panel_rows, part_bytes;
    size_t panels, parts, products;
    /* counts products * parts * panels; the panels of a part follow each other */
    atomic_size_t next;
} run;

/* Rows [row, row + rows) of a product, and the words [first, first + words) of each row. */
typedef struct pass {
    const gfk_matmul_call *call;
    size_t row, rows, first, words;
} pass;

static size_t pitch(size_t rows) {
    return rows + LINE;
}

/* Reads the words [first, first + LINE) of some rows, with 0 after the last column. */
static void read_lines(const gfk_matmul_call *call, size_t row, size_t rows, size_t first,
                       uint32_t lines[ROWS_AT_ONCE][LINE]) {
    const gfk_matrix *a = call->a;
    const unsigned w = call->field->w;
    const size_t symbol = w / 8, per_line = sizeof *lines / symbol, col = first * per_line / LINE;
    const size_t cols = least(a->cols - col, per_line);
    uint32_t elements[ROWS_AT_ONCE][sizeof *lines];
    memset(lines, 0, rows * sizeof *lines);
    if (call->generator != NULL)
        gfk_generator_fill(call->generator, row, rows, col, cols, elements[0], sizeof *lines);
    for (size_t j = 0; j < rows; j++)
        if (call->generator == NULL)
            memcpy(lines[j], (const char *)a->elements + ((row + j) * a->stride + col) * symbol,
                   cols * symbol);
        else
            for (size_t i = 0; i < cols; i++)
                gfk_symbol_set(lines[j], i, w, elements[j][i]);
}

static void read_words(const pass *p, space *s) {
    uint32_t lines[ROWS_AT_ONCE][LINE];
    for (size_t g = 0; g < p->words; g += LINE)
        for (size_t row = 0; row < p->rows; row += ROWS_AT_ONCE) {
            const size_t rows = least(ROWS_AT_ONCE, p->rows - row);
            read_lines(p->call, p->row + row, rows, p->first + g, lines);
            for (size_t i = 0; i < least(LINE, p->words - g); i++)
                for (size_t j = 0; j < rows; j++)
                    s->words[(g + i) * pitch(p->rows) + row + j] = lines[j][i];
        }
}

/* The compiler turns copies of whole tiles into a few instructions. */
static void copy(void *to, const void *from, size_t bytes) {
    if (bytes == TILE)
        memcpy(to, from, TILE);
    else
        memcpy(to, from, bytes);
}

static void read_inputs(const gfk_matmul_call *call, size_t word, size_t offset, size_t bytes,
                        space *s) {
    const size_t count = sizeof(uint32_t) / (call->field->w / 8), first = word * count;
    for (size_t i = 0; i < count; i++)
        if (first + i < call->a->cols)
            copy(&s->inputs[i], gfk_region_address(call->b, first + i) + offset, bytes);
        else
            s->inputs[i] = (tile){0};
    for (size_t i = first + count; i < least(first + 2 * count, call->a->cols); i++) {
        const unsigned char *next = gfk_region_address(call->b, i) + offset;
        __builtin_prefetch(next);
        __builtin_prefetch(next + bytes - 1);
    }
}

static void compute_tile(const run *r, const pass *p, size_t offset, size_t bytes, space *s) {
    const gfk_matmul_call *call = p->call;
    for (size_t j = 0; j < p->rows; j++)
        if (p->first == 0 && !call->accumulate)
            s->sums[j] = (tile){0};
        else
            copy(&s->sums[j], gfk_region_address(call->c, p->row + j) + offset, bytes);
    for (size_t g = 0; g < p->words; g++) {
        read_inputs(call, p->first + g, offset, bytes, s);
        r->add(s, &r->constants, &s->words[g * pitch(p->rows)], p->rows);
    }
    for (size_t j = 0; j < p->rows; j++)
        if (call->output_mask == NULL || call->output_mask[p->row + j] != 0)
            copy(gfk_region_address(call->c, p->row + j) + offset, &s->sums[j], bytes);
}

static void compute_panel(const run *r, size_t product, size_t part, size_t panel, space *s) {
    gfk_matmul_part one; /* one of several products, which have dense matrices */
    if (r->products > 1)
        gfk_matmul_set_part(&one, r->call, product, 1);
    const gfk_matmul_call *call = r->products > 1 ? &one.call : r->call;
    const size_t all = gfk_divide_up(call->a->cols * (call->field->w / 8), sizeof(uint32_t));
    const size_t at = part * r->part_bytes, end = at + least(r->part_bytes, call->bytes - at);
    pass p = {.call = call, .row = panel * r->panel_rows};
    p.rows = least(r->panel_rows, call->a->rows - p.row);
    for (; p.first < all; p.first += p.words) {
        p.words = least(WORDS / pitch(p.rows), all - p.first);
        read_words(&p, s);
        for (size_t offset = at; offset < end; offset += TILE)
            compute_tile(r, &p, offset, least(TILE, end - offset), s);
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Divides the work among `threads` threads: products, then the byte range, then the panels. Returns
 * the number of threads that have work. */
static size_t cut_work(run *r, size_t rows, size_t bytes, size_t products, size_t threads) {
    const size_t wanted = threads == 1 ? 1 : PARTS_PER_THREAD * threads;
    size_t parts;
    r->products = products;
    r->panel_rows = gfk_divide_up(rows, gfk_divide_up(rows, MOST_ROWS));
    r->part_bytes = bytes;
    for (;;) {
        r->panels = gfk_divide_up(rows, r->panel_rows);
        r->parts = gfk_divide_up(bytes, r->part_bytes);
        parts = least(products, wanted) * least(r->panels, wanted) * least(r->parts, wanted);
        if (parts >= wanted)
            break;
        if (r->part_bytes > LEAST_PART)
            r->part_bytes = gfk_divide_up(r->part_bytes / 2, TILE) * TILE;
        else if (r->panel_rows > LEAST_ROWS)
            r->panel_rows = gfk_divide_up(r->panel_rows, 2);
        else if (parts < threads && r->part_bytes > TILE &&
                 r->panel_rows * r->part_bytes > LEAST_SUMS) /* other threads have no work */
            r->part_bytes = gfk_divide_up(r->part_bytes / 2, TILE) * TILE;
        else
            break;
    }
    return least(threads, parts);
}

/* Counts the threads that may have work, also those of a smaller call, which may be cut into more
 * parts: the smallest parts that cut_work makes of any call with no more rows and bytes. */
size_t gfk_matmul_cpu_space(size_t rows, size_t bytes, size_t products, size_t threads) {
    const size_t halved = LEAST_SUMS / 2 / least(rows, LEAST_ROWS);
    const size_t part = least(halved > TILE ? halved : TILE, LEAST_PART / 2);
    const size_t panels = gfk_divide_up(rows, LEAST_ROWS / 2), parts = gfk_divide_up(bytes, part);
    return least(threads,
                 least(products, threads) * least(panels, threads) * least(parts, threads)) *
           sizeof(space);
}

typedef struct team {
    run run;
    space *spaces;
} team;

static void take_part(size_t thread, void *context) {
    team *t = context;
    run *r = &t->run;
    for (size_t n; (n = atomic_fetch_add(&r->next, 1)) < r->products * r->parts * r->panels;)
        compute_panel(r, n / r->panels / r->parts, n / r->panels % r->parts, n % r->panels,
                      &t->spaces[thread]);
}

void gfk_matmul_cpu_run(const gfk_matmul_call *call, size_t products, gfk_pool *pool,
                        size_t threads) {
    team t = {.run = {.call = call, .constants.field = call->field},
              .spaces = (space *)call->workspace};
    t.run.add = choose_target(&t.run.constants);
    threads = cut_work(&t.run, call->a->rows, call->bytes, products, threads);
    if (threads == 1 || pool == NULL)
        take_part(0, &t);
    else
        gfk_pool_run(pool, threads, threads, take_part, &t);
}
