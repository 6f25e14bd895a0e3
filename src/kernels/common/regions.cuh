/* SPDX-License-Identifier: BSD-3-Clause */
/* The regions of a launch, as a part of a kernel's parameters. A launch copies its parameters, and
 * 16 KiB of them take microseconds, so each kernel has as many addresses as its largest launch
 * needs. */
#pragma once

#include "host/region/operands.h"

namespace gfk {

/* Writes the addresses of regions [first, first + count), less the phase
 * (kernels/product/extent.cuh). */
template <class Byte>
void list_regions(Byte **to, const gfk_regions *regions, size_t first, size_t count,
                  unsigned phase = 0) {
    for (size_t i = 0; i < count; i++)
        to[i] = gfk_region_address(regions, first + i) - phase;
}

/* Inputs and outputs with an address each. */
template <size_t Inputs, size_t Outputs>
struct ListedRegions {
    static constexpr size_t most_inputs = Inputs, most_outputs = Outputs;
    const uint8_t *in[Inputs];
    uint8_t *out[Outputs];
};

/* Equally spaced regions. */
struct SpacedRegions {
    uint8_t *base;
    size_t stride;

    __device__ uint8_t *at(size_t i) const { return base + i * stride; }
};

} // namespace gfk
