// SPDX-License-Identifier: BSD-3-Clause
// Region multiplies: which kernels, sizes, modes, constants.
#pragma once

#include <functional>

#include "cases.h"

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

Fields kernel_facts(const gfk_kernel_info *kernel);
Row region_row(const RegionCase &c); // name, facts, bytes
void describe_multiplier(const Multiplier &m, Fields *fields);

std::vector<const gfk_kernel_info *> kernels(std::function<bool(const gfk_kernel_info *)> pick);
bool on_device(const gfk_kernel_info *kernel);
bool runs_here(const gfk_kernel_info *kernel);

// The random constants of a width: 2 and above, the same in every run with this seed.
std::vector<uint32_t> random_constants(unsigned w, size_t count, uint64_t seed);
uint32_t all_ones(unsigned w);

std::vector<RegionCase> region_cases(const Options &options); // on a device, without giants
std::vector<RegionCase> verdict_cases();

const std::vector<size_t> &default_sizes();
inline constexpr size_t kS2Bytes = 50000000; // the published test case
inline constexpr uint32_t kS2Constant = 128;
