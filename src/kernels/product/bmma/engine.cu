/* SPDX-License-Identifier: BSD-3-Clause */
/* The BMMA engines: from a product to a plan, made at create, and from a call to one of the plan's
 * kernels. A product's tables are the matrix operands of the plan's kernels, one after the other,
 * and then the coefficients. */
#include <stdlib.h>
#include <string.h>

#include "host/device/device.h"
#include "kernel.cuh"
#include "operand.h"

using namespace gfk;
using namespace gfk::bmma;

namespace {

/* A kernel of a plan. */
struct Entry {
    const Kernel *kernel;
    const gfk_compiled_kernel_info *info;
    uint64_t from; /* vectors of a region, at least */
    size_t table;  /* where its matrix operand begins, in words */
};

struct Plan {
    Entry entries[6]; /* the first that takes a run computes it */
    unsigned count;
    size_t words;        /* of all tables */
    size_t coefficients; /* where they begin */
};

/* Does an entry take whatever another one would? */
bool covers(const Entry &a, const Entry &b) {
    const unsigned limits = GFK_KERNEL_ALIGNED | GFK_KERNEL_SETS | GFK_KERNEL_READS;
    return (a.info->labels & ~b.info->labels & limits) == 0 && a.from <= b.from;
}

/* Adds a kernel, unless the entries before take all its runs. Kernels whose matrix operands look
 * the same share one. Operands begin at a multiple of 16 bytes. */
void add(Plan &plan, const gfk_product_info &product, Entry entry) {
    entry.table = plan.words;
    for (unsigned i = 0; i < plan.count; i++)
        if (covers(plan.entries[i], entry))
            return;
    bool shared = false;
    for (unsigned i = 0; i < plan.count && !shared; i++) {
        const Entry &other = plan.entries[i];
        shared = other.kernel->build == entry.kernel->build &&
                 other.kernel->words == entry.kernel->words;
        if (shared)
            entry.table = other.table;
    }
    if (!shared)
        plan.words += (entry.kernel->words(product.rows, product.cols) + 3) / 4 * 4;
    plan.entries[plan.count++] = entry;
}

/* The plan of a product on a device of compute capability cc. named: the only kernel; NULL: of all
 * that take the shape. */
Plan make_plan(const gfk_product_info &product, const gfk_compiled_kernel_info *named,
               int processors, int cc) {
    constexpr uint64_t is_long = 400; /* vectors of a region for each multiprocessor */
    Plan plan = {};
    size_t count;
    const gfk_kernel_row *rows = gfk_rows_of(product.engine->id, &count);
    for (size_t i = 0; i < count; i++) {
        const gfk_compiled_kernel_info &info = rows[i].info;
        if (!gfk_row_is_built(&rows[i]) || (named != NULL && named != &info) ||
            !gfk_within(info.cc, (size_t)cc) || !gfk_row_takes(&info, product.cols, product.rows))
            continue;
        const Kernel &kernel = symbol_of<Kernel>(&rows[i]);
        const bool wants_long = kernel.long_regions && named == NULL;
        add(plan, product, {&kernel, &info, wants_long ? is_long * processors : 0, 0});
    }
    plan.coefficients = plan.words;
    plan.words += product.rows * product.cols;
    return plan;
}

/* The kernels' counters of rows, columns and panels end at 2^31. */
gfk_status accepts(gfk_product_info *info, const char **reason) {
    info->table_bytes = 0;
    *reason = "";
    if (info->rows >= (size_t)1 << 24 || info->cols >= (size_t)1 << 24) {
        *reason = "binary tensor cores take at most 2^24 rows and columns";
        return GFK_STATUS_NOT_SUPPORTED;
    }
    int cc = 0;
    gfk_status status = gfk_device_capability(info->device, &cc);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    const Plan plan = make_plan(*info, info->kernel, 1, cc);
    info->table_bytes = 4 * (uint64_t)plan.words;
    for (unsigned i = 0; i < plan.count; i++)
        if (info->kernel != NULL || !(plan.entries[i].info->labels & GFK_KERNEL_READS)) {
            info->kernel = plan.entries[i].info;
            return GFK_STATUS_SUCCESS;
        }
    *reason = "this build or this device does not have the kernel";
    return GFK_STATUS_NOT_SUPPORTED;
}

gfk_status upload(gfk_product_t p, const Plan &plan) {
    const size_t rows = p->info.rows, cols = p->info.cols;
    uint32_t *words = (uint32_t *)calloc(plan.words, 4);
    if (words == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    size_t built = 0;
    for (unsigned i = 0; i < plan.count; i++) {
        const Entry &e = plan.entries[i];
        if (e.table < built)
            continue; /* another entry's */
        e.kernel->build(words + e.table, p->info.field.polynomial, rows, cols, p->matrix);
        built = e.table + 1;
    }
    memcpy(words + plan.coefficients, p->matrix, 4 * rows * cols);
    const gfk_status status = gfk_device_upload(p->tables, words, 4 * plan.words);
    free(words);
    return status;
}

void lighten(Plan &plan, const gfk_product_info &p, const uint32_t *matrix) {
    unsigned most = 0; /* ones of a column; 0: not counted yet */
    for (unsigned i = 0; i < plan.count; i++) {
        const Kernel *light = plan.entries[i].kernel->light;
        if (light == NULL)
            continue;
        const auto count = p.field.w == 8    ? most_ones<8>
                           : p.field.w == 16 ? most_ones<16>
                                             : most_ones<32>;
        most = most != 0 ? most : count(p.field.polynomial, p.rows, p.cols, matrix);
        if (most <= light->most_ones)
            plan.entries[i].kernel = light;
    }
}

gfk_status create(gfk_product_t p) {
    Plan *plan = (Plan *)malloc(sizeof *plan);
    if (plan == NULL)
        return GFK_STATUS_OUT_OF_MEMORY;
    p->state = plan;
    *plan = make_plan(p->info, p->named, p->processors, p->cc);
    lighten(*plan, p->info, p->matrix);
    gfk_status status = upload(p, *plan);
    for (unsigned i = 0; i < plan->count && status == GFK_STATUS_SUCCESS; i++)
        if (plan->entries[i].kernel->prepare != NULL)
            status = plan->entries[i].kernel->prepare();
    return status;
}

gfk_status run(const gfk_product_call *call) {
    const Plan &plan = *(const Plan *)call->product->state;
    uint32_t *tables = (uint32_t *)call->product->tables;
    const Vectors vectors = vectors_of(call);
    const unsigned refused = (reads_outputs(call) ? GFK_KERNEL_SETS : GFK_KERNEL_READS) |
                             (vectors.aligned ? 0 : GFK_KERNEL_ALIGNED);
    for (unsigned i = 0; i < plan.count; i++) {
        const Entry &e = plan.entries[i];
        if (vectors.count < e.from || (e.info->labels & refused))
            continue;
        const gfk_status status =
            e.kernel->run({call, vectors, tables + e.table, tables + plan.coefficients});
        if (status != GFK_STATUS_NOT_SUPPORTED)
            return status;
    }
    return GFK_STATUS_NOT_SUPPORTED;
}

} // namespace

#define ENGINE(id)                                                                                 \
    extern "C" gfk_status gfk_##id##_accepts(gfk_product_info *info, const char **reason) {        \
        return accepts(info, reason);                                                              \
    }                                                                                              \
    extern "C" gfk_status gfk_##id##_create(gfk_product_t product, const gfk_product_desc *) {     \
        return create(product);                                                                    \
    }                                                                                              \
    extern "C" void gfk_##id##_destroy(gfk_product_t product) {                                    \
        free(product->state);                                                                      \
    }                                                                                              \
    extern "C" gfk_status gfk_##id##_run(const gfk_product_call *call) {                           \
        return run(call);                                                                          \
    }
ENGINE(bmma_w8)
ENGINE(bmma_w16)
ENGINE(bmma_w32)
