/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of engines as an array, and the questions one can ask it. */
#include <string.h>

#include "engine.h"
#include "host/base/status.h"
#include "host/device/device.h"

/* A CUDA engine's functions are gfk_<id>_accepts and so on. A build without CUDA has the row but
 * not the functions, and device_none.c has the reason; without ISA-L its row likewise. */
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
#define GFK_HOST_ENGINE(...)
#include "engines.def"
#undef GFK_HOST_ENGINE
#undef GFK_CUDA_ENGINE

#ifdef GFK_HAVE_ISAL
#define ISAL(f) f
#else
#define ISAL(f) NULL
#endif
#define NONE NULL
#define GFK_HOST_ENGINE(id, FAMILY, w, labels, accepts, create, destroy, run)                      \
    {{#id, GFK_ENGINE_##FAMILY, w, GFK_METHOD_AUTO, labels, 0, 0, (w) / 8},                        \
     accepts,                                                                                      \
     create,                                                                                       \
     destroy,                                                                                      \
     run},
#define GFK_CUDA_ENGINE(id, FAMILY, METHOD, w, labels, cc_min, cc_max, tile)                       \
    {{#id, GFK_ENGINE_##FAMILY, w, GFK_METHOD_##METHOD, labels, cc_min, cc_max, tile},             \
     CUDA_FUNCTION(gfk_##id##_accepts),                                                            \
     CUDA_FUNCTION(gfk_##id##_create),                                                             \
     CUDA_FUNCTION(gfk_##id##_destroy),                                                            \
     CUDA_FUNCTION(gfk_##id##_run)},
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

bool gfk_engine_on_host(const gfk_engine_info *info) {
    return info->family == GFK_ENGINE_HOST || info->family == GFK_ENGINE_ISAL;
}

gfk_status gfk_engine_check(const gfk_engine *engine, int requested, int *device,
                            const char **reason) {
    *device = -1;
    *reason = NULL;
    const gfk_engine_info *info = &engine->info;
    const bool on_host = gfk_engine_on_host(info);
    if (engine->run == NULL) {
        *reason = on_host ? "this build of the library has no ISA-L"
                          : "this build of the library has no CUDA kernels";
        return GFK_STATUS_NOT_SUPPORTED;
    }
    if (on_host)
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
    return gfk_engine_check(engine, device, &device, reason);
}

const char *gfk_engine_family_name(gfk_engine_family family) {
    static const char *const names[] = {"auto", "host", "isal", "perop", "prmt", "bmma", "xor"};
    return (size_t)family < sizeof names / sizeof names[0] ? names[family] : "unknown";
}
