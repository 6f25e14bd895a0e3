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
    shard_set *set;
    const tool_options *options;
    coder *coder;
    restore_options passes;
    shard_writer writer;
    bool *wanted;       /* shards to write */
    file_place *places; /* their places; no path for other shards */
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

/* ---- places of the new shards --------------------------------------------------------------- */

static int fail_for_closed(const char *path, int error) {
    return fail(TOOL_EXISTS, "%s is in the way: it cannot be read (%s); --force replaces it", path,
                shard_error_text(error));
}

/* Checks that a new shard may replace the file at its path. The check runs before the work and
 * again before the rename. RUN_AGAIN: the file appeared after the search for shards. */
static int check_place(const file_place *place, void *context) {
    const repairing *r = context;
    struct stat status;
    const int error = place_look(place, &status);
    if (error == ENOENT || (error == ELOOP && r->options->force))
        return 0;
    if (error == ELOOP)
        return fail_for_closed(place->path, error);
    if (error != 0)
        return fail_for(error, "look at", place->path);
    if (!S_ISREG(status.st_mode))
        return fail_for_irregular(place, &status);
    shard_source *there = NULL;
    const int code = inventory_find(r->set->all, place->in, path_name(place->path), &there);
    if (code != 0)
        return code;
    if (there == NULL && r->set->searched)
        return RUN_AGAIN;
    if ((there != NULL && there->set == r->set) || r->options->force)
        return 0;
    if (there != NULL && there->unreadable)
        return fail_for_closed(place->path, there->error);
    return fail(TOOL_EXISTS, "%s is in the way: it %s; --force replaces it", place->path,
                there == NULL       ? "is not among the arguments"
                : there->identified ? "belongs to another set"
                                    : "is not a shard of this set");
}

static bool has_name_of(const shard_source *s, size_t index) {
    return s->named && s->name_index == index;
}

/* Finds the place of a shard whose file is there, and is to be replaced: the file's place, unless
 * this has the name of another shard of the set. The path stays NULL if no file of the shard is
 * there. */
static int place_of_file(const shard_set *set, size_t index, file_place *place) {
    const shard_source *s = set->shards[index], *found = NULL;
    for (; s != NULL; s = s->next)
        if (!s->temp && (found == NULL || (has_name_of(s, index) && !has_name_of(found, index))))
            found = s;
    if (found == NULL)
        found = shard_set_unreadable(set, index);
    if (found == NULL)
        return 0;
    const shard_base *const base = shard_set_base_in(set, found->in);
    char *other = NULL;
    place->in = found->in;
    if (found->unreadable || has_name_of(found, index) || !found->named ||
        found->name_index >= set->count)
        place->path = strdup(found->path);
    else if (base != NULL)
        place->path = shard_path(base->path, (uint32_t)index);
    else if ((other = path_join(folder_path(found->in), path_name(set->base))) != NULL)
        place->path = shard_path(other, (uint32_t)index);
    free(other);
    return place->path == NULL ? no_memory() : 0;
}

/* A folder of the set. */
typedef struct disk {
    const shard_base *base;
    size_t held, first; /* shards of the set: number, index of the first */
    bool open;          /* the folder may receive shards */
} disk;

static disk *find_disk(disk *disks, size_t count, const folder *in) {
    for (size_t i = 0; i < count; i++)
        if (disks[i].base->in == in)
            return &disks[i];
    return NULL;
}

/* Lists the folders of the bases, each once. With --to, only those receive shards. */
static size_t list_disks(const repairing *r, disk *disks) {
    size_t count = 0;
    const inventory *const all = r->set->all;
    for (size_t i = 0; i < r->set->bases.count; i++) {
        const shard_base *const base = &r->set->bases.all[i];
        if (find_disk(disks, count, base->in) == NULL)
            disks[count++] = (disk){.base = base, .open = all->to_count == 0};
    }
    for (size_t i = 0; i < all->to_count; i++) {
        disk *const d = find_disk(disks, count, all->to[i]);
        if (d != NULL)
            d->open = true;
    }
    return count;
}

static void count_shard(disk *d, size_t index) {
    if (d != NULL && d->held++ == 0)
        d->first = index;
}

/* Finds out whether the folder has a file that is not of this set, or a folder, in the place of a
 * shard. */
static int find_taken(const repairing *r, const disk *d, size_t index, bool *taken) {
    char *const name = shard_path(path_name(d->base->path), (uint32_t)index);
    if (name == NULL)
        return no_memory();
    struct stat status;
    shard_source *there = NULL;
    int code = inventory_find(r->set->all, d->base->in, name, &there);
    const int error =
        code == 0 && there == NULL ? place_look(&(file_place){d->base->in, name}, &status) : 0;
    if (error == ENOMEM)
        code = no_memory();
    *taken =
        there != NULL ? there->set != r->set : code == 0 && error == 0 && S_ISDIR(status.st_mode);
    free(name);
    return code;
}

/* The folder for a missing shard: the one with the fewest shards; of several, the one whose shards
 * come from the same folder of encode --to. A folder where the shard's name is taken comes last. */
static int choose_disk(const repairing *r, disk *disks, size_t count, size_t index, disk **chosen) {
    disk *best = NULL;
    bool best_taken = true;
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        disk *const d = &disks[i];
        const bool fits = d->held != 0 && d->first % count == index % count;
        bool taken = false;
        if (!d->open)
            continue;
        code = find_taken(r, d, index, &taken);
        if (best == NULL || taken < best_taken ||
            (taken == best_taken && (d->held < best->held || (fits && d->held == best->held)))) {
            best = d;
            best_taken = taken;
        }
    }
    *chosen = best;
    return code;
}

/* Finds the places of the shards to write that have no file. */
static int place_missing(repairing *r, disk *disks, size_t count) {
    const shard_set *set = r->set;
    int code = 0;
    for (size_t i = 0; i < set->count; i++)
        if (r->places[i].path != NULL)
            count_shard(find_disk(disks, count, r->places[i].in), i);
        else if (set->shards[i] != NULL && !r->wanted[i])
            count_shard(find_disk(disks, count, set->shards[i]->in), i);
    for (size_t i = 0; i < set->count && code == 0; i++) {
        disk *d = NULL;
        if (!r->wanted[i] || r->places[i].path != NULL)
            continue;
        code = choose_disk(r, disks, count, i, &d);
        if (code != 0)
            return code;
        if (d == NULL)
            return fail(TOOL_IO, "there is no folder for shard %03zu of %s", i, set->base);
        r->places[i] = (file_place){d->base->in, shard_path(d->base->path, (uint32_t)i)};
        if (r->places[i].path == NULL)
            return no_memory();
        count_shard(d, i);
    }
    return code;
}

/* Warns of folders whose loss is the loss of the file. */
static void warn_of_full_disks(const repairing *r, const disk *disks, size_t count) {
    const uint32_t m = r->set->header.m;
    for (size_t i = 0; i < count && (count > 1 || r->options->to.count != 0); i++)
        if (disks[i].held > m)
            warn_once("%s now holds %zu shards of %s, but only %u may be lost; repair --to names "
                      "more folders",
                      folder_path(disks[i].base->in), disks[i].held, r->set->base, m);
}

/* A new shard may take the name under which the only file of another shard is: that shard is then
 * written too. */
static int add_displaced(repairing *r) {
    int code = 0;
    for (bool again = true; again && code == 0;) {
        again = false;
        for (size_t i = 0; i < r->set->count && code == 0; i++) {
            const file_place *const place = &r->places[i];
            shard_source *there = NULL;
            if (r->wanted[i])
                code = inventory_find(r->set->all, place->in, path_name(place->path), &there);
            if (there == NULL || there->set != r->set)
                continue;
            const size_t index = there->header.index;
            if (r->wanted[index] || r->set->shards[index] != there)
                continue;
            r->wanted[index] = again = true;
            code = place_of_file(r->set, index, &r->places[index]);
        }
    }
    return code;
}

static int find_places(repairing *r, const restore_result *damage) {
    const shard_set *set = r->set;
    disk *const disks = calloc(set->bases.count + 1, sizeof *disks);
    r->wanted = calloc(set->count, sizeof *r->wanted);
    r->places = calloc(set->count, sizeof *r->places);
    int code = disks == NULL || r->wanted == NULL || r->places == NULL ? no_memory() : 0;
    for (size_t i = 0; i < set->count && code == 0; i++) {
        r->wanted[i] = shard_is_bad(set, damage, i);
        if (r->wanted[i])
            code = place_of_file(set, i, &r->places[i]);
    }
    if (code == 0) {
        const size_t count = list_disks(r, disks);
        code = place_missing(r, disks, count);
        if (code == 0)
            warn_of_full_disks(r, disks, count);
    }
    free(disks);
    if (code == 0)
        code = add_displaced(r);
    for (size_t i = 0; i < set->count && code == 0; i++)
        if (r->wanted[i])
            code = check_place(&r->places[i], r);
    return code;
}

/* Writes shards from *next on, as many as can be open at once, and moves *next past them. */
static int rebuild_some(repairing *r, size_t most, size_t *next) {
    restore_result result = {0};
    int code = shard_writer_open(&r->writer, most);
    for (; *next < r->set->count && r->writer.count < most && code == 0; ++*next) {
        const file_place *const place = &r->places[*next];
        if (r->wanted[*next])
            code = shard_writer_add(&r->writer, *next, place->in, strdup(place->path));
    }
    if (code == 0 && r->writer.count != 0)
        code = restore_run(r->set, r->coder, &r->passes, write_batch, r, &result);
    if (code == 0 && r->writer.count != 0)
        code = check_hash(&result);
    if (code == 0)
        code = shard_writer_finish(&r->writer, &r->set->header);
    for (size_t i = 0; i < r->writer.count && code == 0; i++) {
        const file_place *const place = &r->writer.places[i];
        code = temp_place(&r->writer.temps[i], place, check_place, r);
        if (code == 0)
            code = inventory_add_written(r->set->all, r->set, place);
    }
    restore_result_free(&result);
    shard_writer_close(&r->writer);
    return code;
}

static int rebuild(repairing *r) {
    const size_t count = r->set->count, room = shard_source_room(count);
    int code = 0;
    for (size_t next = 0; next < count && code == 0;)
        code = rebuild_some(r, room < count ? room : count, &next);
    return code;
}

static void report_written(const repairing *r) {
    json_open_array("written");
    for (size_t i = 0; i < r->set->count && r->places != NULL; i++) {
        if (r->places[i].path == NULL)
            continue;
        json_string(NULL, r->places[i].path);
        say("  %03zu written %s", i, r->places[i].path);
    }
    json_close_array();
}

/* Removes what killed runs left. The open set locks temporary files. */
static int clean(shard_set *set) {
    int code = 0;
    shard_set_close(set);
    for (size_t i = 0; i < set->bases.count && code == 0; i++)
        code = inventory_clean_shards(set->all, &set->bases.all[i], set);
    return code;
}

int repair_set(shard_set *set, const tool_options *o, set_outcome *outcome) {
    repairing r = {
        .set = set,
        .options = o,
        .passes = {.memory = o->coder.memory, .thorough = true, .what = path_name(set->base)}};
    restore_result damage = {0};
    int code = restore_open_coder(&r.coder, set, &o->coder, false);
    if (code == 0)
        code = restore_run(set, r.coder, &r.passes, NULL, NULL, &damage);
    if (code == 0)
        code = check_hash(&damage);
    const size_t bad = count_bad_shards(set, damage.bad_blocks != NULL ? &damage : NULL);
    if (outcome != NULL)
        *outcome = (set_outcome){set->count, bad, damage.disagree};
    if (code == 0)
        code = find_places(&r, &damage);
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
    for (size_t i = 0; i < set->count && r.places != NULL; i++)
        free(r.places[i].path);
    free(r.places);
    free(r.wanted);
    return code == 0 ? clean(set) : code;
}

int command_repair(int argc, char **argv) {
    return run_on_sets(COMMAND_REPAIR, "repair", &help, repair_set, argc, argv);
}
