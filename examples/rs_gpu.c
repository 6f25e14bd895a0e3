/* SPDX-License-Identifier: BSD-3-Clause */
/* A code in GPU memory. */
#include <cuda_runtime_api.h>
#include <gfk/gfk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 10, M = 4, BYTES = 1 << 20 }; /* of each region */
static unsigned char before[K * BYTES], after[K * BYTES];

static void check(const char *call, gfk_status status) {
    if (status == GFK_STATUS_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", call, gfk_status_description(status));
    exit(status == GFK_STATUS_NO_DEVICE ? 77 : 1); /* 77: skipped, to CTest and automake */
}

static void check_cuda(const char *call, cudaError_t error) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}

int main(void) {
    gfk_field field;
    gfk_rs_t code;
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.device = GFK_CURRENT_DEVICE; /* of CUDA */
    check("gfk_field_init", gfk_field_init(&field, 8, 0));
    check("gfk_rs_create", gfk_rs_create(&code, &field, K, M, &desc));

    unsigned char *memory; /* ten regions of data, then four of parity */
    for (size_t i = 0; i < sizeof before; i++)
        before[i] = (unsigned char)(i * 2654435761u >> 24);
    check_cuda("cudaMalloc", cudaMalloc((void **)&memory, (K + M) * BYTES));
    check_cuda("cudaMemcpy", cudaMemcpy(memory, before, sizeof before, cudaMemcpyHostToDevice));
    const gfk_regions data = {.base = memory, .stride = BYTES};
    const gfk_regions parity = {.base = memory + K * BYTES, .stride = BYTES};
    check("gfk_rs_encode", gfk_rs_encode(code, &data, &parity, BYTES, NULL));

    const size_t lost[M] = {1, 3, 7, 12}; /* 12 is the third region of parity */
    for (int i = 0; i < M; i++)
        check_cuda("cudaMemset", cudaMemset(memory + lost[i] * BYTES, 0xee, BYTES));
    check("gfk_rs_decode", gfk_rs_decode(code, lost, M, NULL, 0, &data, &parity, BYTES, NULL));
    check_cuda("cudaMemcpy", cudaMemcpy(after, memory, sizeof after, cudaMemcpyDeviceToHost));

    const int same = memcmp(before, after, sizeof after) == 0;
    printf("the data is %s\n", same ? "back" : "wrong");
    gfk_rs_destroy(code);
    cudaFree(memory);
    return !same;
}
