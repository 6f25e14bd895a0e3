// SPDX-License-Identifier: BSD-3-Clause
// What a preset says when its rows are measured.
#pragma once

#include "device_rows.h"

void print_s2();
void print_verdicts();
// The verdicts' titles, claims and rows, for the report: it computes nothing that is not here.
void describe_verdicts(Context *context);
