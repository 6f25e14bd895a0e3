/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything: Galois-field arithmetic GF(2^w) over regions, on the GPU and on the host. */
#ifndef GFK_GFK_H
#define GFK_GFK_H

#include <gfk/export.h>
#include <gfk/field.h>
#include <gfk/host.h>
#include <gfk/matmul.h>
#include <gfk/matrix.h>
#include <gfk/multiplier.h>
#include <gfk/product.h>
#include <gfk/region.h>
#include <gfk/registry.h>
#include <gfk/rlnc.h>
#include <gfk/rs.h>
#include <gfk/status.h>
#include <gfk/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GFK_VERSION_MAJOR 0
#define GFK_VERSION_MINOR 3
#define GFK_VERSION_PATCH 0

/* gfk_version: the version of the library that is loaded, 10000 * major + 100 * minor + patch. */
GFK_API int gfk_version(void);

#ifdef __cplusplus
}
#endif
#endif
