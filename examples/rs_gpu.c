/* SPDX-License-Identifier: BSD-3-Clause */
/* A Reed-Solomon code in the GPU's memory: ten data regions get four of parity, four regions are
 * lost and rebuilt. Exits with 77 where there is no GPU. */
#include <cuda_runtime_api.h>
#include <gfk/gfk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 10, M = 4, BYTES = 1 << 20 };

static void check(gfk_status status, cudaError_t error) {
    if (status != GFK_STATUS_SUCCESS || error != cudaSuccess) {
        fprintf(stderr, "%s; %s\n", gfk_status_description(status), cudaGetErrorString(error));
        exit(1);
    }
}

int main(void) {
    gfk_field field;
    gfk_rs_t code;
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.device = 0; /* a GPU by its number, so not the CPU */
    check(gfk_field_init(&field, 8, 0), cudaSuccess);
    const gfk_status status = gfk_rs_create(&code, &field, K, M, &desc);
    if (status == GFK_STATUS_NO_DEVICE) {
        printf("no GPU\n");
        return 77;
    }
    check(status, cudaSuccess);

    static unsigned char in[K * BYTES], out[K * BYTES];
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(rand() >> 7);
    unsigned char *memory; /* the regions one behind the other, data first */
    check(GFK_STATUS_SUCCESS, cudaMalloc((void **)&memory, (K + M) * BYTES));
    check(GFK_STATUS_SUCCESS, cudaMemcpy(memory, in, sizeof in, cudaMemcpyHostToDevice));
    const gfk_regions data = {NULL, memory, BYTES}, parity = {NULL, memory + K * BYTES, BYTES};
    check(gfk_rs_encode(code, &data, &parity, BYTES, NULL), cudaSuccess);

    const size_t lost[M] = {1, 3, 7, 12}; /* 12 is the third parity region */
    for (int i = 0; i < M; i++)
        check(GFK_STATUS_SUCCESS, cudaMemset(memory + lost[i] * BYTES, 0xee, BYTES));
    check(gfk_rs_decode(code, lost, M, NULL, 0, &data, &parity, BYTES, NULL), cudaSuccess);
    check(GFK_STATUS_SUCCESS, cudaMemcpy(out, memory, sizeof out, cudaMemcpyDeviceToHost));
    const int same = memcmp(in, out, sizeof in) == 0;
    printf("%d of %d regions lost, the data is %s\n", M, K + M, same ? "back" : "wrong");

    gfk_rs_destroy(code);
    check(GFK_STATUS_SUCCESS, cudaFree(memory));
    return !same;
}
