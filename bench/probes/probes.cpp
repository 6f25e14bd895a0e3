// SPDX-License-Identifier: BSD-3-Clause
// The probes of the papers as data.
#include "cases/cpu.h"
#include "rows.h"

namespace {

constexpr size_t kMB = 1000000;

size_t region_of(size_t data, size_t k) {
    return data / k / 512 * 512;
}

// ---- OpenCL-based erasure coding -------------------------------------------------------------
// Multiplications x bytes of a thread x places of tables, at 30 + 3; what binds the fastest; and
// more and fewer inputs.
std::vector<EncodeCase> opencl(const Options &options) {
    std::vector<EncodeCase> cases;
    const size_t data = options.size_or(836900000);
    const Shape shape = {8, 30, 3};
    for (const EncodeProbe &probe : encode_probes()) {
        const bool compared = probe.id.find("peasant") == 0 || probe.id.find("log_subtract") == 0 ||
                              probe.id.find("table") == 0 || probe.id.find("split") == 0;
        const Cut cut = probe.tiled                      ? Cut::Outputs
                        : probe.shared_bytes > 48 * kKiB ? Cut::Persistent
                                                         : Cut::Naive;
        if (compared)
            cases.push_back({probe.id, shape, region_of(data, 30), cut, false, true});
    }
    for (size_t k : {2, 4, 8, 15, 25, 45, 60})
        for (const char *probe : {"table_b16_nc", "peasant_b16"})
            cases.push_back({probe, {8, k, 3}, region_of(data, k)});
    for (const char *probe : {"table_b16_nc_without_packing", "table_b16_nc_without_dram"})
        cases.push_back({probe, {8, 4, 3}, region_of(data, 4)});
    return cases;
}

// ---- GPU-RSCode ------------------------------------------------------------------------------
const char *const kBase = "log_mod_b1_constant", *const kTiledBase = "log_mod_b1_constant_tiled";

std::vector<EncodeCase> gpu_rscode(const Options &options) {
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
    const size_t file = region_of(sized(1600 * kMB), 4); // the steps, one after the other
    cases.push_back({kBase, {8, 4, 2}, file, Cut::Naive, false, true});
    cases.push_back({kTiledBase, {8, 4, 2}, file, Cut::Square, false, true});
    for (const char *probe : {kTiledBase, "log_zero_b1_shared_tiled", "log_zero_b4_shared_tiled",
                              "log_zero_b16_shared_tiled"})
        cases.push_back({probe, {8, 4, 2}, file, Cut::Min, false, true});
    return cases;
}

std::vector<HostEncodeCase> host_gpu_rscode(const Options &options, size_t devices) {
    std::vector<HostEncodeCase> cases;
    const Shape shape = {8, 4, 2};
    const size_t file = region_of(options.size_or(1600 * kMB), 4);
    cases.push_back({kBase, shape, file, Cut::Naive, 1});
    cases.push_back({kTiledBase, shape, file, Cut::Min, 1});
    cases.push_back({"log_zero_b1_shared_tiled", shape, file, Cut::Min, 1});
    for (unsigned streams : {1u, 2u, 4u, 8u, 16u, 32u, 64u})
        if (streams * size_t(512) <= file) // each has a chunk
            cases.push_back({"log_zero_b4_shared_tiled", shape, file, Cut::Min, streams});
    if (devices > 1)
        cases.push_back({"log_zero_b4_shared_tiled", shape, file, Cut::Min, 4, 2});
    return cases;
}

// ---- Nuclei ----------------------------------------------------------------------------------
std::vector<EncodeCase> nuclei(const Options &options) {
    std::vector<EncodeCase> cases;
    const bool small = !options.sizes.empty(); // for a test
    const Shape published = {8, small ? 64u : 1024u, small ? 128u : 7168u};
    const char *const bytes = "loop_multiply_b4", *const words = "loop_multiply_b4_words";
    cases.push_back({bytes, published, 2048, Cut::Coarse, true});
    for (const char *probe :
         {"peasant_b1", bytes, words, "loop_sign_b4_words", "loop_sign_b16_words"})
        cases.push_back({probe, published, 2048, Cut::Naive, true});
    for (const char *probe : {words, "loop_sign_b16_words", "matmul"})
        cases.push_back({probe, published, 2048});
    for (size_t n : {128, 256, 512})
        for (size_t block : {128, 512, 1024, 4096, 16384})
            for (const char *probe : {words, "loop_sign_b16_words", "matmul"})
                if (!small || n == 128)
                    cases.push_back({probe, {8, n, small ? 128u : 7168u}, block});
    for (size_t m : {128, 512, 2048, 7168})
        for (const char *probe :
             {words, "log_double_b4_shared_words", "log_prepared_b4_shared_words", "matmul"})
            if (!small || m == 128)
                cases.push_back({probe, {8, 128, m}, 4096});
    for (EncodeCase &c : cases)
        c.hot = true;
    return cases;
}

} // namespace

void add_probe_rows(const Options &options, Rows *rows) {
    if (!options.paper)
        return;
    const auto devices = (size_t)bus_devices();
    for (const EncodeCase &c : options.is("opencl")       ? opencl(options)
                               : options.is("gpu-rscode") ? gpu_rscode(options)
                               : options.is("nuclei")     ? nuclei(options)
                                                          : std::vector<EncodeCase>()) {
        Row row = encode_row(c, options.is("nuclei"), rows);
        row.sustained = c.roofline && c.probe == "table_b16_nc"; // for its energy
        rows->push_back(row);
    }
    if (options.is("gpu-rscode"))
        for (const HostEncodeCase &c : host_gpu_rscode(options, devices))
            rows->push_back(host_encode_row(c));
    add_rate_rows(options, rows);
    add_managed_row(options, rows);
}
