/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk verify: checks whether the shards are intact and whether the file can be restored. */
#include <string.h>

#include "options.h"
#include "report.h"
#include "restore.h"
#include "state.h"

static const command_help help = {
    "verify [OPTION...] BASE | SHARD...",
    "Reads all of the shards and checks headers, checksums, the code and the file's hash.\n"
    "Exit code 0: intact; 1: damaged, but gfk repair can mend it; 3: lost."};

static int verify(shard_set *set, const tool_options *o) {
    const bool enough = restore_is_possible(set);
    restore_result result = {0};
    const restore_options options = {
        .thorough = true, .keep_going = true, .memory = o->coder.memory, .what = set->base};
    coder *c = NULL;
    int code = enough ? restore_open_coder(&c, set, &o->coder) : 0;
    if (code == 0 && enough)
        code = restore_run(set, c, &options, NULL, NULL, &result);
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
        else if (lost && result.lost_stripes == 0)
            code =
                fail(TOOL_UNRECOVERABLE, "what these shards make is not the file that was encoded");
        else
            code = lost ? TOOL_UNRECOVERABLE : bad > 0 ? TOOL_DAMAGED : 0;
    }
    restore_result_free(&result);
    return code;
}

int command_verify(int argc, char **argv) {
    return run_on_set(COMMAND_VERIFY, "verify", &help, verify, argc, argv);
}
