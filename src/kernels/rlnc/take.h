/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of the kernels that take packets. */
#pragma once

#include "host/rlnc/decoder.h"

namespace gfk {
namespace rlnc {

struct TakeJob {
    uint32_t n, spare;
    uint32_t polynomial; /* without its leading term */
    uint8_t *tables, *used;
    size_t pitch; /* of the tables */
    uint32_t *pivots;
    gfk_rlnc_record *records;
    const gfk_rlnc_segment *segments;
    const gfk_rlnc_arrival *arrivals;
    bool given; /* vectors are in the order of the call, not of `arrivals` */
    const uint8_t *vectors;
    size_t vector_pitch;
    gfk_rlnc_destination *destinations;
    uint8_t *outcomes; /* or NULL */
    gfk_inverter inverter;
};

/* The symbols of shapes.def, in take.cu, point to functions of this type. */
using Take = gfk_status(const TakeJob &job, size_t segments, gfk_stream_t stream);

} // namespace rlnc
} // namespace gfk
