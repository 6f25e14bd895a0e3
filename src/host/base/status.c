/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and sentences of the statuses, and the version. */
#include <stddef.h>

#include <gfk/gfk.h>

static const struct {
    const char *name, *description;
} statuses[] = {
#define ENTRY(status, description) [GFK_STATUS_##status] = {"GFK_STATUS_" #status, description}
    ENTRY(SUCCESS, "The call succeeded."),
    ENTRY(INVALID_ARGUMENT, "An argument is NULL, out of its range or misaligned."),
    ENTRY(INVALID_SIZE, "A length is not whole symbols, or a size or number is out of its range."),
    ENTRY(OVERLAP, "Two of the buffers overlap without being the same region."),
    ENTRY(NOT_SUPPORTED, "This build or this device does not offer what was asked for."),
    ENTRY(WORKSPACE_TOO_SMALL, "The workspace is missing or shorter than the kernel needs."),
    ENTRY(TABLE_LIMIT, "The tables and the workspace would need more bytes than table_limit."),
    ENTRY(OUT_OF_MEMORY, "Memory could not be allocated."),
    ENTRY(NO_DEVICE, "There is no CUDA device, none of that number, or its driver is too old."),
    ENTRY(WRONG_DEVICE,
          "The current CUDA device, or the memory of a pointer, is not the one of the object."),
    ENTRY(SINGULAR, "The matrix has no inverse, or the packets do not determine all sources."),
    ENTRY(TOO_MANY_ERASURES, "More regions are lost than the code can rebuild."),
    ENTRY(CORRUPT, "Data contradict a checksum or each other."),
    ENTRY(CUDA, "A CUDA call failed; the output is undefined."),
    ENTRY(INTERNAL, "The library contradicts itself; this is a defect."),
    ENTRY(INVALID_CONSTANT, "The constant is not an element of the field."),
    ENTRY(REDUCIBLE_POLYNOMIAL, "The polynomial has factors, so it does not make a field."),
    ENTRY(UNKNOWN_METHOD, "No kernel or engine has this method, these parameters or this id."),
    ENTRY(STREAM_ON_HOST, "A stream was given to a kernel or engine that runs on the CPU."),
    ENTRY(DIVISION_BY_ZERO, "Zero has no inverse."),
    ENTRY(IO, "A file cannot be read, written or replaced."),
#undef ENTRY
};

static int known(gfk_status status) {
    return (size_t)status < sizeof statuses / sizeof statuses[0];
}

const char *gfk_status_name(gfk_status status) {
    return known(status) ? statuses[status].name : "GFK_STATUS_UNKNOWN";
}

const char *gfk_status_description(gfk_status status) {
    return known(status) ? statuses[status].description : "This number is not a status.";
}

int gfk_version(void) {
    return 10000 * GFK_VERSION_MAJOR + 100 * GFK_VERSION_MINOR + GFK_VERSION_PATCH;
}
