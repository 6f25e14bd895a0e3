/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses: what every call returns, with a name and a sentence for each. */
#ifndef GFK_STATUS_H
#define GFK_STATUS_H

#include <gfk/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every function that can fail returns one of these. A failed call has written nothing, outputs are
 * as they were, unless the status is GFK_STATUS_CUDA or GFK_STATUS_INTERNAL, or the function's
 * header says otherwise; docs/api-conventions.md lists these functions.
 *
 * A call with several mistakes returns the status of the first one in this order:
 *
 * values  INVALID_ARGUMENT, INVALID_CONSTANT and INVALID_SIZE for all that is not an address of
 *         memory
 * place   UNKNOWN_METHOD, NO_DEVICE, STREAM_ON_HOST, WRONG_DEVICE (not the current device)
 * memory  of everything that the call reads or writes: first INVALID_ARGUMENT (NULL, a misaligned
 *         address, a stride that is too short), then INVALID_SIZE (the memory wraps around the
 *         address space), WORKSPACE_TOO_SMALL, OVERLAP, and WRONG_DEVICE (check_pointers). Memory
 *         of which a call needs no byte is not checked.
 *
 * NOT_SUPPORTED has no place in this order, nor have elements and points, which the library
 * reads. */
typedef enum gfk_status {
    GFK_STATUS_SUCCESS = 0,
    GFK_STATUS_INVALID_ARGUMENT,     /* NULL, an enumerator out of range, a misaligned workspace */
    GFK_STATUS_INVALID_SIZE,         /* a length that is not whole symbols, a size out of range */
    GFK_STATUS_OVERLAP,              /* two regions overlap and are not the same region */
    GFK_STATUS_NOT_SUPPORTED,        /* known, but not offered by this build or this device */
    GFK_STATUS_WORKSPACE_TOO_SMALL,  /* the workspace is missing or too short */
    GFK_STATUS_TABLE_LIMIT,          /* tables and workspace would exceed table_limit */
    GFK_STATUS_OUT_OF_MEMORY,        /* an allocation failed, on the host or on the device */
    GFK_STATUS_NO_DEVICE,            /* no CUDA device, none of this number, an old driver */
    GFK_STATUS_WRONG_DEVICE,         /* the current CUDA device, or (check_pointers) the memory
                                        of a pointer, is not the object's */
    GFK_STATUS_SINGULAR,             /* a matrix has no inverse; sources are not determined */
    GFK_STATUS_TOO_MANY_ERASURES,    /* more regions lost than the code can rebuild */
    GFK_STATUS_CORRUPT,              /* data contradict a checksum or each other */
    GFK_STATUS_CUDA,                 /* a CUDA call failed; the output is undefined */
    GFK_STATUS_INTERNAL,             /* a defect of this library */
    GFK_STATUS_INVALID_CONSTANT,     /* a constant that is not an element of the field */
    GFK_STATUS_REDUCIBLE_POLYNOMIAL, /* the polynomial has factors, so it makes no field */
    GFK_STATUS_UNKNOWN_METHOD,       /* no such method, parameters or kernel id */
    GFK_STATUS_STREAM_ON_HOST,       /* a stream was given to a row that runs on the CPU */
    GFK_STATUS_DIVISION_BY_ZERO,     /* zero has no inverse */
    GFK_STATUS_IO                    /* a file cannot be read, written or replaced */
} gfk_status;

/* gfk_status_name: the enumerator as text, e.g. "GFK_STATUS_OVERLAP". Never NULL; a value that is
 * no status gives "GFK_STATUS_UNKNOWN". The text is static. Any thread. */
GFK_API const char *gfk_status_name(gfk_status status);

/* gfk_status_description: one sentence for a person. Never NULL. The text is static. Any
 * thread. */
GFK_API const char *gfk_status_description(gfk_status status);

#ifdef __cplusplus
}
#endif
#endif
