/* SPDX-License-Identifier: BSD-3-Clause */
/* The code object, and the checks that its calls share. */
#ifndef GFK_HOST_RLNC_CODE_H
#define GFK_HOST_RLNC_CODE_H

#include "host/base/threads.h"
#include "host/product/matmul.h"
#include "vectors.h"

struct gfk_rlnc {
    gfk_field field;
    size_t n, bytes;
    gfk_rlnc_desc desc; /* density: not 0 */
    int place;          /* GFK_CPU or a device's number */
    gfk_matmul_machine machine;
    const gfk_kernel_row *kernel; /* the kernel of products; NULL: the fastest ones */
    gfk_pool *pool;               /* for a code on the CPU; NULL: one thread */
    size_t threads;               /* for a code on the CPU */
    gfk_rlnc_rule rule;
};

#ifdef __cplusplus
extern "C" {
#endif
/* Checks a range, and counts its packets. */
gfk_status gfk_rlnc_check_range(const gfk_rlnc_range *range, size_t *packets);
/* Returns the operand of `count` coding vectors. count is at least 1. */
gfk_operand gfk_rlnc_rows(gfk_rlnc_t code, const void *vectors, size_t rows, size_t stride,
                          unsigned flags);
/* Calls gfk_operands_check for the code's place. */
gfk_status gfk_rlnc_check_memory(gfk_rlnc_t code, const gfk_operand *operands, size_t count);
/* Returns a copy of the code on the CPU, without payloads. The copy borrows the pool, and needs no
 * destroy. */
struct gfk_rlnc gfk_rlnc_of_vectors_on_cpu(gfk_rlnc_t code, gfk_pool *pool, size_t threads);
/* packets.c: returns the rule by which a recoder draws its factors. */
gfk_rlnc_rule gfk_rlnc_recoding_rule(gfk_rlnc_t code, uint64_t seed, size_t received);
/* Writes all vectors of a job on the CPU. pool: NULL for the calling thread alone. */
void gfk_rlnc_fill_vectors(const gfk_rlnc_vectors_job *job, gfk_pool *pool, size_t threads);
/* Writes all vectors of a job at the code's place. */
gfk_status gfk_rlnc_run_job(gfk_rlnc_t code, const gfk_rlnc_vectors_job *job, gfk_stream_t stream);
/* Writes the vectors of `count` packets with headers, at the code's place. count may be 0. Reads
 * only generation and packet. The function is asynchronous on a device, and checks nothing. */
gfk_status gfk_rlnc_write_vectors(gfk_rlnc_t code, const gfk_rlnc_header *headers, size_t count,
                                  void *vectors, size_t stride, gfk_stream_t stream);

#ifdef __cplusplus
}
#endif

#endif
