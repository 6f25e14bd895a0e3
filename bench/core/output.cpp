// SPDX-License-Identifier: BSD-3-Clause
#include "output.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <regex>
#include <tuple>

#include <unistd.h>

#include "host.h"

namespace {

using Text = std::string;
using Texts = std::vector<Text>;

size_t g_rows, g_done, g_slow;
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

// Did a pass take a part of the region only (cases/cpu.cpp)?
bool is_slow(const Fields &f) {
    return f.text("note").rfind("slow: ", 0) == 0;
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
    if (is_slow(f)) // print_summary has a line for all of them
        g_slow++;
    else if (f.has("note"))
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
// Where a row stands: a table, a line, and a column of a group of columns. No table: nowhere.
struct Place {
    Text table, line, group, column;
};

// The line of the table of methods that has the largest rate of each column.
const char *const kFastest = "fastest";

Text threads_of(const Fields &f) {
    return integer(f, "threads") + (f.number("threads") > 1 ? " threads" : " thread");
}

// The way without "_sustained", which says that the row is there for its rate over seconds.
std::pair<Text, bool> way_of(const Fields &f) {
    const Text way = f.text("way");
    const size_t end = way.rfind("_sustained");
    return {way.substr(0, end), end != Text::npos};
}

// Who computed: an implementation, a family of engines, a way to choose one, or another library.
Text who(const Fields &f) {
    static const std::map<Text, Text> names = {{"auto", "AUTO"},
                                               {"gf-complete", "GF-Complete"},
                                               {"gfcomplete", "GF-Complete"},
                                               {"isa-l", "ISA-L"},
                                               {"isal", "ISA-L"},
                                               {"jerasure", "Jerasure"},
                                               {"m4rie", "M4RIE"},
                                               {"opt", "optimized"},
                                               {"plain", "k x m multiplies"}};
    const auto [way, sustained] = way_of(f);
    const bool engine = way == "engine";
    Text name = f.has("implementation") ? f.text("implementation")
                : engine                ? f.text("family")
                                        : way;
    if (const auto other = names.find(name); other != names.end())
        name = other->second;
    if (engine && name == "perop")
        name += " " + f.text("method");
    if (engine && f.text("where") == "cpu")
        name = "this library, by " + name;
    if (sustained)
        name += ", sustained";
    return f.text("where") == "cpu" ? name + ", " + threads_of(f) : name;
}

Place place_of(const Fields &f) {
    const Text kind = f.text("kind"), operation = f.text("operation");
    const Text width = "w=" + integer(f, "w"), shape = integer(f, "k") + "+" + integer(f, "m");
    if (kind == "host")
        return {"calls on host memory", operation + " " + shape + " " + f.text("memory"), "",
                f.text("path") + (f.has("gpus") ? " " + integer(f, "gpus") : "")};
    if (kind == "rs")
        return {"codes", operation, width, shape};
    if (operation == "multiply" && (kind == "region" || kind == "baseline"))
        return {f.has("constant") ? "region multiply by one constant" : "region multiply",
                f.text("method"), who(f), width};
    if (kind == "product" && f.number("k") == 1 && f.number("m") == 1 && f.text("where") == "cpu")
        return {"region multiply", kFastest, "this library, " + threads_of(f), width};
    if (kind == "product" || (kind == "baseline" && operation != "invert"))
        return {f.text("mode") == "xor" ? "products added to the outputs" : "products", who(f),
                width, shape};
    return {};
}

// Something else was running during the passes. A spread over constants is the method's own.
bool is_disturbed(const Fields &f) {
    const Text constants = f.text("constants");
    return constants != "each" && constants != "all" &&
           f.number("spread_percent") > (f.text("where") == "cpu" ? 20 : 4);
}

// Best GB/s of data; lines, groups and columns in the order in which they come.
class Table {
  public:
    void add(const Text &line, const Text &group, const Text &column, double rate, bool disturbed) {
        remember(&lines_, line);
        remember(&groups_, group);
        remember(&columns_[group], column);
        Cell &best = cells_[{line, group, column}];
        if (rate > best.rate)
            best = {rate, disturbed};
    }
    // A last line with the largest rate of each column.
    void add_fastest() {
        lines_.erase(std::remove(lines_.begin(), lines_.end(), kFastest), lines_.end());
        for (const auto &[place, cell] : std::map(cells_))
            add(kFastest, std::get<1>(place), std::get<2>(place), cell.rate, cell.disturbed);
    }
    void print(const Text &title) const {
        size_t columns = 0, longest = 0;
        for (const Text &group : groups_)
            columns += columns_.at(group).size();
        if (columns > kMostColumns)
            return turned().print(title);
        for (const Text &line : lines_)
            longest = std::max(longest, line.size());
        const auto print_line = [&](const Text &name, auto text_of) {
            std::printf("\n%-*s", (int)longest, name.c_str());
            for (const Text &group : groups_)
                for (const Text &column : columns_.at(group))
                    std::printf("%*s", width_of(group), text_of(group, column).c_str());
        };
        std::printf("\n%s, best GB/s of data", title.c_str());
        if (groups_ != Texts{""})
            std::printf("\n%*s", (int)longest, "");
        for (const Text &group : groups_ != Texts{""} ? groups_ : Texts())
            std::printf("%*s", width_of(group) * (int)columns_.at(group).size(), group.c_str());
        print_line("", [](const Text &, const Text &column) { return column; });
        for (const Text &line : lines_)
            print_line(line, [&](const Text &group, const Text &column) {
                const auto cell = cells_.find({line, group, column});
                return cell == cells_.end() ? "n/a" : text_of_cell(cell->second);
            });
        std::printf("\n");
        if (std::any_of(cells_.begin(), cells_.end(), [](auto &c) { return c.second.disturbed; }))
            std::printf("* disturbed: the slowest pass took over 4 %% (on the CPU 20 %%) longer\n");
    }

  private:
    static constexpr size_t kMostColumns = 18; // that a terminal has room for

    struct Cell {
        double rate = 0;
        bool disturbed = false;
    };

    static Text text_of_cell(const Cell &cell) {
        const double x = cell.rate;
        return format("%.*f",
                      x >= 100  ? 0
                      : x >= 10 ? 1
                      : x >= 1  ? 2
                                : 3,
                      x) +
               (cell.disturbed ? "*" : "");
    }
    int width_of(const Text &group) const {
        const Texts &columns = columns_.at(group);
        size_t width = (group.size() + 2 + columns.size() - 1) / columns.size();
        for (const Text &column : columns)
            width = std::max({width, column.size() + 2, size_t{7}});
        return (int)width;
    }
    Table turned() const {
        Table table;
        for (const Text &group : groups_)
            for (const Text &column : columns_.at(group))
                for (const Text &line : lines_)
                    if (const auto cell = cells_.find({line, group, column}); cell != cells_.end())
                        table.add(group + " " + column, "", line, cell->second.rate,
                                  cell->second.disturbed);
        return table;
    }

    Texts lines_, groups_;
    std::map<Text, Texts> columns_; // of each group
    std::map<std::tuple<Text, Text, Text>, Cell> cells_;
};

void print_tables(const Options &options) {
    Texts titles;
    std::map<Text, Table> tables;
    for (const Result &r : results()) {
        const auto [title, line, group, column] = place_of(r.fields);
        const double rate =
            way_of(r.fields).second ? r.fields.number("sustained_data_GBps") : r.gbps();
        if (!r.measured() || title.empty() || rate == 0)
            continue;
        remember(&titles, title);
        tables[title].add(line, group, column, rate, is_disturbed(r.fields));
    }
    if (const auto methods = tables.find("region multiply"); methods != tables.end())
        methods->second.add_fastest();
    for (const Text &title : titles)
        tables[title].print(title);
    if (g_slow != 0)
        std::printf("\n%zu rows are slow: a pass took a part of the region.\n", g_slow);
    if (!titles.empty() && !options.device && options.host)
        std::printf("\nRows on a GPU were not measured.\n");
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
        std::fprintf(file_, "{\n  \"context\": {\n    %s\n  },\n  \"benchmarks\": [",
                     json(context, ",\n    ").c_str());
}

Reporter::~Reporter() {
    if (file_ == nullptr)
        return;
    if (csv_)
        write_csv(file_);
    else
        std::fputs("\n  ]\n}\n", file_);
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

void print_summary(const Options &options) {
    if (!options.is("card")) // it has a table of its own
        print_tables(options);
    print_ratios();
}
