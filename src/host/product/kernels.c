/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists of compiled kernels of all engines as one array, and the questions one can ask it. */
#include <string.h>

#include "engine.h"

static const gfk_engine_kernel_info kernels[] = {
#define GFK_ENGINE_KERNEL(engine, kernel, min_inputs, max_inputs, min_outputs, max_outputs,        \
                          labels, cc_min, cc_max, ...)                                             \
    {#engine "/" #kernel, min_inputs, max_inputs, min_outputs, max_outputs, labels, cc_min, cc_max},
#include "kernels/product/bmma/shapes.def"
#include "kernels/product/perop/shapes.def"
#include "kernels/product/prmt/shapes.def"
#undef GFK_ENGINE_KERNEL
};

enum { COUNT = sizeof kernels / sizeof kernels[0] };

static bool is_kernel_of(const char *id, const gfk_engine_info *engine) {
    const size_t length = strlen(engine->id);
    return strncmp(id, engine->id, length) == 0 && id[length] == '/';
}

/* An engine's rows stand next to each other. */
const gfk_engine_kernel_info *gfk_engine_kernels(const gfk_engine_info *engine, size_t *count) {
    size_t first = 0;
    while (first < COUNT && !is_kernel_of(kernels[first].id, engine))
        first++;
    size_t end = first;
    while (end < COUNT && is_kernel_of(kernels[end].id, engine))
        end++;
    *count = end - first;
    return *count != 0 ? &kernels[first] : NULL;
}

const gfk_engine_info *gfk_engine_named(const char *id, const gfk_engine_kernel_info **kernel) {
    *kernel = NULL;
    for (size_t i = 0; id != NULL && i < COUNT; i++)
        if (strcmp(id, kernels[i].id) == 0)
            *kernel = &kernels[i];
    if (*kernel == NULL)
        return gfk_engine_find(id);
    size_t i = 0;
    while (!is_kernel_of(id, gfk_engine_at(i)))
        i++;
    return gfk_engine_at(i);
}

bool gfk_engine_kernel_takes(const gfk_engine_kernel_info *kernel, size_t inputs, size_t outputs) {
    return inputs >= kernel->min_inputs && outputs >= kernel->min_outputs &&
           (kernel->max_inputs == 0 || inputs <= kernel->max_inputs) &&
           (kernel->max_outputs == 0 || outputs <= kernel->max_outputs);
}

size_t gfk_engine_kernel_count(const gfk_engine_info *engine) {
    size_t count = 0;
    if (gfk_engine_of(engine) != NULL)
        (void)gfk_engine_kernels(engine, &count);
    return count;
}

const gfk_engine_kernel_info *gfk_engine_kernel_at(const gfk_engine_info *engine, size_t index) {
    size_t count = 0;
    const gfk_engine_kernel_info *first =
        gfk_engine_of(engine) != NULL ? gfk_engine_kernels(engine, &count) : NULL;
    return index < count ? first + index : NULL;
}
