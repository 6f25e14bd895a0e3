// SPDX-License-Identifier: BSD-3-Clause
// The mistakes that a caller can make with the regions of a product or a code, one after the
// other: each has its status and changes nothing.
#pragma once

#include "harness.h"

// A call on regions: inputs or data, at least three, then outputs or parity, at least two.
struct RegionCall {
    std::vector<void *> regions; // good ones
    size_t ins, bytes, symbol_bytes;
    Indices reads, writes; // what the call needs
    std::function<gfk_status(const gfk_regions *in, const gfk_regions *out, size_t bytes)> run;
    std::function<testing::AssertionResult()> is_untouched;
};

inline void expect_region_mistakes(RegionCall call) {
    const gfk_status size = GFK_STATUS_INVALID_SIZE;
    void **const regions = call.regions.data();
    const gfk_regions in = {regions, nullptr, 0}, out = {regions + call.ins, nullptr, 0};
    const auto refused = [&](gfk_status status, const std::string &what, const gfk_regions *i,
                             const gfk_regions *o, size_t bytes) {
        EXPECT_STATUS(status, call.run(i, o, bytes)) << what;
        EXPECT_TRUE(call.is_untouched()) << what;
        count_checked();
    };
    refused(INVALID, "no inputs", nullptr, &out, call.bytes);
    refused(INVALID, "no outputs", &in, nullptr, call.bytes);
    for (size_t bytes : {size_t(1), size_t(3), call.bytes - 1, call.bytes + 1})
        if (bytes % call.symbol_bytes != 0)
            refused(size, "half a symbol", &in, &out, bytes);
    const auto spaced = [&](gfk_status status, void *base, size_t stride, bool is_in) {
        const gfk_regions bad = {nullptr, base, stride};
        refused(status, "stride " + std::to_string(stride), is_in ? &bad : &in, is_in ? &out : &bad,
                call.bytes);
    };
    for (bool is_in : {true, false}) {
        void *const base = regions[is_in ? 0 : call.ins];
        spaced(INVALID, nullptr, call.bytes, is_in);
        for (size_t stride : {size_t(0), call.bytes - call.symbol_bytes, call.bytes - 1})
            spaced(INVALID, base, stride, is_in);
    }
    spaced(size, regions[0], SIZE_MAX / 2, true);

    const auto moved = [&](gfk_status status, const char *what, size_t region, void *to) {
        void *const before = regions[region];
        regions[region] = to;
        refused(status, what + (" " + std::to_string(region)), &in, &out, call.bytes);
        regions[region] = before;
    };
    Indices used = call.reads;
    used.insert(used.end(), call.writes.begin(), call.writes.end());
    for (size_t region : used) {
        moved(INVALID, "no address of", region, nullptr);
        moved(size, "no end of", region, reinterpret_cast<void *>(UINTPTR_MAX - call.bytes / 2));
    }
    const auto n = static_cast<ptrdiff_t>(call.bytes);
    for (size_t region : call.writes)
        for (size_t other : used)
            for (ptrdiff_t distance : {1 - n, ptrdiff_t(-16), ptrdiff_t(-1), ptrdiff_t(0),
                                       ptrdiff_t(1), ptrdiff_t(16), n - 1})
                if (region != other)
                    moved(GFK_STATUS_OVERLAP, "overlap by", region,
                          static_cast<uint8_t *>(regions[other]) + distance);
}
