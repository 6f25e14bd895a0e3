/* SPDX-License-Identifier: BSD-3-Clause */
#include "inventory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "shard_writer.h"

/* The list of a folder. */
typedef struct listing {
    folder *in;
    folder_entries list;
    int error;
    bool reported;
} listing;

/* The files of a folder that are named like shards of one base. */
typedef struct place {
    folder *in;
    char *base;
    size_t length;
    shard_item *item;
} place;

int worse(int a, int b) {
    const int most = a > b ? a : b;
    if (most != TOOL_INTERNAL && (a == TOOL_UNRECOVERABLE || b == TOOL_UNRECOVERABLE))
        return TOOL_UNRECOVERABLE;
    return most;
}

void inventory_report(inventory *all, int code, const char *format, const char *path,
                      const char *why) {
    if (all->command != NULL)
        json_begin(all->command);
    code = fail(code, format, path, why);
    if (code == TOOL_IO && all->verdicts) {
        all->failed++;
        json_string("verdict", "failed");
        say("%-8s %s: %s", "failed", path, why);
    }
    if (all->command != NULL)
        code = json_end(code);
    all->messages++;
    all->code = worse(all->code, code);
}

/* ---- lists ---------------------------------------------------------------------------------- */

static int by_folder(const void *a, const void *b) {
    const folder *x = ((const listing *)a)->in, *y = ((const listing *)b)->in;
    return ((uintptr_t)x > (uintptr_t)y) - ((uintptr_t)x < (uintptr_t)y);
}

/* Finds the node of a key in a tree, or adds a copy of the key. NULL: out of memory. */
static void *node_of(void **tree, const void *key, size_t bytes,
                     int (*compare)(const void *, const void *), bool *added) {
    void **node = tfind(key, tree, compare);
    *added = node == NULL;
    if (node != NULL)
        return *node;
    void *copy = malloc(bytes);
    if (copy == NULL)
        return NULL;
    memcpy(copy, key, bytes);
    if (tsearch(copy, tree, compare) != NULL)
        return copy;
    free(copy);
    return NULL;
}

int inventory_list(inventory *all, folder *in, bool report, folder_entries **list, int *error) {
    bool added = false;
    struct stat status;
    const listing key = {.in = in};
    listing *const found = node_of(&all->listings, &key, sizeof key, by_folder, &added);
    if (found == NULL)
        return no_memory();
    if (added) {
        found->error = folder_read(in, &found->list);
        if (found->error == 0 && fstatat(folder_fd(in), ".", &status, 0) != 0)
            found->error = errno;
    }
    if (found->error == ENOMEM)
        return no_memory();
    if (found->error != 0 && report && !found->reported) {
        inventory_report(all, TOOL_IO, "cannot read the folder %s: %s", folder_path(in),
                         strerror(found->error));
        found->reported = true;
    }
    *error = found->error;
    *list = &found->list;
    return 0;
}

/* ---- items ---------------------------------------------------------------------------------- */

int inventory_add_item(inventory *all, char *name, shard_item **added) {
    shard_item *const item = name == NULL ? NULL : calloc(1, sizeof *item);
    if (item == NULL || !array_grow(&all->items, all->item_count, sizeof *all->items)) {
        free(item);
        free(name);
        return no_memory();
    }
    *item = (shard_item){
        .number = all->item_count, .name = name, .relative = (size_t)(path_name(name) - name)};
    all->items[all->item_count++] = *added = item;
    return 0;
}

static int by_place(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->in != y->in)
        return (uintptr_t)x->in < (uintptr_t)y->in ? -1 : 1;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return memcmp(x->base, y->base, x->length);
}

int inventory_place(inventory *all, folder *in, const char *base, size_t length, shard_item *item,
                    shard_item **owner) {
    const place key = {in, (char *)base, length, item};
    place **const node = tfind(&key, &all->places, by_place);
    *owner = node == NULL ? item : (*node)->item;
    if (node != NULL || item == NULL)
        return 0;
    place *const made = malloc(sizeof *made);
    char *const copy = strndup(base, length);
    if (made != NULL && copy != NULL) {
        *made = (place){in, copy, length, item};
        if (tsearch(made, &all->places, by_place) != NULL)
            return 0;
    }
    free(made);
    free(copy);
    return no_memory();
}

/* ---- files ---------------------------------------------------------------------------------- */

static int by_inode(const void *a, const void *b) {
    const shard_source *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

static shard_source *known(const inventory *all, const struct stat *status) {
    const shard_source key = {.device = status->st_dev, .inode = status->st_ino};
    shard_source *const *const node = tfind(&key, (void *const *)&all->files, by_inode);
    return node == NULL ? NULL : *node;
}

static int attach(inventory *all, shard_source *s, shard_item *item) {
    if (item == NULL || s->item != NULL)
        return 0;
    if (!array_grow(&all->sources, all->source_count, sizeof *all->sources))
        return no_memory();
    s->item = item;
    s->order = all->source_count;
    all->sources[all->source_count++] = s;
    if (item->last == NULL)
        item->files = s;
    else
        item->last->next_of_item = s;
    item->last = s;
    if (s->unreadable) {
        *(item->closed == NULL ? &item->closed : &item->last_closed->next_closed) = s;
        item->last_closed = s;
    }
    return 0;
}

/* True if a file counts that was found in a list: a shard under any name, or a file that is named
 * like a shard. A temporary file needs its first header, which is written last. */
static bool counts(const shard_source *s) {
    return s->temp || !s->named ? s->head : true;
}

/* Reads the headers of a file whose status is known. *found is NULL if the file does not count. */
static int read_new(inventory *all, folder *in, const char *name, const struct stat *status,
                    bool listed, shard_source **found) {
    shard_source *const s = malloc(sizeof *s);
    if (s == NULL)
        return no_memory();
    int code = shard_source_read(s, in, name, status);
    bool keep = code == 0 && s->error != FILE_CHANGED && (!listed || counts(s));
    if (code == 0 && !keep && s->error != 0 && s->error != FILE_CHANGED &&
        S_ISREG(status->st_mode) &&
        !(s->temp && s->error == EACCES)) /* other users cannot read the file of a live run */
        inventory_report(all, TOOL_IO, s->unreadable ? "cannot open %s: %s" : "cannot read %s: %s",
                         s->path, shard_error_text(s->error));
    if (keep && tsearch(s, &all->files, by_inode) == NULL) {
        code = no_memory();
        keep = false;
    }
    *found = keep ? s : NULL;
    if (!keep) {
        shard_source_close(s);
        free(s->path);
        free(s);
    }
    return code;
}

/* The length alone excludes most files that are not named like shards. */
static bool may_be_a_shard(const struct stat *status) {
    return S_ISREG(status->st_mode) && status->st_size >= HEADER_BYTES &&
           status->st_size % BLOCK_UNIT == 0;
}

/* Looks at a file, which may be an entry of a list. */
static int look(inventory *all, folder *in, const char *name, folder_entry *entry, shard_item *item,
                shard_source **found) {
    struct stat status;
    const char *base = NULL;
    size_t base_length = 0;
    uint32_t index = 0;
    *found = NULL;
    const int at = folder_fd(in);
    if (at < 0 || fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            return 0;
        const int error = errno;
        char *const path = error == ENOMEM ? NULL : path_join(folder_path(in), name);
        if (path == NULL)
            return no_memory();
        inventory_report(all, TOOL_IO, "cannot look at %s: %s", path, strerror(error));
        free(path);
        if (item != NULL)
            item->failed = true;
        return 0;
    }
    if (entry != NULL) /* the first look at an entry without a type may have failed */
        entry->type = (unsigned char)IFTODT(status.st_mode);
    if (S_ISDIR(status.st_mode)) { /* a folder is no shard, whatever its name is */
        char *const path = item == NULL ? NULL : path_join(folder_path(in), name), *text = NULL;
        if (path == NULL || asprintf(&text, "%s is a folder, not a shard", path) < 0)
            text = NULL;
        free(path);
        return item == NULL ? 0 : path_list_add(&item->others, text);
    }
    *found = known(all, &status);
    if (*found != NULL)
        return attach(all, *found, item);
    if (entry != NULL && !may_be_a_shard(&status) &&
        !shard_entry_parse(name, &base, &base_length, &index))
        return 0;
    const int code = read_new(all, in, name, &status, entry != NULL, found);
    return code != 0 || *found == NULL ? code : attach(all, *found, item);
}

int inventory_read(inventory *all, folder *in, const char *name, shard_item *item,
                   shard_source **found) {
    return look(all, in, name, NULL, item, found);
}

int inventory_take(inventory *all, folder *in, folder_entry *entry, shard_item *item) {
    if (entry->found != NULL)
        return attach(all, entry->found, item);
    return look(all, in, entry->name, entry, item, &entry->found);
}

/* The work on an entry of a folder. */
typedef int entry_work(inventory *all, folder *in, folder_entry *entry, void *context);

/* Calls `work` for the entries of a folder that begin with a prefix. Takes the prefix. */
static int for_prefix(inventory *all, folder *in, char *prefix, entry_work *work, void *context) {
    folder_entries *list = NULL;
    int error = 0;
    int code = prefix == NULL ? no_memory() : inventory_list(all, in, false, &list, &error);
    for (size_t i = code == 0 ? folder_entries_find(list, prefix) : 0;
         code == 0 && i < list->count &&
         strncmp(list->entries[i].name, prefix, strlen(prefix)) == 0;
         i++)
        code = work(all, in, &list->entries[i], context);
    free(prefix);
    return code;
}

/* The shards of a base. */
typedef struct base_work {
    size_t length;    /* of the base */
    bool temp;        /* the names are temporary */
    entry_work *work; /* for each entry that is named like a shard */
    void *context;
} base_work;

static int work_on_shard(inventory *all, folder *in, folder_entry *entry, void *context) {
    base_work *const b = context;
    const char *base = NULL;
    size_t length = 0;
    uint32_t index = 0;
    if (!shard_entry_parse(entry->name, &base, &length, &index) || length != b->length ||
        (b->temp != (base != entry->name)))
        return 0;
    return b->work(all, in, entry, b->context);
}

/* Works on the entries of a folder that are named like temporary files of the shards of a base and,
 * unless only those are wanted, then on those that are named like shards. */
static int for_base(inventory *all, folder *in, const char *base, bool only_temp, base_work *b) {
    int code = 0;
    b->length = strlen(base);
    for (int temp = 1; temp >= only_temp && code == 0; temp--) {
        char *prefix = NULL;
        if (asprintf(&prefix, "%s%s.gfk.", temp ? "." : "", base) < 0)
            return no_memory();
        b->temp = temp != 0;
        code = for_prefix(all, in, prefix, work_on_shard, b);
    }
    return code;
}

static int note_file(inventory *all, folder *in, folder_entry *entry, void *has) {
    (void)all;
    *(bool *)has = *(bool *)has || folder_entry_type(in, entry) != DT_DIR;
    return 0;
}

int inventory_has_base(inventory *all, folder *in, const char *base, bool *has) {
    base_work b = {.work = note_file, .context = has};
    *has = false;
    return for_base(all, in, base, false, &b);
}

static int take(inventory *all, folder *in, folder_entry *entry, void *item) {
    return inventory_take(all, in, entry, item);
}

int inventory_take_base(inventory *all, folder *in, const char *base, shard_item *item) {
    folder_entries *list = NULL;
    int error = 0;
    base_work b = {.work = take, .context = item};
    const int code = inventory_list(all, in, true, &list, &error);
    item->failed = item->failed || error != 0;
    return code == 0 ? for_base(all, in, base, false, &b) : code;
}

int inventory_find(const inventory *all, folder *in, const char *name, shard_source **found) {
    struct stat status;
    const int at = folder_fd(in);
    const bool there = at >= 0 && fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    *found = there ? known(all, &status) : NULL;
    return !there && errno == ENOMEM ? no_memory() : 0;
}

int inventory_add_written(inventory *all, shard_set *set, const file_place *written) {
    struct stat status;
    const int at = folder_fd(written->in);
    if (at < 0 || fstatat(at, path_name(written->path), &status, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    shard_source *const there = known(all, &status);
    if (there != NULL) { /* the inode of a file that was replaced */
        there->set = set;
        return 0;
    }
    shard_source *const s = malloc(sizeof *s);
    if (s == NULL)
        return no_memory();
    *s = (shard_source){.fd = -1,
                        .in = written->in,
                        .path = strdup(written->path),
                        .device = status.st_dev,
                        .inode = status.st_ino,
                        .identified = true,
                        .header = set->header,
                        .set = set};
    if (s->path != NULL && tsearch(s, &all->files, by_inode) != NULL)
        return 0;
    free(s->path);
    free(s);
    return no_memory();
}

/* ---- temporary files of killed runs --------------------------------------------------------- */

static int clean_shard(inventory *all, folder *in, folder_entry *entry, void *context) {
    struct stat status;
    const shard_set *const mine = context, *const its =
                                               entry->found == NULL ? NULL : entry->found->set;
    if (mine != NULL && its != NULL && its != mine && its->kept)
        return 0;
    if (all->inputs != NULL &&
        (fstatat(folder_fd(in), entry->name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
         input_files_have(all->inputs, (file_identity){status.st_dev, status.st_ino})))
        return 0;
    if (folder_entry_type(in, entry) == DT_REG)
        temp_remove(in, entry->name);
    return 0;
}

int inventory_clean_shards(inventory *all, const shard_base *base, const shard_set *set) {
    base_work b = {.work = clean_shard, .context = (void *)set};
    return for_base(all, base->in, path_name(base->path), true, &b);
}

static int clean_file(inventory *all, folder *in, folder_entry *entry, void *name) {
    (void)all;
    if (temp_name_length(entry->name) == strlen(name) && folder_entry_type(in, entry) == DT_REG)
        temp_remove(in, entry->name);
    return 0;
}

int inventory_clean_file(inventory *all, folder *in, const char *name) {
    return for_prefix(all, in, temp_name(name, ""), clean_file, (void *)name);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void free_tree(void **tree, int (*compare)(const void *, const void *),
                      void (*release)(void *)) {
    while (*tree != NULL) {
        void *const node = *(void **)*tree;
        tdelete(node, tree, compare);
        release(node);
        free(node);
    }
}

static void free_listing(void *node) {
    folder_entries_free(&((listing *)node)->list);
}

static void free_place(void *node) {
    free(((place *)node)->base);
}

static void free_source(void *node) {
    shard_source_close(node);
    free(((shard_source *)node)->path);
}

void inventory_free(inventory *all) {
    for (size_t i = 0; i < all->set_count; i++)
        shard_set_free(&all->sets[i]);
    for (size_t i = 0; i < all->item_count; i++) {
        free(all->items[i]->name);
        free(all->items[i]->sets);
        shard_bases_free(&all->items[i]->bases);
        path_list_free(&all->items[i]->notes);
        path_list_free(&all->items[i]->others);
        free(all->items[i]);
    }
    free(all->sets);
    free(all->items);
    free(all->sources);
    free(all->to);
    free_tree(&all->listings, by_folder, free_listing);
    free_tree(&all->places, by_place, free_place);
    free_tree(&all->files, by_inode, free_source);
    *all = (inventory){0};
}
