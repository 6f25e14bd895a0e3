/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk repair: rebuilds missing and damaged shards from the other shards. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "options.h"
#include "report.h"
#include "restore.h"
#include "shard_writer.h"
#include "state.h"

static const command_help help = {
    "repair [OPTION...] BASE... | FOLDER... | SHARD...",
    "Writes missing and damaged shards again, from the other shards. A shard is replaced only by "
    "a\n"
    "complete new one. A missing shard goes to the folder with the fewest shards of the set."};

typedef struct repairing {
    const shard_set *set;
    const tool_options *options;
    coder *coder;
    restore_options passes;
    shard_writer writer;
    bool *wanted; /* shards to write */
    char **paths; /* their paths; NULL for other shards */
} repairing;

static int write_batch(const batch *b, void *context) {
    repairing *r = context;
    const size_t stripes = batch_stripes(b);
    for (size_t s = 0; s < stripes; s++)
        for (size_t i = 0; i < r->writer.count; i++)
            batch_seal(b, s, r->writer.indices[i], r->set->header.set_id);
    return shard_writer_write(&r->writer, b);
}

/* Fails if the shards do not make the file. */
static int check_hash(const restore_result *result) {
    return result->hash_matches ? 0 : fail(TOOL_UNRECOVERABLE, "%s", result->reason);
}

/* ---- paths of the new shards ---------------------------------------------------------------- */

static int fail_for_closed(const char *path, int error) {
    return fail(TOOL_EXISTS, "%s is in the way: it cannot be read (%s); --force replaces it", path,
                shard_error_text(error));
}

/* Checks that a new shard may replace the file at its path. The check runs before the work and
 * again before the rename. RUN_AGAIN: the file appeared after the search for shards. */
static int check_place(const char *path, void *context) {
    const repairing *r = context;
    struct stat status;
    const int error = path_look(path, &status);
    if (error == ENOENT || (error != 0 && r->options->force))
        return 0;
    if (error != 0)
        return fail_for_closed(path, error);
    if (!S_ISREG(status.st_mode))
        return fail(TOOL_IO, "%s is not a regular file", path);
    const shard_source *there = shard_set_source(r->set, path);
    if (there == NULL && r->set->searched)
        return RUN_AGAIN;
    if ((there != NULL && !there->unreadable && !there->other) || r->options->force)
        return 0;
    if (there != NULL && there->unreadable)
        return fail_for_closed(path, there->error);
    return fail(TOOL_EXISTS, "%s is in the way: it %s; --force replaces it", path,
                there == NULL       ? "is not among the arguments"
                : there->identified ? "belongs to another set"
                                    : "is not a shard of this set");
}

static bool has_name_of(const shard_source *s, size_t index) {
    return s->named && s->name_index == index;
}

/* The path of a shard whose file is there, and is to be replaced: the file's path, unless this is
 * the name of another shard of the set. NULL if no file of the shard is there. */
static char *path_of_file(const shard_set *set, size_t index) {
    const shard_source *s = set->shards[index], *found = NULL;
    for (; s != NULL; s = s->next)
        if (!s->temp && (s->base != SIZE_MAX || !set->searched) &&
            (found == NULL || has_name_of(s, index)))
            found = s;
    if (found == NULL)
        found = shard_set_unreadable(set, index);
    if (found == NULL)
        return NULL;
    if (found->unreadable || has_name_of(found, index) || !found->named ||
        found->name_index >= set->count)
        return strdup(found->path);
    if (found->base != SIZE_MAX)
        return shard_path(set->bases.paths[found->base], (uint32_t)index);
    char *folder = path_folder(found->path);
    char *base = folder == NULL ? NULL : path_join(folder, path_name(set->base));
    char *path = base == NULL ? NULL : shard_path(base, (uint32_t)index);
    free(folder);
    free(base);
    return path;
}

/* A folder of the set. */
typedef struct place {
    const char *base;
    struct stat status;
    size_t held, first; /* shards of the set: number, index of the first */
    bool open;          /* the folder may receive shards */
} place;

static bool stat_folder(const char *path, struct stat *status) {
    char *folder = path_folder(path);
    const bool there = folder != NULL && stat(folder, status) == 0;
    free(folder);
    return there;
}

static place *find_place(place *places, size_t count, const struct stat *status) {
    for (size_t i = 0; i < count; i++)
        if (places[i].status.st_dev == status->st_dev && places[i].status.st_ino == status->st_ino)
            return &places[i];
    return NULL;
}

/* Lists the folders of the bases, each once. With --to, only those receive shards. */
static size_t list_places(const repairing *r, place *places) {
    size_t count = 0;
    struct stat status;
    const folder_list *to = &r->options->to;
    for (size_t i = 0; i < r->set->bases.count; i++) {
        if (!stat_folder(r->set->bases.paths[i], &status) ||
            find_place(places, count, &status) != NULL)
            continue;
        places[count++] =
            (place){.base = r->set->bases.paths[i], .status = status, .open = to->count == 0};
    }
    for (size_t i = 0; i < to->count; i++) {
        place *p = stat(to->paths[i], &status) == 0 ? find_place(places, count, &status) : NULL;
        if (p != NULL)
            p->open = true;
    }
    return count;
}

static void count_shard(place *p, size_t index) {
    if (p->held++ == 0)
        p->first = index;
}

/* True if the folder has a file that is not of this set in the place of a shard. */
static bool is_taken(const repairing *r, const place *p, size_t index) {
    char *path = shard_path(p->base, (uint32_t)index);
    const shard_source *there = path == NULL ? NULL : shard_set_source(r->set, path);
    free(path);
    return there != NULL && (there->other || there->unreadable);
}

/* The folder for a missing shard: the one with the fewest shards; of several, the one whose shards
 * come from the same folder of encode --to. A folder where the shard's name is taken comes last. */
static place *choose_place(const repairing *r, place *places, size_t count, size_t index) {
    place *best = NULL;
    bool best_taken = true;
    for (size_t i = 0; i < count; i++) {
        place *p = &places[i];
        const bool fits = p->held != 0 && p->first % count == index % count;
        const bool taken = p->open && is_taken(r, p, index);
        if (p->open &&
            (best == NULL || taken < best_taken ||
             (taken == best_taken && (p->held < best->held || (fits && p->held == best->held))))) {
            best = p;
            best_taken = taken;
        }
    }
    return best;
}

/* Finds the paths of the shards to write that have no file, and the places of all shards. */
static int place_missing(repairing *r, place *places, size_t count, place **place_of) {
    const shard_set *set = r->set;
    struct stat status;
    for (size_t i = 0; i < set->count; i++) {
        const char *path = r->paths[i] != NULL                       ? r->paths[i]
                           : set->shards[i] != NULL && !r->wanted[i] ? set->shards[i]->path
                                                                     : NULL;
        place_of[i] =
            path != NULL && stat_folder(path, &status) ? find_place(places, count, &status) : NULL;
        if (place_of[i] != NULL)
            count_shard(place_of[i], i);
    }
    for (size_t i = 0; i < set->count; i++) {
        if (!r->wanted[i] || r->paths[i] != NULL)
            continue;
        place *p = choose_place(r, places, count, i);
        r->paths[i] = p == NULL ? NULL : shard_path(p->base, (uint32_t)i);
        if (r->paths[i] == NULL)
            return fail(TOOL_IO, "there is no folder for shard %03zu of %s", i, set->base);
        count_shard(p, i);
        place_of[i] = p;
    }
    return 0;
}

/* Warns of folders whose loss is the loss of the file. */
static void warn_of_full_places(const repairing *r, const place *places, size_t count) {
    const uint32_t m = r->set->header.m;
    for (size_t i = 0; i < count && (count > 1 || r->options->to.count != 0); i++) {
        char *folder = path_folder(places[i].base);
        if (places[i].held > m && folder != NULL)
            warn_once("%s now holds %zu shards of %s, but only %u may be lost; repair --to names "
                      "more folders",
                      folder, places[i].held, r->set->base, m);
        free(folder);
    }
}

/* A new shard may take the name under which the only file of another shard is: that shard is then
 * written too. */
static int add_displaced(repairing *r) {
    bool again = true;
    while (again) {
        again = false;
        for (size_t i = 0; i < r->set->count; i++) {
            const shard_source *there = r->wanted[i] ? shard_set_source(r->set, r->paths[i]) : NULL;
            if (there == NULL || there->other || there->unreadable)
                continue;
            const size_t index = there->header.index;
            if (r->wanted[index] || r->set->shards[index] != there)
                continue;
            r->wanted[index] = again = true;
            r->paths[index] = path_of_file(r->set, index);
            if (r->paths[index] == NULL)
                return fail(TOOL_INTERNAL, "out of memory");
        }
    }
    return 0;
}

static int find_paths(repairing *r, const restore_result *damage) {
    const shard_set *set = r->set;
    place *places = calloc(set->bases.count, sizeof *places);
    place **place_of = calloc(set->count, sizeof(place *));
    r->wanted = calloc(set->count, sizeof *r->wanted);
    r->paths = calloc(set->count, sizeof *r->paths);
    int code = 0;
    if (places == NULL || place_of == NULL || r->wanted == NULL || r->paths == NULL) {
        code = fail(TOOL_INTERNAL, "out of memory");
    } else {
        for (size_t i = 0; i < set->count; i++) {
            r->wanted[i] = shard_is_bad(set, damage, i);
            r->paths[i] = r->wanted[i] ? path_of_file(set, i) : NULL;
        }
        const size_t count = list_places(r, places);
        code = place_missing(r, places, count, place_of);
        if (code == 0)
            warn_of_full_places(r, places, count);
    }
    free(places);
    free(place_of);
    if (code == 0)
        code = add_displaced(r);
    for (size_t i = 0; i < set->count && code == 0; i++)
        if (r->wanted[i])
            code = check_place(r->paths[i], r);
    return code;
}

static int open_writer(repairing *r) {
    int code = shard_writer_open(&r->writer, r->set->count);
    for (size_t i = 0; i < r->set->count && code == 0; i++)
        if (r->wanted[i])
            code = shard_writer_add(&r->writer, i, strdup(r->paths[i]));
    return code;
}

static int rebuild(repairing *r) {
    restore_result result = {0};
    int code = open_writer(r);
    if (code == 0)
        code = restore_run(r->set, r->coder, &r->passes, write_batch, r, &result);
    if (code == 0)
        code = check_hash(&result);
    if (code == 0)
        code = shard_writer_finish(&r->writer, &r->set->header);
    for (size_t i = 0; i < r->writer.count && code == 0; i++)
        code = temp_place(&r->writer.temps[i], r->writer.paths[i], check_place, r);
    restore_result_free(&result);
    shard_writer_close(&r->writer);
    return code;
}

static void report_written(const repairing *r) {
    json_open_array("written");
    for (size_t i = 0; i < r->set->count && r->paths != NULL; i++) {
        if (r->paths[i] == NULL)
            continue;
        json_string(NULL, r->paths[i]);
        say("  %03zu written %s", i, r->paths[i]);
    }
    json_close_array();
}

/* Removes what killed runs left. The open set locks temporary files. */
static void clean(shard_set *set) {
    path_list bases = set->bases;
    set->bases = (path_list){0};
    shard_set_close(set);
    for (size_t i = 0; i < bases.count; i++)
        clean_shards(bases.paths[i]);
    path_list_free(&bases);
}

int repair_set(shard_set *set, const tool_options *o, set_outcome *outcome) {
    repairing r = {
        .set = set,
        .options = o,
        .passes = {.memory = o->coder.memory, .thorough = true, .what = path_name(set->base)}};
    restore_result damage = {0};
    int code = restore_open_coder(&r.coder, set, &o->coder);
    if (code == 0)
        code = restore_run(set, r.coder, &r.passes, NULL, NULL, &damage);
    if (code == 0)
        code = check_hash(&damage);
    const size_t bad = count_bad_shards(set, damage.bad_blocks != NULL ? &damage : NULL);
    if (outcome != NULL)
        *outcome = (set_outcome){set->count, bad, damage.disagree};
    if (code == 0)
        code = find_paths(&r, &damage);
    if (code == 0 && bad != 0)
        code = rebuild(&r);
    if (code == 0) {
        report_set(set);
        json_number("repaired", bad);
        if (outcome == NULL && bad == 0)
            say("%s: all %zu shards are intact", set->base, set->count);
        else if (outcome == NULL)
            say("%s: %zu of %zu shards restored", set->base, bad, set->count);
        if (outcome == NULL || report_as_json) {
            report_shards(set, &damage, false);
            report_written(&r);
        }
    }
    restore_result_free(&damage);
    coder_close(r.coder);
    for (size_t i = 0; i < set->count && r.paths != NULL; i++)
        free(r.paths[i]);
    free(r.paths);
    free(r.wanted);
    if (code == 0)
        clean(set);
    return code;
}

int command_repair(int argc, char **argv) {
    return run_on_sets(COMMAND_REPAIR, "repair", &help, repair_set, argc, argv);
}
