// SPDX-License-Identifier: BSD-3-Clause
// What a row of the Reed-Solomon layer does: objects and buffers made ready, one launch, a check.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <gfk/gfk.h>

#include "product_buffers.h"

// Everything that a launch needs lives here. Only one is in use at a time.
class RsWork {
  public:
    virtual ~RsWork() = default;
    virtual gfk_status start() = 0; // makes the objects, and runs once
    virtual void launch(long j, cudaStream_t stream) const = 0;
    virtual std::string check() const = 0; // "" or what is wrong
    virtual long sets() const = 0;
    virtual void make_cold() const = 0;
    double create_us = 0; // of the object that the launch uses
    std::string chosen;   // the engine
};

struct RsCode {
    Shape shape;
    bool prepared; // matrices compiled in
};

enum class RsLost { Data, Parity, Mixed };

std::unique_ptr<RsWork> rs_encode(const RsCode &code, size_t region);
// e lost regions.
std::unique_ptr<RsWork> rs_decode(const RsCode &code, size_t region, size_t e, RsLost which);
std::unique_ptr<RsWork> rs_verify(const RsCode &code, size_t region);
std::unique_ptr<RsWork> rs_locate(const RsCode &code, size_t region);
std::unique_ptr<RsWork> rs_update(const RsCode &code, size_t region);
// Stripes of one length; e lost regions of each, drawn anew for every stripe; 0: encode.
std::unique_ptr<RsWork> rs_batch(const RsCode &code, size_t region, size_t stripes, size_t e);
