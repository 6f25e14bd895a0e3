/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk verify checks whether the shards are intact and whether the file can be restored. gfk info
 * describes shards from the headers alone. */
#include <stdlib.h>

#include "options.h"
#include "report.h"
#include "restore.h"
#include "state.h"

static const command_help verify_help = {
    "verify [OPTION...] BASE | SHARD...",
    "Reads all of the shards and checks headers, checksums, the code and the file's hash.\n"
    "Exit code 0: intact; 1: damaged, but gfk repair can mend it; 3: lost."};

static int verify(shard_set *set, const tool_options *o) {
    const bool enough = restore_is_possible(set);
    restore_result result = {0};
    restore_options options = {
        .keep_going = true, .memory = o->coder.memory, .search = o->search, .what = set->base};
    coder *c = NULL;
    int code = enough ? restore_open_coder(&c, set, &o->coder) : 0;
    if (code == 0 && enough)
        code = restore_examine(set, c, &options, &result);
    coder_close(c);
    if (code == 0) {
        const restore_result *known = enough ? &result : NULL;
        const size_t bad = count_bad_shards(set, known);
        const bool lost = !enough || !result.hash_matches;
        report_set(set);
        json_number("bad_shards", bad);
        json_number("damaged_stripes", result.damaged_stripes);
        json_number("lost_stripes", result.lost_stripes);
        json_bool("recoverable", !lost);
        say("%s: %zu of %zu shards are intact%s", set->base, set->count - bad, set->count,
            lost      ? "; the file cannot be brought back"
            : bad > 0 ? "; the file can be brought back"
                      : "");
        report_shards(set, known, false);
        if (!enough)
            code = restore_fail_for_shards(set);
        else if (lost)
            code = fail(TOOL_UNRECOVERABLE, "%s", result.reason);
        else
            code = bad > 0 ? TOOL_DAMAGED : 0;
    }
    restore_result_free(&result);
    free(options.forged);
    return code;
}

int command_verify(int argc, char **argv) {
    return run_on_set(COMMAND_VERIFY, "verify", &verify_help, verify, argc, argv);
}

static const command_help info_help = {
    "info [OPTION...] BASE | SHARD...",
    "Says what the shards are of and which of them are there. Only headers are read."};

static int describe(shard_set *set, const tool_options *options) {
    (void)options;
    const shard_header *h = &set->header;
    const size_t present = shard_set_present(set);
    char changed[TIME_BYTES];
    describe_time(h, changed);
    say("file       %s, %llu bytes, mode %04o, XXH3-128 %016llx%016llx",
        h->name[0] == '\0' ? "(no name)" : h->name, (unsigned long long)h->file_bytes,
        (unsigned)h->mode, (unsigned long long)h->hash_high, (unsigned long long)h->hash_low);
    say("changed    %s", changed[0] == '\0' ? "(no time)" : changed);
    say("code       k = %u, m = %u, w = %u, polynomial 0x%llx, matrix %s", h->k, h->m, h->w,
        (unsigned long long)h->polynomial, gfk_rs_matrix_name((gfk_rs_matrix)h->matrix));
    say("layout     %llu stripes, blocks of %llu bytes, shards of %llu bytes",
        (unsigned long long)stripe_count(h), (unsigned long long)h->block_bytes,
        (unsigned long long)shard_bytes(h));
    say("shards     %zu of %zu can be read, %u are needed", present, set->count, h->k);
    report_set(set);
    report_shards(set, NULL, true);
    return 0;
}

int command_info(int argc, char **argv) {
    return run_on_set(COMMAND_INFO, "info", &info_help, describe, argc, argv);
}
