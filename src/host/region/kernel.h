/* SPDX-License-Identifier: BSD-3-Clause */
/* The internal contract of region kernels: the rows of kernels.def, and the arguments of their
 * functions. */
#ifndef GFK_HOST_KERNEL_H
#define GFK_HOST_KERNEL_H

#include <stdbool.h>

#include <gfk/gfk.h>

#include "host/base/poly.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One region multiply after all checks: bytes is a multiple of w/8 and not zero, src and dst are
 * the same or disjoint, c is neither 0 nor 1, the workspace is large enough and aligned to 16
 * bytes. prepare gets the same struct; src, dst and bytes are not set if no multiply follows at
 * once. */
typedef struct gfk_call {
    gfk_multiplier_t multiplier;
    uint32_t c;
    uint32_t basis[32]; /* c * 2^i for i < w; any product with c is an XOR of some elements */
    const unsigned char *src;
    unsigned char *dst;
    size_t bytes;
    bool accumulate; /* true for GFK_XOR */
    void *workspace; /* prepare writes it, multiply only reads it */
    gfk_stream_t stream;
} gfk_call;

/* Fills multiplier->tables (allocated, info.table_bytes long) and does the other work of the row
 * that is needed once per multiplier. For CUDA rows the multiplier's device is current. */
typedef gfk_status gfk_create_fn(gfk_multiplier_t multiplier);
/* Prepare and multiply: asynchronous on call->stream for CUDA rows, without allocation. */
typedef gfk_status gfk_run_fn(const gfk_call *call);

typedef struct gfk_kernel {
    gfk_kernel_info info;  /* the first member, so that an info pointer is a kernel pointer */
    gfk_create_fn *create; /* NULL: nothing to do */
    gfk_run_fn *prepare;   /* NULL: nothing to do */
    gfk_run_fn *multiply;  /* NULL: this build lacks the row's function */
} gfk_kernel;

struct gfk_multiplier {
    gfk_multiplier_info info;
    const gfk_kernel *kernel;
    void *tables;        /* the tables of the field; NULL if info.table_bytes is 0 */
    gfk_barrett barrett; /* the constants of the field, for CARRY_FREE */
    int processors;      /* multiprocessors of the device; 0 for host rows */
    bool on_device;      /* the tables are in device memory */
    bool check_pointers;
};

/* A label of rows that do not belong to the library (GFK_EXTRA_KERNELS). AUTO never chooses such a
 * row; a descriptor may name its id. */
#define GFK_LABEL_EXTRA 0x80000000u

/* The list, in registry.c. */
extern const gfk_kernel gfk_kernels[];
const gfk_kernel *gfk_kernel_of(const gfk_kernel_info *info); /* NULL if info is no row */
/* Can the row run here? The number is one that gfk_device_allows. Sets *device to GFK_CPU for rows
 * on the CPU, else to the device that the number means. On an error *reason is the reason. */
gfk_status gfk_kernel_check(const gfk_kernel *kernel, int requested, int *device,
                            const char **reason);

/* The functions that kernels.def names. Each CUDA row has one more function, which registry.c
 * declares. */
gfk_create_fn gfk_create_products, gfk_create_log, gfk_create_log_even, gfk_create_reductions,
    gfk_create_split_8_8, gfk_create_log_device;
gfk_run_fn gfk_prepare_host, gfk_prepare_device;
gfk_run_fn gfk_shift_host, gfk_group_host, gfk_bytwo_p_host, gfk_bytwo_b_host, gfk_table_host,
    gfk_log_host, gfk_split_host, gfk_split_8_8_host, gfk_carry_free_host;

/* copy.cu: the multiply of c = 1 for all CUDA rows, a copy or an XOR of src into dst. */
gfk_run_fn gfk_region_copy_on_device;

/* The tables that prepare writes: `parts` tables in a row, each with 2^bits entries of
 * `entry_bytes` bytes. Entry v of part p is v * x^(p * bits) * c. */
typedef struct gfk_expansion {
    unsigned parts, bits, entry_bytes;
} gfk_expansion;
gfk_expansion gfk_expansion_of(gfk_multiplier_t multiplier);

#ifdef __cplusplus
}
#endif
#endif
