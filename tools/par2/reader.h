/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the slices of many files with several threads, hashes them, and hands them to the place.
 * The MD5 of a file is serial; those of several files run in parallel, and so do the slices'. */
#ifndef GFK_PAR2_READER_H
#define GFK_PAR2_READER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"
#include "place.h"
#include "set.h"

/* A slice, a column of the product. */
typedef struct reader_slice {
    uint32_t file;   /* the number of the file */
    uint32_t point;  /* the slice's constant */
    uint64_t offset; /* in the file */
    uint64_t bytes;  /* that are there, at most the slice size; zeros follow */
} reader_slice;

/* The hashes of a file whose slices are all read. */
typedef struct reader_hashes {
    uint8_t md5[MD5_BYTES];
    set_checksum *checksums; /* one for each slice of the file, the caller's memory */
} reader_hashes;

typedef struct reader_job {
    /* Opens a file for reading: a descriptor, or -1 with errno. Any thread; the reader closes it.
     * NULL: nothing is read, for the time of the products alone. */
    int (*open)(void *context, uint32_t file);
    const char *(*path)(void *context, uint32_t file); /* for messages */
    void *context;
    size_t file_count;
    const reader_slice *slices; /* those of a file follow each other, in the order of the file */
    size_t slice_count;
    uint64_t slice_bytes;
    unsigned threads;      /* 0: one for each core */
    reader_hashes *hashes; /* one for each file, or NULL: nothing is hashed */
    bool silent; /* no progress: another reader runs at the same time, and shows its own */
    /* NULL, or other work, which one thread does while the other threads read. reader_run returns after it; *ended is
     * true when nothing is left to read and to hash, or after an error. */
    void (*first)(void *context, const atomic_bool *ended);
} reader_job;

/* reader_run: opens the place (place_prepare), while other threads read if there are any, and adds bytes [offset,
 * offset + width) of each slice to its rows, after place_begin and ahead of place_finish, which reports the errors of the
 * place. With hashes the slices are those of whole files, offset is 0 and width the slice size; with an idle place the
 * width may be less, and all bytes are hashed. Returns 0, or an exit code of par2.h after a message: PAR2_IO if a file
 * cannot be read or is shorter than its slices say. */
int reader_run(const reader_job *job, place *p, const place_layout *layout, uint64_t offset,
               uint64_t width);

/* reader_threads: the number of threads that 0 means: one for each core that the process may run on. */
unsigned reader_threads(unsigned threads);

/* parallel_for: runs work(context, i) for i from 0 to count - 1 on several threads, until one returns
 * a code other than 0, which is the result. */
int parallel_for(unsigned threads, size_t count, int (*work)(void *context, size_t i),
                 void *context);

#endif
