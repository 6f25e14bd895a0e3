/* SPDX-License-Identifier: BSD-3-Clause */
#include "locate_width.cuh"

template struct gfk::locate::Width<32>;
