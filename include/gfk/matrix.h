/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear algebra over GF(2^w) with matrices of any size in device memory, or on the CPU: the
 * inverse, the solution of A X = B, and the rank. Whether a matrix has an inverse is known only
 * when the work has been done, so the calls write that to a record, in memory of the same kind. */
#ifndef GFK_MATRIX_H
#define GFK_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include <gfk/export.h>
#include <gfk/field.h>
#include <gfk/matmul.h>
#include <gfk/product.h>
#include <gfk/status.h>
#include <gfk/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of an elimination. Aligned to 4 bytes. */
typedef struct gfk_matrix_record {
    uint32_t status; /* GFK_STATUS_SUCCESS; GFK_STATUS_SINGULAR where an inverse does not exist */
    uint32_t rank;
} gfk_matrix_record;

/* In the list of pivots: the row is a sum of multiples of the rows before it. */
#define GFK_MATRIX_DEPENDENT UINT32_MAX

/* gfk_matrix_invert_workspace, gfk_matrix_solve_workspace, gfk_matrix_rank_workspace: the bytes of
 * workspace that the calls below need, for a matrix of n x n or rows x cols elements; desc as for
 * the calls. It is the size of the matrix, for gfk_matrix_solve twice that, and a share that grows
 * with rows + cols; gfk_matrix_solve adds what gfk_matmul needs for an n x n matrix.
 *
 * Return SUCCESS; INVALID_ARGUMENT (NULL, a field that gfk_field_init did not make, no rows or no
 * columns, a size or device number of the descriptor out of range, a kernel of another width, a
 * kernel with GFK_CPU); UNKNOWN_METHOD (no matmul kernel has the id desc->kernel); INVALID_SIZE
 * (more than 2^30 rows or columns, bytes that are not a multiple of w/8, or a size overflows). Any
 * thread. */
GFK_API gfk_status gfk_matrix_invert_workspace(const gfk_field *field, size_t n,
                                               const gfk_matmul_desc *desc,
                                               size_t *workspace_bytes);
GFK_API gfk_status gfk_matrix_solve_workspace(const gfk_field *field, size_t n, size_t bytes,
                                              const gfk_matmul_desc *desc, size_t *workspace_bytes);
GFK_API gfk_status gfk_matrix_rank_workspace(const gfk_field *field, size_t rows, size_t cols,
                                             const gfk_matmul_desc *desc, size_t *workspace_bytes);

/* gfk_matrix_invert: writes the inverse of a square matrix.
 *
 * a         n x n elements, GFK_MATRIX_DENSE; only read
 * inverse   n rows of n elements, `stride` elements (at least n) from one row to the next; aligned
 *           to w/8 bytes. a->elements with a->stride is allowed: in place. Another overlap is not.
 *           A singular matrix leaves it as it was.
 * record    the result; not NULL. The matrix is singular where record->rank is less than n.
 * pivots    n numbers, or NULL. pivots[r] becomes the column that row r was solved for. Rows that
 *           are a sum of multiples of the rows before them get GFK_MATRIX_DEPENDENT; the other rows
 *           are a largest set of independent rows.
 * desc      NULL means GFK_MATMUL_DESC_INIT. Its device is as of gfk_matmul, and a, inverse,
 *           record, pivots and the workspace are in memory of that device, which is checked only
 *           with desc->check_pointers. Its kernel, as of gfk_matmul, computes the products of the
 *           elimination; NULL: for each product the kernel that is fastest by estimate.
 * workspace gfk_matrix_invert_workspace bytes or more, aligned to 256 bytes, until the call's work
 *           has finished. Calls that overlap in time need one each.
 * streams   The work is in the order of `stream`, and the call returns at once. No allocation, no
 *           synchronization; capturable. CUDA loads a kernel's code at its first launch, so run
 *           once before capturing or timing. On the CPU the stream is NULL, and the call returns
 *           when the work is done.
 *
 * Elimination in place by exchange steps, in panels of 1024 / w rows; each panel changes the other
 * rows by one product (gfk_matmul). Results are exact, so any non-zero element is a good pivot.
 * docs/matrices.md explains it.
 *
 * Returns SUCCESS also for a singular matrix, which only the record tells: see gfk_matrix_wait.
 * Else INVALID_ARGUMENT (NULL, rows or columns zero or different, an unknown kind, a field that
 * gfk_field_init did not make, a stride that is too short, misaligned memory, a descriptor out of
 * range, a kernel of another width, a kernel with GFK_CPU); UNKNOWN_METHOD (no matmul kernel has
 * the id desc->kernel); INVALID_SIZE; OVERLAP (of inverse, record, pivots or workspace with each
 * other or with a, where the gaps between rows count as parts of a matrix); WORKSPACE_TOO_SMALL;
 * WRONG_DEVICE; NOT_SUPPORTED (a generated matrix; the device or this build has no kernel, or not
 * the one that desc->kernel names); NO_DEVICE; STREAM_ON_HOST; OUT_OF_MEMORY (on the CPU); CUDA;
 * INTERNAL. On all but the last two nothing outside the workspace has been written. Any thread. */
GFK_API gfk_status gfk_matrix_invert(const gfk_field *field, const gfk_matrix *a, void *inverse,
                                     size_t stride, gfk_matrix_record *record, uint32_t *pivots,
                                     const gfk_matmul_desc *desc, void *workspace,
                                     size_t workspace_bytes, gfk_stream_t stream);

/* gfk_matrix_solve: writes the regions x with sum over i of a[j][i] * x[i] = b[j] for every j. The
 * inverse is made and multiplied by b. A singular matrix leaves x as it was.
 *
 * b, x      n regions of `bytes` bytes each; b is only read, and may overlap a. x overlaps nothing.
 * Otherwise as gfk_matrix_invert and gfk_matmul. Zero bytes is success: only the record and the
 * pivots are written. */
GFK_API gfk_status gfk_matrix_solve(const gfk_field *field, const gfk_matrix *a,
                                    const gfk_regions *b, const gfk_regions *x, size_t bytes,
                                    gfk_matrix_record *record, uint32_t *pivots,
                                    const gfk_matmul_desc *desc, void *workspace,
                                    size_t workspace_bytes, gfk_stream_t stream);

/* gfk_matrix_rank: finds the rank of any matrix, and a largest set of independent rows. The
 * record's status is SUCCESS; pivots has a->rows numbers, or is NULL. Otherwise as
 * gfk_matrix_invert. */
GFK_API gfk_status gfk_matrix_rank(const gfk_field *field, const gfk_matrix *a,
                                   gfk_matrix_record *record, uint32_t *pivots,
                                   const gfk_matmul_desc *desc, void *workspace,
                                   size_t workspace_bytes, gfk_stream_t stream);

/* gfk_matrix_wait: waits for the stream's work and copies the record of a call in it to host
 * memory. For a record on the CPU: copies it. desc is the call's. Not capturable.
 *
 * Returns the record's status, SUCCESS or SINGULAR; INVALID_ARGUMENT (NULL, a descriptor out of
 * range); NO_DEVICE; WRONG_DEVICE; STREAM_ON_HOST; CUDA. The record of a call that was refused, or
 * of none, means nothing. Any thread. */
GFK_API gfk_status gfk_matrix_wait(const gfk_matrix_record *record, const gfk_matmul_desc *desc,
                                   gfk_stream_t stream, gfk_matrix_record *copy);

/* ---- batches --------------------------------------------------------------------------------- */

/* The most matrices of a batch. */
#define GFK_MATRIX_BATCH_MOST 0x7fffffff

/* gfk_matrix_invert_batch: writes the inverses of `count` small matrices, all n x n.
 *
 * n         at most 256 for w = 8 and 16, at most 128 for w = 32
 * a         The matrices, each row-major without gaps between its rows; `a_step` elements, at least
 *           n * n, from the first element of a matrix to that of the next; aligned to w/8 bytes
 *           (rows whose addresses are multiples of 4 bytes are the fast case). Only read.
 * inverses  The inverses, `inverse_step` elements from one to the next. With the same address and
 *           step as a: in place. Another overlap with a is refused. A singular matrix leaves its
 *           inverse as it was.
 * records   count results. A matrix is singular where its record's rank is less than n.
 * pivots    count * n numbers, or NULL. pivots[i * n + r] becomes the column that row r of matrix i
 *           was solved for. Rows that are a sum of multiples of the rows before them get
 *           GFK_MATRIX_DEPENDENT; the other rows are a largest set of independent rows.
 * desc      NULL means GFK_MATMUL_DESC_INIT. Its device is as of gfk_matmul, of compute capability
 *           8.0 or higher, whatever nvcc has built the library; GFK_CPU is NOT_SUPPORTED. A
 *           kernel's name is INVALID_ARGUMENT. All memory is in that device's reach, which is
 *           checked only with desc->check_pointers.
 * streams   The work is in the order of `stream`, and the call returns at once. No allocation, no
 *           synchronization, no workspace; capturable. CUDA loads a kernel's code at its first
 *           launch, so run once before capturing or timing.
 * matrices  No matrices are success.
 *
 * Exchange steps in registers, several small matrices to a warp. docs/matrices.md explains it.
 *
 * Returns SUCCESS also where matrices are singular, which only the records tell. Else
 * INVALID_ARGUMENT (NULL, n is zero, a step that is too short, a field that gfk_field_init did not
 * make, misaligned memory, a descriptor out of range or with a kernel); INVALID_SIZE (more than
 * GFK_MATRIX_BATCH_MOST matrices, or a size overflows); OVERLAP; NOT_SUPPORTED (n is too large,
 * GFK_CPU, or the device or this build has no kernel); WRONG_DEVICE; NO_DEVICE; CUDA; INTERNAL. On
 * all but the last two nothing has been written. Any thread. */
GFK_API gfk_status gfk_matrix_invert_batch(const gfk_field *field, size_t n, size_t count,
                                           const void *a, size_t a_step, void *inverses,
                                           size_t inverse_step, gfk_matrix_record *records,
                                           uint32_t *pivots, const gfk_matmul_desc *desc,
                                           gfk_stream_t stream);

#ifdef __cplusplus
}
#endif
#endif
