/* SPDX-License-Identifier: BSD-3-Clause */
/* Reed-Solomon codes: k data regions, m parity regions of the same length, and what becomes of them
 * when regions are lost, damaged or changed.
 *
 * Symbol by symbol, parity[j] = sum over i of matrix[j][i] * data[i] in GF(2^w). An MDS code, which
 * the default is, rebuilds any m lost regions from the other k. */
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

/* What all functions on regions have in common, unless they say otherwise:
 *
 * index      Data regions are 0 to k - 1, parity regions k to k + m - 1.
 * data       k regions of `bytes` bytes each, parity: m regions. In the memory that the code's
 *            engine works on: the device's (gfk_rs_info.device >= 0) or the host's.
 * length     Any number of bytes that is a multiple of w/8; zero is success.
 * alignment  Any, each region its own; a common phase modulo 16 bytes is the fast path.
 * aliasing   A region that is written overlaps no other region of the call, read or not; lost ones
 *            that are not rebuilt do not count.
 * streams    As gfk_product_run: on a device asynchronous on `stream`; on the CPU `stream` is NULL
 *            and the work is done on return.
 * statuses   INVALID_ARGUMENT (NULL where a region or object is needed, a stride below bytes),
 *            INVALID_SIZE, OVERLAP, STREAM_ON_HOST, WRONG_DEVICE: nothing has been written. CUDA,
 *            INTERNAL: what is written is undefined.
 * threads    Objects never change after create: any number of threads, on any streams. */

/* ---- matrices ----------------------------------------------------------------------------------
 */

/* Which matrix. The named ones are byte for byte what other libraries compute, so that data that
 * they encoded can be decoded here, and the reverse. */
typedef enum gfk_rs_matrix {
    GFK_RS_CAUCHY = 0,   /* systematic Cauchy, 1 / ((k + j) ^ i): MDS while k + m <= 2^w */
    GFK_RS_VANDERMONDE,  /* systematic Vandermonde: rows r^i of r = 0, 1, ... times the inverse of
                            the upper k; MDS while k + m <= 2^w */
    GFK_RS_REED_SOL_VAN, /* Jerasure's reed_sol_van (reed_sol_vandermonde_coding_matrix); MDS */
    GFK_RS_CAUCHY_GOOD,  /* Jerasure's cauchy_good (cauchy_good_general_coding_matrix) as
                            jerasure_matrix_encode applies it, not as a bit matrix; MDS */
    GFK_RS_GEN_RS,       /* ISA-L's gf_gen_rs_matrix: powers 2^(ij). Not MDS in general: refused
                            where it is not, or too large to check, without GFK_RS_UNCHECKED */
    GFK_RS_GEN_CAUCHY1,  /* ISA-L's gf_gen_cauchy1_matrix; MDS */
    GFK_RS_CUSTOM        /* gfk_rs_desc.custom */
} gfk_rs_matrix;

/* gfk_rs_matrix_name: "cauchy", "vandermonde", "reed_sol_van", "cauchy_good", "gen_rs",
 * "gen_cauchy1", "custom"; never NULL. */
GFK_API const char *gfk_rs_matrix_name(gfk_rs_matrix matrix);

/* gfk_rs_fill_matrix: writes the parity rows of a named matrix: m * k elements, row by row.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, a field that gfk_field_init did not make, CUSTOM, k or m
 * zero); INVALID_SIZE (k + m > 2^w, or a product that wraps around); NOT_SUPPORTED (a matrix whose
 * library has no such field: Jerasure's and ISA-L's are defined for the default polynomials,
 * ISA-L's for w = 8); OUT_OF_MEMORY. Any thread. */
GFK_API gfk_status gfk_rs_fill_matrix(const gfk_field *field, gfk_rs_matrix which, size_t k,
                                      size_t m, uint32_t *matrix);

/* ---- codes -------------------------------------------------------------------------------------
 */

/* Flags of a code, a set of bits. */
#define GFK_RS_UNCHECKED 1u /* take a matrix that is not MDS, or too large to tell */

/* An immutable object: a matrix, and the product that encodes with it. */
typedef struct gfk_rs *gfk_rs_t;

/* Start from GFK_RS_DESC_INIT. */
typedef struct gfk_rs_desc {
    size_t size;              /* sizeof(gfk_rs_desc), so that the struct can grow */
    gfk_rs_matrix matrix;     /* which one */
    const uint32_t *custom;   /* m * k elements for GFK_RS_CUSTOM, row by row; copied. Else NULL */
    unsigned flags;           /* GFK_RS_UNCHECKED, or 0 */
    gfk_product_desc product; /* engine, device, compile, cache folder, expected length: of the
                                 encoder, and where decoders and updaters are given none */
} gfk_rs_desc;

#define GFK_RS_DESC_INIT {sizeof(gfk_rs_desc), GFK_RS_CAUCHY, 0, 0, GFK_PRODUCT_DESC_INIT}

/* Is every square part of the matrix regular? */
typedef enum gfk_rs_mds { GFK_RS_MDS_UNKNOWN = 0, GFK_RS_MDS_YES, GFK_RS_MDS_NO } gfk_rs_mds;

typedef struct gfk_rs_info {
    gfk_field field;
    size_t k, m;
    gfk_rs_matrix matrix;
    gfk_rs_mds mds;
    size_t locatable;         /* corrupt symbols per position that gfk_rs_locate names for sure; 0:
                                 gfk_rs_locate is not supported for this code */
    gfk_product_info product; /* of the encoder */
    int device;               /* -1: the code works in host memory */
    uint64_t reserved[4];     /* 0 */
} gfk_rs_info;

/* gfk_rs_create: makes a code.
 *
 * k, m   1 or more, k + m <= 2^w
 * desc   NULL means GFK_RS_DESC_INIT
 *
 * Allocates, uploads, and compiles when desc->product.compile says so; not capturable. Custom
 * matrices, and GFK_RS_GEN_RS, are checked: every square part must be regular, which is tested
 * while C(k + m, m) <= 1,000,000; beyond that GFK_RS_UNCHECKED is needed.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, zero k or m, a descriptor that contradicts itself);
 * INVALID_SIZE (k + m > 2^w); INVALID_CONSTANT (an element of the custom matrix outside the field);
 * SINGULAR (the matrix is not MDS); NOT_SUPPORTED (too large to check; a named matrix of another
 * field); otherwise as gfk_product_create. On an error *code is unchanged. Any thread. */
GFK_API gfk_status gfk_rs_create(gfk_rs_t *code, const gfk_field *field, size_t k, size_t m,
                                 const gfk_rs_desc *desc);

/* gfk_rs_get_info: what the code is. INVALID_ARGUMENT for NULL. Any thread. */
GFK_API gfk_status gfk_rs_get_info(gfk_rs_t code, gfk_rs_info *info);

/* gfk_rs_get_matrix: the m * k elements, row by row. INVALID_ARGUMENT for NULL. Any thread. */
GFK_API gfk_status gfk_rs_get_matrix(gfk_rs_t code, uint32_t *matrix);

/* gfk_rs_destroy: frees a code. Decoders, updaters and batches made from it live on without it.
 * NULL is allowed. No call with the code, and no captured graph of one, may be pending. */
GFK_API void gfk_rs_destroy(gfk_rs_t code);

/* gfk_rs_encode: computes all parity from all data. No allocation, no synchronization; capturable.
 * Statuses: above. */
GFK_API gfk_status gfk_rs_encode(gfk_rs_t code, const gfk_regions *data, const gfk_regions *parity,
                                 size_t bytes, gfk_stream_t stream);

/* ---- lost regions ------------------------------------------------------------------------------
 */

/* An immutable object: which regions are lost, and the product that rebuilds the wanted of them. */
typedef struct gfk_rs_decoder *gfk_rs_decoder_t;

/* gfk_rs_decoder_create: prepares to rebuild.
 *
 * lost    lost_count indices, each once, in any order; 0 and NULL are fine
 * wanted  wanted_count of them, each once; NULL and 0: all of them; an empty list: none
 * desc    how to compute; NULL: as the code was made. It must lead to the code's device, or for a
 *         code on the CPU to the CPU.
 *
 * The decoder reads k of the regions that are not lost, data first, then parity in its order,
 * unless the matrix is not MDS and these do not suffice.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, an index beyond k + m - 1, an index twice, a wanted one
 * that is not lost, another device); TOO_MANY_ERASURES (more than m lost); SINGULAR (the regions
 * left do not determine all lost ones, wanted or not; MDS codes never); otherwise as
 * gfk_product_create. On an error *decoder is unchanged. Any thread. */
GFK_API gfk_status gfk_rs_decoder_create(gfk_rs_decoder_t *decoder, gfk_rs_t code,
                                         const size_t *lost, size_t lost_count,
                                         const size_t *wanted, size_t wanted_count,
                                         const gfk_product_desc *desc);

/* gfk_rs_decoder_get_info: what computes it; *sources receives, if not NULL, the k indices that it
 * reads. A decoder with nothing to rebuild has no product: info->engine is NULL, and sources are
 * left alone. INVALID_ARGUMENT for a NULL decoder. Any thread. */
GFK_API gfk_status gfk_rs_decoder_get_info(gfk_rs_decoder_t decoder, gfk_product_info *info,
                                           size_t *sources);

/* gfk_rs_decoder_run: rebuilds the wanted regions in one pass. Regions that are lost and not wanted
 * are not touched, and their pointers may be NULL, as may those of regions that are not read. So
 * with nothing to rebuild neither data nor parity needs addresses, but both are given all the same:
 * INVALID_ARGUMENT for NULL. No allocation, no synchronization; capturable. Statuses: above. */
GFK_API gfk_status gfk_rs_decoder_run(gfk_rs_decoder_t decoder, const gfk_regions *data,
                                      const gfk_regions *parity, size_t bytes, gfk_stream_t stream);

/* gfk_rs_decoder_destroy: NULL is allowed. No run, and no captured graph of one, may be pending. */
GFK_API void gfk_rs_decoder_destroy(gfk_rs_decoder_t decoder);

/* gfk_rs_decode: gfk_rs_decoder_create and _run in one call. The code keeps up to 64 decoders, the
 * ones used last, behind a lock: a first call for a loss allocates (and compiles, if the code
 * does), so warm it up before capturing. What gives way to a newer decoder is destroyed when no
 * thread is inside a call with it and the device has finished its runs; captured graphs must use
 * decoders of their own. Statuses of both. */
GFK_API gfk_status gfk_rs_decode(gfk_rs_t code, const size_t *lost, size_t lost_count,
                                 const size_t *wanted, size_t wanted_count, const gfk_regions *data,
                                 const gfk_regions *parity, size_t bytes, gfk_stream_t stream);

/* ---- damaged regions ---------------------------------------------------------------------------
 */

/* gfk_rs_verify: does the parity match the data? One pass that only reads.
 *
 * differs  one word in the memory that the regions are in (or host memory that the device can
 *          write): set to 0 if it matches, to 1 if not, in stream order; aligned to 4 bytes
 *
 * No allocation, no synchronization; capturable. Statuses: above; INVALID_ARGUMENT for a NULL or
 * misaligned word too; OVERLAP only of the word with a region; NOT_SUPPORTED (on a device, more
 * than 1,024 data regions, or 2,048 equally spaced ones). */
GFK_API gfk_status gfk_rs_verify(gfk_rs_t code, const gfk_regions *data, const gfk_regions *parity,
                                 size_t bytes, uint32_t *differs, gfk_stream_t stream);

/* What gfk_rs_locate found. A position is one symbol of every region, at the same offset. */
typedef struct gfk_rs_verdict {
    uint64_t corrupt;       /* positions where parity does not match */
    uint64_t located;       /* of these: where at most gfk_rs_info.locatable symbols, named in the
                               counts, explain it */
    uint64_t unexplained;   /* of these: where more must be wrong; nothing is named or repaired */
    uint64_t first_corrupt; /* lowest byte offset of a corrupt position; UINT64_MAX: none */
    uint64_t reserved[4];   /* 0 */
} gfk_rs_verdict;

/* What else gfk_rs_locate does. */
typedef enum gfk_rs_repair {
    GFK_RS_REPORT = 0, /* only reads the regions */
    GFK_RS_REPAIR = 1  /* corrects the symbols that it names */
} gfk_rs_repair;

/* gfk_rs_locate_workspace: bytes that gfk_rs_locate needs for regions of this length: four per
 * 64 KiB, and on the host some for each parity region. INVALID_ARGUMENT for NULL; NOT_SUPPORTED as
 * gfk_rs_locate. Any thread. */
GFK_API gfk_status gfk_rs_locate_workspace(gfk_rs_t code, size_t bytes, size_t *workspace_bytes);

/* gfk_rs_locate: which symbols are wrong? Without checksums: at every position where parity does
 * not match, the smallest set of regions whose change explains it.
 *
 * repair     GFK_RS_REPORT or GFK_RS_REPAIR
 * verdict    what was found; every field is written
 * counts     k + m words: at how many positions each region was named. A region that is damaged all
 *            over stands out from scattered errors here.
 * workspace  gfk_rs_locate_workspace bytes, aligned to 256, until the work has finished
 *
 * verdict, counts and workspace are in the memory that the regions are in.
 *
 * Up to t = gfk_rs_info.locatable = floor(m / 2) wrong symbols per position are named exactly. With
 * more, a position is counted as unexplained or, which cannot be told from a smaller error, named
 * wrongly: a code with m = 2t or 2t + 1 has no more to give, and GFK_RS_REPAIR would then make it
 * worse. Where few regions are damaged, but each in many places, counts that name other regions
 * too, or an unexplained number other than 0, are the sign of that: do not repair.
 *
 * Any t for codes that are generalized Reed-Solomon codes, which all matrices but GFK_RS_GEN_RS and
 * GFK_RS_CUSTOM are; for these two by search, while C(k + m, t) <= 100,000 and the code is MDS. m
 * is at most 4,096; on a device, more than 1,024 regions must be equally spaced. NOT_SUPPORTED
 * otherwise.
 *
 * Costs what gfk_rs_verify costs where nothing is wrong. No allocation, no synchronization;
 * capturable. Statuses: above, OVERLAP for regions with each other only with GFK_RS_REPAIR;
 * NOT_SUPPORTED (locatable is 0, or see above); WORKSPACE_TOO_SMALL. */
GFK_API gfk_status gfk_rs_locate(gfk_rs_t code, const gfk_regions *data, const gfk_regions *parity,
                                 size_t bytes, gfk_rs_repair repair, gfk_rs_verdict *verdict,
                                 uint64_t *counts, void *workspace, size_t workspace_bytes,
                                 gfk_stream_t stream);

/* ---- changed regions ---------------------------------------------------------------------------
 */

/* An immutable object: the products that bring parity up to date when one data region changes. */
typedef struct gfk_rs_updater *gfk_rs_updater_t;

/* gfk_rs_updater_create: prepares updates of the data region `index`.
 *
 * desc  how to compute; NULL: as the code was made. As for gfk_rs_decoder_create.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, an index beyond k - 1, another device); otherwise as
 * gfk_product_create. On an error *updater is unchanged. Any thread. */
GFK_API gfk_status gfk_rs_updater_create(gfk_rs_updater_t *updater, gfk_rs_t code, size_t index,
                                         const gfk_product_desc *desc);

/* gfk_rs_updater_run: parity[j] ^= matrix[j][index] * (before ^ after).
 *
 * before, after  the changed range of the data region, as it was and as it is; only read
 * parity         the same range of all m parity regions
 *
 * For a part of a region give the addresses of that part. No allocation, no synchronization;
 * capturable. The result equals a new gfk_rs_encode. Statuses: above. */
GFK_API gfk_status gfk_rs_updater_run(gfk_rs_updater_t updater, const void *before,
                                      const void *after, const gfk_regions *parity, size_t bytes,
                                      gfk_stream_t stream);

/* gfk_rs_updater_apply: parity[j] ^= matrix[j][index] * delta, for a delta made by gfk_rs_delta,
 * maybe elsewhere. As gfk_rs_updater_run. */
GFK_API gfk_status gfk_rs_updater_apply(gfk_rs_updater_t updater, const void *delta,
                                        const gfk_regions *parity, size_t bytes,
                                        gfk_stream_t stream);

/* gfk_rs_updater_destroy: NULL is allowed. No run, and no captured graph of one, may be pending. */
GFK_API void gfk_rs_updater_destroy(gfk_rs_updater_t updater);

/* gfk_rs_delta: delta = before ^ after, which is all that the holder of a parity region needs.
 * delta may be one of before and after itself, not both, and not overlap them otherwise. No
 * allocation; capturable. Statuses: above. */
GFK_API gfk_status gfk_rs_delta(gfk_rs_t code, const void *before, const void *after, void *delta,
                                size_t bytes, gfk_stream_t stream);

/* gfk_rs_update, gfk_rs_apply_delta: gfk_rs_updater_create and _run or _apply in one call, with the
 * cache of gfk_rs_decode. Statuses of both. */
GFK_API gfk_status gfk_rs_update(gfk_rs_t code, size_t index, const void *before, const void *after,
                                 const gfk_regions *parity, size_t bytes, gfk_stream_t stream);
GFK_API gfk_status gfk_rs_apply_delta(gfk_rs_t code, size_t index, const void *delta,
                                      const gfk_regions *parity, size_t bytes, gfk_stream_t stream);

/* ---- many small stripes ------------------------------------------------------------------------
 */

/* One stripe of a batch. */
typedef struct gfk_rs_stripe {
    gfk_regions data, parity; /* as for gfk_rs_encode and gfk_rs_decoder_run */
    size_t bytes;             /* each stripe its own */
    const size_t *lost;       /* NULL and 0: encode. Else rebuild all of these; 0: nothing */
    size_t lost_count;
} gfk_rs_stripe;

/* An immutable object: the addresses, lengths and matrices of many stripes, on a device in its
 * memory. */
typedef struct gfk_rs_batch *gfk_rs_batch_t;

/* gfk_rs_batch_create: prepares to encode or rebuild many stripes of one code in one launch.
 *
 * stripes   count of them; copied, the regions themselves not
 * statuses  if not NULL, count words: what is wrong with each stripe. A stripe that is not SUCCESS
 *           (INVALID_ARGUMENT, INVALID_SIZE, OVERLAP within the stripe, TOO_MANY_ERASURES,
 *           SINGULAR) is left out, and the others are done. Written also where the call fails, but
 *           for its own INVALID_ARGUMENT: what is wrong with each stripe by itself, or
 *           OUT_OF_MEMORY from the one on that there was no memory for.
 *
 * Stripes are done in any order and not checked against each other: what one writes, no other may
 * read or write. On a device a region has at most 64 GiB less 32 bytes: INVALID_SIZE.
 *
 * All inversion, packing and uploading is here. A loss that several stripes share is inverted once.
 *
 * Returns SUCCESS, also when stripes were left out, if statuses is given; else the first stripe's
 * error. INVALID_ARGUMENT (NULL); INVALID_SIZE (on a device, stripes that are too long together,
 * which begins at 256 GiB, counting one region of each); OUT_OF_MEMORY; CUDA; on the CPU also what
 * gfk_product_create returns. On an error *batch is unchanged. Any thread. */
GFK_API gfk_status gfk_rs_batch_create(gfk_rs_batch_t *batch, gfk_rs_t code,
                                       const gfk_rs_stripe *stripes, size_t count,
                                       gfk_status *statuses);

/* gfk_rs_batch_run: does all stripes, in one launch on a device. May be run again, whenever the
 * regions hold new data. No allocation, no synchronization; capturable.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL); STREAM_ON_HOST; WRONG_DEVICE; CUDA. */
GFK_API gfk_status gfk_rs_batch_run(gfk_rs_batch_t batch, gfk_stream_t stream);

/* gfk_rs_batch_destroy: NULL is allowed. No run, and no captured graph of one, may be pending. */
GFK_API void gfk_rs_batch_destroy(gfk_rs_batch_t batch);

#ifdef __cplusplus
}
#endif
#endif
