/* SPDX-License-Identifier: BSD-3-Clause */
/* Region calls in a CUDA graph: captured once, replayed many times at the cost of one launch. The
 * graph computes the parity 2 * a + 3 * b of two regions whose contents change between replays. */
#include "gpu.h"

enum { BYTES = 1 << 16, REPLAYS = 10 };

int main(void) {
    gfk_multiplier_t multiplier = gpu_multiplier(8);
    gfk_multiplier_info info;
    check(gfk_multiplier_get_info(multiplier, &info));

    unsigned char *a, *b, *parity, *host = malloc(BYTES);
    void *workspace[2] = {NULL, NULL}; /* one for each constant of the graph */
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    if (host == NULL)
        return 1;
    check_cuda(cudaStreamCreate(&stream));
    check_cuda(cudaMalloc((void **)&a, BYTES));
    check_cuda(cudaMalloc((void **)&b, BYTES));
    check_cuda(cudaMalloc((void **)&parity, BYTES));
    for (int i = 0; i < 2 && info.workspace_bytes != 0; i++)
        check_cuda(cudaMalloc(&workspace[i], info.workspace_bytes));

    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check(gfk_region_multiply(multiplier, 2, a, parity, BYTES, GFK_SET, workspace[0],
                              info.workspace_bytes, stream));
    check(gfk_region_multiply(multiplier, 3, b, parity, BYTES, GFK_XOR, workspace[1],
                              info.workspace_bytes, stream));
    check_cuda(cudaStreamEndCapture(stream, &graph));
    check_cuda(cudaGraphInstantiate(&replay, graph, 0));

    int wrong = 0;
    for (int round = 0; round < REPLAYS; round++) {
        uint32_t of_a, of_b;
        check_cuda(cudaMemsetAsync(a, 17 * round, BYTES, stream));
        check_cuda(cudaMemsetAsync(b, 23 * round, BYTES, stream));
        check_cuda(cudaGraphLaunch(replay, stream));
        check_cuda(cudaMemcpyAsync(host, parity, BYTES, cudaMemcpyDeviceToHost, stream));
        check_cuda(cudaStreamSynchronize(stream));
        check(gfk_field_multiply(&info.field, 2, (unsigned char)(17 * round), &of_a));
        check(gfk_field_multiply(&info.field, 3, (unsigned char)(23 * round), &of_b));
        for (int i = 0; i < BYTES; i++)
            wrong += host[i] != (of_a ^ of_b);
    }
    printf("%d replays of %s, %d wrong bytes\n", REPLAYS, info.kernel->id, wrong);

    check_cuda(cudaGraphExecDestroy(replay)); /* before the multiplier that the graph uses */
    check_cuda(cudaGraphDestroy(graph));
    gfk_multiplier_destroy(multiplier);
    for (int i = 0; i < 2; i++)
        check_cuda(cudaFree(workspace[i]));
    check_cuda(cudaFree(parity));
    check_cuda(cudaFree(b));
    check_cuda(cudaFree(a));
    check_cuda(cudaStreamDestroy(stream));
    free(host);
    return wrong != 0;
}
