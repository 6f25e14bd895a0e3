// SPDX-License-Identifier: BSD-3-Clause
// Tests of calls that choose no kernel or engine: they run for each width on the CPU (host_w8, ...)
// and on the current device (gpu_w8, ...). Where matmuls are a part of them, they also run with the matmul's
// kernel of other devices (gpu_w8_clmad, ...).
#pragma once

#include <ostream>

#include "device.h"
#include "harness.h"

struct TestPlace {
    bool host;
    unsigned w;
    bool clmad = false;
};

inline void PrintTo(const TestPlace &place, std::ostream *out) {
    *out << (place.host ? "host_w" : "gpu_w") << place.w << (place.clmad ? "_clmad" : "");
}

inline std::vector<TestPlace> test_places(bool with_host = true) {
    std::vector<TestPlace> found;
    for (bool host : {true, false})
        for (unsigned w : {8u, 16u, 32u})
            if (with_host || !host)
                found.push_back({host, w});
    return found;
}

inline std::vector<TestPlace> matmul_places() {
    std::vector<TestPlace> found = test_places();
    for (unsigned w : {8u, 16u, 32u})
        found.push_back({false, w, true});
    return found;
}

// What descriptors of matmuls name while a test runs.
inline const char *named_matmul = nullptr;

#define INSTANTIATE_AT(suite, which)                                                               \
    INSTANTIATE_TEST_SUITE_P(Places, suite, testing::ValuesIn(which),                              \
                             testing::PrintToStringParamName())

// Skips places that this machine does not have.
class PlaceTest : public testing::TestWithParam<TestPlace> {
  protected:
    explicit PlaceTest(bool needs_matmul = true) : needs_matmul_(needs_matmul) {}
    void SetUp() override {
        SKIP_SLOW_IF(THREAD_SANITIZER && w() != 8);
        if (host())
            return;
        if (device::count() == 0)
            SKIP_WITHOUT_GPU("there is no GPU");
        if (GetParam().clmad) {
            id_ = "matmul_w" + std::to_string(w()) + "/clmad";
            named_matmul = id_.c_str();
        }
        const gfk_field field = make_field(w());
        gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
        const char *id;
        desc.kernel = named_matmul;
        if (needs_matmul_ &&
            gfk_matmul_kernel_id(&field, 1, 1, 64, &desc, &id) == GFK_STATUS_NOT_SUPPORTED)
            GTEST_SKIP() << "this device or this build has no such matmul";
    }
    void TearDown() override { named_matmul = nullptr; }
    bool host() const { return GetParam().host; }
    unsigned w() const { return GetParam().w; }
    size_t symbol() const { return w() / 8; }
    gfk_field field() const { return make_field(w()); }

  private:
    bool needs_matmul_;
    std::string id_;
};
