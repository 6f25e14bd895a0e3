/* SPDX-License-Identifier: BSD-3-Clause */
/* Other libraries, reached by handle and never by symbol name: the program may hold another library
 * with the same names. */
#ifndef GFK_HOST_LIBRARY_H
#define GFK_HOST_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* gfk_library_load: loads the shared library at an absolute path, and fills in an array, or a
 * struct, of `count` function pointers with the functions of these names. Returns false if the
 * library cannot be loaded, or lacks one of them. The process keeps the library until the process
 * ends; loading a library again only looks it up. Any thread may call the function. */
bool gfk_library_load(const char *path, const char *const *names, size_t count, void *functions);

#endif
