/* SPDX-License-Identifier: BSD-3-Clause */
/* How many threads are worth having. */
#ifndef GFK_HOST_CORES_H
#define GFK_HOST_CORES_H

/* gfk_usable_cores: the cores that the calling thread may run on, at least 1. An affinity mask, as
 * taskset, batch systems and containers set it, counts; a control group's quota does not. */
unsigned gfk_usable_cores(void);

#endif
