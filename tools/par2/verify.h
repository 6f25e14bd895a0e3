/* SPDX-License-Identifier: BSD-3-Clause */
/* What verify and repair share: a set, what was found of it, and the report about it. */
#ifndef GFK_PAR2_VERIFY_H
#define GFK_PAR2_VERIFY_H

#include "par2.h"
#include "scan.h"

typedef struct verification {
    const par2_options *options;
    par2_set set;
    scan found;
    folder *base;
} verification;

/* verification_run: opens the set, scans, and reports. Returns PAR2_OK, PAR2_REPAIR_POSSIBLE or
 * PAR2_REPAIR_IMPOSSIBLE, or the exit code of an error. verification_free is needed in any case. */
int verification_run(verification *v, const par2_options *options);
void verification_free(verification *v);

#endif
