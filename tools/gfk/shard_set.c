/* SPDX-License-Identifier: BSD-3-Clause */
#include "shard_set.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "files.h"
#include "report.h"

/* ---- the search for shards ------------------------------------------------------------------ */

static bool named_like_a_shard(const char *path, size_t *base_length, uint32_t *index) {
    const char *name = path_name(path);
    return shard_name_parse(name, strlen(name), base_length, index);
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
    size_t base_length = 0;
    struct stat status;
    if (!named_like_a_shard(path, &base_length, &source->header.index))
        return 0;
    if (stat(path, &status) == 0) {
        source->device = status.st_dev;
        source->inode = status.st_ino;
    }
    source->unreadable = true;
    source->path = strdup(path);
    return source->path == NULL ? fail(TOOL_INTERNAL, "out of memory") : append(set, source);
}

static int add(shard_set *set, const char *path, bool temp) {
    shard_source source;
    if (!shard_source_open(&source, path)) {
        if (source.error == EMFILE || source.error == ENFILE) /* too many open files */
            return fail(TOOL_IO, "the limit on open files is too low for so many shards");
        return temp || source.error == 0 ? 0 : add_unreadable(set, path, &source);
    }
    source.temp = temp;
    /* A temporary file without a first header, or with the lock of a live run, is incomplete. */
    if (temp && (!source.head || flock(source.fd, LOCK_SH | LOCK_NB) != 0)) {
        shard_source_close(&source);
        return 0;
    }
    return append(set, &source);
}

/* Adds an entry of a folder if the entry is named like a shard of the set. */
static int add_entry(shard_set *set, const char *folder, const char *entry) {
    uint32_t index = 0;
    const size_t temp = temp_name_length(entry);
    const char *name = temp != 0 ? entry + 1 : entry;
    if (!shard_name_of(name, temp != 0 ? temp : strlen(name), path_name(set->base), &index))
        return 0;
    char *path = path_join(folder, entry);
    const int code =
        path == NULL ? fail(TOOL_INTERNAL, "out of memory") : add(set, path, temp != 0);
    free(path);
    return code;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Sorts the entries by name: choice and messages do not depend on the file system. */
int shard_set_search(shard_set *set) {
    struct dirent **entries = NULL;
    char *folder = path_folder(set->base);
    if (folder == NULL)
        return fail(TOOL_INTERNAL, "out of memory");
    const int count = scandir(folder, &entries, NULL, by_name);
    int code = 0;
    if (count < 0)
        code = fail(TOOL_IO, "cannot read the folder %s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (code == 0)
            code = add_entry(set, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    free(folder);
    return code;
}

static int search_for_base(shard_set *set) {
    const int lock = folder_lock(set->base, false); /* no other run renames files meanwhile */
    if (lock < 0)
        return TOOL_IO;
    const int code = shard_set_search(set);
    close(lock);
    return code;
}

static bool begins_like_a_shard(const char *argument) {
    shard_source source;
    if (access(argument, R_OK) != 0 || !shard_source_open(&source, argument))
        return false;
    const bool shard = source.head;
    shard_source_close(&source);
    return shard;
}

/* The base of the first argument that is named like a shard; otherwise the first argument. */
static char *base_of(char *const *arguments, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t base_length = 0;
        uint32_t index = 0;
        if (named_like_a_shard(arguments[i], &base_length, &index))
            return strndup(arguments[i],
                           (size_t)(path_name(arguments[i]) - arguments[i]) + base_length);
    }
    return strdup(arguments[0]);
}

/* ---- the choice of a set -------------------------------------------------------------------- */

static bool has_geometry(const shard_source *source) {
    return source->head || source->tail;
}

static bool belongs(const shard_set *set, const shard_source *source) {
    if (has_geometry(source))
        return shard_header_same_set(&set->header, &source->header);
    return source->header.index < set->count &&
           (!source->identified ||
            memcmp(set->header.set_id, source->header.set_id, SET_ID_BYTES) == 0);
}

/* The extent to which a set is present. */
typedef struct strength {
    bool enough;              /* at least k shards are present */
    size_t in_place, present; /* shards under the expected name; shards under any name */
} strength;

static bool stronger(strength a, strength b) {
    if (a.enough != b.enough)
        return a.enough;
    return a.in_place != b.in_place ? a.in_place > b.in_place : a.present > b.present;
}

static int measure(const shard_set *set, const shard_header *header, strength *result) {
    bool *seen = calloc((size_t)header->k + header->m, 2 * sizeof *seen);
    if (seen == NULL)
        return fail(TOOL_INTERNAL, "out of memory");
    bool *placed = seen + header->k + header->m;
    *result = (strength){0};
    for (size_t i = 0; i < set->source_count; i++) {
        const shard_source *s = &set->sources[i];
        if (!has_geometry(s) || !shard_header_same_set(header, &s->header))
            continue;
        const uint32_t index = s->header.index;
        result->present += !seen[index];
        result->in_place += s->in_place && !s->temp && !placed[index];
        seen[index] = true;
        placed[index] = placed[index] || (s->in_place && !s->temp);
    }
    result->enough = result->present >= header->k;
    free(seen);
    return 0;
}

/* Chooses the strongest set. After a kill during the replacement of a set, the strongest set is
 * one from which the file can be recovered. */
static int choose(shard_set *set) {
    strength best = {0};
    const shard_source *chosen = NULL;
    bool readable = false;
    for (size_t i = 0; i < set->source_count; i++) {
        readable |= !set->sources[i].unreadable;
        if (!has_geometry(&set->sources[i]) ||
            (chosen != NULL && shard_header_same_set(&chosen->header, &set->sources[i].header)))
            continue;
        strength s = {0};
        const int code = measure(set, &set->sources[i].header, &s);
        if (code != 0)
            return code;
        if (chosen == NULL || stronger(s, best)) {
            best = s;
            chosen = &set->sources[i];
        }
    }
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
    return 8 * shard_source_is_whole(set, s) + 4 * has_geometry(s) + 2 * (s->in_place && !s->temp) +
           s->identified;
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
        if (s->other) {
            if (!s->temp)
                warn("%s belongs to another set", s->path);
            continue;
        }
        shard_source **link = &set->shards[s->header.index];
        while (*link != NULL && rank(set, *link) >= rank(set, s))
            link = &(*link)->next;
        s->next = *link;
        *link = s;
    }
    return 0;
}

static int add_arguments(shard_set *set, char *const *arguments, size_t count) {
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        if (access(arguments[i], F_OK) != 0 && errno == ENOENT) /* add warns of other errors */
            warn("cannot open %s: %s", arguments[i], strerror(errno));
        code = add(set, arguments[i], false);
    }
    return code;
}

/* A single argument that is not a shard is a base. A base, too, may be named like a shard; the
 * search for the shards of such a base comes first. */
static int find(shard_set *set, char *const *arguments, size_t count) {
    size_t base_length = 0;
    uint32_t index = 0;
    const bool base = count == 1 && !begins_like_a_shard(arguments[0]);
    set->base = base ? strdup(arguments[0]) : base_of(arguments, count);
    if (set->base == NULL)
        return fail(TOOL_INTERNAL, "out of memory");
    allow_open_files(MAX_SHARDS);
    int code = base ? search_for_base(set) : add_arguments(set, arguments, count);
    set->searched = base;
    if (code == 0 && base && set->source_count == 0 &&
        named_like_a_shard(arguments[0], &base_length, &index)) {
        free(set->base);
        set->base = base_of(arguments, count);
        set->searched = false;
        code = set->base != NULL ? add_arguments(set, arguments, count)
                                 : fail(TOOL_INTERNAL, "out of memory");
    }
    if (code == 0)
        code = choose(set);
    return code == 0 ? assign(set) : code;
}

/* ---- public functions ----------------------------------------------------------------------- */

int shard_set_open(shard_set *set, char *const *arguments, size_t count) {
    *set = (shard_set){0};
    const int code = find(set, arguments, count);
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
    *set = (shard_set){0};
}

char *shard_set_path(const shard_set *set, size_t index) {
    for (const shard_source *s = set->shards[index]; s != NULL; s = s->next)
        if (s->in_place && !s->temp)
            return strdup(s->path);
    return shard_path(set->base, (uint32_t)index);
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

const shard_source *shard_set_source(const shard_set *set, const struct stat *status) {
    for (size_t i = 0; i < set->source_count; i++)
        if (set->sources[i].device == status->st_dev && set->sources[i].inode == status->st_ino)
            return &set->sources[i];
    return NULL;
}

const shard_source *shard_set_unreadable(const shard_set *set, size_t index) {
    for (size_t i = 0; i < set->source_count && set->shards[index] == NULL; i++)
        if (set->sources[i].unreadable && set->sources[i].header.index == index)
            return &set->sources[i];
    return NULL;
}
