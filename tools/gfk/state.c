/* SPDX-License-Identifier: BSD-3-Clause */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* Says that shards of the same name were not read, because only other files were named. */
static void warn_of_unnamed(const shard_set *set) {
    const int in = set->searched || set->home == NULL ? -1 : folder_fd(set->home);
    struct stat status;
    char base[2048];
    bool found = false;
    for (size_t i = 0; i < set->count && in >= 0 && !found; i++) {
        char *const path = set->shards[i] == NULL ? shard_path(set->base, (uint32_t)i) : NULL;
        found = path != NULL && fstatat(in, path_name(path), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                S_ISREG(status.st_mode);
        if (found && !shell_word(set->base, base, sizeof base))
            strcpy(base, "BASE");
        if (found)
            warn("only the named file%s read, and not %s; gfk %s %s reads all shards of %s",
                 shard_set_present(set) == 1 ? " was" : "s were", path, set->all->command, base,
                 path_name(set->base));
        free(path);
    }
}

/* The next set of the item, from *position on, that can be restored; NULL if there is none. The sets
 * are in the order of the time of their files. Sets with the refused name are left out. */
static shard_set *next_set(const shard_item *item, size_t *position, const char *refused) {
    while (*position < item->set_count) {
        shard_set *const set = item->sets[(*position)++];
        if (set->usable >= set->header.k &&
            (refused == NULL || strcmp(refused, set->header.name) != 0))
            return set;
    }
    return NULL;
}

/* Opens a set and works on it. */
static int work_on(shard_set *set, bool opened, const tool_options *o, set_work *work,
                   set_outcome *outcome) {
    set->refused = NOT_REFUSED;
    int code = opened ? 0 : shard_set_open(set);
    if (code != 0)
        return code;
    code = work(set, o, outcome);
    if (code != RUN_AGAIN)
        shard_set_warn_of_errors(set);
    if (code != 0 && code != RUN_AGAIN)
        warn_of_unnamed(set);
    shard_set_close(set);
    return code;
}

/* Works on the sets of an item after the first one, until one of them can be restored. `code` is the
 * exit code of the set that was tried before. */
static int work_on_next(const shard_set *first, const shard_item *item, int code,
                        const tool_options *o, set_work *work, set_outcome *outcome) {
    const shard_set *before = first;
    size_t position = 1;
    int worst = code, remaining = 0;
    while (code == TOOL_UNRECOVERABLE || code == TOOL_USAGE || before->refused != NOT_REFUSED) {
        char time[TIME_BYTES];
        const bool of_name = before->refused >= NAME_REFUSED;
        shard_set *const set = next_set(item, &position, of_name ? before->header.name : NULL);
        if (set == NULL)
            break;
        if (before->refused == NAME_IN_USE)
            remaining = TOOL_EXISTS;
        shard_header_time(&set->header, time);
        warn("trying the next set of %s: that of %s, %s%s", first->base, set->members->path,
             time[0] == '\0' ? "without a time" : "changed ", time);
        set->follows = true;
        code = work_on(set, false, o, work, outcome);
        if (code <= 0)
            return code == 0 ? remaining : code;
        worst = worse(worst, code);
        before = set;
    }
    return worst;
}

/* True if the set stands for other sets of the item, of which one can be restored. */
static bool stands_before(const shard_set *set, const shard_item *item) {
    size_t position = 1;
    return item->sets[0] == set && next_set(item, &position, NULL) != NULL;
}

static bool stands_before_any(const shard_set *set) {
    bool before = false;
    for (size_t i = 0; i < set->item_count && !before; i++)
        before = stands_before(set, set->items[i]);
    return before;
}

/* Works on a set and, as long as this set cannot be restored, on the next one of each item. */
static int work_on_any(shard_set *set, bool opened, const tool_options *o, set_work *work,
                       set_outcome *outcome) {
    const int own = work_on(set, opened, o, work, outcome);
    int code = own;
    bool next = false;
    for (size_t i = 0; i < set->item_count && own > 0; i++) {
        if (!stands_before(set, set->items[i]))
            continue;
        const int one = work_on_next(set, set->items[i], own, o, work, outcome);
        code = next ? worse(code, one) : one;
        next = true;
    }
    return code;
}

/* Works on the sets of the same name. With --partial, a complete file of an older set is better than
 * a part of a newer one. */
static int work_on_sets(shard_set *set, bool opened, const tool_options *o, set_work *work,
                        bool try_next, set_outcome *outcome) {
    if (!try_next)
        return work_on(set, opened, o, work, outcome);
    tool_options whole = *o;
    whole.whole = o->partial && stands_before_any(set);
    int code = work_on_any(set, opened, &whole, work, outcome);
    if (whole.whole && (code == TOOL_UNRECOVERABLE || code == TOOL_USAGE)) {
        warn("no set of %s can be restored completely; writing a part of the newest set",
             set->base);
        set->follows = true;
        code = work_on_any(set, false, o, work, outcome);
    }
    return code == RUN_PART ? TOOL_UNRECOVERABLE : code;
}

int run_on_set(shard_set *set, const tool_options *o, set_work *work, bool try_next,
               set_outcome *outcome) {
    enum { ATTEMPTS = 5 };
    set_list list = {0};
    int code = work_on_sets(set, false, o, work, try_next, outcome);
    for (int attempt = 1; attempt < ATTEMPTS && code == RUN_AGAIN; attempt++) {
        set_list again;
        code = find_again(&again, set);
        if (code == RUN_AGAIN) {
            set_list_free(&again);
            continue;
        }
        set_list_free(&list);
        list = again;
        if (code != 0)
            break;
        set = list.sets[0];
        code = work_on_sets(set, true, o, work, try_next, outcome);
        if (code != RUN_AGAIN)
            code = worse(code, list.all.code);
    }
    set_list_free(&list);
    if (code == RUN_AGAIN)
        return fail(TOOL_EXISTS, "what is in the place of a shard keeps changing");
    return code;
}

int run_on_sets(unsigned command, const char *name, const command_help *help, set_work *work,
                int argc, char **argv) {
    tool_options o;
    set_list list = {0};
    int code = options_parse(&o, command, help, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    if (o.count == 0 && o.in.count == 0)
        return fail(TOOL_USAGE, "no shards; usage: gfk %s", help->usage);
    const bool to_stdout = o.output != NULL && strcmp(o.output, "-") == 0;
    o.partial = o.partial && !to_stdout;
    if (o.output != NULL && temp_name_length(path_name(o.output)) != 0)
        return fail(TOOL_USAGE,
                    "%s has the name of a temporary file of gfk; --output FILE gives another name",
                    o.output);
    if (command == COMMAND_DECODE || command == COMMAND_REPAIR)
        signals_begin();
    if (o.output != NULL && !to_stdout && folder_of(&o.output_in, o.output) == ENOMEM)
        return no_memory();
    code = find_sets(&list, &o, name, false);
    if (code == 0 && o.output != NULL && list.count > 1)
        code = fail(TOOL_USAGE, "--output is for one file, but these are the shards of %zu",
                    list.count);
    if (code == 0) {
        code = list.all.code;
        for (size_t i = 0; i < list.count; i++) {
            json_begin(name);
            const int one = run_on_set(list.sets[i], &o, work, command == COMMAND_DECODE, NULL);
            code = worse(code, json_end(one));
        }
    }
    set_list_free(&list);
    return code;
}

bool shard_is_bad(const shard_set *set, const restore_result *result, size_t index) {
    const shard_source *s = set->shards[index];
    return s == NULL || !shard_source_is_whole(set, s) || s->temp ||
           (result != NULL && result->bad_blocks[index] != 0);
}

size_t count_bad_shards(const shard_set *set, const restore_result *result) {
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++)
        count += shard_is_bad(set, result, i);
    return count;
}

void describe_intact(const set_outcome *outcome, char text[INTACT_BYTES]) {
    const size_t intact = outcome->count - outcome->bad;
    snprintf(text, INTACT_BYTES, "%zu of %zu shards %s intact%s", intact, outcome->count,
             intact == 1 ? "is" : "are",
             outcome->disagree ? " by their checksums, but the shards disagree" : "");
}

static void note(char *text, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void note(char *text, size_t room, const char *format, ...) {
    size_t length = strlen(text);
    if (length + sizeof ", " > room)
        return;
    if (length != 0)
        length += (size_t)snprintf(text + length, room - length, ", ");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, room - length, format, arguments);
    va_end(arguments);
}

static void describe(const shard_set *set, const restore_result *result, size_t index, char *text,
                     size_t room) {
    const shard_source *s = set->shards[index];
    text[0] = '\0';
    if (s->temp)
        note(text, room, "under a temporary name");
    else if (!s->named || s->name_index != index)
        note(text, room, "under another name");
    if (!s->head)
        note(text, room, "first header damaged");
    if (!s->tail)
        note(text, room, "second header damaged");
    if (s->bytes != shard_bytes(&set->header))
        note(text, room, s->bytes < shard_bytes(&set->header) ? "too short" : "too long");
    if (result != NULL && result->bad_blocks[index] != 0)
        note(text, room, "%llu of %llu block%s damaged",
             (unsigned long long)result->bad_blocks[index],
             (unsigned long long)stripe_count(&set->header), plural(stripe_count(&set->header)));
    if (result != NULL && result->corrected[index] != 0)
        note(text, room, "%llu with %s that hid it", (unsigned long long)result->corrected[index],
             result->corrected[index] == 1 ? "a checksum" : "checksums");
    if (s->error != 0)
        note(text, room, "the system said: %s", shard_error_text(s->error));
}

/* The next source of the same shard that is not a temporary file; NULL if there is none. */
static const shard_source *copy_after(const shard_source *s) {
    for (s = s == NULL ? NULL : s->next; s != NULL && s->temp; s = s->next)
        continue;
    return s;
}

static void report_copies(const shard_source *s) {
    const shard_source *other = copy_after(s);
    if (other == NULL)
        return;
    json_open_array("copies");
    for (; other != NULL; other = copy_after(other))
        json_string(NULL, other->path);
    json_close_array();
}

static void report_shard(const shard_set *set, const restore_result *result, size_t index,
                         bool all) {
    const shard_source *s = set->shards[index];
    const bool bad = shard_is_bad(set, result, index);
    const shard_source *closed = shard_set_unreadable(set, index);
    const char *state = closed != NULL ? "unreadable"
                        : s == NULL    ? "missing"
                        : bad          ? "damaged"
                                       : "ok";
    const char *path = closed != NULL ? closed->path : s != NULL ? s->path : NULL;
    char text[256] = "";
    if (s != NULL)
        describe(set, result, index, text, sizeof text);
    else if (closed != NULL)
        note(text, sizeof text, "%s", shard_error_text(closed->error));
    json_open_object();
    json_number("index", index);
    json_string("state", state);
    if (path != NULL) {
        json_string("path", path);
        json_number("bad_blocks", s == NULL || result == NULL ? 0 : result->bad_blocks[index]);
        json_string("details", text);
    }
    report_copies(s);
    json_close_object();
    if (bad || all)
        say("  %03zu %s%s%s%s%s", index, state, path == NULL ? "" : " ", path == NULL ? "" : path,
            text[0] == '\0' ? "" : ": ", text);
    for (const shard_source *other = copy_after(s); other != NULL; other = copy_after(other))
        say("  %03zu again %s", index, other->path);
}

void report_shards(const shard_set *set, const restore_result *result, bool all) {
    json_open_array("shards");
    for (size_t i = 0; i < set->count; i++)
        report_shard(set, result, i, all);
    json_close_array();
}

void report_set(const shard_set *set) {
    const shard_header *h = &set->header;
    char hexadecimal[2 * SET_ID_BYTES + 1], changed[TIME_BYTES];
    for (size_t i = 0; i < SET_ID_BYTES; i++)
        snprintf(hexadecimal + 2 * i, 3, "%02x", h->set_id[i]);
    json_string("base", set->base);
    json_string("set", hexadecimal);
    json_string("name", h->name);
    json_number("mode", h->mode);
    shard_header_time(h, changed);
    json_string("mtime", changed);
    json_number("bytes", h->file_bytes);
    snprintf(hexadecimal, sizeof hexadecimal, "%016llx%016llx", (unsigned long long)h->hash_high,
             (unsigned long long)h->hash_low);
    json_string("xxh3_128", hexadecimal);
    json_number("k", h->k);
    json_number("m", h->m);
    json_number("w", h->w);
    json_number("polynomial", h->polynomial);
    json_string("matrix", gfk_rs_matrix_name((gfk_rs_matrix)h->matrix));
    json_number("block_bytes", h->block_bytes);
    json_number("stripes", stripe_count(h));
    json_number("shard_bytes", shard_bytes(h));
}
