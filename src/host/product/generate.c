/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated matrices on the host: the checks, the points, and the elements. */
#include "generate.h"

#include <string.h>

#include "host/base/field.h"
#include "host/base/sizes.h"
#include "host/base/status.h"

enum {
    PAR2_COLS = 32768, /* the numbers below PAR2_ORDER that have no factor in common with it */
    PAR2_ORDER = 65535,
    REPEATS_AT_ONCE = 2048,
    POINTS_AT_ONCE = 256
};

/* ---- points ---------------------------------------------------------------------------------- */

static uint32_t row_point(const gfk_matrix *m, size_t j) {
    return m->row_points != NULL ? m->row_points[j] : (uint32_t)(m->cols + m->first + j);
}

static uint32_t col_point(const gfk_matrix *m, size_t i) {
    return m->col_points != NULL ? m->col_points[i] : (uint32_t)i;
}

static bool is_par2_exponent(uint32_t n) {
    return n % 3 != 0 && n % 5 != 0 && n % 17 != 0 && n % 257 != 0;
}

/* Returns how many numbers below n are exponents, by inclusion and exclusion. */
static uint32_t par2_exponents_below(uint32_t n) {
    static const uint32_t primes[] = {3, 5, 17, 257};
    uint32_t count = 0;
    for (unsigned set = 0; set < 16; set++) {
        uint32_t divisor = 1;
        for (unsigned i = 0; i < 4; i++)
            if (set >> i & 1)
                divisor *= primes[i];
        const uint32_t multiples = (n + divisor - 1) / divisor;
        count += __builtin_popcount(set) % 2 == 0 ? multiples : -multiples;
    }
    return count;
}

/* Half of the numbers are exponents, up to an error of 8 from rounding 16 quotients. */
static void par2_points(const gfk_field *field, size_t first, size_t count, uint32_t *points) {
    uint32_t n = first < 8 ? 0 : 2 * (uint32_t)first - 16;
    uint32_t power = gfk_poly_pow(2, n, field->w, field->polynomial);
    for (size_t i = par2_exponents_below(n); i < first + count; n++) {
        if (is_par2_exponent(n)) {
            if (i >= first)
                points[i - first] = power;
            i++;
        }
        power = gfk_poly_double(power, field->w, field->polynomial);
    }
}

void gfk_generator_col_points(const gfk_generator *g, size_t first, size_t count,
                              uint32_t *points) {
    if (g->matrix.kind == GFK_MATRIX_PAR2) {
        par2_points(&g->field, first, count, points);
        return;
    }
    for (size_t i = 0; i < count; i++)
        points[i] = col_point(&g->matrix, first + i);
}

void gfk_generator_row_points(const gfk_generator *g, size_t first, size_t count,
                              uint32_t *points) {
    for (size_t j = 0; j < count; j++)
        points[j] = row_point(&g->matrix, first + j);
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The points in the caller's memory: first of columns, then of rows. */
typedef struct given {
    const uint32_t *points[2];
    size_t count[2];
} given;

static uint32_t given_point(const given *g, size_t i) {
    return i < g->count[0] ? g->points[0][i] : g->points[1][i - g->count[0]];
}

/* Finds repeats among elements of at most 16 bits. Each element has a bit of its own. */
static bool short_points_repeat(const given *g, unsigned w) {
    uint32_t seen[1 << 11];
    memset(seen, 0, (size_t)1 << (w - 3));
    for (size_t i = 0; i < g->count[0] + g->count[1]; i++) {
        const uint32_t point = given_point(g, i), bit = UINT32_C(1) << point % 32;
        if (seen[point / 32] & bit)
            return true;
        seen[point / 32] |= bit;
    }
    return false;
}

/* A hash function under which different points stay different. */
static uint32_t hash_of(uint32_t point) {
    point *= UINT32_C(0x9e3779b1);
    point ^= point >> 15;
    return point * UINT32_C(0x9e3779b1);
}

/* Finds repeats among elements of 32 bits, without allocation, in a small hash table for one range
 * of hashes after the other. A range with too many points is halved, and a range after one with few
 * points is doubled. */
static bool long_points_repeat(const given *g) {
    enum { SLOTS = 2 * REPEATS_AT_ONCE };
    uint32_t table[SLOTS]; /* UINT32_MAX: the slot is free */
    uint64_t span = UINT64_C(1) << 31;
    for (uint64_t low = 0; low >> 32 == 0;) {
        memset(table, 0xff, sizeof table);
        size_t used = 0;
        for (size_t i = 0; i < g->count[0] + g->count[1] && used <= REPEATS_AT_ONCE; i++) {
            const uint32_t hash = hash_of(given_point(g, i)) - (uint32_t)low;
            if (hash >= span)
                continue;
            size_t slot = hash % SLOTS;
            while (table[slot] != UINT32_MAX && table[slot] != hash)
                slot = (slot + 1) % SLOTS;
            if (table[slot] == hash)
                return true;
            table[slot] = hash;
            used++;
        }
        if (used > REPEATS_AT_ONCE) {
            span /= 2;
        } else {
            low += span;
            if (low % (2 * span) == 0 && used < REPEATS_AT_ONCE / 4 && span >> 31 == 0)
                span *= 2;
        }
    }
    return false;
}

/* Checks the points of `cols` columns and `rows` rows. CAUCHY points that the caller did not give
 * are different from each other. They are in the field if the caller has checked the last one. */
static gfk_status check_points(const gfk_field *field, const gfk_matrix *m, size_t cols,
                               size_t rows) {
    const uint64_t elements = UINT64_C(1) << field->w;
    if (cols > elements || rows > elements - cols)
        return GFK_STATUS_INVALID_SIZE;
    const uint32_t *const points[2] = {m->col_points, m->row_points};
    const size_t counts[2] = {cols, rows};
    const uint32_t begin = (uint32_t)(points[0] == NULL ? 0 : m->cols + m->first);
    const uint32_t made = (uint32_t)(points[0] == NULL ? cols : points[1] == NULL ? rows : 0);
    given g = {.count = {0}};
    uint32_t outside = 0, repeats = 0, falls = 0;
    for (int side = 0; side < 2; side++) {
        const uint32_t *p = points[side];
        const size_t count = p != NULL ? counts[side] : 0;
        if (gfk_wraps(p, count * sizeof *p))
            return GFK_STATUS_INVALID_SIZE;
        for (size_t i = 0; i < count; i++) {
            outside |= p[i] > elements - 1;
            repeats |= p[i] - begin < made;
        }
        for (size_t i = 1; i < count; i++)
            falls |= p[i - 1] >= p[i];
        g.points[side] = p;
        g.count[side] = count;
    }
    if (outside)
        return GFK_STATUS_INVALID_CONSTANT;
    if (g.count[0] != 0 && g.count[1] != 0)
        falls |= g.points[0][cols - 1] >= g.points[1][0];
    if (falls && !repeats) /* the points of most callers ascend */
        repeats = field->w == 32 ? long_points_repeat(&g) : short_points_repeat(&g, field->w);
    return repeats ? GFK_STATUS_INVALID_ARGUMENT : GFK_STATUS_SUCCESS;
}

static gfk_status check_matrix(const gfk_field *field, const gfk_matrix *m) {
    const uint64_t elements = UINT64_C(1) << field->w;
    const bool by_rows = m->row_points != NULL;
    switch (m->kind) {
    case GFK_MATRIX_CAUCHY:
        if (!by_rows && (m->cols > elements || m->rows > elements - m->cols ||
                         m->first > elements - m->cols - m->rows))
            return GFK_STATUS_INVALID_SIZE;
        return check_points(field, m, m->cols, m->rows);
    case GFK_MATRIX_VANDERMONDE:
        if (by_rows == (m->col_points != NULL))
            return GFK_STATUS_INVALID_ARGUMENT;
        if ((by_rows ? m->cols : m->rows) - 1 > UINT64_MAX - m->first)
            return GFK_STATUS_INVALID_SIZE;
        return by_rows ? check_points(field, m, 0, m->rows) : check_points(field, m, m->cols, 0);
    case GFK_MATRIX_PAR2:
        if (field->w != 16 || field->polynomial != GFK_POLYNOMIAL_W16)
            return GFK_STATUS_NOT_SUPPORTED;
        return m->cols > PAR2_COLS || m->rows > PAR2_ORDER || m->first > PAR2_ORDER - m->rows
                   ? GFK_STATUS_INVALID_SIZE
                   : GFK_STATUS_SUCCESS;
    case GFK_MATRIX_RANDOM:
        return m->rows - 1 > UINT64_MAX - m->first ? GFK_STATUS_INVALID_SIZE : GFK_STATUS_SUCCESS;
    default:
        return GFK_STATUS_INVALID_ARGUMENT;
    }
}

/* ---- elements -------------------------------------------------------------------------------- */

gfk_status gfk_generator_init(gfk_generator *g, const gfk_field *field, const gfk_matrix *matrix) {
    if (matrix == NULL || matrix->rows == 0 || matrix->cols == 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(check_matrix(field, matrix));
    g->field = *field;
    g->matrix = *matrix;
    if (matrix->kind == GFK_MATRIX_PAR2 || matrix->kind == GFK_MATRIX_RANDOM)
        g->matrix.row_points = g->matrix.col_points = NULL; /* not read */
    if (matrix->kind == GFK_MATRIX_CAUCHY)
        gfk_inverter_init(&g->inverter, field);
    return GFK_STATUS_SUCCESS;
}

/* Generates one row of at most POINTS_AT_ONCE columns. `above` is the row before in the same call,
 * or NULL. */
static void fill_row(const gfk_generator *g, size_t row, size_t col, size_t cols,
                     const uint32_t *points, const uint32_t *above, uint32_t *out) {
    const gfk_matrix *m = &g->matrix;
    const unsigned w = g->field.w;
    const uint64_t polynomial = g->field.polynomial;
    if (m->kind == GFK_MATRIX_CAUCHY) {
        const uint32_t x = row_point(m, row);
        for (size_t i = 0; i < cols; i++)
            out[i] = gfk_invert(&g->inverter, w, polynomial, x ^ points[i]);
    } else if (m->kind == GFK_MATRIX_RANDOM) {
        const size_t in_block = 128 / w, in_word = 32 / w;
        uint32_t words[4];
        for (size_t i = 0; i < cols; i++) {
            const size_t at = (col + i) % in_block;
            if (i == 0 || at == 0)
                gfk_random_bytes(m->seed, m->first + row, (col + i) / in_block, words);
            out[i] = words[at / in_word] >> at % in_word * w & UINT32_MAX >> (32 - w);
        }
    } else if (m->kind == GFK_MATRIX_VANDERMONDE && m->row_points != NULL) {
        const uint32_t x = m->row_points[row];
        out[0] = gfk_poly_pow(x, m->first + col, w, polynomial);
        for (size_t i = 1; i < cols; i++)
            out[i] = gfk_poly_product(out[i - 1], x, w, polynomial);
    } else {
        for (size_t i = 0; i < cols; i++)
            out[i] = above ? gfk_poly_product(above[i], points[i], w, polynomial)
                           : gfk_poly_pow(points[i], m->first + row, w, polynomial);
    }
}

void gfk_generator_fill(const gfk_generator *g, size_t row, size_t rows, size_t col, size_t cols,
                        uint32_t *out, size_t stride) {
    uint32_t points[POINTS_AT_ONCE];
    for (size_t done = 0; done < cols; done += POINTS_AT_ONCE) {
        const size_t count = cols - done < POINTS_AT_ONCE ? cols - done : POINTS_AT_ONCE;
        gfk_generator_col_points(g, col + done, count, points);
        for (size_t j = 0; j < rows; j++) {
            uint32_t *to = out + j * stride + done;
            fill_row(g, row + j, col + done, count, points, j > 0 ? to - stride : NULL, to);
        }
    }
}

gfk_status gfk_matrix_fill(const gfk_field *field, const gfk_matrix *matrix, uint32_t *out) {
    gfk_generator g;
    if (out == NULL || !gfk_field_is_valid(field))
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_generator_init(&g, field, matrix));
    if (matrix->rows > SIZE_MAX / sizeof *out / matrix->cols)
        return GFK_STATUS_INVALID_SIZE;
    gfk_generator_fill(&g, 0, matrix->rows, 0, matrix->cols, out, matrix->cols);
    return GFK_STATUS_SUCCESS;
}
