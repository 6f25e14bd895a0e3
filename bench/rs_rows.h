// SPDX-License-Identifier: BSD-3-Clause
// Rows of the Reed-Solomon layer.
#pragma once

#include "options.h"

void register_rs_rows(const Options &options);      // on the device
void register_rs_host_rows(const Options &options); // set-up of codes and decoders, on one core
