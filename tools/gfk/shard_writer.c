/* SPDX-License-Identifier: BSD-3-Clause */
#include "shard_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "headerless.h"
#include "report.h"

int shard_writer_open(shard_writer *writer, size_t count) {
    *writer = (shard_writer){.indices = calloc(count, sizeof *writer->indices),
                             .temps = calloc(count, sizeof *writer->temps),
                             .places = calloc(count, sizeof *writer->places),
                             .offset = HEADER_BYTES};
    if (writer->indices != NULL && writer->temps != NULL && writer->places != NULL)
        return 0;
    shard_writer_close(writer);
    return no_memory();
}

int shard_writer_add(shard_writer *writer, size_t index, folder *in, char *path) {
    if (path == NULL)
        return no_memory();
    const size_t i = writer->count++;
    writer->indices[i] = index;
    writer->places[i] = (file_place){in, path};
    writer->temps[i] = (temp_file)TEMP_FILE_NONE;
    return temp_create(&writer->temps[i], &writer->places[i]);
}

static int failed(const char *path) {
    return fail_for(errno, "write", path);
}

int shard_writer_write(shard_writer *writer, const batch *b) {
    const size_t stripes = batch_stripes(b);
    struct iovec buffers[2 * MOST_STRIPES];
    for (size_t i = 0; i < writer->count; i++) {
        batch_buffers(b, writer->indices[i], 0, stripes, buffers);
        if (!write_buffers(writer->temps[i].fd, buffers, 2 * stripes, writer->offset))
            return failed(writer->places[i].path);
    }
    for (size_t s = 0; s < stripes; s++)
        writer->offset += BLOCK_HEADER_BYTES + b->stripes[s].bytes;
    return 0;
}

static bool write_header(int fd, const uint8_t bytes[HEADER_BYTES], uint64_t offset) {
    struct iovec buffer = {(void *)bytes, HEADER_BYTES};
    return write_buffers(fd, &buffer, 1, offset);
}

int shard_writer_finish(shard_writer *writer, const shard_header *header) {
    shard_header mine = *header;
    for (size_t i = 0; i < writer->count; i++) {
        uint8_t bytes[HEADER_BYTES];
        mine.index = (uint32_t)writer->indices[i];
        shard_header_write(&mine, bytes);
        const int fd = writer->temps[i].fd;
        if (!write_header(fd, bytes, writer->offset) || !write_header(fd, bytes, 0))
            return failed(writer->places[i].path);
        /* Users who may not read the file must not be able to read a shard. */
        const int code = temp_sync(&writer->temps[i], &writer->places[i], header->mode & 0666);
        if (code != 0)
            return code;
    }
    return 0;
}

void shard_writer_close(shard_writer *writer) {
    for (size_t i = 0; i < writer->count; i++) {
        temp_discard(&writer->temps[i]);
        free(writer->places[i].path);
    }
    free(writer->indices);
    free(writer->temps);
    free(writer->places);
    *writer = (shard_writer){0};
}

/* ---- the place of the shards ---------------------------------------------------------------- */

static bool same_content(const shard_header *a, const shard_header *b, bool hash_too) {
    return a->w == b->w && a->matrix == b->matrix && a->polynomial == b->polynomial &&
           a->k == b->k && a->m == b->m && a->block_bytes == b->block_bytes &&
           a->file_bytes == b->file_bytes &&
           (!hash_too || (a->hash_low == b->hash_low && a->hash_high == b->hash_high));
}

static int by_identity(const void *a, const void *b) {
    const file_identity *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

void input_files_sort(input_files *inputs) {
    qsort(inputs->all, inputs->count, sizeof *inputs->all, by_identity);
}

bool input_files_have(const input_files *inputs, file_identity id) {
    return by_identity(&id, &inputs->present) == 0 ||
           bsearch(&id, inputs->all, inputs->count, sizeof id, by_identity) != NULL;
}

/* True if the file, or the file to which it leads as a link, is an input. */
static bool is_input(const input_files *inputs, const shard_source *s) {
    struct stat status;
    if (input_files_have(inputs, (file_identity){s->device, s->inode}))
        return true;
    const int in = s->unreadable ? folder_fd(s->in) : -1;
    return in >= 0 && fstatat(in, path_name(s->path), &status, 0) == 0 &&
           input_files_have(inputs, (file_identity){status.st_dev, status.st_ino});
}

/* True if a file has the name of a shard of the set of another file: in the same folder, or with the
 * length of such a shard. */
static bool has_name_of_set(const shard_source *s, const shard_source *known) {
    const char *base = NULL, *other = NULL;
    size_t length = 0, other_length = 0;
    uint32_t index = 0;
    return s->path != NULL && shard_source_has_geometry(known) &&
           shard_entry_parse(path_name(s->path), &base, &length, &index) &&
           shard_entry_parse(path_name(known->path), &other, &other_length, &(uint32_t){0}) &&
           length == other_length && memcmp(base, other, length) == 0 &&
           index < (size_t)known->header.k + known->header.m &&
           (s->in == known->in || s->bytes == shard_bytes(&known->header));
}

/* A file of the item that is a shard of the same set as the input, whose headers are damaged. */
static int find_set_of_input(const shard_item *there, shard_source *input,
                             const shard_source **found) {
    candidates list;
    size_t count = 0;
    for (const shard_source *s = there->files; s != NULL; s = s->next_of_item)
        count += shard_source_has_geometry(s);
    const int code = candidates_open(&list, count);
    for (const shard_source *s = there->files; s != NULL && code == 0; s = s->next_of_item)
        if (shard_source_has_geometry(s))
            candidates_add(&list, &s->header, NULL);
    if (code == 0)
        candidates_sort(&list);
    const off_t at = lseek(input->fd, 0, SEEK_CUR); /* the look at holes moves it */
    const candidate *const set = code == 0 ? candidates_find(&list, input) : NULL;
    lseek(input->fd, at, SEEK_SET);
    for (const shard_source *s = there->files; s != NULL && *found == NULL; s = s->next_of_item)
        if ((set != NULL && &s->header == set->header) || has_name_of_set(input, s))
            *found = s;
    candidates_close(&list);
    return code;
}

/* A file of the item that is a shard of the same set as the input, whose set is known. */
static int find_in_set_of_input(const shard_item *there, const shard_source *input,
                                const shard_source **found) {
    candidates list;
    int code = candidates_open(&list, 1);
    if (code == 0 && shard_source_has_geometry(input))
        candidates_add(&list, &input->header, NULL);
    for (shard_source *s = there->files; s != NULL && code == 0 && *found == NULL;
         s = s->next_of_item) {
        shard_source copy = *s; /* what is known of the file stays as it was found */
        bool same = false;
        copy.fd = -1;
        if (s->identified)
            same = memcmp(input->header.set_id, s->header.set_id, SET_ID_BYTES) == 0;
        else if (!s->unreadable && list.count != 0 && shard_source_open(&copy) == 0)
            same = candidates_find(&list, &copy) != NULL || has_name_of_set(s, input);
        shard_source_close(&copy);
        if (same)
            *found = s;
    }
    candidates_close(&list);
    return code;
}

/* Fails if a shard of the same set as the input is in the place of a new shard. */
static int check_set_of_input(const shard_item *there, shard_source *input) {
    const shard_source *found = NULL;
    const int code = input->identified ? find_in_set_of_input(there, input, &found)
                                       : find_set_of_input(there, input, &found);
    return code != 0 || found == NULL
               ? code
               : fail(TOOL_EXISTS,
                      "%s is a shard of the same set as the file to encode: no shard replaces it",
                      found->path);
}

int check_replaceable(const shard_item *there, const input_files *inputs,
                      const shard_header *header, bool complete, bool force) {
    for (const shard_source *s = there->files; s != NULL; s = s->next_of_item)
        if (is_input(inputs, s))
            return fail(TOOL_EXISTS, "%s is a file to encode: no shard replaces it", s->path);
    const int code = inputs->shard == NULL ? 0 : check_set_of_input(there, inputs->shard);
    for (const shard_source *s = there->files; s != NULL && code == 0 && !force;
         s = s->next_of_item)
        if (!s->temp && !s->unreadable &&
            !(shard_source_has_geometry(s) && same_content(&s->header, header, complete)))
            return fail(TOOL_EXISTS, "%s exists and has other contents; --force replaces it",
                        s->path);
    return code;
}

/* Removes the shards of the replaced set whose places the new set does not use: more shards than
 * the new set has, or the same shards in another of the folders. */
static void remove_rest(const shard_item *there, const shard_bases *bases, size_t count) {
    for (const shard_source *s = there->files; s != NULL; s = s->next_of_item) {
        if (s->temp || !s->named ||
            (s->name_index < count && bases->all[s->name_index % bases->count].in == s->in))
            continue;
        if (!s->identified && s->error != 0)
            warn("%s stays: it cannot be read (%s)", s->path, shard_error_text(s->error));
        if (s->identified && unlinkat(folder_fd(s->in), path_name(s->path), 0) != 0 &&
            errno != ENOENT)
            warn("%s stays: it cannot be removed (%s)", s->path, strerror(errno));
    }
}

int fail_for_irregular(const file_place *place, const struct stat *status) {
    return fail(TOOL_IO,
                S_ISDIR(status->st_mode) ? "%s is a folder: the shard cannot be written there"
                                         : "%s is not a regular file",
                place->path);
}

/* Finds every foreseeable obstacle before the first rename. Without --force, a file that could not
 * be read is not replaced. */
static int check_places(const shard_writer *writer, const inventory *now, bool force) {
    struct stat status;
    for (size_t i = 0; i < writer->count; i++) {
        const file_place *const place = &writer->places[i];
        const int error = place_look(place, &status);
        if (error == ENOENT)
            continue;
        if (error == 0 && !S_ISREG(status.st_mode))
            return fail_for_irregular(place, &status);
        shard_source *s = NULL;
        const int code = error == ENOMEM ? no_memory()
                         : error == 0 ? inventory_find(now, place->in, path_name(place->path), &s)
                                      : 0;
        if (code != 0)
            return code;
        if (!force && (s == NULL || s->unreadable))
            return fail(TOOL_EXISTS, "%s exists and cannot be read; --force replaces it",
                        place->path);
    }
    return 0;
}

/* Looks again at the names of the shards, after the folders were locked. The headers of shards that
 * another run wrote meanwhile say how many shards there are. */
static int look_again(inventory *now, const shard_item *seen, size_t count, shard_item **there) {
    enum { MOST_NAMES = 1 << 16 };
    const shard_bases *const bases = &seen->bases;
    shard_source *found = NULL;
    int code = inventory_add_item(now, strdup(seen->name), there);
    for (size_t i = 0; i < count && code == 0; i++)
        for (size_t j = 0; j < bases->count && code == 0; j++) {
            const shard_base *const base = &bases->all[j];
            char *const path = shard_path(path_name(base->path), (uint32_t)i);
            code = path == NULL ? no_memory() : inventory_read(now, base->in, path, *there, &found);
            free(path);
            const size_t all = found != NULL && shard_source_has_geometry(found)
                                   ? (size_t)found->header.k + found->header.m
                                   : 0;
            if (all > count && all * bases->count <= MOST_NAMES)
                count = all;
        }
    for (const shard_source *s = seen->files; s != NULL && code == 0; s = s->next_of_item)
        code = inventory_read(now, s->in, path_name(s->path), *there, &found);
    return code == 0 ? now->code : code;
}

static int replace(shard_writer *writer, const shard_item *seen, const input_files *inputs,
                   const folder_locks *locks, const shard_header *header, bool force) {
    inventory now = {0};
    shard_item *there = NULL;
    int code = look_again(&now, seen, writer->count, &there);
    if (code == 0)
        code = check_places(writer, &now, force);
    if (code == 0)
        code = check_replaceable(there, inputs, header, true, force);
    if (code == 0)
        code = temp_commit(writer->temps, writer->count, writer->places, locks);
    if (code == 0)
        remove_rest(there, &seen->bases, writer->count);
    inventory_free(&now);
    return code;
}

int replace_set(shard_writer *writer, const shard_item *seen, const input_files *inputs,
                const shard_header *header, bool force) {
    const shard_bases *const bases = &seen->bases;
    folder_locks locks = {0};
    folder **const in = calloc(bases->count + 1, sizeof *in);
    if (in == NULL)
        return no_memory();
    for (size_t i = 0; i < bases->count; i++)
        in[i] = bases->all[i].in;
    int code = folders_lock(&locks, in, bases->count, true);
    if (code == 0)
        code = replace(writer, seen, inputs, &locks, header, force);
    folders_unlock(&locks);
    free(in);
    return code;
}
