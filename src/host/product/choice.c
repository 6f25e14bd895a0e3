/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of an engine: what the descriptor allows, in the order of measured speed. */
#include "choice.h"
#include "host/base/field.h"
#include "host/device/device.h"

/* The engines by shape and length, fastest first. A maximum of 0 is no bound. */
static const struct preference {
    unsigned w;
    size_t min_rows, max_rows, min_cols, max_cols, min_bytes, max_bytes;
    bool compile;
    const char *id;
} preferences[] = {
#define GFK_PREFER_ENGINE(w, min_rows, max_rows, min_cols, max_cols, min_bytes, max_bytes,         \
                          compile, id)                                                             \
    {w, min_rows, max_rows, min_cols, max_cols, min_bytes, max_bytes, compile, #id},
#include "preference.def"
#undef GFK_PREFER_ENGINE
};

static bool is_valid(const gfk_product_desc *desc) {
    return desc->size == sizeof *desc && (unsigned)desc->family <= GFK_ENGINE_XOR &&
           (unsigned)desc->method <= GFK_METHOD_SPLIT;
}

static bool matches(const gfk_choice *choice, const gfk_engine_info *info) {
    const gfk_product_desc *desc = choice->desc;
    return info->w == choice->field->w &&
           (desc->family == GFK_ENGINE_AUTO || desc->family == info->family) &&
           (desc->method == GFK_METHOD_AUTO || desc->method == info->method);
}

static void add(gfk_choice *choice, const gfk_engine *engine) {
    const gfk_product_desc *desc = choice->desc;
    if (!matches(choice, &engine->info))
        return;
    if (gfk_engine_on_host(&engine->info) && desc->device != -1 && desc->engine == NULL &&
        desc->family == GFK_ENGINE_AUTO)
        return; /* whoever names a device does not want the CPU instead */
    for (size_t i = 0; i < choice->count; i++)
        if (choice->engines[i] == engine)
            return;
    choice->engines[choice->count++] = engine;
}

static bool within(size_t n, size_t least, size_t most) {
    return n >= least && (most == 0 || n <= most);
}

static bool prefers(const struct preference *p, const gfk_choice *choice) {
    const size_t bytes = choice->desc->bytes ? choice->desc->bytes : SIZE_MAX;
    return p->w == choice->field->w && within(choice->rows, p->min_rows, p->max_rows) &&
           within(choice->cols, p->min_cols, p->max_cols) &&
           within(bytes, p->min_bytes, p->max_bytes) && (!p->compile || choice->desc->compile);
}

static gfk_status list_named_engine(gfk_choice *choice) {
    const gfk_engine_info *info = gfk_engine_named(choice->desc->engine, &choice->kernel);
    if (info == NULL)
        return GFK_STATUS_UNKNOWN_METHOD;
    add(choice, gfk_engine_of(info));
    return choice->count != 0 ? GFK_STATUS_SUCCESS : GFK_STATUS_INVALID_ARGUMENT;
}

static gfk_status list_engines(gfk_choice *choice) {
    for (size_t i = 0; i < sizeof preferences / sizeof preferences[0]; i++)
        if (prefers(&preferences[i], choice))
            add(choice, gfk_engine_of(gfk_engine_find(preferences[i].id)));
    for (size_t i = 0; i < gfk_engine_count(); i++) /* so that there is one for every shape */
        if (!(gfk_engines[i].info.labels & GFK_ENGINE_ABLATION))
            add(choice, &gfk_engines[i]);
    return choice->count != 0 ? GFK_STATUS_SUCCESS : GFK_STATUS_UNKNOWN_METHOD;
}

gfk_status gfk_choice_init(gfk_choice *choice, const gfk_field *field, size_t rows, size_t cols,
                           const gfk_product_desc *desc) {
    *choice = (gfk_choice){.field = field, .rows = rows, .cols = cols, .desc = desc};
    if (!gfk_field_is_valid(field) || rows == 0 || cols == 0 || !is_valid(desc))
        return GFK_STATUS_INVALID_ARGUMENT;
    if (rows > SIZE_MAX / sizeof(uint32_t) / cols)
        return GFK_STATUS_INVALID_SIZE;
    return desc->engine != NULL ? list_named_engine(choice) : list_engines(choice);
}

static gfk_status consider(const gfk_choice *choice, const gfk_engine *engine,
                           gfk_product_info *info) {
    const char *reason;
    *info = (gfk_product_info){.engine = &engine->info,
                               .field = *choice->field,
                               .rows = choice->rows,
                               .cols = choice->cols,
                               .kernel = choice->kernel};
    if ((engine->info.labels & GFK_ENGINE_COMPILES) && !choice->desc->compile)
        return GFK_STATUS_NOT_SUPPORTED;
    const gfk_engine_kernel_info *kernel = choice->kernel;
    if (kernel != NULL && !gfk_engine_kernel_takes(kernel, info->cols, info->rows))
        return GFK_STATUS_NOT_SUPPORTED;
    gfk_status status = gfk_engine_check(engine, choice->desc->device, &info->device, &reason);
    if (status == GFK_STATUS_SUCCESS && kernel != NULL)
        status = gfk_device_check(kernel->cc_min, kernel->cc_max, 0, info->device, &reason);
    if (status == GFK_STATUS_SUCCESS && engine->accepts != NULL)
        status = engine->accepts(info, &reason);
    return status;
}

gfk_status gfk_choice_next(gfk_choice *choice, gfk_product_info *info) {
    const uint64_t limit =
        choice->desc->table_limit ? choice->desc->table_limit : GFK_DEFAULT_TABLE_LIMIT;
    gfk_status result = GFK_STATUS_SUCCESS; /* none considered yet */
    while (choice->next < choice->count) {
        gfk_product_info candidate;
        gfk_status status = consider(choice, choice->engines[choice->next++], &candidate);
        if (status == GFK_STATUS_SUCCESS && candidate.table_bytes <= limit) {
            *info = candidate;
            return GFK_STATUS_SUCCESS;
        }
        if (status == GFK_STATUS_SUCCESS && result != GFK_STATUS_TABLE_LIMIT) {
            *info = candidate;
            result = GFK_STATUS_TABLE_LIMIT;
        } else if (result == GFK_STATUS_SUCCESS) {
            result = status;
        }
    }
    return result == GFK_STATUS_SUCCESS ? GFK_STATUS_NOT_SUPPORTED : result;
}
