// SPDX-License-Identifier: BSD-3-Clause
#include "cases/cpu.h"
#include "papers.h"
#ifdef HAVE_CUDA
#include "probes/rows.h"
#endif

namespace {

constexpr Shape kShape = {8, 4, 2};
constexpr size_t kFile = 1600000000;

#ifdef HAVE_CUDA
const char *const kBase = "log_mod_b1_constant", *const kTiledBase = "log_mod_b1_constant_tiled";

std::vector<EncodeCase> encoders(const Options &options) {
    std::vector<EncodeCase> cases;
    const auto sized = [&](size_t bytes) { return options.size_or(bytes); };
    for (size_t chunk : {4 * kKiB, 64 * kKiB, kMiB, 16 * kMiB, 256 * kMiB, kGiB})
        for (const char *probe : {"peasant_b1", "log_subtract_b1_nc", "table_b1_nc", "split_b1_nc"})
            cases.push_back({probe, {8, 4, 2}, sized(chunk)});
    for (const char *probe :
         {"log_mod_b1_constant", "log_zero_b1_constant", "log_zero_b1_serial", "log_zero_b1_nc",
          "log_mod_b1_shared", "log_fold_b1_shared", "log_double_b1_shared", "log_zero_b1_shared",
          "log_zero_b1_shared_constant_matrix"})
        cases.push_back({probe, {8, 4, 2}, sized(kGiB) / 4});
    const std::pair<Shape, size_t> eight[] = {{{8, 2, 198}, kMiB},      {{8, 4, 146}, kMiB},
                                              {{8, 4, 196}, kMiB},      {{8, 2, 198}, 10 * kMiB},
                                              {{8, 4, 146}, 10 * kMiB}, {{8, 4, 196}, 10 * kMiB},
                                              {{8, 4, 2}, 256 * kMiB},  {{8, 8, 8}, 128 * kMiB}};
    for (const auto &[shape, chunk] : eight) {
        cases.push_back({"log_zero_b1_shared", shape, sized(chunk)});
        for (Cut cut : {Cut::Min, Cut::One, Cut::Max})
            cases.push_back({"log_zero_b1_shared_tiled", shape, sized(chunk), cut});
    }
    for (const char *probe :
         {"log_zero_b1_shared_tiled", "log_zero_b4_shared_tiled", "log_zero_b16_shared_tiled"})
        cases.push_back({probe, {8, 4, 196}, sized(10 * kMiB), Cut::Min});
    for (const char *probe : {"log_zero_b4_shared", "log_zero_b16_shared"})
        cases.push_back({probe, {8, 4, 196}, sized(10 * kMiB)});
    const size_t file = region_of(sized(kFile), 4); // the steps, one after the other
    cases.push_back({kBase, {8, 4, 2}, file, Cut::Naive, false, true});
    cases.push_back({kTiledBase, {8, 4, 2}, file, Cut::Square, false, true});
    for (const char *probe : {kTiledBase, "log_zero_b1_shared_tiled", "log_zero_b4_shared_tiled",
                              "log_zero_b16_shared_tiled"})
        cases.push_back({probe, {8, 4, 2}, file, Cut::Min, false, true});
    return cases;
}

std::vector<HostEncodeCase> host_encoders(const Options &options, size_t devices) {
    std::vector<HostEncodeCase> cases;
    const size_t file = region_of(options.size_or(kFile), 4);
    cases.push_back({kBase, kShape, file, Cut::Naive, 1});
    cases.push_back({kTiledBase, kShape, file, Cut::Min, 1});
    cases.push_back({"log_zero_b1_shared_tiled", kShape, file, Cut::Min, 1});
    for (unsigned streams : {1u, 2u, 4u, 8u, 16u, 32u, 64u})
        if (streams * size_t(512) <= file) // each has a chunk
            cases.push_back({"log_zero_b4_shared_tiled", kShape, file, Cut::Min, streams});
    if (devices > 1)
        cases.push_back({"log_zero_b4_shared_tiled", kShape, file, Cut::Min, 4, 2});
    return cases;
}

void add_device_rows(const Options &options, Rows *rows) {
    region_rows(ladder("log_w%u_naive_mod log_w%u_naive_fold log_w%u_naive_double "
                       "log_w%u_naive_zero log_w%u_opt_const log_w%u_opt_serial "
                       "log_w%u_opt_parallel carry_free_w%u_opt",
                       {8}, options),
                options, rows);
    add_product("clmad_w8", kShape, kFile, options, rows);
    add_product("clmad_w8", {8, 4, 196}, 40 * kMiB, options, rows);
    for (const EncodeCase &c : encoders(options))
        rows->push_back(encode_row(c, false, rows));
    for (const HostEncodeCase &c : host_encoders(options, (size_t)bus_devices()))
        rows->push_back(host_encode_row(c));
}
#endif

} // namespace

void add_gpu_rscode_rows(const Options &options, Rows *rows) {
    host_rows(library_encodes(kShape, kFile, options), rows);
#ifdef HAVE_CUDA
    if (options.device)
        add_device_rows(options, rows);
#endif
    if (const coder *jerasure = coder_of("jerasure"); options.host && jerasure != nullptr)
        add_cpu_product(rows, nullptr, jerasure, kShape, options.size_or(kFile), 1, options.seed);
}
