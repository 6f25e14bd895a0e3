/* SPDX-License-Identifier: BSD-3-Clause */
/* Products and codes over regions in host memory, of any size. The work goes over the bus to one
 * or several GPUs, to all cores of the CPU, or to both. Without a GPU, or in a build without CUDA,
 * the CPU does all of it. docs/host-memory.md has the explanation and the measured rates. */
#ifndef GFK_HOST_H
#define GFK_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/export.h>
#include <gfk/field.h>
#include <gfk/matmul.h>
#include <gfk/product.h>
#include <gfk/rlnc.h>
#include <gfk/rs.h>
#include <gfk/status.h>
#include <gfk/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pinned memory -------------------------------------------------------------------------- */

/* The kind of host memory that the regions are in. */
typedef enum gfk_where {
    GFK_PAGEABLE = 0, /* ordinary memory: CPU threads copy it through pinned buffers */
    GFK_PINNED        /* allocated or registered with CUDA: the GPU accesses it directly */
} gfk_where;

/* gfk_pinned_alloc: allocates `bytes` bytes, aligned to 4096, that every device can access.
 * Without a device the memory is ordinary memory. The call is slow because it touches every page:
 * allocate once and reuse. Returns SUCCESS; INVALID_ARGUMENT (NULL, 0 bytes); OUT_OF_MEMORY;
 * NOT_SUPPORTED (this machine cannot pin); CUDA. Any thread. */
GFK_API gfk_status gfk_pinned_alloc(void **memory, size_t bytes);

/* gfk_pinned_free: frees what gfk_pinned_alloc returned; NULL is allowed. */
GFK_API void gfk_pinned_free(void *memory);

/* gfk_pinned_register, gfk_pinned_unregister: pin existing memory, and unpin it. A region is
 * pinned if all of its bytes are in one registered range; otherwise it counts as pageable.
 *
 * Return SUCCESS; INVALID_ARGUMENT (NULL, 0 bytes, already registered, not registered); NO_DEVICE;
 * NOT_SUPPORTED (a build without CUDA, or memory that cannot be pinned); OUT_OF_MEMORY; CUDA. Any
 * thread. */
GFK_API gfk_status gfk_pinned_register(void *memory, size_t bytes);
GFK_API gfk_status gfk_pinned_unregister(void *memory);

/* ---- pipelines ------------------------------------------------------------------------------ */

/* Which processors do the work. */
typedef enum gfk_path {
    GFK_PATH_AUTO = 0, /* the path with the shortest predicted time, chosen for each call */
    GFK_PATH_CPU,      /* the CPU's fastest engine for the field and the shape, on all cores */
    GFK_PATH_GPU,      /* all devices of the pipeline */
    GFK_PATH_BOTH      /* all devices and the CPU; each takes the next chunk when it is idle. Of
                          the threads a quarter copies for the devices where a region is pageable */
} gfk_path;

/* gfk_path_name: "auto", "cpu", "gpu", "both"; never NULL. */
GFK_API const char *gfk_path_name(gfk_path path);

enum { GFK_MOST_DEVICES = 16, GFK_MOST_STREAMS = 64, GFK_MOST_THREADS = 4096 };

/* Start from GFK_PIPELINE_DESC_INIT. gfk_pipeline_create copies what it needs. */
typedef struct gfk_pipeline_desc {
    size_t size; /* sizeof(gfk_pipeline_desc), so that the struct can grow */
    gfk_path path;
    const int *devices;   /* distinct CUDA device numbers, 0 or more; NULL: the calling thread's
                             current device, if there is one */
    size_t device_count;  /* length of devices, at most GFK_MOST_DEVICES; 0 if devices is NULL */
    size_t device_memory; /* limit in bytes for buffers on each device, without the tables of
                             products and the matrix of a matmul; 0: 1 GiB */
    size_t pinned_memory; /* limit in bytes for pinned buffers of all devices together; 0: 256 MiB.
                             Pinned buffers serve pageable regions, and take 256 bytes per stream
                             otherwise; each device rounds up to pages of 4096 bytes */
    size_t chunk;         /* bytes of one chunk, all regions together; 0: the library chooses, up
                             to 64 MiB. The two memory limits take precedence */
    unsigned streams;     /* chunks in flight on each device, at most GFK_MOST_STREAMS; 0: 4, and
                             2 for each thread that copies where a region is pageable. The memory
                             limits may allow fewer. No more threads copy than there are streams */
    unsigned threads;     /* CPU threads that compute, or that copy pageable regions for the devices
                             (at most 8 for each device); 0: one for each core that the caller may
                             run on. At most GFK_MOST_THREADS */
    const char *calibration_file; /* written by gfk_calibrate; NULL: none. The library ignores a
                                     file that is missing, damaged or of another machine;
                                     gfk_pipeline_info.calibration tells which */
} gfk_pipeline_desc;

/* Without a calibration AUTO compares the times that the rates of one known machine, scaled by
 * threads and devices, predict for CPU and GPU: docs/host-memory.md. A calibration has the rates of
 * this machine, for a matmul those of the bus alone. */

#define GFK_PIPELINE_DESC_INIT                                                                     \
    {sizeof(gfk_pipeline_desc), GFK_PATH_AUTO, GFK_NULL, 0, 0, 0, 0, 0, 0, GFK_NULL}

/* Owns streams, device memory, pinned memory, and the products of the 8 most recently used
 * matrices. Calls on one pipeline run one after the other; calls on different pipelines run at the
 * same time. */
typedef struct gfk_pipeline *gfk_pipeline_t;

/* The properties of a pipeline, after defaults and the machine have been resolved. */
typedef struct gfk_pipeline_info {
    gfk_path path; /* CPU if AUTO finds no device */
    int devices[GFK_MOST_DEVICES];
    size_t device_count; /* 0: there is no device, or path is CPU */
    size_t device_memory, pinned_memory;
    size_t chunk;     /* 0: the library chooses for each call */
    unsigned streams; /* 0: the library chooses for each call */
    unsigned threads;
    bool calibrated;
    gfk_status calibration; /* SUCCESS: the file is in use, or none was named. IO: the file cannot
                               be read. CORRUPT. WRONG_DEVICE: the file is of another machine, or
                               of other devices or threads */
    uint64_t reserved[4];   /* 0 */
} gfk_pipeline_info;

/* gfk_pipeline_create: makes a pipeline; desc NULL means GFK_PIPELINE_DESC_INIT.
 *
 * With AUTO and no named devices, a GPU is optional: without one the CPU does all work. The first
 * call that needs memory allocates it; destroy frees it.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, an enumerator or number out of range, a repeated
 * device, devices together with path CPU); NO_DEVICE (path GPU or BOTH without a device, or a
 * named device does not exist; so in every build without CUDA); OUT_OF_MEMORY; CUDA. On an error
 * *pipeline is unchanged. Any thread. */
GFK_API gfk_status gfk_pipeline_create(gfk_pipeline_t *pipeline, const gfk_pipeline_desc *desc);

/* gfk_pipeline_get_info: describes the pipeline. INVALID_ARGUMENT for NULL. Any thread. */
GFK_API gfk_status gfk_pipeline_get_info(gfk_pipeline_t pipeline, gfk_pipeline_info *info);

/* gfk_pipeline_destroy: frees a pipeline. NULL is allowed. No call on the pipeline may be in
 * progress. */
GFK_API void gfk_pipeline_destroy(gfk_pipeline_t pipeline);

/* ---- calls ---------------------------------------------------------------------------------- */

/* The report of a call. The counts are in bytes of one region: cpu_bytes + gpu_bytes is the `bytes`
 * of the call. */
typedef struct gfk_pipeline_report {
    gfk_path path;      /* the chosen path: CPU, GPU or BOTH */
    const char *reason; /* the reason for the choice, a static sentence */
    uint64_t cpu_bytes, gpu_bytes;
    uint64_t device_bytes[GFK_MOST_DEVICES]; /* gpu_bytes by device, in the order of the info */
    uint64_t redone_bytes;    /* the part of cpu_bytes that a failed device should have done */
    gfk_status device_status; /* the status of the first device that failed; SUCCESS: none failed */
    size_t staged_regions;    /* regions that went through pinned buffers; 0 on the CPU */
    size_t chunk;             /* bytes of one chunk, all regions together; chunks near the end of
                                 the call are shorter; 0 on the CPU */
    double seconds;
    uint64_t reserved[4]; /* 0 */
} gfk_pipeline_report;

/* These rules hold for all calls:
 *
 * Each region is in pinned or pageable host memory; managed memory counts as pageable. The regions
 * may be larger than the memory of any device. Otherwise as gfk_product_run: the length is any
 * multiple of w/8, any alignment is allowed, and only the regions are accessed.
 *
 * The results are the same bytes for every path, set of devices and memory limit. *report, if not
 * NULL, receives what the call did; it is written if the call returns SUCCESS or CUDA. *report must
 * be aligned and must not overlap a region that the call reads or writes.
 *
 * A call succeeds even if a device runs out of memory or fails during the call: the CPU repeats
 * the device's part, and the report says so. Later calls do not use a failed device. There is one
 * exception: if the results replace their own inputs (GFK_XOR, in place) and some of them may
 * already have been written, the part cannot be repeated and the call returns CUDA.
 *
 * The calls return SUCCESS; INVALID_ARGUMENT (a needed object or region is NULL, a stride is below
 * bytes, an unknown mode, a region in device memory; a pipeline without devices cannot detect the
 * latter); INVALID_SIZE; OVERLAP; INVALID_CONSTANT; OUT_OF_MEMORY and TABLE_LIMIT (for the product
 * on the CPU): nothing has been written, but see gfk_rlnc_decode_host. CUDA: the output is
 * undefined.
 *
 * Any thread may call. The work is complete on return. The calling thread's current device does
 * not change. */

/* gfk_product_host: out[j] = sum of matrix[j][i] * in[i] (GFK_SET), or that XORed into out[j].
 *
 * matrix  rows * cols elements, row by row; the pipeline keeps the derived product for later calls
 * mode    GFK_SET or GFK_XOR
 *
 * Inputs may overlap each other. An output must not overlap any other region. */
GFK_API gfk_status gfk_product_host(gfk_pipeline_t pipeline, const gfk_field *field, size_t rows,
                                    size_t cols, const uint32_t *matrix, const gfk_regions *in,
                                    const gfk_regions *out, size_t bytes, gfk_accumulate mode,
                                    gfk_pipeline_report *report);

/* gfk_matmul_host: c[j] = sum over i of a[j][i] * b[i] (GFK_SET), or that XORed into c[j], with a
 * matrix of any size in host memory (gfk/matmul.h). The pipeline keeps nothing of the matrix: a
 * call takes the matrix to each device once, and the regions cross the bus once. The workspaces of
 * chunks count in device_memory. A generated matrix is generated on each device, anew for each
 * chunk. Only devices that gfk_matmul supports take part; without one the CPU does the work as
 * gfk_matmul does, and the report's reason says so. The rates that AUTO assumes without a
 * calibration are those of a device of compute capability 9.0.
 *
 * Regions of b may overlap each other and the matrix. A region of c must not overlap any other
 * region, the matrix or its points. Statuses of gfk_matrix_fill may be returned too: NOT_SUPPORTED
 * for PAR2 in another field, INVALID_ARGUMENT for an unknown kind or equal points. */
GFK_API gfk_status gfk_matmul_host(gfk_pipeline_t pipeline, const gfk_field *field,
                                   const gfk_matrix *a, const gfk_regions *b, const gfk_regions *c,
                                   size_t bytes, gfk_accumulate mode, gfk_pipeline_report *report);

/* gfk_region_multiply_host: dst = c * src, or dst = dst + c * src. src == dst is allowed; any
 * other overlap is refused. */
GFK_API gfk_status gfk_region_multiply_host(gfk_pipeline_t pipeline, const gfk_field *field,
                                            uint32_t c, const void *src, void *dst, size_t bytes,
                                            gfk_accumulate mode, gfk_pipeline_report *report);

/* gfk_rs_encode_host: computes all parity from all data. The call uses the matrix of the code; the
 * code's place does not matter: GFK_CPU needs no device. */
GFK_API gfk_status gfk_rs_encode_host(gfk_pipeline_t pipeline, gfk_rs_t code,
                                      const gfk_regions *data, const gfk_regions *parity,
                                      size_t bytes, gfk_pipeline_report *report);

/* gfk_rs_decode_host: rebuilds the wanted regions. lost and wanted are those of
 * gfk_rs_decoder_create, and its statuses may be returned too. The addresses of regions that are
 * neither read nor rebuilt may be NULL; data and parity themselves must not be NULL. OVERLAP as in
 * gfk/rs.h, also if an output or *report overlaps parity that is not read. */
GFK_API gfk_status gfk_rs_decode_host(gfk_pipeline_t pipeline, gfk_rs_t code, const size_t *lost,
                                      size_t lost_count, const size_t *wanted, size_t wanted_count,
                                      const gfk_regions *data, const gfk_regions *parity,
                                      size_t bytes, gfk_pipeline_report *report);

/* gfk_rs_verify_host: *differs becomes 0 if the parity matches the data, else 1. The regions are
 * only read and may overlap each other. On an error *differs is unchanged. INVALID_ARGUMENT if
 * differs is not aligned to 4 bytes; OVERLAP if it is inside a region or *report. */
GFK_API gfk_status gfk_rs_verify_host(gfk_pipeline_t pipeline, gfk_rs_t code,
                                      const gfk_regions *data, const gfk_regions *parity,
                                      size_t bytes, uint32_t *differs, gfk_pipeline_report *report);

/* gfk_rlnc_encode_host: writes the payloads of packets first to first + count - 1 of a generation,
 * as gfk_matmul_host with the packets' coding vectors, which the CPU makes. The code's place and
 * kernel do not matter. gfk_rlnc_vectors of a code on the CPU gives the coding vectors.
 *
 * sources, payloads  n and count regions of the code's length. A payload must not overlap another
 *                    region. Without packets or bytes they are not read, and may be NULL. */
GFK_API gfk_status gfk_rlnc_encode_host(gfk_pipeline_t pipeline, gfk_rlnc_t code,
                                        uint64_t generation, uint32_t first, size_t count,
                                        const gfk_regions *sources, const gfk_regions *payloads,
                                        gfk_pipeline_report *report);

/* gfk_rlnc_recode_host: makes packets first to first + count - 1 of `received` packets of a
 * generation, with the factors of gfk_rlnc_recode, as two gfk_matmul_host: of the vectors, then of
 * the payloads, whose report it is. Memory of the call's own has the factors and the first product
 * until the second one is done, so an error leaves all as it was. The code's place and kernel do
 * not matter.
 *
 * vectors, payloads          `received` rows and regions, 1 to GFK_RLNC_MOST_SOURCES; only read
 * new_vectors, new_payloads  count rows and regions
 *
 * Rows of vectors as in gfk/rlnc.h, and INVALID_SIZE, OVERLAP and INVALID_ARGUMENT as there;
 * OVERLAP also if *report overlaps a row. Without packets nothing is read, without bytes no region,
 * and what is not read may be NULL. Without bytes the report is of the vectors. */
GFK_API gfk_status gfk_rlnc_recode_host(gfk_pipeline_t pipeline, gfk_rlnc_t code,
                                        uint64_t generation, uint32_t first, size_t count,
                                        uint64_t seed, size_t received, const void *vectors,
                                        size_t stride, const gfk_regions *payloads,
                                        void *new_vectors, size_t new_stride,
                                        const gfk_regions *new_payloads,
                                        gfk_pipeline_report *report);

/* gfk_rlnc_decode_host: computes the sources of a generation from `count` packets. The CPU
 * eliminates on the coding vectors; then the sources that are determined are one gfk_matmul_host of
 * the innovative payloads, whose report it is, and once all are, the dependent payloads are
 * compared with others. The code's place and kernel do not matter. One call takes all packets; a
 * decoder on the CPU or on a device (gfk/rlnc.h) takes them as they come.
 *
 * headers    count headers; packets of other generations are left out
 * vectors    NULL: the coding vectors follow from the headers. Otherwise row i is the vector of
 *            packet i
 * payloads   count regions; only read
 * sources    n regions. A source that is not determined stays as it was
 * decoded    NULL, or n bytes: 1 where a source has been written, otherwise 0
 * record     NULL, or what became of the packets: kept are all dependent ones
 *
 * What is written, also *record and *report, must not overlap anything else of the call. Headers,
 * *record and *report have the alignment of their types, or are refused with INVALID_ARGUMENT.
 * Without packets neither headers, vectors nor regions are read, without bytes no regions: what is
 * not read may be NULL.
 *
 * Returns SUCCESS; SINGULAR: not all sources are determined; CORRUPT: a dependent packet
 * contradicts the others, and the sources have been written and are not to be trusted. With these
 * three *decoded, *record and *report have been written. INVALID_ARGUMENT, INVALID_SIZE, OVERLAP:
 * nothing has been written. OUT_OF_MEMORY, CUDA: the sources are undefined, and nothing else has
 * been written. */
GFK_API gfk_status gfk_rlnc_decode_host(gfk_pipeline_t pipeline, gfk_rlnc_t code,
                                        uint64_t generation, const gfk_rlnc_header *headers,
                                        size_t count, const void *vectors, size_t stride,
                                        const gfk_regions *payloads, const gfk_regions *sources,
                                        uint8_t *decoded, gfk_rlnc_record *record,
                                        gfk_pipeline_report *report);

/* Updates and locating have no call of their own here: a code created with GFK_CPU does both in
 * host memory. An update reads one changed range and is limited by memory, so that a GPU would
 * spend longer on the bus. */

/* ---- calibration ---------------------------------------------------------------------------- */

/* The rates of a machine, as gfk_calibrate measures them; AUTO predicts times from them. Rates are
 * in bytes per second, times in seconds. */
typedef struct gfk_calibration {
    char host[64], processor[64]; /* names of the machine and of its processor */
    unsigned threads;
    size_t device_count; /* 0: there is no GPU, and only the CPU was measured */
    char devices[GFK_MOST_DEVICES][64];
    /* The CPU, in input bytes per second: w = 8 with polynomial 0x11d, w = 8 with another
     * polynomial, w = 16, w = 32; each for 1 input and 1 output, and for 8 inputs and 1, 2, 4, 8
     * outputs. */
    double cpu[4][5];
    /* All devices together, for pageable and for pinned regions: to the devices, from the devices,
     * and the sum of both directions at the same time. */
    double bus[2][3];
    double kernel[4];          /* the four fields as above: input bytes times outputs per second */
    double cpu_call, gpu_call; /* the shortest time of a call */
    double both[2];            /* pageable, pinned: the rate of CPU and GPU together, divided by
                                  the sum of their rates alone */
    uint64_t reserved[4];      /* 0 */
} gfk_calibration;

/* gfk_calibrate: measures this machine with the descriptor's devices, memory and threads. One
 * device takes about two seconds. Run it on an idle machine.
 *
 * desc         as for gfk_pipeline_create; path and calibration_file are ignored. NULL means
 *              GFK_PIPELINE_DESC_INIT
 * file         the file to write; it is replaced as a whole or not at all. NULL: no file
 * calibration  receives the rates; may be NULL if file is not NULL
 *
 * Allocates 1 GiB besides the descriptor's memory, or a sixteenth of the machine's memory if
 * that is less.
 *
 * Returns SUCCESS; the statuses of gfk_pipeline_create; IO (the file cannot be written;
 * *calibration has been written). Any thread. */
GFK_API gfk_status gfk_calibrate(const gfk_pipeline_desc *desc, const char *file,
                                 gfk_calibration *calibration);

/* gfk_calibration_load, gfk_calibration_save: read and write a calibration file. load accepts the
 * file of another machine. On an error *calibration and the file are unchanged.
 *
 * Both return SUCCESS; INVALID_ARGUMENT (NULL; save: a rate or time that is impossible); IO (the
 * file cannot be read, written or replaced); CORRUPT (the file is not a calibration, has an
 * unknown version, or is damaged). Any thread. */
GFK_API gfk_status gfk_calibration_load(gfk_calibration *calibration, const char *file);
GFK_API gfk_status gfk_calibration_save(const gfk_calibration *calibration, const char *file);

/* The predicted times of the paths. */
typedef struct gfk_advice {
    double cpu_seconds, gpu_seconds, both_seconds; /* below 0: the path does not exist */
    gfk_path path;                                 /* the path with the shortest time, as AUTO */
    size_t crossover;     /* the length in bytes, within a factor of 2, from which the GPU is faster
                         than the CPU; 0: never */
    char why[240];        /* the reason for the choice, one sentence */
    uint64_t reserved[4]; /* 0 */
} gfk_advice;

/* gfk_advise: predicts the time of every path for a product of k inputs and m outputs of `bytes`
 * bytes each (the encoding of a code, or the decoding of m lost regions).
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, k or m 0, `where` out of range, a field that
 * gfk_field_init did not make, an empty calibration). Any thread. */
GFK_API gfk_status gfk_advise(const gfk_calibration *calibration, const gfk_field *field, size_t k,
                              size_t m, size_t bytes, gfk_where where, gfk_advice *advice);

#ifdef __cplusplus
}
#endif
#endif
