/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk info: describes shards from the headers alone. */
#include "commands.h"
#include "options.h"
#include "report.h"
#include "state.h"

static const command_help help = {
    "info [OPTION...] BASE | SHARD...",
    "Says what the shards are of and which of them are there. Only headers are read."};

static void print(const shard_set *set) {
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
}

int command_info(int argc, char **argv) {
    tool_options o;
    int code = options_parse(&o, COMMAND_INFO, &help, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    if (o.count == 0)
        return fail(TOOL_USAGE, "no shards; usage: gfk %s", help.usage);
    json_begin("info");
    shard_set set;
    code = shard_set_open(&set, o.arguments, o.count);
    if (code == 0) {
        print(&set);
        report_set(&set);
        report_shards(&set, NULL, true);
        shard_set_close(&set);
    }
    json_end(stdout, code);
    return code;
}
