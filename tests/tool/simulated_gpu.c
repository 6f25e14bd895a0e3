/* SPDX-License-Identifier: BSD-3-Clause */
/* Configures the simulated devices of the tool from the environment: FAKE_DEVICES;
 * FAKE_FAILS_AFTER, the number of the call that fails; FAKE_DIES=1; FAKE_STATUS, a gfk_status. */
#include <stdlib.h>

#include "support/simulated_device.h"

static unsigned long long number(const char *name, unsigned long long otherwise) {
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

__attribute__((constructor)) static void begin(void) {
    simulated_device bus = SIMULATED_DEVICE_INIT;
    bus.devices = (int)number("FAKE_DEVICES", 1);
    bus.fails_after = number("FAKE_FAILS_AFTER", 0);
    bus.dies = number("FAKE_DIES", 0) != 0;
    bus.status = (gfk_status)number("FAKE_STATUS", GFK_STATUS_CUDA);
    simulated_device_set(&bus);
}

/* The tool must order no operation that a real device could not execute. */
__attribute__((destructor)) static void end(void) {
    if (simulated_device_faults() != 0)
        abort();
}
