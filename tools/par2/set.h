/* SPDX-License-Identifier: BSD-3-Clause */
/* A recovery set as its .par2 files describe it: files, slices, and where the recovery slices are.
 * The slices themselves stay on the disk. */
#ifndef GFK_PAR2_SET_H
#define GFK_PAR2_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../gfk/folder.h"
#include "hash.h"
#include "packet.h"

typedef struct set_checksum {
    uint8_t md5[MD5_BYTES]; /* of the slice, padded with zeros */
    uint32_t crc;
} set_checksum;

/* A file of the set. */
typedef struct set_file {
    uint8_t id[MD5_BYTES];
    uint8_t md5[MD5_BYTES], md5_head[MD5_BYTES];
    uint64_t bytes;
    char *name;              /* relative to the base path, checked by set_name_is_safe; NULL: no
                                valid FileDesc packet was found, and `bytes` is 0 */
    size_t first;            /* the number of the file's first slice in the set */
    size_t slices;           /* 0: an empty file, or one that the set does not protect */
    set_checksum *checksums; /* `slices` of them; NULL: no IFSC packet was found */
} set_file;

/* Where a recovery slice is. */
typedef struct set_recovery {
    uint32_t exponent;
    uint32_t volume; /* the number of the volume */
    uint64_t offset; /* of the slice in the volume */
} set_recovery;

/* A .par2 file that has been read. */
typedef struct set_volume {
    folder *in;
    char *path; /* for messages; the name in the folder is path_name(path) */
    dev_t device;
    ino_t inode;
    uint64_t bytes;  /* when the volume was found */
    size_t recovery; /* recovery slices of the set in the file, duplicates included */
    packet_count packets;
} set_volume;

typedef struct par2_set {
    uint8_t id[MD5_BYTES];
    uint64_t slice_bytes;
    size_t slices;    /* of all files */
    size_t protected; /* files 0 to protected - 1 have recovery slices; the others are only named */
    set_file *files;  /* in the order of the Main packet, which numbers the slices */
    size_t file_count;
    set_recovery *recovery; /* one for each exponent, sorted by exponent */
    size_t recovery_count;
    set_volume *volumes;
    size_t volume_count;
    bool complete; /* each protected file has its name: the numbers of all slices are known */
} par2_set;

/* set_open: reads SET.par2, the files SET.*.par2 next to it, and `more` .par2 files. `path` may also
 * name a volume of the set. The first valid packet decides which set it is; packets of other sets
 * are left out.
 *
 * threads  0: one for each core
 * Returns 0, or an exit code of par2.h after a message: PAR2_IO if no file can be read,
 * PAR2_NOT_ENOUGH_DATA if there is no Main packet, PAR2_MEMORY. set_close is needed in any case. */
int set_open(par2_set *set, const char *path, char *const *more, size_t more_count,
             unsigned threads);
void set_close(par2_set *set);

/* Opens a volume for reading. Returns the descriptor, or -1 with errno; ESTALE if the name now leads
 * to another file. Any thread. */
int set_open_volume(const set_volume *volume);

/* The names that a set may have: relative, no part that is empty, "." or "..", no NUL, not longer
 * than the system allows. */
bool set_name_is_safe(const char *name, size_t length);

/* set_open_below: opens the file with such a name below a folder for reading; no part of the name may
 * be a symbolic link. Returns the descriptor, or -1 with errno. Any thread. */
int set_open_below(int folder_fd, const char *name);

#endif
