/* SPDX-License-Identifier: BSD-3-Clause */
/* Verification: the encoder compares instead of writing. On a device one launch must take all data,
 * because there is no place to keep sums; every engine takes ONE_LAUNCH addresses in a launch. */
#include "code.h"
#include "host/device/device.h"
#include "host/product/overlap.h"

enum { ONE_LAUNCH = 1024, ONE_LAUNCH_SPACED = 2048 };

gfk_status gfk_rs_check(gfk_rs_t code, const gfk_regions *data, const gfk_regions *parity,
                        size_t bytes, uint32_t *mismatch_map, unsigned shift, gfk_stream_t stream) {
    return gfk_product_check(code->encoder, data, parity, bytes, mismatch_map, shift, NULL, 0,
                             stream);
}

gfk_status gfk_rs_verify(gfk_rs_t code, const gfk_regions *data, const gfk_regions *parity,
                         size_t bytes, uint32_t *differs, gfk_stream_t stream) {
    if (code == NULL || differs == NULL || (uintptr_t)differs % sizeof *differs != 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    gfk_status status =
        gfk_product_check_arguments(code->encoder, data, parity, bytes, NULL, 0, stream);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    if (bytes != 0 && (gfk_regions_touch(data, code->info.k, bytes, differs, sizeof *differs) ||
                       gfk_regions_touch(parity, code->info.m, bytes, differs, sizeof *differs)))
        return GFK_STATUS_OVERLAP;
    if (code->info.device >= 0 && code->info.k > (data->pointers ? ONE_LAUNCH : ONE_LAUNCH_SPACED))
        return GFK_STATUS_NOT_SUPPORTED;
    if (code->info.device < 0)
        *differs = 0;
    else
        status = gfk_device_zero(differs, sizeof *differs, stream);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    return gfk_rs_check(code, data, parity, bytes, differs, 63, stream);
}
