// SPDX-License-Identifier: BSD-3-Clause
// Encode of managed memory, in a process of its own: pages that migrate leave their traces in the
// process.
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <unistd.h>

#include "papers.h"
#include "probes/rows.h"

namespace {

constexpr Shape kShape = {8, 30, 3};
constexpr size_t kLargest = kGiB; // of all managed memory
constexpr int kSeconds = 30;      // after which the process is ended

struct ManagedWork : Work {
    ManagedWork(const Library &, size_t region) : region_(region) {}
    gfk_status start() override { return GFK_STATUS_SUCCESS; }
    void warm_up() override {}
    double pass(long) override {
        char self[PATH_MAX] = "";
        if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
            return 0;
        const std::string command = "timeout " + std::to_string(kSeconds) + " '" + self +
                                    "' --managed-probe " + std::to_string(region_);
        std::FILE *pipe = popen(command.c_str(), "r");
        double us = 0;
        if (pipe == nullptr || std::fscanf(pipe, "%lf", &us) != 1)
            us = 0;
        if (pipe != nullptr && pclose(pipe) != 0)
            us = 0;
        failed_ = failed_ || us == 0;
        return us;
    }
    std::string check(bool) override {
        return failed_ ? "the process failed, or took more than " + std::to_string(kSeconds) + " s"
                       : "";
    }

  private:
    size_t region_;
    bool failed_ = false;
};

Object<gfk_rs_t> code_at(int device) {
    const gfk_field field = field_of(kShape.w);
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.device = device;
    Object<gfk_rs_t> code;
    GFK_CHECK(code.make(gfk_rs_create, gfk_rs_destroy, &field, kShape.k, kShape.m, &desc));
    return code;
}

} // namespace

void add_managed_row(const Options &options, Rows *rows) {
    const size_t region = options.size_or(836900000) / kShape.k / 512 * 512;
    Row row("probe_managed/" + shape_text(kShape) + "/" + size_text(region),
            shape_facts("probe", "encode", "gpu", "managed", kShape));
    row.facts.add("memory", "managed", "region_bytes", region, "nominal_bytes", kShape.k * region);
    row.data_bytes = (double)(kShape.k * region);
    row.moved = product_moved(kShape, GFK_SET);
    row.passes = 1;
    row.compared = false;
    row.make = makes<ManagedWork>(region);
    rows->push_back(row);
}

// Prints the microseconds from inputs that the host wrote last to outputs that it has read.
int run_managed_probe(const char *argument) {
    const size_t region = std::strtoull(argument, nullptr, 10),
                 all = region * (kShape.k + kShape.m);
    if (region == 0 || region % 512 != 0 || all > kLargest || !gpu_missing().empty())
        return 2;
    unsigned char *memory = nullptr;
    GPU_CHECK(cudaMallocManaged((void **)&memory, all));
    std::mt19937_64 random(3);
    for (size_t i = 0; i < all / 8; i++)
        ((uint64_t *)memory)[i] = random();
    const gfk_regions in = {nullptr, memory, region};
    const gfk_regions out = {nullptr, memory + kShape.k * region, region};
    const auto code = code_at(gpu().device), own = code_at(GFK_CPU);
    gpu_synchronize();
    const Stopwatch watch;
    GFK_CHECK(gfk_rs_encode(code, &in, &out, region, gpu().stream));
    gpu_synchronize();
    uint64_t sum = 0;
    const auto *words = (const volatile uint64_t *)(memory + kShape.k * region);
    for (size_t i = 0; i < region * kShape.m / 8; i += 512) // a word of every page
        sum += words[i];
    const double us = watch.us();
    std::vector<unsigned char> expected(region * kShape.m);
    const gfk_regions wanted = {nullptr, expected.data(), region};
    GFK_CHECK(gfk_rs_encode(own, &in, &wanted, region, nullptr));
    const bool same = std::equal(expected.begin(), expected.end(), memory + kShape.k * region);
    GPU_CHECK(cudaFree(memory));
    std::printf("%.3f\n", us);
    return same && sum != 0 ? 0 : 1;
}
