// SPDX-License-Identifier: BSD-3-Clause
// Prints results as they come.
#include "reporter.h"

#include <chrono>
#include <cstdio>
#include <regex>
#include <vector>

#include <unistd.h>

#include "results.h"

namespace {

std::vector<std::string> g_names;
size_t g_rows, g_done;
std::chrono::steady_clock::time_point g_start;

bool on_terminal() {
    static const bool terminal = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
    return terminal;
}

int seconds() {
    const auto now = std::chrono::steady_clock::now();
    return (int)std::chrono::duration_cast<std::chrono::seconds>(now - g_start).count();
}

void erase_progress() {
    if (on_terminal())
        std::fputs("\r\033[K", stderr);
}

void print(const Result &r) {
    std::printf("%-52s ", r.name.c_str());
    if (r.state != Result::Measured) {
        std::printf("%s\n", r.note.c_str());
        return;
    }
    if (r.bytes)
        std::printf("%9.3f %9.3f ", r.source_gbps(), r.traffic_gbps());
    else
        std::printf("%9s %9s ", "", "");
    if (r.roofline > 0)
        std::printf("%7.1f ", r.percent());
    else
        std::printf("%7s ", "");
    const double spread = r.median_us > 0 ? 100 * (r.max_us - r.min_us) / r.median_us : 0;
    std::printf("%12.2f %7.1f ", r.median_us, spread);
    if (r.setup.empty())
        std::printf("%10s", "-");
    else
        std::printf("%10.2f", r.setup_us);
    std::printf("%s%s\n", r.note.empty() ? "" : "  ", r.note.c_str());
}

} // namespace

void progress(const std::string &name) {
    if (!on_terminal())
        return;
    erase_progress();
    const int s = seconds();
    std::fprintf(stderr, "%zu of %zu  %d:%02d  %s", g_done + 1, g_rows, s / 60, s % 60,
                 name.c_str());
    std::fflush(stderr);
}

void count_row(const std::string &name) {
    g_names.push_back(name);
}

// Google Benchmark does not tell how many rows its filter leaves.
TableReporter::TableReporter() {
    std::string filter = benchmark::GetBenchmarkFilter();
    const bool negative = !filter.empty() && filter[0] == '-';
    if (negative)
        filter.erase(0, 1);
    const bool all = filter.empty() || filter == "all";
    const std::regex pattern(all ? "" : filter, std::regex::extended);
    for (const std::string &name : g_names)
        g_rows += all || std::regex_search(name, pattern) != negative;
    g_start = std::chrono::steady_clock::now();
}

bool TableReporter::ReportContext(const Context &) {
    std::printf("\n%-52s %9s %9s %7s %12s %7s %10s\n", "row", "source", "traffic", "% roof", "time",
                "spread", "set-up");
    std::printf("%-52s %9s %9s %7s %12s %7s %10s\n", "", "GB/s", "GB/s", "", "us", "%", "us");
    return true;
}

void TableReporter::ReportRuns(const std::vector<Run> &) {
    g_done++;
    erase_progress();
    if (!results().empty())
        print(results().back());
    std::fflush(stdout);
}

void TableReporter::Finalize() {
    erase_progress();
    const int s = seconds();
    std::printf("\n%zu rows in %d:%02d\n", g_done, s / 60, s % 60);
}
