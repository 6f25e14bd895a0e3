// SPDX-License-Identifier: BSD-3-Clause
// What the advisor makes of a calibration's numbers.
#include "fixture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace {

TEST(HostAdvice, TimesOfAKnownMachine) {
    const gfk_calibration c = round_machine();
    const size_t bytes = 1000000;
    const double b = bytes;
    // What was measured comes back as it was.
    EXPECT_NEAR(1e-6 + 2e-9 * b, advise(c, 1, 1, bytes, GFK_PINNED).cpu_seconds, 1e-9);
    for (size_t m : {1, 2, 4, 8})
        EXPECT_NEAR(1e-6 + 1e-9 * b * (8 + double(m)),
                    advise(c, 8, m, bytes, GFK_PINNED).cpu_seconds, 1e-9);
    // Between and beyond: inputs and outputs cost their nanosecond each.
    for (size_t k : {2, 4, 10, 30})
        for (size_t m : {1, 3, 6, 16})
            EXPECT_NEAR(1e-6 + 1e-9 * b * double(k + m),
                        advise(c, k, m, bytes, GFK_PINNED).cpu_seconds, 1e-9 * b * double(k));
    // The way in, the way out, both at once.
    EXPECT_NEAR(1e-4 + 10 * b / 50e9, advise(c, 10, 1, bytes, GFK_PINNED).gpu_seconds, 1e-9);
    EXPECT_NEAR(1e-4 + 10 * b / 50e9, advise(c, 1, 10, bytes, GFK_PINNED).gpu_seconds, 1e-9);
    EXPECT_NEAR(1e-4 + 20 * b / 80e9, advise(c, 10, 10, bytes, GFK_PINNED).gpu_seconds, 1e-9);
    EXPECT_NEAR(1e-4 + 20 * b / 40e9, advise(c, 10, 10, bytes, GFK_PAGEABLE).gpu_seconds, 1e-9);
    EXPECT_NE(nullptr, std::strstr(advise(c, 10, 10, bytes, GFK_PINNED).why, "in and out"));
    // The kernel, where there are many of both.
    EXPECT_NEAR(1e-4 + 1000. * 1000 * 1000 / 1e13,
                advise(c, 1000, 1000, 1000, GFK_PINNED, 16).gpu_seconds, 1e-9);
}

TEST(HostAdvice, Paths) {
    gfk_calibration c = round_machine();
    const size_t mib = 1 << 20;
    EXPECT_EQ(GFK_PATH_CPU, advise(c, 10, 4, 64, GFK_PINNED).path);
    EXPECT_EQ(GFK_PATH_GPU, advise(c, 10, 4, 64 * mib, GFK_PAGEABLE).path);
    EXPECT_EQ(GFK_PATH_BOTH, advise(c, 10, 4, 64 * mib, GFK_PINNED).path);
    for (auto &rates : c.cpu)
        for (double &rate : rates)
            rate *= 1000;
    gfk_advice a = advise(c, 10, 4, 64 * mib, GFK_PAGEABLE);
    EXPECT_EQ(GFK_PATH_CPU, a.path);
    EXPECT_EQ(0u, a.crossover); // never
    c = round_machine();
    a = advise(c, 10, 4, mib, GFK_PINNED);
    ASSERT_NE(0u, a.crossover);
    const gfk_advice at = advise(c, 10, 4, a.crossover, GFK_PINNED);
    const gfk_advice before = advise(c, 10, 4, a.crossover / 2, GFK_PINNED);
    EXPECT_LT(at.gpu_seconds, at.cpu_seconds);
    EXPECT_GE(before.gpu_seconds, before.cpu_seconds);
    EXPECT_LT(a.both_seconds, a.gpu_seconds);
    // Without a GPU there is one path.
    c.device_count = 0;
    a = advise(c, 10, 4, mib, GFK_PINNED);
    EXPECT_EQ(GFK_PATH_CPU, a.path);
    EXPECT_LT(a.gpu_seconds, 0);
    EXPECT_LT(a.both_seconds, 0);
    EXPECT_EQ(0u, a.crossover);
    EXPECT_GE(advise(round_machine(), 1, 1, 0, GFK_PINNED).both_seconds, 0);
}

// On any machine AUTO takes a path whose predicted time no other path undercuts.
TEST(HostAdvice, TheShortestPrediction) {
    Random random(1);
    const auto scale = [&](double &rate) {
        rate *= std::exp2(double(random.below(1000)) / 100 - 5);
    };
    size_t taken[4] = {};
    for (int machine = 0; machine < 2000; machine++) {
        gfk_calibration c = round_machine();
        for (auto &rates : c.cpu)
            std::for_each(std::begin(rates), std::end(rates), scale);
        for (auto &rates : c.bus)
            std::for_each(std::begin(rates), std::end(rates), scale);
        std::for_each(std::begin(c.kernel), std::end(c.kernel), scale);
        std::for_each(std::begin(c.both), std::end(c.both), scale);
        scale(c.cpu_call);
        scale(c.gpu_call);
        const gfk_advice a =
            advise(c, 1 + random.below(40), 1 + random.below(20), size_t(1) << random.below(30),
                   random.below(2) ? GFK_PINNED : GFK_PAGEABLE, 8u << random.below(3));
        const double times[4] = {INFINITY, a.cpu_seconds, a.gpu_seconds, a.both_seconds};
        EXPECT_EQ(*std::min_element(times, times + 4), times[a.path]) << a.why;
        taken[a.path]++;
    }
    for (gfk_path path : {GFK_PATH_CPU, GFK_PATH_GPU, GFK_PATH_BOTH})
        EXPECT_GT(taken[path], 100u) << gfk_path_name(path);
}

TEST(HostAdvice, FieldsHaveTheirOwnRates) {
    gfk_calibration c = round_machine();
    for (int row = 0; row < 4; row++)
        for (double &rate : c.cpu[row])
            rate /= 1 << row;
    const std::pair<unsigned, uint64_t> fields[4] = {{8, 0}, {8, 0x12b}, {16, 0}, {32, 0}};
    for (int row = 0; row < 4; row++) {
        const gfk_field field = make_field(fields[row].first, fields[row].second);
        gfk_advice a;
        ASSERT_OK(gfk_advise(&c, &field, 8, 8, 1000000, GFK_PINNED, &a));
        EXPECT_NEAR(1e-6 + 16e-3 * (1 << row), a.cpu_seconds, 1e-8);
        count_checked();
    }
}

TEST(HostAdvice, Arguments) {
    const gfk_calibration c = round_machine();
    const gfk_field field = make_field(8), none = {};
    gfk_advice a = {};
    a.cpu_seconds = -7;
    const auto bad = [&](const gfk_calibration *calibration, const gfk_field *f, size_t k, size_t m,
                         int where, gfk_advice *advice) {
        EXPECT_STATUS(
            INVALID, gfk_advise(calibration, f, k, m, 4096, static_cast<gfk_where>(where), advice));
        count_checked();
    };
    bad(nullptr, &field, 1, 1, 0, &a);
    bad(&c, nullptr, 1, 1, 0, &a);
    bad(&c, &none, 1, 1, 0, &a);
    bad(&c, &field, 0, 1, 0, &a);
    bad(&c, &field, 1, 0, 0, &a);
    bad(&c, &field, 1, 1, 2, &a);
    bad(&c, &field, 1, 1, -1, &a);
    bad(&c, &field, 1, 1, 0, nullptr);
    for (double wrong : {0.0, -1.0, std::nan(""), double(INFINITY)}) {
        gfk_calibration broken = c;
        broken.cpu[2][3] = wrong;
        bad(&broken, &field, 1, 1, 0, &a);
        broken = c;
        broken.bus[1][2] = wrong;
        bad(&broken, &field, 1, 1, 0, &a);
        broken = c;
        broken.gpu_call = wrong;
        bad(&broken, &field, 1, 1, 0, &a);
    }
    gfk_calibration many = c;
    many.device_count = GFK_MOST_DEVICES + 1;
    bad(&many, &field, 1, 1, 0, &a);
    EXPECT_EQ(-7, a.cpu_seconds);
}

} // namespace
