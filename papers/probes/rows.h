// SPDX-License-Identifier: BSD-3-Clause
// The cases that the probes' rows are made of.
#pragma once

#include "cases/cases.h"
#include "probes/probes.h"

struct EncodeCase {
    std::string probe; // "matmul": gfk_matmul in its place
    Shape shape;
    size_t region;
    Cut cut = Cut::Naive;
    bool ones = false;     // all elements of the matrix are 255
    bool roofline = false; // percentages of plain XOR-only kernels
    bool hot = false;      // one set of buffers, for what computing bounds

    Layout layout() const { return {shape.k, shape.m, region, true, !hot}; }
    bool is_library() const { return probe == "matmul"; }
    std::string name() const; // probe/<id>/<k>+<m>/<region>/<cut>[/ones]
};
// coded: the row's rate is of outputs, not of inputs.
Row encode_row(const EncodeCase &c, bool coded, Rows *rows); // may append the row's ceiling

// The whole way from pinned memory and back, as so many streams on each device.
struct HostEncodeCase {
    std::string probe;
    Shape shape;
    size_t region;
    Cut cut;
    unsigned streams;
    size_t devices = 1;
};
Row host_encode_row(const HostEncodeCase &c);

void add_rate_rows(const Options &options, Rows *rows); // multiplications in registers
void add_managed_row(const Options &options, Rows *rows);
