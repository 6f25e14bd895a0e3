/* SPDX-License-Identifier: BSD-3-Clause */
/* What the BMMA engines know of the kernels on warpgroup MMAs (compute capability 9.0), and how the
 * two go together: the table of these comes behind the engine's own, whose kernels still take what
 * these do not. */
#pragma once

#include "kernels/product/extent.cuh"

namespace gfk {
namespace bmma {

/* The kernels of one width. */
struct Warpgroups {
    /* Of the shape's table, in 32-bit words; 0: no such kernel takes it, or none was built. */
    size_t (*words)(size_t rows, size_t cols);
    /* Of a shape that has one: is it the fastest for regions of this length? */
    bool (*pays)(const gfk_product *product, const Vectors &cells);
    /* Uploads the table of a product on such a device to `table`, in device memory, 16-byte
     * aligned. */
    gfk_status (*create)(gfk_product_t product, uint32_t *table);
    /* Aligned cells only. */
    gfk_status (*run)(const gfk_product_call *call, const Vectors &cells, const uint32_t *table,
                      const uint32_t *coefficients);
};
extern const Warpgroups wgmma_w8, wgmma_w32;

/* Where a library is not for 9.0. */
constexpr Warpgroups no_warpgroups = {[](size_t, size_t) { return (size_t)0; }, NULL, NULL, NULL};

/* Where their table begins, in bytes: kernels load it by 16. */
inline uint64_t wgmma_offset(uint64_t first_tables) {
    return (first_tables + 15) / 16 * 16;
}
/* They are compiled for these devices alone. */
inline bool has_wgmma(const Warpgroups &groups, const gfk_product *p) {
    return p->cc == 90 && groups.words(p->info.rows, p->info.cols) != 0;
}

template <class E>
gfk_status accepts(const E &engine, const Warpgroups &groups, size_t rows, size_t cols,
                   uint64_t *table_bytes, const char **reason) {
    const gfk_status status = engine.accepts(rows, cols, table_bytes, reason);
    if (status == GFK_STATUS_SUCCESS && groups.words(rows, cols) != 0)
        *table_bytes = wgmma_offset(*table_bytes) + 4 * (uint64_t)groups.words(rows, cols);
    return status;
}

template <class E>
gfk_status create(const E &engine, const Warpgroups &groups, gfk_product_t p) {
    const gfk_status status = engine.create(p);
    if (status != GFK_STATUS_SUCCESS || !has_wgmma(groups, p))
        return status;
    const uint64_t first_tables = engine.choose(p->info.rows, p->info.cols).bytes;
    return groups.create(p, (uint32_t *)p->tables + wgmma_offset(first_tables) / 4);
}

template <class E>
gfk_status run(const E &engine, const Warpgroups &groups, const gfk_product_call *call) {
    const gfk_product *p = call->product;
    const Vectors cells = vectors_of(call);
    if (!cells.aligned || !has_wgmma(groups, p) || !groups.pays(p, cells))
        return engine.run(call);
    const size_t rows = p->info.rows, cols = p->info.cols;
    const uint64_t first_tables = engine.choose(rows, cols).bytes;
    const uint32_t *tables = (const uint32_t *)p->tables;
    return groups.run(call, cells, tables + wgmma_offset(first_tables) / 4,
                      tables + first_tables / 4 - rows * cols);
}

} // namespace bmma
} // namespace gfk
