// SPDX-License-Identifier: BSD-3-Clause
// What bounds calls on host memory: the bus, plain copies, the kernel.
#pragma once

#include <vector>

#include "core/work.h"

// Regions of one call.
struct Mix {
    std::vector<unsigned char *> in, out;
    size_t bytes; // of each
};

int bus_devices();
// Seconds to send all inputs to the devices and to fetch as many bytes as the outputs have, all at
// once, in copies as long as the pipeline's. The regions are pinned. The outputs are overwritten.
double transfer_seconds(const Mix &mix, int devices);
// The same by cudaMemcpy, one after the other, from and to pageable memory.
double plain_copy_seconds(const Mix &mix);
// Bytes of inputs per second that AUTO's engine multiplies in the device's memory.
double kernel_rate(const Shape &shape);
