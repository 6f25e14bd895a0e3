/* SPDX-License-Identifier: BSD-3-Clause */
#include "shard_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* ---- bases ---------------------------------------------------------------------------------- */

int shard_bases_add(shard_bases *bases, folder *in, char *path) {
    for (size_t i = 0; i < bases->count && path != NULL; i++)
        if (bases->all[i].in == in && strcmp(path_name(bases->all[i].path), path_name(path)) == 0) {
            free(path);
            return 0;
        }
    shard_base *const grown =
        path == NULL ? NULL : realloc(bases->all, (bases->count + 1) * sizeof *grown);
    if (grown == NULL) {
        free(path);
        return no_memory();
    }
    bases->all = grown;
    bases->all[bases->count++] = (shard_base){in, path};
    return 0;
}

void shard_bases_free(shard_bases *bases) {
    for (size_t i = 0; i < bases->count; i++)
        free(bases->all[i].path);
    free(bases->all);
    *bases = (shard_bases){0};
}

/* ---- the sources of each shard -------------------------------------------------------------- */

/* Ranks a source, from 0 to RANKS - 1: a whole file first, then an intact header, then the expected
 * name, then any identification. */
enum { RANKS = 16 };
static int rank(const shard_set *set, const shard_source *s) {
    return 8 * shard_source_is_whole(set, s) + 4 * shard_source_has_geometry(s) +
           2 * shard_source_is_in_place(s) + s->identified;
}

static int assign(shard_set *set) {
    shard_source **const last = calloc(set->count, sizeof(shard_source *));
    if (last == NULL)
        return no_memory();
    for (int r = RANKS; r-- > 0;)
        for (shard_source *s = set->members; s != NULL; s = s->next_of_set) {
            const size_t i = s->header.index;
            if (rank(set, s) != r)
                continue;
            *(last[i] == NULL ? &set->shards[i] : &last[i]->next) = s;
            last[i] = s;
            s->next = NULL;
        }
    free(last);
    for (size_t i = 0; i < set->item_count; i++)
        for (shard_source *s = set->items[i]->closed; s != NULL; s = s->next_closed)
            if (s->named && s->header.index < set->count && set->shards[s->header.index] == NULL &&
                set->closed[s->header.index] == NULL)
                set->closed[s->header.index] = s;
    return 0;
}

/* Opens a file. *full: too many files are open. */
static int open_member(shard_source *s, bool *full) {
    const int error = shard_source_open(s);
    *full = error == EMFILE || error == ENFILE;
    if (error == ENOMEM)
        return no_memory();
    return error == 0 || *full ? 0 : RUN_AGAIN;
}

/* Opens a further file of each shard that has one, and leaves out those for which there is no room.
 * `last` has the last open file of each shard. */
static int open_copies(shard_set *set, shard_source **last, size_t *room, size_t *left_out,
                       bool *more) {
    int code = 0;
    *more = false;
    for (size_t i = 0; i < set->count && code == 0; i++) {
        shard_source *const s = last[i] == NULL ? NULL : last[i]->next;
        bool full = s != NULL && s->fd < 0 && *room == 0;
        if (s == NULL)
            continue;
        *room -= s->fd < 0 && *room != 0;
        if (!full)
            code = open_member(s, &full);
        if (full) {
            last[i]->next = s->next;
            ++*left_out;
        } else {
            last[i] = s;
        }
        *more = true;
    }
    return code;
}

/* Checks that the files of an empty file's set are what was found, as far as they can be open. The
 * headers say all of an empty file, so the files need not stay open; a temporary file stays open for
 * its lock. */
static int check_members(const shard_set *set) {
    bool full = false;
    int code = 0;
    for (shard_source *s = set->members; s != NULL && code == 0; s = s->next_of_set) {
        code = open_member(s, &full);
        if (!s->temp)
            shard_source_close(s);
    }
    return code;
}

/* Opens the best file of each shard, and then the other files as long as the limit on open files
 * leaves room for new shards. The others are left out. */
static int open_members(shard_set *set) {
    bool full = false, more = true;
    int code = 0;
    size_t copies = 0, left_out = 0;
    for (size_t i = 0; i < set->count && code == 0 && !full; i++)
        if (set->shards[i] != NULL)
            code = open_member(set->shards[i], &full);
    if (full) {
        set->refused = SIZE_REFUSED;
        return fail_for_open_files();
    }
    for (const shard_source *s = set->members; s != NULL; s = s->next_of_set)
        copies += s->fd < 0;
    size_t room = code == 0 && copies != 0 ? shard_source_room(copies + set->count) : 0;
    room = room > set->count ? room - set->count : 0;
    shard_source **const last = calloc(set->count, sizeof(shard_source *));
    if (last == NULL)
        return no_memory();
    memcpy(last, set->shards, set->count * sizeof(shard_source *));
    while (more && code == 0)
        code = open_copies(set, last, &room, &left_out, &more);
    free(last);
    if (code == 0 && left_out != 0)
        warn("%zu more file%s of the shards of %s cannot be open at once, and %s not read (ulimit "
             "-n)",
             left_out, plural(left_out), set->base, left_out == 1 ? "is" : "are");
    return code;
}

/* ---- warnings ------------------------------------------------------------------------------- */

/* Describes the time of a set. */
static const char *changed(const shard_header *header, char text[TIME_BYTES + 16]) {
    char time[TIME_BYTES];
    shard_header_time(header, time);
    snprintf(text, TIME_BYTES + 16, time[0] == '\0' ? "without a time" : "changed %.19sZ", time);
    return text;
}

/* Names a set in the places of this set that the command does not work on. */
static void warn_of_set(const shard_set *set, const shard_source *s) {
    char mine[TIME_BYTES + 16], other[TIME_BYTES + 16];
    const shard_source *first = NULL;
    for (size_t i = 0; i < set->count && first == NULL; i++)
        first = set->shards[i];
    warn("%s belongs to another set, %s, with %zu of %zu shards; in use is the set of %s, %s",
         s->path, changed(&s->set->header, other), s->set->present, s->set->count,
         first == NULL ? set->base : first->path, changed(&set->header, mine));
}

static void warn_of_error(shard_source *s) {
    if (!s->told)
        warn("cannot read %s: %s", s->path, shard_error_text(s->error));
    s->told = true;
}

void shard_set_warn_of_errors(shard_set *set) {
    for (shard_source *s = set->members; s != NULL; s = s->next_of_set)
        if (s->error != 0)
            warn_of_error(s);
}

static void warn_of_file(shard_set *set, shard_source *s) {
    if (s->unreadable) {
        if (s->named)
            warn("cannot open %s: %s", s->path, shard_error_text(s->error));
    } else if (s->error != 0 && (s->set == NULL || s->set == set)) {
        warn_of_error(s);
    } else if (s->set == NULL && !s->temp) {
        if (set->count != 0)
            warn("%s %s", s->path,
                 s->identified ? "belongs to another set" : "is not a shard of this set");
    } else if (s->set != NULL && s->set != set && !s->set->kept && !s->temp &&
               s->set->warned != set) {
        s->set->warned = set; /* one line for each set */
        warn_of_set(set, s);
    }
}

/* The first set of an item says what else is there. */
static void warn_of_others(shard_set *set) {
    for (size_t i = 0; i < set->item_count && !set->follows; i++) {
        const shard_item *const item = set->items[i];
        for (size_t j = 0; j < item->notes.count; j++)
            warn_once("%s", item->notes.paths[j]);
        if (item->sets[0] != set)
            continue;
        for (size_t j = 0; j < item->others.count; j++)
            warn_once("%s", item->others.paths[j]);
        for (shard_source *s = item->files; s != NULL; s = s->next_of_item)
            warn_of_file(set, s);
    }
}

/* Says why an item is no set. */
static int fail_without_header(shard_set *set) {
    const shard_item *const item = set->items[0];
    bool readable = false, failed = false;
    for (size_t i = 0; i < item->notes.count; i++)
        fail(TOOL_IO, "%s", item->notes.paths[i]);
    for (size_t i = 0; i < item->others.count; i++)
        fail(TOOL_IO, "%s", item->others.paths[i]);
    if (item->bases.count == 0 && !item->is_file)
        return TOOL_IO;
    for (shard_source *s = item->files; s != NULL; s = s->next_of_item) {
        readable = readable || s->error == 0;
        failed = failed || shard_error_is_of_system(s->error);
        warn_of_file(set, s);
    }
    return fail(failed ? TOOL_IO : TOOL_UNRECOVERABLE,
                readable              ? "no file has an intact header of a shard of %s"
                : item->files != NULL ? "no shard of %s can be read"
                                      : "there are no shards of %s",
                set->base);
}

/* ---- public functions ----------------------------------------------------------------------- */

int shard_set_open(shard_set *set) {
    if (set->count == 0)
        return fail_without_header(set);
    set->shards = calloc(set->count, sizeof(shard_source *));
    set->closed = calloc(set->count, sizeof(shard_source *));
    int code = set->shards == NULL || set->closed == NULL ? no_memory() : 0;
    if (code == 0)
        code = assign(set);
    if (code == 0)
        code = stripe_count(&set->header) == 0 ? check_members(set) : open_members(set);
    if (code == 0)
        warn_of_others(set);
    else
        shard_set_close(set);
    return code;
}

void shard_set_close(shard_set *set) {
    for (shard_source *s = set->members; s != NULL; s = s->next_of_set)
        shard_source_close(s);
    free(set->shards);
    free(set->closed);
    set->shards = set->closed = NULL;
}

void shard_set_free(shard_set *set) {
    free(set->shards);
    free(set->closed);
    free(set->base);
    free(set->items);
    shard_bases_free(&set->bases);
}

bool shard_source_is_whole(const shard_set *set, const shard_source *source) {
    return source->head && source->tail && source->bytes == shard_bytes(&set->header);
}

size_t shard_set_present(const shard_set *set) {
    size_t present = 0;
    for (size_t i = 0; i < set->count; i++)
        present += set->shards[i] != NULL;
    return present;
}

const shard_base *shard_set_base_in(const shard_set *set, const folder *in) {
    for (size_t i = 0; i < set->bases.count; i++)
        if (set->bases.all[i].in == in)
            return &set->bases.all[i];
    return NULL;
}

const shard_source *shard_set_unreadable(const shard_set *set, size_t index) {
    return set->closed[index];
}
