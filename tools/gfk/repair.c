/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk repair: rebuilds missing and damaged shards from the other shards. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "files.h"
#include "options.h"
#include "replace.h"
#include "report.h"
#include "restore.h"
#include "shard_writer.h"
#include "state.h"

static const command_help help = {
    "repair [OPTION...] BASE | SHARD...",
    "Makes shards that are missing, damaged or under a wrong name again, from the others. A shard\n"
    "is replaced only by a complete new one."};

enum { REPAIR_AGAIN = -2, ATTEMPTS = 5 };

typedef struct repairing {
    const shard_set *set;
    const tool_options *options;
    coder *coder;
    shard_writer writer;
} repairing;

static int write_batch(const batch *b, void *context) {
    repairing *r = context;
    const size_t stripes = batch_stripes(b);
    for (size_t s = 0; s < stripes; s++)
        for (size_t i = 0; i < r->writer.count; i++)
            batch_seal(b, s, r->writer.indices[i], r->set->header.set_id);
    return shard_writer_write(&r->writer, b);
}

static int pass(repairing *r, restore_sink *sink, restore_result *result) {
    const restore_options options = {
        .thorough = true, .memory = r->options->coder.memory, .what = path_name(r->set->base)};
    const int code = restore_run(r->set, r->coder, &options, sink, r, result);
    if (code == 0 && !result->hash_matches)
        return fail(TOOL_UNRECOVERABLE, "what these shards make is not the file that was encoded");
    return code;
}

/* ---- paths of the new shards ---------------------------------------------------------------- */

/* The source with the device and inode of `status`; NULL if there is none. */
static const shard_source *find_source(const shard_set *set, const struct stat *status) {
    for (size_t i = 0; i < set->source_count; i++)
        if (set->sources[i].device == status->st_dev && set->sources[i].inode == status->st_ino)
            return &set->sources[i];
    return NULL;
}

static int fail_for_closed(const char *path, int error) {
    return fail(TOOL_EXISTS, "%s is in the way: it cannot be read (%s); --force replaces it", path,
                shard_error_text(error));
}

/* Checks that a new shard may replace the file at its path. The check runs before the work and
 * again before the rename. REPAIR_AGAIN: the file appeared after the search for shards. */
static int check_place(const repairing *r, const char *path) {
    struct stat status;
    const int error = path_look(path, &status);
    if (error == ENOENT || (error != 0 && r->options->force))
        return 0;
    if (error != 0)
        return fail_for_closed(path, error);
    if (!S_ISREG(status.st_mode))
        return fail(TOOL_IO, "%s is not a regular file", path);
    const shard_source *there = find_source(r->set, &status);
    const unreadable_shard *closed = shard_set_unreadable_file(r->set, &status);
    if (there == NULL && closed == NULL && r->set->searched)
        return REPAIR_AGAIN;
    if ((there != NULL && !there->other) || r->options->force)
        return 0;
    if (closed != NULL)
        return fail_for_closed(path, closed->error);
    return fail(TOOL_EXISTS, "%s is in the way: it %s; --force replaces it", path,
                there == NULL ? "is not among the arguments" : "belongs to another set");
}

static int open_writer(repairing *r, const restore_result *result) {
    int code = shard_writer_open(&r->writer, r->set->count);
    for (size_t i = 0; i < r->set->count && code == 0; i++) {
        if (!shard_is_bad(r->set, result, i))
            continue;
        char *path = shard_set_path(r->set, i);
        if (path != NULL)
            code = check_place(r, path);
        if (code == 0)
            code = shard_writer_add(&r->writer, i, path);
        else
            free(path);
    }
    return code;
}

static int commit_one(repairing *r, size_t i) {
    char *path = r->writer.paths[i];
    char *folder = path_folder(path);
    if (folder == NULL)
        return fail(TOOL_INTERNAL, "out of memory");
    int code = TOOL_IO;
    const int lock = folder_lock(folder, true);
    if (lock >= 0) {
        code = check_place(r, path);
        if (code == 0)
            code = temp_commit(&r->writer.temps[i], 1, &path, lock);
        close(lock);
    }
    free(folder);
    return code;
}

static int rebuild(repairing *r, const restore_result *damage) {
    restore_result result = {0};
    int code = open_writer(r, damage);
    if (code == 0)
        code = pass(r, write_batch, &result);
    if (code == 0)
        code = shard_writer_finish(&r->writer, &r->set->header);
    for (size_t i = 0; i < r->writer.count && code == 0; i++)
        code = commit_one(r, i);
    restore_result_free(&result);
    shard_writer_close(&r->writer);
    return code;
}

static int repair(const shard_set *set, const tool_options *o) {
    repairing r = {.set = set, .options = o};
    restore_result damage = {0};
    if (shard_set_present(set) < set->header.k && stripe_count(&set->header) != 0)
        return restore_fail_for_shards(set);
    int code = restore_open_coder(&r.coder, set, &o->coder);
    if (code == 0)
        code = pass(&r, NULL, &damage);
    const size_t bad = code == 0 ? count_bad_shards(set, &damage) : 0;
    if (bad != 0)
        code = rebuild(&r, &damage);
    if (code == 0) {
        report_set(set);
        json_number("repaired", bad);
        if (bad == 0)
            say("%s: all %zu shards are intact", set->base, set->count);
        else
            say("%s: %zu of %zu shards made again", set->base, bad, set->count);
        report_shards(set, &damage, false);
    }
    restore_result_free(&damage);
    coder_close(r.coder);
    return code;
}

int command_repair(int argc, char **argv) {
    tool_options o;
    int code = options_parse(&o, COMMAND_REPAIR, &help, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    if (o.count == 0)
        return fail(TOOL_USAGE, "no shards; usage: gfk %s", help.usage);
    signals_begin();
    json_begin("repair");
    code = REPAIR_AGAIN;
    for (int attempt = 0; attempt < ATTEMPTS && code == REPAIR_AGAIN; attempt++) {
        shard_set set;
        code = shard_set_open(&set, o.arguments, o.count);
        if (code != 0)
            break;
        code = repair(&set, &o);
        char *base = set.base;
        set.base = NULL;
        shard_set_close(&set); /* before clean_shards: the set locks temporary files */
        if (code == 0)
            clean_shards(base);
        free(base);
    }
    if (code == REPAIR_AGAIN)
        code = fail(TOOL_EXISTS, "what is in the place of a shard keeps changing");
    json_end(stdout, code);
    return code;
}
