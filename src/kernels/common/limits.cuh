/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of devices and of launches that several kernels count on. */
#pragma once

namespace gfk {

/* Shared memory of a block on every device, without allow_shared. */
constexpr unsigned default_shared = 48 * 1024;
/* Shared memory of a block on a device of compute capability 9.0. The block is then alone on its
 * multiprocessor. */
constexpr unsigned most_shared = 227 * 1024;
/* Blocks of a launch. */
constexpr unsigned most_blocks = 0x7fffffff;

} // namespace gfk
