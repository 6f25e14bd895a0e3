// SPDX-License-Identifier: BSD-3-Clause
// Measures rows: ceiling, start, check, passes, check, facts.
#include <algorithm>
#include <regex>
#include <set>

#include <strings.h>

#include "output.h"

namespace {

constexpr double kSlowGBps = 4; // a pass over 1 GiB of data takes a quarter of a second

constexpr double kLeastSeconds = 0.1; // of all passes, where a row does not have their number

std::vector<Result> g_results;

void end(Result *result, const char *how, const std::string &reason) {
    result->fields.add("state", how, "reason", reason);
}

void add_sustained(const Sustained &s, const Row &row, const Ceiling *ceiling, Fields *fields) {
    if (s.launch_us == 0)
        return;
    fields->add("sustained_time_us", s.launch_us, "sustained_sm_MHz", when(s.sm_mhz > 0, s.sm_mhz),
                "sustained_watts", when(s.watts > 0, s.watts));
    if (row.data_bytes == 0)
        return;
    const double gbps = row.data_bytes / s.launch_us / 1e3, traffic = gbps * row.moved;
    const double roofline = ceiling ? ceiling->sustained_gbps : 0;
    fields->add("sustained_data_GBps", gbps, "data_GB_per_joule", when(s.watts > 0, gbps / s.watts),
                "sustained_percent_of_roofline", when(roofline > 0, 100 * traffic / roofline));
}

void measure_sustained(Ceiling *ceiling) {
    if (ceiling->sustained.launch_us != 0 || !ceiling->measure_sustained)
        return;
    ceiling->sustained = ceiling->measure_sustained();
    ceiling->sustained_gbps = ceiling->gbps * ceiling->times.median / ceiling->sustained.launch_us;
}

void add_times(const Row &row, const Ceiling *ceiling, const Times &t, double data_bytes,
               Fields *f) {
    f->add("state", "measured", "time_us_median", t.median, "time_us_min", t.min, "time_us_max",
           t.max, "spread_percent", t.median > 0 ? 100 * (t.max - t.min) / t.median : 0.0);
    if (data_bytes == 0)
        return;
    const double gbps = t.median > 0 ? data_bytes / t.median / 1e3 : 0, traffic = gbps * row.moved;
    f->add("data_bytes", data_bytes, "moved_per_byte", row.moved, "data_GBps", gbps, "traffic_GBps",
           traffic);
    if (ceiling == nullptr || ceiling->gbps == 0)
        return;
    f->add("roofline", ceiling->what, "roofline_variant", ceiling->best, "roofline_GBps",
           ceiling->gbps, "percent_of_roofline", 100 * traffic / ceiling->gbps, "above_101_percent",
           when(traffic > 1.01 * ceiling->gbps, true));
}

void report_ceiling(const Row &row, Result *result) {
    const Ceiling &ceiling = row.ceiling();
    if (!ceiling.error.empty() || ceiling.gbps == 0)
        return end(result, "failed", ceiling.error);
    add_times(row, &ceiling, ceiling.times, row.data_bytes, &result->fields);
    result->fields.add(ceiling.fields);
    if (row.sustained)
        add_sustained(ceiling.sustained, row, nullptr, &result->fields);
    result->variants = ceiling.variants;
    result->fields.set("note", "best of " + std::to_string(ceiling.variants.all().size()) + ": " +
                                   ceiling.best);
}

using Works = std::vector<std::unique_ptr<Work>>;

std::string check(const Works &works, bool after) {
    static const char *const whose[] = {"", " (the other library)"};
    for (size_t i = 0; i < works.size(); i++) {
        const std::string wrong = works[i]->check(after);
        if (!wrong.empty())
            return wrong + whose[i] + (after ? " (behind the timed passes)" : "");
    }
    return "";
}

// The work of the linked library, or in turns that and the work of the other one.
void measure_works(const Row &row, Ceiling *ceiling, bool sustained, Result *result) {
    Works works;
    for (const Library *library : {&linked_library(), other_library()})
        if (library != nullptr)
            works.push_back(row.make(*library));
    for (const auto &work : works) {
        const gfk_status status = work->start();
        const bool mine = work == works[0];
        const bool skipped = !mine || status == GFK_STATUS_OUT_OF_MEMORY ||
                             status == GFK_STATUS_TABLE_LIMIT || status == GFK_STATUS_NOT_SUPPORTED;
        if (status != GFK_STATUS_SUCCESS)
            return end(result, skipped ? "skipped" : "failed",
                       (mine ? "" : "the other library: ") +
                           std::string(gfk_status_description(status)));
    }
    std::string wrong = check(works, false);
    if (!wrong.empty())
        return end(result, "failed", wrong);
    for (const auto &work : works) {
        if (work != works[0])
            work->follow(*works[0]);
        work->warm_up();
    }
    std::vector<double> us[2];
    const Stopwatch watch;
    const size_t passes = (size_t)row.passes, n = works.size();
    for (size_t number = 0;
         passes ? number < passes : number == 0 || watch.seconds() < kLeastSeconds; number++) {
        for (size_t i = 0; i < n; i++) { // the first of a turn is the second of the next
            const size_t which = (i + number) % n;
            us[which].push_back(works[which]->pass((long)number));
        }
    }
    wrong = check(works, true);
    if (!wrong.empty())
        return end(result, "failed", wrong);
    const Times times = times_of(us[0]);
    const double data_bytes = works[0]->data_bytes(), other = times_of(us[1]).median;
    Fields &f = result->fields;
    add_times(row, ceiling, times, data_bytes > 0 ? data_bytes : row.data_bytes, &f);
    if (works.size() > 1)
        f.add("other_time_us_median", other, "ratio", other / times.median);
    works[0]->describe();
    f.add(works[0]->facts);
    if (sustained) {
        add_sustained(works[0]->sustain(), row, ceiling, &f);
    }
    if (row.finish)
        row.finish(result);
}

void measure_row(const Row &row, const Options &options, Result *result) {
    const std::string missing = row.missing ? row.missing() : "";
    if (!missing.empty())
        return end(result, "skipped", missing);
    if (const Result *shorter = find_result(row.shorter); shorter && shorter->gbps() < kSlowGBps)
        return end(result, "skipped", "slow: see " + row.shorter);
    const bool alone = other_library() == nullptr;
    const bool sustained = row.sustained && !options.no_sustained && alone;
    Ceiling *ceiling = row.ceiling && alone ? &row.ceiling() : nullptr;
    if (ceiling != nullptr && sustained)
        measure_sustained(ceiling);
    if (row.make)
        measure_works(row, ceiling, sustained, result);
    else
        report_ceiling(row, result);
}

bool contains(const std::vector<std::string> &wanted, const std::string &value) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const std::string &word) {
        return !value.empty() && strcasecmp(word.c_str(), value.c_str()) == 0;
    });
}

bool is_wanted(const Options &options, const Row &row) {
    const Fields &f = row.facts;
    const auto fits = [](const std::vector<std::string> &wanted, const std::string &value) {
        return wanted.empty() || contains(wanted, value);
    };
    return fits(options.methods, f.text("method")) &&
           fits(options.widths, std::to_string((int)f.number("w"))) &&
           (fits(options.engines, f.text("engine")) || fits(options.engines, f.text("family")) ||
            fits(options.engines, f.text("id")));
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
        if (r.name == name && r.measured())
            return &r;
    return nullptr;
}

std::function<void(Result *)> percent_of(const std::string &other) {
    return [other](Result *result) {
        if (const Result *r = find_result(other))
            result->fields.set("percent_of_other", 100 * result->gbps() / r->gbps());
    };
}

std::string size_text(size_t bytes) {
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    int unit = 0;
    for (; unit < 3 && bytes != 0 && bytes % 1024 == 0; unit++)
        bytes /= 1024;
    return std::to_string(bytes) + units[unit];
}

std::string shape_text(const Shape &shape) {
    return std::to_string(shape.k) + "+" + std::to_string(shape.m);
}

Fields shape_facts(const char *kind, const std::string &operation, const char *where,
                   const std::string &id, const Shape &shape) {
    return Fields("kind", kind, "operation", operation, "where", where, "id", id, "w", shape.w, "k",
                  shape.k, "m", shape.m);
}

void select_rows(const Options &options, Rows *rows) {
    const bool against = !options.against.empty(), negative = options.filter[0] == '-';
    const bool all = options.methods.empty() && options.widths.empty() && options.engines.empty();
    const std::regex pattern(options.filter.substr(negative), std::regex::extended);
    std::vector<std::string> needed;
    for (const Row &row : *rows)
        if (!is_ceiling(row) && is_wanted(options, row))
            needed.push_back(row.needs);
    std::set<std::string> names;
    const auto unwanted = [&](const Row &row) {
        const bool found = std::regex_search(row.name, pattern) ||
                           std::regex_search(row.group + ":" + row.name, pattern);
        return found == negative || (against && !row.compared) ||
               (!all &&
                (is_ceiling(row) ? !contains(needed, row.name) : !is_wanted(options, row))) ||
               !names.insert(row.name).second;
    };
    rows->erase(std::remove_if(rows->begin(), rows->end(), unwanted), rows->end());
}

void run_rows(const Options &options, const Fields &context, const Rows &rows) {
    Report report(options, context, rows.size());
    for (const Row &row : rows) {
        report.begin(row.name);
        Result result = {row.name, row.facts, {}};
        measure_row(row, options, &result);
        report.add(result);
        g_results.push_back(std::move(result));
    }
}
