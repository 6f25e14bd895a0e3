/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches, w = 8: the kernels by number of inputs. */
#include "batch.cuh"

using namespace gfk::batch;
using gfk::bmma::Layout;
using gfk::bmma::Pack;

extern "C" gfk_batch_kernel gfk_batch_w8_kernel(size_t k, int cc) {
    return choose<
        8, Bits<Layout<8, 4, 1>, 1, 8, Pack::permute>, Bits<Layout<8, 4, 2>, 1, 8, Pack::permute>,
        Bits<Layout<8, 4, 3>, 2, 8, Pack::permute>, Bits<Layout<8, 4, 4>, 2, 8, Pack::permute>,
        Bits<Layout<8, 4, 6>, 1, 7, Pack::permute>, Bits<Layout<8, 4, 8>, 1, 8, Pack::permute>>(k,
                                                                                                cc);
}
