// SPDX-License-Identifier: BSD-3-Clause
// One multiplier per row of the list, made when first needed, with the time that took.
#pragma once

#include <gfk/gfk.h>

struct Multiplier {
    gfk_multiplier_t handle = nullptr;
    gfk_status status = GFK_STATUS_SUCCESS;
    double create_us = 0; // the second of two creates: the first also starts up CUDA
    size_t workspace_bytes = 0;
};
const Multiplier &multiplier_of(const gfk_kernel_info *kernel);
void forget_multiplier(const gfk_kernel_info *kernel); // frees its tables

// The row that every output is compared with: SPLIT of this width, naive or host.
const gfk_kernel_info *reference_of(unsigned w, bool on_device);

// Ends the program with a sentence if the status is not success.
void gfk_check(gfk_status status, const char *what);
