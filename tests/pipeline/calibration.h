// SPDX-License-Identifier: BSD-3-Clause
// A calibration that tests can reckon with.
#pragma once

#include "fixture.h"

#include <cstring>

// A machine of round numbers: each input byte costs the CPU 1 ns and each output byte of eight
// inputs another 1 ns; the bus does 50 GB/s one way and 80 GB/s both ways, half of it pageable.
inline gfk_calibration round_machine() {
    gfk_calibration c = {};
    std::strcpy(c.host, "somewhere");
    std::strcpy(c.processor, "A Processor @ 2.00 GHz");
    c.threads = 16;
    c.device_count = 1;
    std::strcpy(c.devices[0], "A GPU");
    for (auto &rates : c.cpu) {
        const double outputs[5] = {1, 1, 2, 4, 8};
        for (int i = 0; i < 5; i++)
            rates[i] = 1e9 / (1 + outputs[i] / 8);
        rates[0] = 1e9 / 2;
    }
    const double pageable[3] = {25e9, 25e9, 40e9}, pinned[3] = {50e9, 50e9, 80e9};
    std::copy(pageable, pageable + 3, c.bus[GFK_PAGEABLE]);
    std::copy(pinned, pinned + 3, c.bus[GFK_PINNED]);
    for (double &kernel : c.kernel)
        kernel = 1e13;
    c.cpu_call = 1e-6;
    c.gpu_call = 1e-4;
    c.both[0] = 0.5;
    c.both[1] = 1;
    return c;
}

inline gfk_advice advise(const gfk_calibration &c, size_t k, size_t m, size_t bytes,
                         gfk_where where, unsigned w = 8) {
    gfk_advice advice;
    const gfk_field field = make_field(w);
    require_success(gfk_advise(&c, &field, k, m, bytes, where, &advice), "gfk_advise");
    EXPECT_EQ('.', advice.why[std::strlen(advice.why) - 1]);
    count_checked();
    return advice;
}
