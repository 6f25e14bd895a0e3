/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the blocks of a persistent launch near each other. Blocks that take their tiles in a fixed
 * order drift apart: some multiprocessors get more of the memory's rate than others. Then the bytes
 * that are on their way lie in more pages of the memory, which costs up to 5 % of its rate
 * (docs/engines/bmma.md).
 *
 * A counter in global memory counts the tiles that all blocks began. A block that is ahead of the mean
 * waits, but not for long. What a block computes does not depend on the counter: launches that run at
 * the same time may share it, and any value is right. */
#pragma once

#include <stdint.h>

namespace gfk {

class Pace {
    static constexpr unsigned most_reads = 8; /* of the counter, while a block waits: about 5 us */
    uint32_t *counter;
    uint32_t due;  /* what the counter shows when the mean block is one tile behind this one */
    uint32_t seen; /* of the counter */

    __device__ void read() {
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
    }

  public:
    /* One thread of each block has a Pace. */
    __device__ explicit Pace(uint32_t *of_launch) : counter(of_launch) {
        read();
        due = seen - gridDim.x;
    }
    /* Before each tile. The counter is read when the last tile begins, so its value is there when it is
     * needed. A block that waited in vain may lead by 64 tiles more: others of its launch may not have
     * started. */
    __device__ void next_tile() {
        for (unsigned reads = 0; (int32_t)(due - seen) > 0; reads++) {
            if (reads == most_reads) {
                due -= 64 * gridDim.x;
                break;
            }
            read();
        }
        asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" : : "l"(counter) : "memory");
        read();
        due += gridDim.x;
    }
};

} // namespace gfk
