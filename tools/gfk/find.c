/* SPDX-License-Identifier: BSD-3-Clause */
/* What the arguments of a command name: bases, folders and files of shards. */
#include "find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

typedef struct finder {
    inventory *all;
    folder **in; /* the folders of --in */
    size_t in_count;
    path_list absent; /* messages about folders of --in that are not there */
    folder **empty;   /* folders without shards */
    size_t empty_count;
    void *walked; /* folders that were searched, a tree of tsearch */
    bool locked;  /* all folders of the arguments are locked */
} finder;

static int no_memory(void) {
    return fail(TOOL_INTERNAL, "out of memory");
}

int open_folders(folder ***opened, const folder_list *folders) {
    *opened = calloc(folders->count + 1, sizeof **opened);
    if (*opened == NULL)
        return no_memory();
    for (size_t i = 0; i < folders->count; i++) {
        const int error = folder_open(&(*opened)[i], folders->paths[i]);
        if (error == ENOMEM)
            return no_memory();
        if (error == ENOTDIR)
            return fail(TOOL_IO, "%s is not a folder", folders->paths[i]);
        if (error != 0)
            return fail(TOOL_IO, "cannot open the folder %s: %s", folders->paths[i],
                        strerror(error));
        for (size_t j = 0; j < i; j++)
            if ((*opened)[i] == (*opened)[j])
                return fail(TOOL_USAGE, "%s and %s are the same folder", folders->paths[j],
                            folders->paths[i]);
    }
    return 0;
}

/* ---- items ---------------------------------------------------------------------------------- */

static int add_message(path_list *list, const char *format, const char *path, int error) {
    const size_t room = strlen(format) + strlen(path) + strlen(strerror(error)) + 1;
    char *const text = malloc(room);
    if (text != NULL)
        snprintf(text, room, format, path, strerror(error));
    return path_list_add(list, text);
}

/* Gives an item its bases: in its own folder or in those of --in, and in those of --to. */
static int add_bases(finder *f, shard_item *item, folder *in, const char *base) {
    int code = 0;
    if (in != NULL && f->in_count == 0)
        code = shard_bases_add(&item->bases, in, path_join(in->path, base));
    for (size_t i = 0; i < f->in_count && code == 0; i++)
        code = shard_bases_add(&item->bases, f->in[i], path_join(f->in[i]->path, base));
    for (size_t i = 0; i < f->all->to_count && code == 0; i++)
        code = shard_bases_add(&item->bases, f->all->to[i], path_join(f->all->to[i]->path, base));
    for (size_t i = 0; i < f->absent.count && code == 0; i++)
        code = path_list_add(&item->absent, strdup(f->absent.paths[i]));
    return code;
}

/* Reads the files with the names of the items' shards, from an item on. */
static int read_items(finder *f, size_t first) {
    int code = 0;
    for (size_t i = first; i < f->all->item_count && code == 0; i++) {
        shard_item *const item = f->all->items[i];
        for (size_t j = 0; j < item->bases.count && code == 0; j++) {
            folder *const in = item->bases.all[j].in;
            const char *const base = path_name(item->bases.all[j].path);
            shard_item *owner = NULL;
            code = inventory_place(f->all, in, base, strlen(base), item, &owner);
            if (code == 0 && owner == item)
                code = inventory_take_base(f->all, in, base, item);
        }
    }
    return code;
}

/* ---- folders -------------------------------------------------------------------------------- */

static int add_listed_item(finder *f, folder *in, const char *name, size_t length,
                           size_t relative) {
    shard_item *item = NULL;
    char *const base = strndup(name, length);
    int code = base == NULL ? no_memory() : 0;
    if (code == 0)
        code = inventory_place(f->all, in, name, length, NULL, &item);
    if (code == 0 && item == NULL) {
        code = inventory_add_item(f->all, path_join(in->path, base), &item);
        if (code == 0)
            code = add_bases(f, item, in, base);
        if (code == 0)
            code = inventory_place(f->all, in, name, length, item, &item);
        if (code == 0) {
            item->listed = true;
            item->relative = relative;
            item->home = in;
        }
    }
    free(base);
    return code;
}

/* Adds a file that is not named like a shard, if the file begins with the header of a shard. */
static int add_unnamed(finder *f, folder *in, folder_entry *entry, size_t relative) {
    shard_item *item = NULL;
    int code = temp_name_length(entry->name) != 0 ? 0 : inventory_take(f->all, in, entry, NULL);
    if (code != 0 || entry->found == NULL || entry->found->item != NULL || !entry->found->head)
        return code;
    code = inventory_add_item(f->all, strdup(entry->found->path), &item);
    if (code == 0) {
        item->listed = true;
        item->relative = relative;
        item->home = in;
        code = inventory_take(f->all, in, entry, item);
    }
    return code;
}

/* Adds what a folder holds. Entries of an unknown type get their types. */
static int add_entries(finder *f, folder *in, folder_entries *list, size_t relative) {
    int code = 0;
    for (size_t i = 0; i < list->count && code == 0; i++) {
        folder_entry *const entry = &list->entries[i];
        const char *base = NULL;
        size_t length = 0;
        uint32_t index = 0;
        struct stat status;
        if (entry->type == DT_UNKNOWN &&
            fstatat(folder_fd(in), entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0)
            entry->type = S_ISDIR(status.st_mode)   ? DT_DIR
                          : S_ISREG(status.st_mode) ? DT_REG
                                                    : DT_LNK;
        if (entry->type != DT_REG && entry->type != DT_UNKNOWN)
            continue;
        if (shard_entry_parse(entry->name, &base, &length, &index))
            code = add_listed_item(f, in, base, length, relative);
        else
            code = add_unnamed(f, in, entry, relative);
    }
    return code;
}

static int by_pointer(const void *a, const void *b) {
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

/* Reads a folder, unless it was read as another argument. */
static int add_folder(finder *f, folder *in, size_t relative, folder_entries **list) {
    folder_locks lock = {0};
    const size_t first = f->all->item_count;
    int error = 0;
    *list = NULL;
    if (tfind(in, &f->walked, by_pointer) != NULL)
        return 0;
    if (tsearch(in, &f->walked, by_pointer) == NULL)
        return no_memory();
    int code = f->locked ? 0 : folders_lock(&lock, &in, 1, false);
    if (code == 0)
        code = inventory_list(f->all, in, true, list, &error);
    if (code == 0)
        code = add_entries(f, in, *list, relative);
    if (code == 0)
        code = read_items(f, first);
    folders_unlock(&lock);
    return code;
}

/* A folder that is still to be searched. */
typedef struct waiting {
    folder *in;
    const char *name;
} waiting;

/* Puts the folders of a list in front of those that wait. */
static int add_waiting(waiting **stack, size_t *count, folder *in, const folder_entries *list) {
    size_t folders = 0;
    for (size_t i = 0; list != NULL && i < list->count; i++)
        folders += list->entries[i].type == DT_DIR;
    if (folders == 0)
        return 0;
    waiting *const grown = realloc(*stack, (*count + folders) * sizeof *grown);
    if (grown == NULL)
        return no_memory();
    *stack = grown;
    for (size_t i = list->count; i-- > 0;)
        if (list->entries[i].type == DT_DIR)
            grown[(*count)++] = (waiting){in, list->entries[i].name};
    return 0;
}

/* Searches the folders below a folder, in the order of their names. */
static int walk_below(finder *f, folder *root, folder_entries *list, size_t relative) {
    waiting *stack = NULL;
    size_t count = 0;
    int code = add_waiting(&stack, &count, root, list);
    while (count != 0 && code == 0) {
        const waiting next = stack[--count];
        folder *in = NULL;
        const int error = folder_enter(&in, next.in, next.name);
        if (error == ENOMEM) {
            code = no_memory();
        } else if (error == 0) {
            code = add_folder(f, in, relative, &list);
            if (code == 0)
                code = add_waiting(&stack, &count, in, list);
        } else if (error != ENOENT) {
            char *const path = path_join(next.in->path, next.name);
            code = path == NULL ? no_memory() : 0;
            if (code == 0)
                inventory_report(f->all, TOOL_IO, "cannot read the folder %s: %s", path,
                                 strerror(error));
            free(path);
        }
    }
    free(stack);
    return code;
}

static int add_root(finder *f, const char *argument, bool walk) {
    size_t length = strlen(argument);
    while (length > 1 && argument[length - 1] == '/')
        length--;
    char *const path = strndup(argument, length);
    folder *in = NULL;
    folder_entries *list = NULL;
    const size_t first = f->all->item_count, failed = f->all->messages;
    const int error = path == NULL ? ENOMEM : folder_open(&in, path);
    int code = 0;
    if (error == ENOMEM)
        code = no_memory();
    else if (error != 0)
        inventory_report(f->all, TOOL_IO, "cannot read the folder %s: %s", path, strerror(error));
    const size_t relative =
        code != 0 || strcmp(path, ".") == 0 ? 0 : length + (strcmp(path, "/") != 0);
    free(path);
    if (in != NULL && code == 0) {
        const bool again = tfind(in, &f->walked, by_pointer) != NULL;
        code = add_folder(f, in, relative, &list);
        if (code == 0 && walk)
            code = walk_below(f, in, list, relative);
        if (code == 0 && f->all->item_count == first && f->all->messages == failed && !again)
            f->empty[f->empty_count++] = in;
    }
    return code;
}

/* ---- arguments ------------------------------------------------------------------------------ */

static int add_base(finder *f, folder *in, const char *argument) {
    const char *const name = path_name(argument);
    shard_item *item = NULL;
    const size_t first = f->all->item_count;
    folder *const place = f->in_count != 0 ? f->in[0] : in;
    int code = place == NULL ? 0 : inventory_place(f->all, place, name, strlen(name), NULL, &item);
    if (code == 0 && item != NULL) { /* another argument names it too */
        code = item->bases.count == 0 ? add_bases(f, item, in, name) : 0;
        return code == 0 ? read_items(f, item->number) : code;
    }
    if (code == 0)
        code = inventory_add_item(f->all, strdup(argument), &item);
    if (code == 0) {
        item->home = in;
        code = add_bases(f, item, in, name);
    }
    return code == 0 ? read_items(f, first) : code;
}

/* Files that are named like shards of one base are one item. */
static int add_file(finder *f, folder *in, const char *path, shard_source *found) {
    const char *const name = path_name(path);
    size_t length = strlen(name);
    uint32_t index = 0;
    const bool named = shard_name_parse(name, length, &length, &index);
    shard_item *item = NULL;
    int code = named ? inventory_place(f->all, in, name, length, NULL, &item) : 0;
    if (code == 0 && item == NULL && (found == NULL || found->item == NULL)) {
        const size_t first = f->all->item_count;
        code = inventory_add_item(f->all, strndup(path, (size_t)(name - path) + length), &item);
        if (code == 0) {
            item->is_file = true;
            item->home = in;
            code = add_bases(f, item, NULL, path_name(item->name));
        }
        if (code == 0 && named)
            code = inventory_place(f->all, in, name, length, item, &item);
        if (code == 0)
            code = read_items(f, first);
    }
    if (code == 0 && item != NULL)
        code = inventory_read(f->all, in, name, item, &found);
    if (code == 0 && item != NULL && found == NULL && !item->failed)
        code = add_message(&item->absent, "cannot open %s: %s", path, ENOENT);
    return code;
}

/* True if the folder has an entry with the name of a shard of a base. */
static int has_shards(finder *f, folder *in, const char *base, bool *has) {
    folder_entries *list = NULL;
    int error = 0;
    int code = inventory_list(f->all, in, false, &list, &error);
    const size_t length = strlen(base);
    char *const prefix = malloc(length + sizeof ".gfk.");
    *has = false;
    if (code == 0 && prefix == NULL)
        code = no_memory();
    if (code == 0) {
        sprintf(prefix, "%s.gfk.", base);
        for (size_t i = folder_entries_find(list, prefix);
             i < list->count && !*has &&
             strncmp(list->entries[i].name, prefix, strlen(prefix)) == 0;
             i++) {
            size_t base_length = 0;
            uint32_t index = 0;
            *has = shard_name_parse(list->entries[i].name, strlen(list->entries[i].name),
                                    &base_length, &index) &&
                   base_length == length;
        }
    }
    free(prefix);
    return code;
}

/* Adds an argument whose folder is there. `path` is the argument, or where the argument leads as a link.
 * A base may be named like a shard, and like a folder; a base with shards comes first. */
static int add_in_folder(finder *f, folder *in, const char *path, const char *argument) {
    const char *const name = path_name(path);
    struct stat status = {0};
    size_t length = 0;
    uint32_t index = 0;
    shard_source *file = NULL;
    bool has = false;
    int code = 0;
    fstatat(folder_fd(in), name, &status, AT_SYMLINK_NOFOLLOW);
    if (S_ISREG(status.st_mode))
        code = inventory_read(f->all, in, name, NULL, &file);
    if (code == 0 && file != NULL && file->identified)
        return add_file(f, in, path, file);
    if (code == 0 && path == argument)
        code = has_shards(f, in, name, &has);
    if (code != 0)
        return code;
    if (S_ISDIR(status.st_mode) && !has)
        return add_root(f, argument, false);
    if (!has && shard_name_parse(name, strlen(name), &length, &index))
        return add_file(f, in, path, file);
    return add_base(f, in, argument);
}

static int add_argument(finder *f, const char *argument) {
    struct stat status;
    folder *in = NULL;
    shard_item *item = NULL;
    if (path_name(argument)[0] == '\0')
        return add_root(f, argument, false);
    /* A link stands for what it leads to. */
    char *const target =
        lstat(argument, &status) == 0 && S_ISLNK(status.st_mode) ? realpath(argument, NULL) : NULL;
    const char *const path = target != NULL ? target : argument;
    const int error = folder_of(&in, path);
    int code = 0;
    if (error == 0) {
        code = add_in_folder(f, in, path, argument);
    } else if (error == ENOMEM) {
        code = no_memory();
    } else if (error == ENOENT) {
        char *const absent = path_folder(path);
        code = absent == NULL ? no_memory() : inventory_add_item(f->all, strdup(argument), &item);
        if (code == 0)
            code = add_bases(f, item, NULL, path_name(argument));
        if (code == 0)
            code = add_message(&item->absent, "cannot read the folder %s: %s", absent, error);
        free(absent);
    } else {
        inventory_report(f->all, TOOL_IO, "cannot look at %s: %s", argument, strerror(error));
    }
    free(target);
    return code;
}

/* Opens the folders of --in. A disk may be missing. */
static int open_disks(finder *f, const folder_list *folders) {
    int code = 0;
    f->in = calloc(folders->count + 1, sizeof *f->in);
    if (f->in == NULL)
        return no_memory();
    for (size_t i = 0; i < folders->count && code == 0; i++) {
        const int error = folder_open(&f->in[f->in_count], folders->paths[i]);
        if (error == 0)
            f->in_count++;
        else if (error == ENOMEM)
            code = no_memory();
        else if (error == ENOENT)
            code =
                add_message(&f->absent, "cannot read the folder %s: %s", folders->paths[i], error);
        else
            inventory_report(f->all, TOOL_IO, "cannot read the folder %s: %s", folders->paths[i],
                             strerror(error));
    }
    return code;
}

/* With --in every set may have shards in all of these folders. */
static int add_in_disks(finder *f, const tool_options *o) {
    int code = 0;
    for (size_t i = 0; i < o->count && code == 0; i++) {
        folder *home = NULL;
        const int error = folder_of(&home, o->arguments[i]);
        code = error == ENOMEM ? no_memory() : add_base(f, home, o->arguments[i]);
    }
    for (size_t i = 0; i < f->in_count && code == 0 && o->count == 0; i++) {
        folder *const in = f->in[i];
        folder_entries *list = NULL;
        code = add_folder(f, in, strlen(in->path) + 1, &list);
    }
    if (code == 0 && f->all->item_count == 0 && f->all->code == 0)
        inventory_report(f->all, TOOL_UNRECOVERABLE, "there are no shards in the folder %s%s",
                         o->in.paths[0], o->in.count == 1 ? "" : " or the other folders");
    return code;
}

/* Locks the folders that the arguments name, so that no run renames files between two looks. */
static int lock_arguments(finder *f, const tool_options *o, folder_locks *locks) {
    folder **const in = calloc(2 * o->count + f->in_count + f->all->to_count + 1, sizeof *in);
    size_t count = 0;
    if (in == NULL)
        return no_memory();
    for (size_t i = 0; i < o->count && o->in.count == 0; i++) {
        count += folder_of(&in[count], o->arguments[i]) == 0;
        count += folder_open(&in[count], o->arguments[i]) == 0;
    }
    for (size_t i = 0; i < f->in_count; i++)
        in[count++] = f->in[i];
    for (size_t i = 0; i < f->all->to_count; i++)
        in[count++] = f->all->to[i];
    const int code = folders_lock(locks, in, count, false);
    free(in);
    f->locked = true;
    return code;
}

/* ---- public functions ----------------------------------------------------------------------- */

static int find(finder *f, set_list *list, const tool_options *o, bool walk) {
    folder_locks locks = {0};
    int code = open_folders(&f->all->to, &o->to);
    f->all->to_count = code == 0 ? o->to.count : 0;
    if (code == 0)
        code = open_disks(f, &o->in);
    if (code == 0 && !walk)
        code = lock_arguments(f, o, &locks);
    if (code == 0 && o->in.count != 0)
        code = add_in_disks(f, o);
    for (size_t i = 0; i < o->count && code == 0 && o->in.count == 0; i++)
        code = walk ? add_root(f, o->arguments[i], true) : add_argument(f, o->arguments[i]);
    if (code == 0)
        code = choose_sets(list);
    folders_unlock(&locks);
    return code == 0 ? list_sets(list) : code;
}

/* A folder without shards may receive the shards of the sets that lack shards. */
static int use_empty(set_list *list, folder *empty) {
    bool used = false;
    int code = 0;
    for (size_t i = 0; i < list->count && code == 0; i++) {
        shard_set *const set = list->sets[i];
        if (set->count == 0 || set->present == set->count || !set->searched)
            continue;
        folder *in = empty;
        char *const below = path_folder(set->base + set->relative);
        const int error = below == NULL             ? ENOMEM
                          : strcmp(below, ".") == 0 ? 0
                                                    : folder_enter(&in, empty, below);
        free(below);
        if (error == ENOMEM)
            code = no_memory();
        else if (error == 0)
            code = shard_bases_add(&set->bases, in, path_join(in->path, path_name(set->base)));
        used = true;
    }
    if (!used && code == 0)
        inventory_report(&list->all, TOOL_UNRECOVERABLE, "there are no shards in the folder %s%s",
                         empty->path, "");
    return code;
}

int find_sets(set_list *list, const tool_options *o, const char *command, bool walk) {
    finder f = {.all = &list->all};
    *list = (set_list){.all = {.command = command,
                               .all = strcmp(command, "decode") != 0,
                               .verdicts = strcmp(command, "scrub") == 0}};
    f.empty = calloc(o->count + 1, sizeof *f.empty);
    int code = f.empty == NULL ? no_memory() : find(&f, list, o, walk);
    for (size_t i = 0; i < f.empty_count && code == 0; i++)
        code = use_empty(list, f.empty[i]);
    free(f.in);
    free(f.empty);
    path_list_free(&f.absent);
    while (f.walked != NULL)
        tdelete(*(void **)f.walked, &f.walked, by_pointer);
    return code;
}

static int look_again(set_list *list, const shard_set *set) {
    finder f = {.all = &list->all};
    shard_item *item = NULL;
    int code = inventory_add_item(&list->all, strdup(set->base), &item);
    if (code != 0)
        return code;
    list->all.to = calloc(set->all->to_count + 1, sizeof(folder *));
    if (list->all.to == NULL)
        return no_memory();
    list->all.to_count = set->all->to_count;
    for (size_t i = 0; i < set->all->to_count; i++)
        list->all.to[i] = set->all->to[i];
    item->relative = set->relative;
    item->wanted = set->header.set_id;
    item->is_file = !set->searched;
    item->home = set->home;
    for (size_t i = 0; i < set->bases.count && code == 0 && set->searched; i++)
        code = shard_bases_add(&item->bases, set->bases.all[i].in, strdup(set->bases.all[i].path));
    if (code == 0)
        code = read_items(&f, 0);
    for (const shard_source *s = set->members; s != NULL && code == 0; s = s->next_of_set) {
        shard_source *found = NULL;
        code = inventory_read(&list->all, s->in, path_name(s->path), item, &found);
    }
    if (code == 0)
        code = choose_sets(list);
    if (code == 0)
        code = list_sets(list);
    if (code == 0 && list->count == 0)
        code = list->all.code != 0 ? list->all.code : RUN_AGAIN;
    return code == 0 ? shard_set_open(list->sets[0]) : code;
}

int find_again(set_list *list, const shard_set *set) {
    folder_locks locks = {0};
    folder **const in = calloc(set->bases.count + 1, sizeof *in);
    *list = (set_list){0};
    if (in == NULL)
        return no_memory();
    for (size_t i = 0; i < set->bases.count; i++)
        in[i] = set->bases.all[i].in;
    int code = folders_lock(&locks, in, set->bases.count, false);
    if (code == 0)
        code = look_again(list, set);
    folders_unlock(&locks);
    free(in);
    return code;
}

void set_list_free(set_list *list) {
    inventory_free(&list->all);
    free(list->sets);
    *list = (set_list){0};
}
