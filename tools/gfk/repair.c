/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk repair: rebuilds missing and damaged shards from the other shards. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files.h"
#include "options.h"
#include "report.h"
#include "restore.h"
#include "shard_writer.h"
#include "state.h"

static const command_help help = {
    "repair [OPTION...] BASE | SHARD...",
    "Makes shards that are missing, damaged or under a wrong name again, from the others. A shard\n"
    "is replaced only by a complete new one."};

typedef struct repairing {
    const shard_set *set;
    const tool_options *options;
    coder *coder;
    restore_options passes;
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
    const shard_source *there = shard_set_source(r->set, &status);
    if (there == NULL && r->set->searched)
        return RUN_AGAIN;
    if ((there != NULL && !there->unreadable && !there->other) || r->options->force)
        return 0;
    if (there != NULL && there->unreadable)
        return fail_for_closed(path, there->error);
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
            code = check_place(path, r);
        if (code == 0)
            code = shard_writer_add(&r->writer, i, path);
        else
            free(path);
    }
    return code;
}

static int rebuild(repairing *r, const restore_result *damage) {
    restore_result result = {0};
    int code = open_writer(r, damage);
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

static int repair(shard_set *set, const tool_options *o) {
    repairing r = {
        .set = set,
        .options = o,
        .passes = {.memory = o->coder.memory, .search = o->search, .what = path_name(set->base)}};
    restore_result damage = {0};
    int code = restore_open_coder(&r.coder, set, &o->coder);
    if (code == 0)
        code = restore_examine(set, r.coder, &r.passes, &damage);
    if (code == 0)
        code = check_hash(&damage);
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
    free(r.passes.forged);
    coder_close(r.coder);
    if (code == 0) { /* the open set locks temporary files */
        char *base = set->base;
        set->base = NULL;
        shard_set_close(set);
        clean_shards(base);
        free(base);
    }
    return code;
}

int command_repair(int argc, char **argv) {
    return run_on_set(COMMAND_REPAIR, "repair", &help, repair, argc, argv);
}
