/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a code that locating needs, on the host or on the device. */
#include <stdlib.h>
#include <string.h>

#include "host/base/sizes.h"
#include "host/device/device.h"
#include "host/rs/code.h"
#include "locate.h"

/* The offsets of the tables of a code, in words. The matrix, or a device's checks, come first. Each
 * table begins at a multiple of 16 bytes. */
typedef struct layout {
    size_t points, v_parity, v_inverses, powers, quadratic, inverter, reduced, products, words;
    uint32_t pitch, powers_pitch; /* row distances of the checks and of the powers */
} layout;

enum { FEW_REGIONS = 64, PRODUCT_WORDS = 256 * 256 / 4 };

static size_t take(size_t *words, size_t count) {
    const size_t at = *words;
    *words += gfk_round_up(count, 4);
    return at;
}

static layout layout_of(const gfk_rs_info *info) {
    const bool on_device = info->device >= 0;
    const size_t k = info->k, m = info->m, n = k + m, w = info->field.w;
    layout l = {.pitch = (uint32_t)gfk_round_up(m, 8),
                .powers_pitch = (uint32_t)gfk_round_up(n, 8)};
    (void)take(&l.words, on_device ? n * l.pitch : m * k);
    l.points = take(&l.words, n);
    l.v_parity = take(&l.words, m);
    l.v_inverses = take(&l.words, n);
    l.powers =
        take(&l.words, on_device || m <= GFK_LOCATE_MOST_SUMS ? (m / 2 + 1) * l.powers_pitch : 0);
    l.quadratic = take(&l.words, w / 8 * 256);
    l.inverter = take(&l.words, sizeof(gfk_inverter) / 4);
    l.reduced = take(&l.words, w == 32 ? w / 8 * 256 : 0);
    l.products = take(&l.words, w == 8 && !on_device ? PRODUCT_WORDS : 0);
    return l;
}

static gfk_locate_code view(gfk_rs_t code, bool points, const layout *l, const uint32_t *words) {
    const unsigned w = code->info.field.w;
    const bool on_device = code->info.device >= 0;
    gfk_locate_code out = {
        .field = code->arithmetic,
        .barrett = gfk_barrett_of(w, code->info.field.polynomial),
        .k = (uint32_t)code->info.k,
        .m = (uint32_t)code->info.m,
        .t = (uint32_t)(code->info.m / 2),
        .matrix = on_device ? NULL : words,
        .checks = on_device ? words : NULL,
        .pitch = l->pitch,
        .points = points ? words + l->points : NULL,
        .v_parity = words + l->v_parity,
        .v_inverses = words + l->v_inverses,
        .powers = words + l->powers,
        .powers_pitch = l->powers_pitch,
        .quadratic = words + l->quadratic,
        .inverter =
            on_device || w == 32 ? (const gfk_inverter *)(const void *)(words + l->inverter) : NULL,
        .reduced = w == 32 ? words + l->reduced : NULL,
        .products = w == 8 && !on_device ? (const uint8_t *)(words + l->products) : NULL};
    if (on_device)
        out.field.log = out.field.antilog = NULL;
    return out;
}

/* y -> y^2 + y is linear over bits; only 0 and 1 become 0. Elimination by highest bits changes the
 * images of 2, 4, 8, ... to a basis from which a solution can be read. */
static void fill_quadratic(const gfk_arithmetic *f, uint32_t *table) {
    uint32_t images[32] = {0}, sources[32] = {0}; /* indexed by the highest bit of the image */
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

/* Writes the images of the bytes under the linear map that maps bit i to first * factor^i. */
static void fill_powers(const gfk_arithmetic *f, uint32_t first, uint32_t factor, uint32_t *table) {
    for (unsigned i = 0; i < f->w; i++) {
        uint32_t *byte = table + i / 8 * 256;
        for (uint32_t v = 0; v < UINT32_C(1) << i % 8; v++)
            byte[(1u << i % 8) + v] = byte[v] ^ first;
        first = gfk_times(f, first, factor);
    }
}

/* Row a is the sum of the rows of the bits of a. Row 2^i holds x^i * b for all b. */
static void fill_products(const gfk_arithmetic *f, uint8_t *table) {
    for (unsigned a = 1; a < 256; a++)
        for (unsigned b = 0; b < 256; b++)
            table[a << 8 | b] = (a & (a - 1)) == 0
                                    ? (uint8_t)gfk_times(f, a, b)
                                    : table[(a & (a - 1)) << 8 | b] ^ table[(a & -a) << 8 | b];
}

/* Fills the tables. *points: the code is decoded by its points, else by a search. Returns false if
 * neither is possible. */
static bool fill_tables(gfk_rs_t code, const layout *l, uint32_t *words, bool *points) {
    const gfk_rs_info *info = &code->info;
    const gfk_arithmetic *f = &code->arithmetic;
    const size_t k = info->k, m = info->m, n = k + m;
    const bool on_device = info->device >= 0;
    if (l->products != l->words)
        fill_products(f, (uint8_t *)(words + l->products));
    if (l->reduced != l->products)
        fill_powers(f, f->polynomial, 2, words + l->reduced);
    gfk_inverter_init((gfk_inverter *)(void *)(words + l->inverter), &info->field);
    uint32_t *p = words + l->points, *v = words + l->v_inverses, *powers = words + l->powers;
    *points = gfk_grs_find(code, p, v);
    if (!*points &&
        (info->mds != GFK_RS_MDS_YES || !gfk_rs_few_subsets(n, m / 2, GFK_LOCATE_MOST_SUBSETS)))
        return false;
    if (!on_device)
        memcpy(words, code->matrix, m * k * sizeof *words);
    for (size_t i = 0; i < n && on_device; i++)
        for (size_t j = 0; j < m; j++)
            words[i * l->pitch + j] = !*points ? (i < k ? code->matrix[j * k + i] : i - k == j)
                                      : j == 0 ? v[i]
                                               : gfk_times(f, words[i * l->pitch + j - 1], p[i]);
    if (!*points)
        return true;
    memcpy(words + l->v_parity, v + k, m * sizeof *words);
    fill_quadratic(f, words + l->quadratic);
    for (size_t i = 0; i < n; i++) {
        v[i] = gfk_inverse(f, v[i]);
        for (size_t e = 0; e <= m / 2 && l->powers != l->quadratic; e++)
            powers[e * l->powers_pitch + i] =
                e == 0 ? 1 : gfk_times(f, powers[(e - 1) * l->powers_pitch + i], p[i]);
    }
    return true;
}

/* Makes a product of the code's engine, or NULL if the engine does not take it. */
static gfk_status make_product(gfk_rs_t code, size_t rows, size_t cols, const uint32_t *matrix,
                               gfk_product_t *product) {
    gfk_product_desc desc;
    RETURN_IF_ERROR(gfk_rs_product_desc(code, NULL, &desc));
    const gfk_status status =
        gfk_product_create_proven(product, &code->info.field, rows, cols, matrix, &desc);
    return status == GFK_STATUS_OUT_OF_MEMORY ? status : GFK_STATUS_SUCCESS;
}

/* Makes the products of a code with points on the CPU. One computes the S_r from the syndromes,
 * with the m * m coefficients v[k + j] * points[k + j]^r. The other computes the values of
 * recurrences at the points. */
static gfk_status make_products(gfk_rs_t code, const layout *l, gfk_rs_locator *locator) {
    const size_t k = code->info.k, m = code->info.m, n = k + m, t = m / 2;
    const uint32_t *words = locator->tables, *powers = words + l->powers;
    uint32_t *sums = calloc(m * m + n * t, sizeof *sums), *roots = sums + m * m;
    if (sums == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    for (size_t e = 0; e < m * m; e++)
        sums[e] = e < m ? words[l->v_parity + e]
                        : gfk_times(&code->arithmetic, sums[e - m], words[l->points + k + e % m]);
    for (size_t e = 0; e < n * t; e++)
        roots[e] = powers[(t - 1 - e % t) * l->powers_pitch + e / t];
    gfk_status status = make_product(code, m, m, sums, &locator->sums);
    /* With planes even the roots of few regions take less time than the formulas. */
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

/* Makes the locator. Sets *offered to whether the code can locate. */
static gfk_status make_locator(gfk_rs_t code, gfk_rs_locator *locator, bool *offered) {
    const bool on_device = code->info.device >= 0;
    const layout l = layout_of(&code->info);
    const size_t bytes = l.words * sizeof(uint32_t);
    bool points = false;
    locator->tables = calloc(1, bytes);
    if (locator->tables == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    *offered = fill_tables(code, &l, locator->tables, &points);
    if (!*offered)
        return GFK_STATUS_SUCCESS;
    if (points && !on_device && code->info.m <= GFK_LOCATE_MOST_SUMS)
        RETURN_IF_ERROR(make_products(code, &l, locator));
    int processors = 0, cc = 0;
    if (on_device) {
        RETURN_IF_ERROR(upload(locator, code->info.device, bytes));
        RETURN_IF_ERROR(gfk_device_processors(code->info.device, &processors));
        RETURN_IF_ERROR(gfk_device_capability(code->info.device, &cc));
    }
    locator->processors = (size_t)processors;
    locator->explains = cc >= 80 && cc <= 90;
    locator->code = view(code, points, &l, locator->tables);
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
    gfk_status status = make_locator(code, locator, &offered);
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
