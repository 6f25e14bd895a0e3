/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA-L on all cores. The matrix is divided into blocks of at most 64 outputs and 64 inputs, so
 * that the addresses of a block fit on the stack. The regions are divided into tiles, which the
 * threads of a pool share. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "host/base/library.h"

enum {
    SIDE = 64,             /* rows and columns of a block of the matrix */
    SHORTEST = 64,         /* bytes of a region that every vector loop of ISA-L takes */
    CHECK_BYTES = 16384,   /* bytes of all outputs of a block that a check computes at a time */
    MOST_CHECKED = 512,    /* bytes of a region that a check computes at a time */
    COEFFICIENT = 32,      /* bytes of ISA-L's tables for one coefficient */
    TILE_BYTES = 512 << 10 /* bytes of a tile in all regions together: an L2 cache */
};

static const char *const names[] = {"ec_init_tables", "ec_encode_data", "ec_encode_data_update"};
typedef struct functions {
    void (*init_tables)(int cols, int rows, unsigned char *matrix, unsigned char *tables);
    void (*encode)(int length, int cols, int rows, unsigned char *tables, unsigned char **in,
                   unsigned char **out);
    void (*update)(int length, int cols, int rows, int col, unsigned char *tables,
                   unsigned char *in, unsigned char **out);
} functions;

static bool load_from(const char *path, functions *isal) {
    return gfk_library_load(path, names, sizeof names / sizeof names[0], isal);
}

bool gfk_isal_is_at(const char *path) {
    functions isal;
    return load_from(path, &isal);
}

static bool load_functions(const gfk_product_desc *desc, functions *isal) {
#ifdef GFK_ISAL_LIBRARY
    const char *path = desc->isal_library ? desc->isal_library : GFK_ISAL_LIBRARY;
#else
    const char *path = desc->isal_library;
#endif
    return path != NULL && load_from(path, isal);
}

gfk_status gfk_isal_load(const gfk_product_desc *desc, const gfk_field *field,
                         const char **reason) {
    (void)field;
    functions isal;
    const bool loaded = load_functions(desc, &isal);
    *reason = loaded ? NULL : "the build found no ISA-L, or ISA-L cannot be loaded";
    return loaded ? GFK_STATUS_SUCCESS : GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_isal_accepts(gfk_product_info *info, const char **reason) {
    *reason = "ISA-L has no other field than w = 8 with polynomial 0x11d";
    const uint64_t bytes = (uint64_t)COEFFICIENT * info->rows * info->cols;
    /* UINT64_MAX is more than any limit allows. */
    info->table_bytes = bytes / COEFFICIENT / info->rows == info->cols ? bytes : UINT64_MAX;
    return info->field.polynomial == GFK_POLYNOMIAL_W8 ? GFK_STATUS_SUCCESS
                                                       : GFK_STATUS_NOT_SUPPORTED;
}

static size_t block_side(size_t first, size_t end) {
    return end - first < SIDE ? end - first : SIDE;
}

/* Returns the tables of the block at (row, col). The blocks' tables follow each other. */
static unsigned char *block_tables(gfk_product_t product, size_t row, size_t col) {
    const size_t rows = block_side(row, product->info.rows);
    return (unsigned char *)product->tables + COEFFICIENT * (row * product->info.cols + rows * col);
}

void gfk_isal_fill_tables(gfk_product_t product) {
    const functions *isal = product->state;
    const size_t all_rows = product->info.rows, all_cols = product->info.cols;
    unsigned char block[SIDE * SIDE];
    for (size_t row = 0; row < all_rows; row += SIDE)
        for (size_t col = 0; col < all_cols; col += SIDE) {
            const size_t rows = block_side(row, all_rows), cols = block_side(col, all_cols);
            for (size_t j = 0; j < rows; j++)
                for (size_t i = 0; i < cols; i++)
                    block[j * cols + i] =
                        (unsigned char)product->matrix[(row + j) * all_cols + col + i];
            isal->init_tables((int)cols, (int)rows, block, block_tables(product, row, col));
        }
}

gfk_status gfk_isal_create(gfk_product_t product, const gfk_product_desc *desc) {
    product->state = malloc(sizeof(functions));
    if (product->state == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    if (!load_functions(desc, product->state))
        return GFK_STATUS_NOT_SUPPORTED;
    gfk_isal_fill_tables(product);
    return GFK_STATUS_SUCCESS;
}

void gfk_isal_destroy(gfk_product_t product) {
    free(product->state);
}

/* ISA-L sets outputs from all inputs of a block at once, but adds to them one input at a time. */
static void multiply_vectors(const gfk_product_call *call, size_t row, size_t col, int length,
                             bool accumulate, unsigned char **in, unsigned char **out) {
    const gfk_product_info *info = &call->product->info;
    const size_t rows = block_side(row, info->rows), cols = block_side(col, info->cols);
    unsigned char *tables = block_tables(call->product, row, col);
    const functions *isal = call->product->state;
    if (!accumulate) {
        isal->encode(length, (int)cols, (int)rows, tables, in, out);
        return;
    }
    for (size_t i = 0; i < cols; i++)
        isal->update(length, (int)cols, (int)rows, (int)i, tables, in[i], out);
}

/* Computes less than SHORTEST bytes of each region. ISA-L has only loops over single bytes for
 * them. */
static void multiply_through_buffers(const gfk_product_call *call, size_t row, size_t col,
                                     size_t length, bool accumulate, unsigned char *const *in,
                                     unsigned char *const *out) {
    const size_t rows = block_side(row, call->product->info.rows);
    const size_t cols = block_side(col, call->product->info.cols);
    unsigned char inputs[SIDE][SHORTEST], outputs[SIDE][SHORTEST];
    unsigned char *from[SIDE], *to[SIDE];
    for (size_t i = 0; i < cols; i++) {
        from[i] = memcpy(inputs[i], in[i], length);
        memset(inputs[i] + length, 0, SHORTEST - length);
    }
    for (size_t j = 0; j < rows; j++) {
        to[j] = memset(outputs[j], 0, SHORTEST);
        if (accumulate)
            memcpy(outputs[j], out[j], length);
    }
    multiply_vectors(call, row, col, SHORTEST, accumulate, from, to);
    for (size_t j = 0; j < rows; j++)
        memcpy(out[j], outputs[j], length);
}

static void multiply_matrix_block(const gfk_product_call *call, size_t row, size_t col,
                                  size_t offset, size_t length, bool accumulate,
                                  unsigned char **out) {
    unsigned char *in[SIDE];
    for (size_t i = 0; i < block_side(col, call->product->info.cols); i++)
        in[i] = gfk_region_address(call->in, col + i) + offset;
    if (length < SHORTEST)
        multiply_through_buffers(call, row, col, length, accumulate, in, out);
    else
        multiply_vectors(call, row, col, (int)length, accumulate, in, out);
}

static void multiply_rows(const gfk_product_call *call, size_t row, size_t offset, size_t length) {
    const gfk_product_info *info = &call->product->info;
    unsigned char *out[SIDE];
    for (size_t j = 0; j < block_side(row, info->rows); j++)
        out[j] = gfk_region_address(call->out, row + j) + offset;
    for (size_t col = 0; col < info->cols; col += SIDE)
        multiply_matrix_block(call, row, col, offset, length, call->accumulate || col != 0, out);
}

/* Computes the outputs on the stack, and compares them with the regions. */
static void check_rows(const gfk_product_call *call, size_t row, size_t offset, size_t length) {
    const gfk_product_info *info = &call->product->info;
    const size_t rows = block_side(row, info->rows);
    const size_t part = rows * MOST_CHECKED < CHECK_BYTES ? MOST_CHECKED : CHECK_BYTES / SIDE;
    unsigned char expected[CHECK_BYTES], *out[SIDE];
    for (size_t j = 0; j < rows; j++)
        out[j] = expected + j * part;
    for (size_t at = 0; at < length; at += part) {
        const size_t bytes = length - at < part ? length - at : part;
        for (size_t col = 0; col < info->cols; col += SIDE)
            multiply_matrix_block(call, row, col, offset + at, bytes, col != 0, out);
        for (size_t j = 0; j < rows; j++) {
            const unsigned char *there = gfk_region_address(call->out, row + j) + offset + at;
            if (memcmp(there, out[j], bytes) == 0)
                continue;
            for (size_t i = 0; i < bytes; i++)
                if (there[i] != out[j][i])
                    gfk_mark(call, offset + at + i);
        }
    }
}

/* Returns the length of a tile: whole pages, unless there are too many regions. */
static size_t tile_length(const gfk_product_info *info) {
    const size_t length = TILE_BYTES / (info->rows + info->cols) / 4096 * 4096;
    return length < 4096 ? 4096 : length > 65536 ? 65536 : length;
}

static void multiply_range(const gfk_product_call *call, size_t offset, size_t length) {
    for (size_t row = 0; row < call->product->info.rows; row += SIDE)
        if (call->mismatch_map != NULL)
            check_rows(call, row, offset, length);
        else
            multiply_rows(call, row, offset, length);
}

gfk_status gfk_isal_run(const gfk_product_call *call) {
    gfk_share_tiles(call, tile_length(&call->product->info), multiply_range);
    return GFK_STATUS_SUCCESS;
}
