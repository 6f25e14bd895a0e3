/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines xor_w8, xor_w16 and xor_w32, which compile the matrix into a kernel. */
#include <stdlib.h>

#include "compiler.h"
#include "host/base/status.h"
#include "host/device/device.h"
#include "host/product/engine.h"
#include "kernel_cache.h"
#include "prebuilt.h"
#include "specialize.h"

typedef struct state {
    gfk_jit_kernel *kernel;
    gfk_jit_target target;
} state;

static gfk_status xor_accepts(gfk_product_info *info, const char **reason) {
    if (gfk_jit_accepts(info->field.w, info->rows, info->cols))
        return GFK_STATUS_SUCCESS;
    *reason = "the matrix is too large to be compiled";
    return GFK_STATUS_NOT_SUPPORTED;
}

/* ---- create --------------------------------------------------------------------------------- */

static gfk_status load(const void *image, gfk_jit_kernel *made) {
    return gfk_device_load(image, GFK_JIT_KERNEL, &made->library, &made->function);
}

static void drop_image(gfk_jit_kernel *made) {
    free(made->image.data);
    made->image = (gfk_bytes){NULL, 0};
}

/* Loads one of the kernels that the library was built with. */
static bool load_prebuilt(gfk_product_t product, gfk_jit_kernel *made) {
    const gfk_product_info *info = &product->info;
    const unsigned char *code = gfk_jit_prebuilt_find(&info->field, info->rows, info->cols,
                                                      product->matrix, (unsigned)product->cc);
    return code != NULL && load(code, made) == GFK_STATUS_SUCCESS;
}

/* Loads a kernel from the folder. Removes a file that the driver rejects. */
static bool load_cached(const gfk_jit_disk_cache *cache, gfk_jit_kernel *made) {
    if (!gfk_jit_disk_cache_read(cache, made->key, &made->image))
        return false;
    if (load(made->image.data, made) == GFK_STATUS_SUCCESS)
        return true;
    gfk_jit_disk_cache_remove(cache, made->key);
    drop_image(made);
    return false;
}

/* Loads the machine code of a text, and keeps it in the folder. */
static bool load_compiled(const char *ptx, size_t length, unsigned cc,
                          const gfk_jit_disk_cache *cache, gfk_jit_kernel *made) {
    if (!gfk_jit_compile(ptx, length, cc, &made->image))
        return false;
    if (load(made->image.data, made) == GFK_STATUS_SUCCESS) {
        gfk_jit_disk_cache_write(cache, made->key, made->image);
        return true;
    }
    drop_image(made);
    return false;
}

/* Compiles the kernel and loads it. If the compiler fails or the driver rejects the machine code,
 * the driver gets the PTX. */
static gfk_status compile(gfk_product_t product, const gfk_jit_disk_cache *cache,
                          const gfk_jit_target *target, gfk_jit_kernel *made) {
    const gfk_product_info *info = &product->info;
    char *ptx = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&ptx, &length);
    if (out == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    gfk_status status =
        gfk_jit_write_ptx(out, &info->field, info->rows, info->cols, product->matrix, target);
    (void)fclose(out);
    if (status == GFK_STATUS_SUCCESS && !load_compiled(ptx, length, target->cc, cache, made))
        status = load(ptx, made);
    free(ptx);
    return status;
}

/* Tries the fastest way first: a loaded kernel, a prebuilt one, one from the folder, compilation.
 */
static gfk_status get_kernel(gfk_product_t product, const gfk_jit_disk_cache *cache, state *s,
                             bool *found) {
    const gfk_product_info *info = &product->info;
    gfk_jit_kernel made = {.unload = gfk_device_unload};
    made.key = gfk_jit_key(&info->field, info->rows, info->cols, product->matrix, &s->target,
                           gfk_jit_compiler_name());
    if (made.key.data == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    *found = true;
    s->kernel = gfk_jit_kernel_find(made.key);
    if (s->kernel != NULL) {
        if (s->kernel->image.size != 0 && !gfk_jit_disk_cache_has(cache, made.key))
            gfk_jit_disk_cache_write(cache, made.key, s->kernel->image);
        free(made.key.data);
        return GFK_STATUS_SUCCESS;
    }
    *found = load_prebuilt(product, &made) || load_cached(cache, &made);
    gfk_status status = GFK_STATUS_SUCCESS;
    if (!*found)
        status = compile(product, cache, &s->target, &made);
    if (status != GFK_STATUS_SUCCESS) {
        free(made.key.data);
        return status;
    }
    s->kernel = gfk_jit_kernel_add(&made);
    return s->kernel != NULL ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
}

static gfk_status xor_create(gfk_product_t product, const gfk_product_desc *desc) {
    const gfk_product_info *info = &product->info;
    if (!desc->compile)
        return GFK_STATUS_NOT_SUPPORTED;
    state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    product->state = s;
    s->target = gfk_jit_choose_target(info->field.w, info->rows, info->cols, (unsigned)product->cc);
    const gfk_jit_disk_cache cache = {desc->cache_folder, GFK_JIT_CACHE_LIMIT};
    return get_kernel(product, &cache, s, &product->info.from_cache);
}

static void xor_destroy(gfk_product_t product) {
    state *s = product->state;
    if (s != NULL)
        gfk_jit_kernel_release(s->kernel);
    free(s);
    product->state = NULL;
}

/* ---- run ------------------------------------------------------------------------------------ */

/* One launch for every 4 GiB, so that 32 bits count the tiles of a launch. */
static gfk_status xor_run(const gfk_product_call *call) {
    const gfk_product_info *info = &call->product->info;
    const state *s = call->product->state;
    const size_t count = info->rows + info->cols;
    for (uint64_t done = 0; done < call->bytes; done += GFK_JIT_LONGEST) {
        uint64_t regions[GFK_JIT_MOST_ROWS + GFK_JIT_MOST_COLS];
        for (size_t i = 0; i < info->cols; i++)
            regions[i] = (uint64_t)(uintptr_t)gfk_region_address(call->in, i) + done;
        for (size_t j = 0; j < info->rows; j++)
            regions[info->cols + j] = (uint64_t)(uintptr_t)gfk_region_address(call->out, j) + done;
        const uint64_t left = call->bytes - done;
        gfk_jit_shape shape =
            gfk_jit_make_shape(&s->target, info->field.w, regions, count,
                               left < GFK_JIT_LONGEST ? left : GFK_JIT_LONGEST, call->accumulate);
        if (call->mismatch_map != NULL) {
            shape.mode = GFK_JIT_CHECK;
            shape.mismatch_map = (uint64_t)(uintptr_t)call->mismatch_map;
            shape.origin += done;
            shape.shift = call->shift;
        }
        RETURN_IF_ERROR(gfk_device_launch(s->kernel->function, shape.blocks + (shape.edges != 0),
                                          s->target.threads, (void *[]){regions, &shape},
                                          call->stream));
    }
    return GFK_STATUS_SUCCESS;
}

/* ---- the rows ------------------------------------------------------------------------------- */

/* The list names functions for each row; the widths share them. */
#define ROW(id)                                                                                    \
    gfk_engine_accepts_fn gfk_##id##_accepts __attribute__((alias("xor_accepts")));                \
    gfk_engine_create_fn gfk_##id##_create __attribute__((alias("xor_create")));                   \
    gfk_engine_destroy_fn gfk_##id##_destroy __attribute__((alias("xor_destroy")));                \
    gfk_engine_run_fn gfk_##id##_run __attribute__((alias("xor_run")));
ROW(xor_w8)
ROW(xor_w16)
ROW(xor_w32)
