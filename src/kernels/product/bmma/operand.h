/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix operand of the BMMA engines, built on the host from the coefficients. */
#ifndef GFK_KERNELS_BMMA_OPERAND_H
#define GFK_KERNELS_BMMA_OPERAND_H

#include <string.h>

#include "fragment.h"
#include "host/base/poly.h"
#include "host/base/sizes.h"

namespace gfk {
namespace bmma {

/* Registers of all lanes for one panel of outputs and one pass of inputs, in 32-bit words. */
template <class T>
constexpr size_t panel_words() {
    return (size_t)T::panel_registers * 32;
}

template <class T>
size_t matrix_words(size_t rows, size_t cols) {
    return gfk_divide_up(cols, T::inputs) * gfk_divide_up(rows, T::outputs) * panel_words<T>();
}

/* masks[b] has bit i when bit b of c * x^i is set: bit b of c * y is the parity of masks[b] & y. A
 * doubling moves bit b - 1 to bit b, and adds the highest bit where the polynomial has bit b. */
template <int W>
void bit_matrix(uint32_t c, uint64_t polynomial, uint32_t (&masks)[W]) {
    uint32_t multiple = c, highest = 0; /* bits of all multiples */
    for (int i = 0; i < W; i++, multiple = gfk_poly_double(multiple, W, polynomial))
        highest |= multiple >> (W - 1) << i;
    uint32_t mask = 0;
    for (int b = 0; b < W; b++) {
        mask = (mask ^ (highest & -(uint32_t)(polynomial >> b & 1))) << 1 | (c >> b & 1);
        masks[b] = mask &= symbol_mask<W>;
    }
}

/* The ones of a bit's column, at most: no count of the bit is larger. */
template <int W>
unsigned most_ones(uint64_t polynomial, size_t rows, size_t cols, const uint32_t *matrix) {
    unsigned most = 0;
    for (size_t j = 0; j < rows; j++) {
        unsigned ones[W] = {};
        for (size_t i = 0; i < cols; i++) {
            uint32_t masks[W];
            bit_matrix<W>(matrix[j * cols + i], polynomial, masks);
            for (int b = 0; b < W; b++)
                ones[b] += (unsigned)__builtin_popcount(masks[b]);
        }
        for (unsigned count : ones)
            most = count > most ? count : most;
    }
    return most;
}

/* table: matrix_words<T>(rows, cols) words. */
template <class T>
void build_matrix(uint32_t *table, uint64_t polynomial, size_t rows, size_t cols,
                  const uint32_t *matrix) {
    const size_t panels = gfk_divide_up(rows, T::outputs);
    memset(table, 0, sizeof *table * matrix_words<T>(rows, cols));
    for (size_t j = 0; j < rows; j++) {
        for (size_t i = 0; i < cols; i++) {
            uint32_t masks[T::w];
            bit_matrix<T::w>(matrix[j * cols + i], polynomial, masks);
            const int slot = (int)(i % T::inputs / T::lanes), q = (int)(i % T::lanes);
            const int step = slot / T::in_register, shift = slot % T::in_register * T::w % 32;
            uint32_t *panel = table + (i / T::inputs * panels + j / T::outputs) * panel_words<T>();
            for (int column = 0; column < 8; column++)
                for (int pair = 0; pair < T::pairs; pair++)
                    for (int fragment = 0; fragment < T::fragments; fragment++)
                        if ((size_t)T::column_output(column) == j % T::outputs)
                            panel[T::index(pair, fragment * T::steps + step, 4 * column + q)] |=
                                masks[T::column_bit(pair, fragment, column)] << shift;
        }
    }
}

} // namespace bmma
} // namespace gfk
#endif
