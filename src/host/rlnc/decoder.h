/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoder, which has the same parts at every place.
 *
 * A generation's table is a matrix of exchange steps (docs/matrices.md): row s < rank belongs to the
 * payload in slot s, and says what the source pivots[s] is, as a sum over the columns. A column that is
 * the pivot of slot t stands for payload t, another column for its source. New vectors are taken in
 * panels, behind the n rows of the table. */
#ifndef GFK_HOST_RLNC_DECODER_H
#define GFK_HOST_RLNC_DECODER_H

#include "code.h"
#include "host/matrix/eliminate.h"

/* A packet on its way into a decoder. */
typedef struct gfk_rlnc_arrival {
    const uint8_t *payload;
    uint32_t source; /* its index in the call */
    uint32_t reserved;
} gfk_rlnc_arrival;

/* Where it goes. */
typedef struct gfk_rlnc_destination {
    uint32_t slot;    /* of its payload, or GFK_MATRIX_DEPENDENT: it does not stay */
    uint32_t outcome; /* gfk_rlnc_outcome */
} gfk_rlnc_destination;

struct gfk_rlnc_decoder {
    gfk_rlnc_t code;
    uint64_t first;
    size_t generations, spare;
    size_t symbol, panel;   /* bytes; rows */
    size_t rows;            /* of a generation's table: n + panel */
    size_t pitch;           /* bytes from row to row of tables and kept vectors */
    size_t payload_pitch;   /* bytes from payload to payload */
    size_t most;            /* packets that are taken at a time */
    size_t workspace_bytes; /* of the products */

    /* At the code's place, for each generation */
    uint8_t *tables, *used;
    uint32_t *pivots;
    uint32_t *ranks; /* as eliminations count them */
    gfk_rlnc_record *records;
    uint8_t *payloads; /* n + spare slots */
    uint8_t *vectors;  /* of the kept packets */
    uint8_t *checked;  /* what they should be; once for each lane */
    /* for the packets of a call */
    gfk_rlnc_header *headers;
    gfk_rlnc_arrival *arrivals;
    uint8_t *raw;                       /* vectors, as they came */
    gfk_rlnc_destination *destinations; /* of a panel */
    uint8_t *decoded, *is_determined;   /* the sources of one generation */
    void **outputs_there;               /* the caller's pointers to sources */
    /* for an elimination: see gfk_elimination; once for each lane, which on the CPU is one of the threads
     * that share the generations */
    size_t lanes, lane_bytes;
    uint8_t *scratch;

    /* On the host, for the packets of a call: headers and arrivals in the order of generations, and
     * where each generation's begin. */
    gfk_rlnc_header *sorted;
    gfk_rlnc_arrival *sorted_arrivals;
    size_t *begins; /* generations + 2: the packets behind the last generation's are refused */
    void **outputs; /* n for each lane, on the CPU */
    gfk_arithmetic arithmetic; /* on the CPU */
    gfk_inverter inverter;     /* on a device */
    void *memory;              /* at the code's place */
};

/* What a call has of its packets, beside the sorted ones. */
typedef struct gfk_rlnc_packets {
    const uint8_t *vectors; /* or NULL */
    size_t vector_pitch;    /* bytes */
    uint8_t *outcomes;      /* or NULL */
} gfk_rlnc_packets;

/* Empties the decoder: no packets. */
gfk_status gfk_rlnc_clear_on_cpu(gfk_rlnc_decoder_t d);
/* Takes the sorted packets. */
gfk_status gfk_rlnc_add_on_cpu(gfk_rlnc_decoder_t d, const gfk_rlnc_packets *packets);
gfk_status gfk_rlnc_decode_on_cpu(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                  uint8_t *decoded);

#ifdef __cplusplus
extern "C" {
#endif
/* Lays out a lane's memory, NULL for its size alone: the members of *e that it does not change are a,
 * desc, and those of the generation. */
gfk_status gfk_rlnc_elimination(const struct gfk_rlnc_decoder *d, uint8_t *lane, gfk_elimination *e,
                                size_t *bytes);

/* kernels/rlnc. Asynchronous. */
gfk_status gfk_rlnc_clear_on_device(gfk_rlnc_decoder_t d);
gfk_status gfk_rlnc_add_on_device(gfk_rlnc_decoder_t d, const gfk_rlnc_packets *packets,
                                  gfk_stream_t stream);
gfk_status gfk_rlnc_decode_on_device(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                     uint8_t *decoded, gfk_stream_t stream);
#ifdef __cplusplus
}
#endif

#endif
