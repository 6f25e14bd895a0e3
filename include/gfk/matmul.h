/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix products whose matrix is in device memory: C = A B or C = C + A B over GF(2^w), for
 * matrices of any size. A product of gfk/product.h expands its matrix once, on the host; a matmul
 * expands its matrix on the device, part by part, in every call. */
#ifndef GFK_MATMUL_H
#define GFK_MATMUL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/export.h>
#include <gfk/field.h>
#include <gfk/product.h>
#include <gfk/status.h>
#include <gfk/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix in device memory: row-major, elements of w/8 bytes, little-endian. */
typedef struct gfk_matrix {
    const void *elements; /* aligned to w/8 bytes */
    size_t rows, cols;
    size_t stride; /* elements from a row to the next one, at least cols */
} gfk_matrix;

/* Where a matmul works. Start from GFK_MATMUL_DESC_INIT. */
typedef struct gfk_matmul_desc {
    size_t size;      /* sizeof(gfk_matmul_desc), so that the struct can grow */
    int device;       /* GFK_CURRENT_DEVICE, the number of the calling thread's current device, or
                         GFK_CPU */
    unsigned threads; /* on the CPU; 0: one for each core that the caller may run on */
    /* As of gfk_product_desc: libraries for the CPU, and a check of each pointer for debugging. */
    const char *isal_library, *gfcomplete_library;
    bool check_pointers;
} gfk_matmul_desc;

#define GFK_MATMUL_DESC_INIT {sizeof(gfk_matmul_desc), GFK_CURRENT_DEVICE, 0, 0, 0, false}

/* gfk_matmul_workspace: the bytes of workspace that gfk_matmul needs for a matrix of rows * cols
 * elements and regions of `bytes` bytes; desc as for gfk_matmul. The workspace grows with the size of a call up to 1 GiB
 * for the regions and, for the matrix, w KiB for each column; larger calls work in parts.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, a field that gfk_field_init did not make, rows or cols
 * zero, a size or device number of the descriptor out of range); INVALID_SIZE (bytes is not a
 * multiple of w/8, or a size overflows). Any thread. */
GFK_API gfk_status gfk_matmul_workspace(const gfk_field *field, size_t rows, size_t cols,
                                        size_t bytes, const gfk_matmul_desc *desc,
                                        size_t *workspace_bytes);

/* gfk_matmul: c[j] = sum over i of a[j][i] * b[i] (GFK_SET), or that XORed into c[j].
 *
 * desc       NULL means GFK_MATMUL_DESC_INIT
 * device     The calling thread's current device, of compute capability 9.0. The matrix, the
 *            regions and the workspace are in memory that the device can access, which is checked
 *            only with desc->check_pointers. The CPU is not supported yet.
 * a          the matrix; only read
 * b, c       a->cols and a->rows regions of `bytes` bytes each; b is only read
 * alignment  Any, each region its own. Regions at multiples of 16 bytes are the fast case.
 * length     Any number of bytes that is a multiple of w/8. Zero is success.
 * elements   Every bit pattern of w bits is an element.
 * aliasing   Regions of b may overlap each other and the matrix. A region of c that overlaps
 *            another region, the matrix or the workspace is refused.
 * access     Only the elements, the regions and the workspace are touched; c is read in GFK_XOR
 *            mode only.
 * workspace  gfk_matmul_workspace bytes or more, aligned to 256 bytes, until the call's work has
 *            finished. Calls that overlap in time need one each.
 * streams    The work is in the order of `stream`, and the call returns at once. No allocation, no
 *            synchronization; capturable. CUDA loads a kernel's code at its first launch, so run
 *            once before capturing or timing.
 * rate       Worth its set-up from about 64 rows and 64 columns on; a product is faster below, and
 *            wherever one matrix multiplies data often.
 *
 * Source of the algorithm: an element's w sums with the powers of x make a Hankel matrix of bits in
 * the dual basis of 1, x, x^2, ... (E. R. Berlekamp, IEEE Trans. Inf. Theory 28, 1982); products
 * of bit matrices run on the tensor cores. docs/engines/matmul.md explains it.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, zero rows or columns, a field that gfk_field_init did
 * not make, an unknown mode, a stride that is too short, a misaligned matrix or workspace, a size or
 * device number of the descriptor out of range); INVALID_SIZE; OVERLAP; WORKSPACE_TOO_SMALL;
 * WRONG_DEVICE (the device is not the current one, or check_pointers found other memory);
 * NOT_SUPPORTED (the device, or this build, has no kernel); NO_DEVICE; CUDA; INTERNAL. On all but the last two nothing has been written. Any thread.
 */
GFK_API gfk_status gfk_matmul(const gfk_field *field, const gfk_matrix *a, const gfk_regions *b,
                              const gfk_regions *c, size_t bytes, gfk_accumulate mode,
                              const gfk_matmul_desc *desc, void *workspace, size_t workspace_bytes,
                              gfk_stream_t stream);

#ifdef __cplusplus
}
#endif
#endif
