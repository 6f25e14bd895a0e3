/* SPDX-License-Identifier: BSD-3-Clause */
/* Pinned memory is ordinary memory that is registered with CUDA. Without a device the memory is not
 * registered, but the same calls allocate and free it.
 *
 * Staging: which regions devices cannot access, and the copies between these regions and pinned
 * buffers. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "pipeline.h"

/* ---- pinned memory -------------------------------------------------------------------------- */

enum { PAGE = 4096, HUGE_PAGE = 2 << 20, LINE = 64 };

gfk_status gfk_pinned_alloc(void **memory, size_t bytes) {
    if (memory == NULL || bytes == 0)
        return GFK_STATUS_INVALID_ARGUMENT;
    if (bytes > SIZE_MAX - PAGE)
        return GFK_STATUS_OUT_OF_MEMORY;
    const size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    void *made;
    if (posix_memalign(&made, whole < HUGE_PAGE ? PAGE : HUGE_PAGE, whole) != 0)
        return GFK_STATUS_OUT_OF_MEMORY;
#ifdef MADV_HUGEPAGE
    if (whole >= HUGE_PAGE) /* pinned in less time; without huge pages it stays as it is */
        (void)madvise(made, whole, MADV_HUGEPAGE);
#endif
    int device;
    const char *reason;
    gfk_status status = GFK_STATUS_SUCCESS;
    if (gfk_device_resolve(GFK_CURRENT_DEVICE, &device, &reason) == GFK_STATUS_SUCCESS)
        status = gfk_device_register(made, whole);
    if (status == GFK_STATUS_SUCCESS)
        *memory = made;
    else
        free(made);
    return status;
}

void gfk_pinned_free(void *memory) {
    if (memory == NULL)
        return;
    /* Without a device the memory was not registered, and gfk_device_unregister returns an error.
     * If CUDA fails, devices may still access the pages by their address, so the pages must not be
     * used for anything else. */
    if (gfk_device_unregister(memory) != GFK_STATUS_CUDA)
        free(memory);
}

gfk_status gfk_pinned_register(void *memory, size_t bytes) {
    return memory == NULL || bytes == 0 ? GFK_STATUS_INVALID_ARGUMENT
                                        : gfk_device_register(memory, bytes);
}

gfk_status gfk_pinned_unregister(void *memory) {
    return memory == NULL ? GFK_STATUS_INVALID_ARGUMENT : gfk_device_unregister(memory);
}

/* ---- staging -------------------------------------------------------------------------------- */

/* Returns the stride of regions with base and stride in one pinned range, else 0. */
static size_t stride_of_base(const gfk_side *side, size_t bytes) {
    const gfk_regions *regions = side->regions;
    return regions->pointers == NULL &&
                   gfk_device_memory_kind(regions->base, (side->count - 1) * regions->stride +
                                                             bytes) == GFK_MEMORY_PINNED
               ? regions->stride
               : 0;
}

/* Returns the stride of pinned regions whose addresses ascend in equal steps, else 0. If the gaps
 * are shorter than a page, all pages of the gaps are pinned too. */
static size_t stride_of_pointers(const gfk_side *side, size_t bytes) {
    void *const *pointers = side->regions->pointers;
    if (side->count < 2)
        return 0;
    const uintptr_t stride = (uintptr_t)pointers[1] - (uintptr_t)pointers[0];
    for (size_t i = 1; i < side->count; i++)
        if ((uintptr_t)pointers[i] - (uintptr_t)pointers[i - 1] != stride)
            return 0;
    return stride >= bytes && stride - bytes < PAGE ? stride : 0; /* the addresses may descend */
}

/* Fills the lists of a side: first `slot`, then `staged`. */
static gfk_status find_staged(gfk_side *side, size_t bytes, size_t *lists) {
    side->slot = lists;
    side->staged = lists + side->count;
    side->staged_count = 0;
    side->stride = stride_of_base(side, bytes);
    for (size_t i = 0; i < side->count; i++) {
        const gfk_memory_kind memory =
            side->stride != 0 ? GFK_MEMORY_PINNED
                              : gfk_device_memory_kind(gfk_region_address(side->regions, i), bytes);
        if (memory == GFK_MEMORY_DEVICE)
            return GFK_STATUS_INVALID_ARGUMENT;
        side->slot[i] = SIZE_MAX;
        if (memory == GFK_MEMORY_PAGEABLE) {
            side->slot[i] = side->staged_count;
            side->staged[side->staged_count++] = i;
        }
    }
    if (side->regions->pointers != NULL && side->staged_count == 0)
        side->stride = stride_of_pointers(side, bytes);
    return GFK_STATUS_SUCCESS;
}

gfk_status gfk_job_find_staged(gfk_job *job, size_t *lists) {
    RETURN_IF_ERROR(find_staged(&job->in, job->bytes, lists));
    return find_staged(&job->out, job->bytes, lists + 2 * job->in.count);
}

void gfk_copy_past_caches(unsigned char *to, const unsigned char *from, size_t bytes) {
#ifdef __SSE2__
    const size_t head = gfk_least(-(uintptr_t)to % LINE, bytes);
    (void)memcpy(to, from, head);
    for (to += head, from += head, bytes -= head; bytes >= LINE; bytes -= LINE)
        for (size_t i = 0; i < LINE;
             i += sizeof(__m128i), to += sizeof(__m128i), from += sizeof(__m128i))
            _mm_stream_si128((__m128i *)(void *)to,
                             _mm_loadu_si128((const __m128i *)(const void *)from));
    _mm_sfence();
#endif
    (void)memcpy(to, from, bytes);
}

void gfk_copy_staged(const gfk_job *job, const gfk_side *side, gfk_range range,
                     unsigned char *pinned, size_t pitch, bool out) {
    for (size_t i = 0; i < side->staged_count; i++, pinned += pitch) {
        unsigned char *theirs = gfk_region_address(side->regions, side->staged[i]) + range.at;
        if (out && job->past_caches)
            gfk_copy_past_caches(theirs, pinned, range.length);
        else
            (void)memcpy(out ? theirs : pinned, out ? pinned : theirs, range.length);
    }
}
