/* SPDX-License-Identifier: BSD-3-Clause */
/* Overlap by sorting. All regions have the same length, so two regions overlap if their addresses
 * differ by less than that length, and in a sorted list only neighbours need to be compared.
 * Outputs that do not ascend are sorted, all at once or in groups that fit on the stack. Inputs are
 * looked up in the sorted groups. Equally spaced regions are already sorted: a division finds the
 * neighbours. */
#include <stdlib.h>
#include <string.h>

#include "host/base/sizes.h"
#include "operands.h"

enum { GROUP = 1024 };

static bool ascends(void *const *a, size_t count) {
    for (size_t i = 1; i < count; i++)
        if ((uintptr_t)a[i - 1] > (uintptr_t)a[i])
            return false;
    return true;
}

static void swap(void **a, size_t i, size_t j) {
    void *const held = a[i];
    a[i] = a[j];
    a[j] = held;
}

static void sift_down(void **a, size_t root, size_t count) {
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && (uintptr_t)a[child] < (uintptr_t)a[child + 1])
            child++;
        if ((uintptr_t)a[root] >= (uintptr_t)a[child])
            return;
        swap(a, root, child);
    }
}

/* Heapsort, because qsort may allocate. */
static void sort(void **a, size_t count) {
    for (size_t root = count / 2; root-- > 0;)
        sift_down(a, root, count);
    for (size_t last = count - 1; last > 0; last--) {
        swap(a, 0, last);
        sift_down(a, 0, last);
    }
}

/* Is there an address in the sorted list less than `bytes` away from x? */
static bool near(void *const *a, size_t count, uintptr_t x, size_t bytes) {
    size_t low = 0, high = count; /* a[i] < x below low, a[i] >= x from high on */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((uintptr_t)a[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return (low < count && (uintptr_t)a[low] - x < bytes) ||
           (low > 0 && x - (uintptr_t)a[low - 1] < bytes);
}

static uintptr_t address(const gfk_regions *regions, size_t i) {
    return (uintptr_t)gfk_region_address(regions, i);
}

bool gfk_regions_touch(const gfk_regions *regions, size_t count, size_t bytes, const void *start,
                       size_t length) {
    const uintptr_t x = (uintptr_t)start, base = (uintptr_t)regions->base;
    size_t first = 0, end = count;
    /* only the last region before x and the next one can overlap */
    if (regions->pointers == NULL) {
        first = x < base ? 0 : (x - base) / regions->stride;
        first = first < count ? first : count - 1;
        end = first + 1 < count ? first + 2 : count;
    }
    for (size_t i = first; i < end; i++)
        if (gfk_overlap(start, length, gfk_region_address(regions, i), bytes))
            return true;
    return false;
}

/* Equally spaced outputs do not overlap each other, so they are compared with the inputs only. Two
 * sets of one stride overlap if the first region of the set that begins later overlaps the other
 * set. */
static bool spaced_outputs_overlap(const gfk_regions *in, size_t ins, const gfk_regions *out,
                                   size_t outs, size_t bytes) {
    if (ins != 0 && in->pointers == NULL) {
        if (!gfk_regions_touch(in, ins, bytes, out->base, (outs - 1) * out->stride + bytes))
            return false;
        if (in->stride == out->stride)
            return gfk_regions_touch(in, ins, bytes, out->base, bytes) ||
                   gfk_regions_touch(out, outs, bytes, in->base, bytes);
    }
    for (size_t i = 0; i < ins; i++)
        if (gfk_regions_touch(out, outs, bytes, gfk_region_address(in, i), bytes))
            return true;
    return false;
}

/* Do outputs in ascending order overlap each other or an input? */
static bool sorted_outputs_overlap(const gfk_regions *in, size_t ins, void *const *out, size_t outs,
                                   size_t bytes) {
    for (size_t i = 1; i < outs; i++)
        if ((uintptr_t)out[i] - (uintptr_t)out[i - 1] < bytes)
            return true;
    for (size_t i = 0; i < ins; i++)
        if (near(out, outs, address(in, i), bytes))
            return true;
    return false;
}

/* Sorts groups of up to `most` outputs in `group`. */
static bool outputs_overlap(const gfk_regions *in, size_t ins, const gfk_regions *out, size_t outs,
                            size_t bytes, void **group, size_t most) {
    if (out->pointers == NULL)
        return spaced_outputs_overlap(in, ins, out, outs, bytes);
    if (ascends(out->pointers, outs))
        return sorted_outputs_overlap(in, ins, out->pointers, outs, bytes);
    for (size_t first = 0; first < outs; first += most) {
        const size_t count = outs - first < most ? outs - first : most;
        memcpy(group, out->pointers + first, count * sizeof *group);
        sort(group, count);
        if (sorted_outputs_overlap(in, ins, group, count, bytes))
            return true;
        for (size_t j = first + count; j < outs; j++)
            if (near(group, count, address(out, j), bytes))
                return true;
    }
    return false;
}

bool gfk_outputs_overlap(const gfk_regions *in, size_t ins, const gfk_regions *out, size_t outs,
                         size_t bytes) {
    void *group[GROUP];
    return outputs_overlap(in, ins, out, outs, bytes, group, GROUP);
}

bool gfk_outputs_overlap_host(const gfk_regions *in, size_t ins, const gfk_regions *out,
                              size_t outs, size_t bytes) {
    void **const all = out->pointers != NULL && outs > GROUP ? malloc(outs * sizeof *all) : NULL;
    const bool overlap = all != NULL ? outputs_overlap(in, ins, out, outs, bytes, all, outs)
                                     : gfk_outputs_overlap(in, ins, out, outs, bytes);
    free(all);
    return overlap;
}
