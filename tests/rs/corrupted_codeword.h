// SPDX-License-Identifier: BSD-3-Clause
// Codewords of a code in one buffer, to be damaged and located. On the host, or on the device.
#pragma once

#include <optional>

#include "codes.h"
#include "support/guarded_regions.h"

RsCode make_rs_code(bool host, const gfk_field &field, const RsShape &shape);

// The parameter: on the host? Skips the device where there is none.
class SideTest : public testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        if (!host() && device::count() == 0)
            SKIP_WITHOUT_GPU("there is no GPU");
    }
    bool host() const { return GetParam(); }
};
#define PER_SIDE(suite)                                                                            \
    INSTANTIATE_TEST_SUITE_P(Host, suite, testing::Values(true));                                  \
    INSTANTIATE_TEST_SUITE_P(Device, suite, testing::Values(false))

class CorruptedCodeword {
  public:
    // phases: every region begins anywhere; else they are equally spaced and given as such.
    CorruptedCodeword(bool host, gfk_rs_t code, size_t bytes, bool phases, Random &random);

    size_t symbols() const { return bytes() / (info_.field.w / 8); }
    // Adds a value, not 0, to a symbol. `e` different regions at one position for damage_some.
    void damage(size_t region, size_t symbol, uint32_t value);
    void damage_some(size_t symbol, size_t e, Random &random);
    gfk_status locate(gfk_rs_repair repair, gfk_stream_t stream = nullptr);
    void put();  // the damaged regions into the buffer, poison into the outputs
    void take(); // verdict, counts and buffer out of it

    // After locate: what was found is what was damaged, nowhere more than t symbols; and what the
    // buffer holds is what it held (REPORT) or what it held before the damage (REPAIR).
    testing::AssertionResult is_exact(gfk_rs_repair repair) const;
    testing::AssertionResult is_untouched() const { return same(damaged_, "the damage stays"); }
    // Whatever the damage was: the numbers fit each other and the number of damaged positions.
    testing::AssertionResult is_consistent() const;
    // After locate: verdict, counts and contents are those of calls for one position each, on the
    // host, where no guess from other positions can help or harm.
    testing::AssertionResult is_as_one_by_one(gfk_rs_repair repair);
    void adopt() { // goes on from what the buffer holds
        damaged_ = content_;
        one_by_one_.reset();
    }

    const gfk_rs_verdict &verdict() const { return verdict_; }
    const std::vector<uint64_t> &counts() const { return counts_; }
    const gfk_regions *data() const { return regions_.in(); }
    const gfk_regions *parity() const { return regions_.out(); }
    gfk_rs_verdict *verdict_memory() { return reinterpret_cast<gfk_rs_verdict *>(out_.data()); }
    uint64_t *counts_memory() {
        return reinterpret_cast<uint64_t *>(out_.data() + sizeof(gfk_rs_verdict));
    }
    Memory &workspace() { return *workspace_; }
    size_t bytes() const { return regions_.bytes(); }

  private:
    struct Found { // by calls that repair
        gfk_rs_verdict verdict;
        std::vector<uint64_t> counts;
        Bytes content;
    };
    Found find_one_by_one() const;
    std::string who() const;
    testing::AssertionResult same(const Bytes &expected, const char *what) const;

    gfk_rs_t code_;
    gfk_rs_info info_;
    GuardedRegions regions_;
    Memory out_;
    std::unique_ptr<Memory> workspace_;
    Bytes clean_, damaged_, content_; // with the room around the regions
    std::vector<uint64_t> planted_;   // damaged symbols of each region
    std::vector<size_t> errors_;      // damaged symbols of each position
    gfk_rs_verdict verdict_;
    std::vector<uint64_t> counts_;
    std::optional<Found> one_by_one_; // of this damage: once for REPORT and REPAIR
};
