/* SPDX-License-Identifier: BSD-3-Clause */
#include "operands.h"

#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/device/device.h"

const gfk_regions gfk_no_regions = {NULL, NULL, 0};

gfk_operand gfk_operand_rows(const void *elements, size_t rows, size_t cols, size_t stride,
                             size_t symbol, unsigned flags) {
    if (stride < cols) /* refused in the same way as an operand without an address */
        return gfk_operand_range(NULL, symbol, symbol, flags);
    const size_t room = (UINTPTR_MAX - (uintptr_t)elements) / symbol;
    const bool fits = cols <= room && rows - 1 <= (room - cols) / stride;
    return gfk_operand_range(elements, fits ? ((rows - 1) * stride + cols) * symbol : SIZE_MAX,
                             symbol, flags);
}

/* ---- each operand --------------------------------------------------------------------------- */

static gfk_status check_regions(const gfk_regions *regions, size_t count, size_t bytes) {
    if (regions == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    bool fits = true;
    if (regions->pointers != NULL) {
        for (size_t i = 0; i < count; i++) {
            if (regions->pointers[i] == NULL)
                return GFK_STATUS_INVALID_ARGUMENT;
            fits &= !gfk_wraps(regions->pointers[i], bytes);
        }
    } else {
        if (regions->base == NULL || regions->stride < bytes)
            return GFK_STATUS_INVALID_ARGUMENT;
        const size_t room = UINTPTR_MAX - (uintptr_t)regions->base;
        fits = bytes <= room && count - 1 <= (room - bytes) / regions->stride;
    }
    return fits ? GFK_STATUS_SUCCESS : GFK_STATUS_INVALID_SIZE;
}

static gfk_status check_operand(const gfk_operand *o) {
    if (o->bytes == 0)
        return GFK_STATUS_SUCCESS;
    if (o->count != 0)
        return check_regions(o->regions, o->count, o->bytes);
    if ((uintptr_t)o->start % o->alignment != 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (o->given < o->bytes)
        return GFK_STATUS_WORKSPACE_TOO_SMALL;
    if (o->start == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    return gfk_wraps(o->start, o->bytes) ? GFK_STATUS_INVALID_SIZE : GFK_STATUS_SUCCESS;
}

static bool reaches(int place, const gfk_operand *o) {
    if (o->flags & GFK_HOST)
        return true;
    if (o->count == 0)
        return gfk_device_reaches(place, o->start, o->bytes);
    for (size_t i = 0; o->bytes != 0 && i < o->count; i++)
        if (!gfk_device_reaches(place, gfk_region_address(o->regions, i), o->bytes))
            return false;
    return true;
}

/* ---- two operands --------------------------------------------------------------------------- */

static bool regions_overlap(const gfk_operand *in, const gfk_operand *out) {
    return (out->flags & GFK_HOST ? gfk_outputs_overlap_host : gfk_outputs_overlap)(
        in->regions, in->count, out->regions, out->count, out->bytes);
}

/* Does a range share a byte with a range or with regions? */
static bool touches(const gfk_operand *range, const gfk_operand *o) {
    return o->count != 0
               ? gfk_regions_touch(o->regions, o->count, o->bytes, range->start, range->bytes)
               : gfk_overlap(range->start, range->bytes, o->start, o->bytes);
}

/* Does a written operand share a byte with another operand, or a region of it with another region
 * of it? */
static bool overlaps(const gfk_operand *written, const gfk_operand *operands, size_t count) {
    static const gfk_operand none = {.regions = &gfk_no_regions};
    bool alone = written->count != 0; /* the regions have not been compared with each other */
    for (size_t i = 0; i < count; i++) {
        const gfk_operand *const o = &operands[i];
        const bool both = written->count != 0 && o->count != 0;
        if (o == written || o->bytes == 0)
            continue;
        if (both                  ? regions_overlap(o, written)
            : written->count == 0 ? touches(written, o)
                                  : touches(o, written))
            return true;
        alone = alone && !both;
    }
    return alone && regions_overlap(&none, written);
}

gfk_status gfk_operands_check(int place, bool check_pointers, const gfk_operand *operands,
                              size_t count) {
    gfk_status first = GFK_STATUS_SUCCESS; /* these three statuses ascend in the documented order */
    for (size_t i = 0; i < count && first != GFK_STATUS_INVALID_ARGUMENT; i++) {
        const gfk_status status = check_operand(&operands[i]);
        if (status != GFK_STATUS_SUCCESS && (first == GFK_STATUS_SUCCESS || status < first))
            first = status;
    }
    RETURN_IF_ERROR(first);
    for (size_t i = 0; i < count; i++)
        if (operands[i].bytes != 0 && operands[i].flags & GFK_WRITE &&
            overlaps(&operands[i], operands, count))
            return GFK_STATUS_OVERLAP;
    for (size_t i = 0; check_pointers && i < count; i++)
        if (!reaches(place, &operands[i]))
            return GFK_STATUS_WRONG_DEVICE;
    return GFK_STATUS_SUCCESS;
}
