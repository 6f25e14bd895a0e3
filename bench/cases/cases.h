// SPDX-License-Identifier: BSD-3-Clause
// Which rows a part of a preset has, and what several kinds of rows share: region multiplies, products.
#pragma once

#include "core/output.h"
#include "core/work.h"

// Each appends the rows that it has for options.part; those on a device exist only with CUDA.
void add_region_rows(const Options &options, Rows *rows);
void add_giant_rows(const Options &options, Rows *rows);
void add_region_call_rows(const Options &options, Rows *rows); // what a call costs its thread
void add_region_cpu_rows(const Options &options, Rows *rows);
void add_gf_complete_rows(const Options &options, Rows *rows);
void add_product_rows(const Options &options, Rows *rows);
void add_matrix_rows(const Options &options, Rows *rows);
void add_matrix_cpu_rows(const Options &options, Rows *rows);
void add_product_cpu_rows(const Options &options, Rows *rows);
void add_rlnc_cpu_rows(const Options &options, Rows *rows);
void add_rs_rows(const Options &options, Rows *rows);
void add_rs_create_rows(const Options &options, Rows *rows);
void add_host_rows(const Options &options, Rows *rows);
void add_rlnc_rows(const Options &options, Rows *rows);

Fields baseline_facts(); // versions and instruction sets of the libraries that rows stand beside

// ---- region multiplies -----------------------------------------------------------------------
struct RegionCase {
    const gfk_kernel_info *kernel;
    size_t bytes;
    gfk_accumulate mode = GFK_SET;
    bool cold = true;
    enum Constants { Rotating, Fixed, Each } constants = Rotating;
    uint32_t c = 0; // Fixed: the constant. Each: how many, every one timed on its own; 255 means
                    // all of w = 8, any other number that many random ones
    unsigned src_offset = 0, dst_offset = 0; // bytes from a multiple of 512

    std::string name() const; // <id>/<size>/<set|xor>/<cold|hot>[/c=...][/at=src,dst]
    std::string ceiling_name() const;
    std::vector<uint32_t> constant_list(uint64_t seed) const;
};
std::vector<RegionCase> region_cases(const Options &options); // on a device, without giants
void region_rows(const std::vector<RegionCase> &cases, const Options &options, Rows *rows);
void giant_rows(const Options &options, Rows *rows);
Row region_row(const RegionCase &c); // name, facts, bytes
Fields kernel_facts(const gfk_kernel_info *kernel);
// Bytes of a multiplier, and its time of set-up: that of the workspaces, or of the tables.
Fields multiplier_facts(const Multiplier &m, const gfk_kernel_info *kernel,
                        const std::function<double()> &prepare_us);

using KernelTest = bool (*)(const gfk_kernel_info *);
std::vector<const gfk_kernel_info *> kernels(KernelTest test);
bool on_device(const gfk_kernel_info *kernel);
// Are all positions corrupt, and were `errors` regions named at each?
inline bool located_everywhere(const gfk_rs_verdict &verdict, const std::vector<uint64_t> &counts,
                               size_t positions, size_t errors) {
    size_t named = 0;
    for (uint64_t count : counts)
        named += count;
    return verdict.corrupt == positions && verdict.located == positions &&
           named == positions * errors;
}
bool is_best(const gfk_kernel_info *kernel); // the fastest of its width: AUTO takes it
bool runs_here(const gfk_kernel_info *kernel);
bool is_giant(const gfk_kernel_info *kernel);
bool plain(const gfk_kernel_info *kernel);     // on a device, runs here, has no label
bool optimized(const gfk_kernel_info *kernel); // of these

// The random constants of a width: 2 and above, the same in every run with this seed.
std::vector<uint32_t> random_constants(unsigned w, size_t count, uint64_t seed);

const std::vector<size_t> &default_sizes();

// ---- products --------------------------------------------------------------------------------
enum class Way {
    Engine, // the engine of this id
    Auto,   // what AUTO takes
    Plain   // k x m region multiplies of AUTO's multiplier
};

struct ProductCase {
    Shape shape = {};
    size_t data = 0; // bytes of all inputs together, before rounding
    Way way = Way::Engine;
    std::string engine = {}; // of Way::Engine
    gfk_accumulate mode = GFK_SET;
    int replays = 9;
    bool few = false;     // the roofline is the best of two variants only
    bool seconds = false; // two seconds without a pause, too
    bool contest = false; // these in a row of its own, where another engine is near in bursts

    size_t region_bytes() const { return data / shape.k / 512 * 512; }
    std::string id() const;
    std::string name() const; // <id>/<k>+<m>/<bytes of data>/<set|xor>/cold
    std::string ceiling_name() const;
};
std::vector<ProductCase> product_cases(const Options &options); // on a device
void product_rows(const std::vector<ProductCase> &cases, const Options &options, Rows *rows);
const std::vector<Shape> &few_shapes(); // of quick, of small regions, and of the CPU

// rows x cols elements, row by row. The random ones are neither 0 nor 1 and the same in every run
// with this seed.
std::vector<uint32_t> matrix_of(const Shape &shape, bool cauchy, uint64_t seed);

// Of matmuls: --engine names a kernel of all calls in a run. NULL: the library chooses.
void name_matmuls(const Options &options);
const char *named_matmul(unsigned w);
Fields engine_facts(const std::string &id); // of an engine or a kernel: engine, family, method
// What a product resolves to: engine, kernel, bytes of tables.
Fields product_facts(const gfk_product_info &info);
// The product of a matrix of shape.m rows by an engine; the program ends where there is none.
Object<gfk_product_t> product_of(const Library &library, const std::string &engine,
                                 const Shape &shape, const std::vector<uint32_t> &matrix);
// Makes the product of a matrix of shape.m rows; adds its facts and what the create took.
gfk_status make_product(const Library &library, const Shape &shape,
                        const std::vector<uint32_t> &matrix, const gfk_product_desc &desc,
                        Object<gfk_product_t> *product, Fields *facts);
double product_moved(const Shape &shape, gfk_accumulate mode); // bytes of traffic per byte of data
// The engines on the device that can run here and take this shape; of the perop engines only SPLIT.
std::vector<std::string> contenders(const Shape &shape);
std::vector<std::string> perop_engines(const Shape &shape);
std::vector<Shape> rs_sweep_shapes(const Options &options);

double product_rate(const Shape &shape); // bytes of data per second of AUTO's engine on the device
