// SPDX-License-Identifier: BSD-3-Clause
// What binary tensor cores give at most: warpgroup MMAs and nothing else. Compiled for 9.0a alone.
#include "device.h"

#ifdef GFK_HAVE_WGMMA
#include "kernels/product/bmma/wgmma.cuh"

namespace {

constexpr unsigned kThreads = 256; // two warpgroups, each with 128 counts a lane
constexpr int kOperands = 8;       // of each side; 8 KiB each of the columns'

__global__ void __launch_bounds__(kThreads, 1)
    mma_kernel(const uint4 *random, unsigned rounds, uint32_t *sum) {
    extern __shared__ __align__(128) uint4 columns[];
    for (unsigned i = threadIdx.x; i < kOperands * 512; i += kThreads)
        columns[i] = random[i];
    uint32_t rows[kOperands][4], counts[128] = {};
    for (int i = 0; i < kOperands; i++) {
        const uint4 x = random[(kOperands * blockIdx.x + i) % 16 * 256 + threadIdx.x];
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
                                     layout + i * (8192 >> 4), 1);
        gfk::wgmma::commit();
        gfk::wgmma::wait<0>();
        gfk::wgmma::expect(counts);
    }
    uint32_t mine = 0;
    for (int i = 0; i < 128; i++)
        mine += counts[i];
    atomicAdd(sum, mine);
}

} // namespace

double run_bit_mmas(const void *random, unsigned rounds, uint32_t *sum, cudaStream_t stream) {
    constexpr int shared = kOperands * 8192;
    const int blocks = gpu().properties.multiProcessorCount;
    if (gpu().properties.major != 9 || gpu().properties.minor != 0)
        return 0;
    GPU_CHECK(
        cudaFuncSetAttribute(mma_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    mma_kernel<<<blocks, kThreads, shared, stream>>>((const uint4 *)random, rounds, sum);
    GPU_CHECK(cudaGetLastError());
    return 64.0 * 256 * 256 * kOperands * rounds * (kThreads / 128) * blocks;
}

#else

double run_bit_mmas(const void *, unsigned, uint32_t *, cudaStream_t) {
    return 0;
}

#endif
