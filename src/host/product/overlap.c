/* SPDX-License-Identifier: BSD-3-Clause */
/* Overlap by sorting. All regions have the same length, so two regions overlap if their addresses
 * differ by less than that length, and in a sorted list only neighbours need to be compared.
 * Outputs are sorted in groups that fit on the stack; inputs are looked up in the sorted groups.
 * Equally spaced regions are sorted already: a division finds the neighbours. */
#include "engine.h"
#include "host/base/sizes.h"

enum { GROUP = 1024 };

const gfk_regions gfk_no_regions = {NULL, NULL, 0};

static void sift_down(uintptr_t *a, size_t root, size_t count) {
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && a[child] < a[child + 1])
            child++;
        if (a[root] >= a[child])
            return;
        const uintptr_t larger = a[child];
        a[child] = a[root];
        a[root] = larger;
    }
}

/* Heapsort, because qsort may allocate. The addresses of most callers ascend already. */
static void sort(uintptr_t *a, size_t count) {
    size_t ascending = 1;
    while (ascending < count && a[ascending - 1] <= a[ascending])
        ascending++;
    if (ascending >= count)
        return;
    for (size_t root = count / 2; root-- > 0;)
        sift_down(a, root, count);
    for (size_t last = count - 1; last > 0; last--) {
        const uintptr_t largest = a[0];
        a[0] = a[last];
        a[last] = largest;
        sift_down(a, 0, last);
    }
}

/* Is there an address in the sorted list less than `bytes` away from x? */
static bool near(const uintptr_t *a, size_t count, uintptr_t x, size_t bytes) {
    size_t low = 0, high = count; /* a[i] < x below low, a[i] >= x from high on */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (a[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return (low < count && a[low] - x < bytes) || (low > 0 && x - a[low - 1] < bytes);
}

static uintptr_t address(const gfk_regions *regions, size_t i) {
    return (uintptr_t)gfk_region_address(regions, i);
}

bool gfk_regions_touch(const gfk_regions *regions, size_t count, size_t bytes, const void *start,
                       size_t length) {
    const uintptr_t x = (uintptr_t)start, base = (uintptr_t)regions->base;
    size_t first = 0, end = count;
    if (regions->pointers == NULL) { /* only the last region before x and the next one can touch */
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
 * sets of one stride overlap if the set that begins later does so with its first region. */
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

bool gfk_outputs_overlap(const gfk_regions *in, size_t ins, const gfk_regions *out, size_t outs,
                         size_t bytes) {
    if (out->pointers == NULL)
        return spaced_outputs_overlap(in, ins, out, outs, bytes);
    uintptr_t group[GROUP];
    for (size_t first = 0; first < outs; first += GROUP) {
        const size_t count = outs - first < GROUP ? outs - first : GROUP;
        for (size_t i = 0; i < count; i++)
            group[i] = address(out, first + i);
        sort(group, count);
        for (size_t i = 1; i < count; i++)
            if (group[i] - group[i - 1] < bytes)
                return true;
        for (size_t j = first + count; j < outs; j++)
            if (near(group, count, address(out, j), bytes))
                return true;
        for (size_t i = 0; i < ins; i++)
            if (near(group, count, address(in, i), bytes))
                return true;
    }
    return false;
}
