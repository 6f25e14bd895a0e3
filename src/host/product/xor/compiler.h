/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles PTX to machine code on the host with nvJitLink, if the machine has nvJitLink. Otherwise
 * the driver compiles when the kernel is loaded and keeps the result in its own cache; the disk
 * cache of this folder then stays empty. */
#ifndef GFK_JIT_COMPILER_H
#define GFK_JIT_COMPILER_H

#include "disk_cache.h"

/* The name and version of the compiler, for keys; "driver" if there is no nvJitLink. The first call
 * loads nvJitLink. */
const char *gfk_jit_compiler_name(void);
/* Makes machine code for this compute capability, in memory that the caller frees; false: the
 * driver has to compile. `ptx` ends in a zero, which `size` does not count. */
bool gfk_jit_compile(const char *ptx, size_t size, unsigned cc, gfk_bytes *code);

#endif
