/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk info: describes shards from the headers alone. */
#include "options.h"
#include "report.h"
#include "state.h"

static const command_help help = {
    "info [OPTION...] BASE | SHARD...",
    "Says what the shards are of and which of them are there. Only headers are read."};

static int describe(shard_set *set, const tool_options *options) {
    (void)options;
    const shard_header *h = &set->header;
    const size_t present = shard_set_present(set);
    say("file       %s, %llu bytes, mode %04o, XXH3-128 %016llx%016llx",
        h->name[0] == '\0' ? "(no name)" : h->name, (unsigned long long)h->file_bytes,
        (unsigned)h->mode, (unsigned long long)h->hash_high, (unsigned long long)h->hash_low);
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
    return run_on_set(COMMAND_INFO, "info", &help, describe, argc, argv);
}
