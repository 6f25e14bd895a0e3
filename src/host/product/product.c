/* SPDX-License-Identifier: BSD-3-Clause */
/* Products: the choice of an engine, by the descriptor and in the order of measured speed; create
 * and destroy. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "host/base/field.h"
#include "host/base/sizes.h"
#include "host/base/status.h"
#include "host/base/threads.h"
#include "host/device/device.h"

static const gfk_product_desc defaults = GFK_PRODUCT_DESC_INIT;

/* ---- the choice of an engine ---------------------------------------------------------------- */

static const struct preference {
    bool large_fp64; /* the line is only for devices that gfk_device_prefers_clmad */
    unsigned w;
    size_t min_inputs, max_inputs, min_outputs, max_outputs; /* a maximum of 0 is no bound */
    size_t min_kib, max_kib;
    const char *id;
} preferences[] = {
#define ANY false
#define LARGE_FP64 true
#define GFK_PREFER_ENGINE(device, w, min_inputs, max_inputs, min_outputs, max_outputs, min_kib,    \
                          max_kib, id)                                                             \
    {device, w, min_inputs, max_inputs, min_outputs, max_outputs, min_kib, max_kib, #id},
#include "preference.def"
#include "preference_cpu.def"
#undef GFK_PREFER_ENGINE
#undef LARGE_FP64
#undef ANY
};

/* The search for an engine. */
typedef struct search {
    const gfk_field *field;
    size_t rows, cols;
    const gfk_product_desc *desc;
    bool named;      /* desc names engines of one side, the CPU or the device */
    gfk_status none; /* the status if no engine matches */
    const gfk_compiled_kernel_info *kernel; /* the kernel that desc names; NULL: desc names none */
    /* the engines that match, the preferred one first */
    const gfk_engine *engines[GFK_MOST_ENGINES];
    size_t count, next;
} search;

static bool is_absolute(const char *path) {
    return path == NULL || path[0] == '/';
}

static bool is_valid(const gfk_product_desc *desc) {
    return desc->size == sizeof *desc && (unsigned)desc->family <= GFK_ENGINE_CLMAD &&
           (unsigned)desc->method <= GFK_METHOD_CARRY_FREE && desc->device >= GFK_CURRENT_DEVICE &&
           is_absolute(desc->isal_library) && is_absolute(desc->gfcomplete_library);
}

static bool matches(const search *s, const gfk_engine_info *info) {
    const gfk_product_desc *desc = s->desc;
    return info->w == s->field->w &&
           (desc->family == GFK_ENGINE_AUTO || desc->family == info->family) &&
           (desc->method == GFK_METHOD_AUTO || desc->method == info->method);
}

static void add(search *s, const gfk_engine *engine) {
    if (!matches(s, &engine->info))
        return;
    if (!gfk_device_allows(s->desc->device, gfk_engine_family_on_cpu(engine->info.family),
                           s->named)) {
        s->none = s->named ? GFK_STATUS_INVALID_ARGUMENT : s->none;
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        if (s->engines[i] == engine)
            return;
    s->engines[s->count++] = engine;
}

static bool within(size_t n, size_t least, size_t most) {
    return n >= least && (most == 0 || n <= most);
}

static bool prefers(const struct preference *p, const search *s, bool large_fp64) {
    const size_t kib = s->desc->bytes ? gfk_divide_up(s->desc->bytes, 1024) : SIZE_MAX;
    return p->w == s->field->w && (large_fp64 || !p->large_fp64) &&
           within(s->cols, p->min_inputs, p->max_inputs) &&
           within(s->rows, p->min_outputs, p->max_outputs) && within(kib, p->min_kib, p->max_kib);
}

static gfk_status list_named_engine(search *s) {
    const gfk_engine_info *info = gfk_engine_named(s->desc->engine, &s->kernel);
    if (info == NULL)
        return GFK_STATUS_UNKNOWN_METHOD;
    s->none = GFK_STATUS_INVALID_ARGUMENT;
    add(s, gfk_engine_of(info));
    return GFK_STATUS_SUCCESS;
}

static bool has_large_fp64(int requested) {
    int device;
    const char *reason;
    return requested != GFK_CPU &&
           gfk_device_resolve(requested, &device, &reason) == GFK_STATUS_SUCCESS &&
           gfk_device_prefers_clmad(device);
}

static void list_engines(search *s) {
    const bool large_fp64 = has_large_fp64(s->desc->device);
    for (size_t i = 0; i < sizeof preferences / sizeof preferences[0]; i++)
        if (prefers(&preferences[i], s, large_fp64))
            add(s, gfk_engine_of(gfk_engine_find(preferences[i].id)));
    for (size_t i = 0; i < gfk_engine_count(); i++) /* some shapes have no preference */
        if (!(gfk_engines[i].info.labels & GFK_ENGINE_EXTRA))
            add(s, &gfk_engines[i]);
}

/* A library that the caller names is never replaced by another engine. */
static bool finds_libraries(const search *s) {
    bool isal = s->desc->isal_library == NULL, gfcomplete = s->desc->gfcomplete_library == NULL;
    bool found = true;
    for (size_t i = 0; i < s->count && found; i++) {
        const gfk_engine_family family = s->engines[i]->info.family;
        if (family == GFK_ENGINE_ISAL && !isal)
            isal = found = gfk_isal_is_at(s->desc->isal_library);
        if (family == GFK_ENGINE_GFCOMPLETE && !gfcomplete)
            gfcomplete = found = gfk_gfcomplete_is_at(s->desc->gfcomplete_library);
    }
    return found;
}

/* Checks the arguments and lists the engines that match. */
static gfk_status begin_search(search *s, const gfk_field *field, size_t rows, size_t cols,
                               const gfk_product_desc *desc) {
    *s = (search){.field = field,
                  .rows = rows,
                  .cols = cols,
                  .desc = desc,
                  .named = desc->engine != NULL || desc->family != GFK_ENGINE_AUTO ||
                           desc->method != GFK_METHOD_AUTO,
                  .none = GFK_STATUS_UNKNOWN_METHOD};
    int device;
    const char *reason;
    if (rows == 0 || cols == 0 || !is_valid(desc))
        return GFK_STATUS_INVALID_ARGUMENT;
    if (rows > SIZE_MAX / sizeof(uint32_t) / cols)
        return GFK_STATUS_INVALID_SIZE;
    if (desc->engine != NULL)
        RETURN_IF_ERROR(list_named_engine(s));
    else
        list_engines(s);
    if (s->count == 0)
        return s->none;
    if (!finds_libraries(s))
        return GFK_STATUS_NOT_SUPPORTED;
    /* If the library chooses the engine, a missing device is the reason, even if the build lacks
     * engines too. */
    return s->named || desc->device == GFK_CPU ? GFK_STATUS_SUCCESS
                                               : gfk_device_resolve(desc->device, &device, &reason);
}

static uint64_t table_limit(const gfk_product_desc *desc) {
    return desc->table_limit ? desc->table_limit : GFK_DEFAULT_TABLE_LIMIT;
}

static gfk_status consider(const search *s, const gfk_engine *engine, gfk_product_info *info) {
    const char *reason;
    *info = (gfk_product_info){.engine = &engine->info,
                               .field = *s->field,
                               .rows = s->rows,
                               .cols = s->cols,
                               .kernel = s->kernel};
    const gfk_compiled_kernel_info *kernel = s->kernel;
    if (kernel != NULL && !gfk_row_takes(kernel, info->cols, info->rows))
        return GFK_STATUS_NOT_SUPPORTED;
    RETURN_IF_ERROR(gfk_engine_check(engine, s->desc->device, &info->device, &reason));
    if (kernel != NULL)
        RETURN_IF_ERROR(gfk_row_check_device(kernel, info->device, &reason));
    if (engine->load != NULL)
        RETURN_IF_ERROR(engine->load(s->desc, s->field, &reason));
    if (engine->accepts != NULL)
        RETURN_IF_ERROR(engine->accepts(info, &reason));
    if (engine->info.family == GFK_ENGINE_HOST && info->table_bytes > table_limit(s->desc))
        info->table_bytes = 0; /* the reference needs no tables, but is faster with them */
    return GFK_STATUS_SUCCESS;
}

/* Finds the next engine of the list that can run here and whose tables are within the limit, and
 * sets *info. TABLE_LIMIT: some engines can run, but no engine's tables fit; *info is the first of
 * these engines. Any other status: the reason why the first engine left cannot run. */
static gfk_status next_engine(search *s, gfk_product_info *info) {
    gfk_status result = GFK_STATUS_SUCCESS; /* no engine has been considered yet */
    while (s->next < s->count) {
        gfk_product_info candidate;
        gfk_status status = consider(s, s->engines[s->next++], &candidate);
        if (status == GFK_STATUS_SUCCESS && candidate.table_bytes <= table_limit(s->desc)) {
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

/* ---- products ------------------------------------------------------------------------------- */

gfk_status gfk_product_query_proven(const gfk_field *field, size_t rows, size_t cols,
                                    const gfk_product_desc *desc, gfk_product_info *info) {
    if (info == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    search s;
    gfk_product_info found;
    RETURN_IF_ERROR(begin_search(&s, field, rows, cols, desc ? desc : &defaults));
    const gfk_status status = next_engine(&s, &found);
    if (status != GFK_STATUS_SUCCESS && status != GFK_STATUS_TABLE_LIMIT)
        return status;
    *info = found;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_product_query(const gfk_field *field, size_t rows, size_t cols,
                             const gfk_product_desc *desc, gfk_product_info *info) {
    return gfk_field_is_valid(field) ? gfk_product_query_proven(field, rows, cols, desc, info)
                                     : GFK_STATUS_INVALID_ARGUMENT;
}

static gfk_status build(gfk_product_t p, const gfk_product_desc *desc) {
    const uint64_t bytes = p->info.table_bytes;
    if (bytes != 0 && p->on_device)
        RETURN_IF_ERROR(gfk_device_alloc(&p->tables, bytes));
    else if (bytes > SIZE_MAX || (bytes != 0 && (p->tables = malloc((size_t)bytes)) == NULL))
        return GFK_STATUS_OUT_OF_MEMORY;
    if (!p->on_device && (p->pool = gfk_pool_acquire()) == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    return p->engine->create != NULL ? p->engine->create(p, desc) : GFK_STATUS_SUCCESS;
}

static gfk_status build_on_device(gfk_product_t p, const gfk_product_desc *desc) {
    int previous;
    RETURN_IF_ERROR(gfk_device_processors(p->info.device, &p->processors));
    RETURN_IF_ERROR(gfk_device_capability(p->info.device, &p->cc));
    RETURN_IF_ERROR(gfk_device_enter(p->info.device, &previous));
    return gfk_device_leave(previous, build(p, desc));
}

static gfk_status create_with_engine(gfk_product_t *product, const search *s,
                                     const gfk_product_info *info, const uint32_t *matrix) {
    const size_t elements = info->rows * info->cols;
    gfk_product_t p = calloc(1, sizeof *p);
    if (p == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    p->info = *info;
    p->engine = gfk_engine_of(info->engine);
    p->named = s->kernel;
    p->check_pointers = s->desc->check_pointers;
    p->on_device = !gfk_engine_family_on_cpu(info->engine->family);
    p->matrix = malloc(elements * sizeof *matrix);
    gfk_status status = GFK_STATUS_OUT_OF_MEMORY;
    if (p->matrix != NULL) {
        memcpy(p->matrix, matrix, elements * sizeof *matrix);
        status = p->on_device ? build_on_device(p, s->desc) : build(p, s->desc);
    }
    if (status == GFK_STATUS_SUCCESS)
        *product = p;
    else
        gfk_product_destroy(p);
    return status;
}

gfk_status gfk_product_create_proven(gfk_product_t *product, const gfk_field *field, size_t rows,
                                     size_t cols, const uint32_t *matrix,
                                     const gfk_product_desc *desc) {
    search s;
    if (product == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (desc == NULL)
        desc = &defaults;
    RETURN_IF_ERROR(begin_search(&s, field, rows, cols, desc));
    if (matrix == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (!gfk_field_contains_all(field, matrix, rows * cols))
        return GFK_STATUS_INVALID_CONSTANT;
    gfk_product_info info;
    RETURN_IF_ERROR(next_engine(&s, &info));
    return create_with_engine(product, &s, &info, matrix);
}

gfk_status gfk_product_create(gfk_product_t *product, const gfk_field *field, size_t rows,
                              size_t cols, const uint32_t *matrix, const gfk_product_desc *desc) {
    return gfk_field_is_valid(field)
               ? gfk_product_create_proven(product, field, rows, cols, matrix, desc)
               : GFK_STATUS_INVALID_ARGUMENT;
}

/* The offset of the tables in the memory of a product with another matrix. */
enum { TABLES_AT = (sizeof(struct gfk_product) + 63) / 64 * 64 };

size_t gfk_product_with_matrix_bytes(gfk_product_t like, size_t rows, size_t cols) {
    const char *reason;
    gfk_product_info info = like->info;
    info.rows = rows;
    info.cols = cols;
    info.table_bytes = 0;
    if (info.engine->family == GFK_ENGINE_ISAL)
        (void)gfk_isal_accepts(&info, &reason); /* sets table_bytes; the engine takes the field */
    return TABLES_AT + (size_t)info.table_bytes;
}

gfk_product_t gfk_product_with_matrix(gfk_product_t like, size_t rows, size_t cols,
                                      uint32_t *matrix, void *memory) {
    static const gfk_engine reference = {.run = gfk_host_product_run};
    const gfk_product_t p = memory;
    *p = *like;
    p->info.rows = rows;
    p->info.cols = cols;
    p->matrix = matrix;
    p->tables = NULL;
    if (like->info.engine->family == GFK_ENGINE_ISAL) {
        p->tables = (unsigned char *)memory + TABLES_AT;
        gfk_isal_fill_tables(p);
    } else {
        p->engine = &reference;
    }
    return p;
}

gfk_status gfk_product_get_info(gfk_product_t product, gfk_product_info *info) {
    if (product == NULL || info == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    *info = product->info;
    return GFK_STATUS_SUCCESS;
}

void gfk_product_destroy(gfk_product_t product) {
    if (product == NULL)
        return;
    if (product->engine->destroy != NULL)
        product->engine->destroy(product);
    if (product->on_device)
        gfk_device_free(product->info.device, product->tables);
    else
        free(product->tables);
    gfk_pool_release(product->pool);
    free(product->matrix);
    free(product);
}
