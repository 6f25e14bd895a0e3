/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference: for every output, tile by tile, the sum over all inputs. The products of a
 * coefficient are looked up by nibbles, in tables that are made anew for every tile. So nothing is
 * kept, however large the matrix is. */
#include "engine.h"
#include "host/base/poly.h"
#include "host/base/symbol.h"

enum { TILE = 2048 }; /* symbols */

static inline __attribute__((always_inline)) void add_symbols(uint32_t *sum, size_t symbols,
                                                              unsigned w, const gfk_nibbles *t,
                                                              const unsigned char *in) {
    for (size_t i = 0; i < symbols; i++) {
        const uint32_t x = gfk_symbol_get(in, i, w);
        sum[i] ^= gfk_nibbles_times(t, w, x);
    }
}

static void add_product(uint32_t *sum, size_t symbols, const gfk_field *field, uint32_t c,
                        const unsigned char *in) {
    gfk_nibbles t;
    gfk_nibbles_expand(&t, field->w, field->polynomial, c);
    switch (field->w) {
    case 8:
        add_symbols(sum, symbols, 8, &t, in);
        break;
    case 16:
        add_symbols(sum, symbols, 16, &t, in);
        break;
    default:
        add_symbols(sum, symbols, 32, &t, in);
    }
}

gfk_status gfk_host_product_run(const gfk_product_call *call) {
    const gfk_product_info *info = &call->product->info;
    const unsigned w = info->field.w;
    const size_t symbols = call->bytes / (w / 8);
    const bool adds = call->accumulate || call->mismatch_map; /* a check sums to zero */
    uint32_t sum[TILE];
    for (size_t first = 0; first < symbols; first += TILE) {
        const size_t count = symbols - first < TILE ? symbols - first : TILE;
        const size_t offset = first * (w / 8);
        for (size_t j = 0; j < info->rows; j++) {
            unsigned char *out = gfk_region_address(call->out, j) + offset;
            for (size_t s = 0; s < count; s++)
                sum[s] = adds ? gfk_symbol_get(out, s, w) : 0;
            for (size_t i = 0; i < info->cols; i++)
                add_product(sum, count, &info->field, call->product->matrix[j * info->cols + i],
                            gfk_region_address(call->in, i) + offset);
            for (size_t s = 0; s < count; s++)
                if (!call->mismatch_map)
                    gfk_symbol_set(out, s, w, sum[s]);
                else if (sum[s] != 0)
                    gfk_mark(call, offset + s * (w / 8));
        }
    }
    return GFK_STATUS_SUCCESS;
}
