// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/work.h"

void add_encoder_rows(const Options &options, Rows *rows);  // of kernels compiled at run time
void add_row_split_row(const Options &options, Rows *rows); // parity shared out to two GPUs
