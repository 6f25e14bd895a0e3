/* SPDX-License-Identifier: BSD-3-Clause */
#include "ending.h"

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool end_aside = false;

#ifdef __SANITIZE_THREAD__
void end_begin(void) {} /* it takes the other process for a fork */
#else
/* Waits until all threads of the first process have ended: then this process has another parent. It shares their
 * memory and has no thread of the C library, so it calls only the system. */
static int wait_for_end(void *context) {
    const long first = (long)(intptr_t)context;
    const struct timespec pause = {0, 1000000};
    while (syscall(SYS_getppid) == first)
        syscall(SYS_nanosleep, &pause, NULL);
    return 0;
}

void end_begin(void) {
    enum { STACK = 64 << 10 };
    static uint8_t stack[STACK] __attribute__((aligned(64)));
    if (!end_aside)
        return;
    for (int fd = 0; fd < 3; fd++)
        (void)close(fd);
    (void)clone(wait_for_end, stack + STACK, CLONE_VM | CLONE_FILES, (void *)(intptr_t)getpid());
}
#endif
