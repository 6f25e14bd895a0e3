/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into the tool: lets one of its allocations fail, counted from the start of main.
 * NO_MEMORY is the number of the allocation, from 1; with NO_MEMORY_LEFT=1 all later allocations
 * fail too. The starts of threads count as allocations. COUNT_FILE is a file that receives their
 * number. The C library allocates by the same functions: strdup, opendir, fopen and others fail
 * too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_bool counting;
static atomic_long calls;
static long first;
static bool all;

static bool fails(void) {
    if (!counting)
        return false;
    const long number = atomic_fetch_add(&calls, 1) + 1;
    return first != 0 && (number == first || (all && number > first));
}

static void *no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t bytes) {
    return fails() ? no_memory() : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
    return fails() ? no_memory() : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes) {
    return fails() ? no_memory() : __libc_realloc(old, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
    return fails() ? no_memory() : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    return memalign(alignment, bytes);
}

int posix_memalign(void **made, size_t alignment, size_t bytes) {
    void *memory = memalign(alignment, bytes);
    if (memory != NULL)
        *made = memory;
    return memory == NULL ? ENOMEM : 0;
}

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
    return fails() ? EAGAIN
                   : ((create *)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, start,
                                                                    argument);
}

typedef int main_function(int, char **, char **);
typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void),
                           void (*)(void), void *);

static main_function *real_main;

static int counted_main(int argc, char **argv, char **environment) {
    const char *number = getenv("NO_MEMORY"), *left = getenv("NO_MEMORY_LEFT");
    first = number == NULL ? 0 : atol(number);
    all = left != NULL && atoi(left) != 0;
    counting = true;
    const int code = real_main(argc, argv, environment);
    counting = false;
    const char *path = getenv("COUNT_FILE");
    if (path != NULL) {
        char line[32];
        const int length = snprintf(line, sizeof line, "%ld\n", atomic_load(&calls));
        const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0 || write(fd, line, (size_t)length) != length)
            abort();
        close(fd);
    }
    return code;
}

int __libc_start_main(main_function *start, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader)(void), void *stack) {
    real_main = start;
    return ((start_function *)dlsym(RTLD_NEXT, "__libc_start_main"))(counted_main, argc, argv, init,
                                                                     fini, loader, stack);
}
