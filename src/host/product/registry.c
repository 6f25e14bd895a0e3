/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of engines as an array, and queries. */
#include <string.h>

#include "engine.h"
#include "host/base/status.h"
#include "host/device/device.h"

/* A CUDA engine's functions are gfk_<id>_accepts and so on. A build without CUDA has the rows of
 * CUDA engines without functions. */
#ifdef GFK_HAVE_CUDA
#define CUDA_FUNCTION(f) f
#define GFK_CUDA_ENGINE(id, ...)                                                                   \
    gfk_engine_accepts_fn gfk_##id##_accepts;                                                      \
    gfk_engine_create_fn gfk_##id##_create;                                                        \
    gfk_engine_destroy_fn gfk_##id##_destroy;                                                      \
    gfk_engine_run_fn gfk_##id##_run;
#else
#define CUDA_FUNCTION(f) NULL
#define GFK_CUDA_ENGINE(id, ...)
#endif
#ifdef GFK_HAVE_CLMAD
#define CLMAD_FUNCTION(f) f
#define GFK_CLMAD_ENGINE(id, ...)                                                                  \
    gfk_engine_accepts_fn gfk_##id##_accepts;                                                      \
    gfk_engine_create_fn gfk_##id##_create;                                                        \
    gfk_engine_run_fn gfk_##id##_run;
#else
#define CLMAD_FUNCTION(f) NULL
#define GFK_CLMAD_ENGINE(id, ...)
#endif
#define GFK_HOST_ENGINE(...)
#include "engines.def"
#undef GFK_HOST_ENGINE
#undef GFK_CLMAD_ENGINE
#undef GFK_CUDA_ENGINE

#define NONE NULL
#define GFK_HOST_ENGINE(id, FAMILY, w, labels, load, accepts, create, destroy, run)                \
    {{#id, GFK_ENGINE_##FAMILY, w, GFK_METHOD_AUTO, labels, 0, 0, (w) / 8},                        \
     load,                                                                                         \
     accepts,                                                                                      \
     create,                                                                                       \
     destroy,                                                                                      \
     run},
#define GFK_CUDA_ENGINE(id, FAMILY, METHOD, w, labels, cc_min, cc_max, tile)                       \
    {{#id, GFK_ENGINE_##FAMILY, w, GFK_METHOD_##METHOD, labels, cc_min, cc_max, tile},             \
     NULL,                                                                                         \
     CUDA_FUNCTION(gfk_##id##_accepts),                                                            \
     CUDA_FUNCTION(gfk_##id##_create),                                                             \
     CUDA_FUNCTION(gfk_##id##_destroy),                                                            \
     CUDA_FUNCTION(gfk_##id##_run)},
#define GFK_CLMAD_ENGINE(id, w, tile)                                                              \
    {{#id, GFK_ENGINE_CLMAD, w, GFK_METHOD_AUTO, 0, 80, 0, tile},                                  \
     NULL,                                                                                         \
     CLMAD_FUNCTION(gfk_##id##_accepts),                                                           \
     CLMAD_FUNCTION(gfk_##id##_create),                                                            \
     NULL,                                                                                         \
     CLMAD_FUNCTION(gfk_##id##_run)},
const gfk_engine gfk_engines[] = {
#include "engines.def"
};

enum { COUNT = sizeof gfk_engines / sizeof gfk_engines[0] };
_Static_assert(sizeof gfk_engines <= GFK_MOST_ENGINES * sizeof gfk_engines[0],
               "GFK_MOST_ENGINES is too small");

size_t gfk_engine_count(void) {
    return COUNT;
}

const gfk_engine_info *gfk_engine_at(size_t index) {
    return index < COUNT ? &gfk_engines[index].info : NULL;
}

const gfk_engine_info *gfk_engine_find(const char *id) {
    for (size_t i = 0; id != NULL && i < COUNT; i++)
        if (strcmp(id, gfk_engines[i].info.id) == 0)
            return &gfk_engines[i].info;
    return NULL;
}

const gfk_engine *gfk_engine_of(const gfk_engine_info *info) {
    for (size_t i = 0; i < COUNT; i++)
        if (info == &gfk_engines[i].info)
            return &gfk_engines[i];
    return NULL;
}

gfk_status gfk_engine_check(const gfk_engine *engine, int requested, int *device,
                            const char **reason) {
    *device = GFK_CPU;
    *reason = NULL;
    const gfk_engine_info *info = &engine->info;
    if (engine->run == NULL) {
        *reason = GFK_NOT_BUILT;
        return GFK_STATUS_NOT_SUPPORTED;
    }
    if (gfk_engine_family_on_cpu(info->family))
        return GFK_STATUS_SUCCESS;
    RETURN_IF_ERROR(gfk_device_resolve(requested, device, reason));
    return gfk_device_check(info->cc_min, info->cc_max, 0, *device, reason);
}

gfk_status gfk_engine_available(const gfk_engine_info *info, int device, const char **reason) {
    const char *unused;
    if (reason == NULL)
        reason = &unused;
    const gfk_engine *engine = gfk_engine_of(info);
    if (engine == NULL) {
        *reason = "this is no row of the list";
        return GFK_STATUS_INVALID_ARGUMENT;
    }
    if (!gfk_device_allows(device, gfk_engine_family_on_cpu(info->family), true)) {
        *reason = "the number stands for no place where this row can run";
        return GFK_STATUS_INVALID_ARGUMENT;
    }
    RETURN_IF_ERROR(gfk_engine_check(engine, device, &device, reason));
    static const gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    gfk_field field; /* the usual field */
    RETURN_IF_ERROR(gfk_field_init(&field, info->w, 0));
    return engine->load != NULL ? engine->load(&desc, &field, reason) : GFK_STATUS_SUCCESS;
}

const char *gfk_engine_family_name(gfk_engine_family family) {
    static const char *const names[] = {"auto", "host", "isal",       "perop",
                                        "prmt", "bmma", "gfcomplete", "clmad"};
    return (size_t)family < sizeof names / sizeof names[0] ? names[family] : "unknown";
}

bool gfk_engine_family_on_cpu(gfk_engine_family family) {
    return family == GFK_ENGINE_HOST || family == GFK_ENGINE_ISAL ||
           family == GFK_ENGINE_GFCOMPLETE;
}

const gfk_engine_info *gfk_engine_named(const char *id, const gfk_compiled_kernel_info **kernel) {
    const gfk_kernel_row *const row = gfk_row_find(id);
    *kernel = NULL;
    if (row == NULL)
        return gfk_engine_find(id);
    for (size_t i = 0; i < COUNT; i++) {
        const char *const name = gfk_engines[i].info.id;
        const size_t length = strlen(name);
        if (strncmp(id, name, length) == 0 && id[length] == '/') {
            *kernel = &row->info;
            return &gfk_engines[i].info;
        }
    }
    return NULL; /* the id names the kernel of a call */
}
