/* SPDX-License-Identifier: BSD-3-Clause */
#include "set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../gfk/files.h"
#include "../gfk/report.h"
#include "par2.h"
#include "reader.h"

enum { LARGE_VOLUME = 32 << 20 }; /* bytes from which a volume is worth several threads */

/* ---- names ---------------------------------------------------------------------------------- */

bool set_name_is_safe(const char *name, size_t length) {
    if (length == 0 || length >= PATH_MAX || memchr(name, '\0', length) != NULL)
        return false;
    for (size_t begin = 0; begin <= length;) {
        const char *slash = memchr(name + begin, '/', length - begin);
        const size_t part = slash == NULL ? length - begin : (size_t)(slash - name) - begin;
        const char *const text = name + begin;
        if (part == 0 || part > NAME_MAX || (part == 1 && text[0] == '.') ||
            (part == 2 && text[0] == '.' && text[1] == '.'))
            return false;
        begin += part + 1;
    }
    return true;
}

int set_open_below(int base, const char *name) {
    char part[NAME_MAX + 1];
    int in = base;
    for (;;) {
        const char *const slash = strchr(name, '/');
        if (slash == NULL)
            break;
        const size_t length = (size_t)(slash - name);
        if (length > NAME_MAX) {
            errno = ENAMETOOLONG;
            break;
        }
        memcpy(part, name, length);
        part[length] = '\0';
        const int next = openat(in, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        const int error = errno;
        if (in != base)
            close(in);
        errno = error;
        if (next < 0)
            return -1;
        in = next;
        name = slash + 1;
    }
    const int fd = openat(in, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const int error = errno;
    if (in != base)
        close(in);
    errno = error;
    return fd;
}

/* ---- packets -------------------------------------------------------------------------------- */

/* What is known of a file by its id. Packets may come in any order. */
typedef struct known_file {
    uint8_t id[MD5_BYTES];
    set_file file;      /* name and hashes, if there was a FileDesc packet */
    size_t checksums;   /* of file.checksums */
    bool taken;         /* moved to the set */
    bool contradictory; /* told once */
} known_file;

/* The packets of all volumes. One thread at a time adds packets. */
typedef struct collection {
    pthread_mutex_t mutex;
    par2_set *set;
    bool decided; /* the set's id is known */
    uint8_t *main;
    size_t main_bytes;
    known_file *known; /* a hash table of `room` entries; an entry is free if its id has no use */
    bool *used;
    size_t known_count, room;
    uint64_t key; /* random and odd: ids in forged packets cannot all fall on the same entries */
    uint64_t *recovery_bytes; /* of the slices of set->recovery */
} collection;

typedef struct visitor {
    collection *all;
    uint32_t volume;
} visitor;

static size_t slot_of(const collection *c, const uint8_t id[MD5_BYTES]) {
    const uint64_t mixed = (get_64(id) ^ get_64(id + 8) * c->key) * c->key;
    size_t slot = (size_t)(mixed >> 32) & (c->room - 1);
    while (c->used[slot] && memcmp(c->known[slot].id, id, MD5_BYTES) != 0)
        slot = (slot + 1) & (c->room - 1);
    return slot;
}

static known_file *find_file(const collection *c, const uint8_t id[MD5_BYTES]) {
    const size_t slot = c->room == 0 ? 0 : slot_of(c, id);
    return c->room == 0 || !c->used[slot] ? NULL : &c->known[slot];
}

static bool grow(collection *c) {
    const collection old = *c;
    c->room = old.room == 0 ? 64 : 2 * old.room;
    c->known = calloc(c->room, sizeof *c->known);
    c->used = calloc(c->room, sizeof *c->used);
    if (c->known == NULL || c->used == NULL) {
        free(c->known);
        free(c->used);
        *c = old;
        return false;
    }
    for (size_t i = 0; i < old.room; i++)
        if (old.used[i]) {
            const size_t slot = slot_of(c, old.known[i].id);
            c->used[slot] = true;
            c->known[slot] = old.known[i];
        }
    free(old.known);
    free(old.used);
    return true;
}

/* The entry of a file, made if there is none; NULL if out of memory. */
static known_file *add_file(collection *c, const uint8_t id[MD5_BYTES]) {
    known_file *const there = find_file(c, id);
    if (there != NULL || (2 * c->known_count >= c->room && !grow(c)))
        return there;
    const size_t slot = slot_of(c, id);
    c->used[slot] = true;
    c->known_count++;
    memcpy(c->known[slot].id, id, MD5_BYTES);
    memcpy(c->known[slot].file.id, id, MD5_BYTES);
    return &c->known[slot];
}

static void tell_contradiction(known_file *f, const char *what) {
    if (!f->contradictory)
        warn("the set has contradictory packets with the %s of %s; the first one counts", what,
             f->file.name == NULL ? "a file" : f->file.name);
    f->contradictory = true;
}

/* Main: slice size, number of protected files, ids of these, ids of the others. */
static int take_main(collection *c, const packet *p) {
    uint8_t hash[MD5_BYTES];
    if (c->main != NULL || p->body_bytes < 12 || (p->body_bytes - 12) % MD5_BYTES != 0)
        return 0;
    md5_of(p->body, p->body_bytes, hash);
    const uint64_t slice = get_64(p->body);
    if (memcmp(hash, p->set_id, MD5_BYTES) != 0 || slice == 0 || slice % 4 != 0 ||
        slice > INT64_MAX || get_32(p->body + 8) > (p->body_bytes - 12) / MD5_BYTES)
        return 0;
    c->main = malloc(p->body_bytes);
    if (c->main == NULL)
        return par2_no_memory();
    memcpy(c->main, p->body, p->body_bytes);
    c->main_bytes = p->body_bytes;
    return 0;
}

/* FileDesc: id, MD5, MD5 of the head, length, name with zeros up to a multiple of 4 bytes. */
static int take_file(collection *c, const packet *p) {
    enum { FIXED = 3 * MD5_BYTES + 8 };
    if (p->body_bytes <= FIXED)
        return 0;
    const char *const name = (const char *)p->body + FIXED;
    const size_t room = p->body_bytes - FIXED, length = strnlen(name, room);
    uint8_t with_zeros[MD5_BYTES], without[MD5_BYTES];
    md5_of(p->body + 2 * MD5_BYTES, MD5_BYTES + 8 + room, with_zeros);
    md5_of(p->body + 2 * MD5_BYTES, MD5_BYTES + 8 + length, without);
    if (memcmp(p->body, with_zeros, MD5_BYTES) != 0 && memcmp(p->body, without, MD5_BYTES) != 0)
        return 0;
    if (!set_name_is_safe(name, length)) {
        warn_once("the set has a file with the name %.*s, which leads out of the folder or is no "
                  "name: it is left out",
                  (int)(length < 200 ? length : 200), name);
        return 0;
    }
    const uint64_t bytes = get_64(p->body + 3 * MD5_BYTES);
    if (bytes > INT64_MAX)
        return 0;
    known_file *const f = add_file(c, p->body);
    if (f == NULL)
        return par2_no_memory();
    if (f->file.name != NULL) {
        if (memcmp(f->file.md5, p->body + MD5_BYTES, MD5_BYTES) != 0)
            tell_contradiction(f, "MD5");
        return 0;
    }
    f->file.name = strndup(name, length);
    if (f->file.name == NULL)
        return par2_no_memory();
    memcpy(f->file.md5, p->body + MD5_BYTES, MD5_BYTES);
    memcpy(f->file.md5_head, p->body + 2 * MD5_BYTES, MD5_BYTES);
    f->file.bytes = bytes;
    return 0;
}

/* IFSC: id, then MD5 and CRC32 of each slice. */
static int take_checksums(collection *c, const packet *p) {
    enum { ENTRY = MD5_BYTES + 4 };
    const size_t count = p->body_bytes < MD5_BYTES ? 0 : (p->body_bytes - MD5_BYTES) / ENTRY;
    if (count == 0 || count > PAR2_MOST_SLICES || p->body_bytes != MD5_BYTES + count * ENTRY)
        return 0;
    known_file *const f = add_file(c, p->body);
    set_checksum *const made = f == NULL ? NULL : calloc(count, sizeof *made);
    if (made == NULL)
        return par2_no_memory();
    const uint8_t *from = p->body + MD5_BYTES;
    for (size_t i = 0; i < count; i++, from += ENTRY) {
        memcpy(made[i].md5, from, MD5_BYTES);
        made[i].crc = get_32(from + MD5_BYTES);
    }
    if (f->file.checksums == NULL) {
        f->file.checksums = made;
        f->checksums = count;
        return 0;
    }
    if (f->checksums != count || memcmp(made, f->file.checksums, count * sizeof *made) != 0)
        tell_contradiction(f, "checksums");
    free(made);
    return 0;
}

static int take_recovery(collection *c, uint32_t volume, const packet *p) {
    par2_set *const set = c->set;
    const uint32_t exponent = get_32(p->body);
    if (exponent > PAR2_MOST_EXPONENT)
        return 0;
    if (!array_grow(&set->recovery, set->recovery_count, sizeof *set->recovery) ||
        !array_grow(&c->recovery_bytes, set->recovery_count, sizeof *c->recovery_bytes))
        return par2_no_memory();
    c->recovery_bytes[set->recovery_count] = p->bytes - PACKET_RECOVERY_BYTES;
    set->recovery[set->recovery_count++] =
        (set_recovery){exponent, volume, p->offset + PACKET_RECOVERY_BYTES};
    return 0;
}

static int take(collection *c, uint32_t volume, const packet *p) {
    if (!c->decided) {
        memcpy(c->set->id, p->set_id, MD5_BYTES);
        c->decided = true;
    }
    if (memcmp(c->set->id, p->set_id, MD5_BYTES) != 0)
        return 0;
    switch (p->type) {
    case PACKET_MAIN:
        return take_main(c, p);
    case PACKET_FILE:
        return take_file(c, p);
    case PACKET_CHECKSUMS:
        return take_checksums(c, p);
    case PACKET_RECOVERY:
        return take_recovery(c, volume, p);
    default:
        return 0;
    }
}

static int visit(void *context, const packet *p) {
    const visitor *const v = context;
    pthread_mutex_lock(&v->all->mutex);
    const int code = take(v->all, v->volume, p);
    pthread_mutex_unlock(&v->all->mutex);
    return code;
}

/* ---- volumes -------------------------------------------------------------------------------- */

static bool ends_in_par2(const char *name, size_t length) {
    return length > 5 && strncasecmp(name + length - 5, ".par2", 5) == 0;
}

/* The length of the set's name in the name of one of its files: NAME.par2, NAME.vol7+8.par2. */
static size_t base_length(const char *name) {
    const size_t length = strlen(name);
    if (!ends_in_par2(name, length))
        return length;
    const size_t base = length - 5;
    size_t dot = base;
    while (dot > 0 && name[dot - 1] != '.')
        dot--;
    const char *at = name + dot;
    if (dot < 2 || strncasecmp(at, "vol", 3) != 0)
        return base;
    at += 3;
    const size_t first = strspn(at, "0123456789");
    const size_t more =
        at[first] != '+' && at[first] != '-' ? 0 : strspn(at + first + 1, "0123456789");
    return first != 0 && more != 0 && at + first + 1 + more == name + base ? dot - 1 : base;
}

/* Adds a file, unless it is there already or is no regular file. *error is the system's. */
static int add_volume(par2_set *set, folder *in, const char *path, int *error) {
    struct stat status;
    const int fd = folder_fd(in);
    *error = 0;
    if (fd < 0 || fstatat(fd, path_name(path), &status, 0) != 0) {
        *error = errno;
        return 0;
    }
    if (!S_ISREG(status.st_mode)) {
        *error = EINVAL;
        return 0;
    }
    for (size_t i = 0; i < set->volume_count; i++)
        if (set->volumes[i].inode == status.st_ino && set->volumes[i].device == status.st_dev)
            return 0;
    set_volume *const grown = realloc(set->volumes, (set->volume_count + 1) * sizeof *set->volumes);
    char *const copy = strdup(path);
    if (grown != NULL)
        set->volumes = grown;
    if (grown == NULL || copy == NULL) {
        free(copy);
        return par2_no_memory();
    }
    folder_hold(in);
    set->volumes[set->volume_count++] = (set_volume){.in = in,
                                                     .path = copy,
                                                     .device = status.st_dev,
                                                     .inode = status.st_ino,
                                                     .bytes = (uint64_t)status.st_size};
    return 0;
}

/* Adds NAME.par2 and NAME.*.par2 of a folder. */
static int add_siblings(par2_set *set, folder *in, const char *name, size_t base) {
    folder_entries list;
    const int error = folder_read(in, &list);
    int code = error == ENOMEM ? par2_no_memory() : 0, ignored;
    for (size_t i = 0; i < list.count && code == 0 && error == 0; i++) {
        const char *const entry = list.entries[i].name;
        const size_t length = strlen(entry);
        if (length < base + 5 || memcmp(entry, name, base) != 0 || entry[base] != '.' ||
            !ends_in_par2(entry, length))
            continue;
        char *const path = path_join(folder_path(in), entry);
        code = path == NULL ? par2_no_memory() : add_volume(set, in, path, &ignored);
        free(path);
    }
    folder_entries_free(&list);
    return code;
}

static int add_volumes(par2_set *set, const char *path, char *const *more, size_t count) {
    folder *in = NULL;
    int error = folder_of(&in, path), ignored;
    if (error != 0)
        return par2_code(fail_for(error, "open the folder of", path));
    int code = add_volume(set, in, path, &error);
    if (code == 0)
        code = add_siblings(set, in, path_name(path), base_length(path_name(path)));
    for (size_t i = 0; i < count && code == 0; i++) {
        const int unknown = folder_of(&in, more[i]);
        code = unknown != 0 ? 0 : add_volume(set, in, more[i], &ignored);
        if (unknown != 0 || ignored != 0)
            warn("%s is left out: %s", more[i], strerror(unknown != 0 ? unknown : ignored));
    }
    if (code == 0 && set->volume_count == 0)
        code = par2_code(fail_for(error == 0 ? ENOENT : error, "read", path));
    return code;
}

int set_open_volume(const set_volume *volume) {
    struct stat status;
    /* The folder is held, so that its descriptor does not change. */
    const int fd =
        openat(volume->in->fd, path_name(volume->path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && status.st_ino == volume->inode &&
        status.st_dev == volume->device)
        return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

/* A volume that cannot be read is reported, and the others may be enough. */
static int read_volume(collection *c, size_t i, unsigned threads) {
    set_volume *const volume = &c->set->volumes[i];
    const int fd = set_open_volume(volume);
    if (fd < 0) {
        warn("%s is left out: %s", volume->path, strerror(errno));
        return 0;
    }
    visitor v = {c, (uint32_t)i};
    const int code = packet_search(fd, volume->path, threads, visit, &v, &volume->packets);
    close(fd);
    return code == PAR2_IO ? 0 : code;
}

typedef struct volume_work {
    collection *all;
    size_t first;
} volume_work;

static bool is_large(const collection *c, size_t i) {
    return c->set->volumes[i].bytes >= LARGE_VOLUME;
}

static int read_small(void *context, size_t i) {
    const volume_work *const work = context;
    return is_large(work->all, work->first + i) ? 0 : read_volume(work->all, work->first + i, 1);
}

/* Small volumes are read in parallel; of a large one the packets are hashed in parallel. */
static int read_volumes(collection *c, size_t first, unsigned threads) {
    volume_work work = {c, first};
    int code = parallel_for(threads, c->set->volume_count - first, read_small, &work);
    for (size_t i = first; i < c->set->volume_count && code == 0; i++)
        if (is_large(c, i))
            code = read_volume(c, i, threads);
    return code;
}

/* ---- the set -------------------------------------------------------------------------------- */

static int by_exponent(const void *a, const void *b) {
    const set_recovery *x = a, *y = b;
    if (x->exponent != y->exponent)
        return x->exponent < y->exponent ? -1 : 1;
    if (x->volume != y->volume)
        return x->volume < y->volume ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Keeps the recovery slices of the right length, one for each exponent. */
static void sort_recovery(collection *c) {
    par2_set *const set = c->set;
    size_t kept = 0;
    for (size_t i = 0; i < set->recovery_count; i++)
        if (c->recovery_bytes[i] == set->slice_bytes) {
            set->volumes[set->recovery[i].volume].recovery++;
            set->recovery[kept++] = set->recovery[i];
        }
    if (kept != 0)
        qsort(set->recovery, kept, sizeof *set->recovery, by_exponent);
    set->recovery_count = 0;
    for (size_t i = 0; i < kept; i++)
        if (set->recovery_count == 0 ||
            set->recovery[set->recovery_count - 1].exponent != set->recovery[i].exponent)
            set->recovery[set->recovery_count++] = set->recovery[i];
}

/* Moves the files to the set, in the order of the Main packet. */
static int number_files(collection *c) {
    par2_set *const set = c->set;
    const size_t count = (c->main_bytes - 12) / MD5_BYTES;
    set->slice_bytes = get_64(c->main);
    set->protected = get_32(c->main + 8);
    set->files = calloc(count == 0 ? 1 : count, sizeof *set->files);
    if (set->files == NULL)
        return par2_no_memory();
    set->complete = true;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *const id = c->main + 12 + i * MD5_BYTES;
        known_file *const f = find_file(c, id);
        set_file *const file = &set->files[set->file_count++];
        memcpy(file->id, id, MD5_BYTES);
        if (f != NULL && f->taken)
            return fail(PAR2_NOT_ENOUGH_DATA, "the set names the same file twice");
        if (f == NULL || f->file.name == NULL) {
            set->complete = set->complete && i >= set->protected;
            continue;
        }
        const uint64_t slices =
            f->file.bytes / set->slice_bytes + (f->file.bytes % set->slice_bytes != 0);
        if (i < set->protected && slices > PAR2_MOST_SLICES - set->slices)
            return fail(PAR2_NOT_ENOUGH_DATA, "the set has more than %d slices", PAR2_MOST_SLICES);
        f->taken = true;
        *file = f->file;
        f->file = (set_file){0};
        file->first = set->slices;
        file->slices = i < set->protected ? (size_t)slices : 0;
        set->slices += file->slices;
        if (f->checksums != slices || i >= set->protected) {
            free(file->checksums);
            file->checksums = NULL;
        }
    }
    return 0;
}

int set_open(par2_set *set, const char *path, char *const *more, size_t more_count,
             unsigned threads) {
    *set = (par2_set){0};
    collection c = {.mutex = PTHREAD_MUTEX_INITIALIZER, .set = set};
    if (getrandom(&c.key, sizeof c.key, 0) != sizeof c.key)
        c.key = (uint64_t)(uintptr_t)set;
    c.key |= 1;
    int code = add_volumes(set, path, more, more_count);
    size_t i = 0;
    for (; i < set->volume_count && code == 0 && !c.decided; i++)
        code = read_volume(&c, i, is_large(&c, i) ? threads : 1);
    if (code == 0)
        code = read_volumes(&c, i, threads);
    if (code == 0 && c.main == NULL)
        code = fail(PAR2_NOT_ENOUGH_DATA,
                    "%s and the files with its name have no intact packet that describes the set",
                    path);
    if (code == 0)
        code = number_files(&c);
    if (code == 0)
        sort_recovery(&c);
    for (size_t k = 0; k < c.room; k++) {
        free(c.known[k].file.name);
        free(c.known[k].file.checksums);
    }
    free(c.known);
    free(c.used);
    free(c.main);
    free(c.recovery_bytes);
    pthread_mutex_destroy(&c.mutex);
    return code;
}

void set_close(par2_set *set) {
    for (size_t i = 0; i < set->file_count; i++) {
        free(set->files[i].name);
        free(set->files[i].checksums);
    }
    for (size_t i = 0; i < set->volume_count; i++) {
        free(set->volumes[i].path);
        folder_release(set->volumes[i].in);
    }
    free(set->files);
    free(set->recovery);
    free(set->volumes);
    *set = (par2_set){0};
}
