/* SPDX-License-Identifier: BSD-3-Clause */
/* Multipliers: a field, a kernel of the list and a device, with the field's tables. Region calls
 * take a multiplier. */
#ifndef GFK_MULTIPLIER_H
#define GFK_MULTIPLIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/export.h>
#include <gfk/field.h>
#include <gfk/registry.h>
#include <gfk/status.h>
#include <gfk/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An immutable object that owns the tables of its field (on the host for host rows, in device
 * memory for CUDA rows). Any number of threads may use one at the same time, on any streams. */
typedef struct gfk_multiplier *gfk_multiplier_t;

/* Which kernel to use. Start from GFK_MULTIPLIER_DESC_INIT; the library chooses for every field
 * that keeps its initial value. */
typedef struct gfk_multiplier_desc {
    size_t size;        /* sizeof(gfk_multiplier_desc), so that the struct can grow */
    const char *kernel; /* a kernel id; the next four fields must then be 0 or agree with it */
    gfk_method method;
    gfk_implementation implementation;
    unsigned arg1; /* SPLIT: the two widths of GF-Complete's "SPLIT arg1 arg2"; GROUP: gs */
    unsigned arg2; /* and gr. 0: the kernel's default. For SPLIT the order does not matter. */
    int device;    /* GFK_CURRENT_DEVICE, GFK_CPU or a device's number: see gfk/types.h */
    uint64_t table_limit; /* bytes allowed for tables plus workspace; 0: GFK_DEFAULT_TABLE_LIMIT */
    bool check_pointers;  /* for debugging: calls check the memory of every pointer (gfk/types.h) */
} gfk_multiplier_desc;

#define GFK_DEFAULT_TABLE_LIMIT (UINT64_C(1) << 30)
#define GFK_MULTIPLIER_DESC_INIT                                                                   \
    {sizeof(gfk_multiplier_desc), GFK_NULL, GFK_METHOD_AUTO,                                       \
     GFK_IMPLEMENTATION_AUTO,     0,        0,                                                     \
     GFK_CURRENT_DEVICE,          0,        false}

/* The properties of a multiplier, after its kernel has been chosen. */
typedef struct gfk_multiplier_info {
    const gfk_kernel_info *kernel; /* the row chosen */
    gfk_field field;
    unsigned arg1, arg2; /* the parameters in effect */
    int device;          /* GFK_CPU for host rows, else the device's number */
    uint64_t table_bytes;
    uint64_t workspace_bytes;
    uint64_t reserved[4]; /* 0 */
} gfk_multiplier_info;

/* gfk_multiplier_desc_parse: fills method, arg1 and arg2 of *desc from a GF-Complete method
 * string.
 *
 * text  "SPLIT 8 4 - -", "LOG - -", "GROUP 4 8 - -", "DEFAULT - -", ...: a method, its numbers,
 *       and up to two "-" for GF-Complete's default region and division options; a leading "-m" is
 *       accepted. Words are separated by blanks.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL); UNKNOWN_METHOD (no such word, or numbers that the
 * method does not take); NOT_SUPPORTED (GF-Complete has it, this library does not: CARRY_FREE_GK,
 * COMPOSITE, LOG_ZERO and their variants, and any region or division option). On an error
 * *desc is unchanged. Whether a row with these numbers exists for a width is
 * gfk_multiplier_query's answer. */
GFK_API gfk_status gfk_multiplier_desc_parse(gfk_multiplier_desc *desc, const char *text);

/* gfk_multiplier_query: which row would gfk_multiplier_create take, and how many bytes does it
 * need? Nothing is allocated, and table_limit is not applied. After TABLE_LIMIT this call tells
 * the number of bytes needed.
 *
 * desc  NULL means GFK_MULTIPLIER_DESC_INIT
 *
 * The choice: rows that match every field set in desc, on the CPU for GFK_CPU, else on the device;
 * of those the first, in the order of measured speed, that can run here and, if several can, fits
 * table_limit. The library never replaces a row that desc names, nor the CPU for a device.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, a field that gfk_field_init did not make, an enumerator,
 * size or device number out of range, a kernel whose method, width or parameters contradict desc, a
 * CUDA kernel or implementation with GFK_CPU); UNKNOWN_METHOD (no row matches); NO_DEVICE (there is
 * no such device); NOT_SUPPORTED (rows match, but none can run here; gfk_kernel_available has the
 * sentence; also a CUDA kernel or implementation named in a build without CUDA); CUDA (the device
 * does not answer). A query about a device creates its primary context, as any CUDA call does. */
GFK_API gfk_status gfk_multiplier_query(const gfk_field *field, const gfk_multiplier_desc *desc,
                                        gfk_multiplier_info *info);

/* gfk_multiplier_create: creates the multiplier that gfk_multiplier_query describes, and builds
 * its tables. May allocate, upload, launch and synchronize; not capturable. The tables of a CUDA
 * row are in the memory of its device; the calling thread's current device is left as it was.
 *
 * Returns what gfk_multiplier_query returns, and TABLE_LIMIT (tables plus workspace need more than
 * table_limit bytes), OUT_OF_MEMORY, CUDA. On an error *multiplier is unchanged. Any thread. */
GFK_API gfk_status gfk_multiplier_create(gfk_multiplier_t *multiplier, const gfk_field *field,
                                         const gfk_multiplier_desc *desc);

/* gfk_multiplier_get_info: describes the multiplier. INVALID_ARGUMENT for NULL. Any thread. */
GFK_API gfk_status gfk_multiplier_get_info(gfk_multiplier_t multiplier, gfk_multiplier_info *info);

/* gfk_multiplier_destroy: frees the tables. NULL is allowed. No call or kernel that uses the
 * multiplier, and no launch of a graph that captured one, may be pending. */
GFK_API void gfk_multiplier_destroy(gfk_multiplier_t multiplier);

#ifdef __cplusplus
}
#endif
#endif
