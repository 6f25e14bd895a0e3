// SPDX-License-Identifier: BSD-3-Clause
// What gfk_bench writes: a line on the terminal as soon as a row is measured, the file of --out,
// and the ratios of --against at the end.
#pragma once

#include <cstdio>

#include "work.h"

class Report {
  public:
    Report(const Options &options, const Fields &context, size_t rows);
    ~Report();
    void begin(const std::string &name); // "12 of 340  0:41  NAME", overwritten; only on a terminal
    void add(const Result &result);      // its line, and its object in the file

  private:
    size_t rows_, done_ = 0;
    Stopwatch watch_;
    std::FILE *file_ = nullptr;
};

// With --against: the median of the ratios, and rows below 0.98.
void print_ratios();
// Of preset card: the card, the build, and the fastest engine of each shape and region, in Markdown.
std::string card_text(const Fields &context, const std::vector<Result> &results);
