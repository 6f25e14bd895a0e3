// SPDX-License-Identifier: BSD-3-Clause
// host_time/<id>: what a region call costs the calling thread, beside a bare kernel launch.
#pragma once

#include <cstdint>

void register_host_time(uint64_t seed);
