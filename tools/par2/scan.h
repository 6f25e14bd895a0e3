/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for the slices of a set in the files that are there. The files of the set are read
 * first, each slice where it should be, so that an intact file is read once. Then whole files with
 * another name are looked for, and at last the slices that are still missing, at every offset of
 * the damaged files and of the files that the user names. The MD5 of a slice decides whether the
 * slice is found; the sliding CRC32 only says where to compute the MD5. */
#ifndef GFK_PAR2_SCAN_H
#define GFK_PAR2_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../gfk/folder.h"
#include "set.h"

/* A regular file that the scan has read. A file is known by device and inode; one file may have
 * several names. */
typedef struct scan_source {
    folder *in;
    char *path; /* for messages; the name in the folder is path_name(path) */
    dev_t device;
    ino_t inode;
    uint64_t bytes;     /* the length when the scan opened the file */
    uint32_t number;    /* in scan.sources */
    bool taken;         /* the file is an intact file of the set, or will get the name of one */
    bool named;         /* the user has named the file as a further file */
    uint32_t complaint; /* the first error in reading the file, already reported; 0: none */
} scan_source;

enum {
    SCAN_NOWHERE = UINT32_MAX,
    SCAN_MOST_ZEROS = 1 << 30 /* that are hashed in the place of bytes that a file does not have */
};

/* A slice of the set and the place where it has been found. */
typedef struct scan_slice {
    uint64_t offset; /* in the source */
    uint64_t bytes;  /* that are there, at most the slice size; zeros follow */
    uint32_t source; /* the number of the source; SCAN_NOWHERE: not found */
} scan_slice;

typedef enum scan_state {
    SCAN_MISSING, /* there is no regular file with the name */
    SCAN_DAMAGED, /* there is one, and its contents or its length are wrong */
    SCAN_RENAMED, /* the name is free, and the whole file has another name: `source` */
    SCAN_INTACT
} scan_state;

/* A file of the set. */
typedef struct scan_target {
    scan_state state;
    bool obstacle;   /* MISSING: a link, a folder or another thing has the name */
    uint32_t source; /* the number of the source; SCAN_NOWHERE for MISSING */
    size_t found;    /* slices of the file that have been found, in whichever sources */
} scan_target;

typedef struct scan {
    const par2_set *set;
    scan_source **sources;
    size_t source_count;
    scan_target *targets; /* by the numbers of the set's files */
    scan_slice *slices;   /* by the numbers of the set's slices */
    size_t found;         /* slices that have been found */
} scan;

typedef struct scan_options {
    folder *base;     /* the names of the set's files begin here */
    unsigned threads; /* 0: one for each core that the process may run on */
    uint64_t memory;  /* bytes for buffers */
    char **extra;     /* paths of further files */
    size_t extra_count;
} scan_options;

/* scan_run: scans. A file that cannot be read is reported, and what is not read counts as damaged.
 * Returns 0, or an exit code of par2.h after a message. scan_free is needed in any case. */
int scan_run(scan *made, const par2_set *set, const scan_options *options);
void scan_free(scan *s);

/* scan_open: opens a source for reading. Returns the descriptor, or -1 with errno; ESTALE if the
 * name now leads to another file. Any thread. */
int scan_open(const scan_source *source);

/* The bytes of slice `slice` of a file, without the zeros that fill the file's last one. */
static inline uint64_t scan_slice_bytes(const par2_set *set, const set_file *f, size_t slice) {
    const uint64_t left = f->bytes - slice * set->slice_bytes;
    return left < set->slice_bytes ? left : set->slice_bytes;
}

/* scan_check: reads a file by its descriptor, and tells whether the file is file number `file` of
 * the set. Slices are hashed in parallel; threads and memory are as of scan_options. Returns 0, or an
 * exit code after a message about `path`. */
int scan_check(const par2_set *set, size_t file, int fd, const char *path, unsigned threads,
               uint64_t memory, bool *intact);

#endif
