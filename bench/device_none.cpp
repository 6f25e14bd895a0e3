// SPDX-License-Identifier: BSD-3-Clause
// What runs on the device, in a build without CUDA.
#include "product_rows.h"
#include "rs_rows.h"

std::string device_missing() {
    return "this build has no CUDA";
}

void describe_device(Context *) {}

void register_device_rows(const Options &) {}

std::string product_void() {
    return "";
}

void register_product_rows(const Options &) {}

void register_rs_rows(const Options &) {}
