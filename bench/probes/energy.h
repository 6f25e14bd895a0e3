// SPDX-License-Identifier: BSD-3-Clause
// Loops of one kind of operation, for the energy that it takes.
#pragma once

#include "core/device.h"

constexpr size_t kEnergyOperands = 64 * kKiB; // bytes of the operands of a loop in registers

struct EnergyProbe {
    const char *id, *unit; // of an operation: "product of bits", "instruction of a lane", "byte"
    size_t bytes;          // of operands
    unsigned rounds;       // of a launch: about a millisecond
    // Adds to *sum what is `rounds` times a number of the operands. Returns the operations; 0: not on
    // this device.
    double (*run)(const void *operands, unsigned rounds, uint32_t *sum, cudaStream_t stream);
};
const std::vector<EnergyProbe> &energy_probes();

// Warpgroup MMAs of 64 columns, as in the ring kernels: rows in registers, 32 counts of a lane.
double run_narrow_mmas(const void *operands, unsigned rounds, uint32_t *sum, cudaStream_t stream);
