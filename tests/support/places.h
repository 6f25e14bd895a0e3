// SPDX-License-Identifier: BSD-3-Clause
// Tests of calls that choose no kernel or engine: they run for each width on the CPU (host_w8, ...)
// and on the current device (gpu_w8, ...).
#pragma once

#include <ostream>

#include "device.h"
#include "harness.h"

struct TestPlace {
    bool host;
    unsigned w;
};

inline void PrintTo(const TestPlace &place, std::ostream *out) {
    *out << (place.host ? "host_w" : "gpu_w") << place.w;
}

inline std::vector<TestPlace> places(bool with_host = true) {
    std::vector<TestPlace> found;
    for (bool host : {true, false})
        for (unsigned w : {8u, 16u, 32u})
            if (with_host || !host)
                found.push_back({host, w});
    return found;
}

#define INSTANTIATE_AT(suite, which)                                                               \
    INSTANTIATE_TEST_SUITE_P(Places, suite, testing::ValuesIn(which),                              \
                             testing::PrintToStringParamName())

// Skips places that this machine does not have.
class PlaceTest : public testing::TestWithParam<TestPlace> {
  protected:
    // The kernels' compute capabilities, 10 * major + minor.
    explicit PlaceTest(int least = 90, int most = 90) : least_(least), most_(most) {}
    void SetUp() override {
        if (host())
            return;
        if (device::count() == 0)
            SKIP_WITHOUT_GPU("there is no GPU");
        const int capability = device::compute_capability(device::current());
        if (capability < least_ || capability > most_)
            GTEST_SKIP() << "no kernel for compute capability " << capability;
    }
    bool host() const { return GetParam().host; }
    unsigned w() const { return GetParam().w; }
    size_t symbol() const { return w() / 8; }
    gfk_field field() const { return make_field(w()); }

  private:
    int least_, most_;
};
