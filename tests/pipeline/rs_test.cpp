// SPDX-License-Identifier: BSD-3-Clause
// Codes on host memory: encode, lose regions and rebuild them, verify.
#include "fixture.h"

#include <algorithm>

#include "rs/codes.h"

namespace {

class HostRs : public HostTest {
  protected:
    // A code that works in host memory; a pipeline takes any.
    RsCode make_code(unsigned w, size_t k, size_t m) {
        return make_host_code(make_field(w), {GFK_RS_CAUCHY, k, m});
    }
    gfk_pipeline_desc small() const { return desc_of_chunk(48 << 10); }
    // Encodes, overwrites what is lost with other bytes, rebuilds the wanted of it.
    void round_trip(gfk_pipeline_t pipeline, unsigned w, size_t k, size_t m, size_t bytes,
                    Place place, uint64_t stream) {
        const RsCode code = make_code(w, k, m);
        Random random(stream);
        HostStage stage(k, m, bytes, place, random);
        stage.expect(make_field(w), matrix_of(code.get()), GFK_SET, random);
        gfk_pipeline_report report;
        ASSERT_OK(
            gfk_rs_encode_host(pipeline, code.get(), stage.in(), stage.out(), bytes, &report));
        ASSERT_TRUE(stage.as_expected());
        expect_sound(report, pipeline, bytes);

        const size_t lost_count = 1 + random.below(m), wanted_count = 1 + random.below(lost_count);
        const Indices lost = random_indices(k + m, lost_count, random);
        Indices wanted = lost;
        std::rotate(wanted.begin(), wanted.begin() + lost_count / 2, wanted.end());
        wanted.resize(wanted_count);
        const bool all = stream % 3 == 0;
        // The stage expects to find the wanted ones as they were, and the others overwritten.
        for (size_t region : lost)
            if (!all && std::find(wanted.begin(), wanted.end(), region) == wanted.end())
                random.fill(stage.at(region), bytes);
        stage.expect_unchanged();
        for (size_t region : all ? lost : wanted)
            random.fill(stage.at(region), bytes);
        ASSERT_OK(gfk_rs_decode_host(pipeline, code.get(), lost.data(), lost_count,
                                     all ? nullptr : wanted.data(), all ? 0 : wanted_count,
                                     stage.in(), stage.out(), bytes, &report));
        ASSERT_TRUE(stage.as_expected()) << k << " + " << m << ", " << lost_count << " lost";
        expect_sound(report, pipeline, bytes);
        count_checked();
    }
};

TEST_P(HostRs, RoundTrips) {
    const Pipeline pipeline = make_pipeline(small());
    const size_t shapes[][2] = {{1, 1}, {4, 2}, {6, 3}, {10, 4}, {30, 3}};
    uint64_t stream = 0;
    for (unsigned w : {8, 16, 32})
        for (const auto &shape : shapes)
            for (size_t bytes : {size_t(4), size_t(4096), size_t(5000), size_t(70000)})
                round_trip(pipeline.get(), w, shape[0], shape[1], bytes,
                           places()[stream % places().size()], stream),
                    stream++;
}

TEST_P(HostRs, AllLostRegionsOfASmallCode) {
    const Pipeline pipeline = make_pipeline(small());
    const size_t k = 4, m = 3, bytes = 9000;
    const RsCode code = make_code(8, k, m);
    Random random(1);
    HostStage stage(k, m, bytes, Place::MIXED, random);
    ASSERT_OK(
        gfk_rs_encode_host(pipeline.get(), code.get(), stage.in(), stage.out(), bytes, nullptr));
    stage.expect_unchanged();
    for (unsigned set = 1; set < 1u << (k + m); set++) {
        std::vector<size_t> lost;
        for (size_t i = 0; i < k + m; i++)
            if (set >> i & 1)
                lost.push_back(i);
        if (lost.size() > m) {
            EXPECT_STATUS(GFK_STATUS_TOO_MANY_ERASURES,
                          gfk_rs_decode_host(pipeline.get(), code.get(), lost.data(), lost.size(),
                                             nullptr, 0, stage.in(), stage.out(), bytes, nullptr));
            continue;
        }
        for (size_t region : lost)
            random.fill(stage.at(region), bytes);
        ASSERT_OK(gfk_rs_decode_host(pipeline.get(), code.get(), lost.data(), lost.size(), nullptr,
                                     0, stage.in(), stage.out(), bytes, nullptr));
        ASSERT_TRUE(stage.as_expected()) << set;
        count_checked();
    }
    ASSERT_TRUE(stage.as_expected());
}

TEST_P(HostRs, VerifySeesEveryByte) {
    SKIP_SLOW_IF(path() == GFK_PATH_BOTH);
    const Pipeline pipeline = make_pipeline(small());
    for (unsigned w : {8, 16, 32})
        for (Place place : places()) {
            const size_t k = 5, m = 3, bytes = 30000;
            const RsCode code = make_code(w, k, m);
            Random random(w);
            HostStage stage(k, m, bytes, place, random);
            ASSERT_OK(gfk_rs_encode_host(pipeline.get(), code.get(), stage.in(), stage.out(), bytes,
                                         nullptr));
            stage.expect_unchanged();
            for (int trial = 0; trial < 24; trial++) {
                const size_t region = random.below(k + m);
                const size_t at = trial == 0   ? 0
                                  : trial == 1 ? bytes - 1
                                               : static_cast<size_t>(random.below(bytes));
                uint8_t *byte = stage.at(region) + at;
                const uint8_t flip = static_cast<uint8_t>(1u << random.below(8));
                for (uint32_t wrong : {1u, 0u}) {
                    *byte ^= flip; // first wrong, then right again
                    uint32_t differs = 0x5a5a5a5a;
                    gfk_pipeline_report report;
                    ASSERT_OK(gfk_rs_verify_host(pipeline.get(), code.get(), stage.in(),
                                                 stage.out(), bytes, &differs, &report));
                    ASSERT_EQ(wrong, differs) << "region " << region << ", byte " << at;
                    expect_sound(report, pipeline.get(), bytes);
                    count_checked();
                }
            }
            EXPECT_TRUE(stage.as_expected());
        }
}

TEST_P(HostRs, BadInput) {
    const Pipeline made = make_pipeline(small());
    gfk_pipeline_t p = made.get();
    const size_t k = 4, m = 2, bytes = 4096;
    const RsCode owned = make_code(16, k, m);
    gfk_rs_t code = owned.get();
    Random random(1);
    HostStage stage(k, m, bytes, Place::MIXED, random);
    stage.expect_unchanged();
    const gfk_regions *data = stage.in(), *parity = stage.out();
    uint32_t differs = 7;
    const auto decode = [&](const Indices &lost, const Indices &wanted, auto d, auto q, size_t n) {
        count_checked();
        return gfk_rs_decode_host(p, code, lost.data(), lost.size(),
                                  wanted.empty() ? nullptr : wanted.data(), wanted.size(), d, q, n,
                                  nullptr);
    };
    EXPECT_OK(gfk_rs_verify_host(p, code, data, parity, 0, &differs, nullptr));
    EXPECT_EQ(0u, differs);

    const std::pair<Indices, Indices> lists[] = {
        {{6}, {}}, {{1, 1}, {}}, {{1}, {2}}, {{1}, {1, 1}}};
    for (const auto &[lost, wanted] : lists)
        EXPECT_STATUS(INVALID, decode(lost, wanted, data, parity, bytes));
    for (const Indices &wanted : {Indices{}, Indices{1}})
        EXPECT_STATUS(GFK_STATUS_TOO_MANY_ERASURES, decode({0, 1, 2}, wanted, data, parity, bytes));
    const size_t one[] = {1};
    EXPECT_STATUS(
        INVALID, gfk_rs_decode_host(p, code, nullptr, 1, nullptr, 0, data, parity, bytes, nullptr));
    EXPECT_STATUS(INVALID,
                  gfk_rs_decode_host(p, code, one, 1, nullptr, 1, data, parity, bytes, nullptr));
    const auto unread = round_up(reinterpret_cast<uintptr_t>(stage.out(1)), 8); // a report there
    EXPECT_STATUS(GFK_STATUS_OVERLAP,
                  gfk_rs_decode_host(p, code, one, 1, nullptr, 0, data, parity, bytes,
                                     reinterpret_cast<gfk_pipeline_report *>(unread)));
    const gfk_regions far = {nullptr, stage.in(0), SIZE_MAX - 65535}; // the second: 64 KiB before
    EXPECT_STATUS(GFK_STATUS_INVALID_SIZE, decode({1}, {}, &far, parity, bytes));
    EXPECT_STATUS(GFK_STATUS_INVALID_SIZE, decode({5}, {}, data, &far, bytes));
    for (long offset : {1 - long(bytes), 0L, long(bytes) - 1}) { // parity that is not read
        std::vector<void *> all = stage.pointers();
        all[1] = stage.out(1) + offset;
        const gfk_regions d = {all.data(), nullptr, 0}, q = {all.data() + k, nullptr, 0};
        EXPECT_STATUS(GFK_STATUS_OVERLAP, decode({1}, {}, &d, &q, bytes));
    }
    // Nothing lost, nothing to do, and no addresses needed.
    const gfk_regions nowhere = {nullptr, nullptr, bytes};
    EXPECT_OK(decode({}, {}, &nowhere, &nowhere, bytes));
    EXPECT_OK(decode({}, {}, data, parity, bytes));
    EXPECT_OK(decode({1}, {}, data, parity, 0));
    EXPECT_TRUE(stage.as_expected());

    // What is neither read nor wanted may be missing; what is read may not.
    ASSERT_OK(gfk_rs_encode_host(p, code, data, parity, bytes, nullptr));
    stage.expect_unchanged();
    std::vector<void *> d = {stage.in(0), stage.in(1), nullptr, stage.in(3)};
    std::vector<void *> q = {stage.out(0), nullptr};
    const gfk_regions some = {d.data(), nullptr, 0}, few = {q.data(), nullptr, 0};
    EXPECT_STATUS(INVALID, decode({1}, {}, &some, &few, bytes));
    EXPECT_STATUS(INVALID, decode({2}, {}, &some, &few, bytes));
    EXPECT_TRUE(stage.as_expected());
    d[2] = stage.in(2);
    random.fill(stage.in(2), bytes);
    EXPECT_OK(decode({2}, {}, &some, &few, bytes));
    EXPECT_TRUE(stage.as_expected());
}

PER_PATH(HostRs);

} // namespace
