// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/device.h"

// Loops of one kind of operation, for the energy that it takes.
struct EnergyProbe {
    const char *id, *unit; // of an operation: "product of bits", "instruction of a lane", "byte"
    size_t bytes;          // of operands
    unsigned rounds;       // of a launch: about a millisecond
    LoopKernel *run;
    // What they are: random, ones, zeros; for MMAs of 64 columns also others (energy_rows.cpp).
    std::vector<std::string> operands;
};
const std::vector<EnergyProbe> &energy_probes();
