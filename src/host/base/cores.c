/* SPDX-License-Identifier: BSD-3-Clause */
#include "cores.h"

#include <sched.h>
#include <unistd.h>

unsigned gfk_usable_cores(void) {
    cpu_set_t mask;
    const int allowed = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
    if (allowed > 0)
        return (unsigned)allowed;
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more than a mask of this size can say */
    return online < 1 ? 1 : (unsigned)online;
}
