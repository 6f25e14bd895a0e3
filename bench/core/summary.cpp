// SPDX-License-Identifier: BSD-3-Clause
#include "summary.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace {

std::string width_text(const Fields &f) {
    return "w=" + std::to_string((int)f.number("w"));
}

// Where a row stands in the table of its kind; "" for none.
std::string table_of(const Fields &f) {
    const std::string kind = f.text("kind"), operation = f.text("operation");
    if (operation == "multiply" && (kind == "region" || kind == "baseline"))
        return f.has("constant") ? "region multiply by one constant" : "region multiply";
    if (kind == "product" || (kind == "baseline" && operation == "encode"))
        return f.text("mode") == "xor" ? "products added to the outputs" : "products";
    return kind == "rs" ? "codes" : kind == "host" ? "calls on host memory" : "";
}

std::string line_of(const Fields &f) {
    const std::string shape =
        std::to_string((int)f.number("k")) + "+" + std::to_string((int)f.number("m"));
    if (f.has("method") && table_of(f).compare(0, 6, "region") == 0)
        return width_text(f) + " " + f.text("method");
    if (f.text("kind") == "host")
        return f.text("operation") + " " + shape + " " + f.text("memory");
    return width_text(f) + " " + shape + " " +
           size_text((size_t)f.number(f.text("kind") == "rs" ? "region_bytes" : "nominal_bytes"));
}

std::string column_of(const Fields &f) {
    const std::string kind = f.text("kind");
    if (kind == "baseline")
        return f.text("implementation") + (f.number("threads") > 1 ? " all" : " 1");
    if (kind == "region")
        return f.text("implementation");
    if (kind == "rs")
        return f.text("operation") + (f.is("compile") ? " compiled" : "");
    if (kind == "host")
        return f.text("path") + (f.has("gpus") ? " " + std::to_string((int)f.number("gpus")) : "");
    const std::string way = f.text("way");
    return way != "engine"               ? way
           : f.text("family") == "perop" ? "perop " + f.text("method")
                                         : f.text("family");
}

// Best GB/s of data; lines and columns in the order in which they come.
struct Table {
    std::vector<std::string> lines, columns;
    std::map<std::pair<std::string, std::string>, double> cells;

    static void remember(std::vector<std::string> *names, const std::string &name) {
        if (std::find(names->begin(), names->end(), name) == names->end())
            names->push_back(name);
    }
    void add(const Result &r) {
        const std::string line = line_of(r.fields), column = column_of(r.fields);
        remember(&lines, line);
        remember(&columns, column);
        double &best = cells[{line, column}];
        best = std::max(best, r.gbps());
    }
    void print(const std::string &title) const {
        std::printf("\n%s, best GB/s of data\n%-24s", title.c_str(), "");
        for (const std::string &column : columns)
            std::printf(" %*s", std::max(9, (int)column.size()), column.c_str());
        for (const std::string &line : lines) {
            std::printf("\n%-24s", line.c_str());
            for (const std::string &column : columns) {
                const auto cell = cells.find({line, column});
                const int width = std::max(9, (int)column.size());
                if (cell == cells.end())
                    std::printf(" %*s", width, "n/a");
                else
                    std::printf(" %*.2f", width, cell->second);
            }
        }
        std::printf("\n");
    }
};

} // namespace

void print_summary(const Options &options) {
    std::vector<std::string> titles;
    std::map<std::string, Table> tables;
    for (const Result &r : results()) {
        const std::string title = table_of(r.fields);
        if (r.state != Result::Measured || title.empty() || r.gbps() == 0)
            continue;
        Table::remember(&titles, title);
        tables[title].add(r);
    }
    for (const std::string &title : titles)
        tables[title].print(title);
    if (!titles.empty() && !options.device && options.host)
        std::printf("\nRows on a GPU were not measured.\n");
}

void print_verdicts(const std::vector<Verdict> &verdicts) {
    for (const Verdict &v : verdicts) {
        std::printf("\n%s\n  claim: %s\n", v.title.c_str(), v.claim.c_str());
        const Result *first = nullptr, *previous = nullptr;
        for (const std::string &name : v.steps) {
            const Result *r = find_result(name);
            if (r == nullptr) {
                std::printf("  %-44s n/a\n", name.c_str());
                continue;
            }
            std::printf("  %-44s %8.1f GB/s", name.c_str(), r->gbps());
            if (previous) {
                const bool same =
                    r->times.min <= previous->times.max && previous->times.min <= r->times.max;
                std::printf("  %+6.1f %% on the line before%s, %.2f x the first",
                            100 * (r->gbps() / previous->gbps() - 1), same ? " (within noise)" : "",
                            r->gbps() / first->gbps());
            }
            std::printf("\n");
            previous = r;
            first = first ? first : r;
        }
        for (const std::string &id : v.absent)
            std::printf("  %-44s is not in this build's list\n", id.c_str());
    }
}

void print_ratios() {
    std::vector<std::pair<double, std::string>> ratios;
    for (const Result &r : results())
        if (r.state == Result::Measured && r.fields.has("ratio"))
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
