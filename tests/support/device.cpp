// SPDX-License-Identifier: BSD-3-Clause
// device.h with the CUDA runtime, or without.
#include "device.h"

#include <stdexcept>
#include <string>

#ifdef GFK_TEST_CUDA
#include <cuda.h>
#include <cuda_runtime_api.h>

namespace {

void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    (void)cudaGetLastError();
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}
#define CHECK(call) check(call, #call)

int attribute(cudaDeviceAttr which, int number) {
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, which, number));
    return value;
}

// A function of the driver, which these tests are not linked to.
template <class F>
F *driver_function(const char *name, unsigned version, F *) {
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
    CHECK(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result));
    if (found == nullptr)
        throw std::runtime_error(std::string("the driver has no ") + name);
    return reinterpret_cast<F *>(found);
}
#define DRIVER(function, version) driver_function(#function, version, &(function))

std::vector<std::string> kernels_of(cudaGraph_t graph) {
    size_t count = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
    std::vector<std::string> names;
    for (cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type;
        CHECK(cudaGraphNodeGetType(node, &type));
        if (type != cudaGraphNodeTypeKernel)
            continue;
        CUDA_KERNEL_NODE_PARAMS params = {};
        const char *name = nullptr;
        if (DRIVER(cuGraphKernelNodeGetParams, 12000)(node, &params) != CUDA_SUCCESS ||
            (params.func != nullptr
                 ? DRIVER(cuFuncGetName, 12030)(&name, params.func)
                 : DRIVER(cuKernelGetName, 12030)(&name, params.kern)) != CUDA_SUCCESS)
            throw std::runtime_error("a kernel of a graph has no name");
        names.emplace_back(name);
    }
    return names;
}

} // namespace

int device::count() {
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return n;
}

int device::compute_capability(int number) {
    return 10 * attribute(cudaDevAttrComputeCapabilityMajor, number) +
           attribute(cudaDevAttrComputeCapabilityMinor, number);
}

int device::current() {
    int number = 0;
    CHECK(cudaGetDevice(&number));
    return number;
}

void device::select(int number) {
    CHECK(cudaSetDevice(number));
}

size_t device::free_bytes() {
    size_t free = 0, total = 0;
    CHECK(cudaMemGetInfo(&free, &total));
    return free;
}

void *device::allocate(size_t bytes) {
    void *memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return nullptr;
    }
    check(error, "cudaMalloc");
    return memory;
}

void device::release(void *memory) {
    CHECK(cudaFree(memory));
}

void *device::allocate_pinned(size_t bytes) {
    void *memory = nullptr;
    CHECK(cudaMallocHost(&memory, bytes));
    return memory;
}

void device::release_pinned(void *memory) {
    CHECK(cudaFreeHost(memory));
}

void device::upload(void *to, const void *from, size_t bytes, bool wait) {
    CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    if (wait) // pageable memory may still be on its way
        CHECK(cudaStreamSynchronize(nullptr));
}

void device::download(void *to, const void *from, size_t bytes) {
    CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

void device::copy(void *to, const void *from, size_t bytes, gfk_stream_t stream) {
    CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
}

void device::fill(void *memory, int value, size_t bytes, gfk_stream_t stream) {
    CHECK(cudaMemsetAsync(memory, value, bytes, stream));
}

gfk_stream_t device::create_stream() {
    cudaStream_t stream = nullptr;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

void device::destroy_stream(gfk_stream_t stream) {
    CHECK(cudaStreamDestroy(stream));
}

void device::synchronize(gfk_stream_t stream) {
    CHECK(cudaStreamSynchronize(stream));
}

void device::order(gfk_stream_t first, gfk_stream_t then) {
    cudaEvent_t event = nullptr;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaEventRecord(event, first));
    CHECK(cudaStreamWaitEvent(then, event, 0));
    CHECK(cudaEventDestroy(event)); // released once it has happened
}

bool device::error_pending() {
    const bool pending = cudaGetLastError() != cudaSuccess;
    return pending && count() > 0; // without a driver every call reports an error
}

device::Graph::Graph(gfk_stream_t stream) : stream_(stream) {
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

device::Graph::~Graph() {
    if (executable_ != nullptr)
        (void)cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(executable_));
}

void device::Graph::end() {
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream_, &graph));
    cudaGraphExec_t executable = nullptr;
    kernels_ = kernels_of(graph);
    const cudaError_t error = cudaGraphInstantiateWithFlags(&executable, graph, 0);
    (void)cudaGraphDestroy(graph);
    check(error, "cudaGraphInstantiate");
    executable_ = executable;
}

void device::Graph::launch(gfk_stream_t stream) {
    CHECK(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_), stream));
}

#else

namespace {

[[noreturn]] void absent() {
    throw std::runtime_error("this build of the tests has no CUDA");
}
#define ABSENT(function)                                                                           \
    function {                                                                                     \
        absent();                                                                                  \
    }

} // namespace

int device::count() {
    return 0;
}
bool device::error_pending() {
    return false;
}
ABSENT(int device::compute_capability(int))
ABSENT(int device::current())
ABSENT(void device::select(int))
ABSENT(size_t device::free_bytes())
ABSENT(void *device::allocate(size_t))
ABSENT(void device::release(void *))
ABSENT(void *device::allocate_pinned(size_t))
ABSENT(void device::release_pinned(void *))
ABSENT(void device::upload(void *, const void *, size_t, bool))
ABSENT(void device::download(void *, const void *, size_t))
ABSENT(void device::copy(void *, const void *, size_t, gfk_stream_t))
ABSENT(void device::fill(void *, int, size_t, gfk_stream_t))
ABSENT(gfk_stream_t device::create_stream())
ABSENT(void device::destroy_stream(gfk_stream_t))
ABSENT(void device::synchronize(gfk_stream_t))
ABSENT(void device::order(gfk_stream_t, gfk_stream_t))
ABSENT(device::Graph::Graph(gfk_stream_t stream) : stream_(stream))
device::Graph::~Graph() {
    (void)executable_, (void)stream_;
}
ABSENT(void device::Graph::end())
ABSENT(void device::Graph::launch(gfk_stream_t))
ABSENT(void device::fill_random(void *, size_t, uint64_t))
ABSENT(size_t device::first_difference(const void *, const void *, size_t))
ABSENT(void device::combine(unsigned, uint64_t, const uint32_t *, size_t, const void *, size_t,
                            size_t, void *))
ABSENT(void device::expand_products(const void *, void *, unsigned))

#endif
