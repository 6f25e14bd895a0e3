// SPDX-License-Identifier: BSD-3-Clause
// Warpgroup MMAs of 64 columns and nothing else. Compiled for 9.0a alone.
#include "energy.h"

#ifdef GFK_HAVE_WGMMA
#include "kernels/product/bmma/wgmma.cuh"

namespace {

constexpr unsigned kThreads = 512; // four warpgroups
constexpr int kOperands = 8;       // of each side; 2 KiB each of the columns'

__global__ void __launch_bounds__(kThreads, 1)
    mma_kernel(const uint4 *operands, unsigned rounds, uint32_t *sum) {
    __shared__ __align__(128) uint4 columns[kOperands * 128];
    for (unsigned i = threadIdx.x; i < kOperands * 128; i += kThreads)
        columns[i] = operands[i];
    uint32_t rows[kOperands][4], counts[32] = {};
    for (int i = 0; i < kOperands; i++) {
        const uint4 x = operands[(kOperands * blockIdx.x + i) % 8 * kThreads + threadIdx.x];
        rows[i][0] = x.x, rows[i][1] = x.y, rows[i][2] = x.z, rows[i][3] = x.w;
    }
    gfk::wgmma::publish();
    __syncthreads();
    const uint64_t shared = (__cvta_generic_to_shared(columns) & 0x3ffff) >> 4;
    const uint64_t layout = shared | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
    gfk::wgmma::expect(counts);
    for (unsigned round = 0; round < rounds; round++) {
        gfk::wgmma::arrive();
#pragma unroll
        for (int i = 0; i < kOperands; i++)
            gfk::wgmma::multiply_add(counts, rows[i][0], rows[i][1], rows[i][2], rows[i][3],
                                     layout + i * (2048 >> 4));
        gfk::wgmma::commit();
        gfk::wgmma::wait<0>();
        gfk::wgmma::expect(counts);
    }
    uint32_t mine = 0;
    for (uint32_t count : counts)
        mine += count;
    atomicAdd(sum, mine);
}

} // namespace

double run_narrow_mmas(const void *operands, unsigned rounds, uint32_t *sum, cudaStream_t stream) {
    const int blocks = gpu().properties.multiProcessorCount;
    if (gpu().properties.major != 9 || gpu().properties.minor != 0)
        return 0;
    mma_kernel<<<blocks, kThreads, 0, stream>>>((const uint4 *)operands, rounds, sum);
    GPU_CHECK(cudaGetLastError());
    return 64.0 * 64 * 256 * kOperands * rounds * (kThreads / 128) * blocks;
}

#else

double run_narrow_mmas(const void *, unsigned, uint32_t *, cudaStream_t) {
    return 0;
}

#endif
