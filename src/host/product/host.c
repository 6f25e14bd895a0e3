/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference: plain C on all cores. The product of a symbol is the sum of one table entry for
 * each of its bytes. An entry is a vector of 16 bytes with the products of 16, 8 or 4 outputs side
 * by side, so that one lookup and one XOR serve a panel of outputs. Four lookups, which are the
 * bytes of 4, 2 or 1 inputs, are added to a vector of sums at a time. */
#include <string.h>

#include "engine.h"
#include "host/base/poly.h"
#include "host/base/sizes.h"
#include "host/base/symbol.h"

enum {
    VECTOR = 16, /* bytes: one symbol of each output of a panel */
    LOOKUPS = 4,
    /* bytes of tables that a product keeps: an L2 cache. For larger matrices the tables are made
     * again for every block */
    MOST_TABLES = 1 << 20,
    /* symbols of a region that are computed at a time. Their sums and the tables of a step take 26
     * KiB of stack */
    BLOCK = 640,
    TILE = 32768 /* bytes of a region that a thread takes; whole blocks at any width */
};

typedef uint64_t vector __attribute__((vector_size(VECTOR)));
typedef uint8_t vector_w8 __attribute__((vector_size(VECTOR)));
typedef uint16_t vector_w16 __attribute__((vector_size(VECTOR)));
typedef uint32_t vector_w32 __attribute__((vector_size(VECTOR)));

/* The tables for a panel of outputs and for the inputs of a step. */
typedef struct tables {
    vector products[LOOKUPS][256];
} tables;

static size_t outputs_of_panel(unsigned w) {
    return VECTOR / (w / 8);
}

static size_t inputs_of_step(unsigned w) {
    return LOOKUPS / (w / 8);
}

/* The functions that take most time are compiled for each width. */
#define FOR_WIDTH static inline __attribute__((always_inline))

/* Multiplies every symbol of the vector by x. */
FOR_WIDTH vector times_x(vector v, unsigned w, uint64_t polynomial) {
    const vector_w8 v8 = (vector_w8)v;
    const vector_w16 v16 = (vector_w16)v;
    const vector_w32 v32 = (vector_w32)v;
    switch (w) {
    case 8:
        return (vector)((v8 + v8) ^ (-(v8 >> 7) & (uint8_t)polynomial));
    case 16:
        return (vector)((v16 + v16) ^ (-(v16 >> 15) & (uint16_t)polynomial));
    default:
        return (vector)((v32 + v32) ^ (-(v32 >> 31) & (uint32_t)polynomial));
    }
}

/* Computes all sums of the images, which are the products of a byte's bits. The sums of the high
 * bits are computed in the order of a Gray code: two consecutive sums differ by one image. */
FOR_WIDTH void fill_table(vector *table, const vector *images) {
    vector low[16] = {{0}}, high = {0};
    for (unsigned bit = 0; bit < 4; bit++)
        for (unsigned v = 0; v < 1u << bit; v++)
            low[(1u << bit) + v] = low[v] ^ images[bit];
    for (unsigned i = 0; i < 16; i++) {
        if (i != 0)
            high ^= images[4 + (unsigned)__builtin_ctz(i)];
        for (unsigned v = 0; v < 16; v++)
            table[16 * (i ^ i >> 1) + v] = high ^ low[v];
    }
}

/* Fills in the tables for the outputs from row on and the inputs from col on. */
FOR_WIDTH void make_tables(tables *t, unsigned w, gfk_product_t product, size_t row, size_t col) {
    const gfk_product_info *info = &product->info;
    const unsigned symbol = w / 8;
    const size_t left = info->rows - row, panel = outputs_of_panel(w);
    vector image = {0}; /* the elements, times x to the power of the next bit */
    for (unsigned l = 0; l < LOOKUPS; l++) {
        const size_t i = col + l / symbol;
        if (l % symbol == 0) {
            image = (vector){0};
            for (size_t j = 0; i < info->cols && j < left && j < panel; j++)
                gfk_symbol_set(&image, j, w, product->matrix[(row + j) * info->cols + i]);
        }
        vector images[8];
        for (unsigned bit = 0; bit < 8; bit++) {
            images[bit] = image;
            image = times_x(image, w, info->field.polynomial);
        }
        fill_table(t->products[l], images);
    }
}

gfk_status gfk_host_accepts(gfk_product_info *info, const char **reason) {
    *reason = NULL;
    const size_t panels = gfk_divide_up(info->rows, outputs_of_panel(info->field.w));
    const size_t steps = gfk_divide_up(info->cols, inputs_of_step(info->field.w));
    info->table_bytes =
        panels <= MOST_TABLES / sizeof(tables) / steps ? panels * steps * sizeof(tables) : 0;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_host_create(gfk_product_t product, const gfk_product_desc *desc) {
    (void)desc;
    const gfk_product_info *info = &product->info;
    const unsigned w = info->field.w;
    tables *next = product->tables;
    for (size_t row = 0; next != NULL && row < info->rows; row += outputs_of_panel(w))
        for (size_t col = 0; col < info->cols; col += inputs_of_step(w))
            make_tables(next++, w, product, row, col);
    return GFK_STATUS_SUCCESS;
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Adds the products of the inputs from col on, which begin at `offset`. */
FOR_WIDTH void add_inputs(vector *sums, size_t symbols, unsigned w, const tables *t,
                          const gfk_product_call *call, size_t col, size_t offset) {
    const unsigned char *in[LOOKUPS]; /* the byte that each lookup takes of the first symbol */
    for (unsigned l = 0; l < LOOKUPS; l++) {
        const size_t i = col + l / (w / 8); /* beyond the last input the tables are zero */
        in[l] = gfk_region_address(call->in, i < call->product->info.cols ? i : col) + offset +
                l % (w / 8);
    }
    for (size_t s = 0; s < symbols; s++) {
        vector sum = sums[s];
        for (unsigned l = 0; l < LOOKUPS; l++)
            sum ^= t->products[l][in[l][s * (w / 8)]];
        sums[s] = sum;
    }
}

/* Writes, adds or compares output row + j. */
FOR_WIDTH void finish_output(const vector *sums, size_t symbols, unsigned w,
                             const gfk_product_call *call, size_t row, size_t j, size_t offset) {
    unsigned char *out = gfk_region_address(call->out, row + j) + offset;
    if (call->mismatch_map != NULL) {
        for (size_t s = 0; s < symbols; s++)
            if (gfk_symbol_get(&sums[s], j, w) != gfk_symbol_get(out, s, w))
                gfk_mark(call, offset + s * (w / 8));
    } else if (call->accumulate) {
        for (size_t s = 0; s < symbols; s++)
            gfk_symbol_set(out, s, w, gfk_symbol_get(&sums[s], j, w) ^ gfk_symbol_get(out, s, w));
    } else {
        for (size_t s = 0; s < symbols; s++)
            gfk_symbol_set(out, s, w, gfk_symbol_get(&sums[s], j, w));
    }
}

FOR_WIDTH void multiply_block(const gfk_product_call *call, unsigned w, size_t offset,
                              size_t symbols) {
    const gfk_product_info *info = &call->product->info;
    const tables *kept = call->product->tables;
    vector sums[BLOCK];
    tables made;
    for (size_t row = 0; row < info->rows; row += outputs_of_panel(w)) {
        memset(sums, 0, symbols * sizeof sums[0]);
        for (size_t col = 0; col < info->cols; col += inputs_of_step(w)) {
            if (kept == NULL)
                make_tables(&made, w, call->product, row, col);
            add_inputs(sums, symbols, w, kept != NULL ? kept++ : &made, call, col, offset);
        }
        for (size_t j = 0; j < outputs_of_panel(w) && row + j < info->rows; j++)
            finish_output(sums, symbols, w, call, row, j, offset);
    }
}

FOR_WIDTH void multiply(const gfk_product_call *call, unsigned w, size_t offset, size_t length) {
    const size_t symbols = length / (w / 8);
    const size_t blocks = gfk_divide_up(symbols, BLOCK), block = gfk_divide_up(symbols, blocks);
    for (size_t at = 0; at < symbols; at += block)
        multiply_block(call, w, offset + at * (w / 8), symbols - at < block ? symbols - at : block);
}

static void multiply_w8(const gfk_product_call *call, size_t offset, size_t length) {
    multiply(call, 8, offset, length);
}

static void multiply_w16(const gfk_product_call *call, size_t offset, size_t length) {
    multiply(call, 16, offset, length);
}

static void multiply_w32(const gfk_product_call *call, size_t offset, size_t length) {
    multiply(call, 32, offset, length);
}

gfk_status gfk_host_product_run(const gfk_product_call *call) {
    const unsigned w = call->product->info.field.w;
    gfk_share_tiles(call, TILE, w == 8 ? multiply_w8 : w == 16 ? multiply_w16 : multiply_w32);
    return GFK_STATUS_SUCCESS;
}
