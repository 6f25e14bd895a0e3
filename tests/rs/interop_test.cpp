// SPDX-License-Identifier: BSD-3-Clause
// Jerasure and ISA-L as installed: their parity is ours, and each decodes what the other encoded.
#include <algorithm>

#include "fixture.h"
#include "oracle/oracle.h"

namespace {

// What another library is given: host memory, aligned, of 16-byte multiples.
class Others {
  public:
    Others(size_t k, size_t m, size_t bytes)
        : k_(k), memory_(true, (k + m) * bytes), bytes_(bytes) {
        for (size_t i = 0; i < k + m; i++)
            pointers_.push_back(reinterpret_cast<char *>(memory_.data() + i * bytes));
    }
    char **data() { return pointers_.data(); }
    char **parity() { return pointers_.data() + k_; }
    gfk_regions our_data() const { return {nullptr, memory_.data(), bytes_}; }
    gfk_regions our_parity() const { return {nullptr, memory_.data() + k_ * bytes_, bytes_}; }
    void fill(Random &random) { random.fill(memory_.data(), memory_.size()); }
    void spoil(const Indices &lost, Random &random) {
        for (size_t region : lost)
            random.fill(memory_.data() + region * bytes_, bytes_);
    }
    Bytes content() { return memory_.read(); }

  private:
    size_t k_;
    Memory memory_;
    size_t bytes_;
    std::vector<char *> pointers_;
};

struct Theirs {
    std::function<bool(Others &, size_t)> encode;
    std::function<bool(Others &, size_t, const Indices &)> decode;
};

void exchange(unsigned w, gfk_rs_matrix matrix, size_t k, size_t m, const Theirs &theirs) {
    SCOPED_TRACE(testing::Message()
                 << gfk_rs_matrix_name(matrix) << " w = " << w << ", " << k << " + " << m);
    const RsCode code = make_rs_code(true, make_field(w), {matrix, k, m});
    const size_t bytes = 1040;
    Random random(k * 100 + m + w);
    Others regions(k, m, bytes);
    const gfk_regions data = regions.our_data(), parity = regions.our_parity();
    for (int again = 0; again < 4; again++) {
        regions.fill(random);
        ASSERT_OK(gfk_rs_encode(code.get(), &data, &parity, bytes, nullptr));
        const Bytes ours = regions.content();
        const Indices lost = random_indices(k + m, 1 + random.below(m), random);
        regions.spoil(lost, random);
        ASSERT_TRUE(theirs.decode(regions, bytes, lost));
        ASSERT_EQ(ours, regions.content()) << "they cannot decode it";

        regions.spoil(indices(k, k + m), random);
        ASSERT_TRUE(theirs.encode(regions, bytes));
        ASSERT_EQ(ours, regions.content()) << "their parity is another";
        regions.spoil(lost, random);
        ASSERT_OK(gfk_rs_decode(code.get(), lost.data(), lost.size(), nullptr, 0, &data, &parity,
                                bytes, nullptr));
        ASSERT_EQ(ours, regions.content()) << "we cannot decode it";
        count_checked(3);
    }
}

const Shape EXCHANGED_SHAPES[] = {{1, 1},  {2, 2},  {3, 2},  {6, 3},
                                  {10, 4}, {12, 1}, {16, 4}, {20, 6}};

TEST(RsInterop, Jerasure) {
#ifdef GFK_TEST_JERASURE
    for (unsigned w : {8u, 16u, 32u})
        for (gfk_rs_matrix matrix : {GFK_RS_REED_SOL_VAN, GFK_RS_CAUCHY_GOOD})
            for (const Shape &shape : EXCHANGED_SHAPES) {
                const int k = static_cast<int>(shape.k), m = static_cast<int>(shape.m);
                const int good = matrix == GFK_RS_CAUCHY_GOOD, width = static_cast<int>(w);
                const Theirs theirs = {
                    [=](Others &regions, size_t bytes) {
                        return oracle_jerasure_encode(good, k, m, width, regions.data(),
                                                      regions.parity(), bytes) != 0;
                    },
                    [=](Others &regions, size_t bytes, const Indices &lost) {
                        std::vector<int> list(lost.begin(), lost.end());
                        list.push_back(-1);
                        return oracle_jerasure_decode(good, k, m, width, list.data(),
                                                      regions.data(), regions.parity(), bytes) != 0;
                    }};
                ASSERT_NO_FATAL_FAILURE(exchange(w, matrix, shape.k, shape.m, theirs));
            }
#else
    GTEST_SKIP() << "Jerasure was not found when the tests were configured";
#endif
}

TEST(RsInterop, Isal) {
#ifdef GFK_TEST_ISAL
    for (gfk_rs_matrix matrix : {GFK_RS_GEN_CAUCHY1, GFK_RS_GEN_RS})
        for (const Shape &shape : EXCHANGED_SHAPES) {
            const int k = static_cast<int>(shape.k), m = static_cast<int>(shape.m);
            const int cauchy = matrix == GFK_RS_GEN_CAUCHY1;
            if (!cauchy && m > 4)
                continue; // it is not MDS
            const auto pointers = [](Others &regions) {
                return reinterpret_cast<unsigned char **>(regions.data());
            };
            const Theirs theirs = {[=](Others &regions, size_t bytes) {
                                       return oracle_isal_encode(cauchy, k, m, pointers(regions),
                                                                 bytes) != 0;
                                   },
                                   [=](Others &regions, size_t bytes, const Indices &lost) {
                                       std::vector<char> is_lost(shape.k + shape.m);
                                       for (size_t region : lost)
                                           is_lost[region] = 1;
                                       return oracle_isal_decode(cauchy, k, m, is_lost.data(),
                                                                 pointers(regions), bytes) != 0;
                                   }};
            ASSERT_NO_FATAL_FAILURE(exchange(8, matrix, shape.k, shape.m, theirs));
        }
#else
    GTEST_SKIP() << "ISA-L was not found when the tests were configured";
#endif
}

} // namespace
