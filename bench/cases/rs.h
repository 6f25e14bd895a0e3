// SPDX-License-Identifier: BSD-3-Clause
// Codes on the device: what each operation does in a row.
#pragma once

#include <memory>

#include "cases.h"

class DeviceWork;

enum class RsLost { Data, Parity, Mixed };

struct RsCase {
    enum Operation { Encode, Decode, Verify, Locate, Update, BatchEncode, BatchDecode } operation;
    Shape shape;
    bool compile;  // matrices may be compiled in
    size_t region; // bytes
    size_t lost = 0;
    RsLost which = RsLost::Data;
    size_t stripes = 1;
    std::string rate_of = {}; // the row whose GB/s this one's are compared with; "": none
    int replays = 9;

    std::string id() const;
    std::string name() const; // rs_<operation>_w<W>[_compile]/<k>+<m>/<region>[x<stripes>][/...]
    // Regions that a launch reads and writes, and of these, what GB/s are of.
    struct Regions {
        size_t reads, writes, data;
    };
    Regions regions() const;
};

std::unique_ptr<DeviceWork> make_rs_work(const Library &library, const RsCase &c);
