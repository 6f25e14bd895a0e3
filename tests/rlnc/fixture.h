// SPDX-License-Identifier: BSD-3-Clause
// What the suites of network coding share: places, codes, and a second, plain implementation of
// coding vectors.
#pragma once

#include <functional>

#include "support/guarded_regions.h"
#include "support/places.h"

using Rlnc = Owned<struct gfk_rlnc, gfk_rlnc_destroy>;
using Decoder = Owned<struct gfk_rlnc_decoder, gfk_rlnc_decoder_destroy>;
using Headers = std::vector<gfk_rlnc_header>;
using Elements = std::vector<uint32_t>;

Rlnc make_rlnc(const gfk_field &field, size_t n, size_t bytes, const gfk_rlnc_desc &desc);
Decoder make_decoder(const Rlnc &code, uint64_t first, size_t generations, size_t spare);

// The coding vector of a packet.
Elements plain_vector(unsigned w, size_t n, const gfk_rlnc_desc &desc, uint64_t generation,
                      uint32_t packet);

// What a decoder must find: scalar elimination of the vectors of one generation, with `symbols` symbols of each
// payload behind its vector.
class Oracle {
  public:
    Oracle(const gfk_field &field, size_t n, size_t symbols, size_t spare)
        : field_(field), n_(n), symbols_(symbols), spare_(spare), rows_(n) {}
    uint8_t add(Elements row); // the outcome
    size_t rank() const { return rank_; }
    size_t kept() const { return kept_.size(); }
    size_t dropped() const { return dropped_; }
    size_t refused() const { return refused_; }
    bool determines(size_t source) const;
    Elements sources() const; // once all are determined
    gfk_status status() const;

  private:
    void subtract(Elements &row, const Elements &from, uint32_t factor) const;
    size_t reduce(Elements &row) const; // to the first column of a new row; n: the row depends

    gfk_field field_;
    size_t n_, symbols_, spare_;
    std::vector<Elements> rows_; // row c begins with a one in column c
    std::vector<Elements> kept_;
    size_t rank_ = 0, dropped_ = 0, refused_ = 0;
};

// What recoders are called with, and encoders, which do not read `received` and `vectors`.
struct RecodeCall {
    gfk_rlnc_t code;
    gfk_rlnc_range range;
    size_t received;
    uint8_t *vectors;
    size_t stride;
    gfk_regions in;
    uint8_t *made;
    size_t made_stride;
    gfk_regions out;
};
// A change that makes a call of `n` sources one to be refused; what all calls refuse is in tests/calls.
struct RefusedRecode {
    gfk_status status;
    std::function<void(RecodeCall &)> spoil;
    bool is_for_encoders = true; // too
};
std::vector<RefusedRecode> refused_recodes(size_t n);

// The numbers of the packets of a range, in the order of their indices.
Headers headers_of(const gfk_rlnc_range &range);

// Skips devices that cannot run matmuls.
class RlncTest : public PlaceTest {
  protected:
    gfk_rlnc_desc desc() const;
};
