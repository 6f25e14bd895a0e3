/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a code that locating needs, on the host or on the device. */
#include <stdlib.h>
#include <string.h>

#include "host/device/device.h"
#include "host/rs/code.h"
#include "locate.h"

/* The number of words of a code's tables: matrix, points, multipliers of parity, inverses of all
 * multipliers; for a device also the tables of the arithmetic. */
static size_t table_words(const gfk_rs_info *info, size_t entries) {
    const size_t n = info->k + info->m;
    return info->m * info->k + n + info->m + n + (entries + 1) / 2;
}

/* The view of the tables that begin at `words`. */
static gfk_locate_code view(gfk_rs_t code, bool points, const uint32_t *words, size_t entries) {
    const size_t k = code->info.k, m = code->info.m;
    gfk_locate_code out = {.field = code->arithmetic,
                           .k = (uint32_t)k,
                           .m = (uint32_t)m,
                           .t = (uint32_t)(m / 2),
                           .matrix = words};
    words += m * k;
    out.points = points ? words : NULL;
    words += k + m;
    out.v_parity = words;
    words += m;
    out.v_inverses = words;
    words += k + m;
    if (entries != 0) {
        out.field.log = (const uint16_t *)words;
        out.field.antilog = out.field.log + (code->arithmetic.antilog - code->arithmetic.log);
    }
    return out;
}

/* Fills the tables. *points: the code is decoded by its points, else by a search. False: neither
 * is possible. */
static bool fill(gfk_rs_t code, uint32_t *words, size_t entries, bool *points) {
    const gfk_rs_info *info = &code->info;
    const gfk_arithmetic *f = &code->arithmetic;
    const size_t k = info->k, m = info->m, n = k + m;
    uint32_t *at = words + m * k, *v_parity = at + n, *v_inverses = v_parity + m;
    memcpy(words, code->matrix, m * k * sizeof *words);
    *points = gfk_grs_find(f, info, code->matrix, at, v_inverses);
    if (!*points &&
        (info->mds != GFK_RS_MDS_YES || !gfk_rs_few_subsets(n, m / 2, GFK_LOCATE_MOST_SUBSETS)))
        return false;
    if (*points) {
        memcpy(v_parity, v_inverses + k, m * sizeof *words);
        for (size_t i = 0; i < n; i++)
            v_inverses[i] = gfk_inverse(f, v_inverses[i]);
    }
    if (entries != 0)
        memcpy(v_inverses + n, f->log, entries * sizeof *f->log);
    return true;
}

/* Copies the tables to the device and frees them on the host. */
static gfk_status upload(gfk_rs_locator *locator, int device, size_t bytes) {
    void *host = locator->tables;
    locator->tables = NULL;
    locator->device = device;
    gfk_status status = gfk_device_alloc(&locator->tables, bytes);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_device_upload(locator->tables, host, bytes);
    free(host);
    return status;
}

/* Sets *offered to whether the code can locate. */
static gfk_status make(gfk_rs_t code, gfk_rs_locator *locator, bool *offered) {
    const bool on_device = code->info.device >= 0;
    const size_t entries = on_device ? gfk_arithmetic_entries(&code->info.field) : 0;
    const size_t bytes = table_words(&code->info, entries) * sizeof(uint32_t);
    bool points = false;
    locator->tables = calloc(1, bytes);
    if (locator->tables == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    *offered = fill(code, locator->tables, entries, &points);
    if (*offered && on_device)
        RETURN_IF_ERROR(upload(locator, code->info.device, bytes));
    locator->code = view(code, points, locator->tables, entries);
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_rs_locator_create(gfk_rs_t code) {
    if (code->info.m < 2 || code->info.m > GFK_LOCATE_MOST_ROWS)
        return GFK_STATUS_SUCCESS;
    gfk_rs_locator *locator = calloc(1, sizeof *locator);
    if (locator == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    locator->device = -1;
    bool offered = false;
    const gfk_status status = make(code, locator, &offered);
    if (status != GFK_STATUS_SUCCESS || !offered) {
        gfk_rs_locator_destroy(locator);
        return status;
    }
    code->locator = locator;
    code->info.locatable = code->info.m / 2;
    return GFK_STATUS_SUCCESS;
}

void gfk_rs_locator_destroy(gfk_rs_locator *locator) {
    if (locator == NULL)
        return;
    if (locator->device >= 0)
        gfk_device_free(locator->device, locator->tables);
    else
        free(locator->tables);
    free(locator);
}
