/* SPDX-License-Identifier: BSD-3-Clause */
/* LOG, ablation: the published placement "two tables in shared memory, initialized serially at run
 * time", one byte per thread. The first thread of every block computes both tables from the
 * polynomial, power after power of the generator, while the other 255 wait. */
#include "kernels/region/walk_symbols.cuh"
#include "log_extended.cuh"

namespace {

struct LogSerial {
    static constexpr int w = 8, threads = 256;
    using Shared = gfk::LogExtended;
    uint32_t c, generator, polynomial; /* the polynomial with its leading term */

    /* power * generator; one doubling where the generator is 2. */
    __device__ uint32_t next(uint32_t power) const {
        uint32_t product = 0;
        for (uint32_t bits = generator; bits != 0; bits >>= 1) {
            if (bits & 1)
                product ^= power;
            power <<= 1;
            if (power >> 8)
                power ^= polynomial;
        }
        return product;
    }

    __device__ void fill(Shared &t) const {
        if (threadIdx.x != 0)
            return;
        uint32_t power = 1;
        for (int i = 0; i < 255; i++) {
            t.log[power] = (uint16_t)i;
            t.antilog[i] = t.antilog[i + 255] = (uint8_t)power;
            power = next(power);
        }
        t.log[0] = 510;
        for (int i = 509; i < 1024; i++)
            t.antilog[i] = 0;
    }
    __device__ uint32_t operator()(const Shared &t, uint32_t x) const { return t.product(x, c); }
};

} // namespace

extern "C" gfk_status gfk_log_w8_opt_serial(const gfk_call *call) {
    const gfk_field *field = &call->multiplier->info.field;
    return gfk::launch_shared(call,
                              LogSerial{call->c, field->generator, (uint32_t)field->polynomial});
}
