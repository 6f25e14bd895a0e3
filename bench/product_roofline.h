// SPDX-License-Identifier: BSD-3-Clause
// The ceiling of a product's traffic: the best XOR-only kernel of this shape, in this mode, in this
// run.
#pragma once

#include "product_plan.h"
#include "roofline.h"

// Measured when first asked for. Not while a ProductBuffers is in use.
const Roofline &product_roofline(const ProductRow &row);

// Bytes that a product moves, per byte of data.
double moved_per_byte(const ProductRow &row);

// An H200 whose XOR-only kernels are slower than known is not in a state to be measured: the run is
// void. Returns "" or the sentence that says so.
std::string product_void_reason();
