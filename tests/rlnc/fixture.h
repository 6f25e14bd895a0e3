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
// A change that makes a call of `n` sources and evenly spaced regions one to be refused.
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
