/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule of a decoder: the outcome of a packet, and the counts in the record of its generation.
 * The host and the kernels use the same functions. */
#ifndef GFK_HOST_RLNC_OUTCOME_H
#define GFK_HOST_RLNC_OUTCOME_H

#include <gfk/matrix.h>
#include <gfk/rlnc.h>

#include "host/base/poly.h"

/* The verdict of the elimination on a packet's vector. */
typedef enum gfk_rlnc_verdict {
    GFK_RLNC_ZERO_VECTOR, /* the vector was zero when it came */
    GFK_RLNC_NO_PIVOT,    /* the vector is a sum of earlier vectors */
    GFK_RLNC_HAS_PIVOT
} gfk_rlnc_verdict;

/* The slots that a generation has for a packet. */
typedef struct gfk_rlnc_vacancy {
    uint32_t slot;       /* the slot among payloads if the packet is innovative */
    uint32_t first_kept; /* the first of `room` free slots among kept packets */
    uint32_t room;
    uint32_t before; /* dependent packets that get free slots before this packet */
} gfk_rlnc_vacancy;

typedef struct gfk_rlnc_destination {
    /* index among payloads or kept packets; GFK_MATRIX_DEPENDENT: the packet has no slot */
    uint32_t slot;
    uint32_t outcome; /* a gfk_rlnc_outcome */
} gfk_rlnc_destination;

GFK_HOST_DEVICE gfk_rlnc_destination gfk_rlnc_destination_of(gfk_rlnc_verdict verdict,
                                                             gfk_rlnc_vacancy free) {
    gfk_rlnc_destination to = {GFK_MATRIX_DEPENDENT, GFK_RLNC_REFUSED};
    if (verdict == GFK_RLNC_HAS_PIVOT) {
        to.slot = free.slot;
        to.outcome = GFK_RLNC_INNOVATIVE;
    } else if (verdict == GFK_RLNC_NO_PIVOT && free.before < free.room) {
        to.slot = free.first_kept + free.before;
        to.outcome = GFK_RLNC_DEPENDENT;
    } else if (verdict == GFK_RLNC_NO_PIVOT) {
        to.outcome = GFK_RLNC_DROPPED;
    }
    return to;
}

/* The packets of a generation that are taken together. */
typedef struct gfk_rlnc_counts {
    uint32_t innovative, dependent;
    uint32_t all; /* all packets, including those with zero vectors */
} gfk_rlnc_counts;

/* Adds the packets to the record. `room` is the number of dependent packets that the generation can
 * still keep. */
GFK_HOST_DEVICE void gfk_rlnc_count(gfk_rlnc_record *record, gfk_rlnc_counts packets,
                                    uint32_t room) {
    const uint32_t stay = packets.dependent < room ? packets.dependent : room;
    record->rank += packets.innovative;
    record->kept += stay;
    record->dropped += packets.dependent - stay;
    record->refused += packets.all - packets.innovative - packets.dependent;
}

/* The sources are determined once the rank is n; a contradiction that was found stays. */
GFK_HOST_DEVICE void gfk_rlnc_note_rank(gfk_rlnc_record *record, uint32_t n) {
    if (record->rank == n && record->status == GFK_STATUS_SINGULAR)
        record->status = GFK_STATUS_SUCCESS;
}

#endif
