// SPDX-License-Identifier: BSD-3-Clause
// Coding vectors, against a second implementation and published numbers.
#include <algorithm>
#include <cmath>

#include "fixture.h"

namespace {

class RlncVectors : public RlncTest {
  protected:
    // Rows of random bytes, in which a call writes vectors.
    struct Rows {
        Rows(bool host, size_t count, size_t row, size_t symbol, size_t before, Random &random)
            : stride(row), shift(before * symbol),
              content(random.bytes(shift + count * row * symbol + 5)), memory(host, content) {}
        uint8_t *data() const { return memory.data() + shift; }
        size_t stride, shift;
        Bytes content;
        Memory memory;
    };

    void expect(Rows &rows, size_t n, const gfk_rlnc_desc &desc, const Headers &headers) {
        Bytes expected = rows.content;
        parallel(headers.size(), [&](size_t i) {
            const Elements vector =
                plain_vector(w(), n, desc, headers[i].generation, headers[i].packet);
            for (size_t e = 0; e < n; e++)
                set_symbol(expected.data() + rows.shift, i * rows.stride + e, w(), vector[e]);
        });
        const Bytes got = rows.memory.read();
        const size_t at = first_difference(expected.data(), got.data(), got.size());
        EXPECT_EQ(got.size(), at) << "n = " << n << ", density " << desc.density << ", row "
                                  << (at - rows.shift) / symbol() / rows.stride;
        count_checked(headers.size());
    }

    void check(size_t n, const gfk_rlnc_desc &desc, const gfk_rlnc_range &range, size_t stride,
               size_t shift, Random &random) {
        const Rlnc code = make_rlnc(make_field(w()), n, 0, desc);
        const Headers headers = headers_of(range);
        Rows rows(host(), headers.size(), stride, symbol(), shift, random);
        ASSERT_OK(gfk_rlnc_vectors(code.get(), &range, rows.data(), stride, nullptr));
        expect(rows, n, desc, headers);
    }
};

// Lengths around those of blocks of 16 bytes and of the threads of one vector; dense, sparse and
// systematic; rows without gaps, at any address, and at multiples of 16 bytes.
TEST_P(RlncVectors, Philox) {
    Random random;
    std::vector<size_t> sizes = {1, 2, 3, 15, 16, 17, 100, 4097};
    if (!options.reduced)
        sizes.insert(sizes.end(), {4, 5, 8, 31, 32, 33, 64, 128, 1000, 1024, 4096, 65536});
    for (size_t n : sizes)
        for (unsigned density : {0, 256, 255, 128, 1})
            for (bool systematic : {false, true}) {
                gfk_rlnc_desc desc = this->desc();
                desc.density = density;
                desc.systematic = systematic;
                const size_t packets = n > 10000 ? 2 : 7;
                const gfk_rlnc_range range = {random.next() >> (density ? 1 : 40), 3,
                                              static_cast<uint32_t>(n - n / 2), packets};
                check(n, desc, range, n, 1, random);
                check(n, desc, range, n + 3, 0, random);
                check(n, desc, range, round_up(n, 16), 0, random);
            }
}

// The largest numbers, and many packets.
TEST_P(RlncVectors, Numbers) {
    Random random;
    for (bool systematic : {false, true}) {
        gfk_rlnc_desc desc = this->desc();
        desc.systematic = systematic;
        check(20, desc, {UINT64_MAX - 1, 2, UINT32_MAX - 4, 5}, 20, 0, random);
        check(20, desc, {0xfffffffe, 4, 0, 40}, 32, 0, random);
        check(5, desc, {7, 1000, 3, 9}, 5, 0, random);
    }
}

// Vectors that would be zero, which a code of one source or of few elements draws often.
TEST_P(RlncVectors, ZeroVectors) {
    Random random;
    for (size_t n : {1, 2, 5, 100}) {
        gfk_rlnc_desc desc = this->desc();
        desc.density = 1;
        const gfk_rlnc_range range = {3, 1, 0, 2000};
        size_t zeros = 0; // all but a few are unit vectors
        for (uint32_t p = 0; p < 2000; p++) {
            const Elements vector = plain_vector(w(), n, desc, 3, p);
            zeros += vector[p % n] == 1 &&
                     std::count(vector.begin(), vector.end(), 0u) == static_cast<ptrdiff_t>(n) - 1;
        }
        EXPECT_GT(zeros, 2000u / 2);
        check(n, desc, range, n, 0, random);
        desc.density = 0;
        check(n, desc, range, n, 0, random);
    }
}

// The vectors of one generation are rows of the random matrix of gfk/matmul.h.
TEST_P(RlncVectors, AreRowsOfTheRandomMatrix) {
    const size_t n = 50, count = 30;
    const gfk_field field = make_field(w());
    const gfk_rlnc_desc desc = this->desc();
    const Rlnc code = make_rlnc(field, n, 0, desc);
    const gfk_rlnc_range range = {0xfffffff0, 1, 0xffffff00, count};
    Memory vectors(host(), count * n * symbol());
    ASSERT_OK(gfk_rlnc_vectors(code.get(), &range, vectors.data(), n, nullptr));
    gfk_matrix matrix = {};
    matrix.rows = count;
    matrix.cols = n;
    matrix.kind = GFK_MATRIX_RANDOM;
    matrix.first = range.generation << 32 | range.first;
    matrix.seed = desc.seed;
    Elements elements(count * n);
    ASSERT_OK(gfk_matrix_fill(&field, &matrix, elements.data()));
    const Bytes got = vectors.read();
    for (size_t i = 0; i < elements.size(); i++)
        ASSERT_EQ(elements[i], get_symbol(got.data(), i, w()));
    count_checked(count);
}

// How many elements a density keeps, within six standard deviations.
TEST_P(RlncVectors, Density) {
    const size_t n = 1000, count = 300;
    for (unsigned density : {1, 16, 100, 200}) {
        gfk_rlnc_desc desc = this->desc();
        desc.density = density;
        const Rlnc code = make_rlnc(make_field(w()), n, 0, desc);
        const gfk_rlnc_range range = {0, 1, 0, count};
        Memory vectors(host(), count * n * symbol());
        ASSERT_OK(gfk_rlnc_vectors(code.get(), &range, vectors.data(), n, nullptr));
        const Bytes got = vectors.read();
        double kept = 0;
        for (size_t i = 0; i < count * n; i++)
            kept += get_symbol(got.data(), i, w()) != 0;
        const double chance = density / 256.0 * (1 - std::pow(0.5, w())), all = n * count;
        EXPECT_NEAR(kept, all * chance, 6 * std::sqrt(all * chance * (1 - chance)) + count / 50);
        count_checked();
    }
}

TEST_P(RlncVectors, Rfc8681) {
    Random random;
    gfk_rlnc_desc desc = this->desc();
    desc.kind = GFK_RLNC_RFC8681;
    if (w() != 8) {
        gfk_rlnc_t code = nullptr;
        const gfk_field field = make_field(w());
        EXPECT_STATUS(GFK_STATUS_NOT_SUPPORTED, gfk_rlnc_create(&code, &field, 5, 0, &desc));
        EXPECT_EQ(nullptr, code);
        return;
    }
    for (size_t n : {1, 2, 31, 100, 1000})
        for (unsigned density = 0; density <= 16; density += density < 2 ? 1 : 7)
            for (bool systematic : {false, true}) {
                desc.density = density;
                desc.systematic = systematic;
                check(n, desc, {5, 2, static_cast<uint32_t>(n - n / 2), 7}, n + 1, 0, random);
                check(n, desc, {5, 1, 65530, 12}, n, 0, random);
            }
    desc.density = 1;
    check(1, desc, {0, 1, 0, 500}, 1, 0, random); // many are zero but for the unit
    if (!options.reduced)
        check(65535, desc, {0, 1, 65534, 3}, 65535, 0, random);
}

// RFC 8682's numbers for the seed 1, from which RFC 8681's rule makes coefficients.
TEST_P(RlncVectors, PublishedNumbers) {
    if (w() != 8)
        GTEST_SKIP() << "RFC 8681 is for w = 8";
    const uint32_t published[] = {2545341989, 981918433,  3715302833, 2387538352, 3591001365,
                                  3820442102, 2114400566, 2196103051, 2783359912, 764534509,
                                  643179475,  1822416315, 881558334,  4207026366, 3690273640,
                                  3240535687, 2921447122, 3984931427, 4092394160, 44209675,
                                  2188315343, 2908663843, 1834519336, 3774670961, 3019990707,
                                  4065554902, 1239765502, 4035716197, 3412127188, 552822483};
    for (unsigned density : {4u, 9u, 16u}) {
        Bytes expected;
        const uint32_t *next = published, *const end = std::end(published);
        while (end - next > 3) { // what is left makes no whole coefficient for sure
            const bool kept = density == 16 || (*next++ & 15) < density;
            while (kept && (*next & 255) == 0)
                next++;
            expected.push_back(kept ? static_cast<uint8_t>(*next++) : 0);
        }
        gfk_rlnc_desc desc = this->desc();
        desc.kind = GFK_RLNC_RFC8681;
        desc.density = density;
        const Rlnc code = make_rlnc(make_field(8), expected.size(), 0, desc);
        const gfk_rlnc_range range = {0, 1, 1, 1};
        Memory vector(host(), expected.size());
        ASSERT_OK(gfk_rlnc_vectors(code.get(), &range, vector.data(), expected.size(), nullptr));
        EXPECT_EQ(expected, vector.read()) << density;
        count_checked();
    }
}

TEST_P(RlncVectors, Create) {
    const gfk_field field = make_field(w());
    gfk_rlnc_t code = nullptr;
    const auto refused = [&](gfk_status status, size_t n, size_t bytes,
                             const std::function<void(gfk_rlnc_desc &)> &spoil) {
        gfk_rlnc_desc bad = desc();
        spoil(bad);
        EXPECT_STATUS(status, gfk_rlnc_create(&code, &field, n, bytes, &bad));
        EXPECT_EQ(nullptr, code);
        count_checked();
    };
    const auto nothing = [](gfk_rlnc_desc &) {};
    refused(INVALID, 0, 4, nothing);
    refused(SIZE, GFK_RLNC_MOST_SOURCES + 1, 4, nothing);
    refused(INVALID, 4, 4, [](gfk_rlnc_desc &d) { d.device = -3; });
    refused(INVALID, 4, 4, [](gfk_rlnc_desc &d) { d.density = 257; });
    refused(INVALID, 4, 4, [](gfk_rlnc_desc &d) { d.kind = static_cast<gfk_rlnc_kind>(2); });
    refused(INVALID, 4, 4, [](gfk_rlnc_desc &d) {
        d.kind = GFK_RLNC_RFC8681;
        d.density = 17;
    });
    refused(GFK_STATUS_NO_DEVICE, 4, 4, [](gfk_rlnc_desc &d) { d.device = 1000; });
    refused(GFK_STATUS_UNKNOWN_METHOD, 4, 4, [](gfk_rlnc_desc &d) {
        d.device = 1000;
        d.kernel = "matmul_w8/none";
    });
    refused(INVALID, 4, 4, [&](gfk_rlnc_desc &d) {
        d.device = 1000;
        d.kernel = w() == 8 ? "matmul_w16/clmad" : "matmul_w8/clmad";
    });
    if (w() == 8)
        refused(SIZE, 65536, 4, [](gfk_rlnc_desc &d) { d.kind = GFK_RLNC_RFC8681; });
    else
        refused(SIZE, 4, symbol() + 1, nothing);
    const gfk_rlnc_desc good = desc();
    EXPECT_STATUS(INVALID, gfk_rlnc_create(nullptr, &field, 4, 4, &good));
    if (w() == 8) {
        const gfk_field other = make_field(8, 0x11b);
        gfk_rlnc_desc rfc = good;
        rfc.kind = GFK_RLNC_RFC8681;
        EXPECT_STATUS(GFK_STATUS_NOT_SUPPORTED, gfk_rlnc_create(&code, &other, 4, 4, &rfc));
    }
    gfk_rlnc_destroy(nullptr);
}

TEST_P(RlncVectors, Errors) {
    Random random;
    const size_t n = 40;
    const Rlnc code = make_rlnc(make_field(w()), n, 0, desc());
    Rows rows(host(), 60, n, symbol(), 0, random);
    const gfk_rlnc_range good = {1, 3, 2, 20};
    const auto refused = [&](gfk_status status, gfk_status got) {
        EXPECT_STATUS(status, got);
        EXPECT_TRUE(rows.content == rows.memory.read()) << "a refused call has written";
        count_checked();
    };
    const auto range = [&](gfk_status status, const gfk_rlnc_range &bad) {
        refused(status, gfk_rlnc_vectors(code.get(), &bad, rows.data(), n, nullptr));
    };
    range(SIZE, {1, 1, UINT32_MAX, 2});
    range(SIZE, {1, 1, 0, SIZE_MAX});
    range(SIZE, {UINT64_MAX, 2, 0, 1});
    range(SIZE, {1, SIZE_MAX / 2, 0, 4});
    range(SIZE, {1, 1, 0, size_t(1) << 31});
    range(GFK_STATUS_SUCCESS, {1, 0, 0, 5});
    range(GFK_STATUS_SUCCESS, {1, SIZE_MAX / 2, 0, 0});
    for (const auto &[status, stride] :
         {std::pair(INVALID, n - 1), std::pair(SIZE, size_t(SIZE_MAX / 8))})
        refused(status, gfk_rlnc_vectors(code.get(), &good, rows.data(), stride, nullptr));
    refused(INVALID, gfk_rlnc_vectors(code.get(), nullptr, rows.data(), n, nullptr));
}

INSTANTIATE_AT(RlncVectors, test_places());

} // namespace
