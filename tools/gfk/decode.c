/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk decode: restores a file from its shards. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "headerless.h"
#include "options.h"
#include "report.h"
#include "restore.h"
#include "state.h"

static const command_help help = {
    "decode [OPTION...] BASE... | FOLDER... | SHARD...",
    "Restores a file from the shards BASE.gfk.*, or from the shards that are given. The file gets\n"
    "the name that it had, in the folder of BASE, or the name of --output. The file appears only\n"
    "when all of its contents are right."};

typedef struct decoding {
    shard_set *set;
    const tool_options *options;
    int fd;
    bool to_stdout, begun; /* begun: standard output has a part of the file */
    const char *output;    /* name of the output in messages */
    restore_result result;
} decoding;

/* Writes a part of the file. Runs of zeros become holes. */
static bool write_data(int fd, const uint8_t *bytes, size_t count, uint64_t offset) {
    enum { HOLE = 4096 };
    for (size_t i = 0, end; i < count; i = end) {
        const bool hole = count - i >= HOLE && is_zero(bytes + i, HOLE);
        for (end = i; end < count; end += HOLE)
            if ((count - end >= HOLE && is_zero(bytes + end, HOLE)) != hole)
                break;
        end = end < count ? end : count;
        struct iovec part = {(void *)(bytes + i), end - i};
        if (!hole && !write_buffers(fd, &part, 1, offset + i))
            return false;
    }
    return true;
}

/* A length that the system does not permit is the set's fault. */
static int write_failed(const decoding *d) {
    d->set->refused = errno == EFBIG ? SIZE_REFUSED : NOT_REFUSED;
    return fail_for(errno, "write", d->output);
}

static int write_batch(const batch *b, void *context) {
    decoding *d = context;
    const shard_header *h = &d->set->header;
    d->begun = true;
    if (d->to_stdout ? write_all(d->fd, b->memory, b->bytes)
                     : write_data(d->fd, b->memory, b->bytes, b->first * h->k * h->block_bytes))
        return 0;
    return write_failed(d);
}

static bool may_be_partial(const decoding *d) {
    return d->options->partial && !d->options->whole;
}

/* The shards do not make the file: finds out whether they disagree or, with --partial, which bytes
 * can be restored, and writes those. */
static int restore_without_hash(decoding *d, coder *c, restore_options *options,
                                restore_result *result) {
    const bool part = may_be_partial(d) && result->lost_stripes + result->guessed_stripes != 0;
    if (result->lost_stripes != 0 && !part)
        return 0;
    restore_result_free(result);
    options->thorough = !part;
    options->partial = options->keep_going = part;
    if (part && ftruncate(d->fd, 0) != 0)
        return write_failed(d);
    return restore_run(d->set, c, options, part ? write_batch : NULL, d, result);
}

/* Writes the file. If the hash is wrong although all checksums are right, a pass over all shards
 * finds out whether the shards disagree. */
static int restore_file(decoding *d, coder *c) {
    restore_options options = {.memory = d->options->coder.memory, .what = path_name(d->set->base)};
    restore_result *result = &d->result;
    int code = restore_run(d->set, c, &options, write_batch, d, result);
    if (code == 0 && !result->hash_matches)
        code = restore_without_hash(d, c, &options, result);
    const bool part = options.partial && result->missing_count != 0 &&
                      result->missing->bytes != d->set->header.file_bytes;
    if (code == 0 && !result->hash_matches && !part)
        code = fail(TOOL_UNRECOVERABLE, "%s%s", result->reason,
                    d->to_stdout && d->begun ? ": do not use the output" : "");
    if (code == 0 && result->damaged_stripes != 0 && !part)
        warn("%llu stripe%s damaged and could be restored; gfk repair restores the shards",
             (unsigned long long)result->damaged_stripes,
             result->damaged_stripes == 1 ? " was" : "s were");
    if (code == 0 && !d->to_stdout && ftruncate(d->fd, (off_t)d->set->header.file_bytes) != 0)
        code = write_failed(d);
    return code;
}

/* ---- the output ----------------------------------------------------------------------------- */

/* Refuses a stored name that the tool gives to files of its own: the next run would remove the file,
 * or take it for a shard of the set. */
static int check_name(const decoding *d, const char *path) {
    const char *name = path_name(path), *of = path_name(d->set->base);
    size_t length = 0;
    uint32_t index = 0;
    const bool temp = temp_name_length(name) != 0;
    if (temp || (shard_name_parse(name, strlen(name), &length, &index) && strlen(of) == length &&
                 memcmp(of, name, length) == 0))
        return fail(TOOL_IO, "%s has the name of a %s%s; --output FILE gives another name", path,
                    temp ? "temporary file of gfk" : "shard of ", temp ? "" : of);
    return 0;
}

/* Finds out whether an open file, whose headers were read, is a shard of the set. */
static int is_of_set(const decoding *d, shard_source *file, bool *is_shard) {
    candidates list;
    int code = 0;
    if (file->identified) {
        *is_shard = memcmp(file->header.set_id, d->set->header.set_id, SET_ID_BYTES) == 0;
    } else if (shard_source_open(file) == 0) {
        code = candidates_open(&list, 1);
        if (code == 0)
            candidates_add(&list, &d->set->header, NULL);
        *is_shard = code == 0 && candidates_find(&list, file) != NULL;
        candidates_close(&list);
    }
    return code;
}

/* Finds out whether the file in the place of the output is a shard: one that was found, or one of the
 * set that the arguments do not name. */
static int find_shard(const decoding *d, const file_place *place, bool *is_shard) {
    struct stat status;
    shard_source file;
    const char *const name = path_name(place->path);
    shard_source *known = NULL;
    int code = inventory_find(d->set->all, place->in, name, &known);
    *is_shard = known != NULL && (known->identified || known->set == d->set);
    if (code != 0 || known != NULL)
        return code;
    if (fstatat(folder_fd(place->in), name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : fail_for(errno, "look at", place->path);
    code = shard_source_read(&file, place->in, name, &status);
    if (code == 0)
        code = is_of_set(d, &file, is_shard);
    shard_source_close(&file);
    free(file.path);
    return code;
}

static int check_free(const file_place *place, void *context) {
    decoding *d = context;
    const char *name = path_name(place->path);
    struct stat status;
    size_t length = 0;
    uint32_t index = 0;
    const int error = place_look(place, &status);
    if (error == ENOENT)
        return 0;
    if (error != 0 && error != ELOOP)
        return fail_for(error, "look at", place->path);
    if (error == 0 && S_ISDIR(status.st_mode))
        return fail(TOOL_IO, "%s is a folder", place->path);
    if (error == 0 && !S_ISREG(status.st_mode)) /* renaming would replace a device */
        return fail(TOOL_IO, "%s is not a regular file", place->path);
    bool is_shard = false;
    const int code = find_shard(d, place, &is_shard);
    if (code != 0)
        return code;
    if (is_shard)
        return fail(TOOL_EXISTS, "%s is a shard; --output FILE gives another name", place->path);
    if (d->options->output == NULL && shard_name_parse(name, strlen(name), &length, &index))
        return fail(TOOL_EXISTS, "%s exists and has the name of a shard; --output FILE replaces it",
                    place->path);
    if (d->options->force)
        return 0;
    d->set->refused = NAME_IN_USE;
    return fail(TOOL_EXISTS, "%s exists; --force replaces it", place->path);
}

/* Gives the output the time of the last change of the original file. */
static void set_time(const decoding *d) {
    const shard_header *h = &d->set->header;
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT},
                                     {(time_t)(int64_t)h->seconds, (long)h->nanoseconds}};
    if (shard_header_has_time(h) && futimens(d->fd, times) != 0)
        warn("cannot set the time of %s: %s", d->output, strerror(errno));
}

static int decode_to_file(decoding *d, coder *c, const file_place *place) {
    temp_file temp = TEMP_FILE_NONE;
    const bool stored = d->options->output == NULL;
    int code = stored ? check_name(d, place->path) : 0;
    if (code == 0)
        code = check_free(place, d);
    if (code == 0)
        code = temp_create(&temp, place);
    if (!stored || code == TOOL_INTERNAL)
        d->set->refused = NOT_REFUSED;
    else if (code != 0 && d->set->refused != NAME_IN_USE)
        d->set->refused = NAME_REFUSED;
    if (code == 0) {
        d->fd = temp.fd;
        code = restore_file(d, c);
    }
    if (code == 0) {
        set_time(d);
        /* no set-ID bits: the owner of the new file may be another user */
        code = temp_sync(&temp, place, d->set->header.mode & 0777);
    }
    if (code == 0)
        code = temp_place(&temp, place, check_free, d);
    if (code == 0)
        code = inventory_clean_file(d->set->all, place->in, path_name(place->path));
    temp_discard(&temp);
    return code;
}

/* Finds the place of the output: --output, or the original name of the file, in the folder of the
 * base. The caller frees place->path. */
static int find_output(const shard_set *set, const tool_options *o, file_place *place) {
    char *const in = path_folder(set->base);
    *place = (file_place){.in = set->home};
    place->path = o->output != NULL             ? strdup(o->output)
                  : set->header.name[0] == '\0' ? strdup(set->base)
                  : in != NULL                  ? path_join(in, set->header.name)
                                                : NULL;
    free(in);
    int error = place->path == NULL ? ENOMEM : 0;
    if (error == 0 && o->output_in != NULL)
        place->in = o->output_in;
    else if (error == 0 && o->output != NULL)
        error = strcmp(o->output, "-") == 0 ? 0 : folder_of(&place->in, o->output);
    else if (error == 0 && set->home == NULL)
        error = ENOENT;
    return error == 0 ? 0 : fail_for(error, "open the folder of", place->path);
}

/* Lists the bytes that a partial file lacks. Such a file has zeros in their places. */
static int report_missing(const decoding *d) {
    uint64_t bytes = 0;
    json_open_array("missing");
    for (size_t i = 0; i < d->result.missing_count; i++) {
        const byte_range *range = &d->result.missing[i];
        bytes += range->bytes;
        json_open_object();
        json_number("offset", range->offset);
        json_number("bytes", range->bytes);
        json_close_object();
        say("  missing: bytes %llu to %llu", (unsigned long long)range->offset,
            (unsigned long long)(range->offset + range->bytes - 1));
    }
    json_close_array();
    if (bytes == 0)
        return 0;
    fail(TOOL_UNRECOVERABLE, "%s is not complete: %llu of %llu bytes are missing", d->output,
         (unsigned long long)bytes, (unsigned long long)d->set->header.file_bytes);
    return RUN_PART;
}

static int decode(shard_set *set, const tool_options *o, set_outcome *outcome) {
    (void)outcome;
    decoding d = {.set = set, .options = o, .fd = STDOUT_FILENO};
    d.to_stdout = o->output != NULL && strcmp(o->output, "-") == 0;
    file_place place;
    const double start = seconds_now();
    coder *c = NULL;
    int code = find_output(set, o, &place);
    const char *const path = place.path;
    d.output = d.to_stdout ? "standard output" : path;
    if (code == 0)
        code = restore_open_coder(&c, set, &o->coder, may_be_partial(&d));
    if (code == 0)
        code = d.to_stdout ? restore_file(&d, c) : decode_to_file(&d, c, &place);
    if (code == 0) {
        const double seconds = seconds_now() - start;
        json_string("output", path);
        json_number("bytes", set->header.file_bytes);
        json_number("damaged_stripes", d.result.damaged_stripes);
        json_seconds("seconds", seconds);
        json_string("engine", coder_engine(c));
        if (!d.to_stdout)
            say("%s: %llu byte%s, %.1f MB/s", path, (unsigned long long)set->header.file_bytes,
                plural(set->header.file_bytes), (double)set->header.file_bytes / seconds / 1e6);
        if (o->partial)
            code = report_missing(&d);
    } else if (d.to_stdout && d.begun) { /* no other file can follow */
        set->refused = NOT_REFUSED;
        code = code == TOOL_UNRECOVERABLE ? RUN_PART : code;
    }
    restore_result_free(&d.result);
    coder_close(c);
    free(place.path);
    return code;
}

int command_decode(int argc, char **argv) {
    return run_on_sets(COMMAND_DECODE, "decode", &help, decode, argc, argv);
}
