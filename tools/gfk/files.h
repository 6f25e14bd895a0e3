/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that appear whole or not at all: they are written under names of their own, brought to the
 * disk, and then renamed. What a killed run leaves behind is told from what a live one works on by
 * a lock on the file, which ends with the process. */
#ifndef GFK_TOOL_FILES_H
#define GFK_TOOL_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

/* ---- paths; NULL: no memory ----------------------------------------------------------------- */

char *path_folder(const char *path);     /* "a/b" -> "a", "b" -> ".", "/b" -> "/" */
const char *path_name(const char *path); /* what follows the last slash */
char *path_join(const char *folder, const char *name);
/* What is there: 0 and *status; ENOENT for nothing, or a link to nothing; else what the system says
 * of a link that it does not follow. */
int path_look(const char *path, struct stat *status);

/* ---- reading and writing -------------------------------------------------------------------- */

/* Reads until the memory is full or the file ends; the number of bytes, or -1 with errno. */
ssize_t read_all(int fd, void *memory, size_t bytes);
/* The same at an offset, into several pieces; `pieces` is used up. */
ssize_t read_pieces(int fd, struct iovec *pieces, size_t count, uint64_t offset);
/* Writes everything; false with errno. */
bool write_all(int fd, const void *memory, size_t bytes);
bool write_pieces(int fd, struct iovec *pieces, size_t count, uint64_t offset);

/* ---- files that are not complete ------------------------------------------------------------ */

typedef struct temp_file {
    int fd;     /* -1: none */
    char *path; /* its own name; NULL once it has its final one */
    struct temp_file *next;
} temp_file;

#define TEMP_FILE_NONE {-1, NULL, NULL}

/* All return 0, or an exit code after a message. */
int temp_create(temp_file *temp, const char *final_path);
int temp_sync(const temp_file *temp, const char *final_path, unsigned mode);
/* Gives count files their final names, in this order, and brings the folder to the disk. A signal
 * waits until it is done. If it fails half way, the others stay under their own names, as after a
 * kill: what they were to replace may not be enough any more. */
int temp_commit(temp_file *temps, size_t count, char *const *final_paths, int folder_fd);
void temp_discard(temp_file *temp); /* removes it if it has no final name, and closes it */

/* The final name of a file that is not complete: its length in `name`, which begins behind the
 * first character; 0: no such file's name. */
size_t temp_name_length(const char *name);
/* Removes what killed runs left in a folder for the final names that `mine` accepts. */
void temp_clean(const char *folder, bool (*mine)(const char *name, size_t length, void *context),
                void *context);

/* ---- one at a time -------------------------------------------------------------------------- */

/* Locks a folder against other runs of this tool; the descriptor to close, or -1 after a message.
 */
int folder_lock(const char *folder, bool exclusive);

/* Removes incomplete files when a signal ends the process. Before any thread is started. */
void signals_begin(void);

/* So many files may be open, if the system lets us. */
void allow_open_files(size_t count);

#endif
