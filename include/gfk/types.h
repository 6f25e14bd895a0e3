/* SPDX-License-Identifier: BSD-3-Clause */
/* The types that several headers share: streams, places, methods, implementations, the accumulate
 * mode. */
#ifndef GFK_TYPES_H
#define GFK_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* A null pointer in macros and inline functions, which must compile without a warning as C and as
 * C++: -Wzero-as-null-pointer-constant reports 0, and with some compilers NULL. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define GFK_NULL nullptr
#else
#define GFK_NULL NULL
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A CUDA stream: the type of cudaStream_t, without a CUDA header. NULL is the default stream. Host
 * rows take NULL only. */
typedef struct CUstream_st *gfk_stream_t;

/* The place where an object works, and where the memory of its regions is: the member `device` of
 * descriptors. The place is never a matter of what the machine has: without the device that a
 * descriptor means, a call returns NO_DEVICE.
 *
 * 0 and above         the CUDA device of this number
 * GFK_CPU             the CPU; with nothing else named, its fastest kernel or engine
 * GFK_CURRENT_DEVICE  the calling thread's current CUDA device; what every GFK_..._DESC_INIT has
 *
 * A descriptor that names a kernel, an implementation, an engine or a family of the CPU means the
 * CPU with any of these. Any other number below 0 is INVALID_ARGUMENT. The member `device` of an
 * info is GFK_CPU or a device's number. */
#define GFK_CPU (-1)
#define GFK_CURRENT_DEVICE (-2)

/* check_pointers of a descriptor checks the first and the last byte of every region, of the
 * workspace and of every other result of a call, where they are not empty. WRONG_DEVICE, with
 * nothing written: an object on the CPU got device memory; an object on a device got ordinary host
 * memory, or memory of another device. Managed memory passes everywhere, pinned (registered) host
 * memory too if the device can access it. A graph can capture calls that check. */

/* How one constant times one symbol is computed. The names are GF-Complete's; docs/methods has a
 * page for each. */
typedef enum gfk_method {
    GFK_METHOD_AUTO = 0,  /* the fastest measured one */
    GFK_METHOD_SHIFT,     /* full carry-less product by shifts, reduced afterwards; no table */
    GFK_METHOD_GROUP,     /* 2^gs multiples of the constant, 2^gr reductions, left to right */
    GFK_METHOD_BYTWO_P,   /* one doubling of the product per bit of the constant */
    GFK_METHOD_BYTWO_B,   /* one doubling of the operand per bit of the constant */
    GFK_METHOD_TABLE,     /* one lookup in the row of all 2^w products */
    GFK_METHOD_LOG,       /* logarithm, addition, antilogarithm */
    GFK_METHOD_SPLIT,     /* one lookup per part of the symbol, XORed */
    GFK_METHOD_CARRY_FREE /* carry-less products: of the factors, then two for the reduction */
} gfk_method;

typedef enum gfk_implementation {
    GFK_IMPLEMENTATION_AUTO = 0, /* the fastest measured one that can run here */
    GFK_IMPLEMENTATION_HOST,     /* C reference on the CPU */
    GFK_IMPLEMENTATION_NAIVE,    /* CUDA, one thread one symbol, no shared memory */
    GFK_IMPLEMENTATION_OPT       /* CUDA, as fast as the method allows */
} gfk_implementation;

/* Does the result replace the contents of dst, or is it added to them? */
typedef enum gfk_accumulate {
    GFK_SET = 0, /* dst = c * src; dst is never read */
    GFK_XOR = 1  /* dst = dst + c * src, where + is XOR */
} gfk_accumulate;

#ifdef __cplusplus
}
#endif
#endif
