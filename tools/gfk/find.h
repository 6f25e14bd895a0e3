/* SPDX-License-Identifier: BSD-3-Clause */
/* The sets of shards that the arguments of a command name. */
#ifndef GFK_TOOL_FIND_H
#define GFK_TOOL_FIND_H

#include "inventory.h"
#include "options.h"

typedef struct set_list {
    inventory all;
    shard_set **sets; /* in the order in which the arguments name the sets */
    size_t count;
} set_list;

/* Finds the sets. An argument is a base, a shard, or a folder with shards; with `walk` it is a
 * folder, and the folders in it are searched too. What has the same set id is one set, in however
 * many folders. Symbolic links in folders are not followed. `command` names the command in JSON.
 * list->all.code is the exit code of the messages about arguments that name no set, and about what
 * could not be looked at. Returns 0, or an exit code after a message; the caller frees the list in
 * any case. */
int find_sets(set_list *list, const tool_options *options, const char *command, bool walk);
/* Looks again in the places of one set, after files changed, and opens the set that is there
 * now. */
int find_again(set_list *list, const shard_set *set);
void set_list_free(set_list *list);

/* Opens the folders of an option; each must be a different folder. The caller frees the array. */
int open_folders(folder ***opened, const folder_list *folders);

/* Groups the files of the inventory by the sets that their headers name, and chooses the sets that
 * a command works on (choose.c). */
int choose_sets(set_list *list);
int list_sets(set_list *list);

#endif
