/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches, w = 32: the kernels by number of inputs. */
#include "batch.cuh"

using namespace gfk::batch;
using gfk::bmma::Layout;
using gfk::bmma::Pack;

extern "C" gfk_batch_kernel gfk_batch_w32_kernel(size_t k, int cc) {
    return choose<
        32, Bits<Layout<32, 4, 1>, 2, 9, Pack::permute>,
        Bits<Layout<32, 4, 2>, 2, 7, Pack::permute>, Bits<Layout<32, 4, 3>, 2, 5, Pack::permute>,
        Bits<Layout<32, 4, 4>, 1, 7, Pack::permute>, Bits<Layout<32, 4, 6>, 1, 5, Pack::permute>,
        Bits<Layout<32, 4, 8>, 1, 4, Pack::permute>>(k, cc);
}
