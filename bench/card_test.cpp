// SPDX-License-Identifier: BSD-3-Clause
// The text of preset card from made-up results. With an argument it prints the text.
#include <cstdio>

#include "core/output.h"

namespace {

int g_wrong = 0;

void expect(const std::string &text, const std::string &part, bool there = true) {
    if ((text.find(part) != std::string::npos) == there)
        return;
    std::fprintf(stderr, "%s: %s\n", there ? "missing" : "unexpected", part.c_str());
    g_wrong = 1;
}

Result row(const char *way, const char *engine, const char *family, const char *rest, double rate) {
    const std::string id = std::string(way) == "auto" ? "auto_w8" : engine;
    Result r = {id + rest, Fields("kind", "product", "id", id, "w", 8, "k", 10, "m", 4), {}};
    r.fields.add("way", way, "engine", engine, "family", family, "region_bytes", 65536, "state",
                 rate > 0 ? "measured" : "skipped", "data_GBps", when(rate > 0, rate),
                 "percent_of_roofline", when(rate > 0, rate / 20), "spread_percent", 1.0);
    return r;
}

Result multiply(const char *id, const char *method, const char *way, double rate) {
    Result r = {std::string(id) + "/256MiB/set/cold",
                Fields("kind", "region", "id", id, "w", 16, "method", method, "way", way,
                       "region_bytes", 256 * kMiB, "state", "measured", "data_GBps", rate),
                {}};
    return r;
}

} // namespace

int main(int argc, char **) {
    const char *const first = "/10+4/640KiB/set/cold", *const second = "/10+4/10MiB/set/cold";
    std::vector<Result> results = {row("engine", "clmad_w8", "clmad", first, 3.5),
                                   row("engine", "prmt_w8", "prmt", first, 1000),
                                   row("engine", "perop_split_w8", "perop", first, 960),
                                   row("auto", "perop_split_w8", "perop", first, 961),
                                   row("engine", "prmt_w8", "prmt", second, 1500),
                                   row("engine", "clmad_w8", "clmad", second, 0),
                                   row("auto", "prmt_w8", "prmt", second, 1400),
                                   multiply("split_w16_opt", "SPLIT", "auto", 450),
                                   multiply("carry_free_w16_opt", "CARRY_FREE", "engine", 90)};
    for (int i : {4, 5, 6})
        results[i].fields.set("region_bytes", kMiB);
    results[5].fields.set("reason", "slow: see clmad_w8/10+4/640KiB/set/cold");
    Result wrong = row("engine", "bmma_w8", "bmma", first, 2000);
    wrong.fields.add("state", "failed", "reason", "wrong result");
    results.push_back(wrong);
    const Fields context("gpu", "Test GPU", "gpu_memory_bytes", "25769803776", "clmad",
                         "built without CLMAD: needs nvcc 13.3", "commit", "0123456789ab");
    const std::string text = card_text(context, results);
    expect(text, "### The fastest engines on Test GPU\n");
    expect(text, "- memory: 24.0 GiB\n");
    expect(text, "- CLMAD: built without CLMAD: needs nvcc 13.3\n");
    expect(text, "- commit: 0123456789ab\n");
    expect(text, "- driver", false);
    expect(text, "- WRONG: bmma_w8/10+4/640KiB/set/cold: wrong result\n");
    expect(text, "| 8 | (10, 4) | 64 KiB | prmt_w8 | 1000 | 50.0 | perop_split_w8 | 96.1 | 0.3 | "
                 "**AUTO is slower** |\n");
    // AUTO took the fastest engine: the difference is noise.
    expect(text, "| 1 MiB | prmt_w8 | 1500 | 75.0 | prmt_w8 | 93.3 | slow |  |\n");
    expect(text, "| 16 | region multiply | 256 MiB | split_w16_opt | 450 | - | split_w16_opt | "
                 "100.0 | 20.0 |  |\n");
    if (argc > 1)
        std::fputs(text.c_str(), stdout);
    return g_wrong;
}
