/* SPDX-License-Identifier: BSD-3-Clause */
#include "width.cuh"

template struct gfk::locate::Width<16>;
