/* SPDX-License-Identifier: BSD-3-Clause */
/* What gfk par2 create makes, before it reads the files: which files are protected, the size of the
 * slices, the recovery slices, and the volumes. */
#ifndef GFK_PAR2_PLAN_H
#define GFK_PAR2_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "hash.h"
#include "par2.h"

typedef struct plan_file {
    char *name; /* in the set: relative to the base path */
    uint8_t id[MD5_BYTES], md5_head[MD5_BYTES];
    uint64_t bytes;
    size_t slices;
    unsigned mode; /* permissions */
    dev_t device;
    ino_t inode;
    struct timespec changed; /* the time of the last change when the file was opened first */
} plan_file;

typedef struct plan_volume {
    char *path;
    size_t first, count; /* recovery slices, from 0 on; the index has none */
} plan_volume;

typedef struct create_plan {
    int base;         /* descriptor of the folder at which the names begin */
    plan_file *files; /* in the order of the Main packet */
    size_t file_count;
    uint64_t bytes; /* of all files */
    uint64_t slice_bytes;
    size_t slices;   /* of all files */
    size_t recovery; /* recovery slices */
    uint32_t first;  /* exponent */
    plan_volume *volumes;
    size_t volume_count;
    unsigned mode; /* permissions that all files have in common */
    uint8_t *main; /* body of the Main packet */
    size_t main_bytes;
    uint8_t set_id[MD5_BYTES];
} create_plan;

/* plan_make: finds and checks all that create needs. Returns 0, or an exit code of par2.h after a
 * message. plan_free is needed in any case. */
int plan_make(create_plan *plan, const par2_options *options);
void plan_free(create_plan *plan);

/* Opens a file of the plan for reading, without following links. Returns the descriptor, or -1 with
 * errno; ESTALE if the file is not as it was. Any thread. */
int plan_open(const create_plan *plan, size_t file);

#endif
