// SPDX-License-Identifier: BSD-3-Clause
// Network coding of host memory: packets by the coding vectors of a code on the CPU.
#include <algorithm>

#include "fixture.h"
#include "rlnc/fixture.h"

namespace {

// Packets of random sources in the memory of a stage: some of a code's, others of a recoder.
struct Received {
    Headers headers;
    Bytes vectors; // rows of n + 1 elements
    std::vector<Bytes> sources;
};

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
    // Makes sources, and as many packets of them as the stage has inputs.
    Received receive(const gfk_field &field, size_t n, size_t bytes, bool recoded, HostStage &stage,
                     Random &random) {
        const size_t count = stage.pointers().size() - n, symbol = field.w / 8;
        const Rlnc code = make_code(field, n, bytes), vectors_alone = make_code(field, n, 0);
        Received r = {Headers(count), Bytes(count * (n + 1) * symbol), {}};
        for (size_t j = 0; j < n; j++)
            r.sources.push_back(random.bytes(bytes));
        for (size_t i = 0; i < count; i++) // in any order
            r.headers[i] = {5, static_cast<uint32_t>(2 + i), 0};
        for (size_t i = 1; i < count; i++)
            std::swap(r.headers[i], r.headers[random.below(i + 1)]);
        r.headers[2] = r.headers[0];
        for (size_t i = 0; i < count; i++) {
            const gfk_rlnc_range one = {5, 1, r.headers[i].packet, 1};
            uint8_t *row = &r.vectors[i * (n + 1) * symbol];
            require_success(gfk_rlnc_vectors(vectors_alone.get(), &one, row, n, nullptr), "vector");
            if (recoded) // not the vector that follows from the header
                for (size_t e = 0; e < n; e++)
                    set_symbol(row, e, field.w, multiply(field, 2, get_symbol(row, e, field.w)));
            std::fill(stage.in(i), stage.in(i) + bytes, uint8_t{0});
            for (size_t j = 0; j < n; j++)
                Times(field, get_symbol(row, j, field.w))
                    .add(r.sources[j].data(), stage.in(i), bytes);
        }
        return r;
    }
    void check_decode(unsigned w, size_t n, size_t bytes, bool recoded, uint64_t stream) {
        Random random(stream);
        const gfk_field field = make_field(w);
        const size_t count = n + 4;
        const Place place = places()[stream % places().size()];
        const Pipeline pipeline = make_pipeline(desc_of_chunk(stream % 2 * 30000));
        const Rlnc code = make_code(field, n, bytes);
        HostStage stage(count, n, bytes, place, random);
        const Received r = receive(field, n, bytes, recoded, stage, random);
        stage.expect(r.sources);
        Bytes decoded(n, 99);
        gfk_rlnc_record record;
        gfk_pipeline_report report;
        ASSERT_OK(gfk_rlnc_decode_host(pipeline.get(), code.get(), 5, r.headers.data(), count,
                                       recoded ? r.vectors.data() : nullptr, n + 1, stage.in(),
                                       stage.out(), decoded.data(), &record, &report));
        ASSERT_TRUE(stage.as_expected()) << n << " sources, " << place_name(place);
        ASSERT_EQ(Bytes(n, 1), decoded);
        ASSERT_EQ(n, record.rank);
        ASSERT_EQ(count - n, record.kept);
        expect_sound(report, pipeline.get(), bytes);
        count_checked();
    }
};

TEST_P(HostRlnc, Encode) {
    uint64_t stream = 0;
    for (unsigned w : {8, 16, 32})
        for (size_t n : {1, 33, options.reduced ? 50 : 100})
            for (size_t count : {1, 70})
                for (size_t symbols : {1, 1000, options.reduced ? 2001 : 5001}) {
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
    const RecodeCall good = {code.get(),
                             {7, 1, 0, count},
                             received,
                             memory.data(),
                             n,
                             {nullptr, &memory[in_at], bytes},
                             &memory[made_at],
                             n,
                             {nullptr, &memory[out_at], bytes}};
    const auto recode = [&](const RecodeCall &x, bool with_regions = true) {
        return gfk_rlnc_recode_host(pipeline.get(), x.code, x.range.generation, x.range.first,
                                    x.range.count, 1, x.received, x.vectors, x.stride,
                                    with_regions ? &x.in : nullptr, x.made, x.made_stride,
                                    with_regions ? &x.out : nullptr, nullptr);
    };
    const auto refused = [&](gfk_status status, const std::function<void(RecodeCall &)> &spoil) {
        RecodeCall bad = good;
        spoil(bad);
        EXPECT_STATUS(status, recode(bad));
        EXPECT_TRUE(memory == content);
        count_checked();
    };
    for (const RefusedRecode &one : refused_recodes(n))
        refused(one.status, one.spoil);
    EXPECT_STATUS(INVALID, recode(good, false));
    RecodeCall none = {};
    none.code = code.get();
    none.received = 1;
    EXPECT_OK(recode(none, false));
    EXPECT_TRUE(memory == content);
    EXPECT_OK(recode(good));
    EXPECT_FALSE(memory == content);
}

TEST_P(HostRlnc, Decode) {
    uint64_t stream = 2000;
    for (unsigned w : {8, 16, 32})
        for (size_t n : {1, 30, 70})
            for (size_t symbols : {1, options.reduced ? 1001 : 3001})
                for (bool recoded : {false, true})
                    check_decode(w, n, symbols * w / 8, recoded, stream++);
}

// Any share of the bytes on this path, the rest on the CPU.
TEST_P(HostRlnc, DecodeShares) {
    const size_t n = 24, bytes = options.reduced ? 16000 : 64000, count = n + 5;
    Random random(1);
    const gfk_field field = make_field(16);
    const Pipeline cpu = make_pipeline(pipeline_desc(GFK_PATH_CPU));
    HostStage stage(count, n, bytes, Place::SPACED, random);
    const Received r = receive(field, n, bytes, false, stage, random);
    for (size_t eighths = 0; eighths <= 8; eighths++) {
        const Pipeline pipeline = make_pipeline(desc_of_chunk(1 << (14 + eighths)));
        for (size_t j = 0; j < n; j++)
            random.fill(stage.out(j), bytes);
        stage.expect(r.sources);
        const size_t first = bytes / 8 * eighths;
        for (bool on_cpu : {false, true}) {
            const size_t at = on_cpu ? first : 0, length = on_cpu ? bytes - first : first;
            const Rlnc code = make_code(field, n, length);
            const gfk_regions in = {nullptr, stage.in(0) + at, stage.in()->stride};
            const gfk_regions out = {nullptr, stage.out(0) + at, stage.out()->stride};
            ASSERT_OK(gfk_rlnc_decode_host(on_cpu ? cpu.get() : pipeline.get(), code.get(), 5,
                                           r.headers.data(), count, nullptr, 0, &in, &out, nullptr,
                                           nullptr, nullptr));
        }
        ASSERT_TRUE(stage.as_expected()) << eighths << " eighths";
        count_checked();
    }
}

// A decoder of so many sources would take gigabytes.
TEST_P(HostRlnc, DecodeNothing) {
    const size_t n = GFK_RLNC_MOST_SOURCES;
    const Pipeline pipeline = make_pipeline(desc());
    const Rlnc code = make_code(make_field(32), n, 0);
    Bytes decoded(n, 99);
    gfk_rlnc_record record = {99, 99, 99, 99, 99, 99};
    EXPECT_STATUS(GFK_STATUS_SINGULAR,
                  gfk_rlnc_decode_host(pipeline.get(), code.get(), 5, nullptr, 0, nullptr, 0,
                                       nullptr, nullptr, decoded.data(), &record, nullptr));
    EXPECT_EQ(Bytes(n, 0), decoded);
    EXPECT_EQ(static_cast<uint32_t>(GFK_STATUS_SINGULAR), record.status);
    EXPECT_EQ(0u, record.rank + record.kept + record.dropped + record.refused + record.determined);
}

// The stride of one row is not used.
TEST_P(HostRlnc, OneRow) {
    Random random;
    const size_t bytes = 400, stride = SIZE_MAX / 2 + 1;
    const Pipeline pipeline = make_pipeline(desc());
    const Rlnc code = make_code(make_field(16), 1, bytes);
    const gfk_rlnc_header header = {5, 3, 0};
    const uint16_t factor = 2;
    uint16_t made = 0;
    Bytes source = random.bytes(bytes), packet(bytes), again(bytes);
    const Bytes expected = source;
    gfk_regions from = {nullptr, source.data(), bytes}, to = {nullptr, packet.data(), bytes};
    EXPECT_OK(gfk_rlnc_recode_host(pipeline.get(), code.get(), 5, 3, 1, 1, 1, &factor, stride,
                                   &from, &made, stride, &to, nullptr));
    from.base = packet.data();
    to.base = again.data();
    EXPECT_OK(gfk_rlnc_decode_host(pipeline.get(), code.get(), 5, &header, 1, &made, stride, &from,
                                   &to, nullptr, nullptr, nullptr));
    // The packet `source` was twice the source that a decoder finds.
    const gfk_field field = make_field(16);
    EXPECT_OK(gfk_region_multiply_host(pipeline.get(), &field, 2, again.data(), again.data(), bytes,
                                       GFK_SET, nullptr));
    EXPECT_EQ(expected, again);
}

// Of a systematic code, some sources themselves.
TEST_P(HostRlnc, DecodeEarly) {
    Random random;
    const size_t n = 20, bytes = 5000;
    const gfk_field field = make_field(8);
    const Pipeline pipeline = make_pipeline(desc());
    const Rlnc code = make_code(field, n, bytes, true);
    for (size_t came : {size_t(0), size_t(7), n - 1}) {
        HostStage stage(came, n, bytes, Place::MIXED, random);
        std::vector<Bytes> expected(n);
        Headers headers;
        Bytes marks(n, 0), decoded(n + 1, 99);
        for (size_t i = 0; i < came; i++) {
            const size_t source = (3 + 7 * i) % n;
            headers.push_back({5, static_cast<uint32_t>(source), 0});
            expected[source].assign(stage.in(i), stage.in(i) + bytes);
            marks[source] = 1;
        }
        marks.push_back(99);
        stage.expect(expected);
        gfk_rlnc_record record;
        EXPECT_STATUS(GFK_STATUS_SINGULAR,
                      gfk_rlnc_decode_host(pipeline.get(), code.get(), 5, headers.data(), came,
                                           nullptr, 0, stage.in(), stage.out(), decoded.data(),
                                           &record, nullptr));
        EXPECT_TRUE(stage.as_expected()) << came;
        EXPECT_EQ(marks, decoded);
        EXPECT_EQ(came, record.rank);
        EXPECT_EQ(came, record.determined);
        count_checked();
    }
}

TEST_P(HostRlnc, DecodeErrors) {
    Random random;
    const size_t n = 4, count = 6, bytes = 4000;
    const gfk_field field = make_field(16);
    const Pipeline pipeline = make_pipeline(desc());
    const Rlnc code = make_code(field, n, bytes);
    HostStage stage(count, n, bytes, Place::SPACED, random);
    Received good = receive(field, n, bytes, false, stage, random);
    stage.expect_unchanged();
    Bytes decoded(n, 99);
    gfk_rlnc_record record;
    const auto decode = [&](size_t packets, const uint8_t *vectors, size_t stride) {
        return gfk_rlnc_decode_host(pipeline.get(), code.get(), 5, good.headers.data(), packets,
                                    vectors, stride, stage.in(), stage.out(), decoded.data(),
                                    &record, nullptr);
    };
    const auto refused = [&](gfk_status expected, gfk_status status) {
        EXPECT_STATUS(expected, status);
        EXPECT_TRUE(stage.as_expected());
        EXPECT_EQ(Bytes(n, 99), decoded);
        count_checked();
    };
    const uint8_t *const vectors = good.vectors.data();
    refused(GFK_STATUS_INVALID_SIZE, decode(size_t{GFK_RLNC_MOST_PACKETS} + 1, nullptr, n));
    refused(INVALID, decode(count, vectors + 1, n + 1));
    refused(INVALID, decode(count, vectors, n - 1));
    refused(GFK_STATUS_INVALID_SIZE, decode(count, vectors, SIZE_MAX / 2));
    refused(GFK_STATUS_OVERLAP,
            decode(count, stage.out(0) + reinterpret_cast<uintptr_t>(stage.out(0)) % 2, n));
    // A dependent packet that has been changed on its way.
    stage.in(count - 1)[bytes - 1] ^= 1;
    EXPECT_STATUS(GFK_STATUS_CORRUPT, decode(count, nullptr, n));
    EXPECT_EQ(static_cast<uint32_t>(GFK_STATUS_CORRUPT), record.status);
    stage.in(count - 1)[bytes - 1] ^= 1;
    EXPECT_OK(decode(count, nullptr, n));
    EXPECT_EQ(count - n, record.kept);
    EXPECT_EQ(Bytes(n, 1), decoded);
    // Packets of other generations are left out; vectors alone need no regions.
    good.headers[0].generation = 6;
    good.headers[1].generation = 4;
    EXPECT_OK(decode(count, nullptr, n));
    EXPECT_EQ(0u, record.kept);
    good.headers[2].generation = 0;
    EXPECT_STATUS(GFK_STATUS_SINGULAR, decode(count, nullptr, n));
    EXPECT_EQ(n - 1, record.rank);
    const Rlnc empty = make_code(field, n, 0);
    EXPECT_STATUS(GFK_STATUS_SINGULAR,
                  gfk_rlnc_decode_host(pipeline.get(), empty.get(), 5, good.headers.data(), count,
                                       nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr));
}

TEST_P(HostRlnc, Errors) {
    Random random;
    const size_t n = 4, count = 3, bytes = 4000;
    HostStage stage(n, count, bytes, Place::PAGEABLE, random);
    stage.expect_unchanged();
    const Pipeline pipeline = make_pipeline(desc());
    const Rlnc code = make_code(make_field(16), n, bytes), empty = make_code(make_field(16), n, 0);
    const Rlnc wide = make_code(make_field(16), 1000, bytes);
    alignas(8) uint8_t place[sizeof(gfk_pipeline_report) + 1];
    const auto encode = [&](gfk_status expected, const Rlnc &c, uint32_t first, size_t packets,
                            bool has_regions, bool has_wrong_report = false) {
        auto *report = reinterpret_cast<gfk_pipeline_report *>(place + 1);
        EXPECT_STATUS(expected, gfk_rlnc_encode_host(pipeline.get(), c.get(), 7, first, packets,
                                                     has_regions ? stage.in() : nullptr,
                                                     has_regions ? stage.out() : nullptr,
                                                     has_wrong_report ? report : nullptr));
        EXPECT_TRUE(stage.as_expected());
        count_checked();
    };
    encode(INVALID, wide, 0, INT32_MAX,
           false); // before the vectors are made, which would take terabytes
    encode(GFK_STATUS_INVALID_SIZE, code, UINT32_MAX, count, true);
    encode(INVALID, code, 0, 0, true, true);
    encode(GFK_STATUS_SUCCESS, code, 0, 0, false);
    encode(GFK_STATUS_SUCCESS, empty, 0, count, false);
}

PER_PATH(HostRlnc);

} // namespace
