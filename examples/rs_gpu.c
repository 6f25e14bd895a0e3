/* SPDX-License-Identifier: BSD-3-Clause */
/* The second program in README.md. Exits with 77 if there is no GPU. */
#include <cuda_runtime_api.h>
#include <gfk/gfk.h>
#include <stdio.h>
#include <string.h>
enum { K = 10, M = 4, BYTES = 1 << 20 }; /* of each region */
static unsigned char before[K * BYTES], after[K * BYTES];

int main(void) {
    gfk_field field;
    gfk_rs_t code = NULL;
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.device = 0;
    unsigned char *memory; /* ten regions of data, then four of parity */
    if (cudaMalloc((void **)&memory, (K + M) * BYTES) != cudaSuccess)
        return 77;
    for (size_t i = 0; i < sizeof before; i++)
        before[i] = (unsigned char)(i * 2654435761u >> 24);
    cudaMemcpy(memory, before, sizeof before, cudaMemcpyHostToDevice);
    const gfk_regions data = {NULL, memory, BYTES}, parity = {NULL, memory + K * BYTES, BYTES};
    const size_t lost[M] = {1, 3, 7, 12}; /* 12 is the third region of parity */
    gfk_status status = gfk_field_init(&field, 8, 0);
    status = status ? status : gfk_rs_create(&code, &field, K, M, &desc);
    status = status ? status : gfk_rs_encode(code, &data, &parity, BYTES, NULL);
    for (int i = 0; i < M; i++)
        cudaMemset(memory + lost[i] * BYTES, 0xee, BYTES);
    status = status ? status : gfk_rs_decode(code, lost, M, NULL, 0, &data, &parity, BYTES, NULL);
    cudaMemcpy(after, memory, sizeof after, cudaMemcpyDeviceToHost);
    const int same = memcmp(before, after, sizeof after) == 0;
    printf("%s, the data is %s\n", gfk_status_description(status), same ? "back" : "wrong");
    gfk_rs_destroy(code);
    cudaFree(memory);
    return !same;
}
