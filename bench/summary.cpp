// SPDX-License-Identifier: BSD-3-Clause
// The three tables of preset s2, and the verdicts.
#include "summary.h"

#include <algorithm>
#include <cstdio>

#include "plan.h"
#include "results.h"

namespace {

// The fastest measured row of a cell; 0 if there is none.
double best(const char *method, unsigned w, const char *implementation, bool all_cores,
            bool fixed) {
    double gbps = 0;
    for (const Result &r : results())
        if (r.state == Result::Measured && r.method == method && r.w == w &&
            r.implementation == implementation && (r.threads > 1) == all_cores &&
            (r.constants == "c=" + std::to_string(kS2Constant)) == fixed)
            gbps = std::max(gbps, r.source_gbps());
    return gbps;
}

void cell(double gbps) {
    if (gbps > 0)
        std::printf(" %10.2f", gbps);
    else
        std::printf(" %10s", "-");
}

} // namespace

void print_s2() {
    for (unsigned w : {8u, 16u, 32u}) {
        std::printf("\nw = %u, %zu bytes, GB/s of source; c = %u, then random constants (median)\n",
                    w, kS2Bytes, kS2Constant);
        std::printf("%-8s | %10s %10s %10s %10s | %10s %10s %10s %10s\n", "", "GF-C 1", "GF-C all",
                    "naive", "optimized", "GF-C 1", "GF-C all", "naive", "optimized");
        for (int i = GFK_METHOD_SHIFT; i <= GFK_METHOD_SPLIT; i++) {
            const char *method = gfk_method_name((gfk_method)i);
            std::printf("%-8s", method);
            for (bool fixed : {true, false}) {
                std::printf(" |");
                cell(best(method, w, "gf-complete", false, fixed));
                cell(best(method, w, "gf-complete", true, fixed));
                cell(best(method, w, "naive", false, fixed));
                cell(best(method, w, "opt", false, fixed));
            }
            std::printf("\n");
        }
    }
}

void print_verdicts() {
    for (const Verdict &v : plan_verdicts()) {
        std::printf("\n%s\n  claim: %s\n", v.title.c_str(), v.claim.c_str());
        const Result *first = nullptr, *previous = nullptr;
        for (const Row &row : v.steps) {
            const Result *r = find_result(row.name());
            if (r == nullptr) {
                std::printf("  %-44s not measured\n", row.name().c_str());
                continue;
            }
            std::printf("  %-44s %8.1f GB/s", row.name().c_str(), r->source_gbps());
            if (previous) {
                const bool same = r->min_us <= previous->max_us && previous->min_us <= r->max_us;
                std::printf("  %+6.1f %% on the line before%s, %.2f x the first",
                            100 * (r->source_gbps() / previous->source_gbps() - 1),
                            same ? " (within noise)" : "", r->source_gbps() / first->source_gbps());
            }
            std::printf("\n");
            previous = r;
            first = first ? first : r;
        }
        for (const std::string &id : v.absent)
            std::printf("  %-44s is not in this build's list\n", id.c_str());
    }
}

void describe_verdicts(Context *context) {
    int n = 0;
    for (const Verdict &v : plan_verdicts()) {
        std::string text = v.title + "|" + v.claim + "|";
        for (const Row &row : v.steps)
            text += (text.back() == '|' ? "" : ",") + row.name();
        for (const std::string &id : v.absent)
            text += (text.back() == '|' ? "" : ",") + id;
        char key[24];
        std::snprintf(key, sizeof key, "verdict_%02d", ++n);
        context->push_back({key, text});
    }
}
