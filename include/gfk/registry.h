/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists of kernels as data: every way this library can multiply a region, and the compiled
 * kernels of products and matrices. */
#ifndef GFK_REGISTRY_H
#define GFK_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include <gfk/export.h>
#include <gfk/status.h>
#include <gfk/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Labels of a row, a set of bits. */
#define GFK_LABEL_GIANT 2u /* needs more than 1 GiB of tables or workspace */

/* One row of the list. Rows are constant and exist in every build. gfk_kernel_available tells why
 * a row cannot run here. */
typedef struct gfk_kernel_info {
    const char *id; /* <method>_w<W>_<implementation>[_<variant>] */
    gfk_method method;
    unsigned w;
    gfk_implementation implementation;
    const char *variant;    /* "" for the main row of its method, width and implementation */
    const char *parameters; /* SPLIT: part widths; GROUP: gs and gr; "" for the others */
    unsigned arg1, arg2;    /* the same as numbers, in GF-Complete's order; 0 for the others */
    unsigned arg_min;       /* 0: the parameters are fixed. Otherwise arg1 and arg2 are */
    unsigned arg_max;       /* defaults: a descriptor chooses each from arg_min to arg_max */
    unsigned labels;
    uint64_t table_bytes;     /* tables of the field, which a multiplier owns */
    uint64_t workspace_bytes; /* tables of a constant, in the caller's workspace */
    unsigned cc_min, cc_max;  /* compute capabilities, 10 * major + minor; 0: no bound */
    size_t shared_bytes;      /* shared memory per block */
    size_t tile_bytes;        /* bytes of the region that one block takes in one step */
} gfk_kernel_info;

/* gfk_kernel_count: the number of rows. */
GFK_API size_t gfk_kernel_count(void);

/* gfk_kernel_at: row index, from 0 to gfk_kernel_count() - 1; NULL beyond. */
GFK_API const gfk_kernel_info *gfk_kernel_at(size_t index);

/* gfk_kernel_find: the row with this id; NULL if there is none or id is NULL. */
GFK_API const gfk_kernel_info *gfk_kernel_find(const char *id);

/* gfk_kernel_available: can this row run here?
 *
 * device  GFK_CURRENT_DEVICE or a device's number for CUDA rows; host rows take these and GFK_CPU
 * reason  if not NULL, receives a static sentence when the answer is no, and NULL when it is yes
 *
 * Returns SUCCESS; INVALID_ARGUMENT (info is not a row of this list, a number that stands for no
 * place, GFK_CPU for a CUDA row); NOT_SUPPORTED (this build has no CUDA, or the device lacks
 * what the row needs); NO_DEVICE; CUDA (the device does not answer). Free memory is not checked.
 * Any thread. */
GFK_API gfk_status gfk_kernel_available(const gfk_kernel_info *info, int device,
                                        const char **reason);

/* ---- compiled kernels of products and matrices ---------------------------------------------- */

/* Labels of a compiled kernel of an engine, a set of bits.
 *
 * ALIGNED  the kernel takes regions that all begin at one phase modulo 16 bytes, at multiples of
 *          the symbol's size, and no others
 * SHORT    the engine uses the kernel for short regions
 * SETS     the kernel only sets outputs (GFK_SET): the kernel does not read them
 * READS    the kernel always reads outputs: it takes GFK_XOR, and refuses GFK_SET */
#define GFK_KERNEL_ALIGNED 1u
#define GFK_KERNEL_SHORT 2u
#define GFK_KERNEL_SETS 4u
#define GFK_KERNEL_READS 8u

/* Both are inclusive; 0 is no bound. */
typedef struct gfk_bounds {
    size_t min, max;
} gfk_bounds;

/* One compiled kernel. Rows are constant, and exist in every build, also where the build has no
 * code for them: that of an nvcc older than 13.3 has none for the kernels `clmad`. */
typedef struct gfk_compiled_kernel_info {
    const char *id; /* <owner>/<kernel> */
    unsigned w;
    gfk_bounds inputs;  /* columns of the matrix. For rlnc_take the sources of a generation */
    gfk_bounds outputs; /* rows of the matrix. invert_batch and rlnc_take: as many as inputs */
    gfk_bounds batch;   /* generations of a decoder */
    gfk_bounds cc;      /* compute capabilities, 10 * major + minor */
    unsigned labels;
    unsigned shared_kib; /* shared memory of a block, rounded up. 0: every device has enough */
} gfk_compiled_kernel_info;

/* gfk_compiled_kernel_count, gfk_compiled_kernel_at: the compiled kernels of an owner, in the order
 * of the choice where the owner takes the first one that fits.
 *
 * owner  an engine's id, "bmma_w8", or a call and its width: "matmul_w8", "eliminate_w8" (of
 *        gfk_matrix_invert, _solve and _rank), "invert_batch_w8", "rlnc_take_w8" (of
 *        gfk_rlnc_decoder_add). Without "_w8" the kernels of all widths. NULL: the kernels of all
 *        owners
 * index  below the count; NULL beyond it
 *
 * The count is 0 for engines on the CPU and for other texts. A test or a benchmark names a kernel
 * by its id: that of an engine as `engine` of gfk_product_desc, that of a matmul as `kernel` of
 * gfk_matmul_desc and gfk_rlnc_desc. Any thread. */
GFK_API size_t gfk_compiled_kernel_count(const char *owner);
GFK_API const gfk_compiled_kernel_info *gfk_compiled_kernel_at(const char *owner, size_t index);

/* ---- names ---------------------------------------------------------------------------------- */

/* gfk_method_name: GF-Complete's spelling ("SHIFT", "BYTWO_p", ...); "AUTO" for 0; never NULL. */
GFK_API const char *gfk_method_name(gfk_method method);

/* gfk_implementation_name: "host", "naive", "opt"; "auto" for 0; never NULL. */
GFK_API const char *gfk_implementation_name(gfk_implementation implementation);

#ifdef __cplusplus
}
#endif
#endif
