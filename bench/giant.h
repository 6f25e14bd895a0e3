// SPDX-License-Identifier: BSD-3-Clause
// --giant: the rows with tables of 16 and 32 GiB, against plain gathers from 16 GiB.
#pragma once

#include <cstdint>

void register_giants(uint64_t seed);
