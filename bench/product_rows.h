// SPDX-License-Identifier: BSD-3-Clause
// The rows of matrix products.
#pragma once

#include "device_rows.h"

void register_product_rows(const Options &options); // on the device
void register_product_first_calls(uint64_t seed);   // the device's part of product-small
// Why a product run is void, or "".
std::string product_void();

void register_product_host_rows(const Options &options); // on the CPU
void describe_coders(Context *context);                  // ISA-L and Jerasure
