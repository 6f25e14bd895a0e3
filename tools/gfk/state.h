/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes the state of shards for verify, repair and info. */
#ifndef GFK_TOOL_STATE_H
#define GFK_TOOL_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "find.h"
#include "options.h"
#include "restore.h"
#include "shard_set.h"

/* The result of the work on a set, in numbers of shards. */
typedef struct set_outcome {
    size_t count, bad; /* k + m; shards that were missing or damaged before the work */
    bool disagree;     /* lost: shards that are intact by their checksums disagree */
} set_outcome;

/* The work of a command on one set. Returns an exit code. Without an outcome the work says what it
 * found; otherwise the work fills *outcome and the caller says it. */
typedef int set_work(shard_set *set, const tool_options *options, set_outcome *outcome);
set_work verify_set, repair_set;

/* Runs a command whose arguments name shards: parses the command line, finds the sets, and for
 * each set calls `work` and writes the report. Standard output carries the file if --output is "-",
 * and the report then goes to standard error. Returns the worst exit code. */
int run_on_sets(unsigned command, const char *name, const command_help *help, set_work *work,
                int argc, char **argv);
/* The work wrote a part of a file, or the beginning of a file on standard output: no other set is
 * tried. The exit code is TOOL_UNRECOVERABLE. */
enum { RUN_PART = -3 };

/* Opens one set and calls `work`. If a file changed since the search, or `work` returns RUN_AGAIN,
 * which means that a file appeared in the place of a shard, the set is looked for again. With
 * try_next, a set that cannot be restored, or that is refused, is followed by the next older set in
 * the same places, of each item that the set has files in;
 * with --partial, a complete set comes before a part of any. */
int run_on_set(shard_set *set, const tool_options *options, set_work *work, bool try_next,
               set_outcome *outcome);

/* Says how many shards are intact: "7 of 8 shards are intact". */
enum { INTACT_BYTES = 96 };
void describe_intact(const set_outcome *outcome, char text[INTACT_BYTES]);

/* True if a shard must be rebuilt. `result` is NULL if there was no pass. */
bool shard_is_bad(const shard_set *set, const restore_result *result, size_t index);
size_t count_bad_shards(const shard_set *set, const restore_result *result);

/* Reports one JSON object for each shard, or one line for each bad shard; with `all`, one line for
 * each intact shard too. */
void report_shards(const shard_set *set, const restore_result *result, bool all);
/* Reports the code, the sizes and the name of the set, in JSON only. */
void report_set(const shard_set *set);

#endif
