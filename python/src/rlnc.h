// SPDX-License-Identifier: BSD-3-Clause
// The class RLNC, for those that take one as an argument, and what its decoders share with pipelines.
#pragma once
#include <gfk/rlnc.h>
#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "matrix.h"

namespace gfk {
namespace nb = nanobind;

// The code of an RLNC on the CPU, made when it is first asked for; it lives as long as the RLNC. Raises
// TypeError for other objects.
gfk_rlnc_t rlnc_at_cpu(nb::handle object);

// The headers of packets, and the shape that numpy gives the numbers of packets and of generations
// together. packets: None, where there are rows of vectors. generations: None, where all packets are of
// `generation`.
std::pair<std::vector<gfk_rlnc_header>, std::vector<size_t>>
rlnc_headers(nb::handle packets, nb::handle generations, uint64_t generation, const Elements *rows);

// Packets of one generation. Raises InvalidArgument or InvalidSize for numbers out of their ranges.
gfk_rlnc_range rlnc_range(Integer generation, Integer first, Integer count);

// Refuses received packets that no recoder takes.
void check_received(size_t received);

// The dict that stands for a record.
nb::dict rlnc_record(uint64_t generation, const gfk_rlnc_record &record);
// Raises Corrupt.
[[noreturn]] void raise_corrupt(uint64_t generation);

void bind_rlnc(nb::module_ &module);
} // namespace gfk
