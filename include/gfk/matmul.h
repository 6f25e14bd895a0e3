/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix products for matrices of any size: C = A B or C = C + A B over GF(2^w), on a device or on
 * the CPU. A product of gfk/product.h expands its matrix once, when it is created; a matmul takes
 * its matrix as a call's argument and keeps nothing of it. */
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

/* The matrices that the library can make where they are needed. Points are elements of the field; a
 * row computes one output. j is the number of a row, i of a column. */
typedef enum gfk_matrix_kind {
    GFK_MATRIX_DENSE = 0, /* the elements are in memory */

    /* a[j][i] = 1 / (x_j + y_i): every square submatrix is regular, and so is every choice of cols
     * rows of the identity above this matrix. x_j = row_points[j], or cols + first + j if
     * row_points is NULL; y_i = col_points[i], or i if col_points is NULL. Without points and with
     * first = 0 this is GFK_RS_CAUCHY's matrix (gfk_rs_fill_matrix) and ISA-L's
     * gf_gen_cauchy1_matrix. */
    GFK_MATRIX_CAUCHY,

    /* Powers of points; 0^0 is 1. Exactly one of row_points and col_points is given.
     * row_points: a[j][i] = row_points[j]^(first + i), the values of polynomials whose coefficients
     * are the inputs, as for network coding. Any cols rows are regular if first is 0 or no
     * point is 0.
     * col_points: a[j][i] = col_points[i]^(first + j), sums of powers as of PAR2, and the syndromes
     * of Reed-Solomon codes. Any rows columns are regular if first is 0 or no point is 0. */
    GFK_MATRIX_VANDERMONDE,

    /* The recovery slices of PAR2: a[j][i] = c_i^(first + j), where c_i = 2^n and n is the i-th of
     * the numbers 0, 1, 2, ... that 3, 5, 17 and 257 do not divide, from i = 0 on ("Parity Volume
     * Set Specification 2.0", 2003). Row j is the slice of exponent first + j. w = 16, polynomial
     * GFK_POLYNOMIAL_W16; at most 32768 columns; exponents below 65535. Some choices of rows and
     * columns are singular. */
    GFK_MATRIX_PAR2,

    /* Uniform elements, zero included, from the counter-based generator Philox4x32-10 (J. K. Salmon
     * et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Row j is a sequence of bytes
     * of which every element takes w/8, in little-endian order. Bytes 16 t to 16 t + 15 are the
     * four result words, little-endian, for the counter words (t, t >> 32, r, r >> 32) with r =
     * first + j and the key words (seed, seed >> 32). The field's polynomial has no influence. */
    GFK_MATRIX_RANDOM
} gfk_matrix_kind;

/* A matrix. Zero is the right value for members that its kind does not name, and these members are
 * not read. GFK_MATRIX_DENSE_INIT initializes a dense matrix. */
typedef struct gfk_matrix {
    /* DENSE: memory that the device can access, row-major, elements of w/8 bytes, little-endian,
     * aligned to w/8 bytes */
    const void *elements;
    size_t rows, cols;
    size_t stride; /* DENSE: elements from a row to the next one, at least cols */
    gfk_matrix_kind kind;
    /* CAUCHY, VANDERMONDE: `rows` and `cols` points in host memory, which a call has read when it
     * returns. No two points are equal, those of rows and columns together. */
    const uint32_t *row_points, *col_points;
    uint64_t first; /* the first row or column of a part of a larger matrix: see the kinds */
    uint64_t seed;  /* RANDOM */
} gfk_matrix;

#define GFK_MATRIX_DENSE_INIT(elements, rows, cols, stride)                                        \
    {elements, rows, cols, stride, GFK_MATRIX_DENSE, GFK_NULL, GFK_NULL, 0, 0}

/* gfk_matrix_fill: writes the elements of a generated matrix into host memory, the same elements
 * that gfk_matmul uses.
 *
 * out   rows * cols words, row after row: what gfk_product_create and gfk_rs_create take. May not
 *       overlap the points.
 * rate  One core, no allocation. An element of RANDOM takes about 4 ns, of CAUCHY 1, 50 and 190 ns
 *       (w = 8, 16, 32), of VANDERMONDE and PAR2 6, 16 and 40 ns.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, a field that gfk_field_init did not make, zero rows or
 * columns, an unknown kind or DENSE, two equal points, VANDERMONDE with no points or with both);
 * INVALID_CONSTANT (a point is not an element of the field); INVALID_SIZE (more points than the
 * field has elements, more columns or rows than PAR2 has; a size overflows, or the largest exponent
 * of VANDERMONDE or PAR2); NOT_SUPPORTED (PAR2 in another field). On an error nothing has been
 * written. Any thread. */
GFK_API gfk_status gfk_matrix_fill(const gfk_field *field, const gfk_matrix *matrix, uint32_t *out);

/* The place at which a matmul, or a call of gfk/matrix.h, works. Start from
 * GFK_MATMUL_DESC_INIT. */
typedef struct gfk_matmul_desc {
    size_t size;      /* sizeof(gfk_matmul_desc), so that the struct can grow */
    int device;       /* GFK_CURRENT_DEVICE, the number of the calling thread's current device, or
                         GFK_CPU */
    unsigned threads; /* on the CPU; 0: one for each core that the caller may run on */
    bool check_pointers; /* a check of each pointer, for debugging; gfk_product_desc explains it */
    const char *kernel;  /* the id of a compiled kernel, "matmul_w8/clmad" for example
                            (gfk_compiled_kernel_at, gfk/registry.h), which takes every shape of its
                            width; for tests and benchmarks. NULL: of those that the device runs the
                            kernel that is fastest by estimate. gfk_matrix_invert_batch has no
                            products and refuses a kernel */
} gfk_matmul_desc;

#define GFK_MATMUL_DESC_INIT {sizeof(gfk_matmul_desc), GFK_CURRENT_DEVICE, 0, false, GFK_NULL}

/* gfk_matmul_workspace: the bytes of workspace that gfk_matmul needs for a matrix of rows * cols
 * elements of any kind and regions of `bytes` bytes; desc as for gfk_matmul. On a device the
 * workspace grows with the size of a call up to 1 GiB for the regions (more from about 200,000
 * columns on) and, for the matrix, up to 1 GiB or w KiB for each column, whichever is more; larger
 * calls work in parts. Each row and column takes 4 bytes more, for points. The device is not asked:
 * without desc->kernel the workspace is enough for whichever kernel a device takes. A kernel that
 * the descriptor names may need less: `clmad` reads the regions where they are, and needs the
 * elements of up to 4096 rows, with columns rounded up to 256 bits of elements and rows to 32. On
 * the CPU it is 401 KiB for each thread that the calling thread may use. A workspace that is enough
 * for a call is enough for every call with no more rows, columns and bytes.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, a field that gfk_field_init did not make, rows or cols
 * zero, a size or device number of the descriptor out of range, a kernel of another width, a kernel
 * with GFK_CPU); UNKNOWN_METHOD (no matmul kernel has this id); INVALID_SIZE (bytes is not a
 * multiple of w/8, or a size overflows). Any thread. */
GFK_API gfk_status gfk_matmul_workspace(const gfk_field *field, size_t rows, size_t cols,
                                        size_t bytes, const gfk_matmul_desc *desc,
                                        size_t *workspace_bytes);

/* gfk_matmul_kernel_id: the compiled kernel that gfk_matmul uses for such a call: an id of the list
 * (gfk_compiled_kernel_at, gfk/registry.h), desc->kernel's if it names one; NULL on the CPU. Its
 * argument desc is as for gfk_matmul, and the device must be there.
 *
 * Returns the statuses of gfk_matmul_workspace, and NO_DEVICE, WRONG_DEVICE, NOT_SUPPORTED and CUDA
 * as gfk_matmul. On an error *id is unchanged. Any thread. */
GFK_API gfk_status gfk_matmul_kernel_id(const gfk_field *field, size_t rows, size_t cols,
                                        size_t bytes, const gfk_matmul_desc *desc, const char **id);

/* gfk_matmul: c[j] = sum over i of a[j][i] * b[i] (GFK_SET), or that XORed into c[j].
 *
 * desc       NULL means GFK_MATMUL_DESC_INIT
 * place      desc->device: the calling thread's current device, of compute capability 8.0 or
 *            higher, and 9.0 alone if an nvcc older than 13.3 has built the library, with the
 *            matrix, the regions and the workspace in memory that the device can access; or
 *            GFK_CPU, with all of them in host memory. Checked only with desc->check_pointers.
 * a          The matrix; only read. A generated matrix is generated part by part in the workspace,
 *            with elements equal to those of gfk_matrix_fill. Its points are in host memory for
 *            both places; the call reads them, and replays of a captured call use the same points.
 * b, c       a->cols and a->rows regions of `bytes` bytes each; b is only read
 * alignment  Any, each region its own. Regions at multiples of 16 bytes are the fast case.
 * length     Any number of bytes that is a multiple of w/8. Zero is success.
 * elements   Every bit pattern of w bits is an element.
 * aliasing   Regions of b may overlap each other and the matrix. A region of c and the workspace
 *            must not overlap each other, another region, the matrix or its points.
 * access     Only the elements, the regions and the workspace are touched; c is read in GFK_XOR
 *            mode only.
 * workspace  gfk_matmul_workspace bytes or more, aligned to 256 bytes, until the call's work has
 *            finished. Calls that overlap in time need one each.
 * streams    On a device the work is in the order of `stream`, and the call returns at once. No
 *            allocation, no synchronization; capturable. CUDA loads a kernel's code at its first
 *            launch, so run once before capturing or timing.
 *            On the CPU `stream` is NULL, and the work is complete on return. A call with several
 *            threads uses those that the library's objects on the CPU share; if there is no such
 *            object, it starts and ends them, the only allocation.
 * kernel     On 9.0 each width has kernels on warpgroup MMAs, `wgmma` and others, and one on the
 *            carry-less multiply-add, `clmad`; without desc->kernel the shape decides. Other
 *            devices have `clmad` alone, which runs on the FP64 unit: slow on devices whose FP64
 *            rate is 1/32 or 1/64 of the FP32 rate. Only 9.0 has been measured.
 * rate       On a device worth its set-up from about 64 rows and 64 columns on. A product is faster
 *            below, and at w = 8 up to about 128 of both. On the CPU faster than a product
 *            in every field, except for w = 8 with polynomial 0x11d and fewer than about 100 rows.
 *
 * Source of the algorithm: on tensor cores, an element's w sums with the powers of x make a Hankel
 * matrix of bits in the dual basis of 1, x, x^2, ... (E. R. Berlekamp, IEEE Trans. Inf. Theory 28,
 * 1982); three products with its halves do the work of four (S. Winograd, "Arithmetic complexity of
 * computations", 1980); products of bit matrices run on the tensor cores. On the carry-less
 * multiply-add, products of 2 w - 1 bits are added, and each sum is reduced once by Barrett's
 * method. On the CPU, tables of multiples of the data (M. Albrecht, ISSAC 2012).
 * docs/engines/matmul.md explains all three.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, zero rows or columns, a field that gfk_field_init did
 * not make, an unknown mode, a stride that is too short, a misaligned matrix or workspace, a size
 * or device number of the descriptor out of range, a kernel of another width, a kernel with
 * GFK_CPU); INVALID_SIZE (also for memory that wraps around the address space); UNKNOWN_METHOD (no
 * matmul kernel has the id desc->kernel); OVERLAP; WORKSPACE_TOO_SMALL; STREAM_ON_HOST;
 * WRONG_DEVICE (the device is not the current one, or check_pointers found other memory);
 * NOT_SUPPORTED (the device or this build has no kernel, or not the one that desc->kernel names);
 * NO_DEVICE; CUDA; INTERNAL; for a generated matrix also the statuses of gfk_matrix_fill. On all
 * but CUDA and INTERNAL nothing has been written. Any thread. */
GFK_API gfk_status gfk_matmul(const gfk_field *field, const gfk_matrix *a, const gfk_regions *b,
                              const gfk_regions *c, size_t bytes, gfk_accumulate mode,
                              const gfk_matmul_desc *desc, void *workspace, size_t workspace_bytes,
                              gfk_stream_t stream);

#ifdef __cplusplus
}
#endif
#endif
