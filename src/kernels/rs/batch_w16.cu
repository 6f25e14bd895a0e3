/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches, w = 16: the kernels by number of inputs. */
#include "batch.cuh"

using namespace gfk::batch;
using gfk::bmma::Layout;
using gfk::bmma::Pack;

extern "C" gfk_batch_kernel gfk_batch_w16_kernel(size_t k, int cc) {
    return choose<
        16, Bits<Layout<16, 4, 1>, 2, 6, Pack::permute>,
        Bits<Layout<16, 4, 2>, 2, 9, Pack::permute>, Bits<Layout<16, 4, 4>, 2, 6, Pack::permute>,
        Bits<Layout<16, 4, 6>, 1, 5, Pack::permute>, Bits<Layout<16, 4, 8>, 1, 5, Pack::permute>>(
        k, cc);
}
