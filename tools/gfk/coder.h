/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes, decodes, verifies and corrects stripes in host memory. The rest of the tool does not
 * know which backend computes. */
#ifndef GFK_TOOL_CODER_H
#define GFK_TOOL_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/gfk.h>
#include <gfk/rs.h>

typedef enum coder_backend { BACKEND_AUTO = 0, BACKEND_CUDA, BACKEND_HOST } coder_backend;

/* The values of --backend, --device, --threads and --memory. */
typedef struct coder_options {
    coder_backend backend;
    int device;       /* number of the GPU; -1: any */
    unsigned threads; /* that compute on the CPU; 0: one for each core */
    uint64_t memory;  /* bytes for batches, and the same number for the pinned buffers of a GPU */
} coder_options;

/* One stripe: k + m blocks of the same length. */
typedef struct coder_stripe {
    void **blocks; /* addresses of the k + m blocks */
    size_t bytes;  /* bytes of each block */
} coder_stripe;

/* Writes the path of the file in which the tool keeps the measurements of gfk_calibrate:
 * $XDG_CACHE_HOME/gfk/calibration or $HOME/.cache/gfk/calibration. False if neither variable gives
 * a usable path. */
enum { CALIBRATION_FILE_BYTES = 4096 };
bool calibration_file(char path[CALIBRATION_FILE_BYTES]);
/* True if the path leads to a regular file. The library would wait for the writer of a pipe. */
bool is_regular(const char *path);

typedef struct coder coder;

/* Functions that return int return 0, or an exit code after a message. One thread at a time may
 * use a coder. */
int coder_open(coder **made, const coder_options *options, const gfk_field *field,
               gfk_rs_matrix matrix, size_t k, size_t m);
/* Fails if the matrix of a code needs more memory than --memory allows. */
int coder_check_memory(size_t k, size_t m, uint64_t memory);
void coder_close(coder *c); /* NULL is allowed */
void coders_end(void);      /* ends what coders share, behind the last one */
/* The name of what computed last: "gpu", "both", or the id of the CPU engine; "none" for NULL. */
const char *coder_engine(const coder *c);
/* Allocates memory for blocks, also without a coder. With BACKEND_CUDA the memory is pinned, and the
 * GPU reads and writes the memory directly. */
void *coder_allocate(const coder *c, size_t bytes);
void coder_free(const coder *c, void *memory);

/* Computes the parity of each stripe from the data. */
int coder_encode(coder *c, const coder_stripe *stripes, size_t count);
/* Rebuilds the `wanted` blocks, a subset of the `lost` blocks, from k other blocks. The lists of
 * lost and wanted blocks apply to every stripe. */
int coder_decode(coder *c, const coder_stripe *stripes, size_t count, const size_t *lost,
                 size_t lost_count, const size_t *wanted, size_t wanted_count);
/* Sets *matches to true if the parity of the stripe matches the data. */
int coder_verify(coder *c, const coder_stripe *stripe, bool *matches);
/* Locates and corrects wrong symbols whose positions are unknown. *corrected is false if the code
 * cannot locate all of them; the blocks are then undefined. counts receives k + m words: the
 * number of wrong positions in each block. */
int coder_correct(coder *c, const coder_stripe *stripe, bool *corrected, uint64_t *counts);
/* The number of wrong symbols in one position that coder_correct always locates; 0: none. */
size_t coder_locatable(const coder *c);

#endif
