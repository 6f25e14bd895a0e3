// SPDX-License-Identifier: BSD-3-Clause
#include "cases/cpu.h"
#include "papers.h"
#ifdef HAVE_CUDA
#include "probes/rows.h"
#endif

namespace {

constexpr Shape kShape = {8, 30, 3};
constexpr size_t kFile = 836900000;

#ifdef HAVE_CUDA
// Multiplications x bytes of a thread x places of tables, at 30 + 3; what binds the fastest; and
// more and fewer inputs.
std::vector<EncodeCase> encoders(const Options &options) {
    std::vector<EncodeCase> cases;
    const size_t data = options.size_or(kFile);
    for (const EncodeProbe &probe : encode_probes()) {
        const bool compared = probe.id.find("peasant") == 0 || probe.id.find("log_subtract") == 0 ||
                              probe.id.find("table") == 0 || probe.id.find("split") == 0;
        const Cut cut = probe.tiled                      ? Cut::Outputs
                        : probe.shared_bytes > 48 * kKiB ? Cut::Persistent
                                                         : Cut::Naive;
        if (compared)
            cases.push_back({probe.id, kShape, region_of(data, 30), cut, false, true});
    }
    for (size_t k : {2, 4, 8, 15, 25, 45, 60})
        for (const char *probe : {"table_b16_nc", "peasant_b16"})
            cases.push_back({probe, {8, k, 3}, region_of(data, k)});
    for (const char *probe : {"table_b16_nc_without_packing", "table_b16_nc_without_dram"})
        cases.push_back({probe, {8, 4, 3}, region_of(data, 4)});
    return cases;
}

void add_device_rows(const Options &options, Rows *rows) {
    std::vector<ProductCase> products;
    for (size_t k : {2, 4, 8, 15, 25, 30, 45, 60}) {
        ProductCase c;
        c.shape = {8, k, 3};
        c.data = options.size_or(kFile);
        c.way = Way::Auto;
        c.few = true;
        products.push_back(c);
    }
    for (const std::string &engine : perop_engines(kShape)) {
        ProductCase c;
        c.shape = kShape;
        c.data = options.size_or(kGiB);
        c.engine = engine;
        products.push_back(c);
    }
    product_rows(products, options, rows);
    for (size_t k : {4, 30, 60})
        add_product("clmad_w8", {8, k, 3}, kFile, options, rows);
    for (const EncodeCase &c : encoders(options)) {
        Row row = encode_row(c, false, rows);
        row.sustained = c.roofline && c.probe == "table_b16_nc"; // for its energy
        rows->push_back(row);
    }
    add_managed_row(options, rows);
}
#endif

} // namespace

void add_opencl_rows(const Options &options, Rows *rows) {
    host_rows(library_encodes(kShape, kFile, options), rows);
#ifdef HAVE_CUDA
    if (options.device)
        add_device_rows(options, rows);
#endif
    for (unsigned threads : {1u, cpu_cores()}) // of the CPU that the paper compares with
        if (const coder *isal = coder_of("isa-l"); options.host && isal != nullptr)
            add_cpu_product(rows, nullptr, isal, kShape, options.size_or(kFile), threads,
                            options.seed);
}
