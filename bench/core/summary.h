// SPDX-License-Identifier: BSD-3-Clause
// The tables with which gfk_bench ends.
#pragma once

#include "reporter.h"
#include "work.h"

void print_summary(const Options &options); // best rates by row and column
void print_verdicts(const std::vector<Verdict> &verdicts);
void print_ratios(); // --against: medians, and rows below 0.98
