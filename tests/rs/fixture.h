// SPDX-License-Identifier: BSD-3-Clause
// Codes on the host and on a device, and their regions, to be lost and rebuilt.
#pragma once

#include <ostream>

#include "corrupted_codeword.h"

// Where a code works: host_w8, isal_w8, gpu_w8, ... In the fault tests' library also with each
// engine that is wrong on purpose, by its id.
struct RsPlace {
    const char *side;
    unsigned w;
    const char *engine; // nullptr: the library's choice
    bool host() const { return side[0] != 'g'; }
};
std::vector<RsPlace> rs_places();
void PrintTo(const RsPlace &place, std::ostream *out);

#define PER_PLACE(suite)                                                                           \
    GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite);                                          \
    INSTANTIATE_TEST_SUITE_P(Places, suite, testing::ValuesIn(rs_places()),                        \
                             testing::PrintToStringParamName())

using Decoder = Owned<struct gfk_rs_decoder, gfk_rs_decoder_destroy>;
using Updater = Owned<struct gfk_rs_updater, gfk_rs_updater_destroy>;

// All wanted if `wanted` is null.
Decoder make_decoder(gfk_rs_t code, const Indices &lost, const Indices *wanted = nullptr);
Updater make_updater(gfk_rs_t code, size_t index);

struct Shape {
    size_t k, m;
};

// One word that gfk_rs_verify sets.
class Word {
  public:
    explicit Word(bool host) : memory_(host, 16) {}
    uint32_t *address() { return reinterpret_cast<uint32_t *>(memory_.data()); }
    void poison(bool wait = true); // `wait`: Memory::write
    uint32_t read();

  private:
    static constexpr uint32_t POISON = 0xdeadbeef;
    Memory memory_;
};

// The regions of a code in one buffer, with random bytes around them. Parity is computed here, by
// the definition.
class Stripe {
  public:
    Stripe(bool host, gfk_rs_t code, size_t bytes, Layout::Kind layout, Random &random);

    size_t bytes() const { return regions_.bytes(); }
    const gfk_regions *data() const { return regions_.in(); }
    const gfk_regions *parity() const { return regions_.out(); }
    uint8_t *at(size_t region) const { return regions_.at(region); }
    Bytes content(size_t region) const; // as it should be

    void refill(Random &random); // new data, its parity, new bytes around
    // Replaces a part of a data region, and what parity should be with it. The memory stays.
    void change(size_t region, size_t offset, const Bytes &to);
    void write();                   // all as it should be
    void lose(const Indices &lost); // the same, but these regions hold other bytes everywhere
    // Flips bits of memory that is as write() left it, in order on the default stream.
    void flip(size_t region, size_t offset, uint8_t bits);
    // The memory is as after lose(lost), but these regions are as they should be.
    testing::AssertionResult is_rebuilt(const Indices &wanted);
    testing::AssertionResult is_whole();

    // The calls on all of the regions. What verify says: do they differ?
    gfk_status encode(gfk_stream_t stream = nullptr);
    gfk_status decode(const Indices &lost, gfk_stream_t stream = nullptr);
    gfk_status run(const Decoder &decoder, gfk_stream_t stream = nullptr);
    uint32_t verify(gfk_stream_t stream = nullptr);

    // Pointers to these regions only, the others are NULL.
    struct Some {
        std::vector<void *> pointers;
        gfk_regions data, parity;
    };
    std::unique_ptr<Some> only(const std::vector<Indices> &lists) const;

  private:
    void encode(size_t region, size_t offset, const Bytes &delta);
    testing::AssertionResult is(const Bytes &expected);

    gfk_rs_t code_;
    gfk_rs_info info_;
    std::vector<uint32_t> matrix_;
    GuardedRegions regions_;
    Bytes whole_, damaged_;
    Word differs_;
};

// Skips places that this machine does not have.
class RsTest : public testing::TestWithParam<RsPlace> {
  protected:
    void SetUp() override;
    virtual void set_up() {} // what SetUp does where the test can run
    bool host() const { return GetParam().host(); }
    unsigned w() const { return GetParam().w; }
    size_t symbol_bytes() const { return w() / 8; }
    gfk_product_desc product_desc() const;
    RsCode make_code(const RsShape &shape, uint64_t polynomial = 0) const {
        return make_rs_code(product_desc(), make_field(w(), polynomial), shape);
    }
};
