/* SPDX-License-Identifier: BSD-3-Clause */
/* What the arguments of a command name: bases, folders and files of shards. */
#include "find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

typedef struct finder {
    set_list *list;
    inventory *all;
    folder **in; /* the folders of --in that are there */
    size_t in_count;
    bool only_in;     /* there is --in: no other folder counts */
    path_list absent; /* messages about folders of --in that are not there */
    folder **empty;   /* folders without shards */
    size_t empty_count;
    bool found;  /* the folder of an argument, or a folder below, has shards */
    bool locked; /* all folders of the arguments are locked */
} finder;

/* An argument, whose path is followed once. */
typedef struct argument {
    const char *text;
    char *target;   /* where the argument leads as a link; NULL: it is no link */
    folder *in;     /* the folder of the file; NULL: see error */
    folder *itself; /* the folder that the argument names; NULL: it names none */
    int error;
} argument;

int open_folders(folder ***opened, const folder_list *folders) {
    *opened = calloc(folders->count + 1, sizeof **opened);
    if (*opened == NULL)
        return no_memory();
    for (size_t i = 0; i < folders->count; i++) {
        const int error = folder_open(&(*opened)[i], folders->paths[i]);
        if (error == ENOTDIR)
            return fail(TOOL_IO, "%s is not a folder", folders->paths[i]);
        if (error != 0)
            return fail_for(error, "open the folder", folders->paths[i]);
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
    if (in != NULL && !f->only_in)
        code = shard_bases_add(&item->bases, in, path_join(folder_path(in), base));
    for (size_t i = 0; i < f->in_count && code == 0; i++)
        code = shard_bases_add(&item->bases, f->in[i], path_join(folder_path(f->in[i]), base));
    for (size_t i = 0; i < f->all->to_count && code == 0; i++)
        code = shard_bases_add(&item->bases, f->all->to[i],
                               path_join(folder_path(f->all->to[i]), base));
    for (size_t i = 0; i < f->absent.count && code == 0; i++)
        code = path_list_add(&item->notes, strdup(f->absent.paths[i]));
    return code;
}

/* Reads the files with the names of an item's shards. With `lock`, no folder is locked yet. */
static int read_item(inventory *all, shard_item *item, bool lock) {
    int code = 0;
    for (size_t i = 0; i < item->bases.count && code == 0; i++) {
        folder *const in = item->bases.all[i].in;
        const char *const base = path_name(item->bases.all[i].path);
        folder_locks locks = {0};
        shard_item *owner = NULL;
        code = inventory_place(all, in, base, strlen(base), item, &owner);
        if (code == 0 && owner == item && lock)
            code = folders_lock(&locks, &in, 1, false);
        if (code == 0 && owner == item)
            code = inventory_take_base(all, in, base, item);
        folders_unlock(&locks);
    }
    return code;
}

/* A base or a folder names all shards of an item of which only files were named so far. */
static int widen(finder *f, shard_item *item, folder *in, const char *base) {
    if (!item->is_file)
        return 0;
    item->is_file = false;
    return add_bases(f, item, in, base);
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
        code = inventory_add_item(f->all, path_join(folder_path(in), base), &item);
        if (code == 0)
            code = add_bases(f, item, in, base);
        if (code == 0)
            code = inventory_place(f->all, in, name, length, item, &item);
        if (code == 0) {
            item->listed = true;
            item->relative = relative;
            item->home = in;
        }
    } else if (code == 0 && item->is_file) {
        code = widen(f, item, in, base);
        if (code == 0)
            code = read_item(f->all, item, false);
    }
    free(base);
    return code;
}

/* Adds a file that is not named like a shard, if the file begins with the header of a shard. */
static int add_unnamed(finder *f, folder *in, folder_entry *entry, size_t relative, bool *shards) {
    shard_item *item = NULL;
    int code = temp_name_length(entry->name) != 0 ? 0 : inventory_take(f->all, in, entry, NULL);
    if (code != 0 || entry->found == NULL || !entry->found->head)
        return code;
    *shards = true;
    if (entry->found->item != NULL)
        return 0;
    code = inventory_add_item(f->all, strdup(entry->found->path), &item);
    if (code == 0) {
        item->listed = true;
        item->relative = relative;
        item->home = in;
        code = inventory_take(f->all, in, entry, item);
    }
    return code;
}

/* Adds what a folder holds. */
static int add_entries(finder *f, folder *in, folder_entries *list, size_t relative) {
    int code = 0;
    for (size_t i = 0; i < list->count && code == 0; i++) {
        folder_entry *const entry = &list->entries[i];
        const char *base = NULL;
        size_t length = 0;
        uint32_t index = 0;
        const unsigned char type = folder_entry_type(in, entry);
        if (type != DT_REG && type != DT_UNKNOWN)
            continue;
        if (shard_entry_parse(entry->name, &base, &length, &index)) {
            list->shards = true;
            code = add_listed_item(f, in, base, length, relative);
        } else {
            code = add_unnamed(f, in, entry, relative, &list->shards);
        }
    }
    return code;
}

/* Reads a folder, unless it was read as another argument: *again. */
static int add_folder(finder *f, folder *in, size_t relative, folder_entries **list, bool *again) {
    folder_locks lock = {0};
    const size_t first = f->all->item_count;
    int error = 0;
    *list = NULL;
    int code = f->locked ? 0 : folders_lock(&lock, &in, 1, false);
    if (code == 0)
        code = inventory_list(f->all, in, true, list, &error);
    *again = code == 0 && (*list)->added;
    if (code == 0 && !*again) {
        (*list)->added = true;
        code = add_entries(f, in, *list, relative);
    }
    f->found = f->found || (code == 0 && (*list)->shards);
    for (size_t i = first; i < f->all->item_count && code == 0; i++)
        code = read_item(f->all, f->all->items[i], false);
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
        bool again = false;
        const int error = folder_enter(&in, next.in, next.name);
        if (error == ENOMEM) {
            code = no_memory();
        } else if (error == 0) {
            code = add_folder(f, in, relative, &list, &again);
            if (code == 0)
                code = add_waiting(&stack, &count, in, list);
        } else if (error != ENOENT) {
            char *const path = path_join(folder_path(next.in), next.name);
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

/* The length of an argument without the slashes at its end. */
static size_t root_length(const char *text) {
    size_t length = strlen(text);
    while (length > 1 && text[length - 1] == '/')
        length--;
    return length;
}

static int add_root(finder *f, folder *in, bool walk) {
    folder_entries *list = NULL;
    const char *const path = folder_path(in);
    const size_t before = f->all->messages;
    bool again = false;
    const size_t relative = strcmp(path, ".") == 0 ? 0 : strlen(path) + (strcmp(path, "/") != 0);
    f->found = false;
    int code = add_folder(f, in, relative, &list, &again);
    if (code == 0 && walk)
        code = walk_below(f, in, list, relative);
    if (code == 0 && !f->found && f->all->messages == before && !again)
        f->empty[f->empty_count++] = in;
    return code;
}

/* ---- arguments ------------------------------------------------------------------------------ */

static int add_base(finder *f, folder *in, const char *text) {
    const char *const name = path_name(text);
    shard_item *item = NULL;
    folder *const place = f->in_count != 0 ? f->in[0] : f->only_in ? NULL : in;
    int code = place == NULL ? 0 : inventory_place(f->all, place, name, strlen(name), NULL, &item);
    if (code == 0 && item != NULL) { /* another argument names it too */
        item->listed = false;
        code = widen(f, item, in, name);
        return code == 0 ? read_item(f->all, item, !f->locked) : code;
    }
    if (code == 0)
        code = inventory_add_item(f->all, strdup(text), &item);
    if (code == 0) {
        item->home = in;
        code = add_bases(f, item, in, name);
    }
    return code == 0 ? read_item(f->all, item, !f->locked) : code;
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
        code = inventory_add_item(f->all, strndup(path, (size_t)(name - path) + length), &item);
        if (code == 0) {
            item->is_file = true;
            item->home = in;
            code = add_bases(f, item, NULL, path_name(item->name));
        }
        if (code == 0 && named)
            code = inventory_place(f->all, in, name, length, item, &item);
        if (code == 0)
            code = read_item(f->all, item, !f->locked);
    }
    if (code == 0 && item != NULL)
        code = inventory_read(f->all, in, name, item, &found);
    if (code == 0 && item != NULL && found == NULL && !item->failed)
        code = add_message(&item->notes, "cannot open %s: %s", path, ENOENT);
    return code;
}

/* A base may be named like a shard, and like a folder; a base with shards comes first. */
static int add_in_folder(finder *f, const argument *a) {
    const char *const path = a->target != NULL ? a->target : a->text, *const name = path_name(path);
    struct stat status = {0};
    size_t length = 0;
    uint32_t index = 0;
    shard_source *file = NULL;
    bool has = false;
    int code = 0;
    const bool there =
        a->itself == NULL && fstatat(folder_fd(a->in), name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (a->itself == NULL && !there && errno == ENOMEM)
        return no_memory();
    if (there && S_ISREG(status.st_mode))
        code = inventory_read(f->all, a->in, name, NULL, &file);
    if (code == 0 && file != NULL && file->identified)
        return add_file(f, a->in, path, file);
    if (code == 0 && a->target == NULL)
        code = inventory_has_base(f->all, a->in, name, &has);
    if (code != 0)
        return code;
    if (a->itself != NULL && !has)
        return add_root(f, a->itself, false);
    if (!has && shard_name_parse(name, strlen(name), &length, &index))
        return add_file(f, a->in, path, file);
    if (!has && file != NULL && shard_error_is_of_system(file->error)) { /* a shard, perhaps */
        inventory_report(f->all, TOOL_IO, "cannot read %s: %s", path,
                         shard_error_text(file->error));
        return 0;
    }
    return add_base(f, a->in, a->text);
}

static int add_argument(finder *f, const argument *a) {
    shard_item *item = NULL;
    int code = 0;
    if (a->error == 0)
        return path_name(a->text)[0] == '\0' ? add_root(f, a->itself, false) : add_in_folder(f, a);
    if (a->error == ENOMEM)
        return no_memory();
    if (a->error != ENOENT || path_name(a->text)[0] == '\0') {
        inventory_report(f->all, TOOL_IO, "cannot look at %s: %s", a->text, strerror(a->error));
        return 0;
    }
    char *const absent = path_folder(a->text);
    code = absent == NULL ? no_memory() : inventory_add_item(f->all, strdup(a->text), &item);
    if (code == 0)
        code = add_bases(f, item, NULL, path_name(a->text));
    if (code == 0)
        code = add_message(&item->notes, "cannot read the folder %s: %s", absent, a->error);
    free(absent);
    return code;
}

/* Opens the folder that an argument names. */
static int open_root(argument *a) {
    char *const path = strndup(a->text, root_length(a->text));
    const int error = path == NULL ? ENOMEM : folder_open(&a->itself, path);
    free(path);
    return error;
}

/* Opens the folder of an argument. A link stands for what it leads to. */
static int follow_link(argument *a, struct stat *status) {
    int error = folder_of(&a->in, a->text);
    if (error != 0)
        return error;
    const int at = folder_fd(a->in);
    if (at < 0 || fstatat(at, path_name(a->text), status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT && at >= 0 ? 0 : errno; /* a base is not the name of a file */
    if (!S_ISLNK(status->st_mode))
        return 0;
    errno = 0;
    a->target = realpath(a->text, NULL);
    if (a->target == NULL)
        return errno == ENOMEM ? ENOMEM : 0;
    error = folder_of(&a->in, a->target);
    return error != 0 || stat(a->target, status) == 0 ? error : errno;
}

/* Follows the path of an argument. */
static void follow(argument *a) {
    struct stat status = {0};
    if (path_name(a->text)[0] == '\0') {
        a->error = open_root(a);
        return;
    }
    a->error = follow_link(a, &status);
    if (a->error != 0 || !S_ISDIR(status.st_mode))
        return;
    a->error = open_root(a);
    if (a->error == 0 && (a->itself->device != status.st_dev || a->itself->inode != status.st_ino))
        a->error = ESTALE; /* another folder took the place of the one that was looked at */
}

/* Opens the folders of --in. A disk may be missing. */
static int open_disks(finder *f, const folder_list *folders) {
    int code = 0;
    f->in = calloc(folders->count + 1, sizeof *f->in);
    f->only_in = folders->count != 0;
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
        bool again = false;
        code = add_folder(f, in, strlen(folder_path(in)) + 1, &list, &again);
    }
    if (code == 0 && f->all->item_count == 0 && f->all->code == 0)
        inventory_report(f->all, TOOL_UNRECOVERABLE, "there are no shards in the folder %s%s",
                         o->in.paths[0], o->in.count == 1 ? "" : " or the other folders");
    return code;
}

/* Locks the folders that the arguments name, so that no run renames files between two looks. If these
 * are too many to be open at once, each is locked while it is read. */
static int lock_arguments(finder *f, const argument *arguments, size_t arguments_count,
                          folder_locks *locks) {
    const size_t most = 2 * arguments_count + f->in_count + f->all->to_count;
    folder **const in = calloc(most + 1, sizeof *in);
    size_t count = 0;
    if (in == NULL)
        return no_memory();
    for (size_t i = 0; i < arguments_count; i++) {
        if (arguments[i].in != NULL)
            in[count++] = arguments[i].in;
        if (arguments[i].itself != NULL)
            in[count++] = arguments[i].itself;
    }
    for (size_t i = 0; i < f->in_count; i++)
        in[count++] = f->in[i];
    for (size_t i = 0; i < f->all->to_count; i++)
        in[count++] = f->all->to[i];
    f->locked = folders_can_be_locked(in, &count);
    const int code = f->locked ? folders_lock(locks, in, count, false) : 0;
    free(in);
    return code;
}

static int add_arguments(finder *f, const tool_options *o) {
    argument *const arguments = calloc(o->count + 1, sizeof *arguments);
    const size_t count = o->in.count == 0 ? o->count : 0;
    folder_locks locks = {0};
    int code = arguments == NULL ? no_memory() : 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        arguments[i].text = o->arguments[i];
        follow(&arguments[i]);
    }
    if (code == 0)
        code = lock_arguments(f, arguments, count, &locks);
    if (code == 0 && o->in.count != 0)
        code = add_in_disks(f, o);
    for (size_t i = 0; i < count && code == 0; i++)
        code = add_argument(f, &arguments[i]);
    if (code == 0)
        code = choose_sets(f->list);
    folders_unlock(&locks);
    for (size_t i = 0; i < count && arguments != NULL; i++)
        free(arguments[i].target);
    free(arguments);
    return code;
}

/* Adds the folders of scrub, and those below. */
static int add_trees(finder *f, const tool_options *o) {
    int code = 0;
    for (size_t i = 0; i < o->count && code == 0; i++) {
        argument a = {.text = o->arguments[i]};
        const int error = open_root(&a);
        if (error == ENOMEM)
            code = no_memory();
        else if (error != 0)
            inventory_report(f->all, TOOL_IO, "cannot read the folder %s: %s", a.text,
                             strerror(error));
        else
            code = add_root(f, a.itself, true);
    }
    return code == 0 ? choose_sets(f->list) : code;
}

/* ---- public functions ----------------------------------------------------------------------- */

static int find(finder *f, const tool_options *o, bool walk) {
    int code = open_folders(&f->all->to, &o->to);
    f->all->to_count = code == 0 ? o->to.count : 0;
    if (code == 0)
        code = open_disks(f, &o->in);
    if (code == 0)
        code = walk ? add_trees(f, o) : add_arguments(f, o);
    return code == 0 ? list_sets(f->list) : code;
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
            code =
                shard_bases_add(&set->bases, in, path_join(folder_path(in), path_name(set->base)));
        used = true;
    }
    if (!used && code == 0)
        inventory_report(&list->all, TOOL_UNRECOVERABLE, "there are no shards in the folder %s%s",
                         folder_path(empty), "");
    return code;
}

int find_sets(set_list *list, const tool_options *o, const char *command, bool walk) {
    finder f = {.list = list, .all = &list->all};
    *list = (set_list){.all = {.command = command,
                               .all = strcmp(command, "decode") != 0,
                               .verdicts = strcmp(command, "scrub") == 0}};
    f.empty = calloc(o->count + 1, sizeof *f.empty);
    int code = f.empty == NULL ? no_memory() : find(&f, o, walk);
    for (size_t i = 0; i < f.empty_count && code == 0; i++)
        code = use_empty(list, f.empty[i]);
    free(f.in);
    free(f.empty);
    path_list_free(&f.absent);
    return code;
}

static int look_again(set_list *list, const shard_set *set) {
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
        code = read_item(&list->all, item, false);
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
