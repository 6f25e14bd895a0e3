// SPDX-License-Identifier: BSD-3-Clause
// The rows that run on the CPU: this library's references, and GF-Complete.
#pragma once

#include "options.h"

void register_host_rows(const Options &options);
void register_baselines(const Options &options); // says so in one line when there is no GF-Complete
const char *baseline_simd();                     // "" without GF-Complete
