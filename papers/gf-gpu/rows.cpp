// SPDX-License-Identifier: BSD-3-Clause
#include "cases/cpu.h"
#include "papers.h"

namespace {

constexpr size_t kBytes = 50000000; // the published test case
constexpr uint32_t kConstant = 128;

#ifdef HAVE_CUDA
void add_device_rows(const Options &options, Rows *rows) {
    giant_rows(options, rows);
    std::vector<RegionCase> cases =
        ladder("log_w%u_naive log_w%u_opt_shared log_w%u_opt_doubled log_w%u_opt table_w%u_naive "
               "table_w%u_opt_shared table_w%u_opt",
               {8}, options);
    for (const RegionCase &c :
         ladder("bytwo_p_w%u_naive bytwo_p_w%u_naive_mulmask bytwo_p_w%u_naive_signmask "
                "bytwo_p_w%u_opt shift_w%u_naive=128 shift_w%u_opt_setbits=128 shift_w%u_naive "
                "shift_w%u_opt_setbits shift_w%u_naive=ones shift_w%u_opt_setbits=ones "
                "group_w%u_naive group_w%u_opt_shared group_w%u_opt split_w%u_naive "
                "split_w%u_opt_shared split_w%u_opt carry_free_w%u_opt",
                {8, 16, 32}, options))
        cases.push_back(c);
    for (const gfk_kernel_info *k : kernels(plain))
        cases.push_back({k, options.size_or(kBytes), GFK_SET, true, RegionCase::Fixed, kConstant});
    const std::vector<size_t> sizes = {kKiB,      16 * kKiB, 256 * kKiB, 4 * kMiB,
                                       64 * kMiB, kGiB,      4 * kGiB};
    for (size_t bytes : options.sizes.empty() ? sizes : options.sizes)
        for (const gfk_kernel_info *k : kernels(optimized))
            if (k->w == 8)
                cases.push_back({k, bytes});
    region_rows(cases, options, rows);
}
#endif

} // namespace

void add_gf_gpu_rows(const Options &options, Rows *rows) {
#ifdef HAVE_CUDA
    if (options.device)
        add_device_rows(options, rows);
#endif
    if (options.host) {
        region_cpu_rows({kMiB}, options, rows);
        gf_complete_rows(options.size_or(kBytes), kConstant, options, rows);
    }
}
