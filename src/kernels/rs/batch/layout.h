/* SPDX-License-Identifier: BSD-3-Clause */
/* The stripe and the vectors of a task of the batch kernels, and loads from the image. The host
 * test runs the same functions. */
#ifndef GFK_KERNELS_RS_BATCH_LAYOUT_H
#define GFK_KERNELS_RS_BATCH_LAYOUT_H

#include <string.h>

#include "host/rs/batch/batch.h"
#include "kernels/common/portable.h"

namespace gfk {
namespace batch {

/* Loads from the image, which no one writes. On the device they stay where they are in the program:
 * early ones early, so that memory is not waited for at the end, and what is needed again late is
 * loaded again instead of kept in registers. */
GFK_BOTH gfk_batch_record load_record(const unsigned char *p) {
    gfk_batch_record record;
#ifdef __CUDA_ARCH__
    uint32_t x[8];
    static_assert(sizeof x == sizeof record, "");
    for (int i = 0; i < 2; i++)
        asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[4 * i]), "=r"(x[4 * i + 1]), "=r"(x[4 * i + 2]), "=r"(x[4 * i + 3])
                     : "l"(p + 16 * i));
    memcpy(&record, x, sizeof record);
#else
    memcpy(&record, p, sizeof record);
#endif
    return record;
}
GFK_BOTH uint32_t load_index(const uint32_t *p) {
#ifdef __CUDA_ARCH__
    uint32_t x;
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(x) : "l"(p));
    return x;
#else
    return *p;
#endif
}
/* Returns address i of those that follow a record. */
GFK_BOTH uint8_t *load_address(const unsigned char *record, size_t i) {
    const unsigned char *p = record + sizeof(gfk_batch_record) + 8 * i;
#ifdef __CUDA_ARCH__
    uint8_t *x;
    asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(x) : "l"(p));
    __builtin_assume(__isGlobal(x));
    return x;
#else
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return (uint8_t *)(uintptr_t)x;
#endif
}

/* A task: its stripe, and its first vector there. */
struct TaskPlace {
    const unsigned char *in_image; /* the record, with its addresses */
    gfk_batch_record record;
    uint32_t vector;

    GFK_BOTH bool whole(uint32_t i) const {
        return i >= record.whole_begin && i < record.whole_end;
    }
    /* The bytes [first, last) of the vector are the region's. */
    GFK_BOTH unsigned first(uint32_t i) const { return i == 0 ? record.phase : 0; }
    GFK_BOTH unsigned last(uint32_t i) const { return i + 1 == record.vectors ? record.tail : 16; }
};

/* Returns the address of the record of a task's stripe in the image. */
GFK_BOTH const unsigned char *record_of(const gfk_batch_job &job, uint32_t task) {
    const uint64_t stripe =
        job.index ? load_index(job.index + task) : (uint64_t)task * job.reciprocal >> job.shift;
    return job.records + stripe * job.record_bytes;
}

GFK_BOTH TaskPlace place_at(const unsigned char *record, uint32_t task, uint32_t task_vectors) {
    TaskPlace place;
    place.in_image = record;
    place.record = load_record(record);
    place.vector = (task - place.record.first_task) * task_vectors;
    return place;
}
GFK_BOTH TaskPlace find(const gfk_batch_job &job, uint32_t task, uint32_t task_vectors) {
    return place_at(record_of(job, task), task, task_vectors);
}

/* Adds c * x to the sum, for every symbol of the words: c * 2^b where bit b is set. A symbol that
 * is 0 or 1, times c, stays inside its symbol. */
template <int W>
GFK_BOTH void add_product(uint32_t (&sum)[4], const uint32_t (&x)[4], uint32_t c,
                          uint32_t polynomial) {
    const uint32_t ones = W == 8 ? 0x01010101 : W == 16 ? 0x00010001 : 1;
    GFK_UNROLL
    for (int b = 0; b < W; b++) {
        GFK_UNROLL
        for (int i = 0; i < 4; i++)
            sum[i] ^= (x[i] >> b & ones) * c;
        c = double_symbol<W>(c, polynomial) & symbol_mask<W>;
    }
}

} // namespace batch
} // namespace gfk
#endif
