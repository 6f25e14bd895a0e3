/* SPDX-License-Identifier: BSD-3-Clause */
/* GFK_API marks the functions that libgfk exports. */
#ifndef GFK_EXPORT_H
#define GFK_EXPORT_H

#if defined(__GNUC__) && !defined(GFK_STATIC)
#define GFK_API __attribute__((visibility("default")))
#else
#define GFK_API
#endif

#endif
