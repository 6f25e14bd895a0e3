/* SPDX-License-Identifier: BSD-3-Clause */
/* Multipliers: the choice of a row, create and destroy. */
#include <stdlib.h>

#include "host/base/field.h"
#include "host/base/status.h"
#include "host/device/device.h"
#include "kernel.h"

/* The rows in the order of measured speed, per width, fastest first. */
static const struct preference {
    unsigned w;
    const char *id;
} preferences[] = {
#define GFK_PREFER(w, id) {w, #id},
#include "preference.def"
#undef GFK_PREFER
};

static const gfk_multiplier_desc defaults = GFK_MULTIPLIER_DESC_INIT;

static gfk_status check_desc(const gfk_multiplier_desc *desc) {
    if (desc->size != sizeof *desc || (unsigned)desc->method > GFK_METHOD_CARRY_FREE ||
        (unsigned)desc->implementation > GFK_IMPLEMENTATION_OPT ||
        desc->device < GFK_CURRENT_DEVICE)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (desc->kernel != NULL && gfk_kernel_find(desc->kernel) == NULL)
        return GFK_STATUS_UNKNOWN_METHOD;
    return GFK_STATUS_SUCCESS;
}

static bool arguments_are(const gfk_kernel_info *info, unsigned a, unsigned b) {
    return (a == 0 || a == info->arg1) && (b == 0 || b == info->arg2);
}

/* The parameters of SPLIT match in either order. */
static bool arguments_match(const gfk_kernel_info *info, const gfk_multiplier_desc *desc) {
    const unsigned a = desc->arg1, b = desc->arg2;
    if (info->arg_min != 0)
        return (a == 0 || (a >= info->arg_min && a <= info->arg_max)) &&
               (b == 0 || (b >= info->arg_min && b <= info->arg_max));
    return arguments_are(info, a, b) ||
           (info->method == GFK_METHOD_SPLIT && arguments_are(info, b, a));
}

static bool matches(const gfk_kernel_info *info, unsigned w, const gfk_multiplier_desc *desc) {
    return info->w == w && (desc->method == GFK_METHOD_AUTO || desc->method == info->method) &&
           (desc->implementation == GFK_IMPLEMENTATION_AUTO ||
            desc->implementation == info->implementation) &&
           arguments_match(info, desc);
}

static gfk_multiplier_info info_of(const gfk_kernel_info *row, const gfk_field *field,
                                   const gfk_multiplier_desc *desc) {
    gfk_multiplier_info info = {.kernel = row,
                                .field = *field,
                                .arg1 = row->arg1,
                                .arg2 = row->arg2,
                                .table_bytes = row->table_bytes,
                                .workspace_bytes = row->workspace_bytes};
    if (row->arg_min != 0) { /* GROUP: 2^gs multiples in the workspace, 2^gr reductions */
        info.arg1 = desc->arg1 ? desc->arg1 : row->arg1;
        info.arg2 = desc->arg2 ? desc->arg2 : row->arg2;
        info.workspace_bytes = (row->workspace_bytes >> row->arg1) << info.arg1;
        info.table_bytes = (row->table_bytes >> row->arg2) << info.arg2;
    }
    return info;
}

/* The search among the matching rows. It returns the first row that can run and whose tables are
 * within the limit; else the first row that can run; else the reason why the first row cannot
 * run. */
typedef struct search {
    const gfk_field *field;
    const gfk_multiplier_desc *desc;
    bool named; /* desc names rows of one side, the CPU or the device */
    /* the reason why the library cannot choose a row: there is no such device */
    gfk_status device_status;
    gfk_multiplier_info best;
    gfk_status status;
    bool fits;
} search;

static bool fits(const gfk_multiplier_info *info, const gfk_multiplier_desc *desc) {
    const uint64_t limit = desc->table_limit ? desc->table_limit : GFK_DEFAULT_TABLE_LIMIT;
    return info->table_bytes <= limit && info->workspace_bytes <= limit - info->table_bytes;
}

static void consider(search *s, const gfk_kernel_info *row) {
    if (s->fits || !matches(row, s->field->w, s->desc))
        return;
    const bool on_host = row->implementation == GFK_IMPLEMENTATION_HOST;
    if (!gfk_device_allows(s->desc->device, on_host, s->named)) {
        s->status = s->named ? GFK_STATUS_INVALID_ARGUMENT : s->status;
        return;
    }
    gfk_multiplier_info info = info_of(row, s->field, s->desc);
    const char *reason;
    gfk_status status = s->device_status;
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_kernel_check(gfk_kernel_of(row), s->desc->device, &info.device, &reason);
    if (status == GFK_STATUS_SUCCESS && (s->status != status || fits(&info, s->desc))) {
        s->best = info;
        s->status = status;
        s->fits = fits(&info, s->desc);
    } else if (s->status == GFK_STATUS_UNKNOWN_METHOD) {
        s->status = status;
    }
}

/* Optimized rows first, host rows last. */
static void consider_others(search *s) {
    for (int i = GFK_IMPLEMENTATION_OPT; i >= GFK_IMPLEMENTATION_HOST; i--)
        for (size_t row = 0; row < gfk_kernel_count(); row++) {
            const gfk_kernel_info *info = gfk_kernel_at(row);
            if ((int)info->implementation == i && !(info->labels & GFK_LABEL_EXTRA))
                consider(s, info);
        }
}

static void search_rows(search *s) {
    if (s->desc->kernel != NULL) {
        const gfk_kernel_info *row = gfk_kernel_find(s->desc->kernel);
        s->status = matches(row, s->field->w, s->desc) ? s->status : GFK_STATUS_INVALID_ARGUMENT;
        consider(s, row);
        return;
    }
    for (size_t i = 0; i < sizeof preferences / sizeof preferences[0]; i++)
        if (preferences[i].w == s->field->w)
            consider(s, gfk_kernel_find(preferences[i].id));
    /* Then the rows without a preference: giants, rows that no result has yet, and rows with other
     * parameters than the default. */
    consider_others(s);
}

static gfk_status resolve(const gfk_field *field, const gfk_multiplier_desc *desc,
                          gfk_multiplier_info *info) {
    if (!gfk_field_is_valid(field))
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(check_desc(desc));
    search s = {.field = field, .desc = desc, .status = GFK_STATUS_UNKNOWN_METHOD};
    s.named = desc->kernel != NULL || desc->implementation != GFK_IMPLEMENTATION_AUTO;
    int device;
    const char *reason;
    if (!s.named && desc->device != GFK_CPU)
        s.device_status = gfk_device_resolve(desc->device, &device, &reason);
    search_rows(&s);
    if (s.status == GFK_STATUS_SUCCESS)
        *info = s.best;
    return s.status;
}

gfk_status gfk_multiplier_query(const gfk_field *field, const gfk_multiplier_desc *desc,
                                gfk_multiplier_info *info) {
    if (info == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    return resolve(field, desc ? desc : &defaults, info);
}

static gfk_status build(gfk_multiplier_t m) {
    const uint64_t bytes = m->info.table_bytes;
    if (bytes != 0 && m->on_device)
        RETURN_IF_ERROR(gfk_device_alloc(&m->tables, bytes));
    else if (bytes > SIZE_MAX || (bytes != 0 && (m->tables = malloc((size_t)bytes)) == NULL))
        return GFK_STATUS_OUT_OF_MEMORY;
    return m->kernel->create != NULL ? m->kernel->create(m) : GFK_STATUS_SUCCESS;
}

static gfk_status build_on_device(gfk_multiplier_t m) {
    int previous;
    RETURN_IF_ERROR(gfk_device_processors(m->info.device, &m->processors));
    RETURN_IF_ERROR(gfk_device_enter(m->info.device, &previous));
    return gfk_device_leave(previous, build(m));
}

gfk_status gfk_multiplier_create(gfk_multiplier_t *multiplier, const gfk_field *field,
                                 const gfk_multiplier_desc *desc) {
    gfk_multiplier_info info;
    if (multiplier == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (desc == NULL)
        desc = &defaults;
    RETURN_IF_ERROR(resolve(field, desc, &info));
    if (!fits(&info, desc))
        return GFK_STATUS_TABLE_LIMIT;
    gfk_multiplier_t m = calloc(1, sizeof *m);
    if (m == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    m->info = info;
    m->kernel = gfk_kernel_of(info.kernel);
    m->check_pointers = desc->check_pointers;
    m->barrett = gfk_barrett_of(field->w, field->polynomial);
    m->on_device = info.kernel->implementation != GFK_IMPLEMENTATION_HOST;
    const gfk_status status = m->on_device ? build_on_device(m) : build(m);
    if (status == GFK_STATUS_SUCCESS)
        *multiplier = m;
    else
        gfk_multiplier_destroy(m);
    return status;
}

gfk_status gfk_multiplier_get_info(gfk_multiplier_t multiplier, gfk_multiplier_info *info) {
    if (multiplier == NULL || info == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    *info = multiplier->info;
    return GFK_STATUS_SUCCESS;
}

void gfk_multiplier_destroy(gfk_multiplier_t multiplier) {
    if (multiplier == NULL)
        return;
    if (multiplier->on_device)
        gfk_device_free(multiplier->info.device, multiplier->tables);
    else
        free(multiplier->tables);
    free(multiplier);
}
