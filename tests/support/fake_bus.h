/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices that are made of nothing, for the pipeline's tests: what is ordered on a stream is done
 * at any time that CUDA may do it, memory runs out, and devices break down. */
#ifndef GFK_TESTS_FAKE_BUS_H
#define GFK_TESTS_FAKE_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* When orders are done: in turns that nobody can foresee, as late as an event allows, at once. */
typedef enum fake_time { FAKE_MIXED, FAKE_LATE, FAKE_EARLY } fake_time;

typedef struct fake_bus {
    int devices;
    size_t memory; /* of each device */
    size_t pinned; /* that can be registered */
    fake_time time;
    int failing;          /* the device that fails */
    uint64_t fails_after; /* at the so many'th call that can fail, from fake_bus_set on; 0: never */
    gfk_status status;    /* of that call */
    bool dies;            /* it answers nothing from then on; else that call fails alone */
} fake_bus;
#define FAKE_BUS_INIT                                                                              \
    {2, (size_t)1 << 30, (size_t)1 << 30, FAKE_MIXED, 0, 0, GFK_STATUS_CUDA, false}

void fake_bus_set(const fake_bus *bus);
/* Orders that no real device could follow: of memory that is not pinned, or not the device's. */
uint64_t fake_bus_faults(void);
int fake_bus_current(void); /* the calling thread's device */
size_t fake_bus_left(void); /* allocations, registrations and streams that nobody gave back */
/* An address range in the devices' memory, which the CPU must not touch. */
void *fake_bus_device_memory(size_t bytes);
void fake_bus_device_free(void *memory);

#ifdef __cplusplus
}
#endif
#endif
