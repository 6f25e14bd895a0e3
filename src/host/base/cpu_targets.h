/* SPDX-License-Identifier: BSD-3-Clause */
/* A function that is compiled for several sets of instructions of the CPU, from the same text:
 * GFK_CPU_TARGETS(DEFINE) has DEFINE(set, attribute) for each set, and GFK_ON_THIS_CPU(name) is the
 * function name_set of the best set that this CPU has. */
#ifndef GFK_HOST_CPU_TARGETS_H
#define GFK_HOST_CPU_TARGETS_H

#define GFK_FOR_TARGET static inline __attribute__((always_inline))

#ifdef __x86_64__
#define GFK_CPU_TARGETS(DEFINE)                                                                    \
    DEFINE(anywhere, )                                                                             \
    DEFINE(avx2, __attribute__((target("avx2"))))                                                  \
    DEFINE(avx512, __attribute__((target("avx512f,avx512vl"))))
#define GFK_ON_THIS_CPU(name)                                                                      \
    (__builtin_cpu_supports("avx512vl") ? name##_avx512                                            \
     : __builtin_cpu_supports("avx2")   ? name##_avx2                                              \
                                        : name##_anywhere)
#else
#define GFK_CPU_TARGETS(DEFINE) DEFINE(anywhere, )
#define GFK_ON_THIS_CPU(name) name##_anywhere
#endif

#endif
