// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/work.h"

void add_rlnc_split_rows(const Options &options, Rows *rows); // packets shared out to GPU and CPU
