/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelines: create, destroy and their properties. */
#include <stdlib.h>

#include "pipeline.h"

enum { DEVICE_MEMORY = 1 << 30, PINNED_MEMORY = 256 << 20 };

static const gfk_pipeline_desc defaults = GFK_PIPELINE_DESC_INIT;

const char *gfk_path_name(gfk_path path) {
    static const char *const names[] = {"auto", "cpu", "gpu", "both"};
    return (unsigned)path < sizeof names / sizeof names[0] ? names[path] : "unknown";
}

static gfk_status check_desc(const gfk_pipeline_desc *desc) {
    if (desc->size != sizeof *desc || (unsigned)desc->path > GFK_PATH_BOTH ||
        desc->device_count > GFK_MOST_DEVICES || desc->streams > GFK_MOST_STREAMS ||
        desc->threads > GFK_MOST_THREADS || (desc->devices == NULL) != (desc->device_count == 0) ||
        (desc->path == GFK_PATH_CPU && desc->device_count != 0))
        return GFK_STATUS_INVALID_ARGUMENT;
    for (size_t i = 0; i < desc->device_count; i++) {
        if (desc->devices[i] < 0)
            return GFK_STATUS_INVALID_ARGUMENT;
        for (size_t j = 0; j < i; j++)
            if (desc->devices[i] == desc->devices[j])
                return GFK_STATUS_INVALID_ARGUMENT;
    }
    return GFK_STATUS_SUCCESS;
}

/* Finds the devices. There may be none only if the path is AUTO and the caller names none. */
static gfk_status find_devices(gfk_pipeline_info *info, const gfk_pipeline_desc *desc) {
    const char *reason;
    if (desc->path == GFK_PATH_CPU)
        return GFK_STATUS_SUCCESS;
    for (size_t i = 0; i < desc->device_count; i++)
        RETURN_IF_ERROR(gfk_device_resolve(desc->devices[i], &info->devices[i], &reason));
    info->device_count = desc->device_count;
    if (desc->device_count != 0)
        return GFK_STATUS_SUCCESS;
    const gfk_status status = gfk_device_resolve(GFK_CURRENT_DEVICE, &info->devices[0], &reason);
    if (status == GFK_STATUS_SUCCESS)
        info->device_count = 1;
    else if (desc->path == GFK_PATH_AUTO)
        info->path = GFK_PATH_CPU;
    else
        return status;
    return GFK_STATUS_SUCCESS;
}

static unsigned cores(void) {
    const unsigned n = gfk_usable_cores();
    return n < GFK_MOST_THREADS ? n : GFK_MOST_THREADS;
}

static void load_calibration(gfk_pipeline_t p, const char *file) {
    if (file == NULL)
        return;
    gfk_pipeline_info *info = &p->info;
    info->calibration = gfk_calibration_load(&p->calibration, file);
    if (info->calibration == GFK_STATUS_SUCCESS && !gfk_machine_fits(&p->calibration, info))
        info->calibration = GFK_STATUS_WRONG_DEVICE;
    info->calibrated = info->calibration == GFK_STATUS_SUCCESS;
}

gfk_status gfk_pipeline_create(gfk_pipeline_t *pipeline, const gfk_pipeline_desc *desc) {
    if (desc == NULL)
        desc = &defaults;
    gfk_pipeline_info info = {.path = desc->path};
    if (pipeline == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(check_desc(desc));
    RETURN_IF_ERROR(find_devices(&info, desc));
    info.device_memory = desc->device_memory ? desc->device_memory : DEVICE_MEMORY;
    info.pinned_memory = desc->pinned_memory ? desc->pinned_memory : PINNED_MEMORY;
    info.chunk = desc->chunk;
    info.streams = desc->streams;
    info.threads = desc->threads ? desc->threads : cores();
    gfk_pipeline_t p = calloc(1, sizeof *p);
    if (p == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    p->info = info;
    p->no_device = desc->path == GFK_PATH_AUTO && info.device_count == 0;
    p->pool = gfk_pool_acquire();
    p->workers = calloc(info.device_count + 1, sizeof *p->workers); /* calloc(0) may be NULL */
    if (p->pool == NULL || p->workers == NULL) {
        gfk_pool_release(p->pool);
        free(p->workers);
        free(p);
        return GFK_STATUS_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < info.device_count; i++) {
        p->workers[i].device = info.devices[i];
        p->workers[i].number = i;
    }
    (void)pthread_mutex_init(&p->mutex, NULL);
    gfk_product_cache_init(p);
    load_calibration(p, desc->calibration_file);
    *pipeline = p;
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_pipeline_get_info(gfk_pipeline_t pipeline, gfk_pipeline_info *info) {
    if (pipeline == NULL || info == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    *info = pipeline->info;
    return GFK_STATUS_SUCCESS;
}

void gfk_pipeline_destroy(gfk_pipeline_t pipeline) {
    if (pipeline == NULL)
        return;
    gfk_lru_clear(&pipeline->products);
    for (size_t i = 0; i < pipeline->info.device_count; i++)
        gfk_device_worker_close(&pipeline->workers[i]);
    (void)pthread_mutex_destroy(&pipeline->mutex);
    gfk_pool_release(pipeline->pool);
    free(pipeline->workers);
    free(pipeline);
}
