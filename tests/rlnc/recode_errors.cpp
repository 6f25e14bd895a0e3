// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"

std::vector<RefusedRecode> refused_recodes(size_t n) {
    using Call = RecodeCall;
    const gfk_status size = GFK_STATUS_INVALID_SIZE, overlap = GFK_STATUS_OVERLAP;
    return {
        {INVALID, [](Call &x) { x.code = nullptr; }},
        {INVALID, [](Call &x) { x.received = 0; }, false},
        {size, [](Call &x) { x.received = GFK_RLNC_MOST_SOURCES + 1; }, false},
        {size, [](Call &x) { x.range.first = UINT32_MAX; }},
        {INVALID, [](Call &x) { x.vectors = nullptr; }, false},
        {INVALID, [](Call &x) { x.made = nullptr; }, false},
        {INVALID, [n](Call &x) { x.stride = n - 1; }, false},
        {INVALID, [n](Call &x) { x.made_stride = n - 1; }},
        {size, [](Call &x) { x.stride = SIZE_MAX / 2; }, false},
        {size, [](Call &x) { x.made_stride = SIZE_MAX / 2; }},
        {INVALID, [](Call &x) { x.in.base = nullptr; }},
        {INVALID, [](Call &x) { x.out.base = nullptr; }},
        {INVALID, [](Call &x) { x.in.stride = x.out.stride = 1; }},
        {size, [](Call &x) { x.out.stride = SIZE_MAX / 2; }},
        {overlap, [](Call &x) { x.out.base = x.in.base; }},
        {overlap, [](Call &x) { x.made = x.vectors; }, false},
        {overlap, [](Call &x) { x.made = static_cast<uint8_t *>(x.in.base); }},
        {overlap, [](Call &x) { x.made = static_cast<uint8_t *>(x.out.base); }},
        {overlap, [](Call &x) { x.vectors = static_cast<uint8_t *>(x.out.base); }, false},
    };
}
