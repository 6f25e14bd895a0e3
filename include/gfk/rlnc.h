/* SPDX-License-Identifier: BSD-3-Clause */
/* Random linear network coding over GF(2^w). The n sources of a generation, regions of the same
 * length, are coded together: the payload of a packet is a sum of multiples of the sources, and the
 * n factors are the packet's coding vector. Any n packets whose coding vectors are independent
 * determine the sources. Whoever has some packets, the sources or not, can make further packets of
 * them (recoding). Payloads carry no length: who receives a packet compares its length with the
 * code's `bytes` before a call reads it.
 *
 * A call works on one generation or on thousands of the same size, with few launches. */
#ifndef GFK_RLNC_H
#define GFK_RLNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/export.h>
#include <gfk/field.h>
#include <gfk/product.h>
#include <gfk/status.h>
#include <gfk/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* These rules hold for all calls on packets, unless a call says otherwise:
 *
 * place      desc.device of the code: a device that gfk_matmul supports (compute capability 8.0 or
 *            higher, 9.0 alone if an nvcc older than 13.3 has built the library), which is the
 *            calling thread's current device, with all memory in that device's reach; or GFK_CPU,
 *            with all of it in host memory. Checked only with desc.check_pointers.
 * vectors    Rows of n elements, `stride` elements (at least n) from the start of a row to that of
 *            the next, aligned to w/8 bytes. Rows at multiples of 16 bytes are the fast case. Gaps
 *            between rows stay as they were; the checks of overlaps count them as parts of the
 *            rows.
 * regions    `bytes` bytes each, at any alignment, a number of the code. The regions of a
 *            generation follow each other: region i of the g-th of several generations with k
 *            regions each is region g * k + i. Regions at multiples of 16 bytes are the fast case;
 *            several generations at once are fast where all regions are evenly spaced.
 * aliasing   What a call writes must not overlap anything else of the call. Regions and vectors
 *            that are only read may overlap each other.
 * workspace  As many bytes as the call's query says, or more, aligned to 256 bytes, until the
 *            call's work has finished. Calls that overlap in time need one each.
 * streams    On a device the work is in the order of `stream`, and the call returns at once. No
 *            allocation, no synchronization; capturable. CUDA loads a kernel's code at its first
 *            launch, so run once before capturing or timing. On the CPU `stream` is NULL, and the
 *            work is complete on return.
 * nothing    No packets and no bytes are success. Without packets a call reads no vectors, headers
 *            and regions, without bytes no regions: what is not read may be NULL.
 * statuses   INVALID_ARGUMENT (NULL, a stride that is too short, a misaligned pointer);
 *            INVALID_SIZE (GFK_RLNC_MOST_PACKETS, numbers that pass 2^32 or 2^64, a size that
 *            overflows); OVERLAP; WORKSPACE_TOO_SMALL (also NULL); STREAM_ON_HOST; WRONG_DEVICE;
 *            NOT_SUPPORTED (the device or this build does not run the kernel desc.kernel of the
 *            code): nothing has been written. CUDA, INTERNAL: the contents of what the call writes
 *            are undefined.
 * threads    A code does not change after create: any thread, any stream. */

/* The most sources of a generation, packets of a recoder's generation, and packets of a call. */
#define GFK_RLNC_MOST_SOURCES 65536
#define GFK_RLNC_MOST_PACKETS 0x7fffffff

/* ---- codes ---------------------------------------------------------------------------------- */

/* How the coding vector of a packet follows from the packet's numbers. A packet then carries these
 * numbers in the place of n elements. In every kind a vector of which all elements would be zero is
 * the unit vector of source p mod n instead, where p is the number of the packet. */
typedef enum gfk_rlnc_kind {
    /* Uniform elements, zero included: the elements of row p + 2^32 * g of GFK_MATRIX_RANDOM with
     * the code's seed, for packet p of generation g < 2^32. In general the counter words of
     * Philox4x32-10 are (t, g >> 32, p, g) where the row has (t, 0, p, g).
     * With a density d below 256, element i is replaced by zero unless byte i of a second sequence
     * is less than d: the sequence whose counter words begin with 2^31 + t in place of t. */
    GFK_RLNC_PHILOX = 0,

    /* The coefficients of RFC 8681, section 3.6, from TinyMT32 (RFC 8682): the repair key is the
     * number of the packet modulo 2^16, and the generation and the seed have no influence. In a
     * systematic code n is subtracted from the packet's number first. w = 8, polynomial
     * GFK_POLYNOMIAL_W8. The RFC's density threshold DT is density - 1. Another sender may send a
     * packet whose vector has only zeros, which this library would read as a unit vector: with a
     * DT below 15 discard the packets whose payload has only zeros. */
    GFK_RLNC_RFC8681
} gfk_rlnc_kind;

/* The descriptor of a code. Start from GFK_RLNC_DESC_INIT. */
typedef struct gfk_rlnc_desc {
    size_t size;      /* sizeof(gfk_rlnc_desc), so that the struct can grow */
    int device;       /* GFK_CURRENT_DEVICE, a device's number, or GFK_CPU */
    unsigned threads; /* on the CPU; 0: one for each core that the creating thread may run on */
    /* for debugging: calls check the memory of every pointer; see gfk/types.h */
    bool check_pointers;
    gfk_rlnc_kind kind;
    /* PHILOX: of 256, so that 256 keeps every element. RFC8681: of 16, each is the chance of an
     * element that is not zero, and 16 has no other elements. 0: the largest density. */
    unsigned density;
    /* Packets 0 to n - 1 of a generation are the sources: their coding vectors are unit vectors. */
    bool systematic;
    uint64_t seed;      /* PHILOX */
    const char *kernel; /* on a device: the compiled kernel of the products, as of gfk_matmul_desc.
                           gfk_rlnc_create alone reads the text. NULL: for each product the kernel
                           that is fastest by estimate */
} gfk_rlnc_desc;

#define GFK_RLNC_DESC_INIT                                                                         \
    {sizeof(gfk_rlnc_desc), GFK_CURRENT_DEVICE, 0, false, GFK_RLNC_PHILOX, 0, false, 0, GFK_NULL}

/* An immutable object: the field, the size of a generation, the rule for coding vectors. */
typedef struct gfk_rlnc *gfk_rlnc_t;

/* gfk_rlnc_create: makes a code.
 *
 * n      sources of a generation, 1 to GFK_RLNC_MOST_SOURCES; 65535 at most for RFC8681
 * bytes  of a source, and so of a payload: any multiple of w/8, zero for vectors alone
 * desc   NULL means GFK_RLNC_DESC_INIT
 *
 * Allocates little; not capturable. The calling thread's current device is left as it was.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, a field that gfk_field_init did not make, no sources, a
 * kind, density, size or device number of the descriptor out of range, a kernel of another width, a
 * kernel with GFK_CPU); UNKNOWN_METHOD (no matmul kernel has the id desc->kernel); INVALID_SIZE (n
 * is too large, bytes is not a multiple of w/8); NOT_SUPPORTED (RFC8681 in another field; the
 * device, or this build, has no kernel); NO_DEVICE; OUT_OF_MEMORY; CUDA. On an error *code is
 * unchanged. Any thread. */
GFK_API gfk_status gfk_rlnc_create(gfk_rlnc_t *code, const gfk_field *field, size_t n, size_t bytes,
                                   const gfk_rlnc_desc *desc);

/* gfk_rlnc_destroy: frees a code. NULL is allowed. No call with the code, and no launch of a graph
 * that captured one, may be pending. */
GFK_API void gfk_rlnc_destroy(gfk_rlnc_t code);

/* ---- coding vectors ------------------------------------------------------------------------- */

/* Packets first to first + count - 1 of each of the generations `generation` to generation +
 * generations - 1. What belongs to packet first + j of the g-th of them has the index
 * g * count + j. */
typedef struct gfk_rlnc_range {
    uint64_t generation;
    size_t generations;
    uint32_t first;
    size_t count;
} gfk_rlnc_range;

/* gfk_rlnc_vectors: writes the coding vectors of a range of packets. */
GFK_API gfk_status gfk_rlnc_vectors(gfk_rlnc_t code, const gfk_rlnc_range *range, void *vectors,
                                    size_t stride, gfk_stream_t stream);

/* ---- encoders and recoders ------------------------------------------------------------------ */

/* gfk_rlnc_encode_workspace, gfk_rlnc_recode_workspace: the bytes of workspace that the calls below
 * need. They grow with the vectors, and factors, of the whole range; on a device up to 2 GiB more
 * for the operands of the products, as of gfk_matmul. Return SUCCESS, INVALID_ARGUMENT,
 * INVALID_SIZE or NOT_SUPPORTED. */
GFK_API gfk_status gfk_rlnc_encode_workspace(gfk_rlnc_t code, const gfk_rlnc_range *range,
                                             size_t *workspace_bytes);
GFK_API gfk_status gfk_rlnc_recode_workspace(gfk_rlnc_t code, const gfk_rlnc_range *range,
                                             size_t received, size_t *workspace_bytes);

/* gfk_rlnc_encode: writes the payloads of a range of packets.
 *
 * sources   generations * n regions; only read
 * payloads  generations * count regions
 * vectors   generations * count rows, which get the coding vectors; or NULL. `stride` is not read
 *           then. */
GFK_API gfk_status gfk_rlnc_encode(gfk_rlnc_t code, const gfk_rlnc_range *range,
                                   const gfk_regions *sources, const gfk_regions *payloads,
                                   void *vectors, size_t stride, void *workspace,
                                   size_t workspace_bytes, gfk_stream_t stream);

/* gfk_rlnc_recode: makes new packets of received ones, in each generation of a range by itself, and
 * decodes nothing. A new packet is the sum of all received ones times factors: the elements that
 * GFK_RLNC_PHILOX without a density draws for a generation of `received` sources, with this seed.
 * The range numbers generations and new packets, for their factors alone: a recoder that gives each
 * new packet of a generation a number of its own, and has a seed of its own, makes the packets that
 * it makes as different as random factors are.
 *
 * received      packets of each generation, 1 to GFK_RLNC_MOST_SOURCES; may be fewer than n
 * vectors       generations * received rows: their coding vectors; only read
 * payloads      generations * received regions; only read
 * new_vectors   generations * count rows
 * new_payloads  generations * count regions */
GFK_API gfk_status gfk_rlnc_recode(gfk_rlnc_t code, const gfk_rlnc_range *range, uint64_t seed,
                                   size_t received, const void *vectors, size_t stride,
                                   const gfk_regions *payloads, void *new_vectors,
                                   size_t new_stride, const gfk_regions *new_payloads,
                                   void *workspace, size_t workspace_bytes, gfk_stream_t stream);

/* ---- headers -------------------------------------------------------------------------------- */

/* The header of a packet, in the byte order of the machine. A program that sends headers to other
 * machines decides on an order of bytes itself. */
typedef struct gfk_rlnc_header {
    uint64_t generation;
    uint32_t packet;
    uint32_t reserved; /* not read */
} gfk_rlnc_header;

/* ---- decoders ------------------------------------------------------------------------------- */

/* A decoder of one or more generations. It keeps the payloads of up to n innovative packets of each
 * generation, and of up to `spare` dependent ones, to be checked.
 *
 * A decoder changes: calls on the same decoder come one after the other, on one stream, or on
 * streams that wait for each other. Different decoders: any thread, any stream. */
typedef struct gfk_rlnc_decoder *gfk_rlnc_decoder_t;

/* The outcome of a packet. */
typedef enum gfk_rlnc_outcome {
    GFK_RLNC_INNOVATIVE = 1, /* the packet has raised the rank of its generation */
    GFK_RLNC_DEPENDENT,      /* the packet has not, and is kept to be checked */
    GFK_RLNC_DROPPED,        /* the packet has not, and there was no place to keep it */
    GFK_RLNC_REFUSED         /* the zero vector, or a generation that the decoder does not have */
} gfk_rlnc_outcome;

/* The state of a generation. */
typedef struct gfk_rlnc_record {
    /* SUCCESS: the sources are determined; after gfk_rlnc_decoder_decode also: no kept packet
     * contradicts them, but those that an add has kept since then are compared by the next decode.
     * SINGULAR: they are not determined yet. CORRUPT: a kept packet contradicts the others, so that
     * at least one packet has been changed on its way; it stays so until gfk_rlnc_decoder_reset. */
    uint32_t status;
    uint32_t rank;       /* innovative packets, n at most */
    uint32_t kept;       /* dependent packets that are kept, `spare` at most */
    uint32_t dropped;    /* dependent packets that are not */
    uint32_t refused;    /* packets with the zero vector */
    uint32_t determined; /* sources that the last gfk_rlnc_decoder_decode could compute */
} gfk_rlnc_record;

/* gfk_rlnc_decoder_create: makes a decoder of the generations `generation` to generation +
 * generations - 1, without packets.
 *
 * spare  dependent packets of each generation that are kept
 *
 * Takes all memory of the decoder, at the code's place and on the host; not capturable. For each
 * generation this is n + spare payloads, up to n + 1024 / w + spare rows of n elements, each row
 * rounded up to 256 bytes. On the CPU each thread that shares the generations needs as much as one
 * of them again and a workspace of gfk_matmul; a device needs up to 512 MiB, `spare` payloads for
 * each generation, and 2 GiB at most for the operands of the products. The code must outlive the
 * decoder. The device of the code must be the calling thread's current device.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, no generations); INVALID_SIZE (generation numbers that
 * pass 2^64, more than GFK_RLNC_MOST_PACKETS packets or a size that overflows); NOT_SUPPORTED (as
 * above); OUT_OF_MEMORY; WRONG_DEVICE; CUDA. On an error *decoder is unchanged. Any thread. */
GFK_API gfk_status gfk_rlnc_decoder_create(gfk_rlnc_decoder_t *decoder, gfk_rlnc_t code,
                                           uint64_t generation, size_t generations, size_t spare);

/* gfk_rlnc_decoder_destroy: frees a decoder. NULL is allowed. No call with it may be pending. */
GFK_API void gfk_rlnc_decoder_destroy(gfk_rlnc_decoder_t decoder);

/* gfk_rlnc_decoder_reset: empties a decoder, which becomes one of the generations `generation` to
 * generation + generations - 1, without packets: as create makes it, in the memory that it has.
 * Packets and records that it had are forgotten.
 *
 * The work is in the order of `stream`. No allocation. Not capturable.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL); INVALID_SIZE (generation numbers that pass 2^64);
 * STREAM_ON_HOST, WRONG_DEVICE: the decoder is as it was. CUDA. */
GFK_API gfk_status gfk_rlnc_decoder_reset(gfk_rlnc_decoder_t decoder, uint64_t generation,
                                          gfk_stream_t stream);

/* gfk_rlnc_decoder_add: takes packets, in any order and of any of the decoder's generations.
 *
 * headers   count headers, in host memory at every place; read before the call returns
 * vectors   NULL: the coding vectors follow from the headers. Otherwise row i is the vector of
 *           packet i, for packets of a recoder and for vectors of the caller; the member `packet`
 *           of the headers is then not read.
 * payloads  count regions; only read, and not needed any more when the call's work has finished
 * outcomes  NULL, or count bytes at the code's place: a gfk_rlnc_outcome each. Of packets that
 *           depend on each other those that come first are the innovative ones.
 *
 * Elimination works on the coding vectors alone; payloads are copied. Many packets in one call, of
 * one generation or of thousands, take much less time than as many calls. On a device the call
 * sorts the headers, copies them to the device and returns at once, and allocates nothing; the CPU
 * takes little memory for each panel of packets, and gives it back. Not capturable.
 *
 * Returns also OUT_OF_MEMORY on the CPU: some packets may have been taken. The outcomes of the
 * others are as they were, so a caller that has set all outcomes to 0 gives those with 0 again. It
 * may also give all again: those that have been taken are then dependent. */
GFK_API gfk_status gfk_rlnc_decoder_add(gfk_rlnc_decoder_t decoder, const gfk_rlnc_header *headers,
                                        size_t count, const void *vectors, size_t stride,
                                        const gfk_regions *payloads, uint8_t *outcomes,
                                        gfk_stream_t stream);

/* gfk_rlnc_decoder_decode: writes the sources that are determined, and checks the kept packets of
 * generations whose sources all are: their coding vectors times the sources are their payloads, or
 * the record says CORRUPT. From exactly n packets a changed packet cannot be noticed: then only a
 * checksum over the generation, which the caller has from elsewhere, can tell.
 *
 * sources   generations * n regions. A source that is not determined stays as it was. The sources
 *           of a generation that is CORRUPT have been written and are not to be trusted.
 * decoded   NULL, or generations * n bytes at the code's place: 1 where a source has been written,
 *           otherwise 0
 *
 * May be called as often as one likes, after each packet or once: a source has the same bytes in
 * every call. */
GFK_API gfk_status gfk_rlnc_decoder_decode(gfk_rlnc_decoder_t decoder, const gfk_regions *sources,
                                           uint8_t *decoded, gfk_stream_t stream);

/* gfk_rlnc_decoder_wait: waits for the stream's work and copies the records of the generations
 * first to first + count - 1 of the decoder, counted from 0. Not capturable.
 *
 * Returns CORRUPT if one of the records says so, otherwise SINGULAR if one says so, otherwise
 * SUCCESS; INVALID_ARGUMENT (NULL, `records` also if count is 0; generations that the decoder does
 * not have); STREAM_ON_HOST; WRONG_DEVICE; CUDA. */
GFK_API gfk_status gfk_rlnc_decoder_wait(gfk_rlnc_decoder_t decoder, gfk_stream_t stream,
                                         size_t first, size_t count, gfk_rlnc_record *records);

#ifdef __cplusplus
}
#endif
#endif
