/* SPDX-License-Identifier: BSD-3-Clause */
/* The sets of shards that the arguments of a command name. */
#ifndef GFK_TOOL_FIND_H
#define GFK_TOOL_FIND_H

#include "options.h"
#include "shard_set.h"

typedef struct set_list {
    shard_places *sets; /* in the order in which the arguments name the sets */
    size_t count;
    int code; /* exit code for the arguments that name no set; their messages are written */
} set_list;

/* Finds the sets. An argument is a base, a shard, or a folder with shards; with `walk` it is a
 * folder, and the folders in it are searched too. What has the same set id is one set, in however
 * many folders. Symbolic links in folders are not followed. `command` names the command in JSON.
 * Returns 0, or an exit code after a message; the caller frees the list in any case. */
int find_sets(set_list *list, const tool_options *options, const char *command, bool walk);
void set_list_free(set_list *list);

/* Makes one base in each of the folders, named like `base`, or only `base` if there is no folder.
 */
int bases_in(path_list *bases, const folder_list *folders, const char *base);

/* Checks that each path is a folder, and a different one. */
int check_folders(const folder_list *folders);

/* True if both paths lead to the same file or folder. */
bool is_same_file(const char *a, const char *b);

/* The worse of two exit codes: a lost file is worse than everything else. */
int worse(int a, int b);

#endif
