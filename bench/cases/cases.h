// SPDX-License-Identifier: BSD-3-Clause
// Which rows a preset has. Each function appends rows; those on a device exist only with CUDA.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/reporter.h"
#include "core/work.h"

// Region multiplies.
void add_region_rows(const Options &options, Rows *rows);
void add_giant_rows(const Options &options, Rows *rows);
void add_region_cpu_rows(const Options &options, Rows *rows);
void add_gf_complete_rows(const Options &options, Rows *rows);
std::vector<Verdict> verdicts();

// Products.
void add_product_rows(const Options &options, Rows *rows);
void add_product_cpu_rows(const Options &options, Rows *rows);

// Codes.
void add_rs_rows(const Options &options, Rows *rows);
void add_rs_create_rows(const Options &options, Rows *rows);

// Calls on host memory.
void add_host_rows(const Options &options, Rows *rows);

// What a call costs the calling thread.
void add_region_call_rows(const Options &options, Rows *rows);
void add_product_call_rows(const Options &options, Rows *rows);

// Versions and instruction sets of the libraries that rows stand beside.
void describe_baselines(Fields *context);
