/* SPDX-License-Identifier: BSD-3-Clause */
/* What faulty_rows.def and faulty_engines.def name; included ahead of every C file of the faulty
 * library. */
#ifndef GFK_TESTS_FAULTY_H
#define GFK_TESTS_FAULTY_H

#include "host/product/engine.h"
#include "host/region/kernel.h"

gfk_run_fn gfk_shift_host_faulty, gfk_carry_free_host_faulty;
gfk_engine_run_fn gfk_host_product_faulty;

#endif
