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

// The bytes are those of gfk_rlnc_recode, whatever path and chunks.
TEST_P(HostRlnc, Recode) {
    uint64_t stream = 1000;
    for (unsigned w : {8, 16, 32})
        for (size_t n : {1, 40})
            for (size_t received : {1, 37})
                for (size_t symbols : {0, 1, 5001}) {
                    Random random(stream);
                    const gfk_field field = make_field(w);
                    const size_t count = 21, bytes = symbols * w / 8, row = n * w / 8;
                    const size_t stride = n + stream % 3;
                    const Rlnc code = make_code(field, n, bytes);
                    const Pipeline pipeline = make_pipeline(desc_of_chunk(stream % 2 * 30000));
                    const gfk_rlnc_range range = {stream, 1, 7, count};
                    const Bytes vectors = random.bytes(received * stride * w / 8);
                    Bytes payloads = random.bytes(received * bytes + 1), made(count * bytes + 1);
                    Bytes expected(made.size()), rows = random.bytes(count * stride * w / 8);
                    Bytes expected_rows = rows;
                    size_t space = 0;
                    ASSERT_OK(gfk_rlnc_recode_workspace(code.get(), &range, received, &space));
                    std::vector<uint8_t> memory(space + 256);
                    uint8_t *workspace =
                        memory.data() + (256 - reinterpret_cast<uintptr_t>(memory.data()) % 256);
                    const gfk_regions from = gfk_inputs_spaced(payloads.data(), bytes);
                    const gfk_regions to = {nullptr, made.data(), bytes};
                    const gfk_regions other = {nullptr, expected.data(), bytes};
                    ASSERT_OK(gfk_rlnc_recode(code.get(), &range, 5, received, vectors.data(),
                                              stride, &from, expected_rows.data(), stride, &other,
                                              workspace, space, nullptr));
                    gfk_pipeline_report report;
                    ASSERT_OK(gfk_rlnc_recode_host(pipeline.get(), code.get(), stream, 7, count, 5,
                                                   received, vectors.data(), stride, &from,
                                                   rows.data(), stride, &to, &report));
                    ASSERT_TRUE(rows == expected_rows && made == expected)
                        << n << " sources, " << received << " received, " << bytes << " bytes";
                    expect_sound(report, pipeline.get(), bytes == 0 ? row : bytes);
                    count_checked();
                    stream++;
                }
}

TEST_P(HostRlnc, RecodeErrors) {
    Random random;
    const size_t n = 4, count = 3, received = 5, bytes = 4000, room = 64;
    const Pipeline pipeline = make_pipeline(desc());
    const Rlnc code = make_code(make_field(16), n, bytes);
    const size_t made_at = room, in_at = 2 * room, out_at = in_at + received * bytes;
    const Bytes content = random.bytes(out_at + count * bytes);
    Bytes memory = content;
    struct Call {
        gfk_pipeline_t pipeline;
        gfk_rlnc_t code;
        uint32_t first;
        size_t count, received;
        uint8_t *vectors;
        size_t stride;
        gfk_regions in;
        uint8_t *made;
        size_t made_stride;
        gfk_regions out;
    };
    const Call good = {pipeline.get(),
                       code.get(),
                       0,
                       count,
                       received,
                       memory.data(),
                       n,
                       {nullptr, &memory[in_at], bytes},
                       &memory[made_at],
                       n,
                       {nullptr, &memory[out_at], bytes}};
    const auto recode = [](const Call &x, bool with_regions = true) {
        return gfk_rlnc_recode_host(x.pipeline, x.code, 7, x.first, x.count, 1, x.received,
                                    x.vectors, x.stride, with_regions ? &x.in : nullptr, x.made,
                                    x.made_stride, with_regions ? &x.out : nullptr, nullptr);
    };
    const auto refused = [&](gfk_status status, const std::function<void(Call &)> &spoil) {
        Call bad = good;
        spoil(bad);
        EXPECT_STATUS(status, recode(bad));
        EXPECT_TRUE(memory == content);
        count_checked();
    };
    const gfk_status size = GFK_STATUS_INVALID_SIZE, overlap = GFK_STATUS_OVERLAP;
    refused(INVALID, [](Call &x) { x.pipeline = nullptr; });
    refused(INVALID, [](Call &x) { x.code = nullptr; });
    refused(INVALID, [](Call &x) { x.received = 0; });
    refused(size, [](Call &x) { x.received = GFK_RLNC_MOST_SOURCES + 1; });
    refused(size, [](Call &x) { x.first = UINT32_MAX; });
    refused(INVALID, [](Call &x) { x.vectors = nullptr; });
    refused(INVALID, [](Call &x) { x.vectors++; });
    refused(INVALID, [](Call &x) { x.made = nullptr; });
    refused(INVALID, [](Call &x) { x.stride = n - 1; });
    refused(INVALID, [](Call &x) { x.made_stride = n - 1; });
    refused(size, [](Call &x) { x.stride = SIZE_MAX / 2; });
    refused(INVALID, [](Call &x) { x.in.base = nullptr; });
    refused(INVALID, [](Call &x) { x.out.base = nullptr; });
    refused(overlap, [](Call &x) { x.made = x.vectors; });
    refused(overlap, [](Call &x) { x.made = static_cast<uint8_t *>(x.in.base) + bytes - 2; });
    refused(overlap, [](Call &x) { x.made = static_cast<uint8_t *>(x.out.base); });
    refused(overlap, [](Call &x) { x.vectors = static_cast<uint8_t *>(x.out.base); });
    refused(overlap, [](Call &x) { x.out.base = x.in.base; });
    EXPECT_STATUS(INVALID, recode(good, false));
    Call none = {};
    none.pipeline = pipeline.get();
    none.code = code.get();
    none.received = 1;
    EXPECT_OK(recode(none, false));
    EXPECT_TRUE(memory == content);
    EXPECT_OK(recode(good));
    EXPECT_FALSE(memory == content);
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
