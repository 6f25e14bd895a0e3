/* SPDX-License-Identifier: BSD-3-Clause */
/* The BMMA engines: from a product to a plan, made at create, and from a call to one of the plan's
 * kernels.
 *
 * A product's tables are the matrix operands of the plan's kernels, one behind the other, the
 * coefficients, and a counter of tiles, which alone changes after create. */
#include <stdlib.h>
#include <string.h>

#include "host/device/device.h"
#include "kernel.cuh"
#include "operand.h"

using namespace gfk;
using namespace gfk::bmma;

namespace {

/* The rows of shapes.def and of choice.def. */
enum {
#define GFK_ENGINE_KERNEL(engine, kernel, ...) row_##engine##_##kernel,
#include "shapes.def"
#undef GFK_ENGINE_KERNEL
    row_count
};

const struct Choice {
    unsigned w;
    int row;
    gfk_engine_kernel_info bounds; /* of the shape */
    unsigned from, below;          /* vectors of a region for each multiprocessor */
} choices[] = {
#define WIDTH_bmma_w8 8
#define WIDTH_bmma_w16 16
#define WIDTH_bmma_w32 32
#define GFK_BMMA_CHOICE(engine, kernel, min_inputs, max_inputs, min_outputs, max_outputs, from,    \
                        below)                                                                     \
    {WIDTH_##engine,                                                                               \
     row_##engine##_##kernel,                                                                      \
     {NULL, min_inputs, max_inputs, min_outputs, max_outputs, 0, 0, 0},                            \
     from,                                                                                         \
     below},
#include "choice.def"
#undef GFK_BMMA_CHOICE
};

/* The host's half of a row, from the file that compiled the kernel; NULL: none did. */
const Kernel *kernel_of_row(int row) {
    for (const Kernel *list : {mma_kernels, wgmma_kernels})
        if (list[row].run != NULL)
            return &list[row];
    return NULL;
}

/* The other half: the engines' rows stand next to each other, w = 8 first. */
const gfk_engine_kernel_info *info_of_row(int row) {
    size_t count;
    return gfk_engine_kernels(gfk_engine_find("bmma_w8"), &count) + row;
}

/* A kernel of a plan. */
struct Entry {
    const Kernel *kernel;
    const gfk_engine_kernel_info *info;
    uint64_t from, below; /* vectors of a region; below 0: no bound */
    size_t table;         /* where its matrix operand begins, in words */
};

struct Plan {
    Entry entries[12]; /* the first that takes a run computes it */
    unsigned count;
    size_t words;        /* of all tables */
    size_t coefficients; /* where they begin */
    size_t pace;         /* where the counter is */
};

/* Does an entry take whatever another one would, on any device? */
bool covers(const Entry &a, const Entry &b) {
    const unsigned limits = GFK_ENGINE_KERNEL_ALIGNED | GFK_ENGINE_KERNEL_SETS |
                            GFK_ENGINE_KERNEL_READS | GFK_ENGINE_KERNEL_CHECKS;
    return a.info->cc_min == 0 && a.kernel->shared == 0 &&
           (a.info->labels & ~b.info->labels & limits) == 0 && a.from <= b.from &&
           (a.below == 0 || (b.below != 0 && b.below <= a.below));
}

/* Adds a row, unless this build has no such kernel or others of the plan take all its runs. Kernels
 * whose matrix operands look the same share one. Operands begin at a multiple of 16 bytes. */
void add(Plan &plan, const gfk_product_info &product, int row, uint64_t from, uint64_t below) {
    Entry entry = {kernel_of_row(row), info_of_row(row), from, below, plan.words};
    if (entry.kernel == NULL || plan.count == sizeof plan.entries / sizeof plan.entries[0])
        return;
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

/* The plan of a shape, for every device: which kernels there are does not change what the tables
 * hold. named: the only kernel; NULL: as choice.def says. */
Plan make_plan(const gfk_product_info &product, const gfk_engine_kernel_info *named,
               int processors) {
    Plan plan = {};
    if (named != NULL)
        add(plan, product, (int)(named - info_of_row(0)), 0, 0);
    for (const Choice &c : choices)
        if (named == NULL && c.w == product.field.w &&
            gfk_engine_kernel_takes(&c.bounds, product.cols, product.rows))
            add(plan, product, c.row, (uint64_t)c.from * processors,
                (uint64_t)c.below * processors);
    plan.coefficients = plan.words;
    plan.pace = plan.coefficients + product.rows * product.cols;
    plan.words = plan.pace + 1;
    return plan;
}

/* Does a device of compute capability cc have what a kernel needs? */
bool suits(const Entry &entry, int cc) {
    const size_t most = (cc >= 90 ? 227 : cc == 80 || cc == 87 ? 163 : 99) * 1024;
    return (entry.info->cc_min == 0 || cc >= (int)entry.info->cc_min) &&
           (entry.info->cc_max == 0 || cc <= (int)entry.info->cc_max) &&
           entry.kernel->shared <= most;
}

/* The labels of kernels that do not take a run: one that sets outputs, adds to them or checks. */
unsigned refused_labels(bool sets, bool checks) {
    return (sets ? GFK_ENGINE_KERNEL_READS : GFK_ENGINE_KERNEL_SETS) |
           (checks ? 0 : GFK_ENGINE_KERNEL_CHECKS);
}

/* 2^31 is where the kernels' counters of rows, columns and panels end. */
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
    const Plan plan = make_plan(*info, info->kernel, 1);
    info->table_bytes = 4 * (uint64_t)plan.words;
    bool found = false;
    for (unsigned i = 0; i < plan.count && !found; i++) {
        const Entry &e = plan.entries[i];
        found = suits(e, cc) && e.below == 0 &&
                (info->kernel != NULL || !(e.info->labels & refused_labels(true, false)));
        if (found)
            info->kernel = e.info;
    }
    if (!found)
        *reason = "this build or this device does not have the kernel";
    return found ? GFK_STATUS_SUCCESS : GFK_STATUS_NOT_SUPPORTED;
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
    *plan = make_plan(p->info, p->named, p->processors);
    lighten(*plan, p->info, p->matrix);
    gfk_status status = upload(p, *plan);
    const unsigned count = plan->count;
    plan->count = 0;
    for (unsigned i = 0; i < count && status == GFK_STATUS_SUCCESS; i++) {
        const Entry e = plan->entries[i];
        if (!suits(e, p->cc))
            continue;
        plan->entries[plan->count++] = e;
        if (e.kernel->prepare != NULL)
            status = e.kernel->prepare();
    }
    return status;
}

gfk_status run(const gfk_product_call *call) {
    const Plan &plan = *(const Plan *)call->product->state;
    uint32_t *tables = (uint32_t *)call->product->tables;
    const Vectors vectors = vectors_of(call);
    const unsigned refused = refused_labels(!reads_outputs(call), call->mismatch_map != NULL) |
                             (vectors.aligned ? 0 : GFK_ENGINE_KERNEL_ALIGNED);
    for (unsigned i = 0; i < plan.count; i++) {
        const Entry &e = plan.entries[i];
        if (vectors.count < e.from || (e.below != 0 && vectors.count >= e.below) ||
            (e.info->labels & refused))
            continue;
        const gfk_status status = e.kernel->run(
            {call, vectors, tables + e.table, tables + plan.coefficients, tables + plan.pace});
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
