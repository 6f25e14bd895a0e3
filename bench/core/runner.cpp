// SPDX-License-Identifier: BSD-3-Clause
// Measures rows: ceiling, start, check, passes, check, facts. Google Benchmark calls it row by row.
#include <algorithm>
#include <cstring>

#include <benchmark/benchmark.h>

#include "reporter.h"
#include "work.h"

namespace {

std::vector<Result> g_results;

// Google Benchmark calls a row more than once while it looks for an iteration count.
void keep(const Result &result) {
    if (!g_results.empty() && g_results.back().name == result.name)
        g_results.back() = result;
    else
        g_results.push_back(result);
}

void end(benchmark::State &state, Result *result, decltype(Result::state) how,
         const std::string &reason) {
    result->state = how;
    result->fields.set("state", how == Result::Skipped ? "skipped" : "failed");
    result->fields.set("reason", reason);
    state.SkipWithError(reason.c_str());
    keep(*result);
}

void add_sustained(const Sustained &s, double data_bytes, double moved, Ceiling *ceiling,
                   Fields *fields) {
    if (s.launch_us == 0)
        return;
    const double gbps = data_bytes / s.launch_us / 1e3;
    fields->set("sustained_data_GBps", gbps);
    fields->set("sustained_traffic_GBps", gbps * moved);
    if (s.sm_mhz > 0)
        fields->set("sustained_sm_MHz", s.sm_mhz);
    if (s.watts > 0) {
        fields->set("sustained_watts", s.watts);
        fields->set("data_GB_per_joule", gbps / s.watts);
    }
    if (ceiling != nullptr && ceiling->sustained_gbps > 0) {
        fields->set("sustained_roofline_GBps", ceiling->sustained_gbps);
        fields->set("sustained_percent_of_roofline", 100 * gbps * moved / ceiling->sustained_gbps);
    }
}

void measure_sustained(Ceiling *ceiling) {
    if (ceiling->sustained.launch_us != 0 || !ceiling->measure_sustained)
        return;
    ceiling->sustained = ceiling->measure_sustained();
    ceiling->sustained_gbps = ceiling->gbps * ceiling->times.median / ceiling->sustained.launch_us;
}

void add_times(const Row &row, const Ceiling *ceiling, Result *result) {
    const Times &t = result->times;
    Fields &f = result->fields;
    f.set("state", "measured");
    f.set("time_us_median", t.median);
    f.set("time_us_min", t.min);
    f.set("time_us_max", t.max);
    f.set("spread_percent", t.median > 0 ? 100 * (t.max - t.min) / t.median : 0.0);
    f.set("replays", t.count);
    if (result->data_bytes == 0)
        return;
    const double traffic = result->gbps() * row.moved;
    f.set("data_bytes", result->data_bytes);
    f.set("moved_per_byte", row.moved);
    f.set("data_GBps", result->gbps());
    f.set("traffic_GBps", traffic);
    if (ceiling == nullptr || ceiling->gbps == 0)
        return;
    f.set("roofline", ceiling->what);
    f.set("roofline_variant", ceiling->best);
    f.set("roofline_GBps", ceiling->gbps);
    f.set("percent_of_roofline", 100 * traffic / ceiling->gbps);
    f.set_true("above_101_percent", traffic > 1.01 * ceiling->gbps);
}

void report_ceiling(benchmark::State &state, const Row &row, Result *result) {
    Ceiling &ceiling = row.ceiling();
    if (!ceiling.error.empty() || ceiling.gbps == 0)
        return end(state, result, Result::Failed, ceiling.error);
    for (auto _ : state)
        state.SetIterationTime(ceiling.times.median * 1e-6);
    result->times = ceiling.times;
    add_times(row, &ceiling, result);
    result->fields.add(ceiling.fields);
    if (row.sustained)
        add_sustained(ceiling.sustained, row.data_bytes, row.moved, nullptr, &result->fields);
    result->variants = ceiling.variants;
    result->fields.set("note",
                       "best of " + std::to_string(ceiling.variants.size()) + ": " + ceiling.best);
    keep(*result);
}

// Measures one work, or in turns that of the linked library and that of the other one.
class Measurement {
  public:
    explicit Measurement(const Row &row) : row_(row) {
        works_.push_back(row.make(linked_library()));
        if (other_library() != nullptr)
            works_.push_back(row.make(*other_library()));
    }
    gfk_status start() { return works_[0]->start(); }
    gfk_status start_other() { return works_.size() > 1 ? works_[1]->start() : GFK_STATUS_SUCCESS; }
    std::string check(bool after) {
        static const char *const whose[] = {"", " (the other library)"};
        for (size_t i = 0; i < works_.size(); i++) {
            const std::string wrong = works_[i]->check(after);
            if (!wrong.empty())
                return wrong + whose[i] + (after ? " (behind the timed passes)" : "");
        }
        return "";
    }
    void warm_up() {
        for (size_t i = 0; i < works_.size(); i++) {
            if (i > 0)
                works_[i]->follow(*works_[0]);
            works_[i]->warm_up();
        }
    }
    void pass(benchmark::State &state) {
        const size_t number = us_[0].size(), n = works_.size();
        for (size_t i = 0; i < n; i++) { // the first of a turn is the second of the next
            const size_t which = (i + number) % n;
            us_[which].push_back(works_[which]->pass((long)number));
        }
        state.SetIterationTime(us_[0].back() * 1e-6);
    }
    void finish(Result *result, Ceiling *ceiling, bool sustained) {
        result->times = times_of(us_[0]);
        if (works_[0]->data_bytes() > 0)
            result->data_bytes = works_[0]->data_bytes();
        add_times(row_, ceiling, result);
        if (works_.size() > 1) {
            const Times other = times_of(us_[1]);
            result->fields.set("other_time_us_median", other.median);
            result->fields.set("ratio", other.median / result->times.median);
        }
        works_[0]->describe(&result->fields);
        if (sustained)
            add_sustained(works_[0]->sustain(), row_.data_bytes, row_.moved, ceiling,
                          &result->fields);
    }

  private:
    const Row &row_;
    std::vector<std::unique_ptr<Work>> works_;
    std::vector<double> us_[2];
};

void measure_row(benchmark::State &state, const Row &row, const Options &options) {
    progress(row.name);
    Result result;
    result.name = row.name;
    result.fields = row.facts;
    result.data_bytes = row.data_bytes;
    result.moved = row.moved;
    const std::string missing = row.missing ? row.missing() : "";
    if (!missing.empty())
        return end(state, &result, Result::Skipped, missing);
    const bool sustained = row.sustained && options.sustained && other_library() == nullptr;
    Ceiling *ceiling = nullptr;
    if (row.ceiling && other_library() == nullptr) {
        ceiling = &row.ceiling();
        if (sustained)
            measure_sustained(ceiling);
    }
    if (!row.make)
        return report_ceiling(state, row, &result);
    Measurement measurement(row);
    const gfk_status status = measurement.start();
    if (status == GFK_STATUS_OUT_OF_MEMORY || status == GFK_STATUS_TABLE_LIMIT)
        return end(state, &result, Result::Skipped, gfk_status_description(status));
    if (status != GFK_STATUS_SUCCESS)
        return end(state, &result, Result::Failed, gfk_status_description(status));
    const gfk_status other = measurement.start_other();
    if (other != GFK_STATUS_SUCCESS)
        return end(state, &result, Result::Skipped,
                   std::string("the other library: ") + gfk_status_description(other));
    std::string wrong = measurement.check(false);
    if (!wrong.empty())
        return end(state, &result, Result::Failed, wrong);
    measurement.warm_up();
    for (auto _ : state)
        measurement.pass(state);
    wrong = measurement.check(true);
    if (!wrong.empty())
        return end(state, &result, Result::Failed, wrong);
    measurement.finish(&result, ceiling, sustained);
    if (row.finish)
        row.finish(&result);
    keep(result);
}

bool contains(const std::vector<std::string> &wanted, const std::string &value) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const std::string &word) {
        return !value.empty() && strcasecmp(word.c_str(), value.c_str()) == 0;
    });
}

bool is_wanted(const Options &options, const Row &row) {
    const Fields &f = row.facts;
    if (!options.methods.empty() && !contains(options.methods, f.text("method")))
        return false;
    if (!options.widths.empty() && !contains(options.widths, std::to_string((int)f.number("w"))))
        return false;
    return options.engines.empty() || contains(options.engines, f.text("engine")) ||
           contains(options.engines, f.text("family")) || contains(options.engines, f.text("id"));
}

bool is_ceiling(const Row &row) {
    return row.facts.text("kind") == "ceiling";
}

} // namespace

Times times_of(std::vector<double> us) {
    if (us.empty())
        return {};
    std::sort(us.begin(), us.end());
    return {(us[(us.size() - 1) / 2] + us[us.size() / 2]) / 2, us.front(), us.back(), us.size()};
}

const std::vector<Result> &results() {
    return g_results;
}

const Result *find_result(const std::string &name) {
    for (const Result &r : g_results)
        if (r.name == name && r.state == Result::Measured)
            return &r;
    return nullptr;
}

std::string size_text(size_t bytes) {
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    int unit = 0;
    while (unit < 3 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    return std::to_string(bytes) + units[unit];
}

std::string shape_text(const Shape &shape) {
    return std::to_string(shape.k) + "+" + std::to_string(shape.m);
}

void select_rows(const Options &options, Rows *rows) {
    const bool against = !options.against.empty();
    const bool all = options.methods.empty() && options.widths.empty() && options.engines.empty();
    std::vector<std::string> needed;
    for (const Row &row : *rows)
        if (!is_ceiling(row) && is_wanted(options, row))
            needed.push_back(row.needs);
    rows->erase(std::remove_if(rows->begin(), rows->end(),
                               [&](const Row &row) {
                                   if (against && !row.compared)
                                       return true;
                                   if (all)
                                       return false;
                                   return is_ceiling(row) ? !contains(needed, row.name)
                                                          : !is_wanted(options, row);
                               }),
                rows->end());
}

size_t run_rows(const Options &options, const Fields &context, Rows rows) {
    for (const Row &row : rows) {
        auto *b = benchmark::RegisterBenchmark(
            row.name.c_str(),
            [&row, &options](benchmark::State &state) { measure_row(state, row, options); });
        b->Unit(benchmark::kMicrosecond);
        if (row.passes == 0)
            b->UseRealTime()->MinTime(0.1);
        else
            b->UseManualTime()->Iterations(row.passes);
    }
    Reporter reporter(options, context, rows);
    return benchmark::RunSpecifiedBenchmarks(&reporter);
}
