/* SPDX-License-Identifier: BSD-3-Clause */
/* Reed-Solomon codes over k data regions and m parity regions of the same length: encode, rebuild
 * lost regions, find and repair damaged symbols, update parity after a change.
 *
 * For every symbol position, parity[j] = sum over i of matrix[j][i] * data[i] in GF(2^w). The
 * default code is MDS (maximum distance separable): any m lost regions can be rebuilt from the
 * other k. */
#ifndef GFK_RS_H
#define GFK_RS_H

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

/* These rules hold for all functions on regions, unless a function says otherwise:
 *
 * index      Data regions have the indices 0 to k - 1, parity regions k to k + m - 1.
 * data       k data regions and m parity regions of `bytes` bytes each, in host memory if
 *            gfk_rs_info.device is GFK_CPU, else in memory that this device can access.
 * length     Any number of bytes that is a multiple of w/8. Zero bytes are a success.
 * alignment  Each region may have any alignment. Regions with the same address modulo 16 are the
 *            fast case.
 * aliasing   A region that is written must not overlap any other region of the call, also not one
 *            that is not read. Lost regions that are not rebuilt are exempt.
 * streams    As gfk_product_run: on a device the work is asynchronous on `stream`; on the CPU
 *            `stream` is NULL and the work is complete on return.
 * statuses   INVALID_ARGUMENT (a needed region or object is NULL, a stride is below bytes),
 *            INVALID_SIZE, OVERLAP, STREAM_ON_HOST, WRONG_DEVICE: nothing has been written. CUDA,
 *            INTERNAL: the contents of the outputs are undefined.
 * threads    Objects do not change after create. Any number of threads may use an object at the
 *            same time, on any streams. */

/* ---- matrices ------------------------------------------------------------------------------- */

/* The generator matrix. The matrices named after another library equal those of that library byte
 * for byte, so data encoded by one can be decoded by the other. */
typedef enum gfk_rs_matrix {
    GFK_RS_CAUCHY = 0,   /* systematic Cauchy, 1 / ((k + j) ^ i): MDS while k + m <= 2^w */
    GFK_RS_VANDERMONDE,  /* systematic Vandermonde: rows r^i of r = 0, 1, ... times the inverse of
                            the upper k; MDS while k + m <= 2^w */
    GFK_RS_REED_SOL_VAN, /* Jerasure's reed_sol_van (reed_sol_vandermonde_coding_matrix); MDS */
    GFK_RS_CAUCHY_GOOD,  /* Jerasure's cauchy_good (cauchy_good_general_coding_matrix) as
                            jerasure_matrix_encode applies it, not as a bit matrix; MDS */
    GFK_RS_GEN_RS,       /* ISA-L's gf_gen_rs_matrix: powers 2^(ij). Not MDS for every shape: a
                            shape that is not MDS, or too large to check, needs GFK_RS_UNCHECKED */
    GFK_RS_GEN_CAUCHY1,  /* ISA-L's gf_gen_cauchy1_matrix; MDS */
    GFK_RS_CUSTOM        /* gfk_rs_desc.custom */
} gfk_rs_matrix;

/* gfk_rs_matrix_name: "cauchy", "vandermonde", "reed_sol_van", "cauchy_good", "gen_rs",
 * "gen_cauchy1", "custom"; never NULL. */
GFK_API const char *gfk_rs_matrix_name(gfk_rs_matrix matrix);

/* gfk_rs_fill_matrix: writes the parity rows of a named matrix: m * k elements, row by row.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, a field that gfk_field_init did not make, CUSTOM, k or
 * m zero); INVALID_SIZE (k + m > 2^w, or a product that wraps around); NOT_SUPPORTED (a matrix
 * whose library has no such field: Jerasure's and ISA-L's are defined for the default polynomials,
 * ISA-L's for w = 8); OUT_OF_MEMORY. Any thread. */
GFK_API gfk_status gfk_rs_fill_matrix(const gfk_field *field, gfk_rs_matrix which, size_t k,
                                      size_t m, uint32_t *matrix);

/* ---- codes ---------------------------------------------------------------------------------- */

/* Flags of a code, a set of bits. */
#define GFK_RS_UNCHECKED 1u /* accept a matrix that is not MDS, or too large to check */

/* An immutable object: a matrix, and the product that encodes with it. */
typedef struct gfk_rs *gfk_rs_t;

/* Start from GFK_RS_DESC_INIT. */
typedef struct gfk_rs_desc {
    size_t size;              /* sizeof(gfk_rs_desc), so that the struct can grow */
    gfk_rs_matrix matrix;     /* the generator matrix */
    const uint32_t *custom;   /* GFK_RS_CUSTOM: m * k elements, row by row; copied */
    unsigned flags;           /* GFK_RS_UNCHECKED, or 0 */
    gfk_product_desc product; /* of the encoder, and of decoders and updaters created without a
                                 descriptor of their own */
} gfk_rs_desc;

#define GFK_RS_DESC_INIT {sizeof(gfk_rs_desc), GFK_RS_CAUCHY, GFK_NULL, 0, GFK_PRODUCT_DESC_INIT}

/* Is every square submatrix of the matrix regular? */
typedef enum gfk_rs_mds { GFK_RS_MDS_UNKNOWN = 0, GFK_RS_MDS_YES, GFK_RS_MDS_NO } gfk_rs_mds;

typedef struct gfk_rs_info {
    gfk_field field;
    size_t k, m;
    gfk_rs_matrix matrix;
    gfk_rs_mds mds;
    size_t locatable;         /* corrupt symbols per position that gfk_rs_locate always names
                                 correctly; 0: gfk_rs_locate does not support this code */
    gfk_product_info product; /* the encoder's product */
    int device;               /* GFK_CPU: the code works in host memory; else a device's number */
    uint64_t reserved[4];     /* 0 */
} gfk_rs_info;

/* gfk_rs_create: makes a code.
 *
 * k, m   1 or more, k + m <= 2^w
 * desc   NULL means GFK_RS_DESC_INIT
 *
 * Allocates and uploads; not capturable. GFK_RS_CUSTOM and GFK_RS_GEN_RS are checked: every square
 * submatrix must be regular. The check runs while C(k + m, m) <= 1,000,000; a larger shape needs
 * GFK_RS_UNCHECKED.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, zero k or m, a descriptor that contradicts itself);
 * INVALID_SIZE (k + m > 2^w); INVALID_CONSTANT (an element of the custom matrix is outside the
 * field); SINGULAR (the matrix is not MDS); NOT_SUPPORTED (the matrix is too large to check, or is
 * not defined for this field); otherwise as gfk_product_create. On an error *code is unchanged.
 * Any thread. */
GFK_API gfk_status gfk_rs_create(gfk_rs_t *code, const gfk_field *field, size_t k, size_t m,
                                 const gfk_rs_desc *desc);

/* gfk_rs_get_info: describes the code. INVALID_ARGUMENT for NULL. Any thread. */
GFK_API gfk_status gfk_rs_get_info(gfk_rs_t code, gfk_rs_info *info);

/* gfk_rs_get_matrix: writes the m * k elements of the matrix, row by row. INVALID_ARGUMENT for
 * NULL. Any thread. */
GFK_API gfk_status gfk_rs_get_matrix(gfk_rs_t code, uint32_t *matrix);

/* gfk_rs_destroy: frees a code. Decoders, updaters and batches created from the code stay valid.
 * NULL is allowed. No call with the code, and no launch of a graph that captured one, may be
 * pending. */
GFK_API void gfk_rs_destroy(gfk_rs_t code);

/* gfk_rs_encode: computes all parity from all data. No allocation, no synchronization; capturable.
 * Statuses: above. */
GFK_API gfk_status gfk_rs_encode(gfk_rs_t code, const gfk_regions *data, const gfk_regions *parity,
                                 size_t bytes, gfk_stream_t stream);

/* ---- lost regions --------------------------------------------------------------------------- */

/* An immutable object: the set of lost regions, and the product that rebuilds the wanted ones. */
typedef struct gfk_rs_decoder *gfk_rs_decoder_t;

/* gfk_rs_decoder_create: creates a decoder for one set of lost regions.
 *
 * lost    lost_count distinct indices in any order; NULL and 0: no region is lost
 * wanted  wanted_count distinct indices out of `lost`, the regions to rebuild; NULL and 0: all
 *         lost regions; not NULL and 0: none
 * desc    how to compute; NULL: as the code's descriptor. The place is the code's: desc->device is
 *         gfk_rs_info.device, or GFK_CURRENT_DEVICE as in GFK_PRODUCT_DESC_INIT.
 *
 * The decoder reads k regions that are not lost: data regions first, then parity regions by index.
 * If the matrix is not MDS and these k regions do not suffice, the decoder reads others.
 *
 * Named matrices but GFK_RS_GEN_RS have decode matrices in closed form: with e lost data regions, k
 * * wanted_count elements and 2 e steps for each region that is read or rebuilt. For GFK_RS_CUSTOM
 * and GFK_RS_GEN_RS e x e elements are inverted, row by row, and from e * wanted_count * k =
 * 4,000,000 on by gfk_matrix_invert and gfk_matmul, on the device of the code or on all cores.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, an index beyond k + m - 1, a repeated index, a wanted
 * region that is not lost, another place); TOO_MANY_ERASURES (more than m lost); SINGULAR (the
 * remaining regions do not determine every lost region, wanted or not; never for an MDS code);
 * otherwise as gfk_product_create. On an error *decoder is unchanged. Any thread. */
GFK_API gfk_status gfk_rs_decoder_create(gfk_rs_decoder_t *decoder, gfk_rs_t code,
                                         const size_t *lost, size_t lost_count,
                                         const size_t *wanted, size_t wanted_count,
                                         const gfk_product_desc *desc);

/* gfk_rs_decoder_get_info: describes the decoder's product. `sources`, if not NULL, receives the k
 * indices of the regions that the decoder reads. A decoder with nothing to rebuild has no product:
 * info->engine is NULL and `sources` is not written. INVALID_ARGUMENT for a NULL decoder. Any
 * thread. */
GFK_API gfk_status gfk_rs_decoder_get_info(gfk_rs_decoder_t decoder, gfk_product_info *info,
                                           size_t *sources);

/* gfk_rs_decoder_run: rebuilds the wanted regions in one pass. The addresses of regions that are
 * neither read nor rebuilt may be NULL. `data` and `parity` themselves must not be NULL, even with
 * nothing to rebuild. No allocation, no synchronization; capturable. Statuses: above. */
GFK_API gfk_status gfk_rs_decoder_run(gfk_rs_decoder_t decoder, const gfk_regions *data,
                                      const gfk_regions *parity, size_t bytes, gfk_stream_t stream);

/* gfk_rs_decoder_destroy: frees a decoder. NULL is allowed. No run of the decoder, and no launch
 * of a graph that captured one, may be pending. */
GFK_API void gfk_rs_decoder_destroy(gfk_rs_decoder_t decoder);

/* gfk_rs_decode: gfk_rs_decoder_create and gfk_rs_decoder_run in one call. The code keeps the 64
 * most recently used decoders in a locked cache. The first call for a set of lost regions
 * allocates: call once before a capture. An evicted decoder is destroyed when no thread is inside a
 * call with it and the device has finished its runs. A graph that outlives the cache entry would
 * use freed memory: capture gfk_rs_decoder_run instead. Statuses of both. */
GFK_API gfk_status gfk_rs_decode(gfk_rs_t code, const size_t *lost, size_t lost_count,
                                 const size_t *wanted, size_t wanted_count, const gfk_regions *data,
                                 const gfk_regions *parity, size_t bytes, gfk_stream_t stream);

/* ---- damaged regions ------------------------------------------------------------------------ */

/* gfk_rs_verify: does the parity match the data? One pass that only reads the regions.
 *
 * differs  one word, aligned to 4 bytes, in the same memory as the regions (or in host memory that
 *          the device can write). Becomes 0 if the parity matches, else 1, in stream order.
 *
 * No allocation, no synchronization; capturable. Statuses: above; also INVALID_ARGUMENT for a NULL
 * or misaligned word. OVERLAP only if the word is inside a region. NOT_SUPPORTED on a device for
 * more than 1,024 data regions, or more than 2,048 equally spaced ones. */
GFK_API gfk_status gfk_rs_verify(gfk_rs_t code, const gfk_regions *data, const gfk_regions *parity,
                                 size_t bytes, uint32_t *differs, gfk_stream_t stream);

/* The result of gfk_rs_locate. A position is one symbol of every region, at the same offset. */
typedef struct gfk_rs_verdict {
    uint64_t corrupt;       /* positions where the parity does not match */
    uint64_t located;       /* corrupt positions that at most gfk_rs_info.locatable wrong symbols
                               explain; `counts` names their regions */
    uint64_t unexplained;   /* corrupt positions with more wrong symbols; nothing is named or
                               repaired there */
    uint64_t first_corrupt; /* lowest byte offset of a corrupt position; UINT64_MAX: none */
    uint64_t reserved[4];   /* 0 */
} gfk_rs_verdict;

/* Does gfk_rs_locate write the regions? */
typedef enum gfk_rs_repair {
    GFK_RS_REPORT = 0, /* only reads the regions */
    GFK_RS_REPAIR = 1  /* corrects the wrong symbols in place */
} gfk_rs_repair;

/* gfk_rs_locate_workspace: the number of bytes of workspace that gfk_rs_locate needs for regions
 * of this length. On a device: four per 64 KiB of a region, and for each parity region 5, 8 or
 * 17 KiB (w = 8, 16, 32) for every block that runs at a time, at most six per multiprocessor. On
 * the CPU: for every core at most 40 KiB for each parity region, and less for short regions.
 * INVALID_ARGUMENT for NULL; INVALID_SIZE for a length that is not a multiple of w/8; NOT_SUPPORTED
 * as gfk_rs_locate. Any thread. */
GFK_API gfk_status gfk_rs_locate_workspace(gfk_rs_t code, size_t bytes, size_t *workspace_bytes);

/* gfk_rs_locate: finds wrong symbols without checksums. At every position where the parity does
 * not match the data, the call names the smallest set of regions whose symbols explain the
 * mismatch.
 *
 * repair     GFK_RS_REPORT or GFK_RS_REPAIR
 * verdict    receives the totals; every field is written
 * counts     receives k + m words: the number of positions at which each region was named. A
 *            region that is damaged everywhere has a much higher count than regions with scattered
 *            errors.
 * workspace  gfk_rs_locate_workspace bytes, aligned to 256, in use until the work has finished
 *
 * verdict, counts and workspace are in the same memory as the regions.
 *
 * Up to t = gfk_rs_info.locatable = floor(m / 2) wrong symbols per position are named exactly. A
 * position with more wrong symbols is counted as unexplained, or is named wrongly: m parity
 * symbols cannot tell it from a position with fewer errors, and GFK_RS_REPAIR would then add
 * damage. Warning signs are an `unexplained` above 0, and counts that name further regions where
 * only few regions are damaged, each in many places. Do not repair in these cases.
 *
 * Supported for every generalized Reed-Solomon code, which is every matrix except GFK_RS_GEN_RS
 * and GFK_RS_CUSTOM. For these two the call searches, if C(k + m, t) <= 100,000 and the code is
 * MDS. m is at most 4,096; on a device, more than 1,024 regions must be equally spaced.
 * NOT_SUPPORTED otherwise. Source of the algorithm: syndromes, then E. R. Berlekamp, "Algebraic
 * Coding Theory", 1968, and J. L. Massey, IEEE Trans. Inf. Theory 15, 1969.
 *
 * Undamaged regions cost as much as gfk_rs_verify, and on a device some 20 us more from 128 MiB of
 * all regions on, for a sample. Damage of the same regions at many positions is explained in bulk;
 * other damage costs a decoding of every position. No allocation, no
 * synchronization; capturable.
 * Statuses: above; OVERLAP between regions only with GFK_RS_REPAIR; NOT_SUPPORTED (locatable is 0,
 * or as above); WORKSPACE_TOO_SMALL. */
GFK_API gfk_status gfk_rs_locate(gfk_rs_t code, const gfk_regions *data, const gfk_regions *parity,
                                 size_t bytes, gfk_rs_repair repair, gfk_rs_verdict *verdict,
                                 uint64_t *counts, void *workspace, size_t workspace_bytes,
                                 gfk_stream_t stream);

/* ---- changed regions ------------------------------------------------------------------------ */

/* An immutable object: the products that update the parity when one data region changes. */
typedef struct gfk_rs_updater *gfk_rs_updater_t;

/* gfk_rs_updater_create: creates an updater for the data region `index`.
 *
 * desc  as for gfk_rs_decoder_create
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, an index beyond k - 1, another place); otherwise as
 * gfk_product_create. On an error *updater is unchanged. Any thread. */
GFK_API gfk_status gfk_rs_updater_create(gfk_rs_updater_t *updater, gfk_rs_t code, size_t index,
                                         const gfk_product_desc *desc);

/* gfk_rs_updater_run: parity[j] ^= matrix[j][index] * (before ^ after).
 *
 * before, after  the changed range of the data region with its old and its new contents; only read
 * parity         the same range of all m parity regions
 *
 * To update a part of a region, pass the addresses of that part. The result equals that of a new
 * gfk_rs_encode. No allocation, no synchronization; capturable. Statuses: above. */
GFK_API gfk_status gfk_rs_updater_run(gfk_rs_updater_t updater, const void *before,
                                      const void *after, const gfk_regions *parity, size_t bytes,
                                      gfk_stream_t stream);

/* gfk_rs_updater_apply: parity[j] ^= matrix[j][index] * delta, where gfk_rs_delta made the delta,
 * on this machine or on another one. Otherwise as gfk_rs_updater_run. */
GFK_API gfk_status gfk_rs_updater_apply(gfk_rs_updater_t updater, const void *delta,
                                        const gfk_regions *parity, size_t bytes,
                                        gfk_stream_t stream);

/* gfk_rs_updater_destroy: frees an updater. NULL is allowed. No run of the updater, and no launch
 * of a graph that captured one, may be pending. */
GFK_API void gfk_rs_updater_destroy(gfk_rs_updater_t updater);

/* gfk_rs_delta: delta = before ^ after. The holder of a parity region needs only the delta.
 * `delta` may equal `before` or `after`; any other overlap is refused, and so is before == after
 * == delta. No allocation; capturable. Statuses: above. */
GFK_API gfk_status gfk_rs_delta(gfk_rs_t code, const void *before, const void *after, void *delta,
                                size_t bytes, gfk_stream_t stream);

/* gfk_rs_update, gfk_rs_apply_delta: gfk_rs_updater_create and gfk_rs_updater_run, or
 * gfk_rs_updater_apply, in one call. The code keeps the updaters in the cache of gfk_rs_decode.
 * Statuses of both. */
GFK_API gfk_status gfk_rs_update(gfk_rs_t code, size_t index, const void *before, const void *after,
                                 const gfk_regions *parity, size_t bytes, gfk_stream_t stream);
GFK_API gfk_status gfk_rs_apply_delta(gfk_rs_t code, size_t index, const void *delta,
                                      const gfk_regions *parity, size_t bytes, gfk_stream_t stream);

/* ---- many small stripes --------------------------------------------------------------------- */

/* One stripe of a batch. */
typedef struct gfk_rs_stripe {
    gfk_regions data, parity; /* the same as for gfk_rs_encode and gfk_rs_decoder_run */
    size_t bytes;             /* the length of this stripe's regions */
    const size_t *lost;       /* NULL and 0: encode. Not NULL: rebuild the lost_count regions of
                                 these indices; a count of 0 rebuilds nothing */
    size_t lost_count;
} gfk_rs_stripe;

/* An immutable object: the addresses, lengths and matrices of many stripes. For a code on a device
 * they are in device memory. */
typedef struct gfk_rs_batch *gfk_rs_batch_t;

/* gfk_rs_batch_create: creates a batch, which encodes or rebuilds many stripes of one code in one
 * launch.
 *
 * stripes   `count` stripes. The array is copied; the regions are not.
 * statuses  if not NULL, receives `count` statuses, one for each stripe. A stripe whose status is
 *           not SUCCESS (INVALID_ARGUMENT, INVALID_SIZE, OVERLAP within the stripe, WRONG_DEVICE
 *           with check_pointers, TOO_MANY_ERASURES, SINGULAR) is left out of the batch; the other
 *           stripes are in it.
 *           The statuses are also written if the call fails, except when it returns
 *           INVALID_ARGUMENT for its own arguments. If memory runs out, the stripes from that
 *           point on have OUT_OF_MEMORY.
 *
 * Stripes run in any order and are not checked against each other: no stripe may read or write
 * what another stripe writes. On a device a region has at most 64 GiB less 32 bytes
 * (INVALID_SIZE).
 *
 * Inversion, packing and upload happen here. A set of lost regions that several stripes share is
 * inverted once. All cores invert and pack from 100,000 elements of decode matrices on, k elements
 * for each lost region of each different set; on the CPU always.
 *
 * Returns SUCCESS, also if stripes were left out and `statuses` is given; without `statuses`, the
 * error of the first bad stripe. INVALID_ARGUMENT (NULL); INVALID_SIZE (on a device, one region of
 * every stripe adds up to 256 GiB or more); OUT_OF_MEMORY; CUDA; on the CPU also the statuses of
 * gfk_product_create. On an error *batch is unchanged. Any thread. */
GFK_API gfk_status gfk_rs_batch_create(gfk_rs_batch_t *batch, gfk_rs_t code,
                                       const gfk_rs_stripe *stripes, size_t count,
                                       gfk_status *statuses);

/* gfk_rs_batch_run: encodes or rebuilds all stripes of the batch, on a device in one launch. A
 * batch may run again when its regions hold new data. No allocation, no synchronization;
 * capturable.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL); STREAM_ON_HOST; WRONG_DEVICE; CUDA. */
GFK_API gfk_status gfk_rs_batch_run(gfk_rs_batch_t batch, gfk_stream_t stream);

/* gfk_rs_batch_destroy: frees a batch. NULL is allowed. No run of the batch, and no launch of a
 * graph that captured one, may be pending. */
GFK_API void gfk_rs_batch_destroy(gfk_rs_batch_t batch);

#ifdef __cplusplus
}
#endif
#endif
