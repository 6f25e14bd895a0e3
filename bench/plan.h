// SPDX-License-Identifier: BSD-3-Clause
// Which rows are measured, at which sizes, in which mode, with which constants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gfk/gfk.h>

#include "options.h"

struct Row {
    const gfk_kernel_info *kernel;
    size_t bytes;
    gfk_accumulate mode = GFK_SET;
    bool cold = true;
    enum Constants { Rotating, Fixed, Each } constants = Rotating;
    uint32_t c = 0; // Fixed: the constant. Each: how many, every one timed on its own; 255 means
                    // all of w = 8, any other number that many random ones
    unsigned src_offset = 0, dst_offset = 0; // bytes from a multiple of 512

    bool misaligned() const { return src_offset != 0 || dst_offset != 0; }
    std::string name() const; // <id>/<size>/<set|xor>/<cold|hot>[/c=...][/at=src,dst]
};

// The random constants of a width: 2 and above, the same in every run with this seed.
std::vector<uint32_t> random_constants(unsigned w, size_t count, uint64_t seed);

std::vector<Row> plan_device_rows(const Options &options); // what can run here, without giants
std::vector<Row> plan_host_rows(const Options &options);
std::vector<Row> plan_giant_rows();

inline constexpr size_t kS2Bytes = 50000000; // the published test case
inline constexpr uint32_t kS2Constant = 128;

// A published claim and the rows that decide it, in the order of the claim.
struct Verdict {
    std::string title, claim;
    std::vector<Row> steps;
    std::vector<std::string> absent; // ids that this build's list does not have
};
std::vector<Verdict> plan_verdicts();
