// SPDX-License-Identifier: BSD-3-Clause
// The ceiling of a region's traffic: the best plain kernel at this size, in this mode, in this run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gfk/gfk.h>

#include "gpu.h"

struct Roofline {
    double gbps = 0; // traffic of the best variant
    std::string best;
    Timing timing; // of the best
    std::vector<std::pair<std::string, double>> variants;
    std::string error;
};

// Measured when first asked for. Not while a Rotation is in use.
const Roofline &roofline(size_t bytes, gfk_accumulate mode, bool cold);

// An H200 that copies 1 GiB and 2 GiB slower than this is not in a state to be measured: the run is
// void. Returns "" or the sentence that says so.
std::string void_reason();
