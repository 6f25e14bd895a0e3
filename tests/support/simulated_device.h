/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated devices with latency and injected faults, in place of CUDA: what is ordered on a stream
 * is done at any time at which CUDA may do it, memory runs out, and devices break down. Included
 * ahead of every C file of a program with simulated devices. */
#ifndef GFK_TESTS_SIMULATED_DEVICE_H
#define GFK_TESTS_SIMULATED_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/product/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When a stream executes its operations: in random turns, as late as an event allows, at once. */
typedef enum simulated_time { SIMULATED_MIXED, SIMULATED_LATE, SIMULATED_EARLY } simulated_time;

typedef struct simulated_device {
    int devices;
    size_t memory; /* of each device */
    size_t pinned; /* the most memory that can be registered */
    simulated_time time;
    int failing;          /* the device that fails */
    uint64_t fails_after; /* the number of the failing call, counted from simulated_device_set on
                             over calls that can fail; 0: none */
    gfk_status status;    /* of the failing call */
    bool dies;            /* all later calls fail too */
    unsigned wait_us;     /* a wait for an event takes so many microseconds at least */
} simulated_device;
#define SIMULATED_DEVICE_INIT                                                                      \
    {2, (size_t)1 << 30, (size_t)2 << 30, SIMULATED_MIXED, 0, 0, GFK_STATUS_CUDA, false, 0}

void simulated_device_set(const simulated_device *bus);
/* The number of operations that no real device could execute: on memory that is not pinned, or not
 * the device's. */
uint64_t simulated_device_faults(void);
int simulated_device_current(void); /* the calling thread's device */
/* The number of allocations, registrations and streams that were not given back. */
size_t simulated_device_left(void);
/* An address range in the memory of device 0, which the CPU must not touch. */
void *simulated_device_memory(size_t bytes);
void simulated_device_memory_free(void *memory);

gfk_engine_run_fn gfk_simulated_run; /* what simulated_engines.def names */

#ifdef __cplusplus
}
#endif
#endif
