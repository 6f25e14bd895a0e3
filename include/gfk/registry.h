/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of kernels: every way this library can multiply a region, as data. */
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

/* gfk_method_name: GF-Complete's spelling ("SHIFT", "BYTWO_p", ...); "AUTO" for 0; never NULL. */
GFK_API const char *gfk_method_name(gfk_method method);

/* gfk_implementation_name: "host", "naive", "opt"; "auto" for 0; never NULL. */
GFK_API const char *gfk_implementation_name(gfk_implementation implementation);

#ifdef __cplusplus
}
#endif
#endif
