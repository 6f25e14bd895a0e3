// SPDX-License-Identifier: BSD-3-Clause
// Published claims, and the ablation rows that decide them: the preset verdicts.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "region.h"

namespace {

struct Claim {
    const char *title, *claim;
    std::vector<unsigned> widths;
    const char *steps; // ids with %u for the width; random constants in turn, or one constant
};

const Claim kClaims[] = {
    {"LOG, the ladder",
     "GPU-RSCode: modulo, folding, doubled and zero-padded antilogarithms are each "
     "faster than the one before. GF GPU: a doubled antilogarithm is slower.",
     {8},
     "log_w%u_naive_mod log_w%u_naive_fold log_w%u_naive_double log_w%u_naive_zero"},
    {"LOG, where the tables live",
     "GPU-RSCode: shared memory filled in parallel beats global memory, constant memory "
     "and a serial fill.",
     {8},
     "log_w%u_naive_zero log_w%u_opt_const log_w%u_opt_serial log_w%u_opt_parallel"},
    {"LOG, a doubled antilogarithm in shared memory",
     "GF GPU: shared memory gives a substantial gain; doubling the antilogarithms in it "
     "to be rid of the modulo costs more than it saves.",
     {8},
     "log_w%u_naive log_w%u_opt_shared log_w%u_opt_doubled log_w%u_opt"},
    {"BYTWO_p, branch or mask",
     "GF GPU: a mask by multiplication is slower than the branch for w = 8 and 16; a "
     "mask by the sign bit is the same or slightly faster.",
     {8, 16, 32},
     "bytwo_p_w%u_naive bytwo_p_w%u_naive_mulmask bytwo_p_w%u_naive_signmask bytwo_p_w%u_opt"},
    {"SHIFT, a list of set bits (one bit set, random, all bits set)",
     "GF GPU: somewhat faster for one set bit, nothing for random constants, slower "
     "when every bit is set.",
     {8, 16, 32},
     "shift_w%u_naive=128 shift_w%u_opt_setbits=128 shift_w%u_naive shift_w%u_opt_setbits "
     "shift_w%u_naive=ones shift_w%u_opt_setbits=ones"},
    {"GROUP, tables in global or shared memory",
     "GF GPU: shared memory gives a moderate gain.",
     {8, 16, 32},
     "group_w%u_naive group_w%u_opt_shared group_w%u_opt"},
    {"SPLIT, tables in global or shared memory",
     "GF GPU: shared memory is slower for w = 8 and nearly doubles w = 32.",
     {8, 16, 32},
     "split_w%u_naive split_w%u_opt_shared split_w%u_opt"},
    {"TABLE, in global or shared memory",
     "GF GPU: shared memory gives a great gain.",
     {8},
     "table_w%u_naive table_w%u_opt_shared table_w%u_opt"},
};

// One width's rows, in the order of the claim; without those that this build's list does not have.
std::vector<RegionCase> cases_of(const Claim &claim, unsigned w, std::vector<std::string> *absent) {
    std::vector<RegionCase> cases;
    std::istringstream steps(claim.steps);
    for (std::string step; steps >> step;) {
        const size_t end = step.find('=');
        const std::string constant = end < step.size() ? step.substr(end + 1) : "";
        char id[64];
        std::snprintf(id, sizeof id, step.substr(0, end).c_str(), w);
        const gfk_kernel_info *k = gfk_kernel_find(id);
        if (k != nullptr)
            cases.push_back(
                {k, kGiB, GFK_SET, true,
                 constant.empty() ? RegionCase::Rotating : RegionCase::Fixed,
                 constant == "ones" ? all_ones(w) : (uint32_t)std::atoi(constant.c_str())});
        else if (std::find(absent->begin(), absent->end(), id) == absent->end())
            absent->push_back(id);
    }
    return cases;
}

} // namespace

std::vector<Verdict> verdicts() {
    std::vector<Verdict> all;
    for (const Claim &claim : kClaims)
        for (unsigned w : claim.widths) {
            Verdict v{claim.title + (", w = " + std::to_string(w)), claim.claim, {}, {}};
            for (const RegionCase &c : cases_of(claim, w, &v.absent))
                v.steps.push_back(c.name());
            all.push_back(v);
        }
    return all;
}

std::vector<RegionCase> verdict_cases() {
    std::vector<RegionCase> all;
    std::vector<std::string> absent, names;
    for (const Claim &claim : kClaims)
        for (unsigned w : claim.widths)
            for (const RegionCase &c : cases_of(claim, w, &absent)) {
                if (!runs_here(c.kernel) ||
                    std::find(names.begin(), names.end(), c.name()) != names.end())
                    continue;
                names.push_back(c.name());
                all.push_back(c);
            }
    return all;
}
