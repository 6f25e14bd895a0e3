/* SPDX-License-Identifier: BSD-3-Clause */
/* What a command has seen: each folder is listed once, and the headers of each file are read
 * once. */
#ifndef GFK_TOOL_INVENTORY_H
#define GFK_TOOL_INVENTORY_H

#include "shard_set.h"

typedef struct inventory {
    const char *command; /* names the command in JSON */
    bool all;            /* every set counts, and not only the strongest one of an item */
    bool verdicts;       /* what cannot be looked at gets a verdict, as in scrub */
    int code;            /* exit code of the messages that are written */
    size_t failed;       /* the number of verdicts */
    size_t messages;
    shard_item **items;
    size_t item_count;
    shard_source **sources; /* in the order of the search */
    size_t source_count;
    shard_set *sets; /* in the order of their headers */
    size_t set_count;
    folder **to; /* the folders of --to */
    size_t to_count;
    const struct input_files *inputs; /* files that are never removed; NULL: none */
    void *listings, *files, *places; /* trees of tsearch: by folder; by inode; by folder and base */
} inventory;

/* The worse of two exit codes: TOOL_INTERNAL, then TOOL_UNRECOVERABLE, then the larger code. */
int worse(int a, int b);

/* Functions that return int return 0, or an exit code after a message: the memory or the limit on
 * open files is too small. Whatever else fails is reported, and the inventory goes on without
 * it. */
void inventory_free(inventory *all);

/* Reports something that could not be looked at, or an argument that names no set. */
void inventory_report(inventory *all, int code, const char *format, const char *path,
                      const char *why);

/* Lists a folder, as far as it can be read. *error is the reason if it cannot be read completely,
 * or not be entered; `report` reports this once. */
int inventory_list(inventory *all, folder *in, bool report, folder_entries **list, int *error);

/* True if the folder has a file with the name, or the temporary name, of a shard of the base. */
int inventory_has_base(inventory *all, folder *in, const char *base, bool *has);

/* Adds an item. Takes the name. */
int inventory_add_item(inventory *all, char *name, shard_item **added);
/* The item that has the files of a base in a folder; NULL if there is none. With `item` the place
 * becomes this item's, unless another item has it. */
int inventory_place(inventory *all, folder *in, const char *base, size_t length, shard_item *item,
                    shard_item **owner);

/* Reads the headers of a file, unless they are known, and adds the file to the item if it has none
 * yet. *found is NULL if there is no such file. */
int inventory_read(inventory *all, folder *in, const char *name, shard_item *item,
                   shard_source **found);
/* Reads the headers of an entry of a list, unless they are known. A file that is neither a shard
 * nor named like one does not count, nor does an incomplete temporary file: entry->found is then
 * NULL. */
int inventory_take(inventory *all, folder *in, folder_entry *entry, shard_item *item);
/* Adds all files of a folder that are named like shards of a base, and like their temporary
 * files. */
int inventory_take_base(inventory *all, folder *in, const char *base, shard_item *item);

/* The file with this name in a folder now, if it was found; NULL if another file or none is
 * there. */
int inventory_find(const inventory *all, folder *in, const char *name, shard_source **found);

/* Adds a shard that the command has written, so that the work on other sets knows whose it is. */
int inventory_add_written(inventory *all, shard_set *set, const file_place *written);

/* Removes the temporary files that killed runs left for the shards of a base. Shards of another set
 * that can be restored stay, unless `set` is NULL. */
int inventory_clean_shards(inventory *all, const shard_base *base, const shard_set *set);
/* Removes those for a file. */
int inventory_clean_file(inventory *all, folder *in, const char *name);

#endif
