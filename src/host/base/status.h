/* SPDX-License-Identifier: BSD-3-Clause */
/* The way in which functions of the library return the failure of a call. */
#ifndef GFK_HOST_STATUS_H
#define GFK_HOST_STATUS_H

#include <gfk/status.h>

/* Returns from the function with the status of the call, unless the status is SUCCESS. The macro is
 * for functions that have nothing to release. */
#define RETURN_IF_ERROR(call)                                                                      \
    do {                                                                                           \
        const gfk_status status_of_call = (call);                                                  \
        if (status_of_call != GFK_STATUS_SUCCESS)                                                  \
            return status_of_call;                                                                 \
    } while (0)

#endif
