// SPDX-License-Identifier: BSD-3-Clause
// What gfk_bench writes: a line on the terminal as soon as a row is measured, the file of --out,
// and the tables at the end.
#pragma once

#include <cstdio>

#include <benchmark/benchmark.h>

#include "work.h"

class Reporter : public benchmark::BenchmarkReporter {
  public:
    Reporter(const Options &options, const Fields &context, const Rows &rows);
    ~Reporter() override;
    bool ReportContext(const Context &context) override;
    void ReportRuns(const std::vector<Run> &runs) override;
    void Finalize() override;

  private:
    bool csv_, first_ = true;
    std::FILE *file_ = nullptr;
};

// "12 of 340  0:41  split_w8_opt/1GiB/set/cold", overwritten by the next; only on a terminal.
void progress(const std::string &name);

// Names of the rows that Google Benchmark's filter leaves.
std::vector<std::string> filtered_names(const Rows &rows);

// The tables at the end: best rates by row and column; with --against medians, and rows below 0.98.
void print_summary(const Options &options);
// Of preset card: the card, the build, and the fastest engine of each shape and region, in Markdown.
std::string card_text(const Fields &context, const std::vector<Result> &results);
