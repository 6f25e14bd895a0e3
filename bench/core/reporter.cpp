// SPDX-License-Identifier: BSD-3-Clause
#include "reporter.h"

#include <cmath>
#include <cstdlib>
#include <regex>

#include <unistd.h>

#include "host.h"

namespace {

size_t g_rows, g_done;
Stopwatch g_watch;
std::vector<Verdict> g_verdicts;

bool on_terminal() {
    static const bool terminal = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
    return terminal;
}

void erase_progress() {
    if (on_terminal())
        std::fputs("\r\033[K", stderr);
}

// ---- table on the terminal -------------------------------------------------------------------
void print_cell(int width, int digits, const Fields &f, const char *name) {
    if (f.has(name))
        std::printf(" %*.*f", width, digits, f.number(name));
    else
        std::printf(" %*s", width, "-");
}

void print(const Result &r) {
    const Fields &f = r.fields;
    std::printf("%-52s", r.name.c_str());
    if (r.state != Result::Measured) {
        std::printf(" %s: %s\n", r.state == Result::Failed ? "FAILED" : "skipped",
                    f.text("reason").c_str());
        return;
    }
    print_cell(9, 3, f, "data_GBps");
    print_cell(9, 3, f, "traffic_GBps");
    if (f.has("ratio"))
        print_cell(7, 3, f, "ratio");
    else
        print_cell(7, 1, f, "percent_of_roofline");
    print_cell(12, 2, f, "time_us_median");
    print_cell(7, 1, f, "spread_percent");
    print_cell(10, 2, f, "setup_us");
    const std::string engine = f.text("engine") == f.text("id") ? "" : f.text("engine");
    for (const std::string &text : {engine, f.text("note")})
        std::printf("%s%s", text.empty() ? "" : "  ", text.c_str());
    if (f.has("sustained_data_GBps"))
        std::printf("  sustained %.0f GB/s", f.number("sustained_data_GBps"));
    if (f.is("above_101_percent"))
        std::printf("  ABOVE 101 %% of the roofline");
    if (f.is("slow_clock"))
        std::printf("  SLOW CLOCK: %.0f MHz", f.number("sm_MHz"));
    std::printf("\n");
}

// ---- result file -----------------------------------------------------------------------------
std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (const char c : text)
        if (c == '"' || c == '\\')
            out += {'\\', c};
        else if ((unsigned char)c < ' ')
            out += ' ';
        else
            out += c;
    return out + "\"";
}

std::string number_text(double x) {
    char text[40];
    if (!std::isfinite(x))
        return "0";
    const bool whole = x == std::floor(x) && std::fabs(x) < 9e15;
    std::snprintf(text, sizeof text, whole ? "%.0f" : "%.9g", x);
    return text;
}

std::string json(const Value &value) {
    return value.kind == Value::Text     ? quoted(value.text)
           : value.kind == Value::Number ? number_text(value.number)
           : value.number != 0           ? "true"
                                         : "false";
}

std::string json(const std::vector<std::pair<std::string, double>> &variants) {
    std::string all;
    for (const auto &[name, x] : variants)
        all += (all.empty() ? "" : ", ") + quoted(name) + ": " + number_text(x);
    return all.empty() ? "" : ",\n      \"variants\": {" + all + "}";
}

std::string json(const Fields &fields, const char *indent) {
    std::string text;
    for (const auto &[name, value] : fields.all())
        text +=
            (text.empty() ? "" : ",\n") + std::string(indent) + quoted(name) + ": " + json(value);
    return text;
}

std::string json(const std::vector<std::string> &texts) {
    std::string all;
    for (const std::string &text : texts)
        all += (all.empty() ? "" : ", ") + quoted(text);
    return "[" + all + "]";
}

std::string json(const std::vector<Verdict> &verdicts) {
    std::string all;
    for (const Verdict &v : verdicts)
        all += (all.empty() ? "\n    {" : ",\n    {") + quoted("title") + ": " + quoted(v.title) +
               ", " + quoted("claim") + ": " + quoted(v.claim) + ", " + quoted("steps") + ": " +
               json(v.steps) + ", " + quoted("absent") + ": " + json(v.absent) + "}";
    return all;
}

// What Google Benchmark's own tools look for, then the row's fields.
Fields fields_of(const benchmark::BenchmarkReporter::Run &run, const Result &result) {
    Fields f = Fields("name", run.benchmark_name(), "run_name", run.benchmark_name(), "run_type",
                      "iteration", "iterations", (double)run.iterations, "real_time",
                      run.GetAdjustedRealTime(), "cpu_time", run.GetAdjustedCPUTime(), "time_unit",
                      "us", "row", result.name);
    if (result.state != Result::Measured) {
        f.set("error_occurred", true);
        f.set("error_message", result.fields.text("reason"));
    }
    f.add(result.fields);
    return f;
}

void write_csv(std::FILE *file) {
    std::vector<std::string> columns = {"row"};
    for (const Result &r : results())
        for (const auto &[name, value] : r.fields.all())
            if (std::find(columns.begin(), columns.end(), name) == columns.end())
                columns.push_back(name);
    const auto line = [&](auto cell) {
        for (const std::string &column : columns)
            std::fprintf(file, "%s%s", &column == &columns[0] ? "" : ",", cell(column).c_str());
        std::fputs("\r\n", file);
    };
    const auto csv = [](const Value &value) {
        return value.kind == Value::Text
                   ? "\"" + std::regex_replace(value.text, std::regex("\""), "\"\"") + "\""
                   : json(value);
    };
    line([](const std::string &column) { return column; });
    for (const Result &r : results()) {
        Fields f = r.fields;
        f.set("row", r.name);
        line([&](const std::string &column) {
            for (const auto &[name, value] : f.all())
                if (name == column)
                    return csv(value);
            return std::string();
        });
    }
}

} // namespace

void progress(const std::string &name) {
    if (!on_terminal())
        return;
    erase_progress();
    const int s = (int)g_watch.seconds();
    std::fprintf(stderr, "%zu of %zu  %d:%02d  %s", g_done + 1, g_rows, s / 60, s % 60,
                 name.c_str());
    std::fflush(stderr);
}

std::vector<std::string> filtered_names(const Rows &rows) {
    std::string filter = benchmark::GetBenchmarkFilter();
    const bool negative = !filter.empty() && filter[0] == '-';
    if (negative)
        filter.erase(0, 1);
    const bool all = filter.empty() || filter == "all";
    const std::regex pattern(all ? "" : filter, std::regex::extended);
    std::vector<std::string> names;
    for (const Row &row : rows)
        if (all || std::regex_search(row.name, pattern) != negative)
            names.push_back(row.name);
    return names;
}

void write_verdicts(const std::vector<Verdict> &verdicts) {
    g_verdicts = verdicts;
}

Reporter::Reporter(const Options &options, const Fields &context, const Rows &rows)
    : csv_(options.out.size() > 4 && options.out.substr(options.out.size() - 4) == ".csv") {
    g_rows = filtered_names(rows).size();
    g_watch = Stopwatch();
    if (options.out.empty())
        return;
    file_ = std::fopen(options.out.c_str(), "w");
    if (file_ == nullptr) {
        std::perror(options.out.c_str());
        std::exit(2);
    }
    if (!csv_)
        std::fprintf(file_, "{\n  \"context\": {\n%s\n  },\n  \"benchmarks\": [",
                     json(context, "    ").c_str());
}

Reporter::~Reporter() {
    if (file_ == nullptr)
        return;
    if (csv_)
        write_csv(file_);
    else if (g_verdicts.empty())
        std::fputs("\n  ]\n}\n", file_);
    else
        std::fprintf(file_, "\n  ],\n  \"verdicts\": [%s\n  ]\n}\n", json(g_verdicts).c_str());
    std::fclose(file_);
}

bool Reporter::ReportContext(const Context &) {
    std::printf("\n%-52s %9s %9s %7s %12s %7s %10s\n", "row", "data", "traffic",
                other_library() ? "ratio" : "% roof", "time", "spread", "set-up");
    std::printf("%-52s %9s %9s %7s %12s %7s %10s\n", "", "GB/s", "GB/s", "", "us", "%", "us");
    return true;
}

void Reporter::ReportRuns(const std::vector<Run> &runs) {
    g_done++;
    erase_progress();
    if (results().empty() || runs.empty())
        return;
    print(results().back());
    std::fflush(stdout);
    if (file_ == nullptr || csv_)
        return;
    std::fprintf(file_, "%s\n    {\n%s%s\n    }", first_ ? "" : ",",
                 json(fields_of(runs[0], results().back()), "      ").c_str(),
                 json(results().back().variants).c_str());
    std::fflush(file_); // a run that is stopped leaves what it has measured
    first_ = false;
}

void Reporter::Finalize() {
    erase_progress();
    const int s = (int)g_watch.seconds();
    std::printf("\n%zu rows in %d:%02d\n", g_done, s / 60, s % 60);
}
