// SPDX-License-Identifier: BSD-3-Clause
// gfk_papers: the experiments of five papers that can run here.
#include <cstring>
#include <sstream>

#include "core/program.h"
#include "papers.h"

namespace {

const std::vector<Program::Preset> kPapers = {
    {"all", "all five papers", {"gpu-rscode", "gf-gpu", "opencl", "gibraltar", "nuclei"}},
    {"gpu-rscode", "GPU-RSCode: logarithms, tiles, streams", {"gpu-rscode"}},
    {"gf-gpu", "GF GPU: seven methods of GF-Complete, one thread for each word", {"gf-gpu"}},
    {"opencl", "OpenCL erasure coding: three multiplies, places of tables, widths", {"opencl"}},
    {"gibraltar", "Gibraltar: kernels for k and m, host memory, over k and m", {"gibraltar"}},
    {"nuclei", "Nuclei: network coding on GPU and CPU", {"nuclei"}}};

void add(const Options &options, Rows *rows) {
    const struct {
        const char *name;
        void (*add)(const Options &options, Rows *rows);
    } papers[] = {{"gpu-rscode", add_gpu_rscode_rows},
                  {"gf-gpu", add_gf_gpu_rows},
                  {"opencl", add_opencl_rows},
                  {"gibraltar", add_gibraltar_rows},
                  {"nuclei", add_nuclei_rows}};
    for (const auto &paper : papers)
        if (options.is(paper.name))
            paper.add(options, rows);
}

} // namespace

std::vector<HostCase> library_encodes(const Shape &shape, size_t file, const Options &options) {
    std::vector<HostCase> cases;
    const size_t bytes = options.size_or(file);
    for (gfk_where where : {GFK_PAGEABLE, GFK_PINNED})
        for (unsigned n : {1u, 2u, 4u, 8u, 16u})
            if (devices_of(options) != 0)
                cases.push_back({HostCase::Encode, shape, bytes, where, GFK_PATH_GPU, n});
    if (options.host)
        cases.push_back({HostCase::Encode, shape, bytes});
    return cases;
}

#ifdef HAVE_CUDA
std::vector<RegionCase> ladder(const char *steps, std::initializer_list<unsigned> widths,
                               const Options &options) {
    std::vector<RegionCase> cases;
    for (unsigned w : widths) {
        std::istringstream words(steps);
        for (std::string step; words >> step;) {
            const size_t end = std::min(step.find('='), step.size());
            const std::string constant = step.substr(end);
            const std::string id =
                step.substr(0, end).replace(step.find("%u"), 2, std::to_string(w));
            RegionCase c = {gfk_kernel_find(id.c_str()), options.size_or(256 * kMiB)};
            if (!constant.empty()) {
                c.constants = RegionCase::Fixed;
                c.c = constant == "=ones" ? 0xffffffffu >> (32 - w) : 128;
            }
            if (c.kernel != nullptr && runs_here(c.kernel))
                cases.push_back(c);
        }
    }
    return cases;
}

void add_product(const char *engine, const Shape &shape, size_t data, const Options &options,
                 Rows *rows) {
    ProductCase c;
    c.shape = shape;
    c.data = options.size_or(data);
    c.engine = engine;
    c.few = true;
    if (gfk_engine_available(gfk_engine_find(engine), GFK_CURRENT_DEVICE, nullptr) ==
        GFK_STATUS_SUCCESS)
        product_rows({c}, options, rows);
}
#endif

int main(int argc, char **argv) {
#ifdef HAVE_CUDA
    if (argc == 3 && std::strcmp(argv[1], "--managed-probe") == 0) // that this program starts
        return run_managed_probe(argv[2]);
#endif
    return run_program(
        {"gfk_papers", "--paper", kPapers, add, [](const Options &) { return true; }}, argc, argv);
}
