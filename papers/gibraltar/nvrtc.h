// SPDX-License-Identifier: BSD-3-Clause
// Gibraltar's encoder: a kernel for each k and m, compiled by NVRTC when it is first used, and kept in
// memory.
#pragma once

#include "core/device.h"

std::string nvrtc_missing(); // why nothing can be compiled here, or ""

struct CompiledKernel {
    cudaLibrary_t library;
    cudaKernel_t kernel;
};
CompiledKernel compile_encoder(const Shape &shape);
const CompiledKernel &encoder_for(const Shape &shape); // from memory, or compiled
