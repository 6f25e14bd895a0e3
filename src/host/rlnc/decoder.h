/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoder, which has the same parts at every place.
 *
 * A generation's table is a matrix of exchange steps (docs/matrices.md): the row of slot s says what
 * the source pivots[s] is, as a sum over the columns. A column that is the pivot of slot t stands for
 * the payload in slot t, another column for its source. A slot without a pivot is free, and its row
 * means nothing.
 *
 * A device has two ways to take packets. A block takes all packets of a generation, if the table fits
 * into the block's registers (d->kernel). Otherwise the packets are taken in panels, behind the n rows
 * of the table, which is also the way of the CPU. */
#ifndef GFK_HOST_RLNC_DECODER_H
#define GFK_HOST_RLNC_DECODER_H

#include "code.h"
#include "host/matrix/eliminate.h"
#include "host/product/matmul.h"

enum { GFK_RLNC_NO_KERNEL = -1 };

/* A packet of a call. */
typedef struct gfk_rlnc_arrival {
    uint32_t source; /* its index in the call */
    uint32_t packet; /* of its header */
} gfk_rlnc_arrival;

/* The packets of one generation in a call. */
typedef struct gfk_rlnc_segment {
    uint32_t generation; /* of the decoder, from 0 on */
    uint32_t begin, end; /* in the order of generations */
} gfk_rlnc_segment;

/* Where a packet goes. */
typedef struct gfk_rlnc_destination {
    uint32_t
        slot; /* among all payloads, or all kept ones; GFK_MATRIX_DEPENDENT: it does not stay */
    uint32_t outcome; /* gfk_rlnc_outcome */
} gfk_rlnc_destination;

struct gfk_rlnc_decoder {
    gfk_rlnc_t code;
    uint64_t first;
    size_t generations, spare;
    size_t symbol, panel;   /* bytes; rows */
    size_t rows;            /* of a generation's table: n, and for panels as many more */
    size_t pitch;           /* bytes from row to row of tables, inverses and kept vectors */
    size_t payload_pitch;   /* bytes from payload to payload */
    size_t most;            /* packets that are taken at a time */
    size_t group;           /* generations that a device decodes at a time */
    size_t workspace_bytes; /* of the products */
    int kernel;             /* of blocks that take packets, or GFK_RLNC_NO_KERNEL */

    /* At the code's place, for each generation */
    uint8_t *tables, *used; /* used: of each column, is it a pivot? */
    uint32_t *pivots;
    uint32_t *ranks; /* as eliminations count them */
    gfk_rlnc_record *records;
    uint8_t *payloads; /* n slots */
    uint8_t *kept;     /* spare slots */
    uint8_t *vectors;  /* of the kept packets */
    /* once for each lane, or on a device for each generation of a group */
    uint8_t *checked;           /* what the kept packets should be */
    uint8_t *inverses, *wanted; /* on a device: which sources are determined, and how */
    /* on a device, for the packets of a call */
    uint8_t *upload;          /* a copy of one of `staging` */
    gfk_rlnc_header *headers; /* in the order of generations, like the next two */
    gfk_rlnc_destination *destinations;
    uint8_t *raw; /* vectors that follow from headers */
    /* for an elimination: see gfk_elimination; once for each lane, which on the CPU is one of the threads
     * that share the generations */
    size_t lanes, lane_bytes;
    uint8_t *scratch;

    /* On the host, for the packets of a call */
    uint8_t
        *staging[2]; /* arrivals, pointers to payloads, segments. Used in turn; on a device pinned,
                            with an event for the end of the copy. The CPU has one */
    void *events[2];
    unsigned turn;
    gfk_rlnc_arrival *arrivals; /* in the order of generations */
    void **listed;              /* on a device, or NULL: payloads are evenly spaced */
    gfk_rlnc_segment *segments;
    uint32_t *begins; /* generations + 2: the packets behind the last generation's are refused */
    size_t segment_count, accepted; /* packets that are not refused */
    void **outputs;                 /* n for each lane, on the CPU */
    gfk_arithmetic arithmetic;      /* on the CPU */
    gfk_inverter inverter;          /* on a device */
    void *memory;                   /* at the code's place */
};

/* Packets of a call, as the caller gave them. */
typedef struct gfk_rlnc_packets {
    const gfk_rlnc_header *headers;
    size_t count;
    const uint8_t *vectors; /* or NULL */
    size_t vector_pitch;    /* bytes */
    gfk_regions payloads;
    uint8_t *outcomes; /* or NULL */
} gfk_rlnc_packets;

/* Empties the decoder: no packets. */
void gfk_rlnc_clear_on_cpu(gfk_rlnc_decoder_t d);
/* Takes the packets, which have been sorted. */
gfk_status gfk_rlnc_add_on_cpu(gfk_rlnc_decoder_t d, const gfk_rlnc_packets *packets);
gfk_status gfk_rlnc_decode_on_cpu(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                  uint8_t *decoded);
/* Of a decoder of one generation: the product of the innovative packets' payloads, in their order,
 * that makes the sources that are determined, and where these go. Factors and addresses are the
 * decoder's, until its next call. */
gfk_status gfk_rlnc_determine_on_cpu(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                     uint8_t *decoded, gfk_matrix *factors, gfk_regions *to);

#ifdef __cplusplus
extern "C" {
#endif
/* Lays out a lane's memory, NULL for its size alone: the members of *e that it does not change are a,
 * desc, and those of the generation. */
gfk_status gfk_rlnc_elimination(const struct gfk_rlnc_decoder *d, uint8_t *lane, gfk_elimination *e,
                                size_t *bytes);
/* The products of a device for d->group generations: call[0] makes sources of payloads, call[1] kept
 * packets of sources, a[0] and a[1] are their matrices. *space: the workspace of either. */
gfk_status gfk_rlnc_plan_products(const struct gfk_rlnc_decoder *d, gfk_matmul_call call[2],
                                  gfk_matrix a[2], size_t *space);

/* kernels/rlnc. Makes the staging memory, and zeros of all memory on the device. */
gfk_status gfk_rlnc_open_on_device(gfk_rlnc_decoder_t d, size_t bytes, size_t staging_bytes);
void gfk_rlnc_close_on_device(gfk_rlnc_decoder_t d);
/* Asynchronous. */
gfk_status gfk_rlnc_clear_on_device(gfk_rlnc_decoder_t d, gfk_stream_t stream);
gfk_status gfk_rlnc_add_on_device(gfk_rlnc_decoder_t d, const gfk_rlnc_packets *packets,
                                  gfk_stream_t stream);
gfk_status gfk_rlnc_decode_on_device(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                     uint8_t *decoded, gfk_stream_t stream);
#ifdef __cplusplus
}
#endif

#endif
