/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters of matmul kernels, and the sizes on which the host and the kernels agree. */
#ifndef GFK_HOST_MATMUL_H
#define GFK_HOST_MATMUL_H

#include <stdbool.h>

#include "generate.h"
#include "host/base/sizes.h"
#include "host/base/threads.h"
#include "host/region/operands.h"
#include "kernels/list.h"

/* The kernels on warpgroup MMAs compute tiles of GFK_MATMUL_TILE_BITS(levels) bits of outputs by
 * GFK_MATMUL_TILE_SYMBOLS symbols. The inputs (the K dimension) are taken in K-blocks of
 * GFK_MATMUL_K_BLOCK_BITS(levels) bits. The kernels on the carry-less multiply-add compute tiles of
 * GFK_MATMUL_CLMAD_OUTPUTS outputs by GFK_MATMUL_CLMAD_BYTES bytes, with K-blocks of 256 bits. */
#define GFK_MATMUL_TILE_BITS(levels) ((levels) == 0 ? 128 : 192)
#define GFK_MATMUL_K_BLOCK_BITS(levels) ((levels) == 0 ? 1024 : 512)
enum {
    GFK_MATMUL_TILE_SYMBOLS = 256,
    GFK_MATMUL_CLMAD_OUTPUTS = 32,
    GFK_MATMUL_CLMAD_BYTES = 512,
    GFK_MATMUL_PART_BYTES = 1 << 30, /* bytes of either operand that are prepared at a time */
    GFK_MATMUL_PANEL_OUTPUTS = 4096, /* outputs that are prepared at a time, without levels */
    GFK_MATMUL_MOST_POINTERS = 1024  /* pointers to regions in one launch */
};

/* The division of a call: the numbers of tiles, of symbols and of outputs, that are prepared at a
 * time. */
typedef struct gfk_matmul_plan {
    /* products in one launch: 1, or the number whose symbols and outputs are prepared together */
    size_t products;
    const gfk_kernel_row *kernel;
    size_t k_blocks; /* K-blocks of all parts */
    size_t symbol_tiles, symbol_tiles_at_once;
    size_t output_tiles, output_tiles_at_once;
    size_t matrix_bytes; /* bytes of the matrix in a K-block and a tile of outputs */
    /* Bytes of the workspace: the data, the matrix, the points of the columns, the points of the
     * rows, and the sum. */
    size_t data_space, matrix_space, space;
} gfk_matmul_plan;

/* The head: regions of another length that the same matrix multiplies, as many as the regions of b
 * and of c, and evenly spaced. The tiles of symbols of the head come first. */
typedef struct gfk_matmul_head {
    const uint8_t *b;
    uint8_t *c;
    size_t b_stride, c_stride;
    size_t bytes; /* bytes of a region; 0: there is no head */
} gfk_matmul_head;

/* The machine that a call runs on. */
typedef struct gfk_matmul_machine {
    int processors;   /* multiprocessors; 0: the CPU, or, if only sizes are asked for, any device */
    uint32_t kernels; /* bit i: the device runs row i of gfk_rows_of("matmul") */
} gfk_matmul_machine;

typedef struct gfk_matmul_call {
    const gfk_field *field;
    const gfk_matrix *a;
    const gfk_generator *generator; /* NULL: a is a dense matrix */
    const gfk_regions *b, *c;
    size_t bytes;
    gfk_matmul_head head;
    bool accumulate;
    bool in_place; /* c may overlap b, which is evenly spaced; there is one product, and no head */
    uint8_t *workspace;
    gfk_matmul_machine machine;
    gfk_stream_t stream;
    const gfk_kernel_row *kernel; /* the kernel that the plan must have; NULL: the fastest one */
    gfk_matmul_plan plan;
    /* A word on the device, or NULL. If the word is not 0 when the kernel starts, c is not
     * changed. */
    const uint32_t *skip_if;
    /* One byte per region of c, or NULL. Region i is computed if output_mask[i] is not 0, else the
     * region is not changed. */
    const uint8_t *output_mask;
} gfk_matmul_call;

#ifdef __cplusplus
extern "C" {
#endif
/* Returns the first line of width w that the machine runs. Its kernel takes the smallest workspace,
 * and is not the fastest one. */
const gfk_kernel_row *gfk_matmul_smallest_kernel(unsigned w, const gfk_matmul_machine *machine);

/* Returns the descriptor, or the default descriptor for NULL. Returns NULL if the descriptor is not
 * valid. */
const gfk_matmul_desc *gfk_matmul_desc_of(const gfk_matmul_desc *desc);
/* Sets the kernel that a descriptor names for a device, or NULL if it names none. Returns
 * UNKNOWN_METHOD, or INVALID_ARGUMENT if the kernel has another width or the device is GFK_CPU. */
gfk_status gfk_matmul_find_kernel(const char *id, int device, const gfk_field *field,
                                  const gfk_kernel_row **kernel);
/* Returns NOT_SUPPORTED if the machine does not run the kernel, and SUCCESS for NULL. */
gfk_status gfk_matmul_check_kernel(const gfk_kernel_row *kernel, const gfk_matmul_machine *machine);
/* The twins of public functions for a field that has been proven: host/base/field.h. */
gfk_status gfk_matmul_proven(const gfk_field *field, const gfk_matrix *a, const gfk_regions *b,
                             const gfk_regions *c, size_t bytes, gfk_accumulate mode,
                             const gfk_matmul_desc *desc, void *workspace, size_t workspace_bytes,
                             gfk_stream_t stream);
/* in_place: the member of gfk_matmul_call; false for every public call. */
gfk_status gfk_matmul_workspace_proven(const gfk_field *field, size_t rows, size_t cols,
                                       size_t bytes, bool in_place, const gfk_matmul_desc *desc,
                                       size_t *workspace_bytes);
/* Reads field, a, bytes, in_place, kernel and machine, and sets the plan. Sizes are the same for
 * any machine. Returns SUCCESS, INVALID_ARGUMENT, INVALID_SIZE, or NOT_SUPPORTED if the machine
 * does not run the kernel. */
gfk_status gfk_matmul_make_plan(gfk_matmul_call *call);
/* Checks sizes and, if the matrix is generated, its kind and points, and sets the call's generator
 * to *generator. Sets the operands to b, c, and the elements or the points of the matrix. */
enum { GFK_MATMUL_OPERANDS = 4 };
gfk_status gfk_matmul_check(gfk_matmul_call *call, gfk_generator *generator,
                            gfk_operand operands[GFK_MATMUL_OPERANDS]);
/* Does the device have kernels for a matmul? NOT_SUPPORTED: *reason is the reason. */
gfk_status gfk_matmul_check_device(int device, const char **reason);
/* Sets *place to the place that a descriptor's device number means: GFK_CPU or a device with
 * kernels for a matmul. */
gfk_status gfk_matmul_resolve(int device, int *place, gfk_matmul_machine *machine);
/* Returns the number of threads that a descriptor means. 0 means one thread for each core. */
size_t gfk_matmul_threads(unsigned threads);
/* Sets the machine for a place: GFK_CPU, or the current device. */
gfk_status gfk_matmul_find_place(const gfk_matmul_desc *desc, gfk_stream_t stream, int *place,
                                 gfk_matmul_machine *machine);
/* Runs the call's plan, asynchronously. */
gfk_status gfk_matmul_run(const gfk_matmul_call *call);

/* Several products with dense matrices of one shape. The matrices have a->rows rows each and follow
 * each other; so do the regions of b, of c, and of the head. If call->machine.processors is 0 the
 * place is the CPU, which uses `threads` threads of the pool; threads is 1 if there is no pool.
 * plan_batch reads field, a, bytes, head.bytes and machine. It sets the call's plan, and *space to
 * the bytes of the workspace. */
gfk_status gfk_matmul_plan_batch(gfk_matmul_call *call, size_t products, size_t threads,
                                 size_t *space);
/* Runs several products with the plan of plan_batch. If the regions are evenly spaced, a launch on
 * a device has plan.products products. If the regions are pointers, a launch has as many products
 * as have GFK_MATMUL_MOST_POINTERS regions. */
gfk_status gfk_matmul_run_batch(const gfk_matmul_call *call, size_t products, gfk_pool *pool,
                                size_t threads);

/* Some of several products, as a call. gfk_matmul_set_part takes products [first, first + count) of
 * the batch. The call points into the part. */
typedef struct gfk_matmul_part {
    gfk_matmul_call call;
    gfk_matrix a;
    gfk_regions b, c;
} gfk_matmul_part;
void gfk_matmul_set_part(gfk_matmul_part *part, const gfk_matmul_call *batch, size_t first,
                         size_t count);

/* matmul_cpu.c: the workspace of a call on the CPU, and the call itself, for one product or
 * several. The call uses at most `threads` threads of the pool, or the calling thread alone if
 * there is no pool. It reads neither the plan nor the members for devices. */
size_t gfk_matmul_cpu_space(size_t rows, size_t bytes, size_t products, size_t threads);
void gfk_matmul_cpu_run(const gfk_matmul_call *call, size_t products, gfk_pool *pool,
                        size_t threads);
#ifdef __cplusplus
}
#endif
#endif
