/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches, w = 32: the kernels by number of inputs. */
#include "batch.cuh"

using namespace gfk::batch;
using gfk::bmma::Pack;

/* Up to 4 * Slots inputs. */
template <int Slots, int Units, int Blocks, Pack P>
using Row = Bits<gfk::bmma::Layout<32, 4, Slots>, Units, Blocks, P>;

extern "C" gfk_batch_kernel gfk_batch_w32_kernel(size_t k, size_t, int cc, bool) {
    return choose<32, Row<1, 2, 9, Pack::permute>, Row<2, 2, 8, Pack::permute>,
                  Row<3, 2, 6, Pack::permute>, Row<4, 1, 8, Pack::permute>,
                  Row<6, 1, 6, Pack::permute>, Row<8, 1, 4, Pack::permute>>(k, cc);
}
