/* SPDX-License-Identifier: BSD-3-Clause */
/* What a matmul hands to its kernels, and the sizes that both agree on. */
#ifndef GFK_HOST_MATMUL_H
#define GFK_HOST_MATMUL_H

#include <stdbool.h>

#include "generate.h"
#include "host/base/sizes.h"
#include "host/base/threads.h"
#include "host/region/operands.h"
#include "kernels/list.h"

/* The kernels on warpgroup MMAs compute tiles of so many bits of outputs by 256 symbols, and take the inputs
 * in batches of so many bits. Those on the carry-less multiply-add compute tiles of 32 outputs by 512 bytes,
 * and a batch is 256 bits of inputs. */
#define GFK_MATMUL_TILE_BITS(levels) ((levels) == 0 ? 128 : 192)
#define GFK_MATMUL_BATCH_BITS(levels) ((levels) == 0 ? 1024 : 512)
enum {
    GFK_MATMUL_TILE_SYMBOLS = 256,
    GFK_MATMUL_CLMAD_OUTPUTS = 32,
    GFK_MATMUL_CLMAD_BYTES = 512,
    GFK_MATMUL_PART_BYTES = 1 << 30, /* of either operand that are prepared at a time */
    GFK_MATMUL_PANEL_OUTPUTS = 4096, /* without levels: that are prepared at a time */
    GFK_MATMUL_MOST_POINTERS = 1024  /* to regions, of one launch */
};

/* How a call is divided: so many tiles of symbols, and of outputs, are prepared at a time. */
typedef struct gfk_matmul_plan {
    size_t products; /* of one launch: 1, or as many as have their symbols and outputs prepared */
    const gfk_kernel_row *kernel;
    size_t batches; /* of all parts */
    size_t symbol_tiles, symbol_tiles_at_once;
    size_t output_tiles, output_tiles_at_once;
    size_t matrix_bytes; /* of a batch and a tile of outputs */
    /* Bytes of the workspace: data, matrix, the points of the columns and of the rows; in all. */
    size_t data_space, matrix_space, space;
} gfk_matmul_plan;

/* Regions of another length that the same matrix multiplies: as many as those of b and of c, evenly
 * spaced. Their tiles of symbols come first. */
typedef struct gfk_matmul_head {
    const uint8_t *b;
    uint8_t *c;
    size_t b_stride, c_stride;
    size_t bytes; /* of a region; 0: there is no head */
} gfk_matmul_head;

/* What does the work of a call. */
typedef struct gfk_matmul_machine {
    int processors; /* multiprocessors; 0: the CPU, or, where only sizes are asked for, any device */
    uint32_t kernels; /* bit i: the device runs row i of gfk_rows_of("matmul") */
} gfk_matmul_machine;

typedef struct gfk_matmul_call {
    const gfk_field *field;
    const gfk_matrix *a;
    const gfk_generator *generator; /* NULL: a is dense */
    const gfk_regions *b, *c;
    size_t bytes;
    gfk_matmul_head head;
    bool accumulate;
    bool in_place; /* c may overlap b, which is evenly spaced; there is one product, and no head */
    uint8_t *workspace;
    gfk_matmul_machine machine;
    gfk_stream_t stream;
    const gfk_kernel_row *kernel; /* that the plan must have; NULL: the fastest one */
    gfk_matmul_plan plan;
    const uint32_t *condition; /* on the device; where it is not 0, c stays untouched. Or NULL */
    const uint8_t
        *wanted; /* a byte for each region of c, which stays untouched where it is 0. Or NULL */
} gfk_matmul_call;

#ifdef __cplusplus
extern "C" {
#endif
/* Of a width, the first line that the machine runs: it takes the least memory, and more time. */
const gfk_kernel_row *gfk_matmul_smallest_kernel(unsigned w, const gfk_matmul_machine *machine);

/* The descriptor, or the default one for NULL; NULL if it is not valid. */
const gfk_matmul_desc *gfk_matmul_desc_of(const gfk_matmul_desc *desc);
/* The kernel that a descriptor names for a device; NULL for NULL. UNKNOWN_METHOD, or INVALID_ARGUMENT: it is of
 * another width, or the device is GFK_CPU. */
gfk_status gfk_matmul_find_kernel(const char *id, int device, const gfk_field *field,
                                  const gfk_kernel_row **kernel);
/* NOT_SUPPORTED if the machine does not run the kernel; SUCCESS for NULL. */
gfk_status gfk_matmul_check_kernel(const gfk_kernel_row *kernel, const gfk_matmul_machine *machine);
/* Of a field that has been proven: field.h. */
gfk_status gfk_matmul_proven(const gfk_field *field, const gfk_matrix *a, const gfk_regions *b,
                             const gfk_regions *c, size_t bytes, gfk_accumulate mode,
                             const gfk_matmul_desc *desc, void *workspace, size_t workspace_bytes,
                             gfk_stream_t stream);
/* in_place: as of gfk_matmul_call, which a public call never is. */
gfk_status gfk_matmul_workspace_proven(const gfk_field *field, size_t rows, size_t cols,
                                       size_t bytes, bool in_place, const gfk_matmul_desc *desc,
                                       size_t *workspace_bytes);
/* Reads field, a, bytes, in_place, kernel and machine, and sets the plan. Sizes are the same for any
 * machine. SUCCESS, INVALID_ARGUMENT, INVALID_SIZE, or NOT_SUPPORTED: the machine does not run the kernel. */
gfk_status gfk_matmul_make_plan(gfk_matmul_call *call);
/* Checks sizes and, if the matrix is generated, its kind and points, and sets the call's generator to
 * *generator. Sets the operands to b, c, and the elements or the points of the matrix. */
enum { GFK_MATMUL_OPERANDS = 4 };
gfk_status gfk_matmul_check(gfk_matmul_call *call, gfk_generator *generator,
                            gfk_operand operands[GFK_MATMUL_OPERANDS]);
/* Has the device kernels for a matmul? NOT_SUPPORTED: *reason says why not. */
gfk_status gfk_matmul_check_device(int device, const char **reason);
/* The place that a descriptor's device number means, GFK_CPU or a device with kernels for a matmul. */
gfk_status gfk_matmul_resolve(int device, int *place, gfk_matmul_machine *machine);
/* The number of threads that a descriptor means, where 0 is one for each core. */
size_t gfk_matmul_threads(unsigned threads);
/* Where a call works: GFK_CPU, or the current device. */
gfk_status gfk_matmul_find_place(const gfk_matmul_desc *desc, gfk_stream_t stream, int *place,
                                 gfk_matmul_machine *machine);
/* Asynchronous, with the call's plan. */
gfk_status gfk_matmul_run(const gfk_matmul_call *call);

/* Several products with dense matrices of one shape. The matrices have a->rows rows each and follow
 * each other, and so do the regions of b and of c, and of the head. Where call->machine.processors is 0 the
 * place is the CPU, which uses so many threads of the pool; threads is 1 if there is no pool.
 * plan_batch reads field, a, bytes, head.bytes and machine; sets the call's plan, and *space to the
 * bytes that the workspace needs. */
gfk_status gfk_matmul_plan_batch(gfk_matmul_call *call, size_t products, size_t threads,
                                 size_t *space);
/* With that plan. Where regions are evenly spaced, a device gets plan.products products at once, where
 * they are pointers as many as have GFK_MATMUL_MOST_POINTERS regions. */
gfk_status gfk_matmul_run_batch(const gfk_matmul_call *call, size_t products, gfk_pool *pool,
                                size_t threads);

/* Products [first, first + count) of several, as a call. */
typedef struct gfk_matmul_part {
    gfk_matmul_call call;
    gfk_matrix a;
    gfk_regions b, c;
} gfk_matmul_part;
void gfk_matmul_set_part(gfk_matmul_part *part, const gfk_matmul_call *batch, size_t first,
                         size_t count);

/* matmul_cpu.c: the workspace of a call on the CPU, and the call itself, one product or several, with
 * at most so many threads of the pool, or on the calling thread alone if there is no pool. Reads
 * neither the plan nor what is of devices. */
size_t gfk_matmul_cpu_space(size_t rows, size_t bytes, size_t products, size_t threads);
void gfk_matmul_cpu_run(const gfk_matmul_call *call, size_t products, gfk_pool *pool,
                        size_t threads);
#ifdef __cplusplus
}
#endif
#endif
