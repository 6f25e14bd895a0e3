/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into the tool: lets one of its allocations fail, counted from the start of main. The
 * process does not run main itself: each order on standard input has a number, from 1, of the
 * allocation that fails (0: none), and whether all later allocations fail too. A child then runs main
 * in the folder NO_MEMORY_FOLDER, with the files in, out and err of NO_MEMORY_STREAMS as its standard
 * streams, and the answer on standard output has the exit code, or a signal's number below zero, and
 * the number of allocations. The starts of threads count as allocations. The C library allocates by
 * the same functions: strdup, opendir, fopen and others fail too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

typedef struct order {
    long number, left; /* the allocation that fails; all later ones, too */
} order;

typedef struct answer {
    long code, calls;
} answer;

static atomic_bool counting;
static atomic_long *calls; /* in memory that parent and child share */
static order mine;

static bool fails(void) {
    if (!counting)
        return false;
    const long number = atomic_fetch_add(calls, 1) + 1;
    return mine.number != 0 && (number == mine.number || (mine.left != 0 && number > mine.number));
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

/* Makes a file of a folder one of the standard streams. */
static void redirect(int folder, const char *name, int flags, int stream) {
    const int fd = openat(folder, name, flags | O_CLOEXEC, 0644);
    if (fd < 0 || dup2(fd, stream) != stream)
        abort();
    close(fd);
}

static int child(int argc, char **argv, char **environment) {
    const int streams = open(getenv("NO_MEMORY_STREAMS"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    redirect(streams, "in", O_RDONLY, STDIN_FILENO);
    redirect(streams, "out", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(streams, "err", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    close(streams);
    if (chdir(getenv("NO_MEMORY_FOLDER")) != 0)
        abort();
    counting = true;
    const int code = real_main(argc, argv, environment);
    counting = false;
    return code;
}

static int counted_main(int argc, char **argv, char **environment) {
    calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (calls == MAP_FAILED)
        abort();
    while (read(STDIN_FILENO, &mine, sizeof mine) == (ssize_t)sizeof mine) {
        int status = 0;
        *calls = 0;
        const pid_t process = fork();
        if (process == 0)
            return child(argc, argv, environment);
        if (process < 0 || waitpid(process, &status, 0) != process)
            abort();
        const answer a = {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), *calls};
        if (write(STDOUT_FILENO, &a, sizeof a) != (ssize_t)sizeof a)
            abort();
    }
    return 0;
}

int __libc_start_main(main_function *start, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader)(void), void *stack) {
    real_main = start;
    return ((start_function *)dlsym(RTLD_NEXT, "__libc_start_main"))(counted_main, argc, argv, init,
                                                                     fini, loader, stack);
}
