/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated device's matmul: the CPU's, by tables of the data at every width, so that these are tested
 * where the CPU has GFNI, and compared with it. */
#define GFK_WITHOUT_GFNI
#define gfk_matmul_cpu_space gfk_simulated_matmul_space
#define gfk_matmul_cpu_run gfk_simulated_matmul_run
#include "host/product/matmul_cpu.c"
