/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists of compiled kernels as one table, and queries. */
#include "list.h"

#include <string.h>

#include "host/device/device.h"

#define GFK_KERNEL(owner, kernel, ...) extern const void *const gfk_##owner##_##kernel;
#include "matrix/panels.def"
#include "matrix/shapes.def"
#include "product/bmma/shapes.def"
#include "product/clmad/shapes.def"
#include "product/matmul/shapes.def"
#include "product/perop/shapes.def"
#include "product/prmt/shapes.def"
#include "rlnc/shapes.def"
#undef GFK_KERNEL

#ifdef GFK_HAVE_CUDA
#define CUDA_SYMBOL(name) &name
#else
#define CUDA_SYMBOL(name) NULL
#endif
#define WGMMA_SYMBOL CUDA_SYMBOL /* that of a build not for 9.0 is NULL itself */
#ifdef GFK_HAVE_CLMAD
#define CLMAD_SYMBOL(name) &name
#else
#define CLMAD_SYMBOL(name) NULL
#endif

#define ROW(owner, kernel, w, BUILD, fields, ...)                                                  \
    {.info = GFK_KERNEL_INFO(owner, kernel, w, fields),                                            \
     .build = GFK_BUILD_##BUILD,                                                                   \
     .symbol = BUILD##_SYMBOL(gfk_##owner##_##kernel),                                             \
     __VA_ARGS__},
/* The lists that a call searches come first. */
static const gfk_kernel_row rows[] = {
#define GFK_KERNEL(owner, kernel, w, BUILD, fields, ...)                                           \
    ROW(owner, kernel, w, BUILD, fields, .matmul = {__VA_ARGS__})
#include "product/matmul/shapes.def"
#undef GFK_KERNEL
#define GFK_KERNEL(owner, kernel, w, BUILD, fields, ...) ROW(owner, kernel, w, BUILD, fields)
#include "matrix/panels.def"
#include "matrix/shapes.def"
#include "product/bmma/shapes.def"
#include "product/clmad/shapes.def"
#include "product/perop/shapes.def"
#include "product/prmt/shapes.def"
#include "rlnc/shapes.def"
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static bool is_of(const gfk_kernel_row *row, const char *owner, size_t length) {
    if (strncmp(row->info.id, owner, length) != 0)
        return false;
    const char *const rest = row->info.id + length;
    return *rest == '/' || strncmp(rest, "_w", 2) == 0;
}

const gfk_kernel_row *gfk_rows_of(const char *owner, size_t *count) {
    *count = ROWS;
    if (owner == NULL)
        return rows;
    const size_t length = strlen(owner);
    size_t first = 0;
    while (first < ROWS && !is_of(&rows[first], owner, length))
        first++;
    size_t end = first;
    while (end < ROWS && is_of(&rows[end], owner, length))
        end++;
    *count = end - first;
    return *count != 0 ? &rows[first] : NULL;
}

const gfk_kernel_row *gfk_row_find(const char *id) {
    for (size_t i = 0; id != NULL && i < ROWS; i++)
        if (strcmp(id, rows[i].info.id) == 0)
            return &rows[i];
    return NULL;
}

bool gfk_row_takes(const gfk_compiled_kernel_info *info, size_t inputs, size_t outputs) {
    return gfk_within(info->inputs, inputs) && gfk_within(info->outputs, outputs);
}

const gfk_kernel_row *gfk_row_first(const char *call, unsigned w, size_t inputs, size_t outputs) {
    size_t count;
    const gfk_kernel_row *const of_call = gfk_rows_of(call, &count);
    for (size_t i = 0; i < count; i++)
        if (of_call[i].info.w == w && gfk_row_takes(&of_call[i].info, inputs, outputs))
            return &of_call[i];
    return NULL;
}

gfk_status gfk_row_check_device(const gfk_compiled_kernel_info *info, int device,
                                const char **reason) {
    return gfk_device_check((unsigned)info->cc.min, (unsigned)info->cc.max,
                            (size_t)info->shared_kib << 10, device, reason);
}

bool gfk_row_is_built(const gfk_kernel_row *row) {
#ifdef GFK_HAVE_CUDA
    return row->symbol != NULL && *row->symbol != NULL;
#else
    (void)row;
    return true;
#endif
}

size_t gfk_compiled_kernel_count(const char *owner) {
    size_t count;
    (void)gfk_rows_of(owner, &count);
    return count;
}

const gfk_compiled_kernel_info *gfk_compiled_kernel_at(const char *owner, size_t index) {
    size_t count;
    const gfk_kernel_row *const first = gfk_rows_of(owner, &count);
    return index < count ? &first[index].info : NULL;
}
