/* SPDX-License-Identifier: BSD-3-Clause */
/* A product with a large matrix in GPU memory: 1000 regions become 500. */
#include "gpu.h"

enum { ROWS = 500, COLS = 1000, BYTES = 4096 };

/* One output byte, by scalar arithmetic. */
static unsigned expected(const gfk_field *field, const unsigned char *a, const unsigned char *b,
                         size_t row, size_t at) {
    uint32_t sum = 0, product;
    for (size_t i = 0; i < COLS; i++) {
        check(gfk_field_multiply(field, a[row * COLS + i], b[i * BYTES + at], &product));
        sum ^= product;
    }
    return sum;
}

int main(void) {
    const size_t a_bytes = (size_t)ROWS * COLS, b_bytes = (size_t)COLS * BYTES;
    const size_t c_bytes = (size_t)ROWS * BYTES;
    gfk_field field;
    unsigned char *host = malloc(a_bytes + b_bytes + c_bytes), *device;
    void *workspace;
    size_t workspace_bytes;
    if (host == NULL)
        return 1;
    for (size_t i = 0; i < a_bytes + b_bytes; i++)
        host[i] = (unsigned char)(i * 2654435761u >> 13);
    check(gfk_field_init(&field, 8, 0));
    if (cudaMalloc((void **)&device, a_bytes + b_bytes + c_bytes) != cudaSuccess) {
        printf("skipped: no GPU\n");
        return 0;
    }
    check_cuda(cudaMemcpy(device, host, a_bytes + b_bytes, cudaMemcpyHostToDevice));

    const gfk_matrix a = GFK_MATRIX_DENSE_INIT(device, ROWS, COLS, COLS);
    const gfk_regions b = {NULL, device + a_bytes, BYTES},
                      c = {NULL, device + a_bytes + b_bytes, BYTES};
    check(gfk_matmul_workspace(&field, ROWS, COLS, BYTES, NULL, &workspace_bytes));
    check_cuda(cudaMalloc(&workspace, workspace_bytes));
    const gfk_status status =
        gfk_matmul(&field, &a, &b, &c, BYTES, GFK_SET, NULL, workspace, workspace_bytes, NULL);
    if (status == GFK_STATUS_NOT_SUPPORTED) {
        printf("skipped: %s\n", gfk_status_description(status));
        return 0;
    }
    check(status);

    unsigned char *result = host + a_bytes + b_bytes;
    check_cuda(cudaMemcpy(result, device + a_bytes + b_bytes, c_bytes, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (size_t row = 0; row < ROWS; row += 7)
        for (size_t at = row % 64; at < BYTES; at += 64)
            wrong += result[row * BYTES + at] != expected(&field, host, host + a_bytes, row, at);
    printf("%d x %d matrix, %d wrong\n", ROWS, COLS, wrong);
    check_cuda(cudaFree(workspace));
    check_cuda(cudaFree(device));
    free(host);
    return wrong != 0;
}
