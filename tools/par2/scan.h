/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for the slices of a set in the files that are there. The files of the set are read
 * first, each slice where it should be, so that an intact file is read once. Then files that are
 * whole under another name are looked for, and at last the slices that are still missing, at every
 * offset of the damaged files and of the files that the user names. The MD5 of a slice decides
 * whether the slice is found; the sliding CRC32 only says where to compute it. */
#ifndef GFK_PAR2_SCAN_H
#define GFK_PAR2_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../gfk/folder.h"
#include "set.h"

/* A regular file that the scan has read. A file is known by device and inode, whatever names lead
 * to it. */
typedef struct scan_source {
    folder *in;
    char *name; /* in the folder */
    char *path; /* for messages */
    dev_t device;
    ino_t inode;
    uint64_t bytes; /* the length when the scan has opened the file */
} scan_source;

enum { SCAN_NOWHERE = UINT32_MAX };

/* A slice of the set and the place where it has been found. */
typedef struct scan_slice {
    uint32_t source; /* the number of the source; SCAN_NOWHERE: not found */
    uint32_t bytes;  /* bytes that are there, at most the slice size; zeros follow them */
    uint64_t offset; /* in the source */
} scan_slice;

typedef enum scan_state {
    SCAN_MISSING, /* no file has the name, or something that is no regular file: see obstacle */
    SCAN_DAMAGED, /* the file has the name, and something in it is wrong */
    SCAN_RENAMED, /* the whole file is there, with another name */
    SCAN_INTACT
} scan_state;

/* A file of the set. */
typedef struct scan_target {
    scan_state state;
    bool obstacle;   /* something has the name: a damaged file, a link, a folder */
    uint32_t source; /* the file with the target's name, or with SCAN_RENAMED the whole file;
                        SCAN_NOWHERE: there is none */
    size_t found;    /* slices found, in whichever files */
} scan_target;

typedef struct scan {
    const par2_set *set;
    scan_source *sources;
    size_t source_count;
    scan_target *targets; /* by the numbers of the set's files */
    scan_slice *slices;   /* by the numbers of the set's slices */
    size_t found;         /* slices found */
} scan;

typedef struct scan_options {
    folder *base;     /* the names of the set's files begin here */
    unsigned threads; /* 0: one for each core that the process may run on */
    char **extra;     /* paths of further files */
    size_t extra_count;
} scan_options;

/* scan_run: scans. Returns 0, or an exit code after a message. A file that cannot be read is
 * reported, and counts as damaged. scan_free is needed in any case. */
int scan_run(scan *made, const par2_set *set, const scan_options *options);
void scan_free(scan *s);

/* Opens a source for reading. Returns the descriptor, or -1 with errno; ESTALE if the name now
 * leads to another file. Any thread. */
int scan_open(const scan_source *source);

#endif
