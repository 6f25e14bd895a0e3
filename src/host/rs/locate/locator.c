/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a code that locating needs, on the host or on the device. */
#include <stdlib.h>
#include <string.h>

#include "host/device/device.h"
#include "host/rs/code.h"
#include "locate.h"

/* Where the tables of a code are, in words, and their length: matrix, points, multipliers of
 * parity, inverses of all multipliers, powers t of the points, solutions of quadratic equations, what reduces products,
 * on the CPU the norms of w = 32 and the products of w = 8; for a device also the tables of the arithmetic and the operand of tensor cores, at a multiple of 16
 * bytes. */
typedef struct layout {
    size_t points, v_parity, v_inverses, powers, quadratic, reduced, norms, products, log, operand,
        words;
} layout;

/* On a device Euclid's algorithm takes less time than lookups in global memory. */
enum { FEW_REGIONS = 64, NORM_WORDS = (3 * 4 + 1) * 256, PRODUCT_WORDS = 256 * 256 / 4 };
static bool has_norms(const gfk_rs_info *info) {
    return info->field.w == 32 && info->device == GFK_CPU;
}
static bool has_products(const gfk_rs_info *info) {
    return info->field.w == 8 && info->device == GFK_CPU;
}

static layout layout_of(const gfk_rs_info *info, size_t log_entries, size_t operand_words) {
    layout l = {.points = info->m * info->k};
    l.v_parity = l.points + info->k + info->m;
    l.v_inverses = l.v_parity + info->m;
    l.powers = l.v_inverses + info->k + info->m;
    l.quadratic = l.powers + info->k + info->m;
    l.reduced = l.quadratic + info->field.w / 8 * 256;
    l.norms = l.reduced + info->field.w / 8 * 256;
    l.products = l.norms + (has_norms(info) ? NORM_WORDS : 0);
    l.log = l.products + (has_products(info) ? PRODUCT_WORDS : 0);
    l.operand = (l.log + (log_entries + 1) / 2 + 3) / 4 * 4;
    l.words = l.operand + operand_words;
    return l;
}

static gfk_locate_code view(gfk_rs_t code, bool points, bool log, const layout *l,
                            const uint32_t *words) {
    gfk_locate_code out = {
        .field = code->arithmetic,
        .k = (uint32_t)code->info.k,
        .m = (uint32_t)code->info.m,
        .t = (uint32_t)(code->info.m / 2),
        .matrix = words,
        .points = points ? words + l->points : NULL,
        .v_parity = words + l->v_parity,
        .v_inverses = words + l->v_inverses,
        .powers = words + l->powers,
        .quadratic = words + l->quadratic,
        .reduced = words + l->reduced,
        .norms = has_norms(&code->info) ? words + l->norms : NULL,
        .products = has_products(&code->info) ? (const uint8_t *)(words + l->products) : NULL,
        .carryless = code->arithmetic.log == NULL};
    if (log) {
        out.field.log = (const uint16_t *)(words + l->log);
        out.field.antilog = out.field.log + (code->arithmetic.antilog - code->arithmetic.log);
    }
    return out;
}

/* y -> y^2 + y is linear over bits; only 0 and 1 become 0. Elimination by highest bits turns the
 * images of 2, 4, 8, ... to a basis in which a solution is read off. */
static void fill_quadratic(const gfk_arithmetic *f, uint32_t *table) {
    uint32_t images[32] = {0}, sources[32] = {0}; /* by the highest bit of the image */
    for (unsigned i = 1; i < f->w; i++) {
        uint32_t y = UINT32_C(1) << i, c = gfk_times(f, y, y) ^ y;
        unsigned top = 31;
        while (images[top = 31 - (unsigned)__builtin_clz(c)] != 0) {
            c ^= images[top];
            y ^= sources[top];
        }
        images[top] = c;
        sources[top] = y;
    }
    for (uint32_t b = 0; b < f->w / 8; b++)
        for (uint32_t v = 0; v < 256; v++) {
            uint32_t c = v << (8 * b), y = 0;
            for (unsigned top = 32; top-- > 0;)
                if (c >> top & 1) {
                    c ^= images[top];
                    y ^= sources[top];
                }
            table[256 * b + v] = y;
        }
}

/* The linear map that maps bit i to first * factor^i: the images of the bytes, for gfk_map_bytes. */
static void fill_powers(const gfk_arithmetic *f, uint32_t first, uint32_t factor, uint32_t *table) {
    for (unsigned i = 0; i < f->w; i++) {
        uint32_t *byte = table + i / 8 * 256;
        for (uint32_t v = 0; v < UINT32_C(1) << i % 8; v++)
            byte[(1u << i % 8) + v] = byte[v] ^ first;
        first = gfk_times(f, first, factor);
    }
}

/* a^(2^count) */
static uint32_t square(const gfk_arithmetic *f, uint32_t a, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        a = gfk_times(f, a, a);
    return a;
}

/* Elements of GF(2^8) in GF(2^32) differ in their bits at eight pivots, which are their index. */
static void fill_norms(const gfk_arithmetic *f, uint32_t *table) {
    uint32_t *index = table + 2048, *inverses = table + 3072, powers[255];
    fill_powers(f, 1, square(f, 2, 16), table);
    fill_powers(f, 1, square(f, 2, 8), table + 1024);
    unsigned order = 0;
    for (uint32_t a = 2; order != 255; a++) { /* norms, until one generates all of GF(2^8) */
        const uint32_t b = gfk_times(f, a, square(f, a, 16));
        const uint32_t generator = gfk_times(f, b, square(f, b, 8));
        powers[0] = 1;
        for (order = 1; (powers[order % 255] = gfk_times(f, powers[order - 1], generator)) != 1;)
            order++;
    }
    uint32_t basis[8];
    for (unsigned j = 0; j < 8; j++) {
        basis[j] = powers[j];
        for (unsigned i = 0; i < j; i++)
            if (basis[j] & (basis[i] & -basis[i]))
                basis[j] ^= basis[i];
        const uint32_t pivot = basis[j] & -basis[j]; /* the lowest bit */
        const unsigned bit = (unsigned)__builtin_ctz(pivot);
        for (uint32_t v = 0; v < 256; v++)
            index[bit / 8 * 256 + v] |= (v >> bit % 8 & 1) << j;
    }
    for (unsigned i = 0; i < 255; i++)
        inverses[gfk_map_bytes(index, powers[i])] = powers[(255 - i) % 255];
}

/* Row a is the sum of the rows of the bits of a, and row 2^i is that of all x^i * b. */
static void fill_products(const gfk_arithmetic *f, uint8_t *table) {
    for (unsigned a = 1; a < 256; a++)
        for (unsigned b = 0; b < 256; b++)
            table[a << 8 | b] = (a & (a - 1)) == 0
                                    ? (uint8_t)gfk_times(f, a, b)
                                    : table[(a & (a - 1)) << 8 | b] ^ table[(a & -a) << 8 | b];
}

/* Fills the tables. *points: the code is decoded by its points, else by a search. False: neither
 * is possible. */
static bool fill(gfk_rs_t code, const layout *l, size_t log_entries, uint32_t *words,
                 bool *points) {
    const gfk_rs_info *info = &code->info;
    const gfk_arithmetic *f = &code->arithmetic;
    const size_t k = info->k, m = info->m, n = k + m;
    const uint32_t power = f->polynomial & (UINT32_MAX >> (32 - f->w)); /* x^w */
    fill_powers(f, power, 2, words + l->reduced);
    if (has_products(info))
        fill_products(f, (uint8_t *)(words + l->products));
    if (has_norms(info))
        fill_norms(f, words + l->norms);
    uint32_t *v_inverses = words + l->v_inverses;
    memcpy(words, code->matrix, m * k * sizeof *words);
    *points = gfk_grs_find(code, words + l->points, v_inverses);
    if (!*points &&
        (info->mds != GFK_RS_MDS_YES || !gfk_rs_few_subsets(n, m / 2, GFK_LOCATE_MOST_SUBSETS)))
        return false;
    if (*points) {
        memcpy(words + l->v_parity, v_inverses + k, m * sizeof *words);
        for (size_t i = 0; i < n; i++)
            v_inverses[i] = gfk_inverse(f, v_inverses[i]);
        fill_quadratic(f, words + l->quadratic);
    }
    if (log_entries != 0)
        memcpy(words + l->log, f->log, log_entries * sizeof *f->log);
    return true;
}

/* S_r = sum over j of v[k + j] * points[k + j]^r * syndrome j: m * m coefficients. And the powers
 * points[i]^(t-1), ..., points[i], 1 of k + m regions. */
static void fill_linear(gfk_rs_t code, const layout *l, const uint32_t *words, uint32_t *sums,
                        uint32_t *roots) {
    const size_t k = code->info.k, m = code->info.m, t = m / 2;
    const uint32_t *points = words + l->points;
    for (size_t e = 0; e < m * m; e++)
        sums[e] = e < m ? words[l->v_parity + e]
                        : gfk_times(&code->arithmetic, sums[e - m], points[k + e % m]);
    for (size_t e = (k + m) * t; e-- > 0;)
        roots[e] = e % t == t - 1 ? 1 : gfk_times(&code->arithmetic, roots[e + 1], points[e / t]);
}

/* A product of the code's engine; none where the engine cannot have it. */
static gfk_status make_product(gfk_rs_t code, size_t rows, size_t cols, const uint32_t *matrix,
                               gfk_product_t *product) {
    gfk_product_desc desc;
    RETURN_IF_ERROR(gfk_rs_product_desc(code, NULL, &desc));
    const gfk_status status =
        gfk_product_create_proven(product, &code->info.field, rows, cols, matrix, &desc);
    return status == GFK_STATUS_OUT_OF_MEMORY ? status : GFK_STATUS_SUCCESS;
}

/* What is linear: from the syndromes to the S_r, and from recurrences to their values at the points.
 * Operands of tensor cores, or products on the CPU. */
static gfk_status make_linear(gfk_rs_t code, bool points, const layout *l, bool operand,
                              gfk_rs_locator *locator) {
    const size_t n = code->info.k + code->info.m, m = code->info.m, t = m / 2;
    uint32_t *words = locator->tables, *sums = calloc(m * m + n * t, sizeof *sums);
    uint32_t *roots = sums + m * m;
    if (sums == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    if (points)
        fill_linear(code, l, words, sums, roots);
    for (size_t i = 0; points && i < n; i++)
        words[l->powers + i] = gfk_times(&code->arithmetic, roots[i * t], words[l->points + i]);
    gfk_status status = GFK_STATUS_SUCCESS;
    if (operand)
        gfk_locate_build_operand(&code->info, code->matrix, sums, roots, words + l->operand);
    if (points && code->info.device == GFK_CPU)
        status = make_product(code, m, m, sums, &locator->sums);
    /* By planes even few regions' roots take less time than the formulas. */
    if (status == GFK_STATUS_SUCCESS && locator->sums != NULL &&
        (!gfk_locate_has_formulas((uint32_t)t) || (code->info.field.w == 8 && n <= FEW_REGIONS)))
        status = make_product(code, n, t, roots, &locator->roots);
    free(sums);
    return status;
}

/* Copies the tables to the device and frees them on the host. */
static gfk_status upload(gfk_rs_locator *locator, int device, size_t bytes) {
    void *host = locator->tables;
    locator->tables = NULL;
    locator->device = device;
    gfk_status status = gfk_device_alloc(&locator->tables, bytes);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_device_upload(locator->tables, host, bytes);
    free(host);
    return status;
}

/* Sets *offered to whether the code can locate. */
static gfk_status make(gfk_rs_t code, gfk_rs_locator *locator, bool *offered) {
    const bool on_device = code->info.device >= 0;
    const size_t entries = on_device ? gfk_arithmetic_entries(&code->info.field) : 0;
    const size_t operand_words = on_device ? gfk_locate_operand_words(&code->info) : 0;
    const layout l = layout_of(&code->info, entries, operand_words);
    const size_t bytes = l.words * sizeof(uint32_t);
    bool points = false;
    locator->tables = calloc(1, bytes);
    if (locator->tables == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    *offered = fill(code, &l, entries, locator->tables, &points);
    if (!*offered)
        return GFK_STATUS_SUCCESS;
    if (points ? code->info.m <= GFK_LOCATE_MOST_SUMS : operand_words != 0)
        RETURN_IF_ERROR(make_linear(code, points, &l, operand_words != 0, locator));
    if (on_device)
        RETURN_IF_ERROR(upload(locator, code->info.device, bytes));
    locator->code = view(code, points, entries != 0, &l, locator->tables);
    if (operand_words == 0)
        return GFK_STATUS_SUCCESS;
    int processors = 0;
    RETURN_IF_ERROR(gfk_device_processors(code->info.device, &processors));
    locator->operand = (const uint32_t *)locator->tables + l.operand;
    locator->processors = (size_t)processors;
    locator->blocks = gfk_locate_blocks(&code->info, processors);
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_rs_locator_create(gfk_rs_t code) {
    if (code->info.m < 2 || code->info.m > GFK_LOCATE_MOST_ROWS)
        return GFK_STATUS_SUCCESS;
    gfk_rs_locator *locator = calloc(1, sizeof *locator);
    if (locator == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    locator->device = GFK_CPU;
    locator->encoder = code->encoder;
    bool offered = false;
    gfk_status status = make(code, locator, &offered);
    if (status == GFK_STATUS_SUCCESS && offered && code->info.device < 0) {
        locator->threads = gfk_usable_cores();
        locator->pool = gfk_pool_acquire();
        if (locator->pool == NULL)
            status = GFK_STATUS_OUT_OF_MEMORY;
    }
    if (status != GFK_STATUS_SUCCESS || !offered) {
        gfk_rs_locator_destroy(locator);
        return status;
    }
    code->locator = locator;
    code->info.locatable = code->info.m / 2;
    return GFK_STATUS_SUCCESS;
}

void gfk_rs_locator_destroy(gfk_rs_locator *locator) {
    if (locator == NULL)
        return;
    gfk_pool_release(locator->pool);
    gfk_product_destroy(locator->sums);
    gfk_product_destroy(locator->roots);
    if (locator->device >= 0)
        gfk_device_free(locator->device, locator->tables);
    else
        free(locator->tables);
    free(locator);
}
