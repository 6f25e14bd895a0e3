/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoder, which has the same parts at every place.
 *
 * A generation's table is a matrix of exchange steps (docs/matrices.md): the row of slot s says
 * what the source pivots[s] is, as a sum over the columns. A column that is the pivot of slot t
 * stands for the payload in slot t, another column for its source. A slot without a pivot is free,
 * and its row means nothing.
 *
 * A device has two ways to take packets. A block takes all packets of a generation, if the table
 * fits into the block's registers (d->kernel). Otherwise the packets are taken in panels: their
 * rows follow the n rows of the table. The CPU always takes panels. */
#ifndef GFK_HOST_RLNC_DECODER_H
#define GFK_HOST_RLNC_DECODER_H

#include "code.h"
#include "host/matrix/eliminate.h"
#include "host/product/matmul.h"
#include "outcome.h"

/* A packet of a call. */
typedef struct gfk_rlnc_arrival {
    uint32_t source; /* index of the packet in the call */
    uint32_t packet; /* number of the packet, from the header */
} gfk_rlnc_arrival;

/* The packets of one generation in a call. */
typedef struct gfk_rlnc_segment {
    uint32_t generation; /* index of the generation in the decoder */
    uint32_t begin, end; /* range of the generation's packets in the list of arrivals */
} gfk_rlnc_segment;

/* All sizes follow from the code and the arguments of gfk_rlnc_decoder_create. */
typedef struct gfk_rlnc_shape {
    size_t generations, spare;
    size_t symbol;        /* bytes of an element */
    size_t panel;         /* rows of a panel */
    size_t rows;          /* rows of a generation's table: n and, without a kernel, a panel's */
    size_t pitch;         /* bytes from row to row of tables, inverses and vectors */
    size_t payload_pitch; /* bytes from payload to payload */
    size_t most;          /* the most packets that are taken at a time */
    size_t group;         /* generations that a device decodes at a time */
    size_t lanes;         /* on the CPU: threads that share the generations; on a device: 1 */
} gfk_rlnc_shape;

/* The state of all generations, one after the other, at the code's place. */
typedef struct gfk_rlnc_state {
    uint32_t *pivots;         /* a column for each row of a table, or GFK_MATRIX_DEPENDENT */
    uint8_t *used;            /* is a column a pivot? */
    uint32_t *ranks;          /* the ranks that eliminations count */
    gfk_rlnc_record *records; /* the records that the caller reads */
    uint8_t *tables;
    uint8_t *payloads;     /* n slots for each generation */
    uint8_t *kept;         /* spare slots for each generation */
    uint8_t *kept_vectors; /* the vectors of the kept packets */
    struct {
        void *start;
        size_t bytes;
    } counters; /* the memory of used, ranks and records, which is zero in an empty decoder */
} gfk_rlnc_state;

/* The memory of eliminations and of decoding, at the code's place. Each lane has its part. */
typedef struct gfk_rlnc_scratch {
    uint8_t *lanes; /* the memory of eliminations: lay_out_lane */
    size_t lane_bytes, workspace_bytes;
    uint8_t *checked;          /* spare payloads for each lane, or for each generation of a group */
    void **outputs;            /* on the CPU: the addresses of n sources */
    gfk_arithmetic arithmetic; /* on the CPU, the same for all lanes */
} gfk_rlnc_scratch;

/* The memory that only a device has. */
typedef struct gfk_rlnc_on_device {
    uint8_t *inverses, *wanted; /* the sources of a group that are determined, and their factors */
    uint8_t *upload;            /* the copy of a call's staging memory */
    gfk_rlnc_header *headers;   /* the headers of the arrivals */
    uint8_t *vectors;           /* the vectors of the arrivals, if the call has no vectors */
    gfk_rlnc_destination *destinations; /* the destinations of the arrivals */
    gfk_inverter inverter;
} gfk_rlnc_on_device;

/* Two pieces of host memory for packets, which calls use in turn. On a device they are pinned, and
 * an event says that the copy of a piece has ended. The CPU has one piece. */
typedef struct gfk_rlnc_staging {
    uint8_t *memory[2];
    void *events[2];
    unsigned turn;
} gfk_rlnc_staging;

/* The packets of a call in the order of generations. The lists are in the staging memory. */
typedef struct gfk_rlnc_sorted {
    gfk_rlnc_arrival *arrivals;
    void **listed; /* addresses of payloads, on a device; NULL: the payloads are evenly spaced */
    gfk_rlnc_segment *segments;
    size_t segment_count;
    size_t accepted;  /* packets of the decoder's generations; the others follow, and are refused */
    uint32_t *begins; /* generations + 2 counters of the sorting */
} gfk_rlnc_sorted;

struct gfk_rlnc_decoder {
    gfk_rlnc_t code;
    uint64_t first;               /* the number of the first generation */
    const gfk_kernel_row *kernel; /* the kernel that takes packets by blocks, or NULL */
    gfk_rlnc_shape shape;
    gfk_rlnc_state state;
    gfk_rlnc_scratch scratch;
    gfk_rlnc_on_device device;
    gfk_rlnc_staging staging;
    gfk_rlnc_sorted sorted;
    void *memory; /* holds state, scratch and device, at the code's place */
};

/* Packets of a call, as the caller gave them. */
typedef struct gfk_rlnc_packets {
    const gfk_rlnc_header *headers;
    size_t count;
    const uint8_t *vectors; /* may be NULL */
    size_t vector_pitch;    /* bytes */
    gfk_regions payloads;
    uint8_t *outcomes; /* may be NULL */
} gfk_rlnc_packets;

/* Empties the decoder. */
void gfk_rlnc_clear_on_cpu(gfk_rlnc_decoder_t d);
/* Takes packets that have been sorted. */
gfk_status gfk_rlnc_add_on_cpu(gfk_rlnc_decoder_t d, const gfk_rlnc_packets *packets);
gfk_status gfk_rlnc_decode_on_cpu(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                  uint8_t *decoded);
/* For a decoder of one generation: sets the product that computes the determined sources from the
 * payloads of the innovative packets, in the order of these packets, and the addresses of these
 * sources. The decoder owns factors and addresses, which are valid until its next call. */
gfk_status gfk_rlnc_determine_on_cpu(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                     uint8_t *decoded, gfk_matrix *factors, gfk_regions *to);

#ifdef __cplusplus
extern "C" {
#endif
/* The elimination of a generation's table in the memory of a lane. The caller sets e->a, and the
 * stream or the descriptor. */
gfk_elimination gfk_rlnc_elimination(const struct gfk_rlnc_decoder *d, size_t lane,
                                     size_t generation);
/* The products of a device for d->shape.group generations: call[0] computes sources from payloads,
 * call[1] computes kept packets from sources; a[0] and a[1] are their matrices. Sets *space to the
 * workspace that either product needs. */
gfk_status gfk_rlnc_plan_products(const struct gfk_rlnc_decoder *d, gfk_matmul_call call[2],
                                  gfk_matrix a[2], size_t *space);

/* kernels/rlnc has these functions. `open` makes the staging memory, and clears all memory on the
 * device. `clear`, `add` and `decode` are asynchronous. */
gfk_status gfk_rlnc_open_on_device(gfk_rlnc_decoder_t d, size_t bytes, size_t staging_bytes);
void gfk_rlnc_close_on_device(gfk_rlnc_decoder_t d);
gfk_status gfk_rlnc_clear_on_device(gfk_rlnc_decoder_t d, gfk_stream_t stream);
gfk_status gfk_rlnc_add_on_device(gfk_rlnc_decoder_t d, const gfk_rlnc_packets *packets,
                                  gfk_stream_t stream);
gfk_status gfk_rlnc_decode_on_device(gfk_rlnc_decoder_t d, const gfk_regions *sources,
                                     uint8_t *decoded, gfk_stream_t stream);
#ifdef __cplusplus
}
#endif

#endif
