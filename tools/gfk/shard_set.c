/* SPDX-License-Identifier: BSD-3-Clause */
#include "shard_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "files.h"
#include "report.h"

/* ---- the search for shards ------------------------------------------------------------------ */

static bool in_place(const shard_source *s) {
    return s->named && !s->temp && s->name_index == s->header.index;
}

static int append(shard_set *set, shard_source *source) {
    shard_source *grown = realloc(set->sources, (set->source_count + 1) * sizeof *grown);
    if (grown == NULL) {
        shard_source_close(source);
        return fail(TOOL_INTERNAL, "out of memory");
    }
    set->sources = grown;
    set->sources[set->source_count++] = *source;
    return 0;
}

/* Adds a file that cannot be opened, if the file has the name of a shard. */
static int add_unreadable(shard_set *set, const char *path, shard_source *source) {
    const char *name = path_name(path);
    size_t base_length = 0;
    struct stat status;
    if (!shard_name_parse(name, strlen(name), &base_length, &source->header.index))
        return 0;
    if (lstat(path, &status) == 0) {
        source->device = status.st_dev;
        source->inode = status.st_ino;
    }
    source->unreadable = true;
    source->path = strdup(path);
    return source->path == NULL ? fail(TOOL_INTERNAL, "out of memory") : append(set, source);
}

static int add(shard_set *set, const char *path, size_t base, bool temp) {
    shard_source source;
    if (!shard_source_open(&source, path)) {
        source.base = base;
        if (source.error == EMFILE || source.error == ENFILE) /* too many open files */
            return fail(TOOL_IO, "the limit on open files is too low for so many shards");
        return temp || source.error == 0 ? 0 : add_unreadable(set, path, &source);
    }
    source.base = base;
    source.temp = temp;
    /* A temporary file without a first header, or with the lock of a live run, is incomplete. */
    if (temp && (!source.head || flock(source.fd, LOCK_SH | LOCK_NB) != 0)) {
        shard_source_close(&source);
        return 0;
    }
    return append(set, &source);
}

/* Adds a file of a base's folder if the file is a shard of the chosen set. Only a file of the right
 * length is opened. */
static int add_renamed(shard_set *set, const char *path, size_t base) {
    struct stat status;
    shard_source source;
    if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        (uint64_t)status.st_size != shard_bytes(&set->header) || access(path, R_OK) != 0 ||
        !shard_source_open(&source, path))
        return 0;
    source.base = base;
    if (source.head && shard_header_same_set(&set->header, &source.header))
        return append(set, &source);
    shard_source_close(&source);
    return 0;
}

/* Adds the files in the folder of a base: those with the names of shards, or the renamed ones among
 * the other files. */
static int search_folder(shard_set *set, size_t base, bool named) {
    const char *name = path_name(set->bases.paths[base]);
    char *folder = path_folder(set->bases.paths[base]);
    path_list entries = {0};
    const int error = folder == NULL ? ENOMEM : folder_names(folder, &entries);
    int code = 0;
    if (error != 0)
        code = fail(TOOL_IO, "cannot read the folder %s: %s", folder == NULL ? name : folder,
                    strerror(error));
    for (size_t i = 0; i < entries.count && code == 0; i++) {
        if (shard_entry_of(entries.paths[i], name) != named)
            continue;
        char *path = path_join(folder, entries.paths[i]);
        code = path == NULL ? fail(TOOL_INTERNAL, "out of memory")
               : named      ? add(set, path, base, temp_name_length(entries.paths[i]) != 0)
                            : add_renamed(set, path, base);
        free(path);
    }
    path_list_free(&entries);
    free(folder);
    return code;
}

static int search_folders(shard_set *set, bool named) {
    int code = 0;
    for (size_t base = 0; base < set->bases.count && code == 0; base++)
        code = search_folder(set, base, named);
    return code;
}

int shard_set_search(shard_set *set) {
    return search_folders(set, true);
}

/* ---- the choice of a set -------------------------------------------------------------------- */

static bool has_geometry(const shard_source *source) {
    return source->head || source->tail;
}

/* A file without an intact header is a damaged shard if the id of the set is in the place of a
 * header, or if the file has a shard's name and nothing is lost with its contents: they are a shard's
 * length of zeros or cannot be read, or they are the beginning of the shard's header. */
static bool belongs(const shard_set *set, shard_source *source) {
    if (has_geometry(source))
        return shard_header_same_set(&set->header, &source->header);
    if (source->identified)
        return source->header.index < set->count &&
               memcmp(set->header.set_id, source->header.set_id, SET_ID_BYTES) == 0;
    if (shard_source_search(source, &set->header))
        return source->header.index < set->count;
    return source->named && source->header.index < set->count &&
           ((source->bytes == shard_bytes(&set->header) && shard_source_is_blank(source)) ||
            shard_source_is_beginning(source, &set->header));
}

/* The extent to which a set is present. */
typedef struct strength {
    bool enough;     /* at least k shards are present */
    int64_t seconds; /* last change of the file; a file without a time is the oldest */
    uint32_t nanoseconds;
    size_t in_place, present; /* shards under the expected name; shards under any name */
} strength;

/* Both sets can restore their file: the newer file counts. Otherwise the shards count. */
static bool stronger(strength a, strength b) {
    if (a.enough != b.enough)
        return a.enough;
    if (a.enough && a.seconds != b.seconds)
        return a.seconds > b.seconds;
    if (a.enough && a.nanoseconds != b.nanoseconds)
        return a.nanoseconds > b.nanoseconds;
    return a.in_place != b.in_place ? a.in_place > b.in_place : a.present > b.present;
}

static int measure(const shard_set *set, const shard_header *header, strength *result) {
    bool *seen = calloc((size_t)header->k + header->m, 2 * sizeof *seen);
    if (seen == NULL)
        return fail(TOOL_INTERNAL, "out of memory");
    bool *placed = seen + header->k + header->m;
    *result = (strength){.seconds = INT64_MIN};
    if (shard_header_has_time(header)) {
        result->seconds = (int64_t)header->seconds;
        result->nanoseconds = header->nanoseconds;
    }
    for (size_t i = 0; i < set->source_count; i++) {
        const shard_source *s = &set->sources[i];
        if (!has_geometry(s) || !shard_header_same_set(header, &s->header))
            continue;
        const uint32_t index = s->header.index;
        result->present += !seen[index];
        result->in_place += in_place(s) && !placed[index];
        seen[index] = true;
        placed[index] = placed[index] || in_place(s);
    }
    result->enough = result->present >= header->k;
    free(seen);
    return 0;
}

int shard_set_count(const shard_set *set, const shard_header *header, size_t *present) {
    strength s = {0};
    const int code = measure(set, header, &s);
    *present = s.present;
    return code;
}

/* Chooses the set with this id or, if the id is NULL or no such shard is left, the strongest set.
 * After a kill during the replacement of a set, the strongest set is one from which the file can be
 * recovered. */
static int choose(shard_set *set, const uint8_t *set_id, strength *best) {
    const shard_source *chosen = NULL;
    bool readable = false;
    for (size_t i = 0; i < set->source_count; i++) {
        readable |= !set->sources[i].unreadable;
        if (!has_geometry(&set->sources[i]) ||
            (set_id != NULL && memcmp(set_id, set->sources[i].header.set_id, SET_ID_BYTES) != 0) ||
            (chosen != NULL && shard_header_same_set(&chosen->header, &set->sources[i].header)))
            continue;
        strength s = {0};
        const int code = measure(set, &set->sources[i].header, &s);
        if (code != 0)
            return code;
        if (chosen == NULL || stronger(s, *best)) {
            *best = s;
            chosen = &set->sources[i];
        }
    }
    if (chosen == NULL && set_id != NULL)
        return choose(set, NULL, best);
    if (chosen == NULL)
        return fail(TOOL_UNRECOVERABLE,
                    readable                 ? "no file has an intact header of a shard of %s"
                    : set->source_count != 0 ? "no shard of %s can be read"
                                             : "there are no shards of %s",
                    set->base);
    set->header = chosen->header;
    set->header.index = 0;
    set->count = (size_t)set->header.k + set->header.m;
    return 0;
}

/* Ranks a source: a whole file first, then an intact header, then the expected name, then any
 * identification. */
static int rank(const shard_set *set, const shard_source *s) {
    return 8 * shard_source_is_whole(set, s) + 4 * has_geometry(s) + 2 * in_place(s) +
           s->identified;
}

static bool is_in(const shard_source *list, const shard_source *s) {
    while (list != NULL && (list->device != s->device || list->inode != s->inode))
        list = list->next;
    return list != NULL;
}

static int assign(shard_set *set) {
    set->shards = calloc(set->count, sizeof(shard_source *));
    if (set->shards == NULL)
        return fail(TOOL_INTERNAL, "out of memory");
    for (size_t i = 0; i < set->source_count; i++) {
        shard_source *s = &set->sources[i];
        if (s->unreadable)
            continue;
        s->other = !belongs(set, s);
        if (s->other)
            continue;
        shard_source **link = &set->shards[s->header.index];
        if (is_in(*link, s)) /* found in two ways */
            continue;
        while (*link != NULL && rank(set, *link) >= rank(set, s))
            link = &(*link)->next;
        s->next = *link;
        *link = s;
    }
    return 0;
}

/* The words behind the name of a set. */
static const char *changed(const shard_header *header, char text[TIME_BYTES + 16]) {
    char time[TIME_BYTES];
    shard_header_time(header, time);
    snprintf(text, TIME_BYTES + 16, time[0] == '\0' ? "without a time" : "changed %.19sZ", time);
    return text;
}

static bool has_places(const shard_places *places, const shard_header *header) {
    for (size_t i = 0; i < places->set_count; i++)
        if (places->sets[i].known &&
            memcmp(places->sets[i].set_id, header->set_id, SET_ID_BYTES) == 0)
            return true;
    return false;
}

/* Names each other set in one line, unless it has places of its own, and each file that is no
 * shard. */
static int warn_of_others(const shard_set *set, const shard_places *places) {
    char mine[TIME_BYTES + 16], other[TIME_BYTES + 16];
    const shard_source *first = NULL;
    for (size_t i = 0; i < set->count && first == NULL; i++)
        first = set->shards[i];
    for (size_t i = 0; i < set->source_count; i++) {
        const shard_source *s = &set->sources[i];
        if (!s->other || s->temp)
            continue;
        if (!has_geometry(s)) {
            warn("%s %s", s->path,
                 s->identified ? "belongs to another set" : "is not a shard of this set");
            continue;
        }
        bool named = has_places(places, &s->header);
        for (size_t j = 0; j < i && !named; j++)
            named = set->sources[j].other && has_geometry(&set->sources[j]) &&
                    shard_header_same_set(&set->sources[j].header, &s->header);
        size_t present = 0;
        int code = named ? 0 : shard_set_count(set, &s->header, &present);
        if (code != 0)
            return code;
        if (!named)
            warn(
                "%s belongs to another set, %s, with %zu of %u shards; in use is the set of %s, %s",
                s->path, changed(&s->header, other), present, s->header.k + s->header.m,
                first == NULL ? set->base : first->path, changed(&set->header, mine));
    }
    return 0;
}

/* Drops the bases whose folders cannot be read: a disk may be missing. One base must be left. */
static void drop_closed_folders(shard_set *set) {
    path_list *bases = &set->bases;
    size_t kept = 0;
    for (size_t i = 0; i < bases->count; i++) {
        char *folder = path_folder(bases->paths[i]);
        const bool closed = folder != NULL && access(folder, R_OK | X_OK) != 0;
        if (closed && (i + 1 < bases->count || kept != 0)) {
            warn_once("cannot read the folder %s: %s", folder, strerror(errno));
            free(bases->paths[i]);
        } else {
            bases->paths[kept++] = bases->paths[i];
        }
        free(folder);
    }
    bases->count = kept;
}

/* Copies the bases. If there are none, each folder of a file gets a base for new shards. */
static int copy_bases(shard_set *set, const shard_places *places) {
    int code = 0;
    for (size_t i = 0; i < places->bases.count && code == 0; i++)
        code = path_list_add(&set->bases, strdup(places->bases.paths[i]));
    for (size_t i = 0; i < places->files.count && code == 0 && !set->searched; i++) {
        char *folder = path_folder(places->files.paths[i]);
        char *base = folder == NULL ? NULL : path_join(folder, path_name(places->name));
        free(folder);
        bool there = false;
        for (size_t j = 0; j < set->bases.count && base != NULL; j++)
            there = there || strcmp(set->bases.paths[j], base) == 0;
        if (there)
            free(base);
        else
            code = path_list_add(&set->bases, base);
    }
    return code;
}

static int find(shard_set *set, const shard_places *places) {
    strength best = {0};
    int code = set->searched ? shard_set_search(set) : 0;
    for (size_t i = 0; i < places->files.count && code == 0; i++) {
        if (access(places->files.paths[i], F_OK) != 0 && errno == ENOENT)
            warn("cannot open %s: %s", places->files.paths[i], strerror(errno));
        code = add(set, places->files.paths[i], SIZE_MAX, false); /* warns of other errors */
    }
    if (code == 0)
        code = choose(set, places->known ? places->set_id : NULL, &best);
    if (code == 0 && set->searched && !places->listed && best.present < set->count)
        code = search_folders(set, false);
    if (code == 0)
        code = assign(set);
    return code == 0 ? warn_of_others(set, places) : code;
}

/* ---- public functions ----------------------------------------------------------------------- */

void shard_places_free(shard_places *places) {
    free(places->name);
    path_list_free(&places->bases);
    path_list_free(&places->files);
    *places = (shard_places){0};
}

int shard_set_open(shard_set *set, const shard_places *places) {
    folder_locks locks = {0};
    *set = (shard_set){.base = strdup(places->name), .searched = places->bases.count != 0};
    allow_open_files(MAX_SHARDS);
    int code = set->base == NULL ? fail(TOOL_INTERNAL, "out of memory") : copy_bases(set, places);
    if (code == 0 && set->searched) {
        drop_closed_folders(set);
        /* No other run renames files meanwhile. */
        code = folders_lock(&locks, set->bases.paths, set->bases.count, false);
    }
    if (code == 0)
        code = find(set, places);
    folders_unlock(&locks);
    if (code != 0)
        shard_set_close(set);
    return code;
}

void shard_set_close(shard_set *set) {
    for (size_t i = 0; i < set->source_count; i++)
        shard_source_close(&set->sources[i]);
    free(set->sources);
    free(set->shards);
    free(set->base);
    path_list_free(&set->bases);
    *set = (shard_set){0};
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

const shard_source *shard_set_source(const shard_set *set, const char *path) {
    struct stat status;
    const bool there = lstat(path, &status) == 0;
    for (size_t i = 0; there && i < set->source_count; i++)
        if (set->sources[i].device == status.st_dev && set->sources[i].inode == status.st_ino)
            return &set->sources[i];
    return NULL;
}

const shard_source *shard_set_unreadable(const shard_set *set, size_t index) {
    for (size_t i = 0; i < set->source_count && set->shards[index] == NULL; i++)
        if (set->sources[i].unreadable && set->sources[i].header.index == index)
            return &set->sources[i];
    return NULL;
}
