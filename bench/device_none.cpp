// SPDX-License-Identifier: BSD-3-Clause
// device_rows.h in a build without CUDA.
#include "device_rows.h"

std::string device_missing() {
    return "this build has no CUDA";
}

void describe_device(Context *) {}

void register_device_rows(const Options &) {}
