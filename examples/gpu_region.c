/* SPDX-License-Identifier: BSD-3-Clause */
/* A region multiply in GPU memory, on a stream of the caller: upload, multiply, download, and one
 * wait at the end. */
#include "gpu.h"

enum { SYMBOLS = 1 << 20 };

int main(void) {
    gfk_multiplier_t multiplier = gpu_multiplier(16);
    gfk_multiplier_info info;
    check(gfk_multiplier_get_info(multiplier, &info));
    printf("%s, workspace of %llu bytes\n", info.kernel->id,
           (unsigned long long)info.workspace_bytes);

    const size_t bytes = SYMBOLS * sizeof(uint16_t);
    uint16_t *host = malloc(bytes);
    void *device, *workspace = NULL;
    cudaStream_t stream;
    if (host == NULL)
        return 1;
    for (uint32_t i = 0; i < SYMBOLS; i++)
        host[i] = (uint16_t)(i * 40503u);
    check_cuda(cudaStreamCreate(&stream));
    check_cuda(cudaMalloc(&device, bytes));
    if (info.workspace_bytes != 0)
        check_cuda(cudaMalloc(&workspace, info.workspace_bytes));

    const uint32_t c = 0x1234;
    check_cuda(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
    check(gfk_region_multiply(multiplier, c, device, device, bytes, GFK_SET, workspace,
                              info.workspace_bytes, stream)); /* in place */
    check_cuda(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaStreamSynchronize(stream));

    int wrong = 0;
    for (uint32_t i = 0; i < SYMBOLS; i++) {
        uint32_t expected;
        check(gfk_field_multiply(&info.field, c, (uint16_t)(i * 40503u), &expected));
        wrong += host[i] != expected;
    }
    printf("%d symbols, %d wrong\n", SYMBOLS, wrong);

    gfk_multiplier_destroy(multiplier); /* no pending work uses the multiplier */
    check_cuda(cudaFree(workspace));
    check_cuda(cudaFree(device));
    check_cuda(cudaStreamDestroy(stream));
    free(host);
    return wrong != 0;
}
