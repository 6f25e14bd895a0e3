/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoders and updaters that gfk_rs_decode, gfk_rs_update and gfk_rs_apply_delta used last. */
#ifndef GFK_HOST_RS_CACHE_H
#define GFK_HOST_RS_CACHE_H

#include "code.h"

gfk_rs_cache *gfk_rs_cache_create(void); /* NULL: out of memory */
/* No entry may be in use, neither by a call nor on the device. NULL is allowed. */
void gfk_rs_cache_destroy(gfk_rs_cache *cache);

#endif
