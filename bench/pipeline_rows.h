// SPDX-License-Identifier: BSD-3-Clause
// Calls on host memory: the presets host and host-streams.
#pragma once

#include "options.h"

void register_pipeline_rows(const Options &options);
