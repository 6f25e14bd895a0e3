/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk par2: recovery sets in the format of "Parity Volume Set Specification 2.0". This header has
 * what the three commands share: exit codes, options, and the commands. */
#ifndef GFK_PAR2_PAR2_H
#define GFK_PAR2_PAR2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../gfk/coder.h"

/* The exit codes of par2cmdline. All functions of tools/par2 that return an exit code return one of
 * these; functions of tools/gfk return TOOL_..., which par2_code translates. */
enum par2_exit {
    PAR2_OK = 0,
    PAR2_REPAIR_POSSIBLE = 1,   /* verify: files are damaged, and repair can restore them */
    PAR2_REPAIR_IMPOSSIBLE = 2, /* files are damaged, and there are too few recovery slices */
    PAR2_USAGE = 3,
    PAR2_NOT_ENOUGH_DATA = 4, /* the packets that describe the set are missing or damaged */
    PAR2_REPAIR_FAILED = 5,   /* a restored file is not the file of the set */
    PAR2_IO = 6,              /* a file cannot be read or written, or would be replaced */
    PAR2_INTERNAL = 7,        /* a defect, or a GPU that was asked for cannot be used */
    PAR2_MEMORY = 8
};
/* The exit code for a code of tools/gfk; 0 stays 0. */
int par2_code(int tool_code);
/* The message about memory. Returns PAR2_MEMORY. */
int par2_no_memory(void);

typedef struct par2_options {
    /* create */
    double percent;    /* -r; below 0: not given */
    uint64_t recovery; /* -c; UINT64_MAX: not given */
    uint64_t slice;    /* -s, bytes; 0: not given */
    uint64_t slices;   /* -b; 0: not given */
    uint64_t first;    /* -f, the first exponent */
    uint64_t volumes;  /* -n; 0: not given */
    bool limited;      /* -l: no volume is larger than the largest file */
    bool uniform;      /* -u: volumes of one size */
    bool recurse;      /* -R */
    /* repair */
    bool purge; /* -p: remove the damaged files and, after success, the set */
    /* all */
    const char *base; /* -B; NULL: the folder of the set */
    unsigned verbose; /* the number of -v */
    bool hash_only;   /* create: read and hash, compute nothing, write nothing; for bench/par2.py */
    bool products_only;  /* create: compute what one pass has read, write nothing; likewise */
    coder_options coder; /* --backend, --device, -t, -m */
    const char *set;     /* the path of SET.par2 */
    char **files;        /* the other arguments */
    size_t file_count;
} par2_options;

/* The commands. Each returns an exit code after its messages. */
int par2_create(const par2_options *options);
int par2_verify(const par2_options *options);
int par2_repair(const par2_options *options);

/* With -v -v: prints "time NAME SECONDS" on standard output, for bench/par2.py. */
void par2_time(const par2_options *options, const char *name, double seconds);
/* With -v -v: prints "count NAME NUMBER". */
void par2_count(const par2_options *options, const char *name, uint64_t number);

#endif
