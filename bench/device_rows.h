// SPDX-License-Identifier: BSD-3-Clause
// The rows that run on the GPU. Without CUDA these functions do nothing but say so.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "options.h"

using Context = std::vector<std::pair<std::string, std::string>>;

// "" if there is a device to measure on, else the reason why not.
std::string device_missing();
void describe_device(Context *context);
void register_device_rows(const Options &options);
