// SPDX-License-Identifier: BSD-3-Clause
// Loops of instructions and of loads. Every round begins with the same operands, so the sum over
// rounds is a multiple of a round's.
#include "energy.h"

namespace {

constexpr unsigned kThreads = 512, kBlocks = 2; // of a multiprocessor
constexpr int kChains = 4, kSteps = 32; // of a round: instructions in flight, and of a chain

// x changes by an instruction with operands a and b, which are registers.
struct Any {
    static __device__ uint32_t operand(uint32_t random) { return random; }
};
struct AndXor : Any { // LOP3: x ^ (a & b)
    static __device__ void step(uint32_t &x, uint32_t a, uint32_t b) {
        asm volatile("lop3.b32 %0, %0, %1, %2, 0x78;" : "+r"(x) : "r"(a), "r"(b));
    }
};
struct AndXorImmediate : Any { // the same with one register less to read, as many ones in its place
    static __device__ void step(uint32_t &x, uint32_t a, uint32_t) {
        asm volatile("lop3.b32 %0, %0, %1, 0x5c3a96e1, 0x78;" : "+r"(x) : "r"(a));
    }
};
struct Permute : Any { // PRMT
    static __device__ void step(uint32_t &x, uint32_t a, uint32_t b) {
        asm volatile("prmt.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b & 0x7777));
    }
};
struct Mad : Any { // IMAD
    static __device__ void step(uint32_t &x, uint32_t a, uint32_t b) {
        asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
    }
};
struct Pack { // I2IP, of counts that fit a byte
    static __device__ uint32_t operand(uint32_t random) { return random & 255; }
    static __device__ void step(uint32_t &x, uint32_t a, uint32_t b) {
        asm volatile("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %0;" : "+r"(x) : "r"(a), "r"(b));
    }
};
// FFMA, of numbers from 1/2 to 1, or -1/2 to -1, so that x neither overflows nor vanishes
struct Fma {
    static __device__ uint32_t operand(uint32_t random) {
        return random == 0 ? 0 : (random & 0x807fffff) | 0x3f000000;
    }
    static __device__ void step(uint32_t &x, uint32_t a, uint32_t b) {
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
    }
};

// zero: is 0, but to the compiler every round differs.
template <class Instruction>
__global__ void __launch_bounds__(kThreads, kBlocks)
    instructions(const uint32_t *operands, unsigned rounds, uint32_t zero, uint32_t *sum) {
    constexpr unsigned words = kLoopOperands / 4;
    uint32_t a[kChains], b[kChains], mine = 0;
    for (int i = 0; i < kChains; i++) {
        a[i] = Instruction::operand(
            operands[(2 * i * kThreads + 7 * blockIdx.x + threadIdx.x) % words]);
        b[i] = Instruction::operand(
            operands[((2 * i + 1) * kThreads + 7 * blockIdx.x + threadIdx.x) % words]);
    }
    for (unsigned round = 0; round < rounds; round++) {
        uint32_t x[kChains];
#pragma unroll
        for (int i = 0; i < kChains; i++)
            x[i] = b[i] + zero * round;
#pragma unroll
        for (int step = 0; step < kSteps; step++)
#pragma unroll
            for (int i = 0; i < kChains; i++)
                Instruction::step(x[i], a[(i + step) % kChains], b[(i + step / kChains) % kChains]);
#pragma unroll
        for (int i = 0; i < kChains; i++)
            mine += x[i];
    }
    atomicAdd(sum, mine);
}

unsigned blocks() {
    return kBlocks * (unsigned)gpu().properties.multiProcessorCount;
}

template <class Instruction>
double run_instructions(const void *operands, unsigned rounds, uint32_t *sum, cudaStream_t stream) {
    instructions<Instruction>
        <<<blocks(), kThreads, 0, stream>>>((const uint32_t *)operands, rounds, 0, sum);
    GPU_CHECK(cudaGetLastError());
    return (double)blocks() * kThreads * kChains * kSteps * rounds;
}

__device__ uint32_t added(const uint4 &v) {
    return (v.x + v.y) + (v.z + v.w);
}

// Vectors of 16 bytes without conflicts of banks.
constexpr unsigned kSharedVectors = 2048;
__global__ void __launch_bounds__(kThreads, kBlocks)
    shared_loads(const uint4 *operands, unsigned rounds, uint32_t zero, uint32_t *sum) {
    __shared__ uint4 vectors[kSharedVectors];
    for (unsigned i = threadIdx.x; i < kSharedVectors; i += kThreads)
        vectors[i] = operands[i];
    __syncthreads();
    uint32_t mine = 0;
    for (unsigned round = 0; round < rounds; round++)
#pragma unroll
        for (unsigned i = 0; i < kSharedVectors / kThreads; i++)
            mine += added(vectors[threadIdx.x + i * kThreads + zero * round]);
    atomicAdd(sum, mine);
}
double run_shared_loads(const void *operands, unsigned rounds, uint32_t *sum, cudaStream_t stream) {
    shared_loads<<<blocks(), kThreads, 0, stream>>>((const uint4 *)operands, rounds, 0, sum);
    GPU_CHECK(cudaGetLastError());
    return 16.0 * kSharedVectors * rounds * blocks();
}

// Loads that pass the L1 cache, of all bytes of the operands.
__global__ void __launch_bounds__(kThreads, kBlocks)
    global_loads(const uint4 *operands, size_t vectors, unsigned rounds, uint32_t *sum) {
    constexpr unsigned flight = 8;
    const size_t step = (size_t)gridDim.x * kThreads;
    uint32_t mine = 0;
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = (size_t)blockIdx.x * kThreads + threadIdx.x; i < vectors;
             i += flight * step) {
            uint4 v[flight];
#pragma unroll
            for (unsigned j = 0; j < flight; j++)
                v[j] = i + j * step < vectors ? __ldcg(operands + i + j * step) : uint4{};
#pragma unroll
            for (unsigned j = 0; j < flight; j++)
                mine += added(v[j]);
        }
    atomicAdd(sum, mine);
}
template <size_t BYTES>
double run_global_loads(const void *operands, unsigned rounds, uint32_t *sum, cudaStream_t stream) {
    global_loads<<<blocks(), kThreads, 0, stream>>>((const uint4 *)operands, BYTES / 16, rounds,
                                                    sum);
    GPU_CHECK(cudaGetLastError());
    return (double)BYTES * rounds;
}

__global__ void sleep(unsigned rounds, uint32_t *sum) {
    for (unsigned round = 0; round < rounds; round++)
        __nanosleep(1000);
    atomicAdd(sum, rounds);
}
double run_sleep(const void *, unsigned rounds, uint32_t *sum, cudaStream_t stream) {
    sleep<<<blocks(), 32, 0, stream>>>(rounds, sum);
    GPU_CHECK(cudaGetLastError());
    return rounds;
}

} // namespace

const std::vector<EnergyProbe> &energy_probes() {
    static const char *const bits = "product of bits", *const lane = "instruction of a lane",
                             *const byte = "byte";
    static const std::vector<std::string> one = {"random"}, two = {"random", "zeros"},
                                          three = {"random", "ones", "zeros"},
                                          all = {"random",      "same",      "half",
                                                 "quarter",     "diagonal",  "ring_12x4",
                                                 "zero_matrix", "zero_data", "ones",
                                                 "zeros"};
    constexpr size_t near = kLoopOperands, cached = 16 * kMiB, far = 4 * kGiB;
    static const std::vector<EnergyProbe> probes = {
        {"sleep", "round", near, 1000, run_sleep, one},
        {"mma_256_columns", bits, near, 1024, run_bit_mmas, three},
        {"mma_64_columns", bits, near, 2048, run_narrow_mmas, all},
        {"lop3", lane, near, 1024, run_instructions<AndXor>, two},
        {"lop3_immediate", lane, near, 1024, run_instructions<AndXorImmediate>, two},
        {"prmt", lane, near, 1024, run_instructions<Permute>, two},
        {"imad", lane, near, 1024, run_instructions<Mad>, two},
        {"i2ip", lane, near, 1024, run_instructions<Pack>, two},
        {"ffma", lane, near, 1024, run_instructions<Fma>, two},
        {"load_shared", byte, near, 2048, run_shared_loads, two},
        {"load_l2", byte, cached, 256, run_global_loads<cached>, two},
        {"load_dram", byte, far, 1, run_global_loads<far>, two},
    };
    return probes;
}
