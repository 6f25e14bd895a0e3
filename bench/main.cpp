// SPDX-License-Identifier: BSD-3-Clause
// gfk_bench: the presets, and where their rows come from.
#include "cases/cases.h"
#include "core/program.h"

namespace {

const std::vector<Program::Preset> kPresets = {
    {"quick",
     "every row and engine that can run here, at one size, in minutes",
     {"region:sizes", "product:large", "rs:codes", "host:paths"}},
    {"card",
     "which engine is the fastest on this GPU, in a minute, as a text for an issue",
     {"card"}},
    {"region",
     "a constant times a region: every kernel and its limits; GF-Complete",
     {"region:sizes", "region:small", "region:offsets", "region:limits", "region:giant"}},
    {"product",
     "matrix products: engines, AUTO, the plain way, over inputs and outputs; CPU libraries",
     {"product:small", "product:large", "product:perop", "product:map"}},
    {"long",
     "engines of the map that are near the fastest one in bursts: two seconds each",
     {"long"}},
    {"rs",
     "Reed-Solomon: encode, decode, verify, locate, update, batches, set-up; CPU libraries",
     {"rs:codes", "rs:sweep"}},
    {"matmul",
     "matrices in device memory: products of any size, inversion; CPU libraries",
     {"matmul"}},
    {"rlnc",
     "network coding: vectors, encode, recode, decode, single packets; GFNI on the CPU",
     {"rlnc"}},
    {"host",
     "calls on host memory: encode, decode, multiply, matmul; encode with 1 to 16 streams",
     {"host:paths", "host:streams"}}};

void add(const Options &options, Rows *rows) {
    add_host_rows(options, rows);
#ifdef HAVE_CUDA
    for (auto *add_some : {add_rs_rows, add_product_rows, add_matrix_rows, add_giant_rows,
                           add_region_rows, add_region_call_rows, add_rlnc_rows})
        if (options.device)
            add_some(options, rows);
#endif
    for (auto *add_some : {add_rs_create_rows, add_product_cpu_rows, add_matrix_cpu_rows,
                           add_region_cpu_rows, add_gf_complete_rows, add_rlnc_cpu_rows})
        if (options.host)
            add_some(options, rows);
}

bool has_products(const Options &options) {
    return options.preset == "product" || options.preset == "long" || options.preset == "rs";
}

} // namespace

int main(int argc, char **argv) {
    return run_program({"gfk_bench", "--preset", kPresets, add, has_products}, argc, argv);
}
