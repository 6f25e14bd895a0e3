// SPDX-License-Identifier: BSD-3-Clause
// What binary tensor cores give at most: warpgroup MMAs and nothing else. Compiled for 9.0a alone.
#include "device.h"

#ifdef GFK_HAVE_WGMMA
#include "kernels/product/bmma/wgmma.cuh"

namespace {

constexpr int kOperands = 8; // of each side; 32 bytes for each column
constexpr int COLUMNS = 256; // half as many counts in a lane
constexpr unsigned THREADS = 256;

__global__ void __launch_bounds__(THREADS, 1)
    mma_kernel(const uint4 *operands, unsigned rounds, uint32_t *sum) {
    extern __shared__ __align__(128) uint4 columns[];
    for (unsigned i = threadIdx.x; i < kOperands * 2 * COLUMNS; i += THREADS)
        columns[i] = operands[kMmaOperands / 32 + i];
    uint32_t rows[kOperands][4], counts[COLUMNS / 2] = {};
    for (int i = 0; i < kOperands; i++) {
        const uint4 x =
            operands[(kOperands * blockIdx.x + i) % (4096 / THREADS) * THREADS + threadIdx.x];
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
                                     layout + i * (32 * COLUMNS >> 4), 1);
        gfk::wgmma::commit();
        gfk::wgmma::wait<0>();
        gfk::wgmma::expect(counts);
    }
    uint32_t mine = 0;
    for (int i = 0; i < COLUMNS / 2; i++)
        mine += counts[i];
    atomicAdd(sum, mine);
}

} // namespace

double run_bit_mmas(const void *operands, unsigned rounds, uint32_t *sum, cudaStream_t stream) {
    constexpr int shared = kOperands * 32 * COLUMNS;
    const int blocks = gpu().properties.multiProcessorCount;
    if (gpu().properties.major != 9 || gpu().properties.minor != 0)
        return 0;
    GPU_CHECK(
        cudaFuncSetAttribute(mma_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    mma_kernel<<<blocks, THREADS, shared, stream>>>((const uint4 *)operands, rounds, sum);
    GPU_CHECK(cudaGetLastError());
    return 64.0 * COLUMNS * 256 * kOperands * rounds * (THREADS / 128) * blocks;
}
#else
double run_bit_mmas(const void *, unsigned, uint32_t *, cudaStream_t) {
    return 0;
}
#endif
