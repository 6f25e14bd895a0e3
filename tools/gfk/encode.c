/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk encode: makes k + m shards of a file or of standard input. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "batch.h"
#include "files.h"
#include "find.h"
#include "options.h"
#include "report.h"
#include "shard_set.h"
#include "shard_writer.h"

static const command_help help = {
    "encode [-k K] [-m M] [OPTION...] FILE...",
    "Writes K + M shards of each FILE, named FILE.gfk.000, FILE.gfk.001, ...; any K of them "
    "restore\n"
    "the file. FILE - is standard input, and then --output is needed. With --to, shard i goes to\n"
    "folder i of the list; after the last folder the first one is next."};

typedef struct encoding {
    const tool_options *options;
    coder *coder;
    const char *name;    /* name of the input in messages */
    int fd;              /* descriptor of the input */
    struct stat before;  /* status of the input before the first read */
    bool regular, ended; /* the input is a regular file; the input has ended */
    shard_header header;
    inventory *all;        /* the folders of the shards, as they were at the beginning */
    shard_item *there;     /* the bases of the shards, and the files with the names of shards */
    input_files inputs;    /* the files to encode */
    shard_source as_shard; /* the input may be a shard itself */
    XXH3_state_t *hash;
    shard_writer writer;
    uint64_t stripe, bytes; /* stripes and bytes read so far */
} encoding;

/* ---- the steps ------------------------------------------------------------------------------ */

static int read_step(batch *b, void *context) {
    encoding *e = context;
    if (e->ended)
        return BATCH_END;
    const ssize_t got = read_all(e->fd, b->memory, batch_capacity_bytes(b));
    if (got < 0)
        return fail_for(errno, "read", e->name);
    e->ended = (size_t)got < batch_capacity_bytes(b);
    if (got == 0)
        return BATCH_END;
    batch_assign(b, e->stripe, (size_t)got);
    XXH3_128bits_update(e->hash, b->memory, b->bytes);
    e->stripe += batch_stripes(b);
    e->bytes += b->bytes;
    return e->bytes > MAX_FILE_BYTES ? fail(TOOL_IO, "%s is too long", e->name) : 0;
}

static int code_step(batch *b, void *context) {
    encoding *e = context;
    batch_pad(b);
    const size_t stripes = batch_stripes(b);
    const int code = coder_encode(e->coder, b->stripes, stripes);
    for (size_t s = 0; s < stripes && code == 0; s++)
        for (size_t i = 0; i < b->n; i++)
            batch_seal(b, s, i, e->header.set_id);
    return code;
}

static int write_step(batch *b, void *context) {
    encoding *e = context;
    const int code = shard_writer_write(&e->writer, b);
    progress_add(b->bytes);
    return code;
}

/* ---- one file ------------------------------------------------------------------------------- */

/* Fails if the file changed during the read: the shards would mix two states of the file. */
static int check_unchanged(const encoding *e) {
    struct stat after;
    if (!e->regular)
        return 0;
    if (fstat(e->fd, &after) != 0)
        return fail_for(errno, "read", e->name);
    if ((uint64_t)after.st_size != e->bytes || after.st_size != e->before.st_size ||
        after.st_mtim.tv_sec != e->before.st_mtim.tv_sec ||
        after.st_mtim.tv_nsec != e->before.st_mtim.tv_nsec)
        return fail(TOOL_IO, "%s changed while it was read", e->name);
    return 0;
}

static int encode_stream(encoding *e) {
    int code =
        batch_run(e->coder, &e->header, e->regular ? (uint64_t)e->before.st_size : UINT64_MAX,
                  e->options->coder.memory, e->name,
                  (batch_step *const[]){read_step, code_step, write_step}, e);
    if (code == 0)
        code = check_unchanged(e);
    const XXH128_hash_t hash = XXH3_128bits_digest(e->hash);
    e->header.hash_low = hash.low64;
    e->header.hash_high = hash.high64;
    e->header.file_bytes = e->bytes;
    return code;
}

static int write_shards(encoding *e) {
    const shard_bases *const bases = &e->there->bases;
    const size_t count = (size_t)e->header.k + e->header.m;
    allow_open_files(2 * count);
    int code = shard_writer_open(&e->writer, count);
    for (size_t i = 0; i < count && code == 0; i++) {
        const shard_base *const base = &bases->all[i % bases->count];
        code = shard_writer_add(&e->writer, i, base->in, shard_path(base->path, (uint32_t)i));
    }
    if (code == 0)
        code = encode_stream(e);
    if (code == 0)
        code = shard_writer_finish(&e->writer, &e->header);
    if (code == 0)
        code = replace_set(&e->writer, e->there, &e->inputs, &e->header, e->options->force);
    shard_writer_close(&e->writer);
    for (size_t i = 0; i < bases->count && code == 0; i++)
        code = inventory_clean_shards(e->all, &bases->all[i], NULL);
    return code;
}

/* 1 MiB, halved while a stripe of k + m blocks exceeds 32 MiB, but at least 4 KiB. */
static uint64_t default_block_bytes(uint32_t k, uint32_t m) {
    uint64_t bytes = UINT64_C(1) << 20;
    while (bytes > 4096 && bytes * ((uint64_t)k + m) > UINT64_C(32) << 20)
        bytes /= 2;
    return bytes;
}

static int begin(encoding *e, const gfk_field *field, folder *home) {
    const tool_options *o = e->options;
    if (fstat(e->fd, &e->before) != 0)
        return fail_for(errno, "read", e->name);
    if (S_ISDIR(e->before.st_mode))
        return fail(TOOL_IO, "%s is a folder", e->name);
    e->inputs.present = (file_identity){e->before.st_dev, e->before.st_ino};
    e->regular = S_ISREG(e->before.st_mode) && e->fd != STDIN_FILENO;
    if (S_ISREG(e->before.st_mode)) {
        size_t length = 0;
        e->as_shard = (shard_source){.fd = e->fd,
                                     .in = home,
                                     .path = e->regular ? (char *)e->name : NULL,
                                     .bytes = (uint64_t)e->before.st_size};
        e->as_shard.named =
            e->regular && shard_name_parse(path_name(e->name), strlen(path_name(e->name)), &length,
                                           &e->as_shard.name_index);
        shard_source_identify(&e->as_shard);
        if (!e->as_shard.identified)
            e->as_shard.header.index = e->as_shard.name_index;
        e->inputs.shard = &e->as_shard;
    }
    const mode_t mask = umask(0);
    umask(mask);
    e->header = (shard_header){.version = FORMAT_VERSION,
                               .w = field->w,
                               .matrix = (uint32_t)o->matrix,
                               .polynomial = field->polynomial,
                               .k = o->k,
                               .m = o->m,
                               .mode = e->regular ? e->before.st_mode & 07777 : 0666 & ~mask,
                               .block_bytes = o->block_bytes != 0 ? o->block_bytes
                                                                  : default_block_bytes(o->k, o->m),
                               .file_bytes = e->regular ? (uint64_t)e->before.st_size : 0,
                               .nanoseconds = NO_TIME};
    if (e->regular) {
        e->header.seconds = (uint64_t)e->before.st_mtim.tv_sec;
        e->header.nanoseconds = (uint32_t)e->before.st_mtim.tv_nsec;
    }
    const char *const name = e->regular ? path_name(e->name) : "";
    if (strlen(name) <= MAX_NAME_BYTES)
        strcpy(e->header.name, name);
    if (getrandom(e->header.set_id, SET_ID_BYTES, 0) != SET_ID_BYTES)
        return fail(TOOL_INTERNAL, "no random numbers: %s", strerror(errno));
    posix_fadvise(e->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    e->hash = XXH3_createState();
    if (e->hash == NULL)
        return no_memory();
    XXH3_128bits_reset(e->hash);
    /* The early check avoids a refusal after a long run. Of a stream, nothing is known yet. */
    return check_replaceable(e->there, &e->inputs, &e->header, false, o->force || !e->regular);
}

/* Warns if the loss of one folder could lose the file. */
static void warn_of_full_folders(const tool_options *o, const char *base) {
    const size_t n = (size_t)o->k + o->m, folders = o->to.count;
    const size_t most = folders == 0 ? 0 : (n + folders - 1) / folders;
    if (most > o->m)
        warn("%s gets %zu of the %zu shards of %s, but only %u may be lost; for this code --to "
             "needs %zu folders",
             o->to.paths[0], most, n, base, o->m, (n + o->m - 1) / o->m);
}

/* Finds the files with the names of the shards. Each folder is listed once for all files to
 * encode. */
static int look(encoding *e, folder *const *to, folder *home, const char *base) {
    const tool_options *o = e->options;
    folder *own = o->output != NULL ? o->output_in : home;
    int code = inventory_add_item(e->all, strdup(base), &e->there);
    if (code != 0)
        return code;
    const int error = o->to.count == 0 && own == NULL ? folder_of(&own, base) : 0;
    if (error != 0)
        return fail_for(error, "open the folder of", base);
    for (size_t i = 0; i < (o->to.count == 0 ? 1 : o->to.count) && code == 0; i++) {
        folder *const in = o->to.count == 0 ? own : to[i];
        char *const path =
            o->to.count == 0 ? strdup(base) : path_join(folder_path(in), path_name(base));
        code = shard_bases_add(&e->there->bases, in, path);
        if (code == 0)
            code = inventory_take_base(e->all, in, path_name(base), e->there);
    }
    for (shard_source *s = e->there->files; s != NULL; s = s->next_of_item)
        shard_source_close(s);
    return code == 0 && e->there->failed ? TOOL_IO : code;
}

/* Opens the file to encode. A pipe without a writer is waited for, with a line. */
static int open_input(encoding *e, const char *path, folder *home) {
    if (strcmp(path, "-") == 0) {
        e->name = "standard input";
        return 0;
    }
    const int error = home == NULL ? folder_of(&home, path) : 0;
    errno = error;
    e->fd = error != 0 ? -1 : folder_open_file(home, path_name(path), O_RDONLY | O_NONBLOCK, 0);
    if (e->fd < 0 || fstat(e->fd, &e->before) != 0)
        return fail_for(errno, "open", path);
    if (temp_name_length(path_name(path)) != 0)
        return fail(TOOL_USAGE, "%s has the name of a temporary file of gfk; rename the file",
                    path);
    struct pollfd writer = {.fd = e->fd, .events = POLLIN};
    if (S_ISFIFO(e->before.st_mode) && poll(&writer, 1, 1000) == 0) {
        warn("nobody writes to the pipe %s; gfk waits", path);
        while (poll(&writer, 1, -1) < 0 && errno == EINTR)
            continue;
    }
    fcntl(e->fd, F_SETFL, fcntl(e->fd, F_GETFL) & ~O_NONBLOCK);
    return 0;
}

static int encode_file(const encoding *common, folder *const *to, const gfk_field *field,
                       folder *home, const char *path) {
    encoding e = *common;
    const tool_options *o = e.options;
    const char *base = o->output != NULL ? o->output : path;
    const double start = seconds_now();
    e.name = path;
    json_begin("encode");
    json_string("file", path);
    int code = open_input(&e, path, home);
    if (code == 0)
        warn_of_full_folders(o, base);
    if (code == 0)
        code = look(&e, to, home, base);
    if (code == 0)
        code = begin(&e, field, home);
    if (code == 0)
        code = write_shards(&e);
    if (code == 0) {
        const double seconds = seconds_now() - start;
        json_string("shards", base);
        json_number("k", o->k);
        json_number("m", o->m);
        json_number("bytes", e.bytes);
        json_seconds("seconds", seconds);
        json_string("engine", coder_engine(e.coder));
        say("%s: %u + %u shards of %llu bytes, %.1f MB/s", base, o->k, o->m,
            (unsigned long long)shard_bytes(&e.header), (double)e.bytes / seconds / 1e6);
    }
    code = json_end(code);
    XXH3_freeState(e.hash);
    if (e.fd > STDIN_FILENO)
        close(e.fd);
    return code;
}

/* Opens the folders of all files to encode, and lists the identities of the files. Files that are
 * not there fail later. Standard input, a pipe or a device gives the shards no name. */
static int find_inputs(input_files *inputs, folder **homes, const tool_options *o) {
    struct stat status;
    for (size_t i = 0; i < o->count; i++) {
        const char *const path = o->arguments[i];
        const bool is_stdin = strcmp(path, "-") == 0;
        const int error = is_stdin ? 0 : folder_of(&homes[i], path);
        if (error == ENOMEM)
            return no_memory();
        const int in = is_stdin || error != 0 ? -1 : folder_fd(homes[i]);
        errno = error;
        const bool found = is_stdin ? fstat(STDIN_FILENO, &status) == 0
                                    : in >= 0 && fstatat(in, path_name(path), &status, 0) == 0;
        if (!found && errno == ENOMEM)
            return no_memory();
        if (found)
            inputs->all[inputs->count++] = (file_identity){status.st_dev, status.st_ino};
        if (o->output == NULL &&
            (is_stdin || (found && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))))
            return fail(TOOL_USAGE,
                        "%s needs --output: it is no regular file, so it gives the shards no name",
                        is_stdin ? "standard input" : path);
    }
    input_files_sort(inputs);
    return 0;
}

/* The folders are opened before the tool looks at anything in them. */
static int encode_files(tool_options *o, const gfk_field *field) {
    inventory all = {0};
    folder **to = NULL, **const homes = calloc(o->count, sizeof(folder *));
    coder *c = NULL;
    encoding common = {.options = o, .all = &all, .fd = STDIN_FILENO};
    common.inputs.all = calloc(o->count, sizeof *common.inputs.all);
    int code = homes == NULL || common.inputs.all == NULL ? no_memory() : open_folders(&to, &o->to);
    if (code == 0 && o->output != NULL && o->to.count == 0 &&
        folder_of(&o->output_in, o->output) == ENOMEM)
        code = no_memory();
    if (code == 0)
        code = find_inputs(&common.inputs, homes, o);
    if (code == 0)
        code = coder_check_memory(o->k, o->m, o->coder.memory);
    if (code == 0)
        code = coder_open(&c, &o->coder, field, o->matrix, o->k, o->m);
    common.coder = c;
    all.inputs = &common.inputs;
    for (size_t i = 0; i < o->count && c != NULL; i++) {
        const int one = encode_file(&common, to, field, homes[i], o->arguments[i]);
        code = worse(code, one); /* encode the remaining files */
    }
    coder_close(c);
    inventory_free(&all);
    free(common.inputs.all);
    free(homes);
    free(to);
    return code;
}

int command_encode(int argc, char **argv) {
    tool_options o;
    int code = options_parse(&o, COMMAND_ENCODE, &help, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    if (o.count == 0)
        return fail(TOOL_USAGE, "no file; usage: gfk %s", help.usage);
    if (o.output != NULL && o.count > 1)
        return fail(TOOL_USAGE, "--output is for one file");
    if (o.k + o.m > MAX_SHARDS)
        return fail(TOOL_USAGE, "there can be at most %d shards", MAX_SHARDS);
    gfk_field field;
    if (o.polynomial != 0 && o.polynomial >> o.w == 0)
        return fail(
            TOOL_USAGE,
            "the polynomial 0x%llx lacks its leading term x^%u; with this term it is 0x%llx",
            (unsigned long long)o.polynomial, o.w,
            (unsigned long long)(o.polynomial | UINT64_C(1) << o.w));
    if (o.polynomial >> o.w > 1)
        return fail(TOOL_USAGE,
                    "the polynomial 0x%llx has a term above x^%u, so it does not fit w = %u",
                    (unsigned long long)o.polynomial, o.w, o.w);
    const gfk_status status = gfk_field_init(&field, o.w, o.polynomial);
    if (status != GFK_STATUS_SUCCESS)
        return fail(TOOL_USAGE, "no field with w = %u and the polynomial 0x%llx: %s", o.w,
                    (unsigned long long)o.polynomial, status_text(status));
    if (o.to.count != 0 && o.output != NULL && strchr(o.output, '/') != NULL)
        return fail(TOOL_USAGE, "with --to, --output is a name without a folder");
    signals_begin();
    return encode_files(&o, &field);
}
