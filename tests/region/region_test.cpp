// SPDX-License-Identifier: BSD-3-Clause
// Every row, at every length around its tile, every pair of byte offsets, set and xor, several
// constants: the right bytes in the region and no byte changed outside it.
#include <algorithm>
#include <cstring>
#include <set>

#include "oracle/oracle.h"
#include "support/row_fixture.h"

namespace {

constexpr size_t GUARD = 64;           // bytes before and after each region, at least
constexpr size_t FULL = 65536 + 64;    // longest region that gets all 256 pairs of offsets
constexpr size_t BIG_WORKSPACE = 4096; // above it most calls use the prepared workspace

struct Offsets {
    unsigned src, dst;
};

std::vector<Offsets> offset_pairs(bool all) {
    static const unsigned some[] = {0, 1, 6, 15};
    std::vector<Offsets> pairs;
    for (unsigned s = 0; s < 16; s++)
        for (unsigned d = 0; d < 16; d++)
            if (all || (std::count(some, some + 4, s) != 0 && std::count(some, some + 4, d) != 0))
                pairs.push_back({s, d});
    return pairs;
}

// At least 24 lengths in bytes: few symbols, around powers of two, around the row's tile.
std::vector<size_t> lengths(Row row) {
    const size_t z = row->w / 8, tile = row->tile_bytes;
    std::set<size_t> all;
    if (options.reduced)
        all = {0,       z,   3 * z,   16 - z,   16,       16 + z,          64 + z,
               128 - z, 512, 512 + z, tile - z, tile + z, 2 * tile + 3 * z};
    else
        all = {0,       z,        2 * z,        3 * z,
               5 * z,   7 * z,    16 - z,       16,
               16 + z,  32,       48 + z,       64 - z,
               64,      64 + z,   96,           128 - z,
               128,     128 + z,  192 + 4,      256 + 3 * z,
               384 - z, 512 - z,  512,          512 + z,
               1000,    1024 + z, 2048 + 3 * z, tile - z,
               tile,    tile + z, 2 * tile,     2 * tile + 3 * z};
    return {all.begin(), all.end()};
}

// One source at 16 byte offsets, and the products of it.
class Source {
  public:
    Source(Row row, size_t longest, const std::vector<uint32_t> &cs)
        : stride_(round_up(longest + 16 + GUARD, 256)), content_(Random(1).bytes(longest)),
          image_(Random(2).bytes(16 * stride_)), memory_(row, image_.size()) {
        for (unsigned s = 0; s < 16; s++)
            std::copy(content_.begin(), content_.end(), image_.begin() + offset(s));
        memory_.write(0, image_.data(), image_.size());
        Oracle o = make_oracle(row->w);
        for (uint32_t c : cs) {
            products_.emplace_back(longest);
            oracle_multiply_region(o.get(), c, content_.data(), products_.back().data(), longest);
        }
    }

    const uint8_t *at(unsigned s) const { return memory_.data() + offset(s); }
    const Bytes &content() const { return content_; }
    const Bytes &product(size_t constant) const { return products_[constant]; }
    bool unchanged() { return memory_.read() == image_; }

  private:
    size_t offset(unsigned s) const { return s * stride_ + s; }

    size_t stride_;
    Bytes content_, image_;
    Memory memory_;
    std::vector<Bytes> products_;
};

// Destinations for one length: slot k begins at k * stride, its region GUARD + offset further on.
// Everything is poisoned with random bytes other than zero; in place the region holds the source.
class Slots {
  public:
    Slots(Row row, size_t bytes, const std::vector<unsigned> &offsets, const Bytes *in_place)
        : stride_(round_up(GUARD + 15 + bytes + GUARD, 256)), bytes_(bytes), offsets_(offsets),
          poison_(row, stride_ * offsets.size()), memory_(row, stride_ * offsets.size()) {
        Random random(3);
        Bytes slot(stride_);
        for (uint8_t &byte : slot)
            byte = static_cast<uint8_t>(1 + random.below(255));
        for (unsigned d = 0; d < 16; d++) {
            before_.push_back(slot);
            if (in_place != nullptr)
                std::copy_n(in_place->begin(), bytes, before_[d].begin() + begin(d));
        }
        Bytes image;
        image.reserve(poison_.size());
        for (unsigned d : offsets)
            image.insert(image.end(), before_[d].begin(), before_[d].end());
        poison_.write(0, image.data(), image.size());
    }

    void reset() { memory_.copy(poison_, poison_.size()); }
    uint8_t *at(size_t k) const { return memory_.data() + k * stride_ + begin(offsets_[k]); }

    // Compares all slots; `at` gets the offsets of the first bad one.
    testing::AssertionResult check(Case at, const Bytes &product,
                                   const std::function<unsigned(size_t)> &src_offset) {
        std::vector<Bytes> expected = before_;
        for (unsigned d = 0; d < 16; d++)
            for (size_t i = 0; i < bytes_; i++) {
                uint8_t &byte = expected[d][begin(d) + i];
                byte = static_cast<uint8_t>(at.mode == GFK_XOR ? byte ^ product[i] : product[i]);
            }
        const uint8_t *got = memory_.view(0, memory_.size());
        for (size_t k = 0; k < offsets_.size(); k++) {
            at.src_offset = src_offset(k);
            at.dst_offset = offsets_[k];
            testing::AssertionResult result = same(at, expected[offsets_[k]].data(),
                                                   got + k * stride_, stride_, begin(offsets_[k]));
            if (!result)
                return result;
        }
        count_checked(offsets_.size());
        return testing::AssertionSuccess();
    }

  private:
    static size_t begin(unsigned d) { return GUARD + d; }

    size_t stride_, bytes_;
    std::vector<unsigned> offsets_;
    std::vector<Bytes> before_; // a slot of each offset
    Memory poison_, memory_;
};

class Region : public RowTest {
  protected:
    void SetUp() override {
        RowTest::SetUp();
        Random random;
        cs_ = constants(w(), random, options.reduced ? 4 : 8);
        if (options.reduced) // 0, 1, 2 and all ones: rather something random than 2
            cs_[2] = random.symbol(w());
    }

    std::vector<uint32_t> cs_;
};

TEST_P(Region, Sweep) {
    const std::vector<size_t> all = lengths(row());
    ASSERT_GE(all.size(), options.reduced ? 8u : 24u);
    Source source(row(), all.back(), cs_);
    Runner prepared(field(), row()), direct(field(), row());
    const bool costly = prepared.workspace_bytes() > BIG_WORKSPACE;
    for (size_t bytes : all) {
        const std::vector<Offsets> pairs = offset_pairs(bytes <= FULL && !options.reduced);
        std::vector<unsigned> dst_offsets;
        for (const Offsets &pair : pairs)
            dst_offsets.push_back(pair.dst);
        Slots slots(row(), bytes, dst_offsets, nullptr);
        for (size_t i = 0; i < cs_.size(); i++) {
            prepared.prepare(cs_[i]);
            for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
                slots.reset();
                for (size_t k = 0; k < pairs.size(); k++) {
                    const uint8_t *src = source.at(pairs[k].src);
                    if (costly ? k % 64 == 5 : (pairs[k].src + pairs[k].dst + i) % 2 == 0)
                        direct.run(cs_[i], src, slots.at(k), bytes, mode);
                    else
                        prepared.run_prepared(cs_[i], src, slots.at(k), bytes, mode);
                }
                ASSERT_TRUE(slots.check(Case{row(), cs_[i], 0, 0, bytes, mode}, source.product(i),
                                        [&](size_t k) { return pairs[k].src; }));
            }
        }
    }
    EXPECT_TRUE(source.unchanged()) << row()->id << " wrote to its source";
}

TEST_P(Region, InPlace) {
    const std::vector<size_t> all = lengths(row());
    Source source(row(), all.back(), cs_);
    Runner runner(field(), row());
    std::vector<unsigned> offsets;
    for (unsigned d = 0; d < 16; d++)
        offsets.push_back(d);
    for (size_t bytes : all) {
        Slots slots(row(), bytes, offsets, &source.content());
        for (size_t i = 0; i < cs_.size(); i++) {
            runner.prepare(cs_[i]);
            for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
                slots.reset();
                for (size_t k = 0; k < offsets.size(); k++)
                    runner.run_prepared(cs_[i], slots.at(k), slots.at(k), bytes, mode);
                ASSERT_TRUE(slots.check(Case{row(), cs_[i], 0, 0, bytes, mode, "in place"},
                                        source.product(i), [&](size_t k) { return offsets[k]; }));
            }
        }
    }
}

// Regions for narrow tiles, and regions longer than what all blocks of a device take in one step,
// so that each takes several.
TEST_P(Region, ManyTiles) {
    std::vector<size_t> sizes = {size_t(1) << 16};
    if (!on_host(row()) && !options.reduced)
        sizes = {size_t(1) << 20,
                 std::max(size_t(24) << 20, std::min(480 * row()->tile_bytes, size_t(96) << 20))};
    const uint32_t c = cs_.back();
    for (size_t bytes : sizes) {
        bytes += 5 * symbol_bytes();
        const Bytes in = Random(1).bytes(bytes), poison = Random(2).bytes(bytes + 2 * GUARD);
        Bytes product(bytes);
        Oracle o = make_oracle(w());
        oracle_multiply_region(o.get(), c, in.data(), product.data(), bytes);
        Memory src(row(), bytes + 16), dst(row(), poison.size());
        Runner runner(field(), row());
        for (const Offsets &pair : {Offsets{0, 0}, {5, 5}, {0, 8}, {3, 1}}) {
            src.write(pair.src, in.data(), bytes);
            for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
                dst.write(0, poison.data(), poison.size());
                const size_t before = GUARD + pair.dst;
                runner.run(c, src.data() + pair.src, dst.data() + before, bytes, mode);
                Bytes expected = poison;
                for (size_t i = 0; i < bytes; i++)
                    expected[before + i] = static_cast<uint8_t>(
                        mode == GFK_XOR ? expected[before + i] ^ product[i] : product[i]);
                ASSERT_TRUE(same(Case{row(), c, pair.src, pair.dst, bytes, mode}, expected.data(),
                                 dst.view(0, dst.size()), dst.size(), before));
                count_checked();
            }
        }
        for (size_t offset : {0, 1}) { // in place
            dst.write(0, poison.data(), poison.size());
            dst.write(GUARD + offset, in.data(), bytes);
            uint8_t *region = dst.data() + GUARD + offset;
            runner.run(c, region, region, bytes, GFK_SET);
            ASSERT_TRUE(same(Case{row(), c, offset, offset, bytes, GFK_SET}, product.data(),
                             dst.view(GUARD + offset, bytes), bytes, 0));
            count_checked();
        }
    }
}

// prepare fills the workspace and nothing beyond it; multiplications with it only read it.
TEST_P(Region, Workspace) {
    Runner runner(field(), row());
    const size_t bytes = runner.workspace_bytes(), length = 3 * 16 * symbol_bytes();
    const Bytes poison = Random(1).bytes(bytes + GUARD), in = Random(2).bytes(length);
    Memory workspace(row(), poison), src(row(), in), dst(row(), length);
    for (uint32_t c : cs_) {
        ASSERT_OK(gfk_region_prepare(runner.multiplier(), c, workspace.data(), bytes, nullptr));
        const Bytes prepared = workspace.read();
        EXPECT_TRUE(std::equal(prepared.begin() + bytes, prepared.end(), poison.begin() + bytes))
            << row()->id << " wrote beyond its workspace";
        for (int i = 0; i < 2; i++)
            ASSERT_OK(gfk_region_multiply_prepared(runner.multiplier(), c, src.data(), dst.data(),
                                                   length, GFK_SET, workspace.data(), bytes,
                                                   nullptr));
        EXPECT_EQ(prepared, workspace.read()) << row()->id << " wrote to a prepared workspace";
        EXPECT_TRUE(same(row(), c, product_of(field(), c, in), dst.read()));
        count_checked();
    }
}

// Rows whose parameters are free: every choice of them.
class RegionParameters : public Region {};

TEST_P(RegionParameters, All) {
    const unsigned lo = row()->arg_min, hi = row()->arg_max, step = options.reduced ? 3 : 1;
    const size_t z = symbol_bytes();
    for (unsigned gs = lo; gs <= hi; gs += step)
        for (unsigned gr = lo; gr <= hi; gr += step) {
            Runner runner(field(), row(), gs, gr);
            EXPECT_EQ(gs, info_of(runner.multiplier()).arg1);
            EXPECT_EQ(gr, info_of(runner.multiplier()).arg2);
            for (size_t bytes : {z, 16 - z, 128 + 3 * z, row()->tile_bytes + z})
                for (uint32_t c : cs_) {
                    const Bytes in = Random(gs * 16 + gr).bytes(bytes);
                    const Bytes acc = Random(c).bytes(bytes);
                    const Bytes expected = product_of(field(), c, in);
                    const std::string note = std::to_string(gs) + " " + std::to_string(gr);
                    ASSERT_TRUE(
                        same(row(), c, expected, runner.product(c, in), GFK_SET, note.c_str()));
                    ASSERT_TRUE(same(row(), c, xor_of(expected, acc),
                                     runner.product_xor(c, in, acc), GFK_XOR, note.c_str()));
                    count_checked(2);
                }
        }
}

PER_ROW(Region, rows());
PER_ROW(RegionParameters, rows_that([](Row row) { return row->arg_min != 0; }));

} // namespace
