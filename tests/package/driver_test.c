/* SPDX-License-Identifier: BSD-3-Clause */
/* driver_test VERSION: with old_driver.c as the driver, calls say that this version is needed. */
#include <gfk/gfk.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    int failed = argc != 2;
    for (size_t i = 0; !failed && i < gfk_kernel_count(); i++) {
        const gfk_kernel_info *info = gfk_kernel_at(i);
        const char *reason = NULL;
        const gfk_status status = gfk_kernel_available(info, GFK_CURRENT_DEVICE, &reason);
        if (info->implementation == GFK_IMPLEMENTATION_HOST || status == GFK_STATUS_NOT_SUPPORTED)
            continue; /* not on a device, or not built */
        failed = status != GFK_STATUS_NO_DEVICE || strstr(reason, "driver is too old") == NULL ||
                 strstr(reason, argv[1]) == NULL;
        printf("%s: %s %s\n", info->id, gfk_status_name(status), reason ? reason : "");
    }
    gfk_field field;
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    gfk_multiplier_t multiplier = NULL;
    desc.implementation = GFK_IMPLEMENTATION_NAIVE;
    (void)gfk_field_init(&field, 8, 0);
    return failed || gfk_multiplier_create(&multiplier, &field, &desc) != GFK_STATUS_NO_DEVICE;
}
