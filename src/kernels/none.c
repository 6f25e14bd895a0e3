/* SPDX-License-Identifier: BSD-3-Clause */
/* A build without CUDA: what the host side calls of kernels by name. No code is on a device there,
 * so nothing reaches these functions. */
#include "host/matrix/batch.h"
#include "host/matrix/eliminate.h"
#include "host/product/matmul.h"
#include "host/region/kernel.h"
#include "host/rlnc/decoder.h"
#include "host/rs/batch/batch.h"
#include "host/rs/locate/locate.h"

gfk_status gfk_region_copy_on_device(const gfk_call *call) {
    (void)call;
    return GFK_STATUS_NOT_SUPPORTED;
}

#ifndef GFK_SIMULATED /* the simulated device has its own */
gfk_status gfk_matmul_run(const gfk_matmul_call *call) {
    (void)call;
    return GFK_STATUS_NOT_SUPPORTED;
}
#endif

const gfk_elimination_steps gfk_eliminate_on_device = {0};

gfk_status gfk_matrix_batch_run(const gfk_matrix_batch *batch) {
    (void)batch;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_rlnc_vectors_run(const gfk_rlnc_vectors_job *job, gfk_stream_t stream) {
    (void)job;
    (void)stream;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_rlnc_open_on_device(gfk_rlnc_decoder_t d, size_t bytes, size_t staging_bytes) {
    (void)d;
    (void)bytes;
    (void)staging_bytes;
    return GFK_STATUS_NOT_SUPPORTED;
}

void gfk_rlnc_close_on_device(gfk_rlnc_decoder_t d) {
    (void)d;
}

gfk_status gfk_rlnc_clear_on_device(gfk_rlnc_decoder_t d, gfk_stream_t stream) {
    (void)d;
    (void)stream;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_rlnc_add_on_device(gfk_rlnc_decoder_t d, const gfk_rlnc_packets *packets,
                                  gfk_stream_t stream) {
    (void)d;
    (void)packets;
    (void)stream;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status gfk_rlnc_decode_on_device(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                     uint8_t *decoded, gfk_stream_t stream) {
    (void)d;
    (void)sources;
    (void)decoded;
    (void)stream;
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_batch_kernel gfk_batch_choose(unsigned w, size_t k, size_t rows, bool clmad, bool whole) {
    (void)w;
    (void)k;
    (void)rows;
    (void)clmad;
    (void)whole;
    return (gfk_batch_kernel){0};
}

#define NO_LOCATE(step)                                                                            \
    gfk_status gfk_locate_device_##step(const gfk_locate_call *call) {                             \
        (void)call;                                                                                \
        return GFK_STATUS_NOT_SUPPORTED;                                                           \
    }
NO_LOCATE(clear)
NO_LOCATE(mark)
NO_LOCATE(run)

gfk_status gfk_locate_device_sample(const gfk_locate_call *call, const uint32_t **verdict) {
    (void)call;
    (void)verdict;
    return GFK_STATUS_NOT_SUPPORTED;
}

size_t gfk_locate_slabs(const gfk_rs_locator *locator, size_t bytes) {
    (void)locator;
    (void)bytes;
    return 0;
}
