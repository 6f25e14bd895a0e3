// SPDX-License-Identifier: BSD-3-Clause
// Network coding of host memory: packets by the coding vectors of a code on the CPU.
#include "fixture.h"

namespace {

using Rlnc = Owned<struct gfk_rlnc, gfk_rlnc_destroy>;

class HostRlnc : public HostTest {
  protected:
    Rlnc make_code(const gfk_field &field, size_t n, size_t bytes, bool systematic = false) {
        gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
        desc.device = GFK_CPU;
        desc.seed = 99;
        desc.systematic = systematic;
        gfk_rlnc_t code = nullptr;
        require_success(gfk_rlnc_create(&code, &field, n, bytes, &desc), "gfk_rlnc_create");
        return Rlnc(code);
    }
    void check_encode(gfk_pipeline_t pipeline, const gfk_field &field, size_t n, size_t count,
                      size_t bytes, Place place, uint64_t stream) {
        Random random(stream);
        const Rlnc code = make_code(field, n, bytes, stream % 2 != 0);
        const gfk_rlnc_range range = {stream << 30, 1, static_cast<uint32_t>(n / 2), count};
        Bytes vectors(count * n * field.w / 8);
        ASSERT_OK(gfk_rlnc_vectors(code.get(), &range, vectors.data(), n, nullptr));
        std::vector<uint32_t> matrix(count * n);
        for (size_t i = 0; i < matrix.size(); i++)
            matrix[i] = get_symbol(vectors.data(), i, field.w);
        HostStage stage(n, count, bytes, place, random);
        stage.expect(field, matrix, GFK_SET, random);
        gfk_pipeline_report report;
        ASSERT_OK(gfk_rlnc_encode_host(pipeline, code.get(), range.generation, range.first, count,
                                       stage.in(), stage.out(), &report));
        ASSERT_TRUE(stage.as_expected()) << count << " of " << n << ", " << place_name(place);
        expect_sound(report, pipeline, bytes);
        count_checked();
    }
};

TEST_P(HostRlnc, Encode) {
    uint64_t stream = 0;
    for (unsigned w : {8, 16, 32})
        for (size_t n : {1, 33, 100})
            for (size_t count : {1, 70})
                for (size_t symbols : {1, 1000, 5001}) {
                    const Pipeline pipeline = make_pipeline(desc_of_chunk(stream % 2 * 30000));
                    check_encode(pipeline.get(), make_field(w), n, count, symbols * w / 8,
                                 places()[stream % places().size()], stream);
                    stream++;
                }
}

TEST_P(HostRlnc, Errors) {
    Random random;
    const size_t n = 4, count = 3, bytes = 4000;
    HostStage stage(n, count, bytes, Place::PAGEABLE, random);
    stage.expect_unchanged();
    const Pipeline pipeline = make_pipeline(desc());
    const Rlnc code = make_code(make_field(16), n, bytes);
    const Rlnc empty = make_code(make_field(16), n, 0);
    const auto refused = [&](gfk_status status, gfk_status got) {
        EXPECT_STATUS(status, got);
        EXPECT_TRUE(stage.as_expected());
        count_checked();
    };
    const auto encode = [&](gfk_pipeline_t p, gfk_rlnc_t c, uint32_t first, size_t packets,
                            const gfk_regions *in, const gfk_regions *out) {
        return gfk_rlnc_encode_host(p, c, 7, first, packets, in, out, nullptr);
    };
    const gfk_regions *in = stage.in(), *out = stage.out(), none = {};
    const gfk_rlnc_t c = code.get();
    refused(INVALID, encode(nullptr, c, 0, count, in, out));
    refused(INVALID, encode(pipeline.get(), nullptr, 0, count, in, out));
    refused(INVALID, encode(pipeline.get(), c, 0, count, nullptr, out));
    refused(INVALID, encode(pipeline.get(), c, 0, count, in, nullptr));
    refused(INVALID, encode(pipeline.get(), c, 0, count, &none, out));
    refused(INVALID, encode(pipeline.get(), c, 0, count, in, &none));
    refused(GFK_STATUS_INVALID_SIZE, encode(pipeline.get(), c, UINT32_MAX, count, in, out));
    refused(GFK_STATUS_OVERLAP, encode(pipeline.get(), c, 0, count, in, in));
    refused(GFK_STATUS_SUCCESS, encode(pipeline.get(), c, 0, 0, nullptr, nullptr));
    refused(GFK_STATUS_SUCCESS, encode(pipeline.get(), empty.get(), 0, count, nullptr, nullptr));
}

PER_PATH(HostRlnc);

} // namespace
