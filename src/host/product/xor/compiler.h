/* SPDX-License-Identifier: BSD-3-Clause */
/* PTX to machine code on the host, by nvJitLink if the machine has it. Without it the driver
 * compiles when the kernel is loaded, and keeps the result in a cache of its own; then there is
 * nothing to put into ours. */
#ifndef GFK_XOR_COMPILER_H
#define GFK_XOR_COMPILER_H

#include "disk_cache.h"

/* Its name and version, for keys; "driver" if it is not there. Loads it at the first call. */
const char *gfk_xor_compiler(void);
/* Machine code for this compute capability, in memory that the caller frees; false: the driver has
 * to do it. `ptx` ends in a zero, which `size` does not count. */
bool gfk_xor_compile(const char *ptx, size_t size, unsigned cc, gfk_bytes *code);

#endif
