// SPDX-License-Identifier: BSD-3-Clause
// Clocks and power of the GPU, from NVML where it can be loaded.
#pragma once

#include "device_rows.h"

void nvml_describe(Context *context);
