/* SPDX-License-Identifier: BSD-3-Clause */
/* This file replaces clmad.cu where nvcc is older than 13.3. */
#include "host/rs/batch/batch.h"

extern "C" bool gfk_batch_choose_clmad(unsigned, size_t, size_t, bool, gfk_batch_kernel *) {
    return false;
}
