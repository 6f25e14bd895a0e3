/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk verify checks whether the shards are intact and whether the file can be restored. gfk scrub
 * does this for all sets in a tree of folders. gfk info describes shards from the headers alone. */
#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "report.h"
#include "restore.h"
#include "state.h"

static const command_help verify_help = {
    "verify [OPTION...] BASE... | FOLDER... | SHARD...",
    "Reads all of the shards and checks headers, checksums, the code and the file's hash.\n"
    "Exit code 0: intact; 1: damaged, but gfk repair can restore all shards; 3: lost."};

int verify_set(shard_set *set, const tool_options *o, set_outcome *outcome) {
    const bool enough = restore_is_possible(set);
    restore_result result = {0};
    const restore_options options = {
        .thorough = true, .keep_going = true, .memory = o->coder.memory, .what = set->base};
    coder *c = NULL;
    int code = enough ? restore_open_coder(&c, set, &o->coder, false) : 0;
    if (code == 0 && enough)
        code = restore_run(set, c, &options, NULL, NULL, &result);
    coder_close(c);
    if (code == 0) {
        const restore_result *known = enough ? &result : NULL;
        const size_t bad = count_bad_shards(set, known);
        const bool lost = !enough || !result.hash_matches;
        const set_outcome found = {set->count, bad, result.disagree};
        char intact[INTACT_BYTES];
        describe_intact(&found, intact);
        report_set(set);
        json_number("bad_shards", bad);
        json_number("damaged_stripes", result.damaged_stripes);
        json_number("lost_stripes", result.lost_stripes);
        json_bool("recoverable", !lost);
        json_bool("disagree", result.disagree);
        if (outcome != NULL)
            *outcome = found;
        else
            say("%s: %s%s", set->base, intact,
                result.disagree ? ""
                : lost          ? "; the file cannot be restored"
                : bad > 0       ? "; the file can be restored"
                                : "");
        if (outcome == NULL || report_as_json)
            report_shards(set, known, false);
        if (!enough)
            code = restore_fail_for_shards(set);
        else if (lost)
            code = fail(TOOL_UNRECOVERABLE, "%s", result.reason);
        else
            code = bad > 0 ? TOOL_DAMAGED : 0;
    }
    restore_result_free(&result);
    return code;
}

int command_verify(int argc, char **argv) {
    return run_on_sets(COMMAND_VERIFY, "verify", &verify_help, verify_set, argc, argv);
}

/* ---- scrub ---------------------------------------------------------------------------------- */

static const command_help scrub_help = {
    "scrub [OPTION...] FOLDER...",
    "Checks the shards in each FOLDER and in all folders below, as verify does. Prints one line "
    "for\n"
    "each set: ok, damaged, lost, or repaired with --repair. The exit code is the worst one."};

typedef enum verdict {
    VERDICT_OK,
    VERDICT_REPAIRED,
    VERDICT_DAMAGED,
    VERDICT_LOST,
    VERDICT_FAILED,
    VERDICTS
} verdict;
static const char *const verdict_words[VERDICTS] = {"ok", "repaired", "damaged", "lost", "failed"};

static verdict judge(const set_outcome *outcome, int code) {
    if (code == 0)
        return outcome->bad == 0 ? VERDICT_OK : VERDICT_REPAIRED;
    return code == TOOL_DAMAGED         ? VERDICT_DAMAGED
           : code == TOOL_UNRECOVERABLE ? VERDICT_LOST
                                        : VERDICT_FAILED;
}

static verdict scrub_one(shard_set *set, const tool_options *o, int *code) {
    set_outcome outcome = {0};
    json_begin("scrub");
    *code = run_on_set(set, o, o->repair ? repair_set : verify_set, false, &outcome);
    const verdict found = judge(&outcome, *code);
    json_string("verdict", verdict_words[found]);
    char shards[INTACT_BYTES] = "the message on standard error says why";
    if (found == VERDICT_REPAIRED)
        snprintf(shards, sizeof shards, "%zu of %zu shards restored", outcome.bad, outcome.count);
    else if (outcome.count != 0)
        describe_intact(&outcome, shards);
    if (*code != 0 && report_quiet)
        fail(*code, "%s %s: %s", verdict_words[found], set->base, shards);
    else
        say("%-8s %s: %s", verdict_words[found], set->base, shards);
    *code = json_end(*code);
    return found;
}

int command_scrub(int argc, char **argv) {
    tool_options o;
    set_list list = {0};
    size_t counts[VERDICTS] = {0};
    int code = options_parse(&o, COMMAND_SCRUB, &scrub_help, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    if (o.count == 0)
        return fail(TOOL_USAGE, "no folder; usage: gfk %s", scrub_help.usage);
    signals_begin();
    code = find_sets(&list, &o, "scrub", true);
    if (code == 0) {
        code = list.all.code;
        counts[VERDICT_FAILED] = list.all.failed;
        for (size_t i = 0; i < list.count; i++) {
            int one = 0;
            counts[scrub_one(list.sets[i], &o, &one)]++;
            code = worse(code, one);
        }
        if (list.count != 0)
            say("%zu set%s: %zu ok, %zu repaired, %zu damaged, %zu lost, %zu failed", list.count,
                plural(list.count), counts[VERDICT_OK], counts[VERDICT_REPAIRED],
                counts[VERDICT_DAMAGED], counts[VERDICT_LOST], counts[VERDICT_FAILED]);
    }
    set_list_free(&list);
    return code;
}

/* ---- info ----------------------------------------------------------------------------------- */

static const command_help info_help = {
    "info [OPTION...] BASE... | FOLDER... | SHARD...",
    "Describes the file that the shards belong to, and lists the shards. Reads only headers."};

static int describe(shard_set *set, const tool_options *options, set_outcome *outcome) {
    (void)options;
    (void)outcome;
    const shard_header *h = &set->header;
    const size_t present = shard_set_present(set);
    char changed[TIME_BYTES];
    shard_header_time(h, changed);
    say("file       %s, %llu byte%s, mode %04o, XXH3-128 %016llx%016llx",
        h->name[0] == '\0' ? "(no name)" : h->name, (unsigned long long)h->file_bytes,
        plural(h->file_bytes), (unsigned)h->mode, (unsigned long long)h->hash_high,
        (unsigned long long)h->hash_low);
    say("changed    %s", changed[0] == '\0' ? "(no time)" : changed);
    say("code       k = %u, m = %u, w = %u, polynomial 0x%llx, matrix %s", h->k, h->m, h->w,
        (unsigned long long)h->polynomial, gfk_rs_matrix_name((gfk_rs_matrix)h->matrix));
    say("layout     %llu stripe%s, blocks of %llu bytes, shards of %llu bytes",
        (unsigned long long)stripe_count(h), plural(stripe_count(h)),
        (unsigned long long)h->block_bytes, (unsigned long long)shard_bytes(h));
    say("shards     %zu of %zu can be read, %u %s needed", present, set->count, h->k,
        h->k == 1 ? "is" : "are");
    report_set(set);
    report_shards(set, NULL, true);
    return 0;
}

int command_info(int argc, char **argv) {
    return run_on_sets(COMMAND_INFO, "info", &info_help, describe, argc, argv);
}
