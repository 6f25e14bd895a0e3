/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk par2 repair. Nothing that is there changes until all files are restored: under temporary names,
 * with the slices that were found and the ones that are computed, and checked. Then a damaged file
 * gets a second name, NAME.1, and the restored one takes its place. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../gfk/files.h"
#include "../gfk/report.h"
#include "place.h"
#include "reader.h"
#include "verify.h"

enum {
    COPY_BYTES = 16 << 20, /* of one task, at most */
    PIECE_BYTES = 1 << 20, /* that are copied at once */
    MOST_BACKUPS = 10000   /* numbers behind a name that are tried */
};

/* A file that repair restores. */
typedef struct restored {
    size_t file;  /* the number in the set */
    bool renames; /* the source gets the name, nothing is written */
    bool good;    /* written and checked */
    bool owned;   /* mode, user and group are those of the damaged file */
    mode_t mode;
    uid_t user;
    gid_t group;
    char *backup; /* the second name of the damaged file; NULL: none */
} restored;

/* Bytes that were found, and where they belong. */
typedef struct copy {
    size_t to; /* the number of the restored file */
    uint32_t source;
    uint64_t from, at, bytes;
} copy;

typedef struct repair {
    verification *v;
    const par2_options *options;
    unsigned threads;
    restored *files; /* those that are written, then those that are renamed */
    size_t count, written;
    temp_file *temps;    /* `written` of them */
    file_place *places;  /* `count` of them */
    size_t *restored_of; /* by the numbers of the set's files: the number in `files` */
    copy *copies;
    size_t copy_count;

    /* the missing slices */
    size_t *missing; /* the numbers in the set, in order */
    size_t *file_of; /* the numbers of their files */
    size_t missing_count;
    uint32_t *constants;         /* of all slices */
    uint16_t *points;            /* the constants of the missing ones */
    const set_recovery **chosen; /* recovery slices, one for each missing slice */
    uint32_t *exponents;
    place *p;
    uint64_t offset, width;    /* of the pass */
    size_t columns;            /* of a buffer */
    size_t solved, solved_end; /* rows that the place has solved last */
} repair;

/* ---- files ---------------------------------------------------------------------------------- */

/* Enters the folder of a file of the set, and makes it if it is missing. */
static int make_folder(folder **in, folder *base, const char *names) {
    const char *name = names;
    *in = base;
    for (const char *slash; (slash = strchr(name, '/')) != NULL; name = slash + 1) {
        char *const part = strndup(name, (size_t)(slash - name));
        folder *const above = *in;
        int error = part == NULL ? ENOMEM : folder_enter(in, above, part);
        if (error == ENOENT) {
            const int fd = folder_fd(above);
            error = fd < 0 || (mkdirat(fd, part, 0777) != 0 && errno != EEXIST)
                        ? errno
                        : folder_enter(in, above, part);
        }
        free(part);
        if (error != 0)
            return par2_code(fail_for(error, "enter the folder of", names));
    }
    return 0;
}

/* Finds where a file belongs, and what is there now. */
static int look_at_place(repair *r, size_t i) {
    const par2_set *const set = &r->v->set;
    restored *const f = &r->files[i];
    file_place *const to = &r->places[i];
    const char *const names = set->files[f->file].name;
    struct stat status;
    const int code = make_folder(&to->in, r->v->base, names);
    if (code != 0)
        return code;
    to->path = path_join(folder_path(to->in), path_name(names));
    if (to->path == NULL)
        return par2_no_memory();
    const int fd = folder_fd(to->in);
    if (fd < 0 || fstatat(fd, path_name(names), &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : par2_code(fail_for(errno, "look at", to->path));
    if (S_ISDIR(status.st_mode))
        return fail(PAR2_IO, "%s is a folder: the file of the set cannot be written there",
                    to->path);
    f->owned = S_ISREG(status.st_mode);
    f->mode = status.st_mode & 0777;
    f->user = status.st_uid;
    f->group = status.st_gid;
    return 0;
}

/* A file that the user has not named keeps its name, and is copied. */
static bool can_rename(const repair *r, size_t file) {
    const scan_target *const t = &r->v->found.targets[file];
    folder *in;
    if (t->state != SCAN_RENAMED || !r->v->found.sources[t->source]->named ||
        make_folder(&in, r->v->base, r->v->set.files[file].name) != 0)
        return false;
    return in->device == r->v->found.sources[t->source]->device;
}

static int list_files(repair *r) {
    const par2_set *const set = &r->v->set;
    r->files = calloc(set->file_count + 1, sizeof *r->files);
    r->temps = calloc(set->file_count + 1, sizeof *r->temps);
    r->places = calloc(set->file_count + 1, sizeof *r->places);
    r->restored_of = calloc(set->file_count + 1, sizeof *r->restored_of);
    if (r->files == NULL || r->temps == NULL || r->places == NULL || r->restored_of == NULL)
        return par2_no_memory();
    for (int renames = 0; renames < 2; renames++) {
        for (size_t i = 0; i < set->file_count; i++)
            if (r->v->found.targets[i].state != SCAN_INTACT && set->files[i].name != NULL &&
                can_rename(r, i) == renames) {
                r->restored_of[i] = r->count;
                r->temps[r->count] = (temp_file)TEMP_FILE_NONE;
                r->files[r->count++] = (restored){.file = i, .renames = renames};
            }
        r->written = renames ? r->written : r->count;
    }
    int code = 0;
    for (size_t i = 0; i < r->count && code == 0; i++)
        code = look_at_place(r, i);
    return code;
}

static int by_folder(const void *a, const void *b) {
    const file_place *const x = *(file_place *const *)a, *const y = *(file_place *const *)b;
    return ((uintptr_t)x->in > (uintptr_t)y->in) - ((uintptr_t)x->in < (uintptr_t)y->in);
}

/* Removes what killed runs have left of a file. */
static int remove_remains_of(const file_place *to, const folder_entries *list) {
    const char *const name = path_name(to->path);
    char *const begin = temp_name(name, "");
    if (begin == NULL)
        return par2_no_memory();
    for (size_t i = folder_entries_find(list, begin);
         i < list->count && strncmp(list->entries[i].name, begin, strlen(begin)) == 0; i++)
        if (temp_name_length(list->entries[i].name) == strlen(name))
            temp_remove(to->in, list->entries[i].name);
    free(begin);
    return 0;
}

static int remove_remains(repair *r) {
    const file_place **const sorted = calloc(r->count + 1, sizeof *sorted);
    folder_entries list = {0};
    int code = sorted == NULL ? par2_no_memory() : 0;
    for (size_t i = 0; i < r->count && code == 0; i++)
        sorted[i] = &r->places[i];
    if (code == 0)
        qsort(sorted, r->count, sizeof *sorted, by_folder);
    for (size_t i = 0; i < r->count && code == 0; i++) {
        if (i == 0 || sorted[i]->in != sorted[i - 1]->in) {
            folder_entries_free(&list);
            list = (folder_entries){0};
            if (folder_read(sorted[i]->in, &list) == ENOMEM)
                code = par2_no_memory();
        }
        if (code == 0)
            code = remove_remains_of(sorted[i], &list);
    }
    folder_entries_free(&list);
    free(sorted);
    return code;
}

static int create_files(repair *r) {
    int code = 0;
    if (allow_open_files(2 * r->written + 256) < r->written + 64)
        return fail(PAR2_IO,
                    "the limit on open files, %zu, is too low to restore %zu files "
                    "(ulimit -n)",
                    allow_open_files(0), r->written);
    for (size_t i = 0; i < r->written && code == 0; i++) {
        code = par2_code(temp_create(&r->temps[i], &r->places[i]));
        if (code == 0 &&
            ftruncate(r->temps[i].fd, (off_t)r->v->set.files[r->files[i].file].bytes) != 0)
            code = par2_code(fail_for(errno, "write", r->places[i].path));
    }
    return code;
}

/* ---- slices that were found ----------------------------------------------------------------- */

static int add_copy(repair *r, const copy *c) {
    copy *const last = r->copy_count == 0 ? NULL : &r->copies[r->copy_count - 1];
    if (last != NULL && last->to == c->to && last->source == c->source &&
        last->from + last->bytes == c->from && last->at + last->bytes == c->at &&
        last->bytes + c->bytes <= COPY_BYTES) {
        last->bytes += c->bytes;
        return 0;
    }
    if (!array_grow(&r->copies, r->copy_count, sizeof *r->copies))
        return par2_no_memory();
    r->copies[r->copy_count++] = *c;
    return 0;
}

static int list_copies(repair *r) {
    const par2_set *const set = &r->v->set;
    int code = 0;
    for (size_t i = 0; i < r->written; i++) {
        const set_file *const f = &set->files[r->files[i].file];
        for (size_t k = 0; k < f->slices; k++) {
            const scan_slice *const s = &r->v->found.slices[f->first + k];
            const uint64_t most = s->source == SCAN_NOWHERE ? 0 : scan_slice_bytes(set, f, k);
            const uint64_t bytes = s->bytes < most ? s->bytes : most;
            for (uint64_t done = 0; done < bytes && code == 0; done += COPY_BYTES) {
                const uint64_t left = bytes - done;
                const copy c = {i, s->source, s->offset + done, k * set->slice_bytes + done,
                                left < COPY_BYTES ? left : COPY_BYTES};
                code = add_copy(r, &c);
            }
        }
    }
    return code;
}

/* Copies through memory what the system does not copy itself. */
static int copy_bytes(repair *r, const copy *c, int from, uint64_t done) {
    const char *const path = r->v->found.sources[c->source]->path;
    uint8_t *const piece = malloc(PIECE_BYTES);
    int code = piece == NULL ? par2_no_memory() : 0;
    while (done < c->bytes && code == 0) {
        const size_t bytes =
            c->bytes - done < PIECE_BYTES ? (size_t)(c->bytes - done) : PIECE_BYTES;
        struct iovec in = {piece, bytes}, out = in;
        const ssize_t got = read_buffers(from, &in, 1, c->from + done);
        if (got < 0)
            code = par2_code(fail_for(errno, "read", path));
        else if ((size_t)got < bytes)
            code = fail(PAR2_IO, "%s became shorter while gfk read it", path);
        else if (!write_buffers(r->temps[c->to].fd, &out, 1, c->at + done))
            code = par2_code(fail_for(errno, "write", r->places[c->to].path));
        done += bytes;
    }
    free(piece);
    return code;
}

static int run_copy(void *context, size_t i) {
    repair *const r = context;
    const copy *const c = &r->copies[i];
    const scan_source *const source = r->v->found.sources[c->source];
    const int fd = scan_open(source);
    if (fd < 0)
        return par2_code(fail_for(errno, "read", source->path));
    uint64_t done = 0;
    while (done < c->bytes) {
        loff_t from = (loff_t)(c->from + done), to = (loff_t)(c->at + done);
        const ssize_t got =
            copy_file_range(fd, &from, r->temps[c->to].fd, &to, (size_t)(c->bytes - done), 0);
        if (got <= 0)
            break;
        done += (uint64_t)got;
    }
    const int code = copy_bytes(r, c, fd, done);
    close(fd);
    return code;
}

/* ---- slices that are computed --------------------------------------------------------------- */

static int list_missing(repair *r) {
    const par2_set *const set = &r->v->set;
    const size_t count = set->slices - r->v->found.found;
    r->constants = calloc(set->slices + 1, sizeof *r->constants);
    r->missing = calloc(count + 1, sizeof *r->missing);
    r->file_of = calloc(count + 1, sizeof *r->file_of);
    r->points = calloc(count + 1, sizeof *r->points);
    r->chosen = calloc(count + 1, sizeof *r->chosen);
    r->exponents = calloc(count + 1, sizeof *r->exponents);
    if (r->constants == NULL || r->missing == NULL || r->file_of == NULL || r->points == NULL ||
        r->chosen == NULL || r->exponents == NULL)
        return par2_no_memory();
    place_constants(r->constants, set->slices);
    for (size_t i = 0; i < set->file_count; i++)
        for (size_t k = 0; k < set->files[i].slices; k++) {
            const size_t slice = set->files[i].first + k;
            if (r->v->found.slices[slice].source != SCAN_NOWHERE)
                continue;
            r->missing[r->missing_count] = slice;
            r->file_of[r->missing_count] = i;
            r->points[r->missing_count++] = (uint16_t)r->constants[slice];
        }
    return 0;
}

/* Chooses recovery slices whose matrix has an inverse: others take the place of those that depend on
 * the ones before them, as long as there are some. */
static int choose(repair *r) {
    const par2_set *const set = &r->v->set;
    const size_t n = r->missing_count;
    bool *const dependent = calloc(n + 1, sizeof *dependent);
    size_t next = 0, kept = 0, rank = 0;
    int code = dependent == NULL ? par2_no_memory() : 0;
    while (code == 0 && rank < n) {
        for (; kept < n && next < set->recovery_count; kept++)
            r->chosen[kept] = &set->recovery[next++];
        if (kept < n) {
            code = fail(PAR2_REPAIR_IMPOSSIBLE,
                        "the recovery slices depend on each other: %zu more are needed", n - kept);
            break;
        }
        for (size_t j = 0; j < n; j++)
            r->exponents[j] = r->chosen[j]->exponent;
        code = place_invert(r->p, r->exponents, r->points, n, &rank, dependent);
        kept = 0;
        for (size_t j = 0; j < n && rank < n; j++)
            if (!dependent[j])
                r->chosen[kept++] = r->chosen[j];
    }
    free(dependent);
    return code;
}

/* Reads the stripes of recovery slices into rows of the place. */
static int load(void *context, size_t i) {
    repair *const r = context;
    const par2_set *const set = &r->v->set;
    const size_t first = i * r->columns;
    const size_t left = r->missing_count - first, count = left < r->columns ? left : r->columns;
    place_buffer *const b = place_take(r->p, true);
    int code = 0, fd = -1;
    if (b == NULL)
        return 0; /* place_finish tells why */
    for (size_t k = 0; k < count && code == 0; k++) {
        const set_recovery *const s = r->chosen[first + k];
        const set_volume *const volume = &set->volumes[s->volume];
        if (k == 0 || s->volume != r->chosen[first + k - 1]->volume) {
            if (fd >= 0)
                close(fd);
            fd = set_open_volume(volume);
        }
        struct iovec to = {b->memory + k * b->stride, (size_t)r->width};
        const ssize_t got = fd < 0 ? -1 : read_buffers(fd, &to, 1, s->offset + r->offset);
        if (got < 0)
            code = par2_code(fail_for(errno, "read", volume->path));
        else if ((uint64_t)got < r->width)
            code = fail(PAR2_IO, "%s became shorter while gfk read it", volume->path);
    }
    if (fd >= 0)
        close(fd);
    if (code == 0)
        place_load(r->p, b, first, count);
    else
        place_give(r->p, b, 0);
    return code;
}

static int store_row(const repair *r, size_t row, const uint8_t *memory) {
    const par2_set *const set = &r->v->set;
    const set_file *const f = &set->files[r->file_of[row]];
    const size_t to = r->restored_of[r->file_of[row]], slice = r->missing[row] - f->first;
    const uint64_t all = scan_slice_bytes(set, f, slice);
    if (all <= r->offset)
        return 0;
    const uint64_t bytes = all - r->offset < r->width ? all - r->offset : r->width;
    struct iovec from = {(void *)memory, (size_t)bytes};
    if (!write_buffers(r->temps[to].fd, &from, 1, slice * set->slice_bytes + r->offset))
        return par2_code(fail_for(errno, "write", r->places[to].path));
    return 0;
}

/* Writes solved rows. */
static int store(void *context, size_t i) {
    repair *const r = context;
    const size_t first = r->solved + i * r->columns, left = r->solved_end - first;
    const size_t count = left < r->columns ? left : r->columns;
    place_buffer *const b = place_take(r->p, true);
    if (b == NULL)
        return 0; /* place_finish tells why */
    int code = place_read(r->p, b, first, count);
    for (size_t k = 0; k < count && code == 0; k++)
        code = store_row(r, first + k, b->memory + k * b->stride);
    place_give(r->p, b, 0);
    return code;
}

static int open_source(void *context, uint32_t number) {
    const repair *const r = context;
    return scan_open(r->v->found.sources[number]);
}

static const char *path_of_source(void *context, uint32_t number) {
    const repair *const r = context;
    return r->v->found.sources[number]->path;
}

static int by_source(const void *a, const void *b) {
    const reader_slice *const x = a, *const y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The slices that were found, in the order in which the disk has them. */
static int list_columns(const repair *r, reader_slice **columns, size_t *count) {
    const par2_set *const set = &r->v->set;
    *columns = calloc(set->slices + 1, sizeof **columns);
    *count = 0;
    if (*columns == NULL)
        return par2_no_memory();
    for (size_t i = 0; i < set->slices; i++) {
        const scan_slice *const s = &r->v->found.slices[i];
        if (s->source != SCAN_NOWHERE)
            (*columns)[(*count)++] =
                (reader_slice){s->source, r->constants[i], s->offset, s->bytes};
    }
    qsort(*columns, *count, sizeof **columns, by_source);
    return 0;
}

/* The number of tasks for rows, a buffer of them in each. */
static size_t tasks_of(const repair *r, size_t rows) {
    return (rows + r->columns - 1) / r->columns;
}

static int run_pass(repair *r, const reader_job *job, const place_layout *layout) {
    int code = place_begin(r->p, r->width);
    if (code != 0)
        return code;
    code = parallel_for(r->threads, tasks_of(r, r->missing_count), load, r);
    if (code == 0)
        code = reader_run(job, r->p, layout, r->offset, r->width);
    const int finished = place_finish(r->p);
    if (code == 0)
        code = finished;
    for (r->solved = 0; r->solved < r->missing_count && code == 0; r->solved = r->solved_end) {
        size_t count = 0;
        code = place_solve(r->p, r->solved, &count);
        r->solved_end = r->solved + count;
        if (code == 0)
            code = parallel_for(layout->row_threads, tasks_of(r, count), store, r);
        if (code == 0)
            code = place_finish(r->p);
    }
    return code;
}

static int run_passes(repair *r) {
    const uint64_t slice = r->v->set.slice_bytes;
    reader_slice *columns = NULL;
    size_t count = 0;
    place_layout layout;
    int code = list_columns(r, &columns, &count);
    if (code == 0)
        code = place_shape(r->p, r->exponents, r->missing_count, count, slice, &layout);
    if (code == 0) {
        const reader_job job = {.open = open_source,
                                .path = path_of_source,
                                .context = r,
                                .file_count = r->v->found.source_count,
                                .slices = columns,
                                .slice_count = count,
                                .slice_bytes = slice,
                                .threads = r->threads};
        r->columns = layout.columns;
        for (r->offset = 0; r->offset < slice && code == 0; r->offset += r->width) {
            r->width = slice - r->offset < layout.width ? slice - r->offset : layout.width;
            code = run_pass(r, &job, &layout);
        }
    }
    free(columns);
    return code;
}

static int compute_at(repair *r, const coder_options *where) {
    const par2_set *const set = &r->v->set;
    const double work = (double)r->missing_count * (double)set->slices * (double)set->slice_bytes;
    const double begin = seconds_now();
    place_close(r->p);
    int code = place_open(&r->p, where, work, false);
    const double opened = seconds_now();
    if (code == 0)
        say("computing %zu slice%s on the %s", r->missing_count, plural(r->missing_count),
            place_name(r->p));
    if (code == 0)
        code = choose(r);
    const double inverted = seconds_now();
    if (code == 0)
        code = run_passes(r);
    if (code == 0) {
        place_times times;
        place_get_times(r->p, &times);
        par2_time(r->options, "place", opened - begin);
        par2_time(r->options, "invert", inverted - opened);
        par2_time(r->options, "passes", seconds_now() - inverted);
        par2_count(r->options, "multiply-adds", (uint64_t)times.multiply_adds);
    }
    return code;
}

static int compute(repair *r) {
    coder_options where = r->options->coder;
    int code = list_missing(r);
    if (code != 0 || r->missing_count == 0)
        return code;
    code = compute_at(r, &where);
    if (code != 0 && place_can_retry(r->p)) {
        warn("the CPU computes everything again");
        where.backend = BACKEND_HOST;
        code = compute_at(r, &where);
    }
    return code;
}

/* ---- checking ------------------------------------------------------------------------------- */

static int check_file(repair *r, size_t i, unsigned threads) {
    restored *const f = &r->files[i];
    return scan_check(&r->v->set, f->file, r->temps[i].fd, r->places[i].path, threads,
                      r->options->coder.memory / (threads == 1 ? reader_threads(r->threads) : 1),
                      &f->good);
}

static int check_one(void *context, size_t i) {
    return check_file(context, i, 1);
}

/* Many files are checked in parallel, and of few the slices. */
static int check_files(repair *r) {
    int code = 0;
    if (r->written > reader_threads(r->threads))
        code = parallel_for(r->threads, r->written, check_one, r);
    else
        for (size_t i = 0; i < r->written && code == 0; i++)
            code = check_file(r, i, r->threads);
    for (size_t i = 0; i < r->written && code == 0; i++)
        if (!r->files[i].good)
            fail(PAR2_REPAIR_FAILED,
                 "the restored %s has not the contents of the set's file; it is "
                 "removed",
                 r->places[i].path);
    return code;
}

static mode_t usual_mode(void) {
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static int sync_files(repair *r) {
    const mode_t usual = usual_mode();
    int code = 0;
    for (size_t i = 0; i < r->written && code == 0; i++) {
        const restored *const f = &r->files[i];
        if (!f->good)
            continue;
        if (f->owned && fchown(r->temps[i].fd, f->user, f->group) != 0)
            errno = 0; /* only root may give files to others */
        code = par2_code(temp_sync(&r->temps[i], &r->places[i], f->owned ? f->mode : usual));
    }
    return code;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* Gives what has the name a second one, NAME.1 or the next number that is free. A file system without
 * hard links takes the first name away. */
static int back_up(const file_place *to, char **backup) {
    const char *const name = path_name(to->path);
    const int fd = folder_fd(to->in);
    struct stat status;
    if (fd < 0)
        return par2_code(fail_for(errno, "open the folder of", to->path));
    if (fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : par2_code(fail_for(errno, "look at", to->path));
    const size_t room = strlen(name) + 16;
    char *const second = malloc(room);
    if (second == NULL)
        return par2_no_memory();
    int error = EEXIST;
    for (unsigned n = 1; n <= MOST_BACKUPS && error == EEXIST; n++) {
        snprintf(second, room, "%s.%u", name, n);
        error = linkat(fd, name, fd, second, 0) == 0 ? 0 : errno;
        if (error != 0 && error != EEXIST && error != ENOENT && error != ENOSPC)
            error = renameat2(fd, name, fd, second, RENAME_NOREPLACE) == 0 ? 0 : errno;
    }
    if (error == 0) {
        *backup = second;
        return 0;
    }
    free(second);
    return par2_code(fail_for(error, "keep the damaged", to->path));
}

/* Gives a whole file its name. */
static int rename_source(const repair *r, size_t i) {
    const file_place *const to = &r->places[i];
    const scan_source *const source =
        r->v->found.sources[r->v->found.targets[r->files[i].file].source];
    const int check = scan_open(source);
    folder_hold(source->in);
    const int from = folder_fd(source->in);
    const int fd = from < 0 ? -1 : folder_fd(to->in);
    int error = check < 0 || fd < 0 ? errno : 0;
    if (error == 0 &&
        renameat2(from, path_name(source->path), fd, path_name(to->path), RENAME_NOREPLACE) != 0)
        error = errno;
    folder_release(source->in);
    if (check >= 0)
        close(check);
    if (error != 0)
        return par2_code(fail_for(error, "rename", source->path));
    say("%s: renamed from %s", to->path, source->path);
    return 0;
}

/* Gives all files their names. A run of files goes together, so that a folder is synced once. */
static int commit(repair *r, const folder_locks *locks) {
    int code = 0;
    for (size_t i = 0; i < r->written && code == 0; i++)
        if (r->files[i].good)
            code = back_up(&r->places[i], &r->files[i].backup);
    for (size_t i = 0, end = 0; i < r->written && code == 0; i = end + 1) {
        for (end = i; end < r->written && r->files[end].good;)
            end++;
        if (end > i)
            code = par2_code(temp_commit(&r->temps[i], end - i, &r->places[i], locks));
    }
    for (size_t i = r->written; i < r->count && code == 0; i++)
        code = rename_source(r, i);
    folder *const failed = code == 0 ? folders_sync(locks) : NULL;
    return failed == NULL ? code
                          : par2_code(fail_for(errno, "write the folder", folder_path(failed)));
}

static int commit_locked(repair *r) {
    folder_locks locks = {0};
    folder **const in = calloc(r->count + 1, sizeof *in);
    if (in == NULL)
        return par2_no_memory();
    for (size_t i = 0; i < r->count; i++)
        in[i] = r->places[i].in;
    int code = par2_code(folders_lock(&locks, in, r->count, true));
    if (code == 0)
        code = commit(r, &locks);
    folders_unlock(&locks);
    free(in);
    return code;
}

/* ---- purge ---------------------------------------------------------------------------------- */

static void remove_file(folder *in, const char *name, const char *path) {
    const int fd = folder_fd(in);
    if ((fd < 0 || unlinkat(fd, name, 0) != 0) && errno != ENOENT)
        warn("cannot remove %s: %s", path, strerror(errno));
}

/* Removes the damaged files that this run has kept, and the files of the set's packets. */
static void purge(const repair *r) {
    const par2_set *const set = &r->v->set;
    for (size_t i = 0; i < r->written; i++)
        if (r->files[i].backup != NULL)
            remove_file(r->places[i].in, r->files[i].backup, r->files[i].backup);
    for (size_t i = 0; i < set->volume_count; i++) {
        const set_volume *const volume = &set->volumes[i];
        const int fd = set_open_volume(volume); /* only if the name still leads to the file */
        if (fd >= 0 && (i == 0 || volume->recovery != 0))
            remove_file(volume->in, path_name(volume->path), volume->path);
        if (fd >= 0)
            close(fd);
    }
}

/* ---- the command ---------------------------------------------------------------------------- */

static void free_repair(repair *r) {
    place_leave(r->p);
    for (size_t i = 0; i < r->written; i++)
        temp_discard(&r->temps[i]);
    for (size_t i = 0; i < r->count; i++) {
        free(r->places[i].path);
        free(r->files[i].backup);
    }
    free(r->files);
    free(r->temps);
    free(r->places);
    free(r->restored_of);
    free(r->copies);
    free(r->missing);
    free(r->file_of);
    free(r->constants);
    free(r->points);
    free(r->chosen);
    free(r->exponents);
}

/* Restores all files. */
static int restore(repair *r) {
    const double begin = seconds_now();
    int code = list_files(r);
    if (code == 0)
        code = remove_remains(r);
    if (code == 0)
        code = create_files(r);
    if (code == 0)
        code = list_copies(r);
    if (code == 0)
        code = parallel_for(r->threads, r->copy_count, run_copy, r);
    par2_time(r->options, "copy", seconds_now() - begin);
    if (code == 0)
        code = compute(r);
    const double computed = seconds_now();
    if (code == 0)
        code = check_files(r);
    par2_time(r->options, "check", seconds_now() - computed);
    if (code == 0)
        code = sync_files(r);
    if (code == 0)
        code = commit_locked(r);
    for (size_t i = 0; i < r->written && code == 0; i++)
        if (r->files[i].good)
            say("%s: restored", r->places[i].path);
    for (size_t i = 0; i < r->written && code == 0; i++)
        if (!r->files[i].good)
            code = PAR2_REPAIR_FAILED;
    return code;
}

int par2_repair(const par2_options *options) {
    verification v;
    signals_begin();
    int code = verification_run(&v, options);
    repair r = {.v = &v, .options = options, .threads = options->coder.threads};
    if (code == PAR2_REPAIR_POSSIBLE) {
        code = restore(&r);
        if (code == 0)
            say("all files are intact now");
    }
    if (code == 0 && options->purge)
        purge(&r);
    free_repair(&r);
    verification_free(&v);
    return code;
}
