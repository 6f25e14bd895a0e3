// SPDX-License-Identifier: BSD-3-Clause
// A row of a code on the device.
#pragma once

#include "cases.h"

struct RsCase {
    enum Operation { Encode, Decode, Verify, Locate, Update, BatchEncode, BatchDecode } operation;
    Shape shape;
    size_t region; // bytes
    size_t lost = 0;
    enum Lost { Data, Parity, Mixed } which = Data;
    size_t stripes = 1;
    std::string rate_of = {}; // the row whose GB/s this one's are compared with; "": none
    int replays = 9;
    // Of 1 or t regions everywhere, or of 1 or t others at each position.
    enum Damaged { Clean, Region, Regions, Symbol, Symbols } damaged = Clean;
    enum { All, Few, None } ceiling = All; // the best of all variants, or of two

    bool is_batch() const { return operation >= BatchEncode; }
    std::string id() const;
    std::string name() const; // rs_<operation>_w<W>/<k>+<m>/<region>[x<stripes>][/...]
};

void rs_rows(const std::vector<RsCase> &cases, Rows *rows);
