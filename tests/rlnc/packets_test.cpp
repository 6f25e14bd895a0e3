// SPDX-License-Identifier: BSD-3-Clause
// Encoders and recoders, against scalar arithmetic with plain coding vectors.
#include <algorithm>

#include "fixture.h"

namespace {

using Rows = std::vector<Elements>;

// The sum of the inputs times the factors.
Bytes sum_of(const gfk_field &field, const Elements &factors, const std::vector<Bytes> &inputs) {
    Bytes sum(inputs[0].size());
    for (size_t i = 0; i < inputs.size(); i++)
        add_multiples(field, {factors[i]}, inputs[i].data(), {sum.data()}, sum.size());
    return sum;
}

Bytes to_bytes(unsigned w, const Elements &elements) {
    Bytes bytes(elements.size() * w / 8);
    for (size_t i = 0; i < elements.size(); i++)
        set_symbol(bytes.data(), i, w, elements[i]);
    return bytes;
}

// Coding vectors of packets in memory with gaps between them.
class Vectors {
  public:
    Vectors(bool host, unsigned w, size_t n, size_t rows, size_t gap, Random &random)
        : w_(w), n_(n), rows_(rows), stride_(n + gap),
          content_(random.bytes(rows * stride_ * w / 8)), memory_(host, content_) {}
    uint8_t *data() const { return memory_.data(); }
    size_t stride() const { return stride_; }
    void write(const std::vector<Bytes> &vectors) {
        for (size_t i = 0; i < rows_; i++)
            std::copy(vectors[i].begin(), vectors[i].end(), &content_[i * stride_ * w_ / 8]);
        memory_.write(0, content_.data(), content_.size());
    }
    testing::AssertionResult are(const std::vector<Bytes> &vectors) {
        Bytes expected = content_;
        for (size_t i = 0; i < rows_; i++)
            std::copy(vectors[i].begin(), vectors[i].end(), &expected[i * stride_ * w_ / 8]);
        const Bytes got = memory_.read();
        const size_t at = first_difference(expected.data(), got.data(), got.size());
        return at == got.size() ? testing::AssertionSuccess()
                                : testing::AssertionFailure()
                                      << "vectors differ in row " << at / (stride_ * w_ / 8);
    }
    testing::AssertionResult are_untouched() { return are(rows_of(content_)); }

  private:
    std::vector<Bytes> rows_of(const Bytes &content) const {
        std::vector<Bytes> rows;
        for (size_t i = 0; i < rows_; i++)
            rows.emplace_back(&content[i * stride_ * w_ / 8],
                              &content[i * stride_ * w_ / 8] + n_ * w_ / 8);
        return rows;
    }
    unsigned w_;
    size_t n_, rows_, stride_;
    Bytes content_;
    Memory memory_;
};

// The regions of a call with their content, `ins` and `outs` of each generation.
class Packets {
  public:
    Packets(bool host, size_t generations, size_t ins, size_t outs, size_t bytes,
            const Layout &layout, Random &random)
        : ins_(ins), outs_(outs),
          regions_(host, generations * ins, generations * outs, bytes, layout, random),
          content_(random.bytes(regions_.size())) {
        regions_.write(content_);
    }
    const gfk_regions *in() const { return regions_.in(); }
    const gfk_regions *out() const { return regions_.out(); }
    void refill(Random &random) {
        content_ = random.bytes(regions_.size());
        regions_.write(content_);
    }
    Bytes output(size_t i) { return regions_.from_copy(regions_.read(), regions_.ins() + i); }
    // Are the outputs the inputs times the factors, and all else as it was?
    testing::AssertionResult are_products(const gfk_field &field, const Rows &factors) {
        Bytes expected = content_;
        constexpr size_t GROUP = 16; // packets of a generation
        const size_t groups = (outs_ + GROUP - 1) / GROUP;
        parallel(factors.size() / outs_ * groups, [&](size_t part) {
            const size_t generation = part / groups, first = part % groups * GROUP;
            const size_t count = std::min(GROUP, outs_ - first), begin = generation * outs_ + first;
            std::vector<uint8_t *> sums;
            for (size_t j = 0; j < count; j++) {
                sums.push_back(regions_.in_copy(expected, regions_.ins() + begin + j));
                std::fill_n(sums[j], regions_.bytes(), uint8_t(0));
            }
            std::vector<uint32_t> column(count);
            for (size_t i = 0; i < ins_; i++) {
                for (size_t j = 0; j < count; j++)
                    column[j] = factors[begin + j][i];
                add_multiples(field, column, regions_.in_copy(content_, generation * ins_ + i),
                              sums, regions_.bytes());
            }
        });
        count_checked(factors.size());
        return regions_.is(expected, "packets");
    }
    testing::AssertionResult are_untouched() { return regions_.is(content_, "a refused call"); }

  private:
    size_t ins_, outs_;
    GuardedRegions regions_;
    Bytes content_;
};

class RlncPackets : public RlncTest {
  protected:
    gfk_field field() const { return make_field(w()); }
    size_t encode_space(const Rlnc &code, const gfk_rlnc_range &range) {
        size_t space = 0;
        EXPECT_OK(gfk_rlnc_encode_workspace(code.get(), &range, &space));
        return space;
    }
    Rows plain(size_t n, const gfk_rlnc_desc &desc, const gfk_rlnc_range &range) const {
        const Headers headers = headers_of(range);
        Rows rows(headers.size());
        parallel(rows.size(), [&](size_t i) {
            rows[i] = plain_vector(w(), n, desc, headers[i].generation, headers[i].packet);
        });
        return rows;
    }
    std::vector<Bytes> bytes_of(const Rows &rows) const {
        std::vector<Bytes> bytes;
        for (const Elements &row : rows)
            bytes.push_back(to_bytes(w(), row));
        return bytes;
    }

    void check(size_t n, size_t bytes, const gfk_rlnc_desc &desc, const gfk_rlnc_range &range,
               const Layout &layout, Random &random) {
        const Rlnc code = make_rlnc(field(), n, bytes, desc);
        Packets packets(host(), range.generations, n, range.count, bytes, layout, random);
        const size_t space = encode_space(code, range);
        Memory workspace(host(), random.bytes(space));
        const Rows expected = plain(n, desc, range);
        for (bool wants_vectors : {false, true}) {
            Vectors vectors(host(), w(), n, expected.size(), 3, random);
            packets.refill(random);
            ASSERT_OK(gfk_rlnc_encode(code.get(), &range, packets.in(), packets.out(),
                                      wants_vectors ? vectors.data() : nullptr,
                                      wants_vectors ? vectors.stride() : 0, workspace.data(), space,
                                      nullptr));
            ASSERT_TRUE(packets.are_products(field(), expected)) << n << " sources";
            ASSERT_TRUE(wants_vectors ? vectors.are(bytes_of(expected)) : vectors.are_untouched());
        }
    }

    // Of any received vectors and payloads.
    void check_recode(size_t n, size_t received, size_t bytes, const gfk_rlnc_range &range,
                      const Layout &layout, Random &random) {
        const uint64_t seed = random.next();
        const Rlnc code = make_rlnc(field(), n, bytes, desc());
        Packets packets(host(), range.generations, received, range.count, bytes, layout, random);
        Vectors old(host(), w(), n, range.generations * received, 3, random);
        Vectors made(host(), w(), n, range.generations * range.count, 1, random);
        std::vector<Bytes> old_vectors;
        for (size_t i = 0; i < range.generations * received; i++)
            old_vectors.push_back(random.bytes(n * symbol()));
        old.write(old_vectors);
        size_t space = 0;
        ASSERT_OK(gfk_rlnc_recode_workspace(code.get(), &range, received, &space));
        Memory workspace(host(), random.bytes(space));
        ASSERT_OK(gfk_rlnc_recode(code.get(), &range, seed, received, old.data(), old.stride(),
                                  packets.in(), made.data(), made.stride(), packets.out(),
                                  workspace.data(), space, nullptr));
        gfk_rlnc_desc rule = desc();
        rule.seed = seed;
        const Rows factors = plain(received, rule, range);
        ASSERT_TRUE(packets.are_products(field(), factors)) << n << " sources, " << bytes;
        std::vector<Bytes> new_vectors(factors.size());
        parallel(factors.size(), [&](size_t i) {
            const auto first =
                old_vectors.begin() + static_cast<ptrdiff_t>(i / range.count * received);
            new_vectors[i] =
                sum_of(field(), factors[i], {first, first + static_cast<ptrdiff_t>(received)});
        });
        ASSERT_TRUE(made.are(new_vectors)) << n << " sources, " << received << " received";
    }
};

// Around the borders of tiles and batches of matmul, one generation and several, every layout.
TEST_P(RlncPackets, EncodeShapes) {
    Random random;
    const size_t outputs = 128 / w(), inputs = 1024 / w();
    std::vector<size_t> sizes = {1, inputs + 1}, counts = {1, outputs + 1};
    if (!options.reduced) {
        sizes.insert(sizes.end(), {2, inputs - 1, inputs, 2 * inputs + 5});
        counts.insert(counts.end(), {outputs, 3 * outputs + 2});
    }
    for (size_t n : sizes)
        for (size_t count : counts)
            for (size_t generations : {1, 5})
                for (const Layout &layout :
                     {Layout{Layout::SPACED, 0, 0}, {Layout::PHASES, 0, 0}, {Layout::SPACED, 3, 5}})
                    check(n, 300 * symbol(), desc(), {7, generations, 2, count}, layout, random);
}

// Lengths around a tile's, in generations beside each other.
TEST_P(RlncPackets, EncodeLengths) {
    Random random;
    std::vector<size_t> lengths = {1, 17, 257};
    if (!options.reduced)
        lengths.insert(lengths.end(), {2, 16, 255, 256, 513, 1500});
    for (size_t symbols : lengths)
        for (size_t phase : {0, 1})
            check(20, symbols * symbol(), desc(), {0, 4, 0, 18}, {Layout::SPACED, phase, phase},
                  random);
}

TEST_P(RlncPackets, EncodeKinds) {
    Random random;
    for (bool systematic : {false, true})
        for (unsigned density : {0, 1, 40}) {
            gfk_rlnc_desc desc = this->desc();
            desc.systematic = systematic;
            desc.density = density;
            check(30, 100 * symbol(), desc, {UINT64_MAX - 2, 3, 0, 40}, {Layout::SPACED, 0, 0},
                  random);
            desc.density = density % 17;
            desc.kind = GFK_RLNC_RFC8681;
            if (w() == 8)
                check(30, 100, desc, {1, 3, 0, 40}, {Layout::PHASES, 0, 0}, random);
        }
}

// Many generations, which threads share on the CPU; and large ones, also more packets than a matmul
// prepares at a time.
TEST_P(RlncPackets, EncodeLarge) {
    Random random;
    const Layout spaced = {Layout::SPACED, 0, 0};
    check(16, 90 * symbol(), desc(), {0, options.reduced ? size_t(40) : size_t(300), 0, 20}, spaced,
          random);
    check(16, 90 * symbol(), desc(), {0, options.reduced ? size_t(60) : size_t(130), 0, 20},
          {Layout::PHASES, 0, 0}, random); // more than the pointers of a launch
    check(options.reduced ? 200 : 4096, 40 * symbol(), desc(), {0, 2, 0, 50}, spaced, random);
    check(5, 10 * symbol(), desc(), {0, 2, 0, options.reduced ? size_t(300) : size_t(4100)}, spaced,
          random);
    check(options.reduced ? 2000 : 65535, 3 * symbol(), desc(), {0, 1, 0, 3}, spaced, random);
}

TEST_P(RlncPackets, NumbersOfThreads) {
    if (!host())
        GTEST_SKIP() << "devices have no threads";
    Random random;
    const size_t symbols = options.reduced ? 700 : 5000;
    for (unsigned threads : {1, 2, 3, options.reduced ? 5 : 100})
        for (size_t generations : {2, 12}) {
            gfk_rlnc_desc desc = this->desc();
            desc.threads = threads;
            check(20, symbols * symbol(), desc, {0, generations, 0, 25}, {Layout::SPACED, 0, 0},
                  random);
        }
}

// One generation is the product of a generated matrix.
TEST_P(RlncPackets, EncodeEqualsMatmul) {
    Random random;
    const size_t n = 200, count = 70, bytes = 1000 * symbol();
    const gfk_field field = this->field();
    const Rlnc code = make_rlnc(field, n, bytes, desc());
    const gfk_rlnc_range range = {5, 1, 9, count};
    Packets packets(host(), 1, n, count, bytes, {Layout::SPACED, 0, 0}, random);
    Memory product(host(), count * bytes);
    gfk_matrix matrix = {};
    matrix.rows = count;
    matrix.cols = n;
    matrix.kind = GFK_MATRIX_RANDOM;
    matrix.first = uint64_t(5) << 32 | 9;
    matrix.seed = desc().seed;
    gfk_matmul_desc place = GFK_MATMUL_DESC_INIT;
    place.device = desc().device;
    size_t space = 0, matmul_space = 0;
    ASSERT_OK(gfk_rlnc_encode_workspace(code.get(), &range, &space));
    ASSERT_OK(gfk_matmul_workspace(&field, count, n, bytes, &place, &matmul_space));
    Memory workspace(host(), std::max(space, matmul_space));
    const gfk_regions out = {nullptr, product.data(), bytes};
    ASSERT_OK(gfk_rlnc_encode(code.get(), &range, packets.in(), packets.out(), nullptr, 0,
                              workspace.data(), space, nullptr));
    ASSERT_OK(gfk_matmul(&field, &matrix, packets.in(), &out, bytes, GFK_SET, &place,
                         workspace.data(), matmul_space, nullptr));
    for (size_t j = 0; j < count; j++)
        ASSERT_EQ(product.read(j * bytes, bytes), packets.output(j));
    count_checked(count);
}

// Each of three hops gets more packets than the one before. Vectors and payloads are any: the sums are linear, so
// that packets of real sources stay packets of these.
TEST_P(RlncPackets, Recode) {
    Random random;
    for (size_t n : {size_t(1), size_t(10), options.reduced ? size_t(20) : 1024 / w() + 5})
        for (size_t generations : {1, 6})
            for (const Layout &layout :
                 {Layout{Layout::SPACED, 0, 0}, {Layout::PHASES, 0, 0}, {Layout::SPACED, 1, 3}})
                for (uint32_t hop : {0, 1, 2})
                    check_recode(n, n + 2 * std::max(hop, 1u), 40 * symbol(),
                                 {3, generations, hop, n + 2 * (hop + 1)}, layout, random);
}

// Vectors and payloads of no tile of symbols, of one and of several, and more received packets than
// sources, and fewer.
TEST_P(RlncPackets, RecodeShapes) {
    Random random;
    const std::vector<size_t> sizes =
        options.reduced ? std::vector<size_t>{3, 260} : std::vector<size_t>{3, 256, 600};
    for (size_t n : sizes)
        for (size_t received : {size_t(7), options.reduced ? size_t(40) : size_t(300)})
            for (size_t symbols : {size_t(0), size_t(200), size_t(700)})
                for (const Layout &layout : {Layout{Layout::SPACED, 0, 0}, {Layout::PHASES, 0, 0}})
                    check_recode(n, received, symbols * symbol(), {5, 3, 1, 40}, layout, random);
    check_recode(10, 9, 300 * symbol(), {0, 150, 0, 12}, {Layout::PHASES, 0, 0}, random);
    if (!options.reduced && !host()) { // a matmul with levels
        const size_t n = 16384 / w();
        check_recode(n, n, 2048, {0, 1, 0, n}, {Layout::SPACED, 0, 0}, random);
    }
}

// Sizes of zero: vectors alone, and nothing at all.
TEST_P(RlncPackets, Nothing) {
    Random random;
    const size_t n = 20;
    const Rlnc code = make_rlnc(field(), n, 0, desc());
    const gfk_rlnc_range range = {0, 2, 0, 9}, none = {0, 0, 0, 9};
    const Rows expected = plain(n, desc(), range);
    Vectors vectors(host(), w(), n, 18, 1, random), made(host(), w(), n, 18, 0, random);
    size_t space = 77;
    ASSERT_OK(gfk_rlnc_encode_workspace(code.get(), &range, &space));
    EXPECT_EQ(0u, space);
    EXPECT_OK(gfk_rlnc_encode(code.get(), &range, nullptr, nullptr, vectors.data(), n + 1, nullptr,
                              0, nullptr));
    EXPECT_TRUE(vectors.are(bytes_of(expected)));
    EXPECT_OK(
        gfk_rlnc_encode(code.get(), &none, nullptr, nullptr, nullptr, 0, nullptr, 0, nullptr));
    ASSERT_OK(gfk_rlnc_recode_workspace(code.get(), &range, 9, &space));
    Memory workspace(host(), space);
    EXPECT_OK(gfk_rlnc_recode(code.get(), &range, 1, 9, vectors.data(), n + 1, nullptr, made.data(),
                              n, nullptr, workspace.data(), space, nullptr));
    gfk_rlnc_desc rule = desc();
    rule.seed = 1;
    const Rows factors = plain(9, rule, range);
    const std::vector<Bytes> old = bytes_of(expected);
    std::vector<Bytes> sums;
    for (size_t i = 0; i < 18; i++)
        sums.push_back(sum_of(field(), factors[i],
                              {old.begin() + (i < 9 ? 0 : 9), old.begin() + (i < 9 ? 9 : 18)}));
    EXPECT_TRUE(made.are(sums));
    EXPECT_OK(gfk_rlnc_recode(code.get(), &none, 1, 9, nullptr, 0, nullptr, nullptr, 0, nullptr,
                              nullptr, 0, nullptr));
    count_checked(3);
}

// Any number of threads, also more than there are generations: these share each generation's bytes.
TEST_P(RlncPackets, SharedByThreads) {
    if (!host())
        GTEST_SKIP() << "a device has no threads of the CPU";
    Random random;
    const Layout spaced = {Layout::SPACED, 0, 0}, phases = {Layout::PHASES, 0, 0};
    const size_t n = 24, bytes = 4700;
    for (size_t generations :
         options.reduced ? std::vector<size_t>{3} : std::vector<size_t>{1, 3, 40})
        for (size_t count : {5, options.reduced ? 9 : 50}) {
            const gfk_rlnc_range range = {3, generations, 1, count};
            size_t alone = 0;
            for (unsigned threads : {1, 3, 16}) {
                gfk_rlnc_desc desc = this->desc();
                desc.threads = threads;
                check(n, bytes, desc, range, threads == 3 ? phases : spaced, random);
                const size_t space = encode_space(make_rlnc(field(), n, 96, desc), range);
                alone = threads == 1 ? space : alone;
                if (threads > 1 && generations > 1) {
                    EXPECT_GT(space, alone) << threads << " threads do what one does";
                }
            }
        }
}

TEST_P(RlncPackets, Errors) {
    Random random;
    const size_t n = 20, count = 9, received = 15, bytes = 600 * symbol();
    const Rlnc code = make_rlnc(field(), n, bytes, desc());
    Packets packets(host(), 2, n, count, bytes, {Layout::SPACED, 0, 0}, random);
    Vectors old(host(), w(), n, 2 * received, 0, random),
        made(host(), w(), n, 2 * count, 0, random);
    const RecodeCall good = {code.get(),    {1, 2, 0, count}, received, old.data(),    n,
                             *packets.in(), made.data(),      n,        *packets.out()};
    size_t recode_space = 0;
    ASSERT_OK(gfk_rlnc_recode_workspace(code.get(), &good.range, received, &recode_space));
    const size_t space = std::max(recode_space, encode_space(code, good.range));
    Memory workspace(host(), space);
    const auto encode = [&](const RecodeCall &x) {
        return gfk_rlnc_encode(x.code, &x.range, &x.in, &x.out, x.made, x.made_stride,
                               workspace.data(), space, nullptr);
    };
    const auto recode = [&](const RecodeCall &x) {
        return gfk_rlnc_recode(x.code, &x.range, 5, x.received, x.vectors, x.stride, &x.in, x.made,
                               x.made_stride, &x.out, workspace.data(), space, nullptr);
    };
    std::vector<RefusedRecode> wrong = refused_recodes(n);
    wrong.push_back({SIZE, [](RecodeCall &x) { x.range.generation = UINT64_MAX; }});
    wrong.push_back({SIZE, [](RecodeCall &x) { x.range.count = GFK_RLNC_MOST_PACKETS; }});
    for (const RefusedRecode &one : wrong) {
        RecodeCall bad = good;
        one.spoil(bad);
        EXPECT_STATUS(one.status, recode(bad));
        if (one.is_for_encoders) {
            EXPECT_STATUS(one.status, encode(bad));
        }
        EXPECT_TRUE(packets.are_untouched());
        EXPECT_TRUE(made.are_untouched());
        count_checked();
    }
    EXPECT_STATUS(INVALID, gfk_rlnc_encode_workspace(code.get(), nullptr, &recode_space));
    EXPECT_STATUS(INVALID, gfk_rlnc_encode_workspace(code.get(), &good.range, nullptr));
    EXPECT_STATUS(INVALID, gfk_rlnc_recode_workspace(nullptr, &good.range, 3, &recode_space));
    EXPECT_OK(encode(good));
    EXPECT_OK(recode(good));
}

INSTANTIATE_AT(RlncPackets, matmul_places());

} // namespace
