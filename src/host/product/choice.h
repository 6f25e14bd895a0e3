/* SPDX-License-Identifier: BSD-3-Clause */
/* From a descriptor to an engine. */
#ifndef GFK_HOST_CHOICE_H
#define GFK_HOST_CHOICE_H

#include "engine.h"

typedef struct gfk_choice {
    const gfk_field *field;
    size_t rows, cols;
    const gfk_product_desc *desc;
    const gfk_engine_kernel_info *kernel;        /* that desc names; NULL: none */
    const gfk_engine *engines[GFK_MOST_ENGINES]; /* those that match, the preferred one first */
    size_t count, next;
} gfk_choice;

/* Checks the arguments and lists the engines that match. */
gfk_status gfk_choice_init(gfk_choice *choice, const gfk_field *field, size_t rows, size_t cols,
                           const gfk_product_desc *desc);
/* The next engine of the list that can run here and whose tables are within the limit, in *info.
 * TABLE_LIMIT: some can run, but none fits; *info is the first of these. Any other status: why the
 * first one left cannot run. */
gfk_status gfk_choice_next(gfk_choice *choice, gfk_product_info *info);

#endif
