/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "../gfk/files.h"
#include "../gfk/report.h"
#include "packet.h"
#include "reader.h"
#include "set.h"

enum { USUAL_SLICES = 2000 };
static const double usual_percent = 5;

/* What is needed until the plan is made. */
typedef struct making {
    const par2_options *options;
    create_plan *plan;
    char *stem; /* the set's path without .par2 */
    char *base; /* the real path of the base, with a slash at the end */
    char *from; /* the folder of the file before, and its name below the base */
    char *from_name;
    path_list names; /* of the files, below the base */
} making;

/* ---- files ---------------------------------------------------------------------------------- */

int plan_open(const create_plan *plan, size_t file) {
    const plan_file *const f = &plan->files[file];
    struct stat now;
    const int fd = set_open_below(plan->base, f->name);
    if (fd < 0)
        return -1;
    if (fstat(fd, &now) == 0 && now.st_dev == f->device && now.st_ino == f->inode &&
        (uint64_t)now.st_size == f->bytes && now.st_mtim.tv_sec == f->changed.tv_sec &&
        now.st_mtim.tv_nsec == f->changed.tv_nsec)
        return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

/* ---- the names of the files ----------------------------------------------------------------- */

/* The name of a folder below the base, with a slash at the end unless it is the base; NULL with *code
 * set if it is not below. */
static const char *name_below(making *m, const char *folder_name, int *code) {
    if (m->from != NULL && strcmp(m->from, folder_name) == 0)
        return m->from_name;
    free(m->from);
    free(m->from_name);
    m->from = strdup(folder_name);
    char *real = realpath(folder_name, NULL);
    m->from_name = NULL;
    if (real == NULL || m->from == NULL) {
        *code = real == NULL ? par2_code(fail_for(errno, "open", folder_name)) : par2_no_memory();
        free(real);
        return NULL;
    }
    const size_t length = strlen(real), base = strlen(m->base);
    char *const name = malloc(length + 2);
    if (name == NULL) {
        *code = par2_no_memory();
    } else {
        snprintf(name, length + 2, "%s%s", real, real[length - 1] == '/' ? "" : "/");
        if (strncmp(name, m->base, base) == 0)
            m->from_name = strdup(name + base);
        if (m->from_name == NULL)
            *code = fail(PAR2_USAGE, "%s is not below the base path %s; -B names another base path",
                         real, m->base);
    }
    free(name);
    free(real);
    return m->from_name;
}

static int add_name(making *m, const char *in, const char *name) {
    const size_t room = strlen(in) + strlen(name) + 1;
    char *const made = malloc(room);
    if (made != NULL)
        snprintf(made, room, "%s%s", in, name);
    return par2_code(path_list_add(&m->names, made));
}

/* Adds the files in a folder and below. `name` is the folder's name below the base, with a slash. */
static int add_folder(making *m, folder *f, const char *name) {
    folder_entries list;
    const int error = folder_read(f, &list);
    int code = error != 0 ? par2_code(fail_for(error, "read the folder", folder_path(f))) : 0;
    for (size_t i = 0; i < list.count && code == 0; i++) {
        folder_entry *const entry = &list.entries[i];
        const unsigned char type = folder_entry_type(f, entry);
        if (temp_name_length(entry->name) != 0)
            continue; /* the remains of a killed run */
        if (type == DT_REG) {
            code = add_name(m, name, entry->name);
        } else if (type == DT_DIR) {
            const size_t room = strlen(name) + strlen(entry->name) + 2;
            char *const below = malloc(room);
            folder *sub = NULL;
            if (below == NULL) {
                code = par2_no_memory();
                break;
            }
            snprintf(below, room, "%s%s/", name, entry->name);
            const int failed = folder_enter(&sub, f, entry->name);
            code = failed != 0 ? par2_code(fail_for(failed, "open the folder", below))
                               : add_folder(m, sub, below);
            free(below);
        } else {
            warn("%s%s is left out: it is no regular file", name, entry->name);
        }
    }
    folder_entries_free(&list);
    return code;
}

static int add_path(making *m, const char *path) {
    struct stat status;
    int code = 0;
    if (lstat(path, &status) != 0)
        return par2_code(fail_for(errno, "open", path));
    if (S_ISDIR(status.st_mode)) {
        folder *f = NULL;
        if (!m->options->recurse)
            return fail(PAR2_USAGE, "%s is a folder; with -R the files below it are taken", path);
        const char *const name = name_below(m, path, &code);
        const int error = name == NULL ? 0 : folder_open(&f, path);
        if (error != 0)
            return par2_code(fail_for(error, "open the folder", path));
        char *const copy = name == NULL ? NULL : strdup(name);
        if (name != NULL)
            code = copy == NULL ? par2_no_memory() : add_folder(m, f, copy);
        free(copy);
        return code;
    }
    if (!S_ISREG(status.st_mode))
        return fail(PAR2_USAGE,
                    S_ISLNK(status.st_mode) ? "%s is a symbolic link, which is not followed"
                                            : "%s is no regular file",
                    path);
    char *const in = path_folder(path);
    const char *const name = in == NULL ? NULL : name_below(m, in, &code);
    if (in == NULL)
        code = par2_no_memory();
    else if (name != NULL)
        code = add_name(m, name, path_name(path));
    free(in);
    return code;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Makes the list of files of the names, each once. */
static int take_names(making *m) {
    create_plan *const plan = m->plan;
    path_list *const names = &m->names;
    plan->files = calloc(names->count + 1, sizeof *plan->files);
    if (plan->files == NULL)
        return par2_no_memory();
    if (names->count != 0)
        qsort(names->paths, names->count, sizeof *names->paths, by_name);
    for (size_t i = 0; i < names->count; i++) {
        if (i != 0 && strcmp(names->paths[i], names->paths[i - 1]) == 0)
            continue;
        plan->files[plan->file_count].name = strdup(names->paths[i]);
        if (plan->files[plan->file_count++].name == NULL)
            return par2_no_memory();
    }
    return 0;
}

/* Looks at a file, and hashes its head, which makes its id. */
static int look_at_file(void *context, size_t i) {
    const create_plan *const plan = context;
    plan_file *const f = &plan->files[i];
    struct stat status;
    const size_t length = strlen(f->name);
    if (!set_name_is_safe(f->name, length))
        return fail(PAR2_USAGE, "%s is too long a name for a set", f->name);
    const int fd = set_open_below(plan->base, f->name);
    if (fd < 0 || fstat(fd, &status) != 0) {
        const int error = errno;
        if (fd >= 0)
            close(fd);
        return par2_code(fail_for(error, "open", f->name));
    }
    if (!S_ISREG(status.st_mode)) {
        close(fd);
        return fail(PAR2_IO, "%s is no regular file any more", f->name);
    }
    f->bytes = (uint64_t)status.st_size;
    f->device = status.st_dev;
    f->inode = status.st_ino;
    f->changed = status.st_mtim;
    f->mode = status.st_mode & 0666;
    uint8_t head[MD5_HEAD_BYTES + 8];
    const ssize_t got = read_all(fd, head, MD5_HEAD_BYTES);
    const int error = errno;
    close(fd);
    if (got < 0)
        return par2_code(fail_for(error, "read", f->name));
    md5_of(head, (size_t)got, f->md5_head);
    md5_stream stream;
    put_64(head, f->bytes);
    md5_begin(&stream);
    md5_add(&stream, f->md5_head, MD5_BYTES);
    md5_add(&stream, head, 8);
    md5_add(&stream, f->name, length);
    md5_end(&stream, f->id);
    return 0;
}

/* The Main packet has the ids in the order of numbers whose least byte is the first one. */
static int by_id(const void *a, const void *b) {
    const plan_file *x = a, *y = b;
    for (size_t i = MD5_BYTES; i-- != 0;)
        if (x->id[i] != y->id[i])
            return x->id[i] < y->id[i] ? -1 : 1;
    return 0;
}

static int find_files(making *m) {
    const par2_options *const options = m->options;
    create_plan *const plan = m->plan;
    struct stat status;
    int code = 0;
    /* The first argument names the set, and is a file to protect if it has not the name of a set. */
    if (strlen(options->set) == strlen(m->stem) && lstat(options->set, &status) == 0 &&
        S_ISREG(status.st_mode))
        code = add_path(m, options->set);
    for (size_t i = 0; i < options->file_count && code == 0; i++)
        code = add_path(m, options->files[i]);
    if (code == 0)
        code = take_names(m);
    if (code == 0)
        code = parallel_for(options->coder.threads, plan->file_count, look_at_file, plan);
    if (code != 0)
        return code;
    size_t kept = 0;
    plan->mode = 0666;
    for (size_t i = 0; i < plan->file_count; i++) {
        plan_file *const f = &plan->files[i];
        if (f->bytes == 0) {
            say("%s is empty: it is left out", f->name);
            free(f->name);
            continue;
        }
        plan->bytes += f->bytes;
        plan->mode &= f->mode;
        plan->files[kept++] = *f;
    }
    plan->file_count = kept;
    if (kept == 0)
        return fail(PAR2_USAGE,
                    "there is no file to protect; usage: gfk par2 create SET.par2 FILE...");
    qsort(plan->files, kept, sizeof *plan->files, by_id);
    return 0;
}

/* ---- slices --------------------------------------------------------------------------------- */

static uint64_t slices_for(const create_plan *plan, uint64_t bytes) {
    uint64_t slices = 0;
    for (size_t i = 0; i < plan->file_count; i++)
        slices += (plan->files[i].bytes - 1) / bytes + 1;
    return slices;
}

/* The smallest slice size for which there are at most `most` slices. */
static uint64_t size_for(const create_plan *plan, uint64_t most) {
    uint64_t low = 1, high = plan->bytes / 4 + 1; /* in words of 4 bytes; high is enough */
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (slices_for(plan, 4 * middle) <= most)
            high = middle;
        else
            low = middle + 1;
    }
    return 4 * low;
}

static int choose_slices(create_plan *plan, const par2_options *options) {
    uint64_t wanted = options->slices != 0 ? options->slices : USUAL_SLICES;
    if (options->slices == 0 && wanted < plan->file_count)
        wanted = plan->file_count < PAR2_MOST_SLICES ? plan->file_count : PAR2_MOST_SLICES;
    if (options->slice == 0 && wanted < plan->file_count)
        return fail(PAR2_USAGE, "%zu files need as many slices at least; there can be %llu",
                    plan->file_count, (unsigned long long)wanted);
    plan->slice_bytes = options->slice != 0 ? options->slice : size_for(plan, wanted);
    const uint64_t slices = slices_for(plan, plan->slice_bytes);
    if (slices > PAR2_MOST_SLICES)
        return fail(
            PAR2_USAGE,
            "%llu slices of %llu bytes; a set has %d at most, which slices of %llu bytes give",
            (unsigned long long)slices, (unsigned long long)plan->slice_bytes, PAR2_MOST_SLICES,
            (unsigned long long)size_for(plan, PAR2_MOST_SLICES));
    plan->slices = (size_t)slices;
    for (size_t i = 0; i < plan->file_count; i++)
        plan->files[i].slices = (size_t)((plan->files[i].bytes - 1) / plan->slice_bytes + 1);
    return 0;
}

static int choose_recovery(create_plan *plan, const par2_options *options) {
    const double percent = options->percent >= 0 ? options->percent : usual_percent;
    double count = floor((double)plan->slices * percent / 100 + 0.5);
    if (count < 1 && percent > 0)
        count = 1;
    if (options->recovery != UINT64_MAX)
        count = (double)options->recovery;
    if (count + (double)options->first > PAR2_MOST_EXPONENT + 1)
        return fail(PAR2_USAGE, "%.0f recovery slices from exponent %llu on: exponents end with %d",
                    count, (unsigned long long)options->first, PAR2_MOST_EXPONENT);
    plan->recovery = (size_t)count;
    plan->first = (uint32_t)options->first;
    return 0;
}

/* Main: slice size, number of files, ids. Its MD5 is the id of the set. */
static int make_main(create_plan *plan) {
    plan->main_bytes = 12 + plan->file_count * MD5_BYTES;
    plan->main = malloc(plan->main_bytes);
    if (plan->main == NULL)
        return par2_no_memory();
    put_64(plan->main, plan->slice_bytes);
    put_32(plan->main + 8, (uint32_t)plan->file_count);
    for (size_t i = 0; i < plan->file_count; i++)
        memcpy(plan->main + 12 + i * MD5_BYTES, plan->files[i].id, MD5_BYTES);
    md5_of(plan->main, plan->main_bytes, plan->set_id);
    return 0;
}

/* ---- volumes -------------------------------------------------------------------------------- */

static int add_volume(create_plan *plan, size_t first, size_t count) {
    plan_volume *const grown =
        realloc(plan->volumes, (plan->volume_count + 1) * sizeof *plan->volumes);
    if (grown == NULL)
        return par2_no_memory();
    plan->volumes = grown;
    plan->volumes[plan->volume_count++] = (plan_volume){NULL, first, count};
    return 0;
}

/* The slices of the largest file: no volume has more with -l. */
static size_t largest_file(const create_plan *plan) {
    size_t most = 1;
    for (size_t i = 0; i < plan->file_count; i++)
        most = most < plan->files[i].slices ? plan->files[i].slices : most;
    return most;
}

static int cut_volumes(create_plan *plan, const par2_options *options) {
    const size_t all = plan->recovery, most = options->limited ? largest_file(plan) : all;
    size_t volumes = (size_t)(options->volumes < all ? options->volumes : all);
    for (size_t left = all; options->volumes == 0 && left != 0; left /= 2)
        volumes++;
    size_t small = 1; /* slices of the first volume: each has twice as many as the one before */
    while (!options->uniform && !options->limited && volumes < 32 &&
           small * ((UINT64_C(1) << volumes) - 1) < all)
        small *= 2;
    int code = add_volume(plan, 0, 0);
    for (size_t first = 0, i = 0; first < all && code == 0; i++) {
        const size_t left = all - first, after = options->limited ? 0 : volumes - i - 1;
        size_t count = small;
        if (options->uniform)
            count = (left + after) / (after + 1);
        count = count < most ? count : most;
        count = count < left - after ? count : left - after; /* each volume has some */
        code = add_volume(plan, first, count);
        first += count;
        small *= small < all ? 2 : 1;
    }
    return code;
}

static int digits_of(size_t number) {
    return snprintf(NULL, 0, "%zu", number);
}

static int name_volumes(making *m) {
    create_plan *const plan = m->plan;
    size_t most = 0;
    for (size_t i = 0; i < plan->volume_count; i++)
        most = most < plan->volumes[i].count ? plan->volumes[i].count : most;
    const int first_digits = digits_of(plan->first + plan->recovery), digits = digits_of(most);
    const size_t room = strlen(m->stem) + 64;
    for (size_t i = 0; i < plan->volume_count; i++) {
        plan_volume *const v = &plan->volumes[i];
        v->path = malloc(room);
        if (v->path == NULL)
            return par2_no_memory();
        if (i == 0)
            snprintf(v->path, room, "%s.par2", m->stem);
        else
            snprintf(v->path, room, "%s.vol%0*zu+%0*zu.par2", m->stem, first_digits,
                     plan->first + v->first, digits, v->count);
    }
    return 0;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* The base path: -B, or the folder of the set. */
static int find_base(making *m) {
    char *const in = m->options->base != NULL ? strdup(m->options->base) : path_folder(m->stem);
    char *const real = in == NULL ? NULL : realpath(in, NULL);
    const int error = errno;
    int code = in == NULL     ? par2_no_memory()
               : real == NULL ? par2_code(fail_for(error, "open the folder", in))
                              : 0;
    if (code == 0) {
        const size_t length = strlen(real);
        m->base = malloc(length + 2);
        m->plan->base = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (m->base == NULL)
            code = par2_no_memory();
        else if (m->plan->base < 0)
            code = par2_code(fail_for(errno, "open the folder", real));
        else
            snprintf(m->base, length + 2, "%s%s", real, real[length - 1] == '/' ? "" : "/");
    }
    free(in);
    free(real);
    return code;
}

int plan_make(create_plan *plan, const par2_options *options) {
    making m = {.options = options, .plan = plan};
    *plan = (create_plan){.base = -1};
    const size_t length = strlen(options->set);
    const bool par2 = length > 5 && strcasecmp(options->set + length - 5, ".par2") == 0;
    m.stem = strndup(options->set, par2 ? length - 5 : length);
    int code = m.stem == NULL ? par2_no_memory() : find_base(&m);
    if (code == 0)
        code = find_files(&m);
    if (code == 0)
        code = choose_slices(plan, options);
    if (code == 0)
        code = choose_recovery(plan, options);
    if (code == 0)
        code = make_main(plan);
    if (code == 0)
        code = cut_volumes(plan, options);
    if (code == 0)
        code = name_volumes(&m);
    free(m.stem);
    free(m.base);
    free(m.from);
    free(m.from_name);
    path_list_free(&m.names);
    return code;
}

void plan_free(create_plan *plan) {
    for (size_t i = 0; i < plan->file_count; i++)
        free(plan->files[i].name);
    for (size_t i = 0; i < plan->volume_count; i++)
        free(plan->volumes[i].path);
    free(plan->files);
    free(plan->volumes);
    free(plan->main);
    if (plan->base >= 0)
        close(plan->base);
    *plan = (create_plan){.base = -1};
}
