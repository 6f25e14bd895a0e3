/* SPDX-License-Identifier: BSD-3-Clause */
/* Pinned memory is ordinary memory that was registered. So it can be allocated without a device
 * too, and it is freed the same way with and without one. */
#include <stdlib.h>

#include "pipeline.h"

enum { PAGE = 4096 };

gfk_status gfk_pinned_alloc(void **memory, size_t bytes) {
    if (memory == NULL || bytes == 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (bytes > SIZE_MAX - PAGE)
        return GFK_STATUS_OUT_OF_MEMORY;
    const size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    void *made = aligned_alloc(PAGE, whole);
    if (made == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    int device;
    const char *reason;
    gfk_status status = GFK_STATUS_SUCCESS;
    if (gfk_device_resolve(-1, &device, &reason) == GFK_STATUS_SUCCESS)
        status = gfk_device_register(made, whole);
    if (status == GFK_STATUS_SUCCESS)
        *memory = made;
    else
        free(made);
    return status;
}

void gfk_pinned_free(void *memory) {
    if (memory == NULL)
        return;
    /* Without a device the memory was not registered, and this is refused. If CUDA fails, devices
     * may still access the pages by their address, so they must not be used for anything else. */
    if (gfk_device_unregister(memory) != GFK_STATUS_CUDA)
        free(memory);
}

gfk_status gfk_pinned_register(void *memory, size_t bytes) {
    return memory == NULL || bytes == 0 ? GFK_STATUS_INVALID_ARGUMENT
                                        : gfk_device_register(memory, bytes);
}

gfk_status gfk_pinned_unregister(void *memory) {
    return memory == NULL ? GFK_STATUS_INVALID_ARGUMENT : gfk_device_unregister(memory);
}
