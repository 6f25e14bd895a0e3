// SPDX-License-Identifier: BSD-3-Clause
#include "output.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <unistd.h>

namespace {

using Text = std::string;

bool on_terminal() {
    static const bool terminal = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
    return terminal;
}

// ---- a line on the terminal ------------------------------------------------------------------
void print(const Result &r) {
    const Fields &f = r.fields;
    const auto cell = [&](int width, int digits, const char *name) {
        f.has(name) ? std::printf(" %*.*f", width, digits, f.number(name))
                    : std::printf(" %*s", width, "-");
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
    char text[64];
    const bool whole = x == std::floor(x) && std::fabs(x) < 9e15;
    std::snprintf(text, sizeof text, whole ? "%.0f" : "%.9g", x);
    return std::isfinite(x) ? text : "0";
}

Text json(const Fields &fields, const char *between) {
    Text all;
    for (const auto &[name, value] : fields.all())
        all += (all.empty() ? "" : between) + quoted(name) + ": " + json(value);
    return all;
}

} // namespace

Report::Report(const Options &options, const Fields &context, size_t rows) : rows_(rows) {
    std::printf("\n%-52s %9s %9s %7s %12s %7s %10s\n", "row", "data", "traffic",
                other_library() ? "ratio" : "% roof", "time", "spread", "set-up");
    std::printf("%-52s %9s %9s %7s %12s %7s %10s\n", "", "GB/s", "GB/s", "", "us", "%", "us");
    if (options.out.empty())
        return;
    file_ = std::fopen(options.out.c_str(), "w");
    if (file_ == nullptr) {
        std::perror(options.out.c_str());
        std::exit(2);
    }
    std::fprintf(file_, "{\n  \"context\": {\n    %s\n  },\n  \"benchmarks\": [",
                 json(context, ",\n    ").c_str());
}

Report::~Report() {
    const int s = (int)watch_.seconds();
    std::printf("\n%zu rows in %d:%02d\n", done_, s / 60, s % 60);
    if (file_ == nullptr)
        return;
    std::fputs("\n  ]\n}\n", file_);
    std::fclose(file_);
}

void Report::begin(const Text &name) {
    const int s = (int)watch_.seconds();
    if (on_terminal())
        std::fprintf(stderr, "%zu of %zu  %d:%02d  %s", done_ + 1, rows_, s / 60, s % 60,
                     name.c_str());
    std::fflush(stderr);
}

void Report::add(const Result &result) {
    if (on_terminal())
        std::fputs("\r\033[K", stderr);
    print(result);
    std::fflush(stdout);
    if (file_ != nullptr) {
        Fields all("row", result.name);
        all.add(result.fields);
        const Text variants = json(result.variants, ", ");
        std::fprintf(file_, "%s\n    {\n      %s%s\n    }", done_ == 0 ? "" : ",",
                     json(all, ",\n      ").c_str(),
                     variants.empty() ? "" : (",\n      \"variants\": {" + variants + "}").c_str());
        std::fflush(file_); // a run that is stopped leaves what it has measured
    }
    done_++;
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
