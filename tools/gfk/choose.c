/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files are one set, by their headers, and which sets the arguments mean. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "headerless.h"
#include "report.h"

static bool restorable(const shard_set *set) {
    return set->usable >= set->header.k;
}

/* ---- groups of the same header -------------------------------------------------------------- */

/* The header of the set of a file whose set is known. */
static const shard_header *header_of(const shard_source *s) {
    return shard_source_has_geometry(s) ? &s->header : &s->set->header;
}

static int by_shard(const void *a, const void *b) {
    const shard_source *x = *(shard_source *const *)a, *y = *(shard_source *const *)b;
    const int order = shard_header_compare(header_of(x), header_of(y));
    if (order != 0)
        return order;
    if (x->header.index != y->header.index)
        return x->header.index < y->header.index ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static void add_member(shard_set *set, shard_source *s) {
    if (set->last == NULL)
        set->members = s;
    else
        set->last->next_of_set = s;
    set->last = s;
    s->set = set;
    s->next_of_set = NULL;
}

/* Makes the sets of sorted shards, and counts the shards of each. */
static void make_sets(inventory *all, shard_source *const *sorted, size_t count) {
    shard_set *set = NULL;
    bool placed = false, present = false;
    all->set_count = 0;
    for (size_t i = 0; i < count; i++) {
        shard_source *const s = sorted[i];
        const shard_header *const header = header_of(s);
        const bool new_set = i == 0 || shard_header_compare(&set->header, header) != 0;
        const bool new_shard = new_set || s->header.index != set->last->header.index;
        if (new_set) {
            set = &all->sets[all->set_count++];
            *set = (shard_set){.header = *header,
                               .count = (size_t)header->k + header->m,
                               .first = s->order,
                               .all = all};
            set->header.index = 0;
        }
        if (s->order < set->first)
            set->first = s->order;
        placed = placed && !new_shard;
        present = present && !new_shard;
        set->usable += new_shard;
        set->present += shard_source_has_geometry(s) && !present;
        set->placed += shard_source_is_in_place(s) && !placed;
        placed = placed || shard_source_is_in_place(s);
        present = present || shard_source_has_geometry(s);
        add_member(set, s);
    }
}

static int by_id(const void *id, const void *set) {
    return memcmp(((const shard_set *)set)->header.set_id, id, SET_ID_BYTES);
}

/* The set of a file with an intact block header; NULL if there is none. Of several sets with one id,
 * those whose shards are as long as the file come first, then those with more shards. */
static shard_set *find_by_id(const inventory *all, const shard_source *s) {
    shard_set *best = NULL;
    bool best_fits = false;
    for (size_t i =
             lower_bound(s->header.set_id, all->sets, all->set_count, sizeof *all->sets, by_id);
         i < all->set_count && by_id(s->header.set_id, &all->sets[i]) == 0; i++) {
        shard_set *const set = &all->sets[i];
        const bool fits = shard_bytes(&set->header) == s->bytes;
        if (s->header.index >= set->count ||
            (best != NULL && (fits != best_fits ? best_fits : set->present <= best->present)))
            continue;
        best = set;
        best_fits = fits;
    }
    return best;
}

static void free_sets(inventory *all) {
    for (size_t i = 0; i < all->set_count; i++)
        shard_set_free(&all->sets[i]);
    free(all->sets);
    all->sets = NULL;
    all->set_count = 0;
    for (size_t i = 0; i < all->item_count; i++) {
        free(all->items[i]->sets);
        all->items[i]->sets = NULL;
        all->items[i]->set_count = 0;
    }
}

static int group(inventory *all) {
    shard_source **const sorted = calloc(all->source_count + 1, sizeof *sorted);
    size_t count = 0;
    free_sets(all);
    all->sets = calloc(all->source_count + all->item_count + 1, sizeof *all->sets);
    if (sorted == NULL || all->sets == NULL) {
        free(sorted);
        return no_memory();
    }
    for (size_t i = 0; i < all->source_count; i++) {
        all->sources[i]->set = NULL;
        if (shard_source_has_geometry(all->sources[i]))
            sorted[count++] = all->sources[i];
    }
    qsort(sorted, count, sizeof *sorted, by_shard);
    make_sets(all, sorted, count);
    const size_t whole = count;
    for (size_t i = 0; i < all->source_count; i++) {
        shard_source *const s = all->sources[i];
        if (s->identified && !shard_source_has_geometry(s) && (s->set = find_by_id(all, s)) != NULL)
            sorted[count++] = s;
    }
    if (count != whole) { /* again, with the files that only a block header identifies */
        qsort(sorted, count, sizeof *sorted, by_shard);
        make_sets(all, sorted, count);
    }
    free(sorted);
    return 0;
}

/* ---- items and sets ------------------------------------------------------------------------- */

/* Adds each to the other. */
static int join(shard_set *set, shard_item *item) {
    shard_item **const items = realloc(set->items, (set->item_count + 1) * sizeof *items);
    if (items == NULL)
        return no_memory();
    set->items = items;
    shard_set **const sets = realloc(item->sets, (item->set_count + 1) * sizeof(shard_set *));
    if (sets == NULL)
        return no_memory();
    item->sets = sets;
    set->items[set->item_count++] = item;
    item->sets[item->set_count++] = set;
    return 0;
}

static int by_item(const void *a, const void *b) {
    const shard_source *x = *(shard_source *const *)a, *y = *(shard_source *const *)b;
    if (x->item != y->item)
        return x->item->number < y->item->number ? -1 : 1;
    return (x->header.index > y->header.index) - (x->header.index < y->header.index);
}

/* Joins a set and the items that have its files. The item with the most shards gives the set its
 * name: in another item may be no more than a stray shard. */
static int join_items(shard_set *set, shard_source **files) {
    size_t count = 0, most = 0, here = 0;
    int code = 0;
    for (shard_source *s = set->members; s != NULL; s = s->next_of_set)
        files[count++] = s;
    qsort(files, count, sizeof *files, by_item);
    for (size_t i = 0; i < count && code == 0; i++) {
        const bool new_item = i == 0 || files[i]->item != files[i - 1]->item;
        if (new_item) {
            code = join(set, files[i]->item);
            here = 0;
        }
        here += new_item || files[i]->header.index != files[i - 1]->header.index;
        if (here > most) {
            most = here;
            set->namer = files[i]->item;
        }
    }
    return code;
}

/* Both sets can restore their files: the newer file counts. Otherwise the shards count. */
static int by_strength(const void *a, const void *b) {
    const shard_set *x = *(shard_set *const *)a, *y = *(shard_set *const *)b;
    const bool x_timed = shard_header_has_time(&x->header);
    const bool y_timed = shard_header_has_time(&y->header);
    const int64_t x_seconds = (int64_t)x->header.seconds, y_seconds = (int64_t)y->header.seconds;
    if (restorable(x) != restorable(y))
        return restorable(x) ? -1 : 1;
    if (restorable(x) && x_timed != y_timed) /* a file without a time is the oldest */
        return x_timed ? -1 : 1;
    if (restorable(x) && x_timed && x_seconds != y_seconds)
        return x_seconds > y_seconds ? -1 : 1;
    if (restorable(x) && x_timed && x->header.nanoseconds != y->header.nanoseconds)
        return x->header.nanoseconds > y->header.nanoseconds ? -1 : 1;
    if (x->placed != y->placed)
        return x->placed > y->placed ? -1 : 1;
    if (x->present != y->present)
        return x->present > y->present ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Of each item the strongest set is kept; for most commands, every set that can be restored too.
 * After a kill during the replacement of a set, the strongest set is one from which the file can be
 * recovered. */
static int keep(inventory *all) {
    shard_source **const files = calloc(all->source_count + 1, sizeof *files);
    int code = files == NULL ? no_memory() : 0;
    for (size_t i = 0; i < all->set_count && code == 0; i++) {
        code = join_items(&all->sets[i], files);
        all->sets[i].kept = all->all && restorable(&all->sets[i]);
    }
    free(files);
    for (size_t i = 0; i < all->item_count && code == 0; i++) {
        shard_item *const item = all->items[i];
        if (item->set_count == 0)
            continue;
        qsort(item->sets, item->set_count, sizeof *item->sets, by_strength);
        for (size_t j = 0; j < item->set_count && item->wanted != NULL; j++)
            if (memcmp(item->sets[j]->header.set_id, item->wanted, SET_ID_BYTES) == 0) {
                shard_set *const first = item->sets[0];
                item->sets[0] = item->sets[j];
                item->sets[j] = first;
                break;
            }
        item->sets[0]->kept = true;
    }
    return code;
}

static bool lacks_shards(const shard_set *set) {
    return set->kept && set->present < set->count;
}

/* ---- renamed shards ------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_header(const void *key, const void *set) {
    return shard_header_compare(key, &((const shard_set *)set)->header);
}

/* Reads the files of a folder that have the length of a shard that is missing, whatever their names
 * are, and adds those that are shards of a set. */
static int add_renamed(inventory *all, folder *in, const uint64_t *lengths, size_t count) {
    folder_entries *list = NULL;
    int error = 0;
    int code = inventory_list(all, in, true, &list, &error);
    if (code != 0 || list->searched)
        return code;
    list->searched = true;
    for (size_t i = 0; code == 0 && i < list->count; i++) {
        folder_entry *const entry = &list->entries[i];
        struct stat status;
        if (entry->found != NULL || (entry->type != DT_REG && entry->type != DT_UNKNOWN))
            continue;
        const int at = folder_fd(in);
        if (at >= 0 && fstatat(at, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
            const uint64_t length = (uint64_t)status.st_size;
            if (bsearch(&length, lengths, count, sizeof length, by_number) == NULL)
                continue;
        } /* inventory_take says what cannot be looked at */
        code = inventory_take(all, in, entry, NULL);
        const shard_set *const set =
            code != 0 || entry->found == NULL || !entry->found->head || entry->found->temp
                ? NULL
                : bsearch(&entry->found->header, all->sets, all->set_count, sizeof *all->sets,
                          by_header);
        if (set != NULL)
            code = inventory_take(all, in, entry, set->items[0]);
    }
    return code;
}

/* If a set lacks shards, the other files in the folders of its bases may be these shards. In a
 * folder that is an argument, all files were read. */
static int find_renamed(inventory *all) {
    size_t count = 0;
    uint64_t *const lengths = calloc(all->set_count + 1, sizeof *lengths);
    int code = lengths == NULL ? no_memory() : 0;
    for (size_t i = 0; i < all->set_count && code == 0; i++) {
        if (!lacks_shards(&all->sets[i]))
            continue;
        lengths[count++] = shard_bytes(&all->sets[i].header);
        for (size_t j = 0; j < all->sets[i].item_count; j++)
            all->sets[i].items[j]->lacks = true;
    }
    if (code == 0)
        qsort(lengths, count, sizeof *lengths, by_number);
    const size_t before = all->source_count;
    for (size_t i = 0; i < all->item_count && code == 0; i++) {
        const shard_item *const item = all->items[i];
        for (size_t j = 0; j < item->bases.count && code == 0; j++)
            if (item->lacks && !item->listed)
                code = add_renamed(all, item->bases.all[j].in, lengths, count);
    }
    free(lengths);
    if (code == 0 && all->source_count != before)
        code = group(all);
    return code == 0 && all->source_count != before ? keep(all) : code;
}

/* ---- items without a set, and strays -------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
    const shard_set *x = *(shard_set *const *)a, *y = *(shard_set *const *)b;
    const int order = strcmp(path_name(x->namer->name), path_name(y->namer->name));
    if (order != 0)
        return order;
    return (x->items[0]->number > y->items[0]->number) -
           (x->items[0]->number < y->items[0]->number);
}

static int by_namer(const void *name, const void *set) {
    return strcmp(path_name((*(shard_set *const *)set)->namer->name), name);
}

/* True if the set lacks all shards of the other set. */
static bool lacks_all(const shard_set *set, const shard_set *other) {
    const shard_source *a = set->members, *b = other->members;
    while (a != NULL && b != NULL && a->header.index != b->header.index) {
        const bool first = a->header.index < b->header.index;
        a = first ? a->next_of_set : a;
        b = first ? b : b->next_of_set;
    }
    return a == NULL || b == NULL;
}

/* An item without a set, or with shards of a set that cannot be restored, belongs to a set of the
 * same name that lacks these shards. */
static int join_same_name(shard_item *item, shard_set *const *lacking, size_t count) {
    const char *const name = path_name(item->name);
    shard_set *const own = item->set_count == 0 ? NULL : item->sets[0];
    for (size_t i = lower_bound(name, lacking, count, sizeof *lacking, by_namer);
         i < count && by_namer(name, &lacking[i]) == 0; i++) {
        shard_set *const set = lacking[i];
        if (own != NULL && (set == own || !restorable(set) || !lacks_all(set, own)))
            continue;
        if (own != NULL)
            own->kept = false;
        const int code = join(set, item);
        if (code == 0) { /* the first set of an item is the one that it belongs to */
            item->sets[item->set_count - 1] = item->sets[0];
            item->sets[0] = set;
        }
        return code;
    }
    return 0;
}

static int join_by_name(inventory *all) {
    shard_set **const lacking = calloc(all->set_count + 1, sizeof *lacking);
    size_t count = 0;
    if (lacking == NULL)
        return no_memory();
    for (size_t i = 0; i < all->set_count; i++)
        if (lacks_shards(&all->sets[i]))
            lacking[count++] = &all->sets[i];
    qsort(lacking, count, sizeof *lacking, by_name);
    int code = 0;
    for (size_t i = 0; i < all->item_count && code == 0; i++) {
        shard_item *const item = all->items[i];
        if (item->set_count == 0 || (item->sets[0]->kept && !restorable(item->sets[0])))
            code = join_same_name(item, lacking, count);
    }
    free(lacking);
    return code;
}

/* ---- files without an intact header --------------------------------------------------------- */

static bool lacks_set(const shard_source *s) {
    return s->set == NULL && !s->unreadable && !shard_source_has_geometry(s);
}

/* Finds the sets of the other files without an intact header among the sets of their item. */
static int find_in_item(shard_item *item) {
    candidates list = {0};
    int code = 0;
    for (shard_source *s = item->files; s != NULL && code == 0; s = s->next_of_item) {
        if (!lacks_set(s) || s->identified || item->set_count == 0)
            continue;
        const int error = shard_source_open(s);
        if (error == ENOMEM)
            code = no_memory();
        if (error != 0)
            continue;
        if (list.all == NULL) {
            code = candidates_open(&list, item->set_count);
            for (size_t i = 0; i < item->set_count && code == 0; i++)
                if (item->sets[i]->kept)
                    candidates_add(&list, &item->sets[i]->header, item->sets[i]);
            if (code == 0)
                candidates_sort(&list);
        }
        const candidate *const found = code == 0 ? candidates_find(&list, s) : NULL;
        if (found != NULL)
            add_member(found->set, s);
        shard_source_close(s);
    }
    candidates_close(&list);
    return code;
}

/* Leaves out an item with the only file of its name, if this is a user's file: nothing in the file
 * is like a header, and it has other bytes than zeros. */
static bool leave_out_foreign(inventory *all, const shard_item *item) {
    shard_source *const s = item->files;
    if (!item->listed || s == NULL || s->next_of_item != NULL || s->unreadable || s->magic ||
        shard_source_open(s) != 0)
        return false;
    const bool blank = shard_source_is_blank(s);
    shard_source_close(s);
    if (!blank)
        inventory_report(all, TOOL_OK, "%s%s is ignored: it is not a shard", s->path, "");
    return !blank;
}

/* An item without a set becomes a set without shards, so that the command says what is wrong. */
static int add_without_header(inventory *all) {
    int code = 0;
    size_t left = all->set_count, foreign = 0;
    for (size_t i = 0; i < all->item_count && code == 0; i++) {
        shard_item *const item = all->items[i];
        if (item->set_count != 0 || item->failed || (item->listed && item->files == NULL))
            continue;
        if (leave_out_foreign(all, item)) {
            foreign++;
            continue;
        }
        shard_set *const set = &all->sets[all->set_count++];
        *set = (shard_set){.all = all, .namer = item, .kept = true};
        code = join(set, item);
        left++;
    }
    if (left == 0 && foreign != 0)
        inventory_report(all, TOOL_UNRECOVERABLE, "there are no shards%s%s", "", "");
    return code;
}

int choose_sets(set_list *list) {
    inventory *const all = &list->all;
    int code = group(all);
    if (code == 0)
        code = keep(all);
    if (code == 0)
        code = find_renamed(all);
    if (code == 0)
        code = join_by_name(all);
    for (size_t i = 0; i < all->item_count && code == 0; i++)
        code = find_in_item(all->items[i]);
    return code == 0 ? add_without_header(all) : code;
}

/* ---- the list of sets ----------------------------------------------------------------------- */

/* The set's name, and the places of its shards. Without a base, each folder of a file gets one. */
static int describe(shard_set *set) {
    const shard_item *const namer = set->namer;
    const shard_base *const spare =
        set->all->all && set->count != 0 && namer->sets[0] != set && namer->bases.count > 1
            ? &namer->bases.all[0]
            : NULL;
    int code = 0;
    set->base = strdup(spare != NULL ? spare->path : namer->name);
    set->home = spare != NULL ? spare->in : namer->home;
    set->relative = namer->relative;
    if (set->base == NULL)
        return no_memory();
    for (size_t i = 0; i < set->item_count; i++)
        for (size_t j = 0; j < set->items[i]->bases.count && code == 0; j++) {
            const shard_base *const base = &set->items[i]->bases.all[j];
            code = shard_bases_add(&set->bases, base->in, strdup(base->path));
        }
    set->searched = set->bases.count != 0;
    for (const shard_source *s = set->members; s != NULL && !set->searched && code == 0;
         s = s->next_of_set)
        code = shard_bases_add(&set->bases, s->in,
                               path_join(folder_path(s->in), path_name(set->base)));
    return code;
}

static int by_order(const void *a, const void *b) {
    const shard_set *x = *(shard_set *const *)a, *y = *(shard_set *const *)b;
    const shard_item *const i = x->items[0], *const j = y->items[0];
    if (i != j)
        return i->number < j->number ? -1 : 1;
    return i->sets[0] == x ? -1 : i->sets[0] == y ? 1 : x->first < y->first ? -1 : 1;
}

int list_sets(set_list *list) {
    inventory *const all = &list->all;
    int code = 0;
    list->sets = calloc(all->set_count + 1, sizeof *list->sets);
    if (list->sets == NULL)
        return no_memory();
    for (size_t i = 0; i < all->set_count && code == 0; i++) {
        if (all->sets[i].kept)
            list->sets[list->count++] = &all->sets[i];
        code = describe(&all->sets[i]);
    }
    qsort(list->sets, list->count, sizeof *list->sets, by_order);
    return code;
}
