/* SPDX-License-Identifier: BSD-3-Clause */
#include "find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

/* Something that may be a set, or a part of a set. */
typedef struct item {
    shard_places places;
    size_t relative; /* where the part of the name begins that is not the folder of the argument */
    size_t order;    /* number of the item */
    bool spare;      /* a shard among the shards of another set: its set may be found elsewhere */
    size_t host;     /* the item of that other set, if spare */
    bool known;      /* set_id is known */
    uint8_t set_id[SET_ID_BYTES];
    bool *seen;                    /* which shards are there; NULL: not known */
    size_t count, needed, present; /* k + m; k; true elements of seen */
    size_t most;                   /* shards in the place that gives the set its name */
    size_t first;                  /* the first item of the same set, into which others merge */
    bool stray; /* the places have shards of another set, which can be restored */
    bool kept;  /* the command gets the set whose first item this is */
} item;

typedef struct finder {
    item *items;
    size_t count;
    path_list empty; /* folders without shards */
    const char *command;
    bool all; /* every set counts, and not only one of each name */
    int code;
} finder;

int worse(int a, int b) {
    if (a == TOOL_UNRECOVERABLE || b == TOOL_UNRECOVERABLE)
        return TOOL_UNRECOVERABLE;
    return a > b ? a : b;
}

bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- items ---------------------------------------------------------------------------------- */

static item *add_item(finder *f, char *name) {
    item *grown = name == NULL ? NULL : realloc(f->items, (f->count + 1) * sizeof *grown);
    if (grown == NULL) {
        free(name);
        fail(TOOL_INTERNAL, "out of memory");
        return NULL;
    }
    f->items = grown;
    item *added = &grown[f->count];
    *added = (item){
        .places.name = name, .order = f->count, .relative = (size_t)(path_name(name) - name)};
    f->count++;
    return added;
}

static int add_base(finder *f, const char *base) {
    item *added = add_item(f, strdup(base));
    return added == NULL ? TOOL_INTERNAL : path_list_add(&added->places.bases, strdup(base));
}

/* Files that are named like shards of one base are one item. */
static int add_file(finder *f, const char *path) {
    const char *name = path_name(path);
    size_t length = strlen(name);
    uint32_t index = 0;
    const bool named = shard_name_parse(name, length, &length, &index);
    length += (size_t)(name - path);
    for (size_t i = f->count; i-- > 0 && named;)
        if (f->items[i].places.bases.count == 0 && strlen(f->items[i].places.name) == length &&
            memcmp(f->items[i].places.name, path, length) == 0)
            return path_list_add(&f->items[i].places.files, strdup(path));
    item *added = add_item(f, strndup(path, length));
    return added == NULL ? TOOL_INTERNAL : path_list_add(&added->places.files, strdup(path));
}

static void free_items(finder *f) {
    for (size_t i = 0; i < f->count; i++) {
        shard_places_free(&f->items[i].places);
        free(f->items[i].seen);
    }
    free(f->items);
    path_list_free(&f->empty);
}

/* Reports an argument that names no set. */
static void no_set(finder *f, int code, const char *format, const char *path, const char *why) {
    json_begin(f->command);
    f->code = worse(f->code, json_end(stdout, fail(code, format, path, why)));
}

/* ---- folders -------------------------------------------------------------------------------- */

/* True if the file begins with the header of a shard. The length alone excludes most files. */
static bool begins_like_a_shard(const char *path, const struct stat *status) {
    shard_source source;
    if (status->st_size < HEADER_BYTES || status->st_size % BLOCK_UNIT != 0 ||
        access(path, R_OK) != 0 || !shard_source_open(&source, path))
        return false;
    const bool head = source.head;
    shard_source_close(&source);
    return head;
}

/* What a folder holds. */
typedef struct folder_content {
    path_list bases, files, folders;
} folder_content;

static int add_entry(folder_content *content, const char *folder, const char *entry) {
    const size_t temp = temp_name_length(entry);
    const char *name = temp != 0 ? entry + 1 : entry;
    size_t length = 0;
    uint32_t index = 0;
    struct stat status;
    char *path = path_join(folder, entry);
    if (path == NULL)
        return fail(TOOL_INTERNAL, "out of memory");
    int code = 0;
    if (lstat(path, &status) == 0) {
        const bool named = shard_name_parse(name, temp != 0 ? temp : strlen(name), &length, &index);
        if (S_ISREG(status.st_mode) && named) {
            char *base = strndup(name, length);
            code = path_list_add(&content->bases, base == NULL ? NULL : path_join(folder, base));
            free(base);
        } else if (S_ISREG(status.st_mode) && temp == 0 && begins_like_a_shard(path, &status)) {
            code = path_list_add(&content->files, strdup(path));
        } else if (S_ISDIR(status.st_mode)) {
            code = path_list_add(&content->folders, strdup(path));
        }
    }
    free(path);
    return code;
}

static int read_folder(finder *f, folder_content *content, const char *folder) {
    path_list entries = {0};
    const int error = folder_names(folder, &entries);
    int code = 0;
    if (error != 0)
        no_set(f, TOOL_IO, "cannot read the folder %s: %s", folder, strerror(error));
    for (size_t i = 0; i < entries.count && code == 0; i++)
        code = add_entry(content, folder, entries.paths[i]);
    path_list_free(&entries);
    path_list_sort(&content->bases);
    return code;
}

/* Adds what is in a folder and, with `walk`, in the folders below. */
static int add_folder(finder *f, const char *folder, size_t relative, bool walk) {
    folder_content content = {0};
    const size_t first = f->count;
    int code = read_folder(f, &content, folder);
    for (size_t i = 0; i < content.bases.count && code == 0; i++)
        if (i == 0 || strcmp(content.bases.paths[i - 1], content.bases.paths[i]) != 0)
            code = add_base(f, content.bases.paths[i]);
    for (size_t i = 0; i < content.files.count && code == 0; i++)
        code = add_file(f, content.files.paths[i]);
    for (size_t i = first; i < f->count; i++) {
        f->items[i].relative = relative;
        f->items[i].places.listed = true;
    }
    for (size_t i = 0; i < content.folders.count && code == 0 && walk; i++)
        code = add_folder(f, content.folders.paths[i], relative, true);
    path_list_free(&content.bases);
    path_list_free(&content.files);
    path_list_free(&content.folders);
    return code;
}

static int add_root(finder *f, const char *argument, bool walk) {
    size_t length = strlen(argument);
    while (length > 1 && argument[length - 1] == '/')
        length--;
    char *folder = strndup(argument, length);
    if (folder == NULL)
        return fail(TOOL_INTERNAL, "out of memory");
    const size_t first = f->count;
    const int before = f->code;
    const size_t relative = strcmp(folder, ".") == 0 ? 0 : length + (strcmp(folder, "/") != 0);
    int code = add_folder(f, folder, relative, walk);
    if (code == 0 && f->count == first && f->code == before)
        return path_list_add(&f->empty, folder);
    free(folder);
    return code;
}

/* ---- arguments ------------------------------------------------------------------------------ */

/* True if the folder has a file that is named like a shard of the base. */
static bool has_shards(const char *base) {
    char *folder = path_folder(base);
    path_list entries = {0};
    bool found = false;
    if (folder != NULL)
        folder_names(folder, &entries);
    for (size_t i = 0; i < entries.count && !found; i++)
        found = shard_entry_of(entries.paths[i], path_name(base));
    path_list_free(&entries);
    free(folder);
    return found;
}

static bool is_shard(const char *path) {
    shard_source source;
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || access(path, R_OK) != 0 ||
        !shard_source_open(&source, path))
        return false;
    const bool identified = source.identified;
    shard_source_close(&source);
    return identified;
}

/* A base may be named like a shard, and like a folder; a base with shards comes first. */
static int add_argument(finder *f, const char *argument) {
    struct stat status;
    const char *name = path_name(argument);
    size_t base_length = 0;
    uint32_t index = 0;
    /* A link stands for the file that it leads to. */
    const bool link = lstat(argument, &status) == 0 && S_ISLNK(status.st_mode);
    char *target = link ? realpath(argument, NULL) : NULL;
    const char *path = target != NULL ? target : argument;
    int code;
    if (is_shard(path))
        code = add_file(f, path);
    else if (*name != '\0' && has_shards(argument))
        code = add_base(f, argument);
    else if (stat(argument, &status) == 0 && S_ISDIR(status.st_mode) &&
             !shard_name_parse(name, strlen(name), &base_length, &index))
        code = add_root(f, argument, false);
    else if (shard_name_parse(name, strlen(name), &base_length, &index))
        code = add_file(f, path);
    else
        code = add_base(f, argument);
    free(target);
    return code;
}

int bases_in(path_list *bases, const folder_list *folders, const char *base) {
    int code = folders->count == 0 ? path_list_add(bases, strdup(base)) : 0;
    for (size_t i = 0; i < folders->count && code == 0; i++)
        code = path_list_add(bases, path_join(folders->paths[i], path_name(base)));
    return code;
}

int check_folders(const folder_list *folders) {
    struct stat status;
    for (size_t i = 0; i < folders->count; i++) {
        if (stat(folders->paths[i], &status) != 0)
            return fail(TOOL_IO, "cannot open the folder %s: %s", folders->paths[i],
                        strerror(errno));
        if (!S_ISDIR(status.st_mode))
            return fail(TOOL_IO, "%s is not a folder", folders->paths[i]);
        for (size_t j = 0; j < i; j++)
            if (is_same_file(folders->paths[i], folders->paths[j]))
                return fail(TOOL_USAGE, "%s and %s are the same folder", folders->paths[j],
                            folders->paths[i]);
    }
    return 0;
}

/* ---- which items are one set ---------------------------------------------------------------- */

/* The item has shards of the set of a header. */
static void know(item *of, const shard_header *header) {
    of->known = true;
    memcpy(of->set_id, header->set_id, SET_ID_BYTES);
    of->needed = header->k;
    of->count = (size_t)header->k + header->m;
}

/* The item has a shard. A forged header of the set may have an index that the set has not. */
static int mark(item *of, size_t index) {
    if (index >= of->count)
        return 0;
    if (of->seen == NULL)
        of->seen = calloc(of->count, sizeof *of->seen);
    if (of->seen == NULL)
        return fail(TOOL_INTERNAL, "out of memory");
    of->present += !of->seen[index];
    of->seen[index] = true;
    return 0;
}

static int add_bases(path_list *to, const path_list *from) {
    int code = 0;
    for (size_t i = 0; i < from->count && code == 0; i++) {
        bool there = false;
        for (size_t j = 0; j < to->count; j++)
            there = there || strcmp(to->paths[j], from->paths[i]) == 0;
        if (!there)
            code = path_list_add(to, strdup(from->paths[i]));
    }
    return code;
}

/* Adds a shard of another set in the places of an item. The other set may have these places too. */
static int add_spare(finder *f, size_t host, const shard_source *source) {
    item *spare = add_item(f, strdup(source->path));
    if (spare == NULL)
        return TOOL_INTERNAL;
    know(spare, &source->header);
    spare->spare = true;
    spare->host = host;
    spare->places.listed = f->items[host].places.listed;
    int code = path_list_add(&spare->places.files, strdup(source->path));
    if (code == 0)
        code = add_bases(&spare->places.bases, &f->items[host].places.bases);
    return code == 0 ? mark(spare, source->header.index) : code;
}

/* Opens the set of an item, to learn its set id and its shards. */
static int identify(finder *f, size_t number) {
    shard_set set;
    item *of = &f->items[number];
    report_mute(true); /* the command opens the set again and reports what is wrong */
    int code = shard_set_open(&set, &of->places);
    report_mute(false);
    if (code != 0)
        return 0;
    know(of, &set.header);
    for (size_t i = 0; i < set.count && code == 0; i++)
        code = set.shards[i] != NULL ? mark(of, i) : 0;
    for (size_t i = 0; i < set.source_count && code == 0; i++) {
        const shard_source *s = &set.sources[i];
        if (!s->other || s->temp || !(s->head || s->tail))
            continue;
        code = add_spare(f, number, s);
    }
    shard_set_close(&set);
    return code;
}

static int by_set_id(const void *a, const void *b) {
    const item *x = *(item *const *)a, *y = *(item *const *)b;
    if (x->known != y->known)
        return x->known ? -1 : 1;
    const int order = x->known ? memcmp(x->set_id, y->set_id, SET_ID_BYTES) : 0;
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static bool can_be_restored(const item *of) {
    return of->known && of->present >= of->needed;
}

/* Adds the places of an item to those of a set. */
static int merge_places(item *into, item *from) {
    into->places.listed &= from->places.listed || from->places.bases.count == 0;
    int code = add_bases(&into->places.bases, &from->places.bases);
    for (size_t i = 0; i < from->places.files.count && code == 0; i++)
        code = path_list_add(&into->places.files, strdup(from->places.files.paths[i]));
    shard_places_free(&from->places);
    return code;
}

/* Adds an item to the first item of its set. The place with the most shards gives the set its name:
 * in another place may be no more than a stray shard. */
static int merge(item *into, item *from) {
    int code = 0;
    for (size_t i = 0; i < from->count && from->seen != NULL && code == 0; i++)
        code = from->seen[i] ? mark(into, i) : 0;
    if (!from->spare && from->present > into->most) {
        char *name = into->places.name;
        into->places.name = from->places.name;
        from->places.name = name;
        into->relative = from->relative;
        into->most = from->present;
    }
    return code == 0 ? merge_places(into, from) : code;
}

/* Merges the items of the same set. */
static int merge_known(finder *f) {
    item **sorted = calloc(f->count, sizeof(item *));
    if (sorted == NULL)
        return fail(TOOL_INTERNAL, "out of memory");
    for (size_t i = 0; i < f->count; i++)
        sorted[i] = &f->items[i];
    qsort(sorted, f->count, sizeof(item *), by_set_id);
    item *first = NULL;
    int code = 0;
    for (size_t i = 0; i < f->count && code == 0; i++) {
        if (first == NULL || !sorted[i]->known ||
            memcmp(first->set_id, sorted[i]->set_id, SET_ID_BYTES) != 0) {
            first = sorted[i];
            first->most = first->present;
        } else {
            code = merge(first, sorted[i]);
        }
        sorted[i]->first = (size_t)(first - f->items);
    }
    free(sorted);
    return code;
}

/* Makes the spare shards of a set a set of its own. */
static int promote(item *of) {
    if (of->places.bases.count != 0) {
        free(of->places.name);
        of->places.name = strdup(of->places.bases.paths[0]);
    }
    return of->places.name == NULL ? fail(TOOL_INTERNAL, "out of memory") : 0;
}

/* Leaves out a set that cannot be restored if all of its shards are strays, and keeps other sets: even a
 * set of spare shards alone, if it can be restored. The command opens the sets that are kept, and
 * warns of the strays in their places. */
static int leave_out_strays(finder *f) {
    int code = 0;
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].spare && can_be_restored(&f->items[f->items[i].first]))
            f->items[f->items[i].host].stray = true;
    for (size_t i = 0; i < f->count; i++) {
        const item *of = &f->items[i];
        const bool wanted = f->all || !can_be_restored(&f->items[f->items[of->host].first]);
        item *first = &f->items[of->first];
        if (can_be_restored(first) ? !of->spare || wanted : !of->spare && !of->stray)
            first->kept = true;
    }
    for (size_t i = 0; i < f->count && code == 0; i++) {
        item *of = &f->items[i];
        if (!of->kept)
            shard_places_free(&of->places);
        else if (of->spare)
            code = promote(of);
    }
    return code;
}

static bool lacks_shards(const item *of) {
    return of->places.name != NULL && of->known && of->present < of->count;
}

/* True if the set lacks the shards whose names an item takes: those of an item without intact headers,
 * or strays of another set. */
static bool lacks_shards_of(const item *set, const item *of) {
    bool lacks = lacks_shards(set) && (!of->known || can_be_restored(set)) &&
                 strcmp(path_name(set->places.name), path_name(of->places.name)) == 0;
    for (size_t i = 0; i < of->count && of->seen != NULL && lacks; i++)
        lacks = !of->seen[i] || (i < set->count && !set->seen[i]);
    return lacks;
}

/* An item whose set is not known, or cannot be restored, belongs to a set of the same name that lacks
 * the item's shards. */
static int merge_unknown(finder *f, item *unknown) {
    for (size_t i = 0; i < f->count; i++)
        if (lacks_shards_of(&f->items[i], unknown))
            return merge_places(&f->items[i], unknown);
    return 0;
}

/* The path of the file of an item that a folder had, if this is the only file with the name of a shard
 * and is no shard: nothing in the file is like a header, and it has other bytes than zeros. */
static char *foreign_file(const item *of) {
    const char *base = of->places.bases.count == 1 ? of->places.bases.paths[0] : "";
    char *folder = of->places.listed && !of->known ? path_folder(base) : NULL;
    char *found = NULL;
    path_list entries = {0};
    size_t count = 0;
    if (folder != NULL)
        folder_names(folder, &entries);
    for (size_t i = 0; i < entries.count; i++) {
        if (!shard_entry_of(entries.paths[i], path_name(base)))
            continue;
        free(found);
        found = path_join(folder, entries.paths[i]);
        count++;
    }
    shard_source source;
    if (count == 1 && found != NULL && shard_source_open(&source, found)) {
        count += source.magic || shard_source_is_blank(&source);
        shard_source_close(&source);
    } else {
        count = 0;
    }
    path_list_free(&entries);
    free(folder);
    if (count == 1)
        return found;
    free(found);
    return NULL;
}

/* Leaves out the files of users that are named like shards. */
static void leave_out_foreign(finder *f) {
    size_t left = 0;
    for (size_t i = 0; i < f->count; i++) {
        char *path = f->items[i].places.name == NULL ? NULL : foreign_file(&f->items[i]);
        if (path != NULL) {
            no_set(f, TOOL_OK, "%s%s is ignored: it is not a shard", path, "");
            shard_places_free(&f->items[i].places);
        }
        left += f->items[i].places.name != NULL;
        free(path);
    }
    if (left == 0)
        no_set(f, TOOL_UNRECOVERABLE, "there are no shards%s%s", "", "");
}

/* A folder without shards may receive the shards of the sets that lack shards. */
static int use_empty(finder *f, const char *folder) {
    int code = 0;
    bool used = false;
    for (size_t i = 0; i < f->count && code == 0; i++) {
        item *of = &f->items[i];
        if (!lacks_shards(of) || of->places.bases.count == 0)
            continue;
        char *base = path_join(folder, of->places.name + of->relative);
        char *parent = base == NULL ? NULL : path_folder(base);
        if (parent != NULL && access(parent, F_OK) == 0) {
            code = path_list_add(&of->places.bases, base);
            base = NULL;
        }
        used = true;
        free(base);
        free(parent);
    }
    if (!used && code == 0)
        no_set(f, TOOL_UNRECOVERABLE, "there are no shards in the folder %s%s", folder, "");
    return code;
}

static int merge_items(finder *f) {
    const size_t count = f->count;
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        code = identify(f, i);
    if (code == 0)
        code = merge_known(f);
    if (code == 0)
        code = leave_out_strays(f);
    for (size_t i = 0; i < count && code == 0; i++)
        if (f->items[i].places.name != NULL && !can_be_restored(&f->items[i]))
            code = merge_unknown(f, &f->items[i]);
    if (code == 0)
        leave_out_foreign(f);
    return code;
}

/* ---- public functions ----------------------------------------------------------------------- */

/* With --in every set may have shards in all of these folders. */
static int find_in(finder *f, const tool_options *o) {
    int code = 0;
    for (size_t i = 0; i < o->count && code == 0; i++) {
        item *added = add_item(f, strdup(o->arguments[i]));
        code =
            added == NULL ? TOOL_INTERNAL : bases_in(&added->places.bases, &o->in, o->arguments[i]);
    }
    for (size_t i = 0; i < o->in.count && code == 0 && o->count == 0; i++)
        if (access(o->in.paths[i], R_OK | X_OK) == 0) /* a disk may be missing */
            code = add_folder(f, o->in.paths[i], 0, false);
    if (code == 0 && f->count != 0 && (f->all || o->count == 0))
        code = merge_items(f);
    for (size_t i = 0; i < f->count && code == 0; i++) {
        path_list bases = {0};
        item *of = &f->items[i];
        if (of->places.name == NULL)
            continue;
        code = bases_in(&bases, &o->in, of->places.name);
        if (code == 0)
            code = add_bases(&of->places.bases, &bases);
        path_list_free(&bases);
    }
    if (code == 0 && f->count == 0 && f->code == 0)
        no_set(f, TOOL_UNRECOVERABLE, "there are no shards in the folder %s%s", o->in.paths[0],
               o->in.count == 1 ? "" : " or the other folders");
    return code;
}

static int find(finder *f, const tool_options *o, bool walk) {
    int code = 0;
    if (o->in.count != 0)
        return find_in(f, o);
    for (size_t i = 0; i < o->count && code == 0; i++)
        code = walk ? add_root(f, o->arguments[i], true) : add_argument(f, o->arguments[i]);
    if (code == 0 && f->count != 0 && (f->all || f->count + f->empty.count > 1))
        code = merge_items(f);
    for (size_t i = 0; i < f->empty.count && code == 0; i++)
        code = use_empty(f, f->empty.paths[i]);
    return code;
}

int find_sets(set_list *list, const tool_options *o, const char *command, bool walk) {
    finder f = {.command = command, .all = strcmp(command, "decode") != 0};
    *list = (set_list){0};
    int code = find(&f, o, walk);
    list->sets = calloc(f.count + 1, sizeof *list->sets);
    if (list->sets == NULL && code == 0)
        code = fail(TOOL_INTERNAL, "out of memory");
    for (size_t i = 0; i < f.count && code == 0; i++) {
        shard_places *places = &f.items[i].places;
        if (places->name == NULL)
            continue;
        places->listed &= o->to.count == 0;
        places->known = f.items[i].known;
        memcpy(places->set_id, f.items[i].set_id, SET_ID_BYTES);
        for (size_t j = 0; j < o->to.count && code == 0; j++)
            code =
                path_list_add(&places->bases, path_join(o->to.paths[j], path_name(places->name)));
        list->sets[list->count++] = *places;
        *places = (shard_places){0};
    }
    for (size_t i = 0; i < list->count && f.all; i++) {
        list->sets[i].sets = list->sets;
        list->sets[i].set_count = list->count;
    }
    list->code = f.code;
    free_items(&f);
    return code;
}

void set_list_free(set_list *list) {
    for (size_t i = 0; i < list->count; i++)
        shard_places_free(&list->sets[i]);
    free(list->sets);
    *list = (set_list){0};
}
