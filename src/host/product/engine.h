/* SPDX-License-Identifier: BSD-3-Clause */
/* The internal contract of products: the rows of engines.def, and the arguments of their
 * functions. */
#ifndef GFK_HOST_ENGINE_H
#define GFK_HOST_ENGINE_H

#include <stdbool.h>

#include <gfk/gfk.h>

#include "host/region/operands.h"
#include "kernels/list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One call, a run or a check of outputs, whose arguments are right: bytes is a multiple of w/8 and
 * not zero, and no output overlaps an input or another output. */
typedef struct gfk_product_call {
    gfk_product_t product;
    const gfk_regions *in, *out;
    size_t bytes;
    bool accumulate; /* true for GFK_XOR */
    /* Only engines on the CPU read on_caller: the run is on the calling thread, as one part of at
     * most 2^30 bytes. */
    bool on_caller;
    gfk_stream_t stream;
    /* NULL: the call is a run. Else the call is a check: out is not written, and mismatch_map[o >>
     * shift] becomes 1 where out differs at byte offset o. The entry before or after may become 1
     * too; other entries are not touched. */
    uint32_t *mismatch_map;
    unsigned shift; /* 12 to 63 */
    /* A word on the device, or NULL, for a check by an engine on a device. If the word is not 0,
     * the engine may skip the check. */
    const uint32_t *skip_if;
} gfk_product_call;

/* The shift with which a mismatch map has one entry for the whole region. */
enum { GFK_WHOLE_REGION = 63 };

/* The twins of gfk_product_query and gfk_product_create for a proven field: host/base/field.h. */
gfk_status gfk_product_query_proven(const gfk_field *field, size_t rows, size_t cols,
                                    const gfk_product_desc *desc, gfk_product_info *info);
gfk_status gfk_product_create_proven(gfk_product_t *product, const gfk_field *field, size_t rows,
                                     size_t cols, const uint32_t *matrix,
                                     const gfk_product_desc *desc);
/* run.c: the checks of a run except those of the regions' memory. */
gfk_status gfk_product_check_arguments(gfk_product_t product, const gfk_regions *in,
                                       const gfk_regions *out, size_t bytes, gfk_stream_t stream);
/* run.c: runs the engine, for a call that has been checked. Engines on the CPU return SUCCESS.
 * NOT_SUPPORTED, with nothing written: product->named does not take the regions, or the call is a
 * check and the engine, on a device, would need several launches for an output. */
gfk_status gfk_product_compute(const gfk_product_call *call);

/* product.c: makes a product on the CPU with another matrix, for calls that run on their own
 * thread. The engine is ISA-L if it is the engine of `like`, else the reference without tables. The
 * product lies in `memory`, which has gfk_product_with_matrix_bytes bytes and is aligned to 64. The
 * product keeps a pointer to the matrix. It needs no destroy. */
size_t gfk_product_with_matrix_bytes(gfk_product_t like, size_t rows, size_t cols);
gfk_product_t gfk_product_with_matrix(gfk_product_t like, size_t rows, size_t cols,
                                      uint32_t *matrix, void *memory);

/* Marks a mismatch. Engines on the CPU use this function, because several threads may mark the same
 * entry. */
static inline void gfk_mark(const gfk_product_call *call, uint64_t offset) {
    __atomic_store_n(&call->mismatch_map[offset >> call->shift], 1, __ATOMIC_RELAXED);
}

/* Computes the bytes [offset, offset + length) of all regions of a call. */
typedef void gfk_range_fn(const gfk_product_call *call, size_t offset, size_t length);
/* gfk_share_tiles: computes all bytes of a call, for engines on the CPU. The pool's threads share
 * tiles of `tile` bytes of a region. With on_caller the call is one range. */
void gfk_share_tiles(const gfk_product_call *call, size_t tile, gfk_range_fn *range);

/* Loads the library that the engine needs, from the path in the descriptor or, without one, from
 * the path of the build, and checks that the library works in this field. NULL in a row: the engine
 * needs no library. */
typedef gfk_status gfk_engine_load_fn(const gfk_product_desc *desc, const gfk_field *field,
                                      const char **reason);
/* Can the engine take info->field, info->rows and info->cols on info->device? NULL in a row: all
 * fields and shapes of its width. Sets info->table_bytes, the device or host memory that create
 * would take. info->kernel is the kernel that the descriptor names, whose shape and device have
 * been checked; if the descriptor names none it is NULL, and an engine with kernels sets it to the
 * one that long aligned regions take. `reason` is never NULL. */
typedef gfk_status gfk_engine_accepts_fn(gfk_product_info *info, const char **reason);
/* Derives from product->matrix the data that run needs: `tables` (info.table_bytes, already
 * allocated, in device memory for engines on a device) and `state` (the engine's own, freed by
 * destroy). For engines on a device the product's device is current. After an error destroy frees
 * what has been made. */
typedef gfk_status gfk_engine_create_fn(gfk_product_t product, const gfk_product_desc *desc);
typedef void gfk_engine_destroy_fn(gfk_product_t product);
/* Runs the product, asynchronously on call->stream for engines on a device, without allocation.
 * NOT_SUPPORTED, with nothing written: product->named does not take the regions. */
typedef gfk_status gfk_engine_run_fn(const gfk_product_call *call);

typedef struct gfk_engine {
    gfk_engine_info info; /* the first member, so that an info pointer is an engine pointer */
    gfk_engine_load_fn *load;
    gfk_engine_accepts_fn *accepts;
    gfk_engine_create_fn *create;   /* NULL: nothing to do */
    gfk_engine_destroy_fn *destroy; /* NULL: nothing to do */
    gfk_engine_run_fn *run;         /* NULL: this build does not have the function */
} gfk_engine;

struct gfk_product {
    gfk_product_info info;
    const gfk_engine *engine;
    /* the only kernel that runs may use; NULL: runs may use all kernels */
    const gfk_compiled_kernel_info *named;
    uint32_t *matrix;      /* info.rows * info.cols elements, row by row */
    void *tables;          /* info.table_bytes bytes; NULL if that is 0 */
    void *state;           /* the engine's state on the host; NULL unless its create made one */
    struct gfk_pool *pool; /* for engines on the CPU; NULL for the others */
    int processors;        /* multiprocessors of the device; 0 for engines on the CPU */
    int cc;                /* compute capability, 10 * major + minor */
    bool on_device, check_pointers;
};

/* The list (registry.c). */
enum { GFK_MOST_ENGINES = 256 };
/* A label of engines that do not belong to the library (GFK_EXTRA_ENGINES). AUTO never chooses such
 * an engine; a descriptor may name its id. */
#define GFK_ENGINE_EXTRA 0x80000000u
extern const gfk_engine gfk_engines[];
const gfk_engine *gfk_engine_of(const gfk_engine_info *info); /* NULL if info is no row */
/* Can the engine run here? The number is one that gfk_device_allows. Sets *device to GFK_CPU for
 * engines on the CPU, else to the device that the number means. */
gfk_status gfk_engine_check(const gfk_engine *engine, int requested, int *device,
                            const char **reason);

/* Returns the engine for the id of an engine or of a kernel, NULL for any other id. *kernel is NULL
 * if the id is an engine's. */
const gfk_engine_info *gfk_engine_named(const char *id, const gfk_compiled_kernel_info **kernel);

/* The functions of engines on the CPU that engines.def names. */
gfk_engine_accepts_fn gfk_host_accepts;
gfk_engine_create_fn gfk_host_create;
gfk_engine_run_fn gfk_host_product_run;
gfk_engine_load_fn gfk_isal_load, gfk_gfcomplete_load;
/* Can the library at the path be loaded, and does it have the functions of the engine? */
bool gfk_isal_is_at(const char *path);
bool gfk_gfcomplete_is_at(const char *path);
gfk_engine_accepts_fn gfk_isal_accepts;
gfk_engine_create_fn gfk_isal_create, gfk_gfcomplete_create;
gfk_engine_destroy_fn gfk_isal_destroy, gfk_gfcomplete_destroy;
gfk_engine_run_fn gfk_isal_run, gfk_gfcomplete_run;

/* isal.c: fills product->tables from product->matrix, for a product whose state gfk_isal_create
 * made. */
void gfk_isal_fill_tables(gfk_product_t product);

#ifdef __cplusplus
}
#endif
#endif
