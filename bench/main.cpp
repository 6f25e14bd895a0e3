// SPDX-License-Identifier: BSD-3-Clause
// gfk_bench: the presets, and where their rows come from.
#include "cases/cases.h"
#include "core/program.h"

namespace {

const std::vector<Program::Preset> kPresets = {
    {"default", "GPU rows at 64 KiB to 1 GiB, set, cold; host rows; GF-Complete"},
    {"quick", "every row and engine that can run here, at one size, in minutes"},
    {"card", "which engine is the fastest on this GPU, in a minute, as a text for an issue"},
    {"limits", "2 GiB, set and xor, every constant on its own: percent of the roofline"},
    {"small", "naive and optimized rows at 4 KiB to 16 MiB, set, cold"},
    {"offsets", "optimized rows at 1 GiB, aligned and at odd addresses, set, cold"},
    {"giant", "TABLE and LOG w=32 against plain gathers; needs 45 GiB on the device"},
    {"product", "matrix products of 3 GiB: engines, AUTO, the plain way, CPU libraries"},
    {"product-small", "products of regions of 64 KiB and 1 MiB, first calls, host time"},
    {"product-perop", "every perop engine at 10+4 and 30+3"},
    {"product-map", "AUTO over inputs and outputs, 1 GiB of data"},
    {"product-long",
     "engines of the map that are near the fastest one in bursts: two seconds each"},
    {"energy", "joules of operations and of products, by their operands: two seconds each"},
    {"rs", "Reed-Solomon: encode, decode, verify, locate, update, batches, set-up"},
    {"rs-sweep", "encode and decode over k for m = 2 to 16, 1 MiB; CPU libraries"},
    {"matmul", "matrices in device memory: products of any size, inversion; CPU libraries"},
    {"rlnc", "network coding: vectors, encode, recode, decode, single packets; GFNI on the CPU"},
    {"host", "calls on host memory, 8 GiB of data: encode, decode, multiply, matmul"},
    {"host-streams", "encode of host memory with 1 to 16 streams"}};

void add_preset(const Options &options, Rows *rows) {
    add_host_rows(options, rows);
#ifdef HAVE_CUDA
    for (auto *add : {add_rs_rows, add_product_rows, add_matrix_rows, add_giant_rows,
                      add_region_rows, add_region_call_rows, add_rlnc_rows, add_energy_rows})
        if (options.device)
            add(options, rows);
#endif
    for (auto *add : {add_rs_create_rows, add_product_cpu_rows, add_matrix_cpu_rows,
                      add_region_cpu_rows, add_gf_complete_rows, add_rlnc_cpu_rows})
        if (options.host)
            add(options, rows);
}

// quick is the part of these presets that takes a user's first minutes.
Rows rows_of(const Options &options) {
    Rows rows;
    Options part = options;
    part.quick = options.is("quick");
    std::vector<std::string> presets = {options.preset};
    if (part.quick)
        presets = {"default", "product", "rs", "host"};
    for (const std::string &preset : presets) {
        part.preset = preset;
        add_preset(part, &rows);
    }
    return rows;
}

bool has_products(const Options &options) {
    return options.preset.find("product") == 0 || options.preset.find("rs") == 0;
}

} // namespace

int main(int argc, char **argv) {
    return run_program({"gfk_bench", "--preset", kPresets, rows_of, has_products}, argc, argv);
}
