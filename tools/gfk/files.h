/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that appear complete or not at all. A file is written under a temporary name, synced to
 * the disk, and then renamed. A run locks its temporary files, and the locks end with the process:
 * an unlocked temporary file is the remainder of a killed run. */
#ifndef GFK_TOOL_FILES_H
#define GFK_TOOL_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "folder.h"

/* ---- paths; NULL means out of memory -------------------------------------------------------- */

char *path_folder(const char *path);               /* "a/b" -> "a", "b" -> ".", "/b" -> "/" */
const char *path_name(const char *path);           /* the part after the last slash */
char *path_join(const char *in, const char *name); /* NULL also if `in` is NULL */
/* A list that owns its paths. */
typedef struct path_list {
    char **paths;
    size_t count;
} path_list;

/* Makes room for one more element, of `bytes` bytes, in an array of `count` elements that grows by
 * doubling. `array` is the address of the pointer to the array, which is unchanged on failure. */
bool array_grow(void *array, size_t count, size_t bytes);

/* Takes the path in any case; a NULL path is reported as out of memory. Returns 0 or an exit code.
 */
int path_list_add(path_list *list, char *path);
void path_list_free(path_list *list);

/* The position of the first element that is not less than the key, in an array in this order.
 * compare(key, element) is the order of the element and the key. */
size_t lower_bound(const void *key, const void *array, size_t count, size_t bytes,
                   int (*compare)(const void *key, const void *element));

/* ---- reading and writing -------------------------------------------------------------------- */

/* Reads until the memory is full or the file ends. Returns the bytes read, or -1 with errno. */
ssize_t read_all(int fd, void *memory, size_t bytes);
/* Reads like read_all, but at an offset and into several buffers. The call modifies `buffers`. */
ssize_t read_buffers(int fd, struct iovec *buffers, size_t count, uint64_t offset);
/* Writes all bytes. Returns false with errno on an error. */
bool write_all(int fd, const void *memory, size_t bytes);
bool write_buffers(int fd, struct iovec *buffers, size_t count, uint64_t offset);

/* ---- temporary files ------------------------------------------------------------------------ */

typedef struct temp_file {
    int fd;                 /* descriptor; -1: none */
    folder *in;             /* its descriptor stays open until the file has its final name */
    char *name;             /* temporary name; NULL once the file has its final name */
    struct temp_file *next; /* next file that a signal removes */
} temp_file;

#define TEMP_FILE_NONE {-1, NULL, NULL, NULL}

/* Where a file is to be: the last name of the path, in the folder. */
typedef struct file_place {
    folder *in;
    char *path;
} file_place;

/* Looks at what has the name. Returns 0 and fills *status, which for a link is that of the file to
 * which the link leads; ENOENT if nothing is there; ELOOP for a dangling link; else the system's
 * error. */
int place_look(const file_place *place, struct stat *status);

/* These functions return 0, or an exit code after a message. */
int temp_create(temp_file *temp, const file_place *place);
int temp_sync(const temp_file *temp, const file_place *place, unsigned mode);
/* Renames `count` files to their final names, in order, and syncs the folders. A signal waits until
 * the call ends. If a rename fails after another rename succeeded, the remaining files keep their
 * temporary names, as after a kill: the old files that are left may no longer be sufficient. */
int temp_commit(temp_file *temps, size_t count, const file_place *places,
                const folder_locks *folders);
/* Gives one file its final name under the folder's lock, unless `check` refuses. */
int temp_place(temp_file *temp, const file_place *place,
               int (*check)(const file_place *place, void *context), void *context);
void temp_discard(temp_file *temp); /* closes the file; removes a file without a final name */

/* The temporary name for a name, which the caller frees; NULL if out of memory. */
char *temp_name(const char *name, const char *digits);
/* The length of the final name inside a temporary name; the final name begins at name + 1. Returns
 * 0 if `name` is not a temporary name. */
size_t temp_name_length(const char *name);
/* Removes a temporary file, unless a live run has it. */
void temp_remove(folder *in, const char *name);

/* ---- signals and limits --------------------------------------------------------------------- */

/* Makes SIGHUP, SIGINT and SIGTERM remove the temporary files before the process ends. The call
 * must precede the start of any thread. */
void signals_begin(void);

/* Raises the limit on open files for `count` files, as far as the system permits. Returns the
 * limit. */
size_t allow_open_files(size_t count);
int fail_for_open_files(void); /* the message that the limit is too low. Returns TOOL_IO. */

#endif
