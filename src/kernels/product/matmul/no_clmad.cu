/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for clmad.cu where nvcc is older than 13.3. */
#include "tile.cuh"

gfk::matmul::Run *gfk::matmul::clmad_of(unsigned) {
    return NULL;
}
