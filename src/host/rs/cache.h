/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoders and updaters that a code's conveniences made, the ones used last. */
#ifndef GFK_HOST_RS_CACHE_H
#define GFK_HOST_RS_CACHE_H

#include "code.h"

gfk_rs_cache *gfk_rs_cache_create(void); /* NULL: out of memory */
/* No entry may be in use, on the device neither. NULL is allowed. */
void gfk_rs_cache_destroy(gfk_rs_cache *cache);

#endif
