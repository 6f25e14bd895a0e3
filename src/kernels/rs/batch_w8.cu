/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches, w = 8: the kernels by number of inputs. */
#include "batch_staged.cuh"

using namespace gfk::batch;
using gfk::bmma::Pack;

/* Up to 4 * Slots inputs. */
template <int Slots, int Units, int Blocks, Pack P>
using Row = Bits<gfk::bmma::Layout<8, 4, Slots>, Units, Blocks, P>;

/* 9 and 10 inputs, up to four outputs. */
using Ten = Runs<gfk::bmma::Layout<8, 2, 5>, 2, 512, 1, Pack::fma>;

/* Pieces, up to four outputs. Warps are a multiple of the four schedulers of a multiprocessor, with
 * or without the copying one. */
template <int Slots, int Inputs, int Warps, int Stages>
using Pieces = Staged<gfk::bmma::Layout<8, 4, Slots>, 1, Inputs, Warps, Stages, Pack::fma>;

static gfk_batch_kernel without_pieces(size_t k, size_t rows, int cc) {
    if (k > 8 && takes<Ten>(k, rows, cc))
        return kernel_of_runs<Ten>();
    return choose<8, Row<1, 2, 9, Pack::permute>, Row<2, 1, 10, Pack::permute>,
                  Row<3, 2, 6, Pack::fma>, Row<4, 2, 6, Pack::fma>, Row<6, 1, 7, Pack::permute>,
                  Row<8, 1, 7, Pack::permute>>(k, cc);
}

/* Pieces do not pay for 4 inputs, nor for one or two outputs of 9 and 10, half of what runs do. */
extern "C" gfk_batch_kernel gfk_batch_w8_kernel(size_t k, size_t rows, int cc, bool pieces) {
    const gfk_batch_kernel otherwise = without_pieces(k, rows, cc);
    if (!pieces || cc != 90 || k <= 4 || (rows <= 2 && (k == 9 || k == 10)))
        return otherwise;
    return choose_staged<Pieces<2, 8, 19, 4>, Pieces<3, 10, 23, 4>, Pieces<4, 16, 20, 3>>(
        k, rows, otherwise);
}
