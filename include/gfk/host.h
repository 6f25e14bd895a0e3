/* SPDX-License-Identifier: BSD-3-Clause */
/* Products and codes of regions in host memory, of any size: through the bus to one or several
 * GPUs, on all cores of the CPU, or both at once. Without a GPU, or without CUDA at build time,
 * everything here works on the CPU. docs/host-memory.md explains it with figures. */
#ifndef GFK_HOST_H
#define GFK_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/export.h>
#include <gfk/field.h>
#include <gfk/product.h>
#include <gfk/rs.h>
#include <gfk/status.h>
#include <gfk/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory that travels fast ------------------------------------------------------------------
 */

/* Where a call's regions are. */
typedef enum gfk_where {
    GFK_PAGEABLE = 0, /* ordinary memory: threads copy it through pinned buffers */
    GFK_PINNED        /* allocated or registered with CUDA: the GPU reads and writes it itself */
} gfk_where;

/* gfk_pinned_alloc: *memory receives `bytes` bytes, aligned to 4096, that every device can reach.
 * Without a device it is ordinary memory. Slow, as every page is touched: keep what it returns.
 * INVALID_ARGUMENT (NULL, 0 bytes); OUT_OF_MEMORY; NOT_SUPPORTED (this machine cannot pin); CUDA.
 * Any thread. */
GFK_API gfk_status gfk_pinned_alloc(void **memory, size_t bytes);

/* gfk_pinned_free: frees what gfk_pinned_alloc returned; NULL is allowed. */
GFK_API void gfk_pinned_free(void *memory);

/* gfk_pinned_register, gfk_pinned_unregister: pin memory that exists already, and let it go. Of a
 * region that a call is to read or write directly, all bytes must be in one registered range.
 *
 * Return SUCCESS; INVALID_ARGUMENT (NULL, 0 bytes, registered already, not registered); NO_DEVICE;
 * NOT_SUPPORTED (a build without CUDA, or memory that cannot be pinned); OUT_OF_MEMORY; CUDA. Any
 * thread. */
GFK_API gfk_status gfk_pinned_register(void *memory, size_t bytes);
GFK_API gfk_status gfk_pinned_unregister(void *memory);

/* ---- pipelines ---------------------------------------------------------------------------------
 */

/* Who does the work. */
typedef enum gfk_path {
    GFK_PATH_AUTO = 0, /* whichever should be fastest; gfk_pipeline_desc.calibration_file */
    GFK_PATH_CPU,      /* ISA-L on all cores for w = 8, polynomial 0x11d; else the host engine */
    GFK_PATH_GPU,      /* all devices of the pipeline */
    GFK_PATH_BOTH      /* these and the CPU; they share each call's byte range as they get on */
} gfk_path;

/* gfk_path_name: "auto", "cpu", "gpu", "both"; never NULL. */
GFK_API const char *gfk_path_name(gfk_path path);

enum { GFK_MOST_DEVICES = 16, GFK_MOST_STREAMS = 64, GFK_MOST_THREADS = 4096 };

/* How to work. Start from GFK_PIPELINE_DESC_INIT. Nothing in it is kept after create. */
typedef struct gfk_pipeline_desc {
    size_t size; /* sizeof(gfk_pipeline_desc), so that the struct can grow */
    gfk_path path;
    const int *devices;   /* CUDA device numbers, each once; NULL: the calling thread's current
                             device if there is one */
    size_t device_count;  /* of devices; at most GFK_MOST_DEVICES. 0 where devices is NULL */
    size_t device_memory; /* bytes of each device's memory to use, besides the tables of products;
                             0: 1 GiB */
    size_t pinned_memory; /* bytes of pinned memory to use, all devices together; 0: 256 MiB. Used
                             for pageable regions only, but for 256 bytes per stream; in pages of
                             4096 bytes for each device */
    size_t chunk;         /* bytes that travel at a time, all regions together; 0: chosen, up to 64
                             MiB. The two limits above go first. */
    unsigned streams;     /* chunks under way on each device; 0: 4. At most GFK_MOST_STREAMS; the
                             limits on memory may allow fewer */
    unsigned threads;     /* that copy at a time for a device (more than 16 do not), and that
                             compute; 0: one for each core that the caller may run on. At most
                             GFK_MOST_THREADS */
    const char *calibration_file; /* written by gfk_calibrate; NULL: none. A file that is missing,
                                     damaged or of another machine is as good as none:
                                     gfk_pipeline_info says so */
} gfk_pipeline_desc;

/* Without a calibration AUTO goes by a simple rule. Where ISA-L lacks the field: the GPU from 1 MiB
 * of all regions together on. Where it has it: the GPU from 16 MiB on, but only if all regions are
 * pinned and the buses, at 55 GB/s for each device, should carry more than ISA-L encodes, at 12
 * GB/s for each thread up to 70: with one device, up to 4 threads. Else the CPU. */

#define GFK_PIPELINE_DESC_INIT {sizeof(gfk_pipeline_desc), GFK_PATH_AUTO, 0, 0, 0, 0, 0, 0, 0, 0}

/* Owns streams, device memory, pinned memory, and the products made for the last 8 matrices. Calls
 * on one pipeline take turns; different pipelines do not wait for each other. */
typedef struct gfk_pipeline *gfk_pipeline_t;

/* What a descriptor resolves to. */
typedef struct gfk_pipeline_info {
    gfk_path path; /* AUTO without a device: CPU */
    int devices[GFK_MOST_DEVICES];
    size_t device_count; /* 0: there is none, or path is CPU */
    size_t device_memory, pinned_memory;
    size_t chunk; /* 0: chosen for each call */
    unsigned streams, threads;
    bool calibrated;
    gfk_status calibration; /* SUCCESS: used, or none was named. IO: cannot be read. CORRUPT.
                               WRONG_DEVICE: of another machine, or of other devices or threads */
    uint64_t reserved[4];   /* 0 */
} gfk_pipeline_info;

/* gfk_pipeline_create: makes a pipeline; desc NULL means GFK_PIPELINE_DESC_INIT.
 *
 * With AUTO, and no devices named, having no GPU is fine: the CPU does it all. Memory is allocated
 * by the calls that need it, once, and freed by destroy.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, an enumerator or number out of range, a device twice,
 * devices together with path CPU); NOT_SUPPORTED (devices are wanted of a build without CUDA);
 * NO_DEVICE (path GPU or BOTH, or a device that was named, and it is not there); OUT_OF_MEMORY;
 * CUDA. On an error *pipeline is unchanged. Any thread. */
GFK_API gfk_status gfk_pipeline_create(gfk_pipeline_t *pipeline, const gfk_pipeline_desc *desc);

/* gfk_pipeline_get_info: INVALID_ARGUMENT for NULL. Any thread. */
GFK_API gfk_status gfk_pipeline_get_info(gfk_pipeline_t pipeline, gfk_pipeline_info *info);

/* gfk_pipeline_destroy: NULL is allowed. No call with the pipeline may be going on. */
GFK_API void gfk_pipeline_destroy(gfk_pipeline_t pipeline);

/* ---- calls -------------------------------------------------------------------------------------
 */

/* What a call did. Bytes are those of the byte range, which every region has: cpu_bytes + gpu_bytes
 * is the call's `bytes`. */
typedef struct gfk_pipeline_report {
    gfk_path path;      /* that was chosen: CPU, GPU or BOTH */
    const char *reason; /* why, as a static sentence */
    uint64_t cpu_bytes, gpu_bytes;
    uint64_t device_bytes[GFK_MOST_DEVICES]; /* gpu_bytes by device, in the order of the info */
    uint64_t redone_bytes;                   /* of cpu_bytes: planned for a device that failed */
    gfk_status device_status; /* how the first device that failed did; SUCCESS: none has */
    size_t staged_regions;    /* that went through pinned buffers; 0 on the CPU */
    size_t chunk;             /* bytes of all regions together in a chunk; 0 on the CPU */
    double seconds;
    uint64_t reserved[4]; /* 0 */
} gfk_pipeline_report;

/* What all calls have in common:
 *
 * Regions are in host memory, pinned or not, each its own; managed memory is taken for pageable.
 * Otherwise as gfk_product_run: any length that is a multiple of w/8, any alignment, only the
 * regions are touched. They may be larger than any device's memory.
 *
 * Results are the same bytes whatever the path, the devices and the limits. *report says what was
 * done; NULL is fine. It is written on SUCCESS and on CUDA.
 *
 * A device that runs out of memory or is lost in the middle of a call does not fail it: the CPU
 * does the device's part again, and the report says so. Later calls leave a lost device out. Only
 * where the results overwrite what they are made of (GFK_XOR, in place) and some of them had
 * already been on their way back, that cannot be done: CUDA.
 *
 * Return SUCCESS; INVALID_ARGUMENT (NULL where an object or region is needed, a stride below bytes,
 * an unknown mode, a region in device memory, which a pipeline without devices cannot tell);
 * INVALID_SIZE; OVERLAP; INVALID_CONSTANT; OUT_OF_MEMORY, TABLE_LIMIT (for the product on the CPU):
 * nothing has been written. CUDA: the output is undefined.
 *
 * Any thread; a call waits for the one before it on the same pipeline and has finished when it
 * returns. The calling thread's current device is left as it was. */

/* gfk_product_host: out[j] = sum of matrix[j][i] * in[i] (GFK_SET), or that XORed into out[j].
 *
 * matrix  rows * cols elements, row by row; the product derived from it is kept for the next call
 * mode    GFK_SET or GFK_XOR
 *
 * Inputs may overlap each other; outputs overlap nothing. */
GFK_API gfk_status gfk_product_host(gfk_pipeline_t pipeline, const gfk_field *field, size_t rows,
                                    size_t cols, const uint32_t *matrix, const gfk_regions *in,
                                    const gfk_regions *out, size_t bytes, gfk_accumulate mode,
                                    gfk_pipeline_report *report);

/* gfk_region_multiply_host: dst = c * src, or dst = dst + c * src. src may be dst; any other
 * overlap is refused. */
GFK_API gfk_status gfk_region_multiply_host(gfk_pipeline_t pipeline, const gfk_field *field,
                                            uint32_t c, const void *src, void *dst, size_t bytes,
                                            gfk_accumulate mode, gfk_pipeline_report *report);

/* gfk_rs_encode_host: computes all parity from all data. Of the code only its matrix counts, not
 * the device that it was made for. */
GFK_API gfk_status gfk_rs_encode_host(gfk_pipeline_t pipeline, gfk_rs_t code,
                                      const gfk_regions *data, const gfk_regions *parity,
                                      size_t bytes, gfk_pipeline_report *report);

/* gfk_rs_decode_host: rebuilds regions. lost and wanted as for gfk_rs_decoder_create, whose
 * statuses come on top; of regions that are neither read nor wanted the addresses may be NULL, so
 * with nothing to rebuild of all, but data and parity themselves may not. OVERLAP as for all calls
 * of gfk/rs.h: parity that is not read is not overwritten either. */
GFK_API gfk_status gfk_rs_decode_host(gfk_pipeline_t pipeline, gfk_rs_t code, const size_t *lost,
                                      size_t lost_count, const size_t *wanted, size_t wanted_count,
                                      const gfk_regions *data, const gfk_regions *parity,
                                      size_t bytes, gfk_pipeline_report *report);

/* gfk_rs_verify_host: *differs is 0 if the parity matches the data, else 1. Only reads the regions,
 * which may overlap each other. On an error *differs is unchanged; INVALID_ARGUMENT where it is not
 * aligned for its type, OVERLAP where it is within a region. */
GFK_API gfk_status gfk_rs_verify_host(gfk_pipeline_t pipeline, gfk_rs_t code,
                                      const gfk_regions *data, const gfk_regions *parity,
                                      size_t bytes, uint32_t *differs, gfk_pipeline_report *report);

/* ---- calibration -------------------------------------------------------------------------------
 */

/* What AUTO goes by: rates of this machine, as gfk_calibrate measures them. Rates are bytes per
 * second, times seconds. */
typedef struct gfk_calibration {
    char host[64], processor[64]; /* names of the machine and of its processor */
    unsigned threads;
    size_t device_count; /* 0: there is no GPU, and only the CPU was measured */
    char devices[GFK_MOST_DEVICES][64];
    /* The CPU: input bytes per second, for w = 8 with polynomial 0x11d, w = 8 with others, w = 16,
     * w = 32; each for 1 input and 1 output, and 8 inputs and 1, 2, 4, 8 outputs. */
    double cpu[4][5];
    /* The devices together, where regions are pageable and pinned: bytes per second in, out, and
     * the sum of both when they go on at the same time. */
    double bus[2][3];
    double kernel[4];          /* fields as above: input bytes times outputs per second */
    double cpu_call, gpu_call; /* seconds that a call takes at least */
    double both[2];            /* pageable, pinned: how much of what CPU and GPU would do alone in a
                                  second they do in a second together */
    uint64_t reserved[4];      /* 0 */
} gfk_calibration;

/* gfk_calibrate: measures this machine, with the descriptor's devices, memory and threads, in about
 * two seconds for one device. Nothing else should be running.
 *
 * desc         as for gfk_pipeline_create; path and calibration_file do not matter. NULL means
 *              GFK_PIPELINE_DESC_INIT
 * file         where to keep it; replaced as a whole or not at all. NULL: nowhere
 * calibration  what was measured; NULL is fine, unless file is NULL too
 *
 * Takes 512 MiB of memory besides the descriptor's, or a sixteenth of the machine's if that is
 * less.
 *
 * Returns SUCCESS; as gfk_pipeline_create; IO (the file cannot be written; *calibration is set
 * nevertheless). Any thread. */
GFK_API gfk_status gfk_calibrate(const gfk_pipeline_desc *desc, const char *file,
                                 gfk_calibration *calibration);

/* gfk_calibration_load, gfk_calibration_save: the file. load takes files of other machines too. On
 * an error *calibration and the file are unchanged.
 *
 * Return SUCCESS; INVALID_ARGUMENT (NULL; numbers that no machine has, to save); IO (the file
 * cannot be read, written or replaced); CORRUPT (not a calibration, or of an unknown version, or
 * damaged). Any thread. */
GFK_API gfk_status gfk_calibration_load(gfk_calibration *calibration, const char *file);
GFK_API gfk_status gfk_calibration_save(const gfk_calibration *calibration, const char *file);

/* What the paths would take. */
typedef struct gfk_advice {
    double cpu_seconds, gpu_seconds, both_seconds; /* below 0: there is no such path */
    gfk_path path;                                 /* the shortest; what AUTO takes */
    size_t crossover; /* the length in bytes, up to a factor of 2, from which GPU is shorter than
                         CPU; 0: never */
    char why[240];    /* a sentence */
    uint64_t reserved[4]; /* 0 */
} gfk_advice;

/* gfk_advise: for a product of k inputs and m outputs of `bytes` bytes each (the encoding of a
 * code, or the decoding of m lost regions), what takes how long, and which path is best?
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, k or m 0, `where` out of range, a field that
 * gfk_field_init did not make, a calibration of nothing). Any thread. */
GFK_API gfk_status gfk_advise(const gfk_calibration *calibration, const gfk_field *field, size_t k,
                              size_t m, size_t bytes, gfk_where where, gfk_advice *advice);

#ifdef __cplusplus
}
#endif
#endif
