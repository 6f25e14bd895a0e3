/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches, w = 16: the kernels by number of inputs. */
#include "batch.cuh"

using namespace gfk::batch;
using gfk::bmma::Pack;

/* Up to 4 * Slots inputs. */
template <int Slots, int Units, int Blocks, Pack P>
using Row = Bits<gfk::bmma::Layout<16, 4, Slots>, Units, Blocks, P>;

extern "C" gfk_batch_kernel gfk_batch_w16_kernel(size_t k, size_t, int cc, bool) {
    return choose<16, Row<1, 2, 8, Pack::permute>, Row<2, 2, 9, Pack::permute>,
                  Row<4, 2, 6, Pack::permute>, Row<6, 1, 6, Pack::permute>,
                  Row<8, 1, 5, Pack::permute>>(k, cc);
}
