// SPDX-License-Identifier: BSD-3-Clause
#include "nvrtc.h"

#include <cstdio>
#include <cstdlib>
#include <map>

#include <dlfcn.h>

namespace {

// K inputs and M outputs are known; coefficients are not. A thread takes 4 bytes of each input, looks up
// their logarithms once, and has the sums of all outputs in registers. Antilogarithms are there twice
// and are 0 from 509 on, and the logarithm of 0 is 510, so that there is no branch.
const char *const kSource = R"cuda(
struct Tables {
    unsigned short log[256];
    unsigned char antilog[1024];
};
struct Coefficients {
    unsigned short log[M * K];
};

extern "C" __global__ void __launch_bounds__(256)
encode(const unsigned *in, unsigned *out, unsigned long long stride, unsigned long long words,
       const unsigned *tables, const __grid_constant__ Coefficients coefficients) {
    __shared__ unsigned shared[sizeof(Tables) / 4];
    for (unsigned i = threadIdx.x; i < sizeof(Tables) / 4; i += 256)
        shared[i] = tables[i];
    __syncthreads();
    const Tables &t = *(const Tables *)shared;
    const unsigned long long at = blockIdx.x * 256ull + threadIdx.x;
    if (at >= words)
        return;
    unsigned sum[M] = {};
#pragma unroll
    for (int k = 0; k < K; k++) {
        const unsigned x = in[k * stride + at];
        unsigned log[4];
#pragma unroll
        for (int b = 0; b < 4; b++)
            log[b] = t.log[x >> (8 * b) & 255];
#pragma unroll
        for (int m = 0; m < M; m++) {
            const unsigned char *window = t.antilog + coefficients.log[m * K + k];
            sum[m] ^= window[log[0]] | window[log[1]] << 8 | window[log[2]] << 16 |
                      (unsigned)window[log[3]] << 24;
        }
    }
#pragma unroll
    for (int m = 0; m < M; m++)
        out[m * stride + at] = sum[m];
}
)cuda";

// NVRTC's functions; its header may be of another version than the library that is found.
struct Nvrtc {
    using Program = struct Opaque *;
    using Result = int; // 0 is success
    Result (*create)(Program *, const char *source, const char *name, int headers,
                     const char *const *texts, const char *const *names);
    Result (*compile)(Program, int count, const char *const *options);
    Result (*cubin_size)(Program, size_t *);
    Result (*cubin)(Program, char *);
    Result (*log_size)(Program, size_t *);
    Result (*log)(Program, char *);
    Result (*destroy)(Program *);
    std::string missing;
};

// From where the loader looks, else from the toolkit.
void *open_nvrtc() {
    const char *const home = std::getenv("CUDA_HOME");
    const std::string toolkit = std::string(home ? home : "/usr/local/cuda") + "/lib64/";
    for (const std::string &folder : {std::string(), toolkit})
        for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
            if (void *found = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL))
                return found;
    return nullptr;
}

const Nvrtc &nvrtc() {
    static const Nvrtc loaded = [] {
        Nvrtc n = {};
        void *library = open_nvrtc();
        if (library == nullptr) {
            n.missing = "libnvrtc was not found";
            return n;
        }
        const auto find = [&](auto *function, const char *name) {
            *(void **)function = dlsym(library, name);
            if (*function == nullptr)
                n.missing = std::string("libnvrtc has no ") + name;
        };
        find(&n.create, "nvrtcCreateProgram");
        find(&n.compile, "nvrtcCompileProgram");
        find(&n.cubin_size, "nvrtcGetCUBINSize");
        find(&n.cubin, "nvrtcGetCUBIN");
        find(&n.log_size, "nvrtcGetProgramLogSize");
        find(&n.log, "nvrtcGetProgramLog");
        find(&n.destroy, "nvrtcDestroyProgram");
        return n;
    }();
    return loaded;
}

// Of kSource with these options. Ends the program where it cannot be compiled.
std::vector<char> cubin_of(const std::vector<std::string> &options) {
    const Nvrtc &n = nvrtc();
    std::vector<const char *> words;
    for (const std::string &option : options)
        words.push_back(option.c_str());
    Nvrtc::Program program = nullptr;
    std::vector<char> text;
    size_t size = 0;
    const bool created = n.create(&program, kSource, "gibraltar.cu", 0, nullptr, nullptr) == 0;
    if (created && n.compile(program, (int)words.size(), words.data()) == 0 &&
        n.cubin_size(program, &size) == 0) {
        text.resize(size);
        if (n.cubin(program, text.data()) != 0)
            text.clear();
    }
    if (text.empty() && created && n.log_size(program, &size) == 0) {
        std::string log(size, 0);
        n.log(program, log.data());
        std::fprintf(stderr, "%s\n", log.c_str());
    }
    if (created)
        n.destroy(&program);
    gfk_check(text.empty() ? GFK_STATUS_INTERNAL : GFK_STATUS_SUCCESS, "NVRTC");
    return text;
}

} // namespace

std::string nvrtc_missing() {
    return nvrtc().missing;
}

CompiledKernel compile_encoder(const Shape &shape) {
    const cudaDeviceProp &device = gpu().properties;
    const std::vector<char> code = cubin_of(
        {"--gpu-architecture=sm_" + std::to_string(device.major) + std::to_string(device.minor),
         "-DK=" + std::to_string(shape.k), "-DM=" + std::to_string(shape.m)});
    CompiledKernel made;
    GPU_CHECK(
        cudaLibraryLoadData(&made.library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    GPU_CHECK(cudaLibraryGetKernel(&made.kernel, made.library, "encode"));
    return made;
}

const CompiledKernel &encoder_for(const Shape &shape) {
    static std::map<std::pair<size_t, size_t>, CompiledKernel> kept;
    const std::pair<size_t, size_t> key = {shape.k, shape.m};
    const auto found = kept.find(key);
    return found != kept.end() ? found->second
                               : kept.emplace(key, compile_encoder(shape)).first->second;
}
