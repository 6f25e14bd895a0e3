/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of the steps of an elimination. */
#include "eliminate.h"

#include "host/base/status.h"
#include "host/product/matmul.h"

gfk_status gfk_eliminate(const gfk_elimination *e, const gfk_elimination_steps *steps) {
    const size_t rows = e->a->rows;
    RETURN_IF_ERROR(steps->load(e));
    for (size_t group = 0; group < rows; group += e->group) {
        const size_t left = rows - group, size = left < e->group ? left : e->group;
        for (size_t at = 0; at < size; at += e->panel) {
            const size_t first = group + at, count = size - at < e->panel ? size - at : e->panel;
            RETURN_IF_ERROR(steps->panel(e, first, count));
            /* The last group's upper rows are not needed for the rank. */
            const size_t begin = e->jordan || size < left ? group : first;
            RETURN_IF_ERROR(steps->exchange(e, first, count, begin, group + size));
        }
        const size_t begin = e->jordan ? 0 : group + size;
        if (begin < rows && size < rows)
            RETURN_IF_ERROR(steps->spread(e, group, size, begin));
    }
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_eliminate_multiply(const gfk_elimination *e, const gfk_matrix *a,
                                  const gfk_regions *b, const gfk_regions *c, size_t bytes,
                                  gfk_accumulate mode, bool in_place, const uint32_t *skip_if) {
    gfk_matmul_call call = {.field = e->field,
                            .a = a,
                            .b = b,
                            .c = c,
                            .bytes = bytes,
                            .accumulate = mode == GFK_XOR,
                            .in_place = in_place,
                            .workspace = e->workspace,
                            .machine = e->machine,
                            .stream = e->stream,
                            .kernel = e->kernel,
                            .skip_if = skip_if};
    RETURN_IF_ERROR(gfk_matmul_make_plan(&call));
    return gfk_matmul_run(&call);
}
