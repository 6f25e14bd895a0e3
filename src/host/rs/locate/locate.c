/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating: the call with all its checks, and the loop on the host. */
#include <string.h>

#include "host/base/symbol.h"
#include "host/rs/code.h"
#include "locate.h"

/* ---- on the host ---------------------------------------------------------------------------- */

static size_t chunks_of(size_t bytes) {
    return (bytes >> GFK_LOCATE_CHUNK_SHIFT) + (bytes % ((size_t)1 << GFK_LOCATE_CHUNK_SHIFT) != 0);
}

static unsigned char *region(const gfk_locate_call *call, size_t i) {
    return i < call->code.k ? gfk_region_address(call->data, i)
                            : gfk_region_address(call->parity, i - call->code.k);
}

/* Computes the plain syndromes of symbol i. False: all are zero. */
static bool differs(const gfk_locate_call *call, size_t i, uint32_t *syndromes) {
    const gfk_locate_code *c = &call->code;
    const unsigned w = c->field.w;
    uint32_t any = 0;
    for (uint32_t j = 0; j < c->m; j++)
        syndromes[j] = gfk_symbol_get(gfk_region_address(call->parity, j), i, w);
    for (uint32_t d = 0; d < c->k; d++) {
        const uint32_t symbol = gfk_symbol_get(gfk_region_address(call->data, d), i, w);
        for (uint32_t j = 0; j < c->m; j++)
            syndromes[j] ^= gfk_times(&c->field, c->matrix[(size_t)j * c->k + d], symbol);
    }
    for (uint32_t j = 0; j < c->m; j++)
        any |= syndromes[j];
    return any != 0;
}

static void count_errors(const gfk_locate_call *call, size_t i, gfk_locate_state state) {
    const unsigned w = call->code.field.w;
    gfk_rs_verdict *verdict = call->verdict;
    const uint64_t offset = (uint64_t)i * (w / 8);
    if (offset < verdict->first_corrupt)
        verdict->first_corrupt = offset;
    verdict->corrupt++;
    const uint32_t errors = gfk_locate_errors(&call->code, state);
    if (errors == 0)
        verdict->unexplained++;
    else
        verdict->located++;
    for (uint32_t e = 0; e < errors; e++) {
        const uint32_t which = *gfk_error_region(&call->code, state, e);
        unsigned char *wrong = region(call, which);
        call->counts[which]++;
        if (call->repair)
            gfk_symbol_set(wrong, i, w,
                           gfk_symbol_get(wrong, i, w) ^ *gfk_error_value(&call->code, state, e));
    }
}

static void clear_on_host(const gfk_locate_call *call) {
    memset(call->verdict, 0, sizeof *call->verdict);
    call->verdict->first_corrupt = UINT64_MAX;
    memset(call->counts, 0, ((size_t)call->code.k + call->code.m) * sizeof *call->counts);
    if (call->bytes != 0)
        memset(call->mismatch_map, 0, chunks_of(call->bytes) * sizeof *call->mismatch_map);
}

static void locate_on_host(const gfk_locate_call *call, uint32_t *words) {
    const gfk_locate_state state = {words, 1};
    const size_t size = call->code.field.w / 8;
    const size_t in_chunk = ((size_t)1 << GFK_LOCATE_CHUNK_SHIFT) / size;
    const size_t symbols = call->bytes / size;
    for (size_t first = 0; first < symbols; first += in_chunk) {
        if (call->mismatch_map[first / in_chunk] == 0)
            continue;
        const size_t end = symbols - first < in_chunk ? symbols : first + in_chunk;
        for (size_t i = first; i < end; i++)
            if (differs(call, i, words))
                count_errors(call, i, state);
    }
}

/* ---- the call ------------------------------------------------------------------------------- */

static size_t round_up(size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

/* The workspace has the mismatch map and, on the host, the state of one position behind the map. */
static size_t mark_bytes(size_t bytes) {
    return round_up(chunks_of(bytes) * sizeof(uint32_t));
}
static size_t workspace_of(const gfk_rs_locator *locator, size_t bytes) {
    const size_t state = gfk_locate_words(&locator->code) * sizeof(uint32_t);
    return mark_bytes(bytes) + (locator->device < 0 ? round_up(state) : 0);
}

gfk_status gfk_rs_locate_workspace(gfk_rs_t code, size_t bytes, size_t *workspace_bytes) {
    if (code == NULL || workspace_bytes == NULL)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (code->locator == NULL)
        return GFK_STATUS_NOT_SUPPORTED;
    *workspace_bytes = workspace_of(code->locator, bytes);
    return GFK_STATUS_SUCCESS;
}

typedef struct gfk_span {
    const void *start;
    size_t bytes;
} gfk_span;

/* Does anything that is written share bytes with anything else? Regions are written only to repair.
 */
static bool overlap(gfk_rs_t code, const gfk_locate_call *call, size_t workspace_bytes) {
    const size_t k = code->info.k, m = code->info.m, bytes = call->bytes;
    const gfk_span spans[] = {{call->verdict, sizeof *call->verdict},
                              {call->counts, (k + m) * sizeof *call->counts},
                              {call->mismatch_map, workspace_bytes}};
    for (size_t a = 0; a < 3; a++) {
        if (spans[a].bytes == 0)
            continue;
        for (size_t b = 0; b < a; b++) {
            const uintptr_t p = (uintptr_t)spans[a].start, q = (uintptr_t)spans[b].start;
            if (spans[b].bytes != 0 && (p < q ? q - p < spans[a].bytes : p - q < spans[b].bytes))
                return true;
        }
        if (bytes != 0 &&
            (gfk_regions_touch(call->data, k, bytes, spans[a].start, spans[a].bytes) ||
             gfk_regions_touch(call->parity, m, bytes, spans[a].start, spans[a].bytes)))
            return true;
    }
    return call->repair && bytes != 0 &&
           (gfk_outputs_overlap(call->data, k, call->parity, m, bytes) ||
            gfk_outputs_overlap(call->parity, m, call->data, k, bytes));
}

static gfk_status check_call(gfk_rs_t code, const gfk_locate_call *call, size_t workspace_bytes) {
    const size_t needed = workspace_of(code->locator, call->bytes);
    if (needed > (call->mismatch_map ? workspace_bytes : 0))
        return GFK_STATUS_WORKSPACE_TOO_SMALL;
    if ((uintptr_t)call->mismatch_map % 256 != 0 ||
        (uintptr_t)call->verdict % sizeof(uint64_t) != 0 ||
        (uintptr_t)call->counts % sizeof(uint64_t) != 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    RETURN_IF_ERROR(gfk_product_check_arguments(code->encoder, call->data, call->parity,
                                                call->bytes, call->stream));
    if (code->info.device >= 0 && call->bytes != 0 &&
        code->info.k + code->info.m > GFK_LOCATE_MOST_DEVICE_POINTERS &&
        (call->data->pointers != NULL || call->parity->pointers != NULL))
        return GFK_STATUS_NOT_SUPPORTED;
    return overlap(code, call, needed) ? GFK_STATUS_OVERLAP : GFK_STATUS_SUCCESS;
}

gfk_status gfk_rs_locate(gfk_rs_t code, const gfk_regions *data, const gfk_regions *parity,
                         size_t bytes, gfk_rs_repair repair, gfk_rs_verdict *verdict,
                         uint64_t *counts, void *workspace, size_t workspace_bytes,
                         gfk_stream_t stream) {
    if (code == NULL || data == NULL || parity == NULL || verdict == NULL || counts == NULL ||
        (repair != GFK_RS_REPORT && repair != GFK_RS_REPAIR))
        return GFK_STATUS_INVALID_ARGUMENT;
    if (code->locator == NULL)
        return GFK_STATUS_NOT_SUPPORTED;
    const gfk_locate_call call = {
        code->locator->code, data,  parity, bytes, repair == GFK_RS_REPAIR, verdict, counts,
        workspace,           stream};
    RETURN_IF_ERROR(check_call(code, &call, workspace_bytes));
    const bool on_device = code->info.device >= 0;
    if (on_device)
        RETURN_IF_ERROR(gfk_locate_device_clear(&call));
    else
        clear_on_host(&call);
    if (bytes == 0)
        return GFK_STATUS_SUCCESS;
    gfk_status status = gfk_product_check(code->encoder, data, parity, bytes, call.mismatch_map,
                                          GFK_LOCATE_CHUNK_SHIFT, stream);
    if (status == GFK_STATUS_NOT_SUPPORTED && on_device) /* the code is too wide for the engine */
        status = gfk_locate_device_mark(&call);
    RETURN_IF_ERROR(status);
    if (on_device)
        return gfk_locate_device_run(&call);
    locate_on_host(&call, (uint32_t *)((unsigned char *)workspace + mark_bytes(bytes)));
    return GFK_STATUS_SUCCESS;
}
