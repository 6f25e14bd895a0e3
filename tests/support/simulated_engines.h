/* SPDX-License-Identifier: BSD-3-Clause */
/* What simulated_engines.def names; included ahead of every C file of a program with simulated
 * devices. */
#ifndef GFK_TESTS_SIMULATED_ENGINES_H
#define GFK_TESTS_SIMULATED_ENGINES_H

#include "host/product/engine.h"

gfk_engine_run_fn gfk_simulated_run;

#endif
