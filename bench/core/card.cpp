// SPDX-License-Identifier: BSD-3-Clause
// The text of preset card. It needs no GPU, so card_test.cpp tests it everywhere.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "output.h"

namespace {

constexpr double kSlower = 0.97;       // of the fastest engine's rate; AUTO below this is marked
constexpr double kDisturbedSpread = 4; // percent between the fastest and the slowest pass

const std::pair<const char *, const char *> kFacts[] = {
    {"compute capability", "gpu_compute_capability"},
    {"multiprocessors", "gpu_multiprocessors"},
    {"memory", "gpu_memory_bytes"},
    {"rate in float / rate in double (SingleToDoublePrecisionPerfRatio)", "gpu_double_ratio"},
    {"driver", "gpu_driver"},
    {"CUDA of the driver", "cuda_of_driver"},
    {"clock", "gpu_clock_max"},
    {"built by", "cuda_compiler"},
    {"CLMAD", "clmad"},
    {"commit", "commit"},
    {"command", "command"},
    {"VOID", "void"},
    {"NOT FIT FOR MEASUREMENT", "unfit"}};

const char *const kLegend = R"(
GB/s are of data, the k inputs. AUTO % and clmad % are percent of the fastest engine's rate. XOR-only
is the better of two plain kernels that read k regions and write m. For a region multiply XOR-only is
the best copy, and clmad is CARRY_FREE.
slow: below 4 GB/s with the shortest regions; longer ones were not measured.
)";

std::string rounded(double x, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", digits, x);
    return text;
}

// The rows of one width, shape and length, without their ceiling.
struct Group {
    std::string key;
    const Result *fastest = nullptr, *automatic = nullptr, *clmad = nullptr;
};

std::vector<Group> groups_of(const std::vector<Result> &results) {
    std::vector<Group> groups;
    for (const Result &r : results) {
        const Fields &f = r.fields;
        if (!f.has("way"))
            continue;
        const std::string key =
            rounded(f.number("w"), 0) + r.name.substr(std::min(r.name.find('/'), r.name.size()));
        auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const Group &g) { return g.key == key; });
        if (group == groups.end())
            group = groups.insert(group, Group{key});
        if (f.text("way") == "auto")
            group->automatic = &r;
        if (f.text("way") == "auto" && f.text("kind") == "product")
            continue; // its engine has a row of its own
        if (f.text("family") == "clmad" || f.text("method") == "CARRY_FREE")
            group->clmad = &r;
        if (r.measured() && (!group->fastest || r.gbps() > group->fastest->gbps()))
            group->fastest = &r;
    }
    return groups;
}

// "97.5", "slow" where a longer region was not tried, "wrong", or "-".
std::string percent_cell(const Result *r, const Result *fastest) {
    if (r == nullptr)
        return "-";
    if (r->measured())
        return rounded(100 * r->gbps() / fastest->gbps(), 1);
    return r->fields.text("state") == "failed"              ? "wrong"
           : r->fields.text("reason").rfind("slow", 0) == 0 ? "slow"
                                                            : "-";
}

std::string engine_of(const Result *r) {
    return !r || !r->measured()      ? "-"
           : r->fields.has("engine") ? r->fields.text("engine")
                                     : r->fields.text("id");
}

std::string line_of(const Group &g) {
    const Fields &f = g.fastest->fields;
    const double bytes = f.number("region_bytes");
    const bool slower = g.automatic && g.automatic->measured() &&
                        engine_of(g.automatic) != engine_of(g.fastest) &&
                        g.automatic->gbps() < kSlower * g.fastest->gbps();
    std::string line;
    for (const std::string &cell :
         {rounded(f.number("w"), 0),
          f.has("k") ? "(" + rounded(f.number("k"), 0) + ", " + rounded(f.number("m"), 0) + ")"
                     : "region multiply",
          bytes < 1e6 ? rounded(bytes / 1024, 0) + " KiB" : rounded(bytes / kMiB, 0) + " MiB",
          engine_of(g.fastest), rounded(g.fastest->gbps(), g.fastest->gbps() < 100 ? 1 : 0),
          f.has("percent_of_roofline") ? rounded(f.number("percent_of_roofline"), 1) : "-",
          engine_of(g.automatic), percent_cell(g.automatic, g.fastest),
          percent_cell(g.clmad, g.fastest), std::string(slower ? "**AUTO is slower**" : "")})
        line += "| " + cell + " ";
    return line + "|\n";
}

} // namespace

std::string card_text(const Fields &context, const std::vector<Result> &results) {
    std::string text = "### The fastest engines on " + context.text("gpu") + "\n\n";
    for (const auto &[name, key] : kFacts) {
        std::string value = context.text(key);
        if (key == std::string("gpu_memory_bytes"))
            value = rounded(std::strtod(value.c_str(), nullptr) / kGiB, 1) + " GiB";
        if (context.has(key))
            text += std::string("- ") + name + ": " + value + "\n";
    }
    size_t measured = 0, disturbed = 0, slow_clock = 0;
    for (const Result &r : results) {
        if (r.fields.text("state") == "failed")
            text += "- WRONG: " + r.name + ": " + r.fields.text("reason") + "\n";
        measured += r.measured();
        slow_clock += r.fields.is("slow_clock");
        disturbed += r.fields.number("spread_percent") > kDisturbedSpread;
    }
    text += "- rows: " + std::to_string(measured) +
            "; over 4 % from the fastest pass to the slowest one: " + std::to_string(disturbed) +
            "; below 97 % of the nominal clock: " + std::to_string(slow_clock) +
            "\n\n"
            "| w | (k, m) | region | fastest | GB/s | % of XOR-only | AUTO | AUTO % | clmad % | |\n"
            "| ---: | --- | ---: | --- | ---: | ---: | --- | ---: | ---: | --- |\n";
    for (const Group &group : groups_of(results))
        if (group.fastest)
            text += line_of(group);
    return text + kLegend;
}
