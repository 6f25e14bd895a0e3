// SPDX-License-Identifier: BSD-3-Clause
// The ceiling of what only reads, as verifying does: the best plain kernel that reads as many
// regions.
#pragma once

#include <cstddef>

#include "roofline.h"

// Measured when first asked for: `regions` regions of `bytes` bytes, a multiple of 512, cold. Not
// while other buffers are in use.
const Roofline &read_roofline(size_t regions, size_t bytes);
