// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"

std::vector<RefusedRecode> refused_recodes(size_t n) {
    using Call = RecodeCall;
    const gfk_status size = GFK_STATUS_INVALID_SIZE;
    return {
        {INVALID, [](Call &x) { x.received = 0; }, false},
        {size, [](Call &x) { x.received = GFK_RLNC_MOST_SOURCES + 1; }, false},
        {size, [](Call &x) { x.range.first = UINT32_MAX; }},
        {INVALID, [n](Call &x) { x.stride = n - 1; }, false},
        {INVALID, [n](Call &x) { x.made_stride = n - 1; }},
        {size, [](Call &x) { x.stride = SIZE_MAX / 2; }, false},
        {size, [](Call &x) { x.made_stride = SIZE_MAX / 2; }},
    };
}
