/* SPDX-License-Identifier: BSD-3-Clause */
/* Coding vectors on a device. host/rlnc/vectors.h has the functions that host and device share. */
#include "host/rlnc/vectors.h"
#include "kernels/common/launch.cuh"
#include "kernels/common/vector_io.cuh"

namespace gfk {
namespace rlnc {
namespace {

constexpr unsigned threads = 256;

/* 2^shift neighbouring threads write a vector, 16 bytes at a time. */
template <int W>
__global__
__launch_bounds__(threads) void write_philox(const __grid_constant__ gfk_rlnc_vectors_job job,
                                             unsigned shift) {
    gfk_rlnc_rule rule = job.rule;
    rule.w = W; /* which the compiler then knows */
    const size_t i = (size_t)blockIdx.x * (threads >> shift) + (threadIdx.x >> shift);
    if (i >= job.count)
        return;
    const gfk_rlnc_header header = gfk_rlnc_packet_at(&job, i);
    uint8_t *const vector = job.vectors + i * job.pitch;
    const uint32_t blocks = gfk_rlnc_blocks(&rule), length = rule.n * (W / 8);
    for (uint32_t block = threadIdx.x & ((1u << shift) - 1); block < blocks; block += 1u << shift) {
        uint32_t words[4];
        gfk_rlnc_philox(&rule, header.generation, header.packet, block, words);
        uint8_t *const to = vector + 16 * (size_t)block;
        const uint32_t left = length - 16 * block;
        if (left >= 16 && (uintptr_t)to % 16 == 0)
            store_vector<true>(to, words);
        else
            for (unsigned n = 0; n < 4 && 4 * n < left; n++)
                if (left >= 4 * n + 4 && (uintptr_t)to % 4 == 0)
                    ((uint32_t *)to)[n] = words[n];
                else
                    store_bytes(to + 4 * n, left - 4 * n < 4 ? left - 4 * n : 4, words[n]);
    }
}

/* A thread writes a vector. */
__global__ void write_rfc8681(const __grid_constant__ gfk_rlnc_vectors_job job) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < job.count)
        gfk_rlnc_rfc8681(&job.rule, gfk_rlnc_packet_at(&job, i).packet,
                         job.vectors + i * job.pitch);
}

} // namespace
} // namespace rlnc
} // namespace gfk

extern "C" gfk_status gfk_rlnc_vectors_run(const gfk_rlnc_vectors_job *job, gfk_stream_t stream) {
    using namespace gfk;
    using namespace gfk::rlnc;
    if (job->rule.kind == GFK_RLNC_RFC8681)
        return launch(write_rfc8681, gfk_divide_up(job->count, 32), 32, 0, stream, *job);
    unsigned shift = 0;
    while (1u << shift < gfk_rlnc_blocks(&job->rule) && 1u << shift < threads)
        shift++;
    const auto kernel = job->rule.w == 8    ? write_philox<8>
                        : job->rule.w == 16 ? write_philox<16>
                                            : write_philox<32>;
    const uint64_t vectors = threads >> shift;
    return launch(kernel, gfk_divide_up(job->count, vectors), threads, 0, stream, *job, shift);
}
