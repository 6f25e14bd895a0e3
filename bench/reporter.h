// SPDX-License-Identifier: BSD-3-Clause
// The table on the terminal, one line as soon as a row is measured, with progress in between.
#pragma once

#include <string>

#include <benchmark/benchmark.h>

class TableReporter : public benchmark::BenchmarkReporter {
  public:
    TableReporter();
    bool ReportContext(const Context &context) override;
    void ReportRuns(const std::vector<Run> &runs) override;
    void Finalize() override;
};

// Registers a benchmark and counts it for the progress line.
void count_row(const std::string &name);
template <class Run>
auto *register_row(const std::string &name, Run run) {
    count_row(name);
    return benchmark::RegisterBenchmark(name.c_str(), run);
}

// "12 of 340  0:41  split_w8_opt/1GiB/set/cold", overwritten by the next; only on a terminal.
void progress(const std::string &name);
