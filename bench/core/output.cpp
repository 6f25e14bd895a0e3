// SPDX-License-Identifier: BSD-3-Clause
#include "output.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <regex>

#include <unistd.h>

#include "host.h"

namespace {

using Text = std::string;
using Texts = std::vector<Text>;

size_t g_rows, g_done;
Stopwatch g_watch;

bool on_terminal() {
    static const bool terminal = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
    return terminal;
}

void erase_progress() {
    if (on_terminal())
        std::fputs("\r\033[K", stderr);
}

template <class... Values>
Text format(const char *how, Values... values) {
    char text[256];
    std::snprintf(text, sizeof text, how, values...);
    return text;
}

Text integer(const Fields &f, const char *name) {
    return std::to_string((int)f.number(name));
}

template <class Items, class Convert>
Text join(const Items &items, const char *between, Convert convert) {
    Text all;
    bool first = true;
    for (const auto &item : items) {
        all += (first ? "" : between) + convert(item);
        first = false;
    }
    return all;
}

void remember(Texts *names, const Text &name) {
    if (std::find(names->begin(), names->end(), name) == names->end())
        names->push_back(name);
}

// ---- table on the terminal -------------------------------------------------------------------
void print(const Result &r) {
    const Fields &f = r.fields;
    const auto cell = [&](int width, int digits, const char *name) {
        const Text text = f.has(name) ? format("%.*f", digits, f.number(name)) : "-";
        std::printf(" %*s", width, text.c_str());
    };
    std::printf("%-52s", r.name.c_str());
    if (!r.measured()) {
        std::printf(" %s: %s\n", f.text("state") == "failed" ? "FAILED" : "skipped",
                    f.text("reason").c_str());
        return;
    }
    cell(9, 3, "data_GBps");
    cell(9, 3, "traffic_GBps");
    f.has("ratio") ? cell(7, 3, "ratio") : cell(7, 1, "percent_of_roofline");
    cell(12, 2, "time_us_median");
    cell(7, 1, "spread_percent");
    cell(10, 2, "setup_us");
    if (f.has("engine") && f.text("engine") != f.text("id"))
        std::printf("  %s", f.text("engine").c_str());
    if (f.has("note"))
        std::printf("  %s", f.text("note").c_str());
    if (f.has("sustained_data_GBps"))
        std::printf("  sustained %.0f GB/s", f.number("sustained_data_GBps"));
    if (f.is("above_101_percent"))
        std::printf("  ABOVE 101 %% of the roofline");
    if (f.is("slow_clock"))
        std::printf("  SLOW CLOCK: %.0f MHz", f.number("sm_MHz"));
    std::printf("\n");
}

// ---- result file -----------------------------------------------------------------------------
Text quoted(const Text &text) {
    Text out = "\"";
    for (const char c : text)
        if (c == '"' || c == '\\')
            out += {'\\', c};
        else
            out += (unsigned char)c < ' ' ? ' ' : c;
    return out + "\"";
}

Text json(const Value &value) {
    if (value.kind == Value::Text)
        return quoted(value.text);
    const double x = value.number;
    if (value.kind == Value::Bool)
        return x != 0 ? "true" : "false";
    const bool whole = x == std::floor(x) && std::fabs(x) < 9e15;
    return std::isfinite(x) ? format(whole ? "%.0f" : "%.9g", x) : "0";
}

Text json(const Fields &fields, const char *between) {
    return join(fields.all(), between, [](const Fields::Field &field) {
        return quoted(field.first) + ": " + json(field.second);
    });
}

Text json(const Verdict &v) {
    return "\n    {" + json(Fields("title", v.title, "claim", v.claim), ", ") + ", \"steps\": [" +
           join(v.steps, ", ", quoted) + "], \"absent\": [" + join(v.absent, ", ", quoted) + "]}";
}

// What Google Benchmark's own tools look for, then the row's fields.
Text json(const benchmark::BenchmarkReporter::Run &run, const Result &result) {
    const bool failed = !result.measured();
    Fields f = Fields("name", run.benchmark_name(), "run_name", run.benchmark_name(), "run_type",
                      "iteration", "iterations", (double)run.iterations, "real_time",
                      run.GetAdjustedRealTime(), "cpu_time", run.GetAdjustedCPUTime(), "time_unit",
                      "us", "row", result.name, "error_occurred", when(failed, true),
                      "error_message", when(failed, result.fields.text("reason")));
    f.add(result.fields);
    const Text variants = json(result.variants, ", ");
    return "\n    {\n      " + json(f, ",\n      ") +
           (variants.empty() ? "" : ",\n      \"variants\": {" + variants + "}") + "\n    }";
}

void write_csv(std::FILE *file) {
    Texts columns = {"row"};
    for (const Result &r : results())
        for (const auto &[name, value] : r.fields.all())
            remember(&columns, name);
    std::fprintf(file, "%s\r\n", join(columns, ",", [](const Text &name) { return name; }).c_str());
    for (const Result &r : results()) {
        Fields f = r.fields;
        f.set("row", r.name);
        const auto cell = [&](const Text &column) {
            const Value *value = f.find(column);
            return !value ? ""
                   : value->kind != Value::Text
                       ? json(*value)
                       : "\"" + std::regex_replace(value->text, std::regex("\""), "\"\"") + "\"";
        };
        std::fprintf(file, "%s\r\n", join(columns, ",", cell).c_str());
    }
}

// ---- tables at the end -----------------------------------------------------------------------
// Where a row stands: table, line and column; "" for no table.
struct Place {
    Text table, line, column;
};

Place place_of(const Fields &f) {
    const Text kind = f.text("kind"), operation = f.text("operation"), way = f.text("way");
    const Text width = "w=" + integer(f, "w"), shape = integer(f, "k") + "+" + integer(f, "m");
    const auto sized = [&](const char *bytes) {
        return width + " " + shape + " " + size_text((size_t)f.number(bytes));
    };
    if (kind == "host")
        return {"calls on host memory", operation + " " + shape + " " + f.text("memory"),
                f.text("path") + (f.has("gpus") ? " " + integer(f, "gpus") : "")};
    if (kind == "rs")
        return {"codes", sized("region_bytes"), operation + (f.is("compile") ? " compiled" : "")};
    const Text column = kind == "baseline"
                            ? f.text("implementation") + (f.number("threads") > 1 ? " all" : " 1")
                        : kind == "region"            ? f.text("implementation")
                        : way != "engine"             ? way
                        : f.text("family") == "perop" ? "perop " + f.text("method")
                                                      : f.text("family");
    if (operation == "multiply" && (kind == "region" || kind == "baseline"))
        return {f.has("constant") ? "region multiply by one constant" : "region multiply",
                width + " " + f.text("method"), column};
    if (kind == "product" || kind == "baseline")
        return {f.text("mode") == "xor" ? "products added to the outputs" : "products",
                sized("nominal_bytes"), column};
    return {};
}

// Best GB/s of data; lines and columns in the order in which they come.
struct Table {
    Texts lines, columns;
    std::map<std::pair<Text, Text>, double> cells;

    void print(const Text &title) const {
        std::printf("\n%s, best GB/s of data\n%-24s", title.c_str(), "");
        const auto print_row = [this](auto text_of) {
            for (const Text &column : columns)
                std::printf(" %*s", std::max(9, (int)column.size()), text_of(column).c_str());
        };
        print_row([](const Text &column) { return column; });
        for (const Text &line : lines) {
            std::printf("\n%-24s", line.c_str());
            print_row([&](const Text &column) {
                const auto cell = cells.find({line, column});
                return cell == cells.end() ? "n/a" : format("%.2f", cell->second);
            });
        }
        std::printf("\n");
    }
};

void print_tables(const Options &options) {
    Texts titles;
    std::map<Text, Table> tables;
    for (const Result &r : results()) {
        const auto [title, line, column] = place_of(r.fields);
        if (!r.measured() || title.empty() || r.gbps() == 0)
            continue;
        Table &table = tables[title];
        remember(&titles, title);
        remember(&table.lines, line);
        remember(&table.columns, column);
        double &best = table.cells[{line, column}];
        best = std::max(best, r.gbps());
    }
    for (const Text &title : titles)
        tables[title].print(title);
    if (!titles.empty() && !options.device && options.host)
        std::printf("\nRows on a GPU were not measured.\n");
}

void print(const Verdict &v) {
    std::printf("\n%s\n  claim: %s\n", v.title.c_str(), v.claim.c_str());
    const Result *first = nullptr, *previous = nullptr;
    for (const Text &name : v.steps) {
        const Result *r = find_result(name);
        std::printf("  %-44s %s", name.c_str(),
                    r ? format("%8.1f GB/s", r->gbps()).c_str() : "n/a");
        if (r != nullptr && previous != nullptr) {
            const Fields &now = r->fields, &then = previous->fields;
            const bool same = now.number("time_us_min") <= then.number("time_us_max") &&
                              then.number("time_us_min") <= now.number("time_us_max");
            std::printf("  %+6.1f %% on the line before%s, %.2f x the first",
                        100 * (r->gbps() / previous->gbps() - 1), same ? " (within noise)" : "",
                        r->gbps() / first->gbps());
        }
        std::printf("\n");
        previous = r ? r : previous;
        first = first ? first : r;
    }
    for (const Text &id : v.absent)
        std::printf("  %-44s is not in this build's list\n", id.c_str());
}

void print_ratios() {
    std::vector<std::pair<double, Text>> ratios;
    for (const Result &r : results())
        if (r.measured() && r.fields.has("ratio"))
            ratios.push_back({r.fields.number("ratio"), r.name});
    if (ratios.empty())
        return;
    std::sort(ratios.begin(), ratios.end());
    const size_t n = ratios.size();
    std::printf("\ntime of the other library / time of this one: median of %zu rows %.4f, "
                "lowest %.3f, highest %.3f\n",
                n, (ratios[(n - 1) / 2].first + ratios[n / 2].first) / 2, ratios[0].first,
                ratios[n - 1].first);
    for (const auto &[ratio, name] : ratios)
        if (ratio < 0.98)
            std::printf("BELOW 0.98: %.3f  %s\n", ratio, name.c_str());
}

} // namespace

void progress(const Text &name) {
    erase_progress();
    const int s = (int)g_watch.seconds();
    if (on_terminal())
        std::fprintf(stderr, "%zu of %zu  %d:%02d  %s", g_done + 1, g_rows, s / 60, s % 60,
                     name.c_str());
    std::fflush(stderr);
}

Texts filtered_names(const Rows &rows) {
    Text filter = benchmark::GetBenchmarkFilter();
    const bool negative = !filter.empty() && filter[0] == '-';
    if (negative)
        filter.erase(0, 1);
    const bool all = filter.empty() || filter == "all";
    const std::regex pattern(all ? "" : filter, std::regex::extended);
    Texts names;
    for (const Row &row : rows)
        if (all || std::regex_search(row.name, pattern) != negative)
            names.push_back(row.name);
    return names;
}

Reporter::Reporter(const Options &options, const Fields &context,
                   const std::vector<Verdict> &verdicts, const Rows &rows)
    : csv_(options.out.size() > 4 && options.out.substr(options.out.size() - 4) == ".csv"),
      verdicts_(verdicts) {
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
        std::fprintf(file_, "{\n  \"context\": {\n    %s\n  },\n  \"benchmarks\": [",
                     json(context, ",\n    ").c_str());
}

Reporter::~Reporter() {
    if (file_ == nullptr)
        return;
    const Text verdicts = join(verdicts_, ",", [](const Verdict &v) { return json(v); });
    if (csv_)
        write_csv(file_);
    else
        std::fprintf(file_, "\n  ]%s\n}\n",
                     verdicts.empty() ? "" : (",\n  \"verdicts\": [" + verdicts + "\n  ]").c_str());
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
    std::fprintf(file_, "%s%s", first_ ? "" : ",", json(runs[0], results().back()).c_str());
    std::fflush(file_); // a run that is stopped leaves what it has measured
    first_ = false;
}

void Reporter::Finalize() {
    erase_progress();
    const int s = (int)g_watch.seconds();
    std::printf("\n%zu rows in %d:%02d\n", g_done, s / 60, s % 60);
}

void print_summary(const Options &options, const std::vector<Verdict> &verdicts) {
    print_tables(options);
    for (const Verdict &v : verdicts)
        print(v);
    print_ratios();
}
