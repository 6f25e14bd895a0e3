// SPDX-License-Identifier: BSD-3-Clause
// host_rows.h in a build without GF-Complete.
#include "host_rows.h"

#include <cstdio>

void register_baselines(const Options &) {
    std::fprintf(stderr, "gfk_bench: no GF-Complete rows: it was not found when this was built\n");
}

const char *baseline_simd() {
    return "";
}
