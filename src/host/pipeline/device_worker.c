/* SPDX-License-Identifier: BSD-3-Clause */
/* One device's part of a call: chunks go to it, through its engine and back, several at a time on
 * streams of their own, so that both directions of the bus and the processors are busy at once. The
 * driving thread waits for nothing but the oldest chunk. */
#include "pipeline.h"

enum {
    ALIGN = 256,                  /* of regions on the device, of marks and of workspaces */
    LEAST_PIECE = 4096,           /* rather fewer chunks at a time than smaller pieces of regions */
    DIRECT_CHUNK = 64 << 20,      /* long enough to hide what ordering and starting copies costs */
    STAGED_CHUNK = 16 << 20,      /* short enough to find what was copied in the CPU's cache */
    CHUNKS_PER_SLOT = 4,          /* at least, so that the first and the last are a small part */
    LEAST_SHARED_PIECE = 64 << 10 /* but for that no piece is made shorter than this */
};

/* How the byte range is cut, and what that takes in each slot. */
typedef struct cut {
    size_t piece; /* bytes of each region in a chunk */
    unsigned slots;
    size_t memory, pinned;
} cut;

typedef struct drive {
    gfk_lane *lane;
    gfk_job *job;
    gfk_product_t product;
    cut cut;
} drive;

static size_t up(size_t n) {
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t down(size_t n, size_t least) {
    return n < least ? least : n / ALIGN * ALIGN;
}

/* ---- cutting -----------------------------------------------------------------------------------
 */

static size_t piece_within(size_t limit, size_t fixed, size_t regions) {
    return limit < fixed ? 0 : regions == 0 ? SIZE_MAX : (limit - fixed) / regions;
}

static size_t longest_piece(const gfk_pipeline_info *info, const gfk_job *job, size_t fixed,
                            unsigned slots) {
    const size_t regions = job->in.count + job->out.count;
    const size_t staged = job->in.staged_count + job->out.staged_count;
    const size_t piece = piece_within(info->device_memory / slots, fixed, regions);
    const size_t pinned = info->pinned_memory / info->device_count / slots;
    return gfk_least(piece, piece_within(pinned, ALIGN, staged)) / ALIGN * ALIGN;
}

/* False: the limits on memory do not allow a single chunk. */
static bool cut_job(const gfk_pipeline_info *info, const gfk_job *job, size_t workspace, cut *c) {
    const size_t regions = job->in.count + job->out.count;
    const size_t staged = job->in.staged_count + job->out.staged_count;
    const size_t fixed = ALIGN + up(workspace);
    unsigned slots = info->streams;
    size_t piece = longest_piece(info, job, fixed, slots);
    while (slots > 1 && piece < LEAST_PIECE)
        piece = longest_piece(info, job, fixed, --slots);
    if (piece == 0)
        return false;
    const size_t usual = staged != 0 ? STAGED_CHUNK : DIRECT_CHUNK;
    piece = gfk_least(piece, down((info->chunk ? info->chunk : usual) / regions, ALIGN));
    if (info->chunk == 0) {
        const size_t share = job->bytes / CHUNKS_PER_SLOT / slots / info->device_count;
        piece = gfk_least(piece, down(share, LEAST_SHARED_PIECE));
    }
    piece = gfk_least(piece, up(job->bytes));
    const size_t chunks = job->bytes / piece + (job->bytes % piece != 0);
    *c = (cut){.piece = piece,
               .slots = (unsigned)gfk_least(slots, chunks),
               .memory = regions * piece + fixed,
               .pinned = staged * piece + ALIGN};
    return true;
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static gfk_status grow_memory(gfk_lane *lane, size_t bytes) {
    if (lane->memory_bytes >= bytes)
        return GFK_STATUS_SUCCESS;
    gfk_device_free(lane->device, lane->memory);
    lane->memory = NULL;
    lane->memory_bytes = 0;
    void *memory = NULL;
    const gfk_status status = gfk_device_alloc(&memory, bytes);
    if (status == GFK_STATUS_SUCCESS) {
        lane->memory = memory;
        lane->memory_bytes = bytes;
    }
    return status;
}

static gfk_status grow_pinned(gfk_lane *lane, size_t bytes) {
    if (lane->pinned_bytes >= bytes)
        return GFK_STATUS_SUCCESS;
    gfk_pinned_free(lane->pinned);
    lane->pinned = NULL;
    lane->pinned_bytes = 0;
    void *memory = NULL;
    const gfk_status status = gfk_pinned_alloc(&memory, bytes);
    if (status == GFK_STATUS_SUCCESS) {
        lane->pinned = memory;
        lane->pinned_bytes = bytes;
    }
    return status;
}

static gfk_status prepare(drive *d) {
    gfk_lane *lane = d->lane;
    const cut *c = &d->cut;
    gfk_status status = gfk_kept_on(d->job->kept, lane, &d->product);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    if (!cut_job(&d->job->pipeline->info, d->job, (size_t)d->product->info.workspace_bytes,
                 &d->cut))
        return GFK_STATUS_OUT_OF_MEMORY;
    status = grow_memory(lane, c->slots * c->memory);
    if (status == GFK_STATUS_SUCCESS)
        status = grow_pinned(lane, c->slots * c->pinned);
    for (; status == GFK_STATUS_SUCCESS && lane->opened < c->slots;
         lane->opened += status == GFK_STATUS_SUCCESS)
        status = gfk_device_open(&lane->slot[lane->opened].stream, &lane->slot[lane->opened].event);
    for (unsigned i = 0; status == GFK_STATUS_SUCCESS && i < c->slots; i++) {
        lane->slot[i].memory = lane->memory + i * c->memory;
        lane->slot[i].pinned = lane->pinned + i * c->pinned;
    }
    lane->chunk = c->piece * (d->job->in.count + d->job->out.count);
    return status;
}

/* ---- one chunk ---------------------------------------------------------------------------------
 */

/* Where a chunk's regions are, on the device and in the pinned buffers. */
typedef struct layout {
    size_t pitch;
    unsigned char *in, *out, *mark, *workspace;
    unsigned char *staged_mark, *staged_in, *staged_out;
} layout;

static layout layout_of(const drive *d, const gfk_slot *slot) {
    layout l = {.pitch = up(slot->range.length), .in = slot->memory, .staged_mark = slot->pinned};
    l.out = l.in + d->job->in.count * l.pitch;
    l.mark = l.out + d->job->out.count * l.pitch;
    l.workspace = l.mark + ALIGN;
    l.staged_in = l.staged_mark + ALIGN;
    l.staged_out = l.staged_in + d->job->in.staged_count * l.pitch;
    return l;
}

/* Regions from `first` on that are equally spaced on the host's side. */
static size_t row_count(const gfk_side *side, size_t first) {
    const bool staged = side->place[first] != SIZE_MAX;
    size_t end = first + 1;
    while (end < side->count && (staged ? side->place[end] != SIZE_MAX : side->even))
        end++;
    return end - first;
}

/* Orders the copies of one side of a chunk. */
static gfk_status move(const gfk_side *side, const gfk_slot *slot, unsigned char *memory,
                       unsigned char *staging, size_t pitch, bool back) {
    gfk_status status = GFK_STATUS_SUCCESS;
    for (size_t i = 0, rows; i < side->count && status == GFK_STATUS_SUCCESS; i += rows) {
        rows = row_count(side, i);
        const bool staged = side->place[i] != SIZE_MAX;
        unsigned char *host = staged ? staging + side->place[i] * pitch
                                     : gfk_region_address(side->regions, i) + slot->range.at;
        const size_t stride = staged ? pitch : rows > 1 ? side->regions->stride : pitch;
        unsigned char *device = memory + i * pitch;
        const size_t length = slot->range.length;
        status = back ? gfk_device_fetch(host, stride, device, pitch, length, rows, slot->stream)
                      : gfk_device_send(device, pitch, host, stride, length, rows, slot->stream);
    }
    return status;
}

static gfk_status compute(const drive *d, const gfk_slot *slot, const layout *l) {
    const gfk_regions in = {NULL, l->in, l->pitch}, out = {NULL, l->out, l->pitch};
    const gfk_work work = d->job->work;
    const gfk_product_call call = {.product = d->product,
                                   .in = &in,
                                   .out = &out,
                                   .bytes = slot->range.length,
                                   .accumulate = work == GFK_WORK_XOR,
                                   .workspace = l->workspace,
                                   .stream = slot->stream,
                                   .mismatch_map =
                                       work == GFK_WORK_CHECK ? (uint32_t *)(void *)l->mark : NULL,
                                   .shift = GFK_ONE_MARK};
    return d->product->engine->run(&call);
}

static gfk_status start(drive *d, gfk_slot *slot) {
    gfk_job *job = d->job;
    const layout l = layout_of(d, slot);
    const bool check = job->work == GFK_WORK_CHECK, read_out = job->work != GFK_WORK_SET;
    gfk_stage_in(job, &job->in, slot->range, l.staged_in, l.pitch);
    gfk_status status = move(&job->in, slot, l.in, l.staged_in, l.pitch, false);
    if (status == GFK_STATUS_SUCCESS && read_out) {
        gfk_stage_in(job, &job->out, slot->range, l.staged_out, l.pitch);
        status = move(&job->out, slot, l.out, l.staged_out, l.pitch, false);
    }
    if (status == GFK_STATUS_SUCCESS && check)
        status = gfk_device_zero(l.mark, sizeof(uint32_t), slot->stream);
    if (status == GFK_STATUS_SUCCESS)
        status = compute(d, slot, &l);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    if (check) {
        status = gfk_device_fetch(l.staged_mark, ALIGN, l.mark, ALIGN, sizeof(uint32_t), 1,
                                  slot->stream);
    } else {
        slot->returning = job->out.staged_count != job->out.count;
        status = move(&job->out, slot, l.out, l.staged_out, l.pitch, true);
    }
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_device_record(slot->event, slot->stream);
    slot->ordered = status == GFK_STATUS_SUCCESS;
    return status;
}

static gfk_status finish(drive *d, gfk_slot *slot) {
    if (slot->range.length == 0)
        return GFK_STATUS_SUCCESS;
    const gfk_status status = gfk_device_wait(slot->event);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    gfk_job *job = d->job;
    const layout l = layout_of(d, slot);
    if (job->work != GFK_WORK_CHECK)
        gfk_stage_out(job, &job->out, slot->range, l.staged_out, l.pitch);
    else if (*(const uint32_t *)(const void *)l.staged_mark != 0)
        __atomic_store_n(&job->differs, 1, __ATOMIC_RELAXED);
    d->lane->done += slot->range.length;
    slot->range.length = 0;
    slot->ordered = slot->returning = false;
    return status;
}

/* ---- all chunks --------------------------------------------------------------------------------
 */

static gfk_status pump(drive *d) {
    const unsigned slots = d->cut.slots;
    gfk_slot *all = d->lane->slot;
    unsigned next = 0;
    for (;; next = (next + 1) % slots) {
        gfk_status status = finish(d, &all[next]);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        if (!gfk_job_take(d->job, d->cut.piece, &all[next].range))
            break;
        status = start(d, &all[next]);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    for (unsigned i = 1; i < slots; i++) {
        const gfk_status status = finish(d, &all[(next + i) % slots]);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

/* After a failure: what still arrives is taken, the rest is left to the CPU. Nothing may be under
 * way when this returns. */
static void abandon(drive *d) {
    gfk_lane *lane = d->lane;
    const gfk_job *job = d->job;
    bool answers = true;
    for (unsigned i = 0; i < lane->opened; i++) {
        gfk_slot *slot = &lane->slot[i];
        if (slot->ordered && finish(d, slot) == GFK_STATUS_SUCCESS)
            continue;
        answers &= gfk_device_drain(slot->stream) == GFK_STATUS_SUCCESS;
        if (slot->range.length == 0)
            continue;
        lane->redo[lane->redo_count++] = slot->range;
        lane->spoiled |= slot->returning && (job->work == GFK_WORK_XOR || job->in_place);
        slot->range.length = 0;
        slot->ordered = slot->returning = false;
    }
    lane->lost |= !answers;
}

void gfk_lane_work(gfk_lane *lane, gfk_job *job) {
    drive d = {.lane = lane, .job = job};
    int previous;
    lane->status = gfk_device_enter(lane->device, &previous);
    if (lane->status != GFK_STATUS_SUCCESS) {
        lane->lost = lane->status != GFK_STATUS_OUT_OF_MEMORY; /* for its context */
        return;
    }
    lane->status = prepare(&d);
    if (lane->status == GFK_STATUS_SUCCESS)
        lane->status = pump(&d);
    if (lane->status != GFK_STATUS_SUCCESS)
        abandon(&d);
    (void)gfk_device_leave(previous, lane->status);
}

void gfk_lane_close(gfk_lane *lane) {
    int previous;
    if (lane->opened == 0 && lane->memory == NULL && lane->pinned == NULL)
        return; /* and the device has not been touched */
    const bool entered = gfk_device_enter(lane->device, &previous) == GFK_STATUS_SUCCESS;
    for (unsigned i = 0; i < lane->opened; i++)
        gfk_device_close(lane->slot[i].stream, lane->slot[i].event);
    gfk_device_free(lane->device, lane->memory);
    gfk_pinned_free(lane->pinned);
    if (entered)
        (void)gfk_device_leave(previous, GFK_STATUS_SUCCESS);
}
