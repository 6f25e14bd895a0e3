/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoders: a product computes the wanted regions from the sources. A run gathers addresses on the
 * stack, for at most INS inputs and OUTS outputs. So a large code has several products, one for
 * each pair of groups; the first product of a row of pairs sets the outputs, and the others add to
 * the outputs. */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "host/base/sizes.h"
#include "host/device/device.h"

enum { INS = 512, OUTS = 256 };

struct gfk_rs_decoder {
    size_t k, symbol;
    int device; /* GFK_CPU or a device's number */
    gfk_rs_rebuild rebuild;
    size_t row_groups, col_groups;
    /* row_groups * col_groups products; NULL: there is nothing to rebuild */
    gfk_product_t *products;
};

static size_t group_size(size_t count, size_t group, size_t most) {
    const size_t left = count - group * most;
    return left < most ? left : most;
}

void gfk_rs_decoder_destroy(gfk_rs_decoder_t decoder) {
    if (decoder == NULL)
        return;
    for (size_t i = 0; decoder->products && i < decoder->row_groups * decoder->col_groups; i++)
        gfk_product_destroy(decoder->products[i]);
    free(decoder->products);
    gfk_rs_rebuild_free(&decoder->rebuild);
    free(decoder);
}

static gfk_status make_products(gfk_rs_decoder_t d, const gfk_field *field,
                                const gfk_product_desc *desc) {
    const size_t k = d->k, wanted = d->rebuild.rows;
    d->row_groups = gfk_divide_up(wanted, OUTS);
    d->col_groups = gfk_divide_up(k, INS);
    d->products = calloc(d->row_groups * d->col_groups, sizeof *d->products);
    uint32_t *part = malloc(group_size(wanted, 0, OUTS) * group_size(k, 0, INS) * sizeof *part);
    gfk_status status = d->products && part ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
    for (size_t r = 0; r < d->row_groups; r++)
        for (size_t c = 0; c < d->col_groups && status == GFK_STATUS_SUCCESS; c++) {
            const size_t rows = group_size(wanted, r, OUTS), cols = group_size(k, c, INS);
            for (size_t j = 0; j < rows; j++)
                memcpy(part + j * cols, d->rebuild.matrix + (r * OUTS + j) * k + c * INS,
                       cols * sizeof *part);
            status = gfk_product_create_proven(&d->products[r * d->col_groups + c], field, rows,
                                               cols, part, desc);
        }
    free(part);
    return status;
}

gfk_status gfk_rs_decoder_create(gfk_rs_decoder_t *decoder, gfk_rs_t code, const size_t *lost,
                                 size_t lost_count, const size_t *wanted, size_t wanted_count,
                                 const gfk_product_desc *desc) {
    if (decoder == NULL || code == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    gfk_product_desc chosen;
    RETURN_IF_ERROR(gfk_rs_product_desc(code, desc, &chosen));
    gfk_rs_rebuild rebuild;
    RETURN_IF_ERROR(gfk_rs_rebuild_create(&rebuild, code, lost, lost_count, wanted, wanted_count));
    gfk_rs_decoder_t d = calloc(1, sizeof *d);
    if (d == NULL) {
        gfk_rs_rebuild_free(&rebuild);
        return GFK_STATUS_OUT_OF_MEMORY;
    }
    d->k = code->info.k;
    d->symbol = code->info.field.w / 8;
    d->device = code->info.device;
    d->rebuild = rebuild;
    gfk_status status = GFK_STATUS_SUCCESS;
    if (rebuild.rows != 0)
        status = make_products(d, &code->info.field, &chosen);
    free(d->rebuild.matrix); /* the products have copies */
    d->rebuild.matrix = NULL;
    if (status == GFK_STATUS_SUCCESS)
        *decoder = d;
    else
        gfk_rs_decoder_destroy(d);
    return status;
}

gfk_status gfk_rs_decoder_get_info(gfk_rs_decoder_t decoder, gfk_product_info *info,
                                   size_t *sources) {
    if (decoder == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (decoder->products == NULL) {
        if (info != NULL)
            memset(info, 0, sizeof *info);
        return GFK_STATUS_SUCCESS;
    }
    if (sources != NULL)
        memcpy(sources, decoder->rebuild.sources, decoder->k * sizeof *sources);
    return info != NULL ? gfk_product_get_info(decoder->products[0], info) : GFK_STATUS_SUCCESS;
}

/* ---- run ------------------------------------------------------------------------------------ */

static void *address_of(const gfk_regions *regions, size_t i, size_t bytes) {
    if (regions->pointers == NULL) {
        if (regions->base == NULL || regions->stride < bytes)
            return NULL;
        if (i > (UINTPTR_MAX - (uintptr_t)regions->base) / regions->stride)
            return (void *)UINTPTR_MAX;
    }
    return gfk_region_address(regions, i);
}

void gfk_rs_addresses(const gfk_rs_regions *all, const size_t *regions, size_t count,
                      void **addresses) {
    for (size_t n = 0; n < count; n++) {
        const size_t i = regions[n];
        addresses[n] = i < all->k ? address_of(all->data, i, all->bytes)
                                  : address_of(all->parity, i - all->k, all->bytes);
    }
}

bool gfk_rs_unread_overlap(const gfk_rs_regions *all, const gfk_rs_rebuild *rebuild,
                           const gfk_regions *out, size_t outs) {
    void *pointers[INS];
    const gfk_regions others = {pointers, NULL, 0};
    for (size_t i = 0, count = 0; i < rebuild->unread_count; i++) {
        gfk_rs_addresses(all, &rebuild->unread[i], 1, &pointers[count]);
        if (pointers[count] != NULL)
            count++;
        if (count != 0 && (count == INS || i + 1 == rebuild->unread_count)) {
            if (gfk_outputs_overlap(&others, count, out, outs, all->bytes))
                return true;
            count = 0;
        }
    }
    return false;
}

/* Handles one pair of groups: its checks, its product, or both. */
static gfk_status run_pair(gfk_rs_decoder_t d, const gfk_rs_regions *all, size_t r, size_t c,
                           bool check, bool compute, gfk_stream_t stream) {
    void *in_pointers[INS], *out_pointers[OUTS];
    const gfk_regions in = {in_pointers, NULL, 0}, out = {out_pointers, NULL, 0};
    const size_t *outputs = d->rebuild.outputs;
    const size_t ins = group_size(d->k, c, INS), outs = group_size(d->rebuild.rows, r, OUTS);
    const gfk_product_t product = d->products[r * d->col_groups + c];
    gfk_rs_addresses(all, d->rebuild.sources + c * INS, ins, in_pointers);
    gfk_rs_addresses(all, outputs + r * OUTS, outs, out_pointers);
    if (check) {
        const gfk_operand operands[] = {gfk_operand_regions(&in, ins, all->bytes, GFK_READ),
                                        gfk_operand_regions(&out, outs, all->bytes, GFK_WRITE)};
        RETURN_IF_ERROR(gfk_operands_check(d->device, product->check_pointers, operands, 2));
        if (c == 0 && gfk_rs_unread_overlap(all, &d->rebuild, &out, outs))
            return GFK_STATUS_OVERLAP;
    }
    /* Compares the outputs of this group with those of the groups before. */
    for (size_t other = 0; check && other < r && c == 0; other++) {
        const size_t others = group_size(d->rebuild.rows, other, OUTS);
        gfk_rs_addresses(all, outputs + other * OUTS, others, in_pointers);
        if (gfk_outputs_overlap(&in, others, &out, outs, all->bytes))
            return GFK_STATUS_OVERLAP;
    }
    const gfk_product_call call = {.product = product,
                                   .in = &in,
                                   .out = &out,
                                   .bytes = all->bytes,
                                   .accumulate = c != 0,
                                   .stream = stream};
    return compute ? gfk_product_compute(&call) : GFK_STATUS_SUCCESS;
}

gfk_status gfk_rs_decoder_run(gfk_rs_decoder_t d, const gfk_regions *data,
                              const gfk_regions *parity, size_t bytes, gfk_stream_t stream) {
    if (d == NULL || data == NULL || parity == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (bytes % d->symbol != 0)
        return GFK_STATUS_INVALID_SIZE;
    RETURN_IF_ERROR(gfk_device_check_stream(d->device, stream));
    if (d->products == NULL || bytes == 0)
        return GFK_STATUS_SUCCESS;
    const gfk_rs_regions all = {d->k, data, parity, bytes};
    const bool several = d->row_groups * d->col_groups > 1;
    for (int runs = several ? 0 : 1; runs < 2; runs++)
        for (size_t r = 0; r < d->row_groups; r++)
            for (size_t c = 0; c < d->col_groups; c++)
                RETURN_IF_ERROR(run_pair(d, &all, r, c, runs == 0 || !several, runs == 1, stream));
    return GFK_STATUS_SUCCESS;
}
